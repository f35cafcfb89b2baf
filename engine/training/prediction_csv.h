#pragma once
// The CSV of a prediction: the records of the file that was read, as they stand there, with the outputs behind them.
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/data/csv_format.h"
#include "engine/run/predictions.h"

namespace loom {

// Of more than one axis, or of more values than a row has room for: each sample's goes into a file of its own.
bool goesIntoFiles(const Shape& shape);
// Behind an output's name: the column of the word of the likeliest class.
inline constexpr const char* kWordColumn = "_class";
// Whether the likeliest class of a row has a word, and a column of its own for it.
bool hasWord(const PredictedOutput& output);
// "y'", or "y'__0", "y'__1", ... of every output; where classes have words "y'_cat", "y'_dog", ... and "y'_class".
std::vector<std::string> predictedColumns(const std::vector<PredictedOutput>& outputs);

class PredictionCsv {
 public:
  // `read`: the file whose rows were predicted, in `format`. `out`: the CSV, with a header in any case; .npy files go
  // into the folder NAME_files beside it.
  PredictionCsv(const std::filesystem::path& read, const CsvFormatChoice& format, const std::filesystem::path& out,
                const std::vector<PredictedOutput>& outputs);
  ~PredictionCsv();
  void header(const Append& append);
  void row(const Append& append, std::span<const std::span<const float>> values);  // of each output

 private:
  class Records;
  std::unique_ptr<Records> m_records;
  const std::vector<PredictedOutput>& m_outputs;
  std::filesystem::path m_files;
  std::int64_t m_rows = 0;
};

}  // namespace loom

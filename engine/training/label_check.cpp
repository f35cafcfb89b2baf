#include "engine/training/label_check.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/csv_rows.h"
#include "engine/data/prepare.h"
#include "engine/data/stats.h"
#include "engine/network/analysis.h"
#include "engine/network/column_check.h"
#include "engine/training/feed.h"

namespace loom {
namespace {

// The line on which a row of the CSV stands; 0 where that cannot be told.
std::int64_t lineOf(const std::filesystem::path& csv, std::int64_t row) {
  std::int64_t line = 0, passed = 0;
  RowConsumer consumer;
  consumer.rows = [&](RowChunk& chunk, RowFaults&, std::int64_t, std::int64_t) {
    if (row >= passed && row < passed + chunk.rows) line = chunk.lines[static_cast<std::size_t>(row - passed)];
    passed += chunk.rows;
  };
  try {
    readRows({.csv = csv, .decodeFiles = false, .collect = true, .listed = 0}, consumer);
  } catch (const Error&) {
    return 0;  // a pack without its CSV
  }
  return line;
}

std::int64_t firstWith(const Dataset& data, std::size_t variable, float value) {
  for (std::int64_t row = 0; row < data.size(); ++row)
    if (*reinterpret_cast<const float*>(data.read(row, variable).data()) == value) return row;
  return 0;
}

}  // namespace

void checkLabels(const Network& flat, const OpenedDataset& dataset) {
  const Schema& schema = dataset.data->schema();
  const Program program = lower(flat, {.training = true});
  for (const Tensor& tensor : program.tensors) {
    if (tensor.role != TensorRole::input || tensor.type != DataType::i32) continue;
    const std::string name = Feed::variableOf(flat, tensor.name);
    const int at = schema.indexOf(name);
    if (at < 0) continue;
    const auto place = static_cast<std::size_t>(at);
    const Variable& variable = schema.variables[place];
    const bool computed = std::any_of(dataset.prepare.begin(), dataset.prepare.end(), [&](const Json& step) {
      const PrepareStep* const kind = sampleStep(step);
      return kind && appliesTo(step, *kind, variable);
    });
    const std::int64_t classes = computed ? 0 : classCount(*dataset.data, place);
    if (classes < 1) continue;
    KnownColumns columns{.dataset = dataset.name, .shapes = {{name, tensor.shape.withoutFirst()}}};
    std::vector<Problem> without, with;
    checkColumns(flat, analyse(flat), &columns, without);
    columns.classes[name] = classes;
    checkColumns(flat, analyse(flat), &columns, with);
    const auto found = std::find_if(with.begin(), with.end(), [&](const Problem& problem) {
      return std::none_of(without.begin(), without.end(),
                          [&](const Problem& other) { return other.message == problem.message; });
    });
    if (found == with.end()) continue;
    const std::int64_t row = dataset.data->sourceRow(firstWith(*dataset.data, place, static_cast<float>(classes - 1)));
    const std::int64_t line = lineOf(dataset.csv, row);
    throwError(ErrorCode::badData, "{}; {} stands in {}, column {}: correct it, or give the network more classes",
               found->message, classes - 1,
               line > 0 ? fmt::format("{} line {}", dataset.csv.filename().string(), line)
                        : fmt::format("row {} of the data in {}", row + 1, dataset.csv.filename().string()),
               name);
  }
}

}  // namespace loom

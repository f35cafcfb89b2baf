#include "engine/data/percent_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/columns/column_plan.h"
#include "engine/data/columns/table_pass.h"

namespace loom {
std::vector<std::string> percentColumns(const std::filesystem::path& csv, const CsvFormatChoice& choice) {
  std::vector<std::string> names;
  if (csv.extension() == ".pack") return names;
  const CsvFormat format = recogniseCsv(csv, choice);
  if (format.percents.empty()) return names;
  const std::vector<std::string> header = readHeader(csv, format);
  for (std::size_t c = 0; c < header.size(); ++c)
    if (format.isPercent(c)) names.push_back(header[c].substr(0, header[c].find(':')));
  return names;
}

std::string otherPercents(const std::filesystem::path& csv, const CsvSource& source,
                          const std::vector<std::string>& learnt) {
  if (learnt.empty() && source.format.percents.empty()) return {};
  const std::vector<std::string> header = readHeader(csv, source.format);
  const std::unique_ptr<ColumnPlan> plan = planOf(source, header, csv);
  for (std::size_t c = 0; c < header.size(); ++c) {
    const std::string name = header[c].substr(0, header[c].find(':'));
    const bool here = source.format.isPercent(c);
    if (here == (std::find(learnt.begin(), learnt.end(), name) != learnt.end()) || (plan && !plan->read()[c])) continue;
    return here ? fmt::format(
                      "{}: column {} holds percents ('12 %'), but the network learnt from numbers without the "
                      "sign; write them as there, without it",
                      csv.filename().string(), name)
                : fmt::format(
                      "{}: column {} holds no percents, but the network learnt from percents ('12 %'); write "
                      "them as there, with the sign",
                      csv.filename().string(), name);
  }
  return {};
}

}  // namespace loom

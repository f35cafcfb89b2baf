#include "engine/data/columns/media_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/data/decode.h"
#include "engine/data/sound_rate.h"

namespace loom {
namespace {

bool namesArrays(const ColumnFacts& column, const TableSample& sample, std::size_t place) {
  if (column.type == ColumnType::number || column.type == ColumnType::date || column.type == ColumnType::empty)
    return false;
  return !sample.cells.empty() && std::all_of(sample.cells.begin(), sample.cells.end(), [&](const auto& row) {
    return place >= row.size() || row[place].ends_with(".npy") || row[place].ends_with(".csv");
  });
}

// The middle of what stands at `axis`.
std::int64_t middle(const std::vector<Shape>& shapes, std::size_t axis) {
  std::vector<std::int64_t> extents;
  for (const Shape& shape : shapes) extents.push_back(shape[static_cast<std::ptrdiff_t>(axis)]);
  const auto at = extents.begin() + static_cast<std::ptrdiff_t>(extents.size() / 2);
  std::nth_element(extents.begin(), at, extents.end());
  return *at;
}

void take(const std::vector<Shape>& shapes, MediaFacts& facts) {
  std::vector<std::int64_t> low, high, typical;
  for (std::size_t axis = 0; axis < shapes.front().rank(); ++axis) {
    const auto at = static_cast<std::ptrdiff_t>(axis);
    const auto [least, most] = std::minmax_element(
        shapes.begin(), shapes.end(), [at](const Shape& one, const Shape& other) { return one[at] < other[at]; });
    low.push_back((*least)[at]);
    high.push_back((*most)[at]);
    typical.push_back(middle(shapes, axis));
  }
  facts.smallest = Shape(low);
  facts.largest = Shape(high);
  facts.typical = Shape(typical);
}

// Sounds as long as they are at the rate of most.
void toOneRate(std::vector<Shape>& shapes, const std::vector<int>& rates, MediaFacts& facts) {
  std::map<int, std::size_t> count;
  for (const int rate : rates) ++count[rate];
  std::size_t most = 0;
  for (const auto& [rate, files] : count)
    if (rate > 0 && files > most) most = files, facts.rate = rate;
  facts.ratesDiffer = count.size() > 1 && facts.rate > 0;
  for (std::size_t i = 0; i < shapes.size() && facts.ratesDiffer; ++i)
    if (rates[i] > 0) shapes[i][0] = framesAtRate(shapes[i][0], rates[i], facts.rate);
}

}  // namespace

std::map<std::string, MediaFacts> lookAtMedia(const std::filesystem::path& csv, const TableFacts& facts,
                                              const std::function<bool()>& stop) {
  std::map<std::string, MediaFacts> found;
  if (!facts.sample) return found;
  const TableSample& sample = *facts.sample;
  Sample decoded;
  std::vector<std::byte> scratch;
  for (std::size_t c = 0; c < facts.columns.size(); ++c) {
    const ColumnFacts& column = facts.columns[c];
    if (column.type != ColumnType::picture && column.type != ColumnType::sound && !namesArrays(column, sample, c))
      continue;
    MediaFacts media;
    std::vector<Shape> shapes;
    std::vector<int> rates;
    const std::size_t step = std::max<std::size_t>(1, sample.cells.size() / kMediaLookedAt);
    for (std::size_t row = 0; row < sample.cells.size(); row += step) {
      if (stop && stop()) throwError(ErrorCode::stopped, "stopped while {} was looked at", csv.filename().string());
      if (c >= sample.cells[row].size() || sample.cells[row][c].empty()) continue;
      std::string name = sample.cells[row][c];
      std::replace(name.begin(), name.end(), '\\', '/');
      try {
        decodeFile(csv.parent_path() / name, decoded, scratch);
      } catch (const Error&) {
        continue;  // told by the doctor, with its row
      }
      if (!shapes.empty() && (decoded.kind != media.kind || decoded.shape.rank() != shapes.front().rank())) continue;
      media.kind = decoded.kind;
      media.type = decoded.type;
      shapes.push_back(decoded.shape);
      rates.push_back(decoded.rate);
    }
    if (shapes.empty()) continue;
    toOneRate(shapes, rates, media);
    take(shapes, media);
    found[column.name] = std::move(media);
  }
  return found;
}

TableFinding goneFiles(const ColumnFacts& column, std::size_t columns) {
  const char* const files = column.type == ColumnType::picture ? "pictures"
                            : column.type == ColumnType::sound ? "sounds"
                                                               : "files";
  const CellPlace first = column.unreadableAt.empty() ? CellPlace() : column.unreadableAt[0];
  const bool all = column.count == 0;
  const Json name = Json::array({column.name});
  TableFinding finding{
      .kind = FindingKind::unreadable,
      .severity = FaultSeverity::error,
      .columns = {column.name},
      .title = fmt::format("{}: {}{} {} not there", column.name, all && column.unreadable > 1 ? "all " : "",
                           counted(column.unreadable, files), column.unreadable == 1 ? "is" : "are"),
      .detail =
          fmt::format("Line {} names '{}', read from the CSV's folder on. Were they moved, say where they lie now.",
                      first.line, first.text),
      .places = column.unreadableAt,
      .remedies = {{.label = "Find the folder…", .steps = {}, .find = FindAgain::files}}};
  // Nothing to learn from would be left otherwise.
  if (!all)
    finding.remedies.push_back(
        {.label = column.unreadable == 1 ? "Skip the row" : fmt::format("Skip {} rows", column.unreadable),
         .steps = {{{"step", "SkipRows"}, {"faulty", true}}}});
  if (!all || columns > 2)
    finding.remedies.push_back({.label = "Leave out", .steps = {{{"step", "LeaveOut"}, {"variable", name}}}});
  return finding;
}

}  // namespace loom

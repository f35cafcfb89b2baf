// What the rows of a dataset say together, once all of them were read.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/data/check_rows.h"
#include "engine/data/parts.h"
#include "engine/data/raw_rows.h"
#include "engine/data/stats.h"
#include "engine/data/text.h"

namespace loom {
namespace {

void reportDuplicates(CheckedRows& all) {
  std::sort(all.hashes.begin(), all.hashes.end(), [](const RowHash& a, const RowHash& b) {
    return a.input != b.input ? a.input < b.input : a.line < b.line;
  });
  // Rows of a table may well repeat; a picture that stands twice is a slip.
  const FaultSeverity severity = all.files ? FaultSeverity::warning : FaultSeverity::info;
  RowFaults faults;
  std::vector<std::pair<std::size_t, std::size_t>> found;  // later, first
  for (std::size_t i = 1, first = 0; i < all.hashes.size(); ++i) {
    if (all.hashes[i].input != all.hashes[i - 1].input)
      first = i;
    else
      found.emplace_back(i, first);
  }
  std::sort(found.begin(), found.end(),
            [&](const auto& a, const auto& b) { return all.hashes[a.first].line < all.hashes[b.first].line; });
  for (const auto& [later, first] : found) {
    const bool conflict = all.hashes[later].row != all.hashes[first].row;
    faults.add({.kind = FaultKind::duplicate,
                .severity = conflict ? FaultSeverity::warning : severity,
                .line = all.hashes[later].line,
                .column = {},
                .found = conflict ? fmt::format("the input is the same as in line {}, with another target",
                                                all.hashes[first].line)
                                  : fmt::format("the sample is the same as in line {}", all.hashes[first].line),
                .wanted = "every sample stands once",
                .remedy = conflict ? "find out which target is right and remove the other row"
                                   : "remove the row unless it is meant"},
               all.options.listed);
  }
  all.merge(faults);
  if (all.hashes.size() == kMostHashes)
    all.add({.kind = FaultKind::duplicate,
             .severity = FaultSeverity::info,
             .column = {},
             .found = fmt::format("the dataset has more than {} rows", kMostHashes),
             .wanted = "that many were looked at for duplicates",
             .remedy = "check the rest in parts"});
}

void reportShared(CheckedRows& all) {
  struct Seen {
    std::uint64_t input;
    std::int64_t line;
  };
  std::vector<Seen> others;
  RowConsumer consumer;
  std::vector<LabelColumn> labels;  // of this file, counted in the other
  std::vector<VariablePlan> plan;
  consumer.start = [&](const CsvHeader& header, const RowParser& parser) {
    plan = parser.plan();
    for (const LabelColumn& own : all.labels)
      for (std::size_t v = 0; v < header.variables.size(); ++v)
        if (own.sure && header.variables[v].name == all.report.schema.variables[own.variable].name && !plan[v].file &&
            plan[v].shape.elements() == 1)
          labels.push_back({v, own.header, 0, false, true, {}});
  };
  consumer.prepare = hashRows;
  consumer.rows = [&](RowChunk& chunk, RowFaults&, std::int64_t, std::int64_t) {
    for (LabelColumn& label : labels) all.takeLabels(label, chunk);
    for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows) && others.size() < kMostHashes; ++row) {
      if (!chunk.bad[row]) others.push_back({chunk.inputHashes[row], chunk.lines[row]});
    }
    all.tell(1, 2);
  };
  all.guarded(all.options.other, [&] {
    readRows({.csv = all.options.other,
              .source = {.format = recogniseCsv(all.options.other, all.options.otherFormat), .heldOut = {}},
              .threads = all.options.threads,
              .collect = true,
              .listed = 0},
             consumer);
  });
  for (const LabelColumn& its : labels)
    for (const LabelColumn& own : all.labels)
      if (own.header == its.header && own.integers && its.integers && !own.counts.empty() && !its.counts.empty())
        for (Fault& fault : loneClasses(own.header, own.counts, all.csv.filename().string(), its.counts,
                                        all.options.other.filename().string()))
          all.add(std::move(fault));
  std::sort(others.begin(), others.end(),
            [](const Seen& a, const Seen& b) { return a.input != b.input ? a.input < b.input : a.line < b.line; });
  std::vector<std::pair<std::int64_t, std::int64_t>> shared;  // line here, line there
  for (const RowHash& own : all.hashes) {
    const auto at = std::lower_bound(others.begin(), others.end(), own.input,
                                     [](const Seen& seen, std::uint64_t hash) { return seen.input < hash; });
    if (at != others.end() && at->input == own.input) shared.emplace_back(own.line, at->line);
  }
  std::sort(shared.begin(), shared.end());
  RowFaults faults;
  for (const auto& [here, there] : shared)
    faults.add(
        {.kind = FaultKind::sharedSample,
         .severity = FaultSeverity::warning,
         .line = here,
         .column = {},
         .found = fmt::format("the sample stands in {} too, in line {}", all.options.other.filename().string(), there),
         .wanted = "training and validation must not share samples: the result would be too good",
         .remedy = "remove it from one of the two"},
        all.options.listed);
  all.merge(faults);
}

// A column of words is one finding, not one a row.
void groupTextColumns(CheckedRows& all) {
  std::map<std::string, std::int64_t> byColumn;
  for (const auto& [place, count] : all.words) byColumn[place.first] += count;
  for (const auto& [column, count] : byColumn) {
    if (count < 2 || 2 * count < all.report.rows) continue;
    std::vector<std::string> words;
    all.guarded(all.csv, [&, &column = column] { words = wordsOf(all.csv, {column}, all.options.format).at(column); });
    // Paths whose files are missing are told one by one.
    const auto paths = std::count_if(words.begin(), words.end(), [](const std::string& word) {
      const auto dot = word.rfind('.');
      return word.find_first_of("/\\") != std::string::npos ||
             (dot != std::string::npos && dot > 0 && word.size() - dot <= 5);
    });
    if (words.empty() || 2 * paths >= static_cast<std::ptrdiff_t>(words.size())) continue;
    for (const FaultKind kind : {FaultKind::notANumber, FaultKind::missingFile}) {
      const auto found = all.words.find({column, kind});
      if (found == all.words.end()) continue;
      all.report.counts[static_cast<std::size_t>(kind)] -= found->second;
      all.report.errors -= found->second;
      std::erase_if(all.report.faults, [kind, &column = column](const Fault& fault) {
        return fault.kind == kind && fault.column == column;
      });
    }
    std::string some;
    for (std::size_t i = 0; i < std::min<std::size_t>(words.size(), 3); ++i)
      some += (i == 0 ? "" : ", ") + quotedText(words[i]);
    all.add({.kind = FaultKind::textColumn,
             .line = 1,
             .column = column,
             .found = fmt::format("{} of {} cells are words, {} different ones: {}{}", count, all.report.rows,
                                  words.size(), some, words.size() > 3 ? " …" : ""),
             .wanted = "numbers are needed",
             .remedy = "encode the words as classes 0, 1, 2 ..., or begin the column's name with '#' to leave it out"});
  }
}

// float32 has 24 bits: seconds since 1970 lie 128 s apart in it.
void reportPrecision(CheckedRows& all, const NumberColumn& column) {
  constexpr double kFew = 4096;
  if (!(column.low < column.high)) return;  // every row has a fault, and no number was read
  const float largest = std::max(std::abs(column.low), std::abs(column.high));
  const double apart = std::nextafter(largest, std::numeric_limits<float>::infinity()) - static_cast<double>(largest);
  const double steps = (static_cast<double>(column.high) - column.low) / apart;
  // Whole numbers that float32 holds exactly lose nothing.
  if (steps >= kFew || apart <= 1) return;
  all.add({.kind = FaultKind::constantColumn,
           .severity = FaultSeverity::warning,
           .line = 1,
           .column = column.header,
           .found = fmt::format(
               "float32 tells its numbers apart by {:g} only: from {:.10g} to {:.10g} there are {:.0f} steps", apart,
               column.low, column.high, steps),
           .wanted = "what lies closer together becomes the same number",
           .remedy = "add the step Standardise to the column, which is computed before, or subtract the first value"});
}

void reportConstants(CheckedRows& all) {
  if (all.report.rows < 2) return;
  for (const NumberColumn& column : all.numbers) {
    if (column.low != column.high) {
      reportPrecision(all, column);
      continue;
    }
    all.add({.kind = FaultKind::constantColumn,
             .severity = FaultSeverity::warning,
             .line = 1,
             .column = column.header,
             .found = fmt::format("every cell is {}", column.low),
             .wanted = "a column that never changes teaches nothing",
             .remedy = "begin its name with '#' to leave it out"});
  }
}

void reportClips(CheckedRows& all) {
  for (const ClipColumn& clip : all.clips) {
    if (clip.byRate.empty()) continue;
    Variable& variable = all.report.schema.variables[clip.variable];
    all.report.clips.push_back({.variable = variable.name, .column = clip.header, .byRate = clip.byRate});
    for (Fault& fault : clipFaults(all.report.clips.back(), 0)) all.add(std::move(fault));
    const ClipLengths as = lengthsAt(all.report.clips.back(), 0);
    if (as.shortest >= as.longest || variable.shape.rank() == 0) continue;
    variable.smallest = variable.shape;
    variable.smallest[0] = as.shortest;
    variable.shape[0] = as.longest;
  }
}

void reportPictures(CheckedRows& all) {
  for (const PictureColumn& column : all.pictures) {
    if (column.rows.size() < 2) continue;
    const VariablePlan& plan = all.plan[column.variable];
    const std::string& name = all.report.schema.variables[column.variable].name;
    Shape smallest, largest, common;
    std::int64_t most = 0;
    for (const auto& [extents, rows] : column.rows) {
      const Shape size = plan.shapeOf(extents);
      if (smallest.rank() == 0) smallest = largest = size;
      for (int axis = 0; axis < 3; ++axis) {
        smallest[axis] = std::min(smallest[axis], size[axis]);
        largest[axis] = std::max(largest[axis], size[axis]);
      }
      if (rows > most) most = rows, common = size;
    }
    const Fault fault{.kind = FaultKind::mixedShapes,
                      .severity = FaultSeverity::warning,
                      .line = 1,
                      .column = column.header,
                      .variables = {name}};
    if (smallest[1] != largest[1] || smallest[2] != largest[2]) {
      Fault sizes = fault;
      sizes.found = fmt::format("the pictures have {}×{} to {}×{} pixels, {} of {} have {}×{}", smallest[1],
                                smallest[2], largest[1], largest[2], most, all.report.rows, common[1], common[2]);
      sizes.wanted = "a network takes pictures of one size";
      sizes.remedy = "add the step Resize to prepare";
      sizes.step = {{"step", "Resize"}, {"size", {common[1], common[2]}}, {"variable", name}};
      all.add(std::move(sizes));
    }
    if (smallest[0] != largest[0]) {
      Fault colours = fault;
      colours.found = fmt::format("the pictures have {} to {} channels", smallest[0], largest[0]);
      colours.wanted = "a network takes pictures of equally many";
      colours.remedy = "add the step Colours to prepare";
      colours.step = {{"step", "Colours"}, {"to", "rgb"}, {"variable", name}};
      all.add(std::move(colours));
    }
  }
}

// Where columns differ a hundredfold in spread, the wide ones drown the narrow ones. Empty where they do not.
std::string unlikeScales(const std::vector<const NumberColumn*>& columns) {
  constexpr double kUnlike = 100;
  const auto spread = [](const NumberColumn* column) { return static_cast<double>(column->high) - column->low; };
  const NumberColumn *widest = nullptr, *narrowest = nullptr;
  for (const NumberColumn* column : columns) {
    if (!(spread(column) > 0)) continue;
    if (!widest || spread(column) > spread(widest)) widest = column;
    if (!narrowest || spread(column) < spread(narrowest)) narrowest = column;
  }
  if (!widest || spread(widest) < kUnlike * spread(narrowest)) return {};
  return fmt::format("columns differ in scale: {} spans {:.4g} to {:.4g}, {} only {:.4g} to {:.4g}", widest->header,
                     widest->low, widest->high, narrowest->header, narrowest->low, narrowest->high);
}

// Single columns that are learned from: no labels, and not what is to be predicted.
std::vector<const NumberColumn*> featureColumns(const CheckedRows& all) {
  const auto nameOf = [&](std::size_t variable) { return all.report.schema.variables[variable].name; };
  std::vector<std::string> names;
  std::set<std::string> classes, sure;
  for (const Variable& variable : all.report.schema.variables) names.push_back(variable.name);
  for (const LabelColumn& label : all.labels) {
    if (label.sure) sure.insert(nameOf(label.variable));
    if (label.sure || (label.integers && areClasses(all.report.schema.variables[label.variable], label.counts)))
      classes.insert(nameOf(label.variable));
  }
  std::vector<std::string> targets = all.options.targets;
  if (targets.empty()) targets = {likelyTarget(names, [&](const std::string& name) { return classes.contains(name); })};
  std::vector<const NumberColumn*> found;
  for (const NumberColumn& column : all.numbers) {
    const Variable& variable = all.report.schema.variables[column.variable];
    if (variable.kind != VariableKind::scalar || sure.contains(variable.name) || !(column.high > column.low)) continue;
    if (std::find(targets.begin(), targets.end(), variable.name) == targets.end()) found.push_back(&column);
  }
  return found;
}

void reportScales(CheckedRows& all) {
  for (std::size_t v = 0; v < all.plan.size(); ++v) {
    std::vector<const NumberColumn*> columns;
    for (const NumberColumn& column : all.numbers)
      if (column.variable == v && all.report.schema.variables[v].kind != VariableKind::scalar)
        columns.push_back(&column);
    const std::string found = unlikeScales(columns);
    if (found.empty()) continue;
    all.add({.kind = FaultKind::unlikeScales,
             .severity = FaultSeverity::info,
             .line = 1,
             .column = all.report.schema.variables[v].name,
             .found = "its " + found,
             .wanted = "columns of similar size are learned alike",
             .remedy = "add the step Normalise to the preparation"});
  }
  // A table whose columns stand by themselves: one finding for all of them.
  const std::vector<const NumberColumn*> features = featureColumns(all);
  const std::string found = unlikeScales(features);
  if (found.empty()) return;
  Fault fault{.kind = FaultKind::unlikeScales,
              .severity = FaultSeverity::info,
              .line = 1,
              .column = {},
              .found = fmt::format("{} {}", features.size(), found),
              .wanted = "columns of similar size are learned alike",
              .remedy = "add the step Normalise to the preparation and name the columns in it"};
  for (const NumberColumn* column : features)
    fault.variables.push_back(all.report.schema.variables[column->variable].name);
  all.add(std::move(fault));
}

void reportClasses(CheckedRows& all) {
  for (const LabelColumn& label : all.labels) {
    if (!label.sure || !label.integers || label.counts.empty()) continue;
    const std::size_t classes = std::max(label.counts.size(), static_cast<std::size_t>(label.classes));
    std::string missing;
    std::int64_t absent = 0, most = 0, fewest = INT64_MAX;
    for (std::size_t c = 0; c < classes; ++c) {
      const std::int64_t count = c < label.counts.size() ? label.counts[c] : 0;
      if (count == 0) {
        if (++absent <= 10) missing += (missing.empty() ? "" : ", ") + std::to_string(c);
        continue;
      }
      most = std::max(most, count);
      fewest = std::min(fewest, count);
    }
    if (absent > 0)
      all.add({.kind = FaultKind::imbalance,
               .severity = FaultSeverity::warning,
               .line = 1,
               .column = label.header,
               .found = fmt::format("{} of {} classes have no sample: {}{}", absent, classes, missing,
                                    absent > 10 ? " ..." : ""),
               .wanted = "every class needs samples",
               .remedy = "add samples, or number the classes 0, 1, 2 ... without gaps"});
    if (most >= 10 * fewest)
      all.add({.kind = FaultKind::imbalance,
               .severity = FaultSeverity::info,
               .line = 1,
               .column = label.header,
               .found = fmt::format("the largest class has {} samples, the smallest {}", most, fewest),
               .wanted = "classes of similar size are learned alike",
               .remedy = "watch the accuracy of each class, or balance the samples"});
  }
}

}  // namespace

void reportRows(CheckedRows& rows) {
  groupTextColumns(rows);
  reportDuplicates(rows);
  if (!rows.options.other.empty()) reportShared(rows);
  reportConstants(rows);
  reportClips(rows);
  reportPictures(rows);
  reportScales(rows);
  reportClasses(rows);
}

}  // namespace loom

#include "engine/data/check.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/data/csv_rows.h"
#include "engine/data/hash.h"
#include "engine/data/parts.h"
#include "engine/data/raw_rows.h"
#include "engine/data/stats.h"
#include "engine/data/text.h"

namespace loom {
namespace {

constexpr std::size_t kMostHashes =
    20'000'000;  // 480 MB: beyond that, duplicates are looked for among the first rows only

struct RowHash {
  std::uint64_t input, row;
  std::int64_t line;
  auto operator<=>(const RowHash&) const = default;
};

// What tells one sample from another: everything that is no single number (images, vectors), or all there is.
void hashRows(const RowParser& parser, RowChunk& chunk) {
  const auto& plan = parser.plan();
  const bool onlyScalars =
      std::all_of(plan.begin(), plan.end(), [](const VariablePlan& v) { return v.kind == VariableKind::scalar; });
  chunk.inputHashes.assign(static_cast<std::size_t>(chunk.rows), 0);
  chunk.rowHashes.assign(static_cast<std::size_t>(chunk.rows), 0);
  for (std::size_t v = 0; v < plan.size(); ++v) {
    if (!plan[v].known) continue;
    std::size_t at = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows); ++row) {
      const std::size_t bytes = plan[v].clip()
                                    ? static_cast<std::size_t>(chunk.columns[v].lengths[row]) * plan[v].stepBytes()
                                    : plan[v].cellBytes();
      const std::span<const std::byte> cell(chunk.columns[v].bytes.data() + at, bytes);
      at += bytes;
      chunk.rowHashes[row] = Hash64::of(cell, chunk.rowHashes[row]);
      if (onlyScalars || plan[v].kind != VariableKind::scalar)
        chunk.inputHashes[row] = Hash64::of(cell, chunk.inputHashes[row]);
    }
  }
}

class Checker {
 public:
  Checker(const std::filesystem::path& csv, const CheckOptions& options, CheckReport& report)
      : m_csv(csv), m_options(options), m_report(report) {}

  void run() {
    RowConsumer consumer;
    consumer.start = [this](const CsvHeader& header, const RowParser& parser) { begin(header, parser); };
    if (m_options.readFiles) consumer.prepare = hashRows;
    consumer.rows = [this](RowChunk& chunk, RowFaults& faults, std::int64_t done, std::int64_t total) {
      merge(faults);
      takeRows(chunk);
      tell(done, total);
    };
    guarded(m_csv, [&] {
      merge(readRows({.csv = m_csv,
                      .threads = m_options.threads,
                      .decodeFiles = m_options.readFiles,
                      .collect = true,
                      .listed = m_options.listed},
                     consumer));
    });
    if (m_report.rows == 0 && m_report.errors == 0)
      add({.kind = FaultKind::unreadable,
           .column = {},
           .found = "the file has a header but no samples",
           .wanted = "at least one is needed",
           .remedy = "add a line for each sample"});
    groupTextColumns();
    reportDuplicates();
    if (!m_options.other.empty()) reportShared();
    reportConstants();
    reportClips();
    reportScales();
    reportClasses();
    std::stable_sort(m_report.faults.begin(), m_report.faults.end(), [](const Fault& a, const Fault& b) {
      return a.severity != b.severity ? a.severity < b.severity : a.line < b.line;
    });
  }

 private:
  struct NumberColumn {
    std::string header;
    std::size_t variable = 0;
    std::size_t element = 0;
    float low = std::numeric_limits<float>::infinity(), high = -std::numeric_limits<float>::infinity();
  };
  struct Clip {
    std::string header;
    std::size_t variable = 0;
    std::int64_t shortest = INT64_MAX, longest = 0;
  };
  struct Label {
    std::size_t variable = 0;
    std::string header;
    std::int64_t classes = 0;  // 0: any number of them
    bool sure = false;         // named as a label, so that other numbers are faults
    bool integers = true;
    std::vector<std::int64_t> counts;
  };

  void add(Fault fault) {
    RowFaults one;
    one.add(std::move(fault), 1);
    merge(one);
  }

  void merge(const RowFaults& faults) {
    std::array<std::size_t, kFaultKinds> room{};
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
      room[kind] = m_options.listed - std::min(m_options.listed, static_cast<std::size_t>(m_report.counts[kind]));
      m_report.counts[kind] += faults.counts[kind];
      m_report.errors += faults.bySeverity[kind][static_cast<std::size_t>(FaultSeverity::error)];
      m_report.warnings += faults.bySeverity[kind][static_cast<std::size_t>(FaultSeverity::warning)];
    }
    for (const auto& [place, count] : faults.words) m_words[place] += count;
    for (const Fault& fault : faults.faults) {
      std::size_t& left = room[static_cast<std::size_t>(fault.kind)];
      if (left == 0) continue;
      --left;
      m_report.faults.push_back(fault);
    }
  }

  // What ends the reading becomes a finding; only a person's wish to stop goes on.
  void guarded(const std::filesystem::path& csv, const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::stopped || error.code() == ErrorCode::internal) throw;
      add({.kind = error.code() == ErrorCode::missingFile ? FaultKind::missingFile : FaultKind::unreadable,
           .column = {},
           .found = csv == m_csv ? error.what() : fmt::format("the other dataset cannot be compared: {}", error.what()),
           .wanted = {},
           .remedy = {}});
    }
  }

  void tell(std::int64_t done, std::int64_t total) {
    if (!m_options.progress) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - m_told < std::chrono::milliseconds(100) && done < total) return;
    m_told = now;
    const double seconds = std::chrono::duration<double>(now - m_begin).count();
    const auto estimate = static_cast<std::int64_t>(static_cast<double>(m_report.rows) * static_cast<double>(total) /
                                                    static_cast<double>(std::max<std::int64_t>(done, 1)));
    if (!m_options.progress({m_report.rows, std::max(estimate, m_report.rows),
                             seconds > 0 ? static_cast<double>(m_report.rows) / seconds : 0}))
      throwError(ErrorCode::stopped, "stopped while {} was checked", m_csv.filename().string());
  }

  void begin(const CsvHeader& header, const RowParser& parser) {
    m_report.schema = parser.schema();
    m_plan = parser.plan();
    m_files = parser.hasFiles();
    for (std::size_t v = 0; v < m_plan.size(); ++v) {
      const CsvVariable& variable = header.variables[v];
      if (m_plan[v].clip()) m_clips.push_back({.header = header.columns[variable.columns[0]].header, .variable = v});
      if (m_plan[v].file) continue;
      for (std::size_t e = 0; e < variable.columns.size(); ++e)
        m_numbers.push_back({header.columns[variable.columns[e]].header, v, e});
      const auto wanted = m_options.classes.find(variable.name);
      if (variable.indexed) continue;
      const bool named = isLabel(m_report.schema.variables[v]);
      m_labels.push_back({v,
                          header.columns[variable.columns[0]].header,
                          wanted == m_options.classes.end() ? 0 : wanted->second,
                          named || wanted != m_options.classes.end(),
                          true,
                          {}});
    }
    for (const auto& [name, classes] : m_options.classes) {
      const Variable* variable = m_report.schema.find(name);
      if (!variable || variable->kind != VariableKind::scalar)
        add({.kind = FaultKind::label,
             .line = 1,
             .column = name,
             .found = variable ? fmt::format("'{}' is no single number", name)
                               : fmt::format("there is no column '{}'", name),
             .wanted = "the network needs labels there",
             .remedy =
                 "add a column of classes 0, 1, 2 ... with this name, or choose another variable in the network"});
    }
  }

  void takeRows(RowChunk& chunk) {
    for (NumberColumn& column : m_numbers) {
      const std::size_t stride = m_plan[column.variable].cellBytes();
      const std::byte* at = chunk.columns[column.variable].bytes.data() + column.element * sizeof(float);
      for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows); ++row, at += stride) {
        if (chunk.bad[row]) continue;
        float value;
        std::memcpy(&value, at, sizeof value);
        column.low = std::min(column.low, value);
        column.high = std::max(column.high, value);
      }
    }
    for (Clip& clip : m_clips)
      for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows); ++row) {
        if (chunk.bad[row]) continue;
        const auto steps = static_cast<std::int64_t>(chunk.columns[clip.variable].lengths[row]);
        clip.shortest = std::min(clip.shortest, steps);
        clip.longest = std::max(clip.longest, steps);
      }
    for (Label& label : m_labels) takeLabels(label, chunk);
    if (!chunk.rowHashes.empty()) {
      for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows) && m_hashes.size() < kMostHashes; ++row) {
        if (!chunk.bad[row]) m_hashes.push_back({chunk.inputHashes[row], chunk.rowHashes[row], chunk.lines[row]});
      }
    }
    m_report.rows += chunk.rows;
  }

  void takeLabels(Label& label, const RowChunk& chunk) {
    RowFaults faults;
    for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows); ++row) {
      if (chunk.bad[row]) continue;
      float value;
      std::memcpy(&value, chunk.columns[label.variable].bytes.data() + row * sizeof value, sizeof value);
      const bool whole = value == std::floor(value) && value >= 0 && value < static_cast<float>(kMostLabels);
      const bool inside = whole && (label.classes == 0 || value < static_cast<float>(label.classes));
      if (whole) {
        if (label.counts.size() <= static_cast<std::size_t>(value))
          label.counts.resize(static_cast<std::size_t>(value) + 1, 0);
        ++label.counts[static_cast<std::size_t>(value)];
      } else {
        label.integers = false;
      }
      if (inside || !label.sure) continue;
      faults.add(
          {.kind = FaultKind::label,
           .line = chunk.lines[row],
           .column = label.header,
           .found = fmt::format("the label is {}", value),
           .wanted = label.classes > 0 ? fmt::format("there are {} classes: 0 to {}", label.classes, label.classes - 1)
                                       : "labels are whole numbers from 0",
           .remedy = whole ? "correct the label, or give the network's last layer more outputs"
                           : "number the classes 0, 1, 2 ..."},
          m_options.listed);
    }
    merge(faults);
  }

  void reportDuplicates() {
    std::sort(m_hashes.begin(), m_hashes.end(), [](const RowHash& a, const RowHash& b) {
      return a.input != b.input ? a.input < b.input : a.line < b.line;
    });
    // Rows of a table may well repeat; a picture that stands twice is a slip.
    const FaultSeverity severity = m_files ? FaultSeverity::warning : FaultSeverity::info;
    RowFaults faults;
    std::vector<std::pair<std::size_t, std::size_t>> found;  // later, first
    for (std::size_t i = 1, first = 0; i < m_hashes.size(); ++i) {
      if (m_hashes[i].input != m_hashes[i - 1].input)
        first = i;
      else
        found.emplace_back(i, first);
    }
    std::sort(found.begin(), found.end(),
              [&](const auto& a, const auto& b) { return m_hashes[a.first].line < m_hashes[b.first].line; });
    for (const auto& [later, first] : found) {
      const bool conflict = m_hashes[later].row != m_hashes[first].row;
      faults.add({.kind = FaultKind::duplicate,
                  .severity = conflict ? FaultSeverity::warning : severity,
                  .line = m_hashes[later].line,
                  .column = {},
                  .found = conflict ? fmt::format("the input is the same as in line {}, with another target",
                                                  m_hashes[first].line)
                                    : fmt::format("the sample is the same as in line {}", m_hashes[first].line),
                  .wanted = "every sample stands once",
                  .remedy = conflict ? "find out which target is right and remove the other row"
                                     : "remove the row unless it is meant"},
                 m_options.listed);
    }
    merge(faults);
    if (m_hashes.size() == kMostHashes)
      add({.kind = FaultKind::duplicate,
           .severity = FaultSeverity::info,
           .column = {},
           .found = fmt::format("the dataset has more than {} rows", kMostHashes),
           .wanted = "that many were looked at for duplicates",
           .remedy = "check the rest in parts"});
  }

  void reportShared() {
    struct Seen {
      std::uint64_t input;
      std::int64_t line;
    };
    std::vector<Seen> others;
    RowConsumer consumer;
    std::vector<Label> labels;  // of this file, counted in the other
    std::vector<VariablePlan> plan;
    consumer.start = [&](const CsvHeader& header, const RowParser& parser) {
      plan = parser.plan();
      for (const Label& own : m_labels)
        for (std::size_t v = 0; v < header.variables.size(); ++v)
          if (own.sure && header.variables[v].name == m_report.schema.variables[own.variable].name && !plan[v].file &&
              plan[v].shape.elements() == 1)
            labels.push_back({v, own.header, 0, false, true, {}});
    };
    consumer.prepare = hashRows;
    consumer.rows = [&](RowChunk& chunk, RowFaults&, std::int64_t, std::int64_t) {
      for (Label& label : labels) takeLabels(label, chunk);
      for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows) && others.size() < kMostHashes; ++row) {
        if (!chunk.bad[row]) others.push_back({chunk.inputHashes[row], chunk.lines[row]});
      }
      tell(1, 2);
    };
    guarded(m_options.other, [&] {
      readRows({.csv = m_options.other, .threads = m_options.threads, .collect = true, .listed = 0}, consumer);
    });
    for (const Label& its : labels)
      for (const Label& own : m_labels)
        if (own.header == its.header && own.integers && its.integers && !own.counts.empty() && !its.counts.empty())
          for (Fault& fault : loneClasses(own.header, own.counts, m_csv.filename().string(), its.counts,
                                          m_options.other.filename().string()))
            add(std::move(fault));
    std::sort(others.begin(), others.end(),
              [](const Seen& a, const Seen& b) { return a.input != b.input ? a.input < b.input : a.line < b.line; });
    std::vector<std::pair<std::int64_t, std::int64_t>> shared;  // line here, line there
    for (const RowHash& own : m_hashes) {
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
           .found = fmt::format("the sample stands in {} too, in line {}", m_options.other.filename().string(), there),
           .wanted = "training and validation must not share samples: the result would be too good",
           .remedy = "remove it from one of the two"},
          m_options.listed);
    merge(faults);
  }

  // A column of words is one finding, not one a row.
  void groupTextColumns() {
    std::map<std::string, std::int64_t> byColumn;
    for (const auto& [place, count] : m_words) byColumn[place.first] += count;
    for (const auto& [column, count] : byColumn) {
      if (count < 2 || 2 * count < m_report.rows) continue;
      std::vector<std::string> words;
      guarded(m_csv, [&] { words = wordsOf(m_csv, {column}).at(column); });
      // Paths whose files are missing are told one by one.
      const auto paths = std::count_if(words.begin(), words.end(), [](const std::string& word) {
        const auto dot = word.rfind('.');
        return word.find_first_of("/\\") != std::string::npos || (dot != std::string::npos && dot > 0 && word.size() - dot <= 5);
      });
      if (words.empty() || 2 * paths >= static_cast<std::ptrdiff_t>(words.size())) continue;
      for (const FaultKind kind : {FaultKind::notANumber, FaultKind::missingFile}) {
        const auto found = m_words.find({column, kind});
        if (found == m_words.end()) continue;
        m_report.counts[static_cast<std::size_t>(kind)] -= found->second;
        m_report.errors -= found->second;
        std::erase_if(m_report.faults, [&](const Fault& fault) { return fault.kind == kind && fault.column == column; });
      }
      std::string some;
      for (std::size_t i = 0; i < std::min<std::size_t>(words.size(), 3); ++i) some += (i == 0 ? "" : ", ") + quotedText(words[i]);
      add({.kind = FaultKind::textColumn,
           .line = 1,
           .column = column,
           .found = fmt::format("{} of {} cells are words, {} different ones: {}{}", count, m_report.rows, words.size(), some,
                                words.size() > 3 ? " …" : ""),
           .wanted = "numbers are needed",
           .remedy = "encode the words as classes 0, 1, 2 ..., or begin the column's name with '#' to leave it out"});
    }
  }

  void reportConstants() {
    if (m_report.rows < 2) return;
    for (const NumberColumn& column : m_numbers) {
      if (column.low != column.high) continue;
      add({.kind = FaultKind::constantColumn,
           .severity = FaultSeverity::warning,
           .line = 1,
           .column = column.header,
           .found = fmt::format("every cell is {}", column.low),
           .wanted = "a column that never changes teaches nothing",
           .remedy = "begin its name with '#' to leave it out"});
    }
  }

  void reportClips() {
    for (const Clip& clip : m_clips) {
      if (clip.shortest >= clip.longest) continue;
      add({.kind = FaultKind::mixedShapes,
           .severity = FaultSeverity::info,
           .line = 1,
           .column = clip.header,
           .found = fmt::format("the clips have {} to {} steps", clip.shortest, clip.longest),
           .wanted = "a network takes samples of one length",
           .remedy = fmt::format("prepare the dataset with a Crop to at most {} or a Pad to at least {} steps",
                                 clip.shortest, clip.longest)});
    }
  }

  // Of a vector whose numbers differ a hundredfold in spread, the wide ones drown the narrow ones.
  void reportScales() {
    constexpr double kUnlike = 100;
    for (std::size_t v = 0; v < m_plan.size(); ++v) {
      const NumberColumn *widest = nullptr, *narrowest = nullptr;
      const auto spread = [](const NumberColumn& column) { return static_cast<double>(column.high) - column.low; };
      for (const NumberColumn& column : m_numbers) {
        if (column.variable != v || !(spread(column) > 0)) continue;
        if (!widest || spread(column) > spread(*widest)) widest = &column;
        if (!narrowest || spread(column) < spread(*narrowest)) narrowest = &column;
      }
      if (!widest || spread(*widest) < kUnlike * spread(*narrowest)) continue;
      add({.kind = FaultKind::unlikeScales,
           .severity = FaultSeverity::info,
           .line = 1,
           .column = m_report.schema.variables[v].name,
           .found = fmt::format("its columns differ in scale: {} spans {:.4g} to {:.4g}, {} only {:.4g} to {:.4g}", widest->header,
                                widest->low, widest->high, narrowest->header, narrowest->low, narrowest->high),
           .wanted = "columns of similar size are learned alike",
           .remedy = "add the step Normalise to the preparation"});
    }
  }

  void reportClasses() {
    for (const Label& label : m_labels) {
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
        add({.kind = FaultKind::imbalance,
             .severity = FaultSeverity::warning,
             .line = 1,
             .column = label.header,
             .found = fmt::format("{} of {} classes have no sample: {}{}", absent, classes, missing,
                                  absent > 10 ? " ..." : ""),
             .wanted = "every class needs samples",
             .remedy = "add samples, or number the classes 0, 1, 2 ... without gaps"});
      if (most >= 10 * fewest)
        add({.kind = FaultKind::imbalance,
             .severity = FaultSeverity::info,
             .line = 1,
             .column = label.header,
             .found = fmt::format("the largest class has {} samples, the smallest {}", most, fewest),
             .wanted = "classes of similar size are learned alike",
             .remedy = "watch the accuracy of each class, or balance the samples"});
    }
  }

  const std::filesystem::path& m_csv;
  const CheckOptions& m_options;
  CheckReport& m_report;
  std::vector<VariablePlan> m_plan;
  bool m_files = false;
  std::vector<NumberColumn> m_numbers;
  std::vector<Label> m_labels;
  std::vector<Clip> m_clips;
  std::vector<RowHash> m_hashes;
  std::map<std::pair<std::string, FaultKind>, std::int64_t> m_words;
  std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now(), m_told{};
};

}  // namespace

CheckReport checkDataset(const std::filesystem::path& csv, const CheckOptions& options) {
  CheckReport report;
  Checker(csv, options, report).run();
  return report;
}

}  // namespace loom

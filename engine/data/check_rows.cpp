#include "engine/data/check_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/data/stats.h"

namespace loom {

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
      const std::size_t bytes = plan[v].loose() ? plan[v].rowBytes(chunk.columns[v].extents[row]) : plan[v].cellBytes();
      const std::span<const std::byte> cell(chunk.columns[v].bytes.data() + at, bytes);
      at += bytes;
      chunk.rowHashes[row] = Hash64::of(cell, chunk.rowHashes[row]);
      if (onlyScalars || plan[v].kind != VariableKind::scalar)
        chunk.inputHashes[row] = Hash64::of(cell, chunk.inputHashes[row]);
    }
  }
}

void CheckedRows::read() {
  RowConsumer consumer;
  consumer.start = [this](const CsvHeader& header, const RowParser& parser) { begin(header, parser); };
  if (options.readFiles) consumer.prepare = hashRows;
  consumer.rows = [this](RowChunk& chunk, RowFaults& faults, std::int64_t done, std::int64_t total) {
    merge(faults);
    takeRows(chunk);
    tell(done, total);
  };
  guarded(csv, [&] {
    merge(readRows({.csv = csv,
                    .source = {.format = recogniseCsv(csv, options.format), .heldOut = {}},
                    .threads = options.threads,
                    .decodeFiles = options.readFiles,
                    .collect = true,
                    .listed = options.listed},
                   consumer));
  });
  if (report.rows == 0 && report.errors == 0)
    add({.kind = FaultKind::unreadable,
         .column = {},
         .found = "the file has a header but no samples",
         .wanted = "at least one is needed",
         .remedy = "add a line for each sample"});
}

void CheckedRows::add(Fault fault) {
  RowFaults one;
  one.add(std::move(fault), 1);
  merge(one);
}

void CheckedRows::merge(const RowFaults& faults) {
  std::array<std::size_t, kFaultKinds> room{};
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    room[kind] = options.listed - std::min(options.listed, static_cast<std::size_t>(report.counts[kind]));
    report.counts[kind] += faults.counts[kind];
    report.errors += faults.bySeverity[kind][static_cast<std::size_t>(FaultSeverity::error)];
    report.warnings += faults.bySeverity[kind][static_cast<std::size_t>(FaultSeverity::warning)];
  }
  for (const auto& [place, count] : faults.words) words[place] += count;
  for (const Fault& fault : faults.faults) {
    std::size_t& left = room[static_cast<std::size_t>(fault.kind)];
    if (left == 0) continue;
    --left;
    report.faults.push_back(fault);
  }
}

void CheckedRows::guarded(const std::filesystem::path& file, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::stopped || error.code() == ErrorCode::internal) throw;
    add({.kind = error.code() == ErrorCode::missingFile ? FaultKind::missingFile : FaultKind::unreadable,
         .column = {},
         .found = file == csv ? error.what() : fmt::format("the other dataset cannot be compared: {}", error.what()),
         .wanted = {},
         .remedy = {}});
  }
}

void CheckedRows::tell(std::int64_t done, std::int64_t total) {
  if (!options.progress) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - m_told < std::chrono::milliseconds(100) && done < total) return;
  m_told = now;
  const double seconds = std::chrono::duration<double>(now - m_begin).count();
  const auto estimate = static_cast<std::int64_t>(static_cast<double>(report.rows) * static_cast<double>(total) /
                                                  static_cast<double>(std::max<std::int64_t>(done, 1)));
  if (!options.progress(
          {report.rows, std::max(estimate, report.rows), seconds > 0 ? static_cast<double>(report.rows) / seconds : 0}))
    throwError(ErrorCode::stopped, "stopped while {} was checked", csv.filename().string());
}

void CheckedRows::begin(const CsvHeader& header, const RowParser& parser) {
  report.schema = parser.schema();
  plan = parser.plan();
  files = parser.hasFiles();
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const CsvVariable& variable = header.variables[v];
    if (plan[v].clip()) clips.push_back({.header = header.columns[variable.columns[0]].header, .variable = v});
    if (plan[v].mixed())
      pictures.push_back({.header = header.columns[variable.columns[0]].header, .variable = v, .rows = {}});
    if (plan[v].file) continue;
    for (std::size_t e = 0; e < variable.columns.size(); ++e)
      numbers.push_back({header.columns[variable.columns[e]].header, v, e});
    const auto wanted = options.classes.find(variable.name);
    if (variable.indexed) continue;
    const bool named = isLabel(report.schema.variables[v]);
    labels.push_back({v,
                      header.columns[variable.columns[0]].header,
                      wanted == options.classes.end() ? 0 : wanted->second,
                      named || wanted != options.classes.end(),
                      true,
                      {}});
  }
  for (const auto& [name, classes] : options.classes) {
    const Variable* variable = report.schema.find(name);
    if (!variable || variable->kind != VariableKind::scalar)
      add({.kind = FaultKind::label,
           .line = 1,
           .column = name,
           .found =
               variable ? fmt::format("'{}' is no single number", name) : fmt::format("there is no column '{}'", name),
           .wanted = "the network needs labels there",
           .remedy = "add a column of classes 0, 1, 2 ... with this name, or choose another variable in the network"});
  }
}

void CheckedRows::takeRows(RowChunk& chunk) {
  for (NumberColumn& column : numbers) {
    const std::size_t stride = plan[column.variable].cellBytes();
    const std::byte* at = chunk.columns[column.variable].bytes.data() + column.element * sizeof(float);
    for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows); ++row, at += stride) {
      if (chunk.bad[row]) continue;
      float value;
      std::memcpy(&value, at, sizeof value);
      column.low = std::min(column.low, value);
      column.high = std::max(column.high, value);
    }
  }
  for (ClipColumn& clip : clips) {
    const auto rates = chunk.rates.find(clip.variable);
    for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows); ++row) {
      if (chunk.columns[clip.variable].extents[row] == 0) continue;
      const auto steps = static_cast<std::int64_t>(chunk.columns[clip.variable].extents[row]);
      ClipFacts::Lengths& lengths =
          clip.byRate[rates != chunk.rates.end() && row < rates->second.size() ? rates->second[row] : 0];
      lengths.shortest = lengths.rows == 0 ? steps : std::min(lengths.shortest, steps);
      lengths.longest = std::max(lengths.longest, steps);
      ++lengths.rows;
    }
  }
  for (PictureColumn& column : pictures)
    for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows); ++row)
      // A row whose other cells are words yet has a picture.
      if (const auto size = chunk.columns[column.variable].extents[row]; size != 0) ++column.rows[size];
  for (LabelColumn& label : labels) takeLabels(label, chunk);
  if (!chunk.rowHashes.empty()) {
    for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows) && hashes.size() < kMostHashes; ++row) {
      if (!chunk.bad[row]) hashes.push_back({chunk.inputHashes[row], chunk.rowHashes[row], chunk.lines[row]});
    }
  }
  report.rows += chunk.rows;
}

void CheckedRows::takeLabels(LabelColumn& label, const RowChunk& chunk) {
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
        options.listed);
  }
  merge(faults);
}

}  // namespace loom

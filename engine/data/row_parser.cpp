#include <algorithm>
#include <cstring>

#include "engine/data/csv_cells.h"
#include "engine/data/numbers.h"
#include "engine/data/prepare.h"
#include "engine/data/row_place.h"
#include "engine/data/sound_rate.h"

namespace loom {
constexpr int kLenientRows = 100;

RowParser::RowParser(const CsvHeader& header, std::filesystem::path folder)
    : m_header(header), m_folder(std::move(folder)) {
  for (const CsvVariable& variable : header.variables) {
    VariablePlan plan;
    if (variable.indexed) {
      plan.known = true;
      plan.kind = VariableKind::vector;
      plan.shape = Shape{static_cast<std::int64_t>(variable.columns.size())};
    }
    m_plan.push_back(std::move(plan));
  }
  m_steps.resize(m_plan.size());
  m_rates.resize(m_plan.size());
}

void RowParser::letSizesDiffer(const std::set<std::string>& variables) {
  for (std::size_t v = 0; v < m_plan.size(); ++v)
    m_plan[v].sizes = m_plan[v].sizes || variables.contains(m_header.variables[v].name);
}

void RowParser::letAllSizesDiffer() {
  for (VariablePlan& plan : m_plan) plan.sizes = true;
}

void RowParser::prepareWith(const std::vector<Json>& prepare) {
  for (std::size_t v = 0; v < m_plan.size(); ++v) {
    m_steps[v] = stepsBeforePacking(m_header.variables[v].name, prepare);
    m_rates[v] = rateBeforePacking(m_header.variables[v].name, prepare);
  }
}

bool RowParser::hasFiles() const {
  return std::any_of(m_plan.begin(), m_plan.end(), [](const VariablePlan& plan) { return plan.file; });
}

Schema RowParser::schema() const {
  Schema schema;
  for (std::size_t v = 0; v < m_plan.size(); ++v) {
    const CsvVariable& variable = m_header.variables[v];
    const VariablePlan& plan = m_plan[v];
    schema.variables.push_back({.name = variable.name,
                                .label = variable.label,
                                .kind = plan.kind,
                                .shape = plan.shape,
                                .type = plan.type,
                                .elementLabels = variable.elementLabels});
  }
  return schema;
}

void RowParser::settle(const CsvBlock& block, std::size_t offset, bool lenient, const FaultSink& fault) {
  const char* p = block.buffer.data() + offset;
  const char* const end = block.buffer.data() + block.size;
  std::string scratch;
  std::int64_t line = block.line + std::count(block.buffer.data(), p, '\n');
  for (int row = 0; p < end && row < kLenientRows; ++row) {
    if (const char* blank = skipBlankLine(p, end)) {
      p = blank;
      ++line;
      continue;
    }
    std::vector<std::string> cells;
    const std::int64_t here = block.rowLines.empty() ? line : block.rowLines[static_cast<std::size_t>(row)];
    for (bool last = false; !last;) {
      const CsvCell cell = takeCell(p, end, scratch);
      cells.emplace_back(cell.text);
      last = cell.last;
      line += cell.lines;
    }
    bool open = false;
    if (cells.size() == m_header.columns.size()) {
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const int variable = m_header.columns[c].variable;
        if (variable < 0 || m_plan[static_cast<std::size_t>(variable)].known) continue;
        open |= !settleCell(c, cells[c], here, lenient ? nullptr : &fault);
      }
    } else {
      open = lenient;  // parse() reports the row
    }
    if (!open || !lenient) return;
  }
}

void RowParser::parse(const CsvBlock& block, std::size_t offset, std::int64_t line, RowChunk& chunk, Scratch& scratch,
                      const FaultSink& fault) const {
  struct Target {
    std::byte* base = nullptr;  // of a number's first row; null: not a number that is read the fast way
    std::size_t stride = 0;
  };
  const std::size_t count = m_header.columns.size();
  std::vector<Target> targets(count);
  chunk.columns.resize(m_plan.size());
  chunk.rows = 0;
  chunk.files.clear();
  chunk.rates.clear();
  chunk.lines.clear();
  chunk.bad.clear();
  for (std::size_t v = 0; v < m_plan.size(); ++v) {
    chunk.columns[v].used = 0;
    chunk.columns[v].extents.clear();
    if (!m_plan[v].file) room(chunk.columns[v], static_cast<std::size_t>(block.lines + 1) * m_plan[v].cellBytes());
  }
  for (std::size_t c = 0; c < count; ++c) {
    const int variable = m_header.columns[c].variable;
    if (variable < 0 || m_plan[static_cast<std::size_t>(variable)].file) continue;
    const auto v = static_cast<std::size_t>(variable);
    targets[c] = {chunk.columns[v].bytes.data() + static_cast<std::size_t>(m_header.columns[c].element) * sizeof(float),
                  m_plan[v].cellBytes()};
  }

  bool good = true;
  const FaultSink watch = [&](Fault found) {
    if (found.severity == FaultSeverity::error) good = false;
    fault(std::move(found));
  };
  const char* p = block.buffer.data() + offset;
  const char* const end = block.buffer.data() + block.size;
  std::int64_t blankLine = 0;
  while (p < end) {
    if (const char* blank = skipBlankLine(p, end)) {
      if (blankLine == 0) blankLine = line;
      ++line;
      p = blank;
      continue;
    }
    if (blankLine > 0) {
      watch({.kind = FaultKind::blankLine,
             .severity = FaultSeverity::warning,
             .line = blankLine,
             .column = {},
             .found = "the line is blank",
             .wanted = "every line holds a sample",
             .remedy = "it is left out; remove it"});
      blankLine = 0;
    }
    const std::int64_t here = block.rowLines.empty() ? line : block.rowLines[static_cast<std::size_t>(chunk.rows)];
    std::size_t c = 0;
    bool last = false, open = false;
    good = true;
    while (!last) {
      if (c < count && targets[c].base) {
        float value;
        const char* behind = parseNumberFast(p, value);
        if (behind) {
          if (*behind == '\r' && behind[1] == '\n') ++behind;
          if (*behind == ',' || *behind == '\n') {
            std::memcpy(targets[c].base + static_cast<std::size_t>(chunk.rows) * targets[c].stride, &value,
                        sizeof value);
            last = *behind == '\n';
            line += last;
            p = behind + 1;
            ++c;
            continue;
          }
        }
      }
      const CsvCell cell = takeCell(p, end, scratch.text);
      last = cell.last;
      line += cell.lines;
      open |= cell.open;
      if (c < count && m_header.columns[c].variable >= 0 && !cell.open) {
        const Place place{here, c, m_header};
        if (targets[c].base)
          storeNumber(place, cell.text, chunk, watch);
        else
          storeFile(place, cell.text, chunk, scratch, watch);
      }
      ++c;
    }
    if (open) {
      watch({.kind = FaultKind::raggedRow,
             .line = here,
             .column = {},
             .found = "a quote is opened and never closed",
             .wanted = "every quote needs its partner",
             .remedy = "close the quote; a quote inside of a quoted cell is written twice"});
    } else if (c != count) {
      watch({.kind = FaultKind::raggedRow,
             .line = here,
             .column = {},
             .found = fmt::format("the row has {} cells", c),
             .wanted = fmt::format("the header has {}", count),
             .remedy = c < count ? "fill the missing cells or remove the row"
                                 : "put cells that hold a comma in quotes, or remove the row"});
    }
    for (std::size_t missing = std::min(c - (open ? 1 : 0), count); missing < count;
         ++missing) {  // rows stay in step with each other
      const int variable = m_header.columns[missing].variable;
      if (variable < 0) continue;
      if (!targets[missing].base)
        skipFile({here, missing, m_header}, chunk);
      else
        std::memset(targets[missing].base + static_cast<std::size_t>(chunk.rows) * targets[missing].stride, 0,
                    sizeof(float));
    }
    chunk.lines.push_back(here);
    chunk.bad.push_back(!good);
    ++chunk.rows;
  }
  for (std::size_t v = 0; v < m_plan.size(); ++v) {
    if (!m_plan[v].file) chunk.columns[v].used = static_cast<std::size_t>(chunk.rows) * m_plan[v].cellBytes();
  }
}

}  // namespace loom

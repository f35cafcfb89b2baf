#include "engine/data/csv_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "engine/data/csv_cells.h"
#include "engine/data/numbers.h"
#include "engine/data/text.h"

namespace loom {
namespace {

constexpr std::size_t kLongestAlone = 60;  // bytes of a header's only cell: what is longer is a sentence

struct Name {
  std::string name, label;
  bool indexed = false;
  std::int64_t index = 0;
};

Fault headerFault(std::string column, std::string found, std::string wanted, std::string remedy) {
  return {.kind = FaultKind::header,
          .line = 1,
          .column = std::move(column),
          .found = std::move(found),
          .wanted = std::move(wanted),
          .remedy = std::move(remedy)};
}

// Split once on the first ':', then once on the first "__".
bool parseName(const std::string& cell, std::size_t place, Name& out, const FaultSink& fault) {
  const auto colon = cell.find(':');
  std::string left = cell.substr(0, colon);
  if (colon != std::string::npos) out.label = cell.substr(colon + 1);
  if (const auto bars = left.find("__"); bars != std::string::npos) {
    const std::string index = left.substr(bars + 2);
    out.indexed = true;
    const auto [end, problem] = std::from_chars(index.data(), index.data() + index.size(), out.index);
    if (problem != std::errc{} || end != index.data() + index.size() || out.index < 0 ||
        out.index > (std::int64_t{1} << 40)) {
      fault(headerFault(cell, fmt::format("after '__' stands {}", toldText(index)),
                        "an index 0, 1, 2 ... belongs there",
                        "write x__0, x__1 ... for the elements of a vector, and other names with a single '_'"));
      return false;
    }
    left = left.substr(0, bars);
  }
  if (left.empty()) {
    fault(headerFault(cell, fmt::format("cell {} of the header, {}, names no variable", place + 1, toldText(cell)),
                      "every column needs a name",
                      "name it as in 'x:image', or begin it with '#' to leave the column out"));
    return false;
  }
  out.name = left;
  return true;
}

void checkIndices(const CsvVariable& variable, const std::vector<std::int64_t>& indices, const CsvHeader& header,
                  const FaultSink& fault) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::string& column = header.columns[variable.columns[i]].header;
    if (i > 0 && indices[i] == indices[i - 1]) {
      fault(headerFault(column, fmt::format("{}__{} stands twice", variable.name, indices[i]),
                        "every index stands once", "number the columns anew"));
    } else if (indices[i] != (i == 0 ? 0 : indices[i - 1] + 1)) {
      fault({.kind = FaultKind::indexGap,
             .severity = FaultSeverity::warning,
             .line = 1,
             .column = column,
             .found = i == 0 ? fmt::format("the first index of {} is {}", variable.name, indices[i])
                             : fmt::format("after {}__{} comes {}__{}", variable.name, indices[i - 1], variable.name,
                                           indices[i]),
             .wanted = "indices count 0, 1, 2 ... without a gap",
             .remedy = "the gap is closed when the data is read; number the columns anew if one was forgotten"});
    }
  }
  if (!std::is_sorted(variable.columns.begin(), variable.columns.end()))
    fault({.kind = FaultKind::indexGap,
           .severity = FaultSeverity::warning,
           .line = 1,
           .column = variable.name,
           .found = fmt::format("the columns of {} stand out of order", variable.name),
           .wanted = "index 0 stands first",
           .remedy = "they are read by index here; other programs may read them by place, so sort them"});
}

// What may be meant, and is hardly ever: blanks around a name, letters that nobody sees, a first row in the header's
// place.
void warnOfNames(const std::vector<std::string>& cells, const FaultSink& fault) {
  const auto warn = [&](std::string column, std::string found, std::string wanted, std::string remedy) {
    Fault told = headerFault(std::move(column), std::move(found), std::move(wanted), std::move(remedy));
    told.severity = FaultSeverity::warning;
    fault(std::move(told));
  };
  std::size_t numbers = 0;
  for (const std::string& cell : cells) {
    const std::string name = cell.substr(0, cell.find(':'));
    float value;
    const NumberKind kind = parseNumber(name, value);
    numbers += kind == NumberKind::number;
    if (name.empty() || name[0] == '#') continue;
    constexpr std::string_view kBlank = " \t";
    if (name.find_first_not_of(kBlank) != std::string::npos &&
        (kBlank.find(name.front()) != std::string_view::npos || kBlank.find(name.back()) != std::string_view::npos))
      warn(cell,
           fmt::format("the name {} {} with a blank", toldText(name),
                       name.front() == ' ' || name.front() == '\t' ? "begins" : "ends"),
           "blanks are part of a name: another variable than without is meant",
           "remove the blank, or add the step Rename");
    for (const std::string_view unseen : {"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u00a0"})
      if (name.find(unseen) != std::string::npos) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(unseen.data());
        const int code = unseen.size() == 2 ? (bytes[0] & 0x1f) << 6 | (bytes[1] & 0x3f)
                                            : (bytes[0] & 0x0f) << 12 | (bytes[1] & 0x3f) << 6 | (bytes[2] & 0x3f);
        warn(cell, fmt::format("the name holds the letter U+{:04X}, which nobody sees", code),
             "it is part of the name: an input that is called like it does not find it",
             "remove the letter, or add the step Rename");
      }
  }
  if (!cells.empty() && numbers == cells.size()) {
    Fault told = headerFault(
        {},
        cells.size() == 1 ? "the first line looks like a row: its one name is a number"
                          : fmt::format("the first line looks like a row: its {} names are numbers", cells.size()),
        "the first line names the columns, and is no sample",
        "write a line of names such as 'x__0,x__1,y:label' before it, or choose that the file has no header");
    told.kind = FaultKind::firstRow;
    told.severity = FaultSeverity::warning;
    fault(std::move(told));
  }
}

}  // namespace

void nameApart(std::vector<std::string>& cells, const FaultSink& fault) {
  const auto nameOf = [](const std::string& cell) { return cell.substr(0, cell.find(':')); };
  const auto isBlank = [](const std::string& cell) { return cell.find_first_not_of(" \t") == std::string::npos; };
  std::map<std::string, std::vector<std::size_t>> places;  // by name
  std::set<std::string> taken;
  for (std::size_t place = 0; place < cells.size(); ++place) {
    const std::string name = nameOf(cells[place]);
    taken.insert(name.substr(0, name.find("__")));
    if (cells[place].starts_with('#') || name.find("__") != std::string::npos) continue;
    if (isBlank(cells[place]) || !isBlank(name)) places[isBlank(name) ? std::string() : name].push_back(place);
  }
  const auto give = [&](std::size_t place, const std::string& stem, std::size_t number, std::string found) {
    std::string name = fmt::format("{}{}", stem, number);
    while (!taken.insert(name).second) name = fmt::format("{}{}", stem, ++number);
    const auto colon = cells[place].find(':');
    cells[place] = colon == std::string::npos ? name : name + cells[place].substr(colon);
    fault({.kind = FaultKind::givenName,
           .severity = FaultSeverity::warning,
           .line = 1,
           .column = cells[place],
           .found = found + fmt::format(" is called {} here", toldText(name)),
           .wanted = "every column needs a name of its own",
           .remedy = "name it in the file, or keep this name: a file to predict then needs the same header",
           .variables = {},
           .step = {}});
  };
  for (const auto& [name, those] : places) {
    if (!name.empty() && those.size() < 2) continue;
    for (std::size_t i = 0; i < those.size(); ++i) {
      if (name.empty())
        give(those[i], "c", those[i] + 1, fmt::format("column {}, which has no name,", those[i] + 1));
      else
        give(those[i], name + "_", i + 1,
             fmt::format("{} columns have the name {}: column {}", those.size(), toldText(name), those[i] + 1));
    }
  }
}

std::vector<std::string> takeHeader(std::string_view text, std::size_t& consumed, std::int64_t& lines,
                                    const FaultSink& fault, char separator) {
  std::vector<std::string> cells;
  const char* p = text.data();
  const char* const end = text.data() + text.size();
  std::string scratch;
  lines = 0;
  for (bool last = false; !last && p < end;) {
    const CsvCell cell = takeCell(p, end, scratch, separator);
    last = cell.last;
    lines += cell.lines;
    if (cell.open)
      fault(headerFault({}, "a quote in the header is never closed", "every quote needs its partner",
                        "remove the quote or write it twice"));
    cells.emplace_back(cell.text);
  }
  consumed = static_cast<std::size_t>(p - text.data());
  return cells;
}

CsvHeader parseHeader(const std::vector<std::string>& cells, const FaultSink& fault) {
  CsvHeader header;
  warnOfNames(cells, fault);
  std::map<std::string, std::size_t> byName;
  std::vector<std::vector<std::int64_t>> indices;
  for (std::size_t place = 0; place < cells.size(); ++place) {
    const std::string& cell = cells[place];
    header.columns.push_back({.header = cell});
    if (cell.empty() || cell.find_first_not_of(" \t") == std::string::npos) {
      fault(headerFault({}, fmt::format("cell {} of the header is empty", place + 1), "every column needs a name",
                        cells.size() == place + 1 ? "remove the comma at the end of the line, or name the column"
                                                  : "name it, or write '#' to leave the column out"));
      continue;
    }
    if (cell[0] == '#') continue;
    if (cell.find('\0') != std::string::npos || findNonUtf8(cell) != std::string::npos) {
      fault(headerFault({}, fmt::format("cell {} of the header, {}, is no UTF-8 text", place + 1, toldText(cell)),
                        "names are UTF-8", "save the CSV as UTF-8"));
      continue;
    }
    if (cell.find('\r') != std::string::npos) {
      fault(headerFault({}, "the lines end with CR alone", "lines end with LF or CR LF",
                        "save the CSV with the line ends of Unix or Windows"));
      continue;
    }
    if (cells.size() == 1 && (std::count(cell.begin(), cell.end(), ':') > 1 || cell.size() > kLongestAlone)) {
      fault(headerFault({}, fmt::format("the header is one cell of {} bytes, as in a text that is no CSV", cell.size()),
                        "a header names columns, separated by commas",
                        "choose a CSV whose first line is such as 'x:image,y:label'"));
      continue;
    }
    Name name;
    if (!parseName(cell, place, name, fault)) continue;
    const auto [found, isNew] = byName.try_emplace(name.name, header.variables.size());
    const std::size_t which = found->second;
    if (isNew) {
      header.variables.push_back({.name = name.name, .label = name.label, .indexed = name.indexed});
      indices.emplace_back();
    } else if (!name.indexed || !header.variables[which].indexed) {
      fault(headerFault(cell, fmt::format("the variable {} stands in several columns", toldText(name.name)),
                        "each needs an index of its own",
                        fmt::format("write {0}__0, {0}__1 ..., or use two names", name.name)));
      continue;
    }
    header.columns[place].variable = static_cast<int>(which);
    header.variables[which].columns.push_back(place);
    header.variables[which].elementLabels.push_back(name.label);
    indices[which].push_back(name.index);
  }
  if (header.variables.empty() && !cells.empty())
    fault(headerFault({}, "the header names no variable", "at least one column must be read",
                      "write a first line such as 'x:image,y:label'"));
  for (std::size_t v = 0; v < header.variables.size(); ++v) {
    CsvVariable& variable = header.variables[v];
    std::vector<std::size_t> order(indices[v].size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return indices[v][a] < indices[v][b]; });
    CsvVariable sorted = variable;
    std::vector<std::int64_t> sortedIndices;
    for (std::size_t i = 0; i < order.size(); ++i) {
      sorted.columns[i] = variable.columns[order[i]];
      sorted.elementLabels[i] = variable.elementLabels[order[i]];
      sortedIndices.push_back(indices[v][order[i]]);
      header.columns[sorted.columns[i]].element = static_cast<std::int64_t>(i);
    }
    sorted.label = sorted.elementLabels.front();
    if (sorted.indexed)
      checkIndices(sorted, sortedIndices, header, fault);
    else
      sorted.elementLabels.clear();
    variable = std::move(sorted);
  }
  return header;
}

}  // namespace loom

#pragma once
// Records and cells of CSV text: RFC 4180 as Python's csv module reads it (a quote opens a quoted cell only at its
// beginning; what follows the closing quote belongs to the cell).
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace loom {

struct CsvCell {
  std::string_view text;  // without its quotes; stands in the text or in `scratch`
  bool last = false;      // of its record
  bool open = false;      // a quote that is never closed
  int lines = 0;          // line breaks taken, that of the record's end included
};

// The cell at `p`, which moves behind the separator or line break that ends it. Text must end with '\n'.
inline CsvCell takeCell(const char*& p, const char* end, std::string& scratch, char separator = ',') {
  CsvCell cell;
  const char* const begin = p;
  if (p < end && *p == '"') {
    scratch.clear();
    bool inside = true;
    for (++p; p < end; ++p) {
      if (*p == '"' && inside) {
        if (p + 1 < end && p[1] == '"')
          ++p;
        else {
          inside = false;
          continue;
        }
      } else if (!inside && (*p == separator || *p == '\n')) {
        break;
      }
      cell.lines += *p == '\n';
      scratch += *p;
    }
    cell.open = inside;
    if (cell.open && !scratch.empty() && scratch.back() == '\n') scratch.pop_back();  // the one added at the file's end
    cell.text = scratch;
  } else {
    while (p < end && *p != separator && *p != '\n') ++p;
    cell.text = {begin, static_cast<std::size_t>(p - begin)};
  }
  cell.last = p >= end || *p == '\n';
  if (cell.last && p < end) ++cell.lines;
  if (cell.last && !cell.text.empty() && cell.text.back() == '\r' && !cell.open) cell.text.remove_suffix(1);
  if (p < end) ++p;
  return cell;
}

// Behind the line break when the line is blank (nothing, or '\r'), else null.
inline const char* skipBlankLine(const char* p, const char* end) {
  if (p < end && *p == '\r') ++p;
  return p < end && *p == '\n' ? p + 1 : nullptr;
}

}  // namespace loom

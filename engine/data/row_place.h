#pragma once
// What row_parser.cpp and row_cells.cpp share.
#include <algorithm>

#include "engine/data/row_parser.h"

namespace loom {

struct RowParser::Place {
  std::int64_t line;
  std::size_t column;
  const CsvHeader& header;
  const CsvColumn& it() const { return header.columns[column]; }
  Fault fault(FaultKind kind, std::string found, std::string wanted, std::string remedy) const {
    return {.kind = kind,
            .line = line,
            .column = it().header,
            .found = std::move(found),
            .wanted = std::move(wanted),
            .remedy = std::move(remedy)};
  }
};

// Makes `column` hold at least so many bytes.
inline void room(RowChunk::Column& column, std::size_t bytes) {
  if (column.bytes.size() < bytes) column.bytes.resize(std::max(bytes, column.bytes.size() + column.bytes.size() / 2));
}

}  // namespace loom

#pragma once
// The first line of a dataset: NAME ["__" INDEX] [":" LABEL], as Neural Network Console writes it.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/check.h"

namespace loom {

// Takes what is wrong. To open a dataset it throws at the first error; to check one it collects.
using FaultSink = std::function<void(Fault)>;

struct CsvColumn {
  std::string header;        // as written, for messages
  int variable = -1;         // -1: ignored ('#')
  std::int64_t element = 0;  // of its vector
};

struct CsvVariable {
  std::string name, label;
  bool indexed = false;
  std::vector<std::size_t> columns;        // by element
  std::vector<std::string> elementLabels;  // by element
};

struct CsvHeader {
  std::vector<CsvColumn> columns;
  std::vector<CsvVariable> variables;  // in the order of their first columns
};

// Elements of a vector stand in the order of their indices, wherever their columns stand; gaps (an ignored column, say)
// close.
CsvHeader parseHeader(const std::vector<std::string>& cells, const FaultSink& fault);

// Gives every column a name of its own, whatever stands in the file: of a name that several have, each gets a number in
// the order of the columns (x_1, x_2), so that none is taken for another; one without a name is called by its place
// (c3). `fault` is told of each. Elements of a vector (x__0) are left as they are.
void nameApart(std::vector<std::string>& cells, const FaultSink& fault);

// The header's cells from the start of a block; `consumed` and `lines` say how much of it they were.
std::vector<std::string> takeHeader(std::string_view text, std::size_t& consumed, std::int64_t& lines,
                                    const FaultSink& fault, char separator = ',');

}  // namespace loom

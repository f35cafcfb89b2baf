// How soon the Data page knows a file: columns_bench FILE reads it as the page does and prints one JSON line: seconds
// until the first rows were there and until all histograms stood. columns.py sets it beside pyarrow and numpy.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>

#include "engine/base/error.h"
#include "engine/data/columns/analysis.h"

int main(int count, char** arguments) {
  if (count != 3) {
    fmt::print(stderr, "columns_bench FILE THREADS\n");
    return 2;
  }
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto since = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  double firstRows = 0;
  try {
    loom::AnalyseOptions options;
    options.threads = std::atoi(arguments[2]);
    options.progress = [&](const loom::TableFacts& facts) {
      if (firstRows == 0 && facts.rows > 0) firstRows = since();
      return true;
    };
    const loom::TableFacts facts = loom::analyseTable(arguments[1], options);
    std::int64_t counted = 0;
    for (const loom::ColumnFacts& column : facts.columns)
      for (const std::int64_t bin : column.histogram) counted += bin;
    fmt::print("{{\"rows\": {}, \"columns\": {}, \"counted\": {}, \"first_rows\": {:.3f}, \"whole\": {:.3f}}}\n",
               facts.rows, facts.columns.size(), counted, firstRows, since());
  } catch (const loom::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

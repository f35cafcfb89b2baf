// How fast files of samples become numbers: decode_bench LIST SECONDS reads the paths in LIST, one a line, and decodes
// all of them on one thread, again and again. Prints one JSON line; times are processor time. decode.py sets it beside
// torchvision's.
#include <fmt/core.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/data/decode.h"

namespace {

double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::ifstream list(arguments[1]);
  std::vector<std::string> files;
  for (std::string line; std::getline(list, line);) files.push_back(line);
  if (files.empty()) return 2;
  const double seconds = std::atof(arguments[2]);
  try {
    loom::Sample sample;
    std::vector<std::byte> scratch;
    const auto pass = [&] {
      unsigned long sum = 0;  // of the first byte: nothing is left out
      for (const std::string& file : files) {
        loom::decodeFile(file, sample, scratch);
        sum += static_cast<unsigned long>(sample.bytes[0]);
      }
      return sum;
    };
    unsigned long sum = pass();  // from the disk into memory
    double least = 1e9;
    const double end = processorSeconds() + seconds;
    do {
      const double begin = processorSeconds();
      sum = pass();
      least = std::min(least, processorSeconds() - begin);
    } while (processorSeconds() < end);
    fmt::print("{{\"files\": {}, \"microseconds\": {:.3f}, \"sum\": {}}}\n", files.size(),
               least / static_cast<double>(files.size()) * 1e6, sum);
  } catch (const loom::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

#pragma once
// `loom bench`: training speed on fixed workloads, one JSON line each.
#include <string>
#include <vector>

namespace loom {

struct BenchArguments {
  std::vector<std::string> names;  // none = all
  std::string device = "cpu", precision = "f32";
  double seconds = 5;  // of measuring, for each
  int threads = 0;     // 0 = all that this process may use
};

// Prints a line for each workload as it ends; answers the exit code. Throws Error(badArgument, device) for what cannot
// be.
int runBench(const BenchArguments& arguments);

}  // namespace loom

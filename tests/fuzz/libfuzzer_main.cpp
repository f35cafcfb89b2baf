// libFuzzer's entry point for the one target of this program (LOOM_FUZZ_TARGET, set by CMake).
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto run = [] {
    for (const loom::fuzz::Target& target : loom::fuzz::targets())
      if (target.name == LOOM_FUZZ_TARGET) return target.run;
    std::abort();
  }();
  run({reinterpret_cast<const char*>(data), size});
  return 0;
}

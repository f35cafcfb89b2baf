// GRADLOOM_ISA narrows oneDNN as it narrows our own kernels: by the names of the implementations that it takes.
// CMakeLists.txt runs this for each value.
#include "engine/cpu/kernels/isa.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"

namespace loom {
namespace {

// What oneDNN takes for the three directions of a convolution that no kernel of ours does.
std::vector<std::string> implementations(DataType precision) {
  using Integers = std::vector<std::int64_t>;
  ProgramBuilder b(1, 1, true);
  const TensorId x = b.parameter({.name = "x", .shape = {4, 32, 16, 16}}),
                 w = b.parameter({.name = "w", .shape = {32, 32, 5, 5}});
  const TensorId y = b.add("convolution", {x, w}, {{"padding", Integers{2, 2, 2, 2}}});
  const TensorId squares = b.add("binary", {y, y}, {{"function", std::string("multiply")}});
  b.result("loss", ResultKind::loss, b.add("reduce", {squares}, {{"function", std::string("sum")}}));
  differentiate(b);
  const auto backend = makeCpuBackend(1);
  ParameterStore store(1, backend->makeMemory());
  const Program program = b.take();
  store.ensure(program.parameters);
  const auto executable = backend->compile(program, store, {.precision = precision, .threads = 1});
  std::vector<std::string> names;
  const Json facts = executable->describe();
  for (const Json& operation : facts["operations"])
    if (operation["kernel"].get<std::string>().starts_with("convolution")) names.push_back(operation["implementation"]);
  return names;
}

TEST(Isa, NarrowsOneDnnToo) {
  const char* const told = std::getenv("GRADLOOM_ISA");
  const std::string library = processorFacts(1).library;
  if (told == nullptr) {
    EXPECT_EQ(library.find(" with "), library.npos) << library;
    return;
  }
  const std::string most = cpu::isa() == cpu::Isa::avx512 ? "avx512" : cpu::isa() == cpu::Isa::avx2 ? "avx2" : "sse41";
  EXPECT_NE(library.find(" with " + most), library.npos) << library;
  for (const DataType precision : {DataType::f32, DataType::bf16}) {
    const auto names = implementations(precision);
    EXPECT_EQ(names.size(), 3u);
    for (const std::string& name : names) {
      EXPECT_TRUE(name.starts_with("oneDNN")) << name;
      const std::string beyond = cpu::isa() == cpu::Isa::avx512 ? "amx"
                                 : cpu::isa() == cpu::Isa::avx2 ? "avx512"
                                                                : "avx";
      EXPECT_EQ(name.find(beyond), name.npos) << name;
    }
  }
}

}  // namespace
}  // namespace loom

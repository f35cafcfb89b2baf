// Convolutions as products over pixels (lowerings/pixels.h) beside oneDNN's, as the backend runs them.
#include <gtest/gtest.h>

#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/gemm_amx.h"
#include "engine/passes/differentiate.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::pixels {
namespace {

using Integers = std::vector<std::int64_t>;
struct Case {
  std::int64_t batch, inputs, outputs;
  Integers image, kernel, strides, padding;
};

// y = conv(x, w) + b, then ReLU, between operations of its own, so that its tensors may stand in bf16.
Program programOf(const Case& c) {
  ProgramBuilder b(1, 1, true);
  const Initializer random{InitializerKind::normal, 1};
  const TensorId x =
      b.add("scale",
            {b.parameter({.name = "x", .shape = {c.batch, c.inputs, c.image[0], c.image[1]}, .initializer = random})},
            {{"factor", 0.5}});
  const TensorId w = b.parameter(
                     {.name = "w", .shape = {c.outputs, c.inputs, c.kernel[0], c.kernel[1]}, .initializer = random}),
                 bias = b.parameter({.name = "b", .shape = {c.outputs}, .initializer = random});
  const TensorId sum = b.add("convolution", {x, w, bias}, {{"padding", c.padding}, {"strides", c.strides}});
  const TensorId y = b.add("scale", {b.add("unary", {sum}, {{"function", std::string("relu")}})}, {{"factor", 0.5}});
  const TensorId squares = b.add("binary", {y, y}, {{"function", std::string("multiply")}});
  b.result("loss", ResultKind::loss, b.add("reduce", {squares}, {{"function", std::string("sum")}}));
  differentiate(b);
  return b.take();
}

struct Run {
  std::vector<float> gradients;  // of two steps, the second added to the first
  int products = 0, halved = 0;  // stages
};
Run run(const Case& c, DataType precision, int threads, CpuWay pixels, CpuWay halves = CpuWay::nowhere) {
  const auto backend = makeCpuBackend(threads, {.winograd = CpuWay::nowhere, .pixels = pixels, .halves = halves});
  ParameterStore store(7, backend->makeMemory());
  const Program program = programOf(c);
  store.ensure(program.parameters);
  const auto executable = backend->compile(program, store, {.precision = precision, .threads = threads});
  executable->run({});
  executable->run({.accumulate = true});
  Run result;
  for (const auto& [name, values] : networks::collect(*executable, store))
    if (name.starts_with("gradient")) result.gradients.insert(result.gradients.end(), values.begin(), values.end());
  const Json facts = executable->describe();
  for (const Json& operation : facts["operations"]) {
    result.products += operation["implementation"].get<std::string>().starts_with("own products");
    result.halved += operation["implementation"] == "own:strassen" && operation["kernel"] != "pack weights";
  }
  return result;
}

const Case kCases[] = {{3, 64, 128, {7, 5}, {1, 1}, {1, 1}, {0, 0, 0, 0}},   // threads share pixels
                       {3, 32, 96, {3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}},    // threads share outputs
                       {2, 64, 64, {9, 8}, {1, 1}, {2, 2}, {0, 0, 0, 0}},    // rows that nothing reads
                       {5, 16, 48, {40, 41}, {1, 1}, {2, 3}, {0, 0, 0, 0}},  // more than a block
                       {2, 48, 32, {23, 22}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
                       {1, 16, 64, {5, 7}, {3, 3}, {2, 1}, {0, 1, 1, 0}},
                       {2, 64, 16, {12, 12}, {5, 3}, {1, 2}, {2, 1, 2, 1}}};

TEST(CpuPixels, gradientsAreThoseOfOneDnn) {
  for (const Case& c : kCases) {
    const auto library = run(c, DataType::f32, 2, CpuWay::nowhere);
    EXPECT_EQ(library.products, 0);
    EXPECT_NE(library.gradients, std::vector<float>(library.gradients.size())) << "nothing is compared";
    for (const int threads : {1, 2, 3}) {
      const auto own = run(c, DataType::f32, threads, CpuWay::wherePossible);
      EXPECT_EQ(own.products, c.kernel[0] * c.kernel[1] == 1 ? 3 : 1);
      EXPECT_LT(cases::relativeDistance(own.gradients, library.gradients), 1e-6) << c.inputs << " " << threads;
      EXPECT_EQ(own.gradients, run(c, DataType::f32, threads, CpuWay::wherePossible).gradients);
    }
  }
}

// Forward, to the input and to the weight; a strided convolution reads no matrix as it stands.
TEST(CpuPixels, matricesAsTheyStandAreMultipliedInHalves) {
  for (const std::int64_t stride : {1, 2}) {
    const Case c{4, 128, 256, {8, 12}, {1, 1}, {stride, stride}, {0, 0, 0, 0}};
    const auto library = run(c, DataType::f32, 2, CpuWay::nowhere);
    for (const int threads : {1, 2, 3}) {
      const auto halves = run(c, DataType::f32, threads, CpuWay::wherePossible, CpuWay::wherePossible);
      EXPECT_EQ(halves.halved, stride == 1 ? 3 : 0);
      EXPECT_EQ(halves.products, stride == 1 ? 0 : 3);
      EXPECT_LT(cases::relativeDistance(halves.gradients, library.gradients), 1e-5) << threads;
    }
  }
}

TEST(CpuPixels, inBf16TheyAreAsNear) {
  if (!cpu::multipliesBf16() || cpu::multipliesInTiles()) GTEST_SKIP() << "for AVX512-BF16 without tiles";
  for (const Case& c : kCases) {
    const auto exact = run(c, DataType::f32, 2, CpuWay::nowhere).gradients,
               library = run(c, DataType::bf16, 2, CpuWay::nowhere).gradients;
    for (const int threads : {1, 3}) {
      const auto own = run(c, DataType::bf16, threads, CpuWay::wherePossible);
      EXPECT_EQ(own.products, c.kernel[0] * c.kernel[1] == 1 ? 3 : 1);
      EXPECT_LT(cases::relativeDistance(own.gradients, exact), 1.02 * cases::relativeDistance(library, exact));
    }
  }
}

}  // namespace
}  // namespace loom::pixels

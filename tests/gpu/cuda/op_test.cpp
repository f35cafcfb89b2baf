// Every op case and the networks on a real GPU, beside the double-precision references.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/module_device.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/wide_cases.h"
#include "tests/engine/ops/op_cases.h"

namespace loom {

namespace cases {
void PrintTo(const OpCase& opCase, std::ostream* to) {
  *to << opCase.name;
}
}  // namespace cases

namespace cuda {
namespace {

// Null where there is no GPU, and why.
struct Gpu {
  std::unique_ptr<Backend> backend;
  std::string reason;
};
Gpu& gpu() {
  static Gpu only = [] {
    try {
      return Gpu{makeCudaBackend(openCudaDevice()), {}};
    } catch (const Error& error) {
      return Gpu{nullptr, error.what()};
    }
  }();
  return only;
}

struct Bound {
  DataType type;
  double op, network;
};
constexpr Bound kBounds[] = {{DataType::f32, 2e-5, 1e-4}, {DataType::bf16, 1.5e-2, 0.15}, {DataType::f16, 2e-3, 0.03}};

std::vector<cases::OpCase> allCases() {
  std::vector<cases::OpCase> all = cases::opCases();
  const std::vector<cases::OpCase> wide = cases::wideCases();
  all.insert(all.end(), wide.begin(), wide.end());
  const std::vector<cases::OpCase> inside = cases::insideOf(all);
  all.insert(all.end(), inside.begin(), inside.end());
  return all;
}

class GpuOp : public testing::TestWithParam<cases::OpCase> {};

TEST_P(GpuOp, staysNearTheReferenceInEveryType) {
  if (!gpu().backend) GTEST_SKIP() << gpu().reason;
  static const auto reference = makeReferenceBackend();
  const auto expected = cases::runCase(GetParam(), *reference);
  const double magnitude = cases::magnitudeOf(GetParam(), expected.at("y"));
  for (const Bound& bound : kBounds) {
    SCOPED_TRACE(std::string(toString(bound.type)));
    const auto found = cases::runCase(GetParam(), *gpu().backend, {.precision = bound.type});
    ASSERT_EQ(expected.size(), found.size());
    for (const auto& [name, values] : expected) {
      ASSERT_TRUE(found.contains(name)) << name;
      if (name == "loss")
        EXPECT_NEAR(found.at(name)[0], values[0], bound.op * magnitude);
      else
        EXPECT_LT(cases::relativeDistance(found.at(name), values), bound.op) << name;
    }
    EXPECT_EQ(cases::runCase(GetParam(), *gpu().backend, {.precision = bound.type}), found) << "not the same bits";
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuOp, testing::ValuesIn(allCases()),
                         [](const testing::TestParamInfo<cases::OpCase>& info) { return info.param.name; });

struct Network {
  const char* name;
  Program (*make)(std::int64_t batch);
};
void PrintTo(const Network& network, std::ostream* to) {
  *to << network.name;
}
class GpuNetwork : public testing::TestWithParam<Network> {};

// The first step is enqueued, the second captured, the third replayed.
TEST_P(GpuNetwork, hasTheReferencesGradientsInEveryStep) {
  if (!gpu().backend) GTEST_SKIP() << gpu().reason;
  const Program program = GetParam().make(6);
  for (const Bound& bound : kBounds) {
    SCOPED_TRACE(std::string(toString(bound.type)));
    const auto reference = makeReferenceBackend();
    ParameterStore store(11, gpu().backend->makeMemory()), plain(11);
    const auto executable = gpu().backend->compile(program, store, {.precision = bound.type});
    const auto expected = reference->compile(program, plain, {});
    for (int step = 0; step < 3; ++step) {
      networks::fill(*executable, networks::kClasses);
      networks::fill(*expected, networks::kClasses);
      // In f16 gradients this small would lose digits.
      executable->run({.gradientScale = bound.type == DataType::f16 ? 1024.0 : 1.0});
      expected->run({});
      const auto found = networks::collect(*executable, store), right = networks::collect(*expected, plain);
      ASSERT_EQ(found.size(), right.size());
      for (const auto& [name, values] : right)
        EXPECT_LT(cases::relativeDistance(found.at(name), values), bound.network) << name << " in step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, GpuNetwork,
                         testing::Values(Network{"smallCnn", networks::smallCnn},
                                         Network{"residualNetwork", networks::residualNetwork},
                                         Network{"stackedLstm", networks::stackedLstm},
                                         Network{"gatedRecurrent", networks::gatedRecurrent},
                                         Network{"transformer", networks::transformerBlock}),
                         [](const testing::TestParamInfo<Network>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cuda
}  // namespace loom

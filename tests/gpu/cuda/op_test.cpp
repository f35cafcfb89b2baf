// Every op case and the networks on a real GPU, beside the double-precision references.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/module_device.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/wide_cases.h"
#include "tests/engine/ops/op_cases.h"
#include "tests/gpu/cuda/evidence.h"
#include "tests/gpu/cuda/lost_device.h"

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
  std::shared_ptr<Device> device;
  std::unique_ptr<Backend> backend;
  std::string reason;
};
Gpu& gpu() {
  static Gpu only = [] {
    try {
      const std::shared_ptr<Device> device = openCudaDevice();
      return Gpu{device, makeCudaBackend(device), {}};
    } catch (const Error& error) {
      return Gpu{nullptr, nullptr, error.what()};
    }
  }();
  return only;
}

// What a case leaves behind is no other's fault.
template <class Parameter>
class OnGpu : public testing::TestWithParam<Parameter> {
 protected:
  void SetUp() override {
    if (!gpu().backend) GTEST_SKIP() << gpu().reason;
  }
  void TearDown() override {
    if (this->HasFailure() && gpu().device)
      expectDevice(*gpu().device, testing::UnitTest::GetInstance()->current_test_info()->name());
  }
};

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

class GpuOp : public OnGpu<cases::OpCase> {};

TEST_P(GpuOp, staysNearTheReferenceInEveryType) {
  static const auto reference = makeReferenceBackend();
  const auto expected = cases::runCase(GetParam(), *reference);
  const double magnitude = cases::magnitudeOf(GetParam(), expected.at("y"));
  for (const Bound& bound : kBounds) {
    SCOPED_TRACE(std::string(toString(bound.type)));
    const auto found = cases::runCase(GetParam(), *gpu().backend, {.precision = bound.type});
    bool isNear = expected.size() == found.size();
    for (const auto& [name, values] : expected) {
      isNear = isNear && found.contains(name) &&
               (name == "loss" ? std::abs(found.at(name)[0] - values[0]) <= bound.op * magnitude
                               : cases::relativeDistance(found.at(name), values) < bound.op);
    }
    EXPECT_TRUE(isNear) << "further off than " << bound.op << ": "
                        << evidenceOf(GetParam(), found, expected, *gpu().backend, {.precision = bound.type});
    const auto repeated = cases::runCase(GetParam(), *gpu().backend, {.precision = bound.type});
    EXPECT_TRUE(repeated == found) << "not the same bits in a second run: "
                                   << evidenceOf(GetParam(), repeated, found, *gpu().backend,
                                                 {.precision = bound.type});
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
class GpuNetwork : public OnGpu<Network> {};

// The first step is enqueued, the second captured, the third replayed.
TEST_P(GpuNetwork, hasTheReferencesGradientsInEveryStep) {
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
        EXPECT_LT(cases::relativeDistance(found.at(name), values), bound.network)
            << "in step " << step << differencesOf(name, found.at(name), values) << stagesOf(executable->describe());
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

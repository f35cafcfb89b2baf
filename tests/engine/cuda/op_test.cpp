// Every op case on the fake device beside the double-precision references, in each type and under several seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <set>

#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/kernels/kernel_tables.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/ops/op_cases.h"

namespace loom {

namespace cases {
void PrintTo(const OpCase& opCase, std::ostream* to) {
  *to << opCase.name;
}
}  // namespace cases

namespace cuda {
namespace {

// Ops that this backend does not know yet. Exactly these.
const std::set<std::string> kMissing = {};

struct Bound {
  DataType type;
  double distance;  // cases::relativeDistance; a projection's sum may be off by five times that
};
// f32: sums in another order. bf16 and f16 round each tensor that they keep to 8 and 11 bits.
constexpr Bound kBounds[] = {{DataType::f32, 1e-5}, {DataType::bf16, 1.5e-2}, {DataType::f16, 2e-3}};

bool isKnown(const cases::OpCase& opCase) {
  const Program program = cases::programOf(opCase, true);
  return std::ranges::all_of(program.operations, [](const Operation& one) { return findLowering(one.op->name) != nullptr; });
}

std::vector<cases::OpCase> knownCases() {
  std::vector<cases::OpCase> known;
  for (const cases::OpCase& one : cases::opCases())
    if (isKnown(one)) known.push_back(one);
  return known;
}

cases::Outcome runOn(const cases::OpCase& opCase, DataType precision, const fake::FakeOptions& options,
                     std::set<std::string>* kernels = nullptr) {
  const auto device = std::make_shared<fake::FakeDevice>(options);
  const auto backend = makeCudaBackend(device);
  cases::Outcome outcome = cases::runCase(opCase, *backend, {.precision = precision});
  if (kernels != nullptr) kernels->insert(device->kernelsStarted().begin(), device->kernelsStarted().end());
  return outcome;
}

class CudaOp : public testing::TestWithParam<cases::OpCase> {};

TEST_P(CudaOp, staysNearTheReferenceInEveryType) {
  static const auto reference = makeReferenceBackend();
  const auto expected = cases::runCase(GetParam(), *reference);
  for (const Bound& bound : kBounds) {
    SCOPED_TRACE(std::string(toString(bound.type)));
    const auto found = runOn(GetParam(), bound.type, {.seed = 1});
    ASSERT_EQ(expected.size(), found.size());
    for (const auto& [name, values] : expected) {
      ASSERT_TRUE(found.contains(name)) << name;
      EXPECT_LT(cases::relativeDistance(found.at(name), values), name == "loss" ? 5 * bound.distance : bound.distance)
          << name;
    }
    // The same bits in whatever order.
    for (const std::uint64_t seed : {2, 3})
      EXPECT_EQ(runOn(GetParam(), bound.type, {.seed = seed, .checkedCalls = 0}), found) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaOp, testing::ValuesIn(knownCases()),
                         [](const testing::TestParamInfo<cases::OpCase>& info) { return info.param.name; });

TEST(CudaOps, AllHaveALoweringButThese) {
  std::set<std::string> missing;
  for (const OpDefinition* op : opTable())
    if (findLowering(op->name) == nullptr) missing.insert(op->name);
  EXPECT_EQ(missing, kMissing);
}

// A kernel that no case starts is not tested at all.
TEST(CudaOps, EveryKernelIsStartedByACase) {
  std::set<std::string> started, all;
  for (const KernelTable& table : kernelTables())
    for (std::size_t k = 0; k < table.count; ++k) all.insert(table.rows[k].name);
  for (const cases::OpCase& opCase : knownCases())
    for (const Bound& bound : kBounds) runOn(opCase, bound.type, {.checkedCalls = 0}, &started);
  EXPECT_EQ(started, all);
}

}  // namespace
}  // namespace cuda
}  // namespace loom

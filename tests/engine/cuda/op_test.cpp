// Every op case on the fake device beside the double-precision references, in each type and under several seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <set>

#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/kernels/kernel_tables.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/passes/passes.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/fake/echo_ranks.h"
#include "tests/engine/cuda/fake/fake_device.h"
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

// Ops that this backend does not know yet. Exactly these, one a line.
const std::set<std::string> kMissing = {};

struct Bound {
  DataType type;
  double distance;  // cases::relativeDistance; of a sum of either sign, beside the sum of its magnitudes
};
// f32: sums in another order. bf16 and f16 round each tensor that they keep to 8 and 11 bits.
constexpr Bound kBounds[] = {{DataType::f32, 1e-5}, {DataType::bf16, 2e-2}, {DataType::f16, 2.5e-3}};

bool isKnown(const cases::OpCase& opCase) {
  const Program program = cases::programOf(opCase, true);
  return std::ranges::all_of(program.operations,
                             [](const Operation& one) { return findLowering(one.op->name) != nullptr; });
}

std::vector<cases::OpCase> knownCases() {
  std::vector<cases::OpCase> known = cases::opCases();
  const std::vector<cases::OpCase> wide = cases::wideCases();
  known.insert(known.end(), wide.begin(), wide.end());
  std::erase_if(known, [](const cases::OpCase& one) { return !isKnown(one); });
  for (cases::OpCase& inside : cases::insideOf(known)) known.push_back(std::move(inside));
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

// Runs the case in each type; all that it answers must be near what the reference does.
class CudaOp : public testing::TestWithParam<cases::OpCase> {
 protected:
  CudaOp() {
    static const auto reference = makeReferenceBackend();
    m_expected = cases::runCase(GetParam(), *reference);
  }
  void expectNear(const cases::Outcome& found, const Bound& bound) const {
    const double magnitude = cases::magnitudeOf(GetParam(), m_expected.at("y"));
    ASSERT_EQ(m_expected.size(), found.size());
    for (const auto& [name, values] : m_expected) {
      ASSERT_TRUE(found.contains(name)) << name;
      if (name == "loss")
        EXPECT_NEAR(found.at(name)[0], values[0], bound.distance * magnitude);
      else
        EXPECT_LT(cases::relativeDistance(found.at(name), values), bound.distance) << name;
    }
  }
  cases::Outcome m_expected;
};

TEST_P(CudaOp, staysNearTheReferenceInEveryType) {
  for (const Bound& bound : kBounds) {
    SCOPED_TRACE(std::string(toString(bound.type)));
    const auto found = runOn(GetParam(), bound.type, {.seed = 1});
    expectNear(found, bound);
    // The same bits in another order; the first run held both directions of one already.
    EXPECT_EQ(runOn(GetParam(), bound.type, {.seed = 2, .checkedCalls = 0}), found);
  }
}

// Devices that have no engine for a convolution and its bias in one, nor for one whose result is of another type than
// its factors.
bool refusesAllButPlain(const DnnGraph& graph) {
  const DataType type = graph.tensors[0].type;
  return graph.operations.size() > 1 ||
         std::ranges::any_of(graph.tensors, [&](const DnnTensor& one) { return one.type != type; });
}

TEST_P(CudaOp, isComputedInPartsWhereNoGraphIs) {
  if (!GetParam().op.starts_with("convolution")) return;
  for (const Bound& bound : kBounds) {
    SCOPED_TRACE(std::string(toString(bound.type)));
    expectNear(runOn(GetParam(), bound.type, {.refuses = refusesAllButPlain}), bound);
  }
}

// Scores of attention take a part of the device's memory: on a small one, samples take turns.
TEST_P(CudaOp, isComputedInTurnsOnASmallDevice) {
  if (GetParam().op != "attention") return;
  for (const Bound& bound : kBounds) {
    SCOPED_TRACE(std::string(toString(bound.type)));
    expectNear(runOn(GetParam(), bound.type, {.memoryBytes = std::size_t{8} << 20}), bound);
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
    for (const Bound& bound : kBounds) {
      runOn(opCase, bound.type, {.computes = false}, &started);
      if (opCase.op.starts_with("convolution"))
        runOn(opCase, bound.type, {.refuses = refusesAllButPlain, .computes = false}, &started);
    }
  const auto device = std::make_shared<fake::FakeDevice>(fake::FakeOptions{.computes = false});
  {
    Program program = networks::residualNetwork(2);  // statistics over ranks
    setBatchStatistics(program, BatchStatistics::synchronised);
    const auto backend = makeCudaBackend(device);
    fake::EchoRanks ranks(2, fake::EchoRanks::Way::streams);
    ParameterStore store(1, backend->makeMemory());
    const auto executable = backend->compile(program, store, {.collectives = &ranks});
    networks::fill(*executable, networks::kClasses);
    executable->run({});
  }
  started.insert(device->kernelsStarted().begin(), device->kernelsStarted().end());
  for (const std::string& name : started) all.erase(name);
  EXPECT_THAT(all, testing::IsEmpty());
}

}  // namespace
}  // namespace cuda
}  // namespace loom

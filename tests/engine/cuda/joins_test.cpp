// What is computed in the same pass as a product or a convolution: bias and ReLU, by the library where it has them and
// by an own kernel where it has not; the numbers are the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/json.h"
#include "engine/cuda/cuda_backend.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> kernelsOf(const Program& program, const fake::FakeOptions& options) {
  const auto backend = makeCudaBackend(std::make_shared<fake::FakeDevice>(options));
  ParameterStore store(11, backend->makeMemory());
  const Json facts = backend->compile(program, store, {})->describe();
  std::vector<std::string> kernels;
  for (const Json& operation : facts["operations"]) kernels.push_back(operation["kernel"]);
  return kernels;
}

const fake::FakeOptions kPlainGraphs{.refuses = [](const DnnGraph& graph) { return graph.operations.size() > 1; }};

TEST(CudaJoins, BiasAndReluGoWithConvolutionsAndProducts) {
  const auto kernels = kernelsOf(networks::smallCnn(4), {});
  EXPECT_THAT(kernels, Contains("convolution + bias + relu"));
  EXPECT_THAT(kernels, Contains(testing::MatchesRegex("matmul .*× *.*× *.* \\+ bias \\+ relu")));
  EXPECT_THAT(kernels, Each(Not(HasSubstr("add_bias"))));
}

TEST(CudaJoins, AnOwnKernelAddsThemWhereNoGraphDoes) {
  const Program program = networks::smallCnn(4);
  EXPECT_THAT(kernelsOf(program, kPlainGraphs), Contains("add_bias.f32"));
  const auto expected = networks::step(*makeReferenceBackend(), program);
  const auto found = networks::step(*makeCudaBackend(std::make_shared<fake::FakeDevice>(kPlainGraphs)), program);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, values] : expected) EXPECT_LT(cases::relativeDistance(found.at(name), values), 3e-5) << name;
}

}  // namespace
}  // namespace loom::cuda

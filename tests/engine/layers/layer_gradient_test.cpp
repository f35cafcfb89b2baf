// The gradient of every layer by finite differences in double precision, by all its parameters and inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/philox.h"
#include "tests/engine/layers/examples.h"
#include "tests/engine/program/gradient_check.h"

namespace loom {
namespace {

// Labels in range, probabilities in (0, 1), running variances that are no variance of anything.
void prepare(const LayerExample& example, Evaluator& evaluator) {
  const Program& program = evaluator.program();
  for (std::size_t id = 0; id < program.tensors.size(); ++id) {
    const Tensor& tensor = program.tensors[id];
    Philox random(7, tensor.name);
    std::vector<double>& values = evaluator.value(static_cast<TensorId>(id)).values;
    if (tensor.role == TensorRole::input && tensor.type == DataType::i32)
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<double>(random.below(static_cast<std::uint64_t>(example.labels), i));
    if (tensor.role == TensorRole::input && example.values.find("probabilities") != std::string::npos)
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1 + 0.8 * random.uniform(i);
    if (tensor.role == TensorRole::input && tensor.type == DataType::f32 && (example.low != -1 || example.high != 1))
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = example.low + (example.high - example.low) * random.uniform(i);
    if (tensor.role == TensorRole::state)
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5 + random.uniform(i);
  }
}

class LayerGradient : public testing::TestWithParam<LayerExample> {};

TEST_P(LayerGradient, HasTheGradientOfItsFunction) {
  const LayerExample& example = GetParam();
  const LayerDefinition& layer = *findLayer(example.layer);
  const Entry& entry = layer.entry;
  if (layer.role == LayerRole::input || layer.role == LayerRole::metric) return;  // nothing flows back from these
  if (entry.id.starts_with("Binary") && !isResult(layer.role))
    return;  // theirs is not that of what they compute: binary_weights_test.cpp
  if (example.flat && (example.inputs.empty() || example.labels > 0)) return;  // there is nothing to flow to
  for (const bool training : {true, false}) {
    const LoweredExample lowered = lowerExample(example, 3, training);
    const GradientCheck check =
        checkGradients(lowered.program, [&](Evaluator& evaluator) { prepare(example, evaluator); });
    if (entry.id == "StopGradient") {
      EXPECT_EQ(check.flowing, 0);
      continue;
    }
    EXPECT_TRUE(check.passed) << check.message << (training ? " in training" : " in evaluation");
    EXPECT_GT(check.checked, 0);
    EXPECT_LE(check.kinks * 10, check.checked) << "too many elements stand at a kink";
    // Every parameter and every input of values gets its gradient; targets of losses and labels do not.
    std::int64_t wanted = 0;
    for (const Parameter& parameter : lowered.program.parameters) wanted += parameter.isState ? 0 : 1;
    for (const Tensor& tensor : lowered.program.tensors)
      wanted += tensor.role == TensorRole::input && tensor.type == DataType::f32;
    if (isResult(layer.role) && example.labels == 0) --wanted;
    if (!example.flat) {
      EXPECT_GE(check.flowing, wanted);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, LayerGradient, testing::ValuesIn(layerExamples()),
                         [](const auto& info) { return info.param.layer + std::to_string(info.index); });

}  // namespace
}  // namespace loom

// The table as a whole: contracts hang together, every op is exercised, and what cannot be is refused with both
// numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/passes/passes.h"
#include "engine/program/builder.h"
#include "tests/engine/ops/case_families.h"

namespace loom::cases {
namespace {

TEST(OpTable, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const OpDefinition* op : opTable()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name;
    EXPECT_EQ(&findOp(op->name), op);
  }
  EXPECT_GE(names.size(), 50u);
  EXPECT_THROW(findOp("convolutoin"), Error);
}

TEST(OpTable, EveryOpHasItsContract) {
  for (const OpDefinition* op : opTable()) {
    EXPECT_TRUE(op->infer) << op->name;
    EXPECT_TRUE(op->reference) << op->name;
    const OpSignature signature = signatureOf(*op);
    EXPECT_TRUE(!signature.inputs.empty() || op->communicates) << op->name;
    EXPECT_FALSE(signature.outputs.empty()) << op->name;
    for (int input : op->reusable) EXPECT_LT(input, static_cast<int>(signature.inputs.size())) << op->name;
    for (int input : op->updates) EXPECT_LT(input, static_cast<int>(signature.inputs.size())) << op->name;
  }
}

// The README's table is the contract that backends read: a row an op, with the same inputs and outputs.
TEST(OpTable, ReadmeNamesEveryOpWithItsSignature) {
  std::ifstream file(std::string(GRADLOOM_SOURCE_DIR) + "/engine/ops/README.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const OpDefinition* op : opTable()) {
    const std::size_t row = text.find("| `" + op->name + "` |");
    ASSERT_NE(row, std::string::npos) << op->name << " has no row";
    const std::string line = text.substr(row, text.find('\n', row) - row);
    if (signatureOf(*op).several) continue;  // "several -> y" reads better than "x... -> y"
    EXPECT_THAT(line, testing::HasSubstr("| " + op->signature + " |"));
  }
}

TEST(OpTable, EveryOpStandsInTheProgramOfACase) {
  std::set<std::string> exercised, names;
  for (const OpCase& opCase : opCases()) {
    EXPECT_TRUE(names.insert(opCase.name).second) << "two cases named " << opCase.name;
    for (const Operation& operation : programOf(opCase, true).operations) exercised.insert(operation.op->name);
  }
  for (const OpCase& opCase : partnerCases()) exercised.insert(opCase.op);
  for (const OpDefinition* op : opTable()) EXPECT_TRUE(exercised.contains(op->name)) << op->name << " lacks a case";
}

TEST(OpTable, DifferentiableOpsHaveACaseOfTheirOwn) {
  std::set<std::string> own;
  for (const OpCase& opCase : opCases()) own.insert(opCase.op);
  for (const OpDefinition* op : opTable()) EXPECT_TRUE(!op->gradient || own.contains(op->name)) << op->name;
}

// What `reusable` promises, without which the memory plan would corrupt numbers: element i of the output depends on no
// other element of such an input.
TEST(OpTable, ReusableInputsAreReadElementByElement) {
  std::set<std::string> shown;
  const auto elements = [](const ReferenceTensor* tensor) { return tensor ? tensor->values.size() : 0; };
  for (const OpCase& opCase : opCases()) {
    Evaluator evaluator(programOf(opCase, true));
    prepare(opCase, evaluator);
    evaluator.run();
    for (const Operation& operation : evaluator.program().operations) {
      std::vector<const ReferenceTensor*> inputs;
      for (TensorId id : operation.inputs) inputs.push_back(id == kNoTensor ? nullptr : &evaluator.value(id));
      const auto run = [&] {
        std::vector<ReferenceTensor> outputs;
        for (TensorId id : operation.outputs) {
          const Shape& shape = evaluator.value(id).shape;
          outputs.push_back({shape, std::vector<double>(static_cast<std::size_t>(shape.elements()))});
        }
        for (int updated : updatedInputs(*operation.op, inputs.size(), operation.attributes))
          outputs.push_back(*inputs[static_cast<std::size_t>(updated)]);
        operation.op->reference(inputs, outputs, operation.attributes);
        return outputs[0].values;
      };
      const std::vector<double> before = run();
      for (int input : operation.op->reusable) {
        const auto k = static_cast<std::size_t>(input);
        if (elements(inputs[k]) != before.size() || before.size() < 2) continue;
        ReferenceTensor changed = *inputs[k];
        changed.values[1] += 0.125;
        const ReferenceTensor* original = std::exchange(inputs[k], &changed);
        const std::vector<double> after = run();
        inputs[k] = original;
        for (std::size_t i = 0; i < before.size(); ++i)
          EXPECT_TRUE(i == 1 || before[i] == after[i])
              << operation.op->name << ", input " << input << ", element " << i;
        shown.insert(operation.op->name);
      }
    }
  }
  for (const OpDefinition* op : opTable()) EXPECT_TRUE(op->reusable.empty() || shown.contains(op->name)) << op->name;
}

// A second run of the same step gives the same numbers, and the reference writes every output that it should.
TEST(OpTable, ReferencesAreRepeatable) {
  const std::unique_ptr<Backend> backend = makeReferenceBackend();
  for (const OpCase& opCase : opCases()) EXPECT_EQ(runCase(opCase, *backend), runCase(opCase, *backend)) << opCase.name;
}

// What other ranks wait for stays in the program whether anything here reads it or not, and as often as it was written.
TEST(OpTable, OpsBetweenRanksAreNeverDeadAndNeverMerged) {
  for (const OpCase& opCase : partnerCases()) {
    ProgramBuilder builder(1, 1, false);
    std::vector<TensorId> inputs;
    for (const InputCase& input : opCase.inputs) inputs.push_back(builder.input("in", input.shape, DataType::f32));
    for (int i = 0; i < 2; ++i) builder.add(opCase.op, inputs, opCase.attributes);
    builder.result("x", ResultKind::output, builder.input("x", Shape{3, 4}, DataType::f32));
    Program program = builder.take();
    simplify(program);
    EXPECT_EQ(program.operations.size(), 2u) << opCase.op;
  }
}

TEST(OpTable, OneProcessHasNoReferenceForSeveralRanks) {
  const std::unique_ptr<Backend> backend = makeReferenceBackend();
  for (const OpCase& opCase : partnerCases()) {
    try {
      runCase(opCase, *backend, {}, false);
      FAIL() << opCase.name << " ran in one process";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::badArgument);
      EXPECT_THAT(error.what(),
                  testing::HasSubstr("in layer '" + opCase.name + "': " + opCase.op + " between 2 ranks"));
    }
  }
}

struct Refusal {
  std::string op;
  std::vector<InputCase> inputs;
  Attributes attributes;
  std::vector<std::string> says;
};

class OpRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(OpRefusal, NamesTheNumbers) {
  const Refusal& refusal = GetParam();
  try {
    programOf({"refused", refusal.op, refusal.inputs, refusal.attributes}, false);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badProject) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr("in layer 'refused': "));
    for (const std::string& words : refusal.says) EXPECT_THAT(error.what(), testing::HasSubstr(words));
  }
}

std::vector<Refusal> refusals() {
  const InputCase image = values({2, 3, 5, 7});
  return {
      {"convolution", {image, values({4, 2, 3, 3})}, {}, {"2 channels a group", "has 3"}},
      {"convolution", {image, values({4, 3, 3})}, {}, {"has 3 axes", "needs 4"}},
      {"convolution", {image, values({4, 3, 6, 3})}, {}, {"reaches over 6", "only 5"}},
      {"convolution", {image, values({4, 1, 3, 3})}, {{"groups", 3}}, {"3 input channels and 4 output"}},
      {"convolution", {image, values({4, 3, 3, 3}), values({5})}, {}, {"bias must be 4", "is 5"}},
      {"convolution", {image, values({4, 3, 3, 3})}, {{"strides", Integers{1}}}, {"'strides' has 1", "2 are needed"}},
      {"convolution",
       {image, values({4, 3, 3, 3})},
       {{"strides", Integers{1, 0}}},
       {"'strides' holds 0", "at least 1"}},
      {"convolution", {image}, {}, {"lacks its input 'w'"}},
      {"convolution", {image, values({4, 3, 3, 3}), values({4}), values({4})}, {}, {"takes 3 inputs", "4 are given"}},
      {"convolution_input_gradient",
       {values({2, 4, 3, 5}), values({4, 3, 3, 3})},
       {{"input_shape", Integers{6, 7}}},
       {"2×4×4×5", "2×4×3×5"}},
      {"matmul", {values({3, 5}), values({4, 5})}, {}, {"5 and 4"}},
      {"matmul", {values({2, 3, 5}), values({3, 5, 4})}, {}, {"axis 0 has 2 and 3"}},
      {"matmul", {values({3, 5}), values({5, 4}), values({3})}, {}, {"must be 4", "is 3"}},
      {"inverse", {values({2, 3, 4})}, {}, {"3 rows and 4 columns", "2×3×4"}},
      {"inverse", {values({2, 1025, 1025})}, {}, {"1025 rows", "at most 1024"}},
      {"running_mean", {values({3}), state({4}), state({1})}, {}, {"running mean is 4", "batch's mean is 3"}},
      {"running_mean", {values({3}), state({3}), state({2})}, {}, {"count of batches must be 1", "is 2"}},
      {"max_pooling", {image}, {{"kernel", Integers{6, 2}}}, {"window is 6", "only 5"}},
      {"max_pooling",
       {image},
       {{"kernel", Integers{2, 2}}, {"padding", Integers{2, 0, 0, 0}}},
       {"padding 2", "which is 2"}},
      {"batch_normalization", {image, values({4}), values({3}), state({3}), state({3})}, {}, {"must be 3", "is 4"}},
      {"layer_normalization", {image, values({5})}, {{"axes", 1}}, {"must be 7", "is 5"}},
      {"layer_normalization", {image}, {{"axes", 5}}, {"last 5 axes", "1 to 4"}},
      {"dropout", {image, step(), firstSample()}, {{"probability", 1.0}, {"stream", 1}}, {"is 1", "less than 1"}},
      {"unary", {image}, {{"function", "rleu"}}, {"'rleu'"}},
      {"binary", {values({3, 4}), values({3, 5})}, {{"function", "add"}}, {"3×5", "3×4", "equal or 1"}},
      {"binary", {values({3, 4}), values({4})}, {{"function", "add"}}, {"is 4", "3×4"}},
      {"binary", {values({3, 1}), values({3, 4})}, {{"function", "add"}}, {"3×4", "3×1"}},
      {"binary", {values({3}), labels({3}, 2)}, {{"function", "add"}}, {"b must hold f32", "i32"}},
      {"reshape", {values({2, 3})}, {{"shape", Integers{2, 4}}}, {"6 values", "holds 8"}},
      {"transpose", {values({2, 3})}, {{"axes", Integers{0, 0}}}, {"one of them twice"}},
      {"slice",
       {values({2, 5})},
       {{"axis", 1}, {"start", 2}, {"length", 3}, {"step", 2}},
       {"ends at 6", "has 5", "0 to 4"}},
      {"concatenate", {values({2, 3, 4}), values({2, 3, 5})}, {{"axis", 1}}, {"2×3×5", "2×3×4"}},
      {"reduce", {values({2, 3})}, {{"function", "sum"}, {"axes", Integers{2}}}, {"axis 2", "2 axes"}},
      {"reduce", {values({2, 3})}, {{"function", "mode"}}, {"no reduction 'mode'"}},
      {"resample",
       {values({2, 5})},
       {{"starts", Integers{0, 1, 2}}, {"places", Integers{0, 5}}},
       {"takes value 5", "has 5: 0 to 4"}},
      {"resample", {values({2, 5})}, {{"starts", Integers{0, 3}}, {"places", Integers{0, 1}}}, {"0 to its 2 places"}},
      {"resample",
       {values({2, 5})},
       {{"starts", Integers{0, 2}}, {"places", Integers{0, 1}}, {"weights", std::vector<double>{1}}},
       {"1 weights for 2 places"}},
      {"select", {values({2, 3}), values({2, 4}), values({2, 4})}, {}, {"condition is 2×3", "a is 2×4"}},
      {"one_hot", {labels({2}, 3)}, {{"classes", 0}}, {"'classes' is 0", "at least 1"}},
      {"one_hot", {values({2})}, {{"classes", 3}}, {"i32"}},
      {"warp", {values({2, 3, 4, 5}), values({2, 5})}, {}, {"maps must be 2×6", "2×5"}},
      {"warp", {values({2, 3, 4}), values({2, 6})}, {}, {"4 axes", "has 3"}},
      {"top_k", {values({2, 5})}, {{"k", 6}}, {"first 6 of 5", "1 to 5"}},
      {"embedding", {values({2, 3}), values({4, 5})}, {}, {"i32"}},
      {"lstm", {values({2, 4, 3}), values({20, 4}), values({20, 5})}, {}, {"20×3", "20×4"}},
      {"gru", {values({2, 4, 3}), values({15, 3}), values({16, 5})}, {}, {"15×5", "16×5"}},
      {"attention",
       {values({2, 5, 6}), values({2, 5, 6}), values({2, 5, 6})},
       {{"heads", 4}},
       {"6 channels", "4 heads"}},
      {"attention", {values({2, 5, 6}), values({2, 4, 6}), values({2, 4, 6})}, {{"causal", true}}, {"5 and 4"}},
      {"softmax_cross_entropy", {values({5, 7}), labels({4}, 7)}, {}, {"labels are 4", "5×7"}},
      {"softmax_cross_entropy", {values({5, 1}), labels({5}, 1)}, {}, {"1 class", "at least 2"}},
      {"softmax_cross_entropy", {values({5, 7}), labels({5}, 7)}, {{"smoothing", 1.0}}, {"is 1", "less than 1"}},
      {"mean_squared_error", {values({5, 3}), values({5, 2})}, {}, {"5×3", "5×2"}},
      {"huber", {values({5}), values({5})}, {{"delta", 0.0}}, {"delta is 0"}},
      {"all_gather", {values({})}, {{"ranks", 2}}, {"1 to 8 axes", "has 0"}},
      {"all_gather", {values({3})}, {{"ranks", 0}}, {"0 ranks", "at least 1"}},
      {"reduce_scatter", {values({7, 3})}, {{"ranks", 3}}, {"7×3 has 7", "3 ranks", "6 or 9"}},
      {"broadcast_from", {values({3})}, {{"root", 2}, {"ranks", 2}}, {"'root' is rank 2", "has 2: 0 to 1"}},
      {"reduce_to", {values({3})}, {{"root", -1}, {"ranks", 2}}, {"'root' is rank -1"}},
      {"send", {values({3})}, {{"to", 0}}, {"send in a group of 1 rank", "needs 2"}},
      {"send", {values({3})}, {{"to", 4}, {"ranks", 4}}, {"'to' is rank 4", "0 to 3"}},
      {"receive", {}, {{"from", 0}, {"shape", Integers{3}}}, {"receive in a group of 1 rank"}},
      {"update",
       {learningRate(), updateCount(), absent(), squares(2, 0, 1), state({3}), state({3})},
       {{"rule", std::string("SGD")}, {"weight_decay", std::vector<double>{0, 0}}, {"scaled", Integers{1, 1}}},
       {"SGD of 2 tensors", "2 of each, 4 in all", "2 are given"}},
      {"update",
       {learningRate(), updateCount(), absent(), squares(2, 0, 1), state({3}), state({3})},
       {{"rule", std::string("SGD")}, {"weight_decay", std::vector<double>{0}}, {"scaled", Integers{1}}},
       {"the squares must be 1", "is 2"}},
      {"update",
       {learningRate(), updateCount(), absent(), squares(1, 0, 1), state({3}), state({4})},
       {{"rule", std::string("SGD")}, {"weight_decay", std::vector<double>{0}}, {"scaled", Integers{1}}},
       {"the gradient is 4", "3"}},
      {"update",
       {learningRate(), updateCount(), absent(), squares(1, 0, 1), state({3}), state({3})},
       {{"rule", std::string("Adamm")}, {"weight_decay", std::vector<double>{0}}, {"scaled", Integers{1}}},
       {"no rule 'Adamm'"}},
      {"top_k_accuracy", {values({5, 3}), labels({5}, 3)}, {{"k", 4}}, {"top-4", "1 to 3"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Table, OpRefusal, testing::ValuesIn(refusals()),
                         [](const auto& info) { return info.param.op + "_" + std::to_string(info.index); });

}  // namespace
}  // namespace loom::cases

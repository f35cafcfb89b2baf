// Which tensors keepInSixteenBits() keeps so.
#include "engine/passes/precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"

namespace loom {
namespace {

using testing::UnorderedElementsAre;

SixteenBits allOf(const Operation& operation) {
  SixteenBits all{.outputs = 1};
  for (std::size_t k = 0; k < operation.inputs.size(); ++k) all.inputs.push_back(static_cast<int>(k));
  return all;
}

struct Chain {
  ProgramBuilder builder{4, 1, true};
  TensorId x = builder.input("x", {4, 8}, DataType::f32), w = builder.parameter({.name = "w", .shape = {8, 8}});
  TensorId a = builder.add("matmul", {x, w}), b = builder.add("unary", {a}, {{"function", std::string("relu")}}),
           c = builder.add("unary", {b}, {{"function", std::string("tanh")}});
  std::vector<TensorId> kept(const std::function<SixteenBits(const Operation&)>& may) {
    Program program = builder.program();
    keepInSixteenBits(program, DataType::bf16, may);
    std::vector<TensorId> ids;
    for (std::size_t i = 0; i < program.tensors.size(); ++i)
      if (program.tensors[i].type == DataType::bf16) ids.push_back(static_cast<TensorId>(i));
    return ids;
  }
};

TEST(KeepInSixteenBits, OnlyWhatLivesBetweenOperations) {
  Chain chain;
  chain.builder.result("c", ResultKind::output, chain.c);
  EXPECT_THAT(chain.kept(allOf), UnorderedElementsAre(chain.a, chain.b)) << "inputs, weights and results stay";
}

TEST(KeepInSixteenBits, WhereAllAgree) {
  Chain chain;
  chain.builder.result("c", ResultKind::output, chain.c);
  const auto without = [&](const char* function) {
    return chain.kept([function](const Operation& operation) {
      return operation.attributes.has("function") && operation.attributes.text("function") == function
                 ? SixteenBits{}
                 : allOf(operation);
    });
  };
  EXPECT_THAT(without("tanh"), UnorderedElementsAre(chain.a)) << "one that reads b takes f32 only";
  EXPECT_THAT(without("relu"), UnorderedElementsAre());
  EXPECT_THAT(chain.kept([](const Operation& operation) {
    SixteenBits all = allOf(operation);
    all.outputs = !operation.attributes.has("function");
    return all;
  }),
              UnorderedElementsAre(chain.a))
      << "what writes b gives f32 only";
}

TEST(KeepInSixteenBits, ACopyIsNoNarrowerThanWhatItIsFoundIn) {
  Chain chain;
  chain.builder.result("c", ResultKind::output, chain.c);
  EXPECT_THAT(chain.kept([](const Operation& operation) {
    SixteenBits all = allOf(operation);
    if (!operation.attributes.has("function")) all.outputs = 0;  // a stays f32
    if (operation.attributes.has("function")) all.like = 0;
    return all;
  }),
              UnorderedElementsAre());
}

// A residual stream: where it begins in f32, no sum on its way rounds it; what is added may be rounded.
TEST(KeepInSixteenBits, ASumIsAsWideAsTheWidestOfWhatItAdds) {
  for (const bool wide : {true, false}) {
    Chain chain;
    ProgramBuilder& builder = chain.builder;
    const auto sum = [&](TensorId left, TensorId right) {
      return builder.add("binary", {left, right}, {{"function", std::string("add")}});
    };
    const TensorId first = sum(chain.a, chain.b), second = sum(chain.c, first),
                   end = builder.add("unary", {second}, {{"function", std::string("tanh")}});
    builder.result("end", ResultKind::output, end);
    const auto found = chain.kept([&](const Operation& operation) {
      SixteenBits all = allOf(operation);
      if (wide && operation.outputs[0] == chain.a) all.outputs = 0;
      all.promotes = operation.op->name == "binary";
      return all;
    });
    if (wide)
      EXPECT_THAT(found, UnorderedElementsAre(chain.b, chain.c));
    else
      EXPECT_THAT(found, UnorderedElementsAre(chain.a, chain.b, chain.c, first, second));
  }
}

TEST(KeepInSixteenBits, GradientsOfParametersStay) {
  Chain chain;
  const TensorId loss = chain.builder.add("reduce", {chain.c}, {{"function", std::string("sum")}});
  chain.builder.result("loss", ResultKind::loss, loss);
  differentiate(chain.builder);
  Program program = chain.builder.take();
  keepInSixteenBits(program, DataType::bf16, allOf);
  int narrow = 0;
  for (const Tensor& tensor : program.tensors) {
    narrow += tensor.type == DataType::bf16;
    EXPECT_TRUE(tensor.role == TensorRole::intermediate || tensor.type == DataType::f32) << tensor.name;
  }
  EXPECT_GE(narrow, 5) << "gradients of activations, too";
}

}  // namespace
}  // namespace loom

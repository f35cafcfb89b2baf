// What is no ordinary number: NaN, infinities, ties, probabilities at their ends. As the references take it, element by
// element.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/cuda/cuda_backend.h"
#include "engine/ops/unary.h"
#include "engine/program/builder.h"
#include "tests/engine/cuda/fake/fake_device.h"

namespace loom::cuda {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
const std::vector<float> kSpecial{kNan,  kInf,   -kInf, 0,  -0.0f, 1, -1, 90,    -90,
                                  1e-9f, -1e-9f, 0.5f,  30, -30,   3, -3, 1e-30f};

using Floats = std::vector<float>;

struct Given {
  Shape shape;
  Floats values;                          // f32, or
  std::vector<std::int32_t> labels = {};  // i32
};

TensorId declare(ProgramBuilder& builder, const Given& given, std::size_t k) {
  return builder.input("in" + std::to_string(k), given.shape, given.labels.empty() ? DataType::f32 : DataType::i32);
}

// One output of one op; inputs without a shape of their own values are left out where `present` says so.
Floats valuesOf(Backend& backend, const std::string& op, const std::vector<Given>& inputs,
                const std::vector<bool>& present, const Attributes& attributes, std::size_t output) {
  ProgramBuilder builder(1, 1, false);
  std::vector<TensorId> ids;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    ids.push_back(present[k] ? declare(builder, inputs[k], k) : kNoTensor);
  const TensorId y = builder.emit(op, ids, attributes)[output];
  builder.result("y", ResultKind::output, y);
  const Program program = builder.take();
  ParameterStore store(1, backend.makeMemory());
  const auto executable = backend.compile(program, store, {});
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!present[k]) continue;
    const std::span<std::byte> to = executable->input("in" + std::to_string(k));
    std::memcpy(to.data(),
                inputs[k].labels.empty() ? static_cast<const void*>(inputs[k].values.data()) : inputs[k].labels.data(),
                to.size());
  }
  executable->run({});
  Floats values(static_cast<std::size_t>(program.tensor(y).shape.elements()));
  executable->readResult("y", values);
  return values;
}

void expectAsReference(const std::string& op, const std::vector<Given>& inputs, const Attributes& attributes = {},
                       std::vector<bool> present = {}, std::size_t output = 0) {
  present.resize(inputs.size(), true);
  const auto reference = makeReferenceBackend();
  const auto cuda = makeCudaBackend(std::make_shared<fake::FakeDevice>());
  const Floats expected = valuesOf(*reference, op, inputs, present, attributes, output),
               found = valuesOf(*cuda, op, inputs, present, attributes, output);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(op + ", element " + std::to_string(i) + ": " + std::to_string(found[i]) + ", but " +
                 std::to_string(expected[i]) + " is right");
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(found[i]));
    else if (std::isinf(expected[i]))
      EXPECT_EQ(found[i], expected[i]);
    else
      EXPECT_NEAR(found[i], expected[i], 1e-5 * std::abs(expected[i]) + 1e-7);
  }
}

Given vectorOf(const Floats& values) {
  return {{static_cast<std::int64_t>(values.size())}, values};
}
Given rowOf(const Floats& values) {
  return {{1, static_cast<std::int64_t>(values.size())}, values};
}
Given label(std::int32_t one) {
  return {{1}, {}, {one}};
}
Given scalar(float value) {
  return {{}, {value}};
}

TEST(CudaSpecialValues, unaryAndItsGradient) {
  for (const char* function :
       {"relu",  "leaky_relu",   "elu",        "selu",     "gelu",     "silu",     "sigmoid",    "tanh",
        "exp",   "log",          "square",     "sqrt",     "negative", "absolute", "reciprocal", "reciprocal_sqrt",
        "clamp", "hard_sigmoid", "hard_swish", "softplus", "softsign", "erf",      "sign",       "floor",
        "ceil",  "round",        "tan",        "asin",     "acos",     "atan",     "sinh",       "cosh",
        "asinh", "acosh",        "atanh"})
    for (const double alpha : {0.3, -0.5})
      for (const bool approximate : {false, true}) {
        SCOPED_TRACE(function);
        const Attributes attributes{
            {"function", std::string(function)}, {"alpha", alpha}, {"approximate", approximate}};
        expectAsReference("unary", {vectorOf(kSpecial)}, attributes);
        const DerivativeFrom from = unaryDerivativeFrom(attributes);
        expectAsReference("unary_gradient",
                          {vectorOf(kSpecial), vectorOf(kSpecial), vectorOf(Floats(kSpecial.size(), 2))}, attributes,
                          {from == DerivativeFrom::input, from == DerivativeFrom::output, true});
      }
}

TEST(CudaSpecialValues, binary) {
  for (const char* function : {"add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "modulo", "fmod",
                               "equal", "not_equal", "greater", "greater_equal", "less", "less_equal"})
    for (const float b : kSpecial) {
      SCOPED_TRACE(function);
      expectAsReference("binary", {vectorOf(kSpecial), vectorOf({b})}, {{"function", std::string(function)}});
    }
}

TEST(CudaSpecialValues, softmaxAndItsLoss) {
  for (const Floats& row : {Floats{-kInf, 0, 1, -kInf}, Floats{-kInf, -kInf, -kInf}, Floats{kInf, 0, 1},
                            Floats{0, 1, kNan}, Floats{1e4f, 1e4f, -1e4f}, Floats{-3e38f, 0, 3e38f}, Floats{5, 5}}) {
    expectAsReference("softmax", {rowOf(row)});
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(row.size()); ++k) {
      expectAsReference("softmax_cross_entropy", {rowOf(row), label(k)});
      expectAsReference("softmax_cross_entropy_gradient", {rowOf(row), label(k), scalar(2)});
    }
  }
}

TEST(CudaSpecialValues, topKOfEqualsAndOfNoNumbers) {
  for (const Floats& row : {Floats{1, 1, 1, 0}, Floats{0, 2, 2, 1}, Floats{kNan, 1, 0, 2}, Floats{0, kNan, kNan, 1},
                            Floats{kInf, kInf, 0, -kInf}})
    for (std::int32_t k = 0; k < 4; ++k)
      for (const std::int64_t among : {1, 2, 3, 4})
        expectAsReference("top_k_accuracy", {rowOf(row), label(k)}, {{"k", among}});
}

TEST(CudaSpecialValues, orderAndExtremesOfEqualsAndOfNoNumbers) {
  for (const Floats& row : {Floats{1, 3, 3, kNan, 3}, Floats{kNan, 0, kNan, 0, -kInf}, Floats{2, 2, 2, 2, 2}}) {
    for (const bool largest : {true, false})
      for (const std::size_t output : {0U, 1U})
        expectAsReference("top_k", {rowOf(row)}, {{"k", std::int64_t{4}}, {"largest", largest}}, {}, output);
    for (const char* function : {"maximum", "minimum", "product"})
      expectAsReference("reduce", {rowOf(row)}, {{"function", std::string(function)}});
  }
}

TEST(CudaSpecialValues, elementwiseLosses) {
  const float belowOne = std::nextafter(1.0f, 0.0f);
  for (const float target : {0.0f, 1.0f, 0.3f}) {
    for (const float p : {0.0f, 1.0f, 1e-9f, 1e-7f, 3e-7f, belowOne, 0.5f, 0.25f, 0.999f, -0.5f, 1.5f, kNan}) {
      expectAsReference("binary_cross_entropy", {vectorOf({p}), vectorOf({target})});
      expectAsReference("binary_cross_entropy_gradient", {vectorOf({p}), vectorOf({target}), scalar(3)});
      expectAsReference("binary_accuracy", {vectorOf({p}), vectorOf({target})}, {{"threshold", 0.5}});
    }
    for (const float x : kSpecial) {
      expectAsReference("binary_cross_entropy", {vectorOf({x}), vectorOf({target})}, {{"from_logits", true}});
      expectAsReference("binary_cross_entropy_gradient", {vectorOf({x}), vectorOf({target}), scalar(3)},
                        {{"from_logits", true}});
      expectAsReference("huber", {vectorOf({x}), vectorOf({target})}, {{"delta", 0.7}});
      expectAsReference("huber_gradient", {vectorOf({x}), vectorOf({target}), scalar(3)}, {{"delta", 0.7}});
      expectAsReference("mean_squared_error", {vectorOf({x}), vectorOf({target})});
    }
  }
}

}  // namespace
}  // namespace loom::cuda

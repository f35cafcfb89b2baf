// The smaller parts by themselves: the store's memory, arguments of conversions, a plan's conversions, and what the
// interpreters refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/device_memory.h"
#include "engine/cuda/kernels/convert.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/cuda/fake/interpreters.h"

namespace loom::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string errorOf(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(CudaMemory, ReadsWhatWasWrittenOfAnySize) {
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    const auto memory = makeDeviceMemory(std::make_shared<fake::FakeDevice>(fake::FakeOptions{.seed = seed}));
    EXPECT_FALSE(memory->isHost());
    for (const std::int64_t count : {1, 1000, 1 << 20, (1 << 20) + 3}) {  // pinned memory holds 2^20 of them
      float* const a = memory->allocate(count);
      float* const b = memory->allocate(count);
      std::vector<float> numbers(static_cast<std::size_t>(count), 7), found(numbers.size());
      memory->read(a, found);
      EXPECT_EQ(std::count(found.begin(), found.end(), 0.f), count);
      std::iota(numbers.begin(), numbers.end(), 1.f);
      memory->write(numbers, a);
      memory->copy(a, b, count);
      memory->read(b, found);
      EXPECT_EQ(found, numbers);
    }
    float* const none = memory->allocate(0);
    memory->write({}, none);
    memory->read(none, {});
    memory->copy(none, none, 0);
  }
}

TEST(CudaConversions, FollowTheOrderOfAxes) {
  const Shape shape{2, 3, 4, 5};
  const ConvertArguments same = convertArguments(shape, {0, 1, 2, 3}, DataType::f32, {0, 1, 2, 3}, DataType::bf16);
  EXPECT_EQ(same.axes, 0);
  EXPECT_EQ(same.count, 120);
  EXPECT_THAT(errorOf([&] {
                convertArguments(shape, {0, 1, 2, 3}, DataType::i32, {0, 1, 2, 3}, DataType::f32);
              }),
              HasSubstr("there is no conversion from i32 to f32"));
  const Shape long7{2, 2, 2, 2, 2, 2, 2};
  EXPECT_THAT(errorOf([&] {
                convertArguments(long7, {0, 1, 2, 3, 4, 5, 6}, DataType::f32, {6, 5, 4, 3, 2, 1, 0}, DataType::f32);
              }),
              HasSubstr("7 axes"));
}

// What stands in another type is converted once for all its readers.
TEST(CudaPlan, ConvertsOnceForAllReaders) {
  ProgramBuilder builder(2, 7, true);
  const TensorId x = builder.input("x", {2, 8}, DataType::f32);
  const TensorId w = builder.parameter({.name = "w", .shape = {8, 8}});
  TensorId y = x;
  for (int k = 0; k < 3; ++k)
    y = builder.add("matmul", {y, w, kNoTensor}, {{"transpose_a", false}, {"transpose_b", true}});
  builder.result("y", ResultKind::output, y);
  const auto backend = makeCudaBackend(std::make_shared<fake::FakeDevice>());
  ParameterStore store(1, backend->makeMemory());
  const Program program = builder.take();
  EXPECT_EQ(backend->compile(program, store, {})->describe()["reorders"], 0);
  const Json described = backend->compile(program, store, {.precision = DataType::bf16})->describe();
  int factors = 0, launches = 0;
  for (const Json& stage : described["operations"]) {
    factors += stage["kernel"] == "convert";
    launches += stage["kernel"] == "convert_all";
  }
  EXPECT_EQ(described["operations"][0]["kernel"], "convert_all") << "weights come first, in one launch";
  EXPECT_EQ(launches, 1);
  EXPECT_EQ(described["reorders"], factors + 1) << "the weight, once";
  EXPECT_LE(factors, 4) << "at most each factor";
  EXPECT_GE(factors, 1);
}

// Gradients come into the store several at a time: in whatever type and order they were computed.
TEST(CudaPlan, DeliversManyGradientsInOneLaunch) {
  ProgramBuilder builder(2, 7, true);
  TensorId y = builder.input("x", {2, 3, 6, 6}, DataType::f32);
  for (int k = 0; k < 40; ++k)
    y = builder.add("convolution",
                    {y, builder.parameter({.name = fmt::format("w{}", k), .shape = {3, 3, 3, 3}}),
                     builder.parameter({.name = fmt::format("b{}", k), .shape = {3}})},
                    {{"padding", std::vector<std::int64_t>{1, 1, 1, 1}}});
  builder.result("loss", ResultKind::loss, builder.add("reduce", {y}, {{"function", std::string("sum")}}));
  differentiate(builder);
  const Program program = builder.take();
  const auto backend = makeCudaBackend(std::make_shared<fake::FakeDevice>());
  ParameterStore store(1, backend->makeMemory());
  const Json described = backend->compile(program, store, {.precision = DataType::bf16})->describe();
  int delivered = 0;
  for (const Json& stage : described["operations"]) delivered += stage["kernel"] == "deliver_all";
  EXPECT_EQ(delivered, 3) << "80 gradients, 32 at a time";
}

// --- Interpreters

TEST(Interpreters, AProductIsInColumns) {
  // a = [1 3 5; 2 4 6], b = [1; 1; 2]: by columns.
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 1, 2}, bias[] = {-100, 1};
  float c[] = {10, 20};
  MatmulCall call{.m = 2, .n = 1, .k = 3, .lda = 2, .ldb = 3, .ldc = 2, .beta = 1};
  call.a = reinterpret_cast<const std::byte*>(a);
  call.b = reinterpret_cast<const std::byte*>(b);
  call.c = reinterpret_cast<std::byte*>(c);
  fake::interpret(call);
  EXPECT_THAT(c, ElementsAre(24, 38));
  call.beta = 0;
  call.alpha = 2;
  call.bias = reinterpret_cast<const std::byte*>(bias);
  call.epilogue = MatmulCall::Epilogue::biasRelu;
  c[0] = c[1] = NAN;  // not read
  fake::interpret(call);
  EXPECT_THAT(c, ElementsAre(0, 37));
  call.transposeA = true;  // the same numbers as [1 2; 3 4; 5 6]', three rows to a column
  EXPECT_THAT(errorOf([&] { fake::interpret(call); }), HasSubstr("leading dimension of a is 2, but its matrix has 3"));
  call.lda = 3;
  call.epilogue = MatmulCall::Epilogue::none;
  fake::interpret(call);
  EXPECT_THAT(c, ElementsAre(2 * (1 + 2 + 6), 2 * (4 + 5 + 12)));
  call.batch = 2;
  call.strideC = 1;
  EXPECT_THAT(errorOf([&] { fake::interpret(call); }), HasSubstr("overlap"));
}

TEST(Interpreters, Tf32HasElevenBits) {
  EXPECT_EQ(fake::roundedToTf32(1 + 0x1p-10), 1 + 0x1p-10);
  EXPECT_EQ(fake::roundedToTf32(1 + 0x1p-11), 1);  // ties to even
  EXPECT_EQ(fake::roundedToTf32(1 + 0x1.8p-10), 1 + 0x1p-9);
  EXPECT_TRUE(std::isinf(fake::roundedToTf32(INFINITY)));
}

// y = relu(convolution(x, w) + b), the sums virtual; one sample of 1 x 1 x 3 under a kernel of 1 x 2.
DnnGraph graph() {
  DnnGraph graph;
  graph.tensors = {{.id = 1, .extents = {1, 1, 1, 3}, .strides = {3, 3, 3, 1}},
                   {.id = 2, .extents = {2, 1, 1, 2}, .strides = {2, 2, 2, 1}},
                   {.id = 3, .extents = {1, 2, 1, 3}, .strides = {6, 1, 6, 2}, .isVirtual = true},
                   {.id = 4, .extents = {1, 2, 1, 1}, .strides = {2, 1, 1, 1}},
                   {.id = 5, .extents = {1, 2, 1, 3}, .strides = {6, 1, 6, 2}, .isVirtual = true},
                   {.id = 6, .extents = {1, 2, 1, 3}, .strides = {6, 1, 6, 2}}};
  DnnConvolution convolution{.strides = {1, 1}, .before = {0, 1}, .after = {0, 0}, .dilation = {1, 1}};
  convolution.image = 1;
  convolution.weight = 2;
  convolution.result = 3;
  graph.operations = {convolution, DnnPointwise{DnnPointwise::Mode::add, 3, 4, 5},
                      DnnPointwise{DnnPointwise::Mode::relu, 5, -1, 6}};
  return graph;
}

TEST(Interpreters, AGraphComputesItsOperationsInOrder) {
  const float x[] = {1, 2, 3}, w[] = {1, 10, -1, 0}, b[] = {0.5, 2};
  float y[6] = {};
  DnnCall call{.plan = fake::planOf(graph(), 0)};
  const auto bytes = [](const float* at) { return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(at)); };
  call.tensors = {{1, bytes(x)}, {2, bytes(w)}, {4, bytes(b)}, {6, bytes(y)}};
  fake::interpret(call);
  EXPECT_THAT(y, ElementsAre(10.5, 2, 21.5, 1, 32.5, 0));  // channels last
  call.tensors.pop_back();
  EXPECT_THAT(errorOf([&] { fake::interpret(call); }), HasSubstr("is run without its tensor 6"));
}

TEST(Interpreters, RefuseGraphsThatAreNone) {
  const auto refusal = [](const std::function<void(DnnGraph&)>& change) {
    DnnGraph one = graph();
    change(one);
    return errorOf([&] { fake::planOf(one, 0); });
  };
  EXPECT_EQ(refusal([](DnnGraph&) {}), "none");
  EXPECT_THAT(refusal([](DnnGraph& g) { g.tensors.pop_back(); }), HasSubstr("a graph has no tensor 6"));
  EXPECT_THAT(refusal([](DnnGraph& g) { g.tensors[5].id = 5; }), HasSubstr("two tensors 5"));
  EXPECT_THAT(refusal([](DnnGraph& g) { g.tensors[0].type = DataType::i32; }),
              HasSubstr("tensor 1 of a graph is in i32"));
  EXPECT_THAT(refusal([](DnnGraph& g) { g.tensors[0].strides[3] = 0; }),
              HasSubstr("elements of tensor 1 of a graph overlap"));
  EXPECT_THAT(refusal([](DnnGraph& g) { g.operations.erase(g.operations.begin()); }),
              HasSubstr("virtual tensor 3 of a graph is read before it is computed"));
  EXPECT_THAT(refusal([](DnnGraph& g) { g.operations.push_back(g.operations.back()); }),
              HasSubstr("tensor 6 of a graph is computed twice"));
  EXPECT_THAT(refusal([](DnnGraph& g) { g.operations.clear(); }), HasSubstr("no operations"));
  EXPECT_THAT(refusal([](DnnGraph& g) { std::get<DnnConvolution>(g.operations[0]).after[1] = 1; }),
              HasSubstr("spatial axis 1"));
  EXPECT_THAT(refusal([](DnnGraph& g) { g.tensors[1].extents[0] = 3; }),
              HasSubstr("gives 3 channels, its result has 2"));
  EXPECT_THAT(refusal([](DnnGraph& g) { g.tensors[3].extents[1] = 3; }), HasSubstr("do not fit together"));
}

}  // namespace
}  // namespace loom::cuda

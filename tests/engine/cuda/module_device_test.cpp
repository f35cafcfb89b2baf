// The real device's host side, over a module with nothing behind it (hollow_cuda.cpp): how it waits.
#include "engine/cuda/module_device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "engine/base/error.h"
#include "engine/cuda/device.h"

namespace loom::cuda {
namespace {

// Ranks of which another is found gone when it is asked for the n-th time; 0: never.
class FrailRanks final : public StreamRanks {
 public:
  explicit FrailRanks(int goneAt) : m_goneAt(goneAt) {}
  int rank() const override { return 0; }
  int ranks() const override { return 2; }
  void begin(const RankExchange&, void*) override { ++begun; }
  void expectAlive() override {
    if (++asked == m_goneAt) throwError(ErrorCode::communication, "rank 1 is gone");
  }
  int begun = 0, asked = 0;

 private:
  int m_goneAt;
};

class ModuleDevices : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("GRADLOOM_CUDA_MODULE", GRADLOOM_HOLLOW_CUDA, 1);
    for (const char* name : {"WAITS", "QUERIES", "DONE_AT", "LAUNCHES", "LOST", "PRODUCTS"})
      ::unsetenv((std::string("LOOM_HOLLOW_") + name).c_str());
    open();
  }
  void open() {
    event.reset();
    device = openCudaDevice(0, {});
    event = device->makeEvent();
    device->record(Stream::compute, *event);
  }
  void TearDown() override {
    event.reset();
    device.reset();
    ::unsetenv("GRADLOOM_CUDA_MODULE");
  }
  void doneAt(int query) { ::setenv("LOOM_HOLLOW_DONE_AT", std::to_string(query).c_str(), 1); }
  int count(const char* what) const {
    const char* const text = std::getenv((std::string("LOOM_HOLLOW_") + what).c_str());
    return text != nullptr ? std::atoi(text) : 0;
  }
  std::shared_ptr<Device> device;
  std::unique_ptr<Event> event;
};

TEST_F(ModuleDevices, WithoutRanksLetTheDriverWait) {
  device->synchronise(*event);
  device->synchronise(Stream::compute);
  EXPECT_EQ(count("WAITS"), 2);
}

// A small step is over before a thread that sleeps is woken.
TEST_F(ModuleDevices, AskForAMomentBeforeTheySleep) {
  doneAt(3);
  device->synchronise(*event);
  EXPECT_EQ(count("QUERIES"), 3);
  EXPECT_EQ(count("WAITS"), 0);
  ::setenv("GRADLOOM_CUDA_SPIN_US", "0", 1);
  open();
  ::unsetenv("GRADLOOM_CUDA_SPIN_US");
  device->synchronise(*event);
  device->synchronise(Stream::compute);
  EXPECT_EQ(count("QUERIES"), 3);
  EXPECT_EQ(count("WAITS"), 2);
}

// The hollow module knows no product with a bias: an own kernel adds it then.
TEST_F(ModuleDevices, AddABiasByThemselvesWhereTheLibraryDoesNot) {
  using Epilogue = MatmulCall::Epilogue;
  alignas(256) std::byte memory[1024] = {};
  MatmulCall call{
      .m = 1, .n = 3, .k = 4, .lda = 1, .ldb = 4, .ldc = 1, .a = memory, .b = memory + 256, .c = memory + 512};
  device->enqueue(Stream::compute, call, {}, "");
  EXPECT_EQ(count("LAUNCHES"), 0);
  for (const Epilogue epilogue : {Epilogue::bias, Epilogue::relu, Epilogue::biasRelu}) {
    call.epilogue = epilogue;
    call.bias = epilogue == Epilogue::relu ? nullptr : memory + 768;
    device->enqueue(Stream::compute, call, {}, "");
  }
  EXPECT_EQ(count("PRODUCTS"), 4);
  EXPECT_EQ(count("LAUNCHES"), 3);
  call.ldc = 2;
  EXPECT_THROW(device->enqueue(Stream::compute, call, {}, ""), Error) << "rows with gaps";
}

TEST_F(ModuleDevices, MultiplyLargeBatchesInParts) {
  std::vector<std::byte> memory(64);
  const MatmulCall call{.m = 1,
                        .n = 1,
                        .k = 1,
                        .lda = 1,
                        .ldb = 1,
                        .ldc = 1,
                        .batch = 70000,
                        .a = memory.data(),
                        .b = memory.data(),
                        .c = memory.data()};
  device->enqueue(Stream::compute, call, {}, "");
  EXPECT_EQ(count("PRODUCTS"), 3) << "libraries fail beyond 65,535";
}

TEST_F(ModuleDevices, AskRanksWhetherTheyAreThereWhileTheyWait) {
  auto ranks = std::make_shared<FrailRanks>(0);
  device->enqueue(Stream::exchange, CollectiveCall{ranks, {}}, {}, "");
  device->enqueue(Stream::exchange, CollectiveCall{ranks, {}}, {}, "");
  EXPECT_EQ(ranks->begun, 2);
  doneAt(5);
  device->synchronise(*event);
  EXPECT_EQ(count("QUERIES"), 5);
  EXPECT_EQ(ranks->asked, 4) << "once a query, however often they exchanged";
  EXPECT_EQ(count("WAITS"), 0);
  ranks.reset();
  doneAt(1 << 30);
  device->synchronise(*event);
  EXPECT_EQ(count("WAITS"), 1) << "there are no ranks any more";
}

TEST_F(ModuleDevices, EndAWaitForARankThatIsGoneWithItsName) {
  const auto ranks = std::make_shared<FrailRanks>(3);
  device->enqueue(Stream::exchange, CollectiveCall{ranks, {}}, {}, "");
  doneAt(1 << 30);
  for (const auto& wait : {std::function<void()>([&] { device->synchronise(*event); }),
                           std::function<void()>([&] { device->synchronise(Stream::upload); })}) {
    ranks->asked = 0;
    try {
      wait();
      FAIL() << "it waits for ever";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::communication);
      EXPECT_STREQ(error.what(), "rank 1 is gone");
    }
  }
}

TEST_F(ModuleDevices, ThatWantReadyEnginesTimeNoneAndCompileNone) {
  device.reset();
  device = openCudaDevice(0, {.times = true});
  EXPECT_NE(device->timing(), nullptr);
  ::setenv("GRADLOOM_ENGINES", "ready", 1);
  event.reset();
  device = openCudaDevice(0, {.times = true});
  ::unsetenv("GRADLOOM_ENGINES");
  EXPECT_EQ(device->timing(), nullptr);
  const auto tensor = [](int id) { return DnnTensor{id, {1, 2, 4, 4}, {32, 1, 8, 2}, DataType::bf16}; };
  DnnGraph graph{
      .tensors = {tensor(0), tensor(1), tensor(2)},
      .operations = {DnnConvolution{DnnConvolution::Kind::weightGradient, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 0, 1, 2}}};
  const auto isRefused = [&] {
    try {
      return device->plan(graph, 0) == nullptr;
    } catch (const Error& error) {
      return std::string_view(error.what()).find("would have to be compiled") != std::string_view::npos;
    }
  };
  EXPECT_FALSE(isRefused()) << "the library is asked";
  graph.tensors[1].type = DataType::f32;
  EXPECT_TRUE(isRefused()) << "its result is of another type";
  graph.tensors[1].type = DataType::bf16;
  graph.operations.emplace_back(DnnPointwise{DnnPointwise::Mode::relu, 2, -1, 3});
  EXPECT_TRUE(isRefused()) << "something is joined to it";
  graph.operations = {DnnAttention{}};
  EXPECT_TRUE(isRefused()) << "cuDNN's attention is always compiled";
}

// An error that shows where somebody waits, long after the kernel that made it, names nothing.
TEST_F(ModuleDevices, ThatCheckWaitForEachCallAndNameIt) {
  const KernelCall call{"softmax.bf16", {{1}, {32}}, {}};
  device->enqueue(Stream::compute, call, {}, "dense1");
  EXPECT_EQ(count("WAITS"), 0);
  EXPECT_TRUE(device->captures());
  ::setenv("GRADLOOM_CUDA_CHECK", "1", 1);
  open();
  ::unsetenv("GRADLOOM_CUDA_CHECK");
  EXPECT_FALSE(device->captures());
  device->enqueue(Stream::compute, call, {}, "dense1");
  EXPECT_EQ(count("WAITS"), 1);
  device->beginCapture(Stream::compute);  // as a trial does
  device->enqueue(Stream::compute, call, {}, "dense1");
  device->endCapture(Stream::compute);
  EXPECT_EQ(count("WAITS"), 1) << "no capture allows it";
  ::setenv("LOOM_HOLLOW_LOST", "1", 1);
  try {
    device->enqueue(Stream::compute, call, {}, "dense1");
    FAIL() << "nobody waited";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "in layer 'dense1': in kernel 'softmax.bf16': hollow");
  }
  EXPECT_EQ(count("LAUNCHES"), 4);
}

}  // namespace
}  // namespace loom::cuda

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
    for (const char* name : {"WAITS", "QUERIES", "DONE_AT"}) ::unsetenv((std::string("LOOM_HOLLOW_") + name).c_str());
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
  EXPECT_EQ(count("QUERIES"), 0);
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

}  // namespace
}  // namespace loom::cuda

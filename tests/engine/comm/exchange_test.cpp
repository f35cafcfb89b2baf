// The exchange on one rank: order, joining, statistics of its trace, and faults; between ranks it is tested under
// mpiexec.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/comm/gradient_exchange.h"

namespace loom {
namespace {

// Sums "over ranks" by doubling, and remembers what came in which order.
class Doubling final : public Communicator {
 public:
  Doubling() : Communicator(std::make_shared<CollectiveActivity>()) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  std::string name() const override { return "doubling"; }
  std::unique_ptr<Communicator> split(int, int) override { return std::make_unique<Doubling>(); }
  void allReduce(std::span<float> data) override {
    if (data[0] < 0) throwError(ErrorCode::communication, "the wire is cut");
    sizes.push_back(data.size());
    subjects.push_back(activity().subject.load());
    for (float& value : data) value *= 2;
  }
  void reduceScatter(std::span<const float>, std::span<float>) override {}
  void allGather(std::span<const std::byte>, std::span<std::byte>) override {}
  void allToAll(std::span<const std::byte>, std::span<std::byte>) override {}
  void broadcast(std::span<std::byte>, int) override {}
  void send(std::span<const std::byte>, int, int) override {}
  void receive(std::span<std::byte>, int, int) override {}
  void abort(int) override {}
  std::vector<std::size_t> sizes;
  std::vector<std::string> subjects;
};

TEST(GradientExchange, KeepsTheOrderOfBucketsWhateverIsPostedFirst) {
  Doubling communicator;
  std::vector<float> a{1}, b{2, 3}, c{4, 5, 6};
  Trace trace;
  {
    GradientExchange exchange(communicator, {{"first", {a}}, {"second", {b, c}}}, &trace);
    for (int step = 0; step < 3; ++step) {
      exchange.post(1);
      exchange.post(0);
      exchange.wait();
    }
    exchange.post(1);
    exchange.postAll();  // only the first is missing
    exchange.wait();
  }
  EXPECT_THAT(communicator.sizes, testing::ElementsAre(1, 5, 1, 5, 1, 5, 1, 5));
  EXPECT_EQ(communicator.subjects[1], "second");
  EXPECT_THAT(a, testing::ElementsAre(16));
  EXPECT_THAT(c, testing::ElementsAre(64, 80, 96));
  const Json file = Json::parse(Trace::file({trace.events(0, "here")}));
  int communications = 0;
  for (const Json& event : file["traceEvents"])
    communications +=
        event["ph"] == "X" && event["tid"] == 1 && event["name"] == "all-reduce" && event["args"].contains("bytes");
  EXPECT_EQ(communications, 8);
}

// A supervisor's sign of life may be under way while the exchange ends.
TEST(GradientExchange, WhatItDidLastCanBeReadAfterItsEnd) {
  Doubling communicator;
  std::vector<float> a{1};
  {
    GradientExchange exchange(communicator, {{"gradients of a name too long for the string itself", {a}}});
    exchange.postAll();
    exchange.wait();
  }
  EXPECT_STREQ(communicator.activity().subject.load(), "gradients of a name too long for the string itself");
}

TEST(GradientExchange, HandsAFaultToWhoWaits) {
  Doubling communicator;
  std::vector<float> a{-1};
  GradientExchange exchange(communicator, {{"first", {a}}});
  exchange.post(0);
  EXPECT_THROW(exchange.wait(), Error);
}

TEST(SelfCommunicator, CopiesAndRefusesMessages) {
  const auto self = makeSelfCommunicator();
  EXPECT_EQ(self->size(), 1);
  std::vector<float> data{1, 2}, part(2);
  self->allReduce(data);
  self->reduceScatter(data, part);
  EXPECT_EQ(part, data);
  EXPECT_EQ(allGatherTexts(*self, "me"), std::vector<std::string>{"me"});
  EXPECT_EQ(broadcastText(*self, ""), "");
  EXPECT_THROW(self->send(std::as_bytes(std::span(data)), 1, 0), Error);
}

}  // namespace
}  // namespace loom

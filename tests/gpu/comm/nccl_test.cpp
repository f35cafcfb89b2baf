// Every rank runs every test, as in tests/engine/ranks.
#include "engine/comm/nccl.h"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/comm/open_mpi.h"

namespace loom {

Communicator* world = nullptr;
int localRank = 0;

namespace {

using testing::HasSubstr;

// The GPUs that this host shows, and why there are none.
int gpus(std::string* reason = nullptr) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (reason) *reason = code ? cudaGetErrorString(code) : "the driver shows none";
  return code ? 0 : count;
}

// Numbers in host or device memory.
class Numbers {
 public:
  Numbers(std::vector<float> values, bool device) : m_values(std::move(values)), m_device(device) {
    if (!device) return;
    EXPECT_EQ(cudaMalloc(&m_data, bytes()), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(m_data, m_values.data(), bytes(), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~Numbers() { cudaFree(m_data); }
  Numbers(const Numbers&) = delete;
  std::span<float> span() { return {m_device ? static_cast<float*>(m_data) : m_values.data(), m_values.size()}; }
  std::span<std::byte> raw() { return std::as_writable_bytes(span()); }
  const std::vector<float>& values() {
    if (m_device) {
      EXPECT_EQ(cudaMemcpy(m_values.data(), m_data, bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
    }
    return m_values;
  }

 private:
  std::size_t bytes() const { return m_values.size() * sizeof(float); }
  std::vector<float> m_values;
  bool m_device;
  void* m_data = nullptr;
};

std::vector<float> valuesOf(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::sin(1.0f + static_cast<float>(rank) * 7 + static_cast<float>(i));
  return values;
}

class Nccl : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::string reason;
    const int count = gpus(&reason);
    if (count == 0) GTEST_SKIP() << "no GPU: " << reason;
    if (count < world->size()) GTEST_SKIP() << count << " GPUs for " << world->size() << " ranks";
    cudaSetDevice(count == 1 ? 0 : localRank);
    m_nccl = openNccl(*world, localRank);
  }
  std::unique_ptr<Communicator> m_nccl;
};
INSTANTIATE_TEST_SUITE_P(Memory, Nccl, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "Device" : "Host"); });

TEST_P(Nccl, MovesWhatItSays) {
  const int p = m_nccl->size(), mine = m_nccl->rank();
  ASSERT_EQ(p, world->size());
  ASSERT_EQ(mine, world->rank());
  const bool device = GetParam();
  const std::size_t part = 1001, all = part * static_cast<std::size_t>(p), own = static_cast<std::size_t>(mine) * part;

  Numbers sum(valuesOf(mine, part), device);
  m_nccl->allReduce(sum.span());
  Numbers scattered(std::vector<float>(part), device), whole(valuesOf(mine, all), device);
  m_nccl->reduceScatter(whole.span(), scattered.span());
  Numbers gathered(std::vector<float>(all), device), given(valuesOf(mine, part), device);
  m_nccl->allGather(given.raw(), gathered.raw());
  Numbers exchanged(std::vector<float>(all), device);
  m_nccl->allToAll(whole.raw(), exchanged.raw());
  Numbers told(valuesOf(mine, part), device);
  m_nccl->broadcast(told.raw(), p - 1);

  std::vector<double> sums(part), shares(part);
  for (int r = 0; r < p; ++r) {
    const std::vector<float> theirs = valuesOf(r, part), longer = valuesOf(r, all);
    const std::size_t at = static_cast<std::size_t>(r) * part;
    for (std::size_t i = 0; i < part; ++i) {
      sums[i] += theirs[i];
      shares[i] += longer[own + i];
    }
    EXPECT_TRUE(std::equal(theirs.begin(), theirs.end(), gathered.values().begin() + static_cast<std::ptrdiff_t>(at)));
    EXPECT_TRUE(std::equal(longer.begin() + static_cast<std::ptrdiff_t>(own),
                           longer.begin() + static_cast<std::ptrdiff_t>(own + part),
                           exchanged.values().begin() + static_cast<std::ptrdiff_t>(at)));
  }
  EXPECT_EQ(told.values(), valuesOf(p - 1, part));
  const std::vector<float> reduced = sum.values(), kept = scattered.values();
  for (std::size_t i = 0; i < part; ++i) {
    ASSERT_NEAR(reduced[i], sums[i], 1e-5) << i;
    ASSERT_NEAR(kept[i], shares[i], 1e-5) << i;
  }
  EXPECT_EQ(m_nccl->activity().entered, m_nccl->activity().left);
}

TEST_P(Nccl, SplitsAndSends) {
  const int mine = m_nccl->rank(), p = m_nccl->size();
  const auto half = m_nccl->split(mine % 2, -mine);
  EXPECT_EQ(half->size(), (p + 1 - mine % 2) / 2);
  Numbers highest({static_cast<float>(mine)}, GetParam());
  half->broadcast(highest.raw(), 0);  // keys fall with the rank: the highest is first
  EXPECT_EQ(static_cast<int>(highest.values()[0]), (p - 1 - mine % 2) / 2 * 2 + mine % 2);
  if (p == 1) return;
  Numbers message(valuesOf(mine, 70000), GetParam());
  if (mine == 0) m_nccl->send(message.raw(), 1, 5);
  if (mine == 1) {
    m_nccl->receive(message.raw(), 0, 5);
    EXPECT_EQ(message.values(), valuesOf(0, 70000));
  }
}

// What another library enqueued before is there, and what it enqueues behind comes after; begun anew and replayed.
TEST(NcclStreams, SumInTurnWithTheirStreamAndWithinAGraph) {
  const int count = gpus(), p = world->size();
  if (count == 0 || count < p) GTEST_SKIP() << count << " GPUs for " << p << " ranks";
  cudaSetDevice(count == 1 ? 0 : localRank);
  const auto ranks = openNcclStreams(*world, localRank);
  ASSERT_EQ(ranks->ranks(), p);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  {
    const std::size_t sizes[] = {1001, 3};
    Numbers source(valuesOf(ranks->rank(), sizes[0]), true), large(std::vector<float>(sizes[0]), true),
        small(valuesOf(ranks->rank(), sizes[1]), true), seen(std::vector<float>(sizes[0]), true);
    RankExchange sum{.kind = RankExchange::Kind::allReduce, .partner = 0, .parts = {}};
    for (Numbers* one : {&large, &small})
      sum.parts.push_back({one->raw().data(), one->raw().data(), one->raw().size()});
    const auto work = [&] {
      const auto copy = [&](Numbers& to, Numbers& from) {
        EXPECT_EQ(cudaMemcpyAsync(to.raw().data(), from.raw().data(), to.raw().size(), cudaMemcpyDefault, stream),
                  cudaSuccess);
      };
      copy(large, source);
      ranks->begin(sum, stream);
      copy(seen, large);
    };
    work();
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    work();
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphExec_t repeated = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&repeated, graph, 0), cudaSuccess);
    for (int k = 0; k < 3; ++k) EXPECT_EQ(cudaGraphLaunch(repeated, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    const std::vector<float> found = seen.values(), often = small.values();
    for (std::size_t i = 0; i < found.size(); ++i) {
      double expected = 0;
      for (int r = 0; r < p; ++r) expected += valuesOf(r, sizes[0])[i];
      ASSERT_NEAR(found[i], expected, 1e-5) << i;
    }
    double expected = 0;  // summed four times in place
    for (int r = 0; r < p; ++r) expected += valuesOf(r, sizes[1])[2] * p * p * p;
    EXPECT_NEAR(often[2], expected, 1e-4 * p * p * p * p);
    cudaGraphExecDestroy(repeated);
    cudaGraphDestroy(graph);
  }
  cudaStreamDestroy(stream);
}

// With fewer GPUs than ranks: the same words on every rank, and nobody waits for anybody.
TEST(NcclRefusal, IsTheSameOnEveryRank) {
  const int count = gpus();
  if (count >= world->size()) GTEST_SKIP() << count << " GPUs are enough for " << world->size() << " ranks";
  std::string said = "no error";
  try {
    openNccl(*world, localRank);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    said = error.what();
  }
  if (world->rank() == 0) std::printf("refused: %s\n", said.c_str());
  EXPECT_THAT(said, HasSubstr(count == 0 ? "cannot use NCCL: " : count == 1 ? "would both use GPU" : "start at most"));
  for (const std::string& other : allGatherTexts(*world, said)) EXPECT_EQ(other, said);
}

}  // namespace
}  // namespace loom

int main(int count, char** arguments) {
  const loom::Launch launch = loom::launchOfEnvironment();
  try {
    const auto communicator = launch.launched ? loom::openMpi(launch) : loom::makeSelfCommunicator();
    loom::world = communicator.get();
    loom::localRank = launch.localRank;
    for (int i = 1; launch.rank > 0 && i < count; ++i)  // the report is rank 0's
      if (std::string_view(arguments[i]).starts_with("--gtest_output"))
        arguments[i] = const_cast<char*>("--gtest_brief=1");
    testing::InitGoogleTest(&count, arguments);
    const int verdict = RUN_ALL_TESTS();
    if (verdict != 0) communicator->abort(verdict);
    return verdict;
  } catch (const loom::Error& error) {
    std::fprintf(stderr, "rank %d: %s\n", launch.rank, error.what());
    return 1;
  }
}

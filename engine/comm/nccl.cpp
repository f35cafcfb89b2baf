#include "engine/comm/nccl.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <optional>
#include <thread>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/host.h"
#include "engine/base/module.h"
#include "engine/base/waiting.h"
#include "engine/comm/nccl_functions.h"

namespace loom {
namespace {

// Empty functions and a fault where the module cannot be opened.
struct Module {
  const LoomNcclFunctions* functions = nullptr;
  std::string fault;
};

Module openModule() {
  const std::filesystem::path path = ncclModule();
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return {nullptr, fmt::format("NCCL cannot be opened: {}. Install it (libnccl2) with the NVIDIA driver, or name the "
                                 "module in GRADLOOM_NCCL_MODULE",
                                 ::dlerror())};
  const auto entry = reinterpret_cast<LoomNcclEntry>(::dlsym(handle, kLoomNcclEntryName));
  const LoomNcclFunctions* functions = entry ? entry() : nullptr;
  if (!functions || functions->version != kLoomNcclVersion)
    return {nullptr, fmt::format("{} is not the NCCL module of this version of Gradloom", path.string())};
  return {functions, {}};
}

std::string explained(const LoomNcclFunctions& calls, int code, void* group = nullptr) {
  char text[512] = "";
  calls.explain(code, group, text, sizeof text);
  return text;
}

// A process that its launcher shows a single GPU has that one; else the GPU of its place on the host.
NcclPlace placeOf(const Module& module, int localRank, int& device) {
  NcclPlace place{.host = hostName(), .gpu = {}, .fault = module.fault};
  if (!module.functions) return place;
  const LoomNcclFunctions& calls = *module.functions;
  int count = 0;
  if (const int code = calls.devices(&count)) {
    place.fault = "cudaGetDeviceCount: " + explained(calls, code);
  } else if (count == 0) {
    place.fault = "it has no GPU";
  } else if (count > 1 && localRank >= count) {
    place.fault = fmt::format(
        "it is rank {} of this host, counted from 0, but there are {} GPUs: start at most {} "
        "ranks here",
        localRank, count, count);
  } else {
    device = count == 1 ? 0 : localRank;
    char text[320] = "";
    if (const int wrong = calls.describe(device, text, sizeof text))
      place.fault = fmt::format("cudaGetDeviceProperties of GPU {}: {}", device, explained(calls, wrong));
    place.gpu = text;
  }
  return place;
}

// Device memory that takes the place of the host's; grows to what a call needs and stays.
class Staging {
 public:
  Staging(const LoomNcclFunctions& calls, void* group) : m_calls(calls), m_group(group) {}
  ~Staging() {
    if (m_data) m_calls.deallocate(m_group, m_data);
  }
  Staging(const Staging&) = delete;
  int reserve(std::size_t bytes) {
    if (bytes <= m_bytes) return 0;
    if (m_data) m_calls.deallocate(m_group, std::exchange(m_data, nullptr));
    m_bytes = 0;
    const int code = m_calls.allocate(m_group, bytes, &m_data);
    if (code == 0) m_bytes = bytes;
    return code;
  }
  std::byte* data() const { return static_cast<std::byte*>(m_data); }

 private:
  const LoomNcclFunctions& m_calls;
  void* m_group;
  void* m_data = nullptr;
  std::size_t m_bytes = 0;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(const LoomNcclFunctions& calls, void* group, Communicator& ranks,
                   std::shared_ptr<CollectiveActivity> activity)
      : Communicator(std::move(activity)),
        m_calls(calls),
        m_group(group),
        m_ranks(ranks),
        m_staging(std::in_place, calls, group) {
    m_calls.rank(m_group, &m_rank);
    m_calls.size(m_group, &m_size);
  }
  ~NcclCommunicator() override {
    if (!m_group) return;
    m_staging.reset();
    m_broken ? m_calls.abort(m_group) : m_calls.release(m_group);
  }

  int rank() const override { return m_rank; }
  int size() const override { return m_size; }
  std::string name() const override {
    int version = 0;
    m_calls.library(&version);
    return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  }

  std::unique_ptr<Communicator> split(int color, int key) override {
    void* made = nullptr;
    check(m_calls.split(m_group, color, key, &made), "ncclCommSplit");
    return std::make_unique<NcclCommunicator>(m_calls, made, m_ranks, m_activity);
  }

  void allReduce(std::span<float> data) override {
    Side side{data.data(), data.data(), data.size_bytes()};
    run("all-reduce", "ncclAllReduce", side, {},
        [&](void* at, void*) { return begin(Kind::allReduce, 0, at, at, data.size_bytes()); });
  }
  void reduceScatter(std::span<const float> data, std::span<float> part) override {
    parts("reduce-scatter", data.size(), part.size());
    run("reduce-scatter", "ncclReduceScatter", reading(std::as_bytes(data)), writing(std::as_writable_bytes(part)),
        [&](void* from, void* to) { return begin(Kind::reduceScatter, 0, from, to, part.size_bytes()); });
  }
  void allGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    parts("all-gather", all.size(), mine.size());
    run("all-gather", "ncclAllGather", reading(mine), writing(all),
        [&](void* from, void* to) { return begin(Kind::allGather, 0, from, to, mine.size()); });
  }
  void allToAll(std::span<const std::byte> sent, std::span<std::byte> received) override {
    const std::size_t part = sent.size() / static_cast<std::size_t>(m_size);
    parts("all-to-all", sent.size(), part);
    parts("all-to-all", received.size(), part);
    run("all-to-all", "ncclSend and ncclRecv", reading(sent), writing(received),
        [&](void* from, void* to) { return m_calls.allToAll(m_group, from, to, part); });
  }
  void broadcast(std::span<std::byte> data, int root) override {
    Side side{data.data(), data.data(), data.size()};
    run("broadcast", "ncclBroadcast", side, {},
        [&](void* at, void*) { return begin(Kind::broadcast, root, at, at, data.size()); });
  }
  void send(std::span<const std::byte> data, int to, int) override {
    run("send", "ncclSend", reading(data), {},
        [&](void* at, void*) { return begin(Kind::send, to, at, nullptr, data.size()); });
  }
  void receive(std::span<std::byte> data, int from, int) override {
    run("receive", "ncclRecv", {}, writing(data),
        [&](void*, void* at) { return begin(Kind::receive, from, nullptr, at, data.size()); });
  }
  void abort(int exitCode) override {
    m_staging.reset();
    m_calls.abort(std::exchange(m_group, nullptr));
    m_ranks.abort(exitCode);
  }

 private:
  using Kind = RankExchange::Kind;
  int begin(Kind kind, int partner, const void* from, void* to, std::size_t bytes) {
    const RankExchange::Part part{static_cast<const std::byte*>(from), static_cast<std::byte*>(to), bytes};
    return m_calls.begin(m_group, kind, partner, &part, 1, nullptr);
  }

  // One argument of a call: where its bytes come from before it and go to behind it, null for neither.
  struct Side {
    const void* from = nullptr;
    void* to = nullptr;
    std::size_t bytes = 0;
    void* device = nullptr;
  };
  static Side reading(std::span<const std::byte> data) { return {data.data(), nullptr, data.size()}; }
  static Side writing(std::span<std::byte> data) { return {nullptr, data.data(), data.size()}; }

  void check(int code, const char* call) {
    if (code == 0) return;
    m_broken = true;
    throwError(ErrorCode::communication, "{} on rank {} of {} ({}): {}", call, m_rank, m_size, name(),
               explained(m_calls, code, m_group));
  }
  void parts(const char* what, std::size_t whole, std::size_t part) const {
    if (whole != part * static_cast<std::size_t>(m_size))
      throwError(ErrorCode::internal, "{}: {} ranks with {} each make no {}", what, m_size, part, whole);
  }

  bool onDevice(const void* data) {
    int yes = 0;
    check(m_calls.isOnDevice(data, &yes), "cudaPointerGetAttributes");
    return yes != 0;
  }

  template <class Begin>
  void run(const char* what, const char* call, Side a, Side b, const Begin& begin) {
    if (a.bytes + b.bytes == 0) return;
    m_activity->during(what, [&] { runEntered(call, a, b, begin); });
  }

  template <class Begin>
  void runEntered(const char* call, Side a, Side b, const Begin& begin) {
    constexpr std::size_t kAlignment = 256;
    const std::size_t second = (a.bytes + kAlignment - 1) / kAlignment * kAlignment;
    std::size_t staged = 0;
    for (Side* side : {&a, &b}) {
      void* given = side->to ? side->to : const_cast<void*>(side->from);
      if (side->bytes == 0) continue;
      if (onDevice(given))
        side->device = given;
      else
        staged = second + b.bytes;
    }
    check(m_staging->reserve(staged), "cudaMalloc");
    if (a.bytes && !a.device) stage(a, m_staging->data());
    if (b.bytes && !b.device) stage(b, m_staging->data() + second);
    check(begin(a.device, b.device), call);
    for (const Side* side : {&a, &b})
      if (side->to && side->device != side->to)
        check(m_calls.copy(m_group, side->to, side->device, side->bytes), "cudaMemcpyAsync");
    waitFor([&] {
      int done = 0;
      check(m_calls.test(m_group, &done), call);
      return done != 0;
    });
  }

  void stage(Side& side, void* at) {
    side.device = at;
    if (side.from) check(m_calls.copy(m_group, at, side.from, side.bytes), "cudaMemcpyAsync");
  }

  const LoomNcclFunctions& m_calls;
  void* m_group;
  Communicator& m_ranks;
  std::optional<Staging> m_staging;
  int m_rank = 0, m_size = 1;
  bool m_broken = false;  // nothing more may be expected of the other ranks
};

class NcclStreams final : public StreamRanks {
 public:
  NcclStreams(const LoomNcclFunctions& calls, void* group) : m_calls(calls), m_group(group) {
    m_calls.rank(m_group, &m_rank);
    m_calls.size(m_group, &m_size);
  }
  ~NcclStreams() override {
    if (m_group != nullptr) m_calls.release(m_group);
  }
  int rank() const override { return m_rank; }
  int ranks() const override { return m_size; }
  void begin(const RankExchange& what, void* stream) override {
    if (m_group == nullptr)
      throwError(ErrorCode::communication, "{} by NCCL on rank {} of {}: its ranks have come apart before",
                 toString(what.kind), m_rank, m_size);
    check(m_calls.begin(m_group, what.kind, what.partner, what.parts.data(), what.parts.size(), stream),
          toString(what.kind));
  }
  void expectAlive() override {
    if (m_group != nullptr) check(m_calls.state(m_group), "an exchange");
  }

 private:
  // Nothing more may be expected of the other ranks then: what is under way is ended, so that nobody waits for it. By a
  // thread of its own: NCCL ends kernels at once, but then waits until the graphs are gone that hold its exchanges, and
  // those are this thread's.
  void check(int code, std::string_view what) {
    if (code == 0) return;
    const std::string words = explained(m_calls, code, m_group);
    std::thread([abort = m_calls.abort, group = std::exchange(m_group, nullptr)] { abort(group); }).detach();
    throwError(ErrorCode::communication, "{} by NCCL on rank {} of {}: {}", what, m_rank, m_size, words);
  }

  const LoomNcclFunctions& m_calls;
  void* m_group;  // null once the ranks have come apart
  int m_rank = 0, m_size = 1;
};

struct Joined {
  const LoomNcclFunctions& calls;
  void* group;
};

// By all ranks together.
Joined join(Communicator& ranks, int localRank) {
  const Module module = openModule();
  int device = 0;
  const NcclPlace mine = placeOf(module, localRank, device);
  const std::vector<std::string> hosts = allGatherTexts(ranks, mine.host), gpus = allGatherTexts(ranks, mine.gpu),
                                 faults = allGatherTexts(ranks, mine.fault);
  std::vector<NcclPlace> places;
  for (std::size_t r = 0; r < hosts.size(); ++r) places.push_back({hosts[r], gpus[r], faults[r]});
  if (const std::string fault = faultOf(places); !fault.empty()) throw Error(ErrorCode::device, fault);

  const LoomNcclFunctions& calls = *module.functions;
  LoomNcclId id{};
  const int code = ranks.rank() == 0 ? calls.newId(&id) : 0;
  const std::string refused = broadcastText(ranks, code ? "ncclGetUniqueId on rank 0: " + explained(calls, code) : "");
  if (!refused.empty()) throw Error(ErrorCode::communication, refused);
  ranks.broadcast(std::as_writable_bytes(std::span(id.bytes)), 0);
  void* group = nullptr;
  const int opened = calls.open(&id, ranks.size(), ranks.rank(), device, &group);
  const std::vector<std::string> outcomes = allGatherTexts(ranks, opened ? explained(calls, opened) : "");
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    if (outcomes[r].empty()) continue;
    if (group) calls.abort(group);
    throwError(ErrorCode::communication, "ncclCommInitRank on rank {} of {} on {}: {}", r, ranks.size(), hosts[r],
               outcomes[r]);
  }
  return {calls, group};
}

}  // namespace

std::filesystem::path ncclModule() {
  return moduleNamed("loom_nccl.so", "GRADLOOM_NCCL_MODULE");
}

std::string faultOf(const std::vector<NcclPlace>& byRank) {
  for (std::size_t r = 0; r < byRank.size(); ++r)
    if (!byRank[r].fault.empty())
      return fmt::format("rank {} on {} cannot use NCCL: {}", r, byRank[r].host, byRank[r].fault);
  for (std::size_t r = 0; r < byRank.size(); ++r)
    for (std::size_t other = 0; other < r; ++other)
      if (byRank[r].host == byRank[other].host && byRank[r].gpu == byRank[other].gpu)
        return fmt::format(
            "ranks {} and {} on {} would both use GPU {}, but NCCL needs a GPU for each rank: start as "
            "many ranks on a host as it has GPUs",
            other, r, byRank[r].host, byRank[r].gpu);
  return {};
}

std::unique_ptr<Communicator> openNccl(Communicator& ranks, int localRank) {
  const Joined made = join(ranks, localRank);
  return std::make_unique<NcclCommunicator>(made.calls, made.group, ranks, ranks.sharedActivity());
}

std::shared_ptr<StreamRanks> openNcclStreams(Communicator& ranks, int localRank) {
  const Joined made = join(ranks, localRank);
  return std::make_shared<NcclStreams>(made.calls, made.group);
}

}  // namespace loom

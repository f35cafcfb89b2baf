#include "engine/comm/open_mpi.h"

#include <dlfcn.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/module.h"
#include "engine/base/waiting.h"
#include "engine/comm/mpi_functions.h"
#include "engine/comm/reductions/host_reduction.h"
#include "engine/comm/reductions/messages.h"

namespace loom {
namespace {

// MPI for as long as any group lives. MPI allows one thread in it at a time.
class Library {
 public:
  explicit Library(const std::filesystem::path& module) {
    void* handle = ::dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);  // global: MPI's own plug-ins look for its symbols
    if (!handle)
      throwError(ErrorCode::communication,
                 "this process is one of several ranks, but Open MPI cannot be opened: {}. Install it (Debian: "
                 "openmpi-bin) or name "
                 "the module in GRADLOOM_MPI_MODULE",
                 ::dlerror());
    const auto entry = reinterpret_cast<LoomMpiEntry>(::dlsym(handle, kLoomMpiEntryName));
    functions = entry ? entry() : nullptr;
    if (!functions || functions->version != kLoomMpiVersion)
      throwError(ErrorCode::communication, "{} is not the MPI module of this version of Gradloom", module.string());
    int threads = 0;
    check(functions->initialise(&threads), "start");
    if (!threads)
      throwError(ErrorCode::communication,
                 "this Open MPI allows no calls from a second thread; one that was built with MPI_THREAD_SERIALIZED is "
                 "needed");
  }
  ~Library() { functions->finalise(); }

  void check(int code, const char* what) const {
    if (code == 0) return;
    char text[256] = "";
    functions->explain(code, text, sizeof text);
    throwError(ErrorCode::communication, "MPI cannot {}: {}", what, text);
  }

  const LoomMpiFunctions* functions = nullptr;
  std::mutex mutex;
};

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(std::shared_ptr<Library> library, void* group, bool owned,
                  std::shared_ptr<CollectiveActivity> activity)
      : Communicator(std::move(activity)), m_library(std::move(library)), m_group(group), m_owned(owned) {
    m_library->check(calls().rank(m_group, &m_rank), "tell the rank");
    m_library->check(calls().size(m_group, &m_size), "tell the number of ranks");
  }
  ~MpiCommunicator() override {
    m_onHost.reset();
    const std::lock_guard lock(m_library->mutex);
    if (m_owned) calls().release(m_group);
  }

  int rank() const override { return m_rank; }
  int size() const override { return m_size; }
  std::string name() const override {
    char text[256] = "";
    calls().library(text, sizeof text);
    const std::string whole = text;
    return whole.substr(0, whole.find(',')) + (m_onHost ? " and shared memory" : "");
  }

  std::unique_ptr<Communicator> split(int color, int key) override {
    const std::lock_guard lock(m_library->mutex);
    void* made = nullptr;
    m_library->check(calls().split(m_group, color, key, &made), "split the ranks");
    return std::make_unique<MpiCommunicator>(m_library, made, true, m_activity);
  }

  // By all ranks together, once.
  void shareMemory() { m_onHost = HostReduction::make(*this); }

  void allReduce(std::span<float> data) override {
    while (!data.empty()) {  // counts are ints
      const auto part = data.first(std::min<std::size_t>(data.size(), kMost / sizeof(float)));
      run("all-reduce", [&](LoomMpiRequest* request) {
        return calls().allReduce(m_group, part.data(), static_cast<int>(part.size()), request);
      });
      data = data.subspan(part.size());
    }
  }
  void sumInParts(std::span<float> data) override {
    if (!sendsParts(data.size_bytes())) return allReduce(data);
    m_activity->during("all-reduce", [&] {
      while (!data.empty()) {
        const auto piece = data.first(std::min(data.size(), kMost / sizeof(float)));
        ringAllReduce(*this, piece, roomFor(piece.size() / static_cast<std::size_t>(m_size) + 1));
        data = data.subspan(piece.size());
      }
    });
  }
  void reduceScatter(std::span<const float> data, std::span<float> part) override {
    parts("reduce-scatter", data.size(), part.size());
    if (sendsParts(data.size_bytes())) {
      m_activity->during("reduce-scatter", [&] { pairwiseReduceScatter(*this, data, part, roomFor(part.size())); });
      return;
    }
    run("reduce-scatter", [&](LoomMpiRequest* request) {
      return calls().reduceScatter(m_group, data.data(), part.data(), count(part.size_bytes()) / 4, request);
    });
  }
  void allGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    parts("all-gather", all.size(), mine.size());
    if (m_size > 1 && mine.size() > kPiece) return gatherParts(mine, all);
    run("all-gather", [&](LoomMpiRequest* request) {
      return calls().allGather(m_group, mine.data(), all.data(), count(mine.size()), request);
    });
  }
  void allToAll(std::span<const std::byte> sent, std::span<std::byte> received) override {
    const std::size_t part = sent.size() / static_cast<std::size_t>(m_size);
    parts("all-to-all", sent.size(), part);
    parts("all-to-all", received.size(), part);
    run("all-to-all", [&](LoomMpiRequest* request) {
      return calls().allToAll(m_group, sent.data(), received.data(), count(part), request);
    });
  }
  void broadcast(std::span<std::byte> data, int root) override {
    while (!data.empty()) {
      const auto part = data.first(std::min(data.size(), kMost));
      run("broadcast", [&](LoomMpiRequest* request) {
        return calls().broadcast(m_group, part.data(), static_cast<int>(part.size()), root, request);
      });
      data = data.subspan(part.size());
    }
  }
  void send(std::span<const std::byte> data, int to, int tag) override {
    m_activity->during("send", [&] { pass(data, to, {}, 0, tag, "send"); });
  }
  void receive(std::span<std::byte> data, int from, int tag) override {
    m_activity->during("receive", [&] { pass({}, 0, data, from, tag, "receive"); });
  }
  void exchange(std::span<const std::byte> sent, int to, std::span<std::byte> received, int from, int tag) override {
    m_activity->during("send and receive", [&] { pass(sent, to, received, from, tag, "send and receive"); });
  }
  HostReduction* onHost() override { return m_onHost.get(); }
  void abort(int exitCode) override {
    calls().abort(m_group, exitCode);
    std::_Exit(exitCode);
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 30;  // bytes of one call
  // Open MPI's non-blocking sums in place and reduce-scatters are trees that send all that there is at every level: two
  // and three times what equal parts need on two ranks, more on more. That pays for small messages alone.
  static constexpr std::size_t kLeastPart = std::size_t{1} << 12;  // bytes of one rank's part
  // Below what Open MPI sends over TCP at once (64 KiB with its header), and how many go at the same time.
  static constexpr std::size_t kPiece = 60 << 10, kPieces = 16;

  const LoomMpiFunctions& calls() const { return *m_library->functions; }

  static int count(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(INT_MAX))
      throwError(ErrorCode::internal, "{} bytes for one rank are more than the {} of one message", bytes, INT_MAX);
    return static_cast<int>(bytes);
  }
  void parts(const char* what, std::size_t whole, std::size_t part) const {
    if (whole != part * static_cast<std::size_t>(m_size))
      throwError(ErrorCode::internal, "{}: {} ranks with {} each make no {}", what, m_size, part, whole);
  }

  // Nothing is no message: both sides know the size.
  static std::size_t piecesOf(std::size_t bytes) { return (bytes + kPiece - 1) / kPiece; }
  void gatherParts(std::span<const std::byte> mine, std::span<std::byte> all) {
    m_activity->during("all-gather", [&] {
      const auto of = [&](int rank) { return all.subspan(static_cast<std::size_t>(rank) * mine.size(), mine.size()); };
      if (of(m_rank).data() != mine.data()) std::copy(mine.begin(), mine.end(), of(m_rank).begin());
      for (int step = 1; step < m_size; ++step) {
        const int from = (m_rank - step + m_size) % m_size;
        pass(mine, (m_rank + step) % m_size, of(from), from, kReductionTag, "all-gather");
      }
    });
  }
  bool sendsParts(std::size_t bytes) const {
    return m_size > 1 && bytes / static_cast<std::size_t>(m_size) >= kLeastPart;
  }
  std::span<float> roomFor(std::size_t floats) {
    if (m_received.size() < floats) m_received.resize(floats);
    return std::span(m_received).first(floats);
  }

  template <class Begin>
  void run(const char* what, const Begin& begin) {
    m_activity->during(what, [&] {
      LoomMpiRequest request{};
      {
        const std::lock_guard lock(m_library->mutex);
        m_library->check(begin(&request), what);
      }
      finish(request, what);
    });
  }

  // Messages piece by piece, some of them on their way at once. Over TCP a piece leaves without an answer; what is
  // larger Open MPI announces, and the answer stands behind all that goes the same way: of two ranks that send to each
  // other each would have half of a link that carries both ways at full speed.
  void pass(std::span<const std::byte> sent, int to, std::span<std::byte> received, int from, int tag,
            const char* what) {
    LoomMpiRequest requests[kPieces][2]{};
    bool begun[kPieces][2]{};
    const auto pieceOf = [](auto data, std::size_t i) {
      return data.subspan(i * kPiece).first(std::min(kPiece, data.size() - i * kPiece));
    };
    const std::size_t sends = piecesOf(sent.size()), receipts = piecesOf(received.size()),
                      all = std::max(sends, receipts);
    for (std::size_t i = 0; i < all + kPieces; ++i) {
      const std::size_t place = i % kPieces;
      for (const int way : {0, 1})
        if (std::exchange(begun[place][way], false)) finish(requests[place][way], what);
      if (i >= all) continue;
      const std::lock_guard lock(m_library->mutex);
      if (i < receipts) {
        const auto piece = pieceOf(received, i);
        m_library->check(
            calls().receive(m_group, piece.data(), static_cast<int>(piece.size()), from, tag, &requests[place][0]),
            what);
        begun[place][0] = true;
      }
      if (i < sends) {
        const auto piece = pieceOf(sent, i);
        m_library->check(
            calls().send(m_group, piece.data(), static_cast<int>(piece.size()), to, tag, &requests[place][1]), what);
        begun[place][1] = true;
      }
      m_activity->progress.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void finish(LoomMpiRequest& request, const char* what) {
    waitFor([&] {  // progress happens only in test()
      int done = 0;
      const std::lock_guard lock(m_library->mutex);
      m_library->check(calls().test(&request, &done), what);
      return done != 0;
    });
  }

  std::shared_ptr<Library> m_library;
  void* m_group;
  bool m_owned;
  int m_rank = 0, m_size = 1;
  std::vector<float> m_received;  // a part that came, of the largest sum so far
  std::unique_ptr<HostReduction> m_onHost;
};

std::string textIn(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

// Slurm's "2,4(x3)": tasks of each node, in their order; 1 where the text does not say.
int tasksOfNode(const std::string& text, int node) {
  const char* at = text.c_str();
  while (*at) {
    char* end = nullptr;
    const long tasks = std::strtol(at, &end, 10);
    long nodes = 1;
    if (end == at || tasks < 1 || tasks > INT_MAX) return 1;
    if (end[0] == '(' && end[1] == 'x') {
      nodes = std::strtol(end + 2, &end, 10);
      if (*end != ')') return 1;
      ++end;
    }
    if (node < nodes) return static_cast<int>(tasks);
    node -= static_cast<int>(nodes);
    if (*end != ',') return 1;
    at = end + 1;
  }
  return 1;
}

int numberIn(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 && value < INT_MAX ? static_cast<int>(value) : otherwise;
}

// Ranks of a launcher that this MPI does not belong to would each take themselves for the only one.
void refuseForeign() {
  constexpr const char* kRemedy =
      "so each rank would train by itself. Start them with Open MPI's mpirun, or under Slurm with srun --mpi=pmix (on "
      "a host, the setting mpirun names the program)";
  if (const int size = numberIn("PMI_SIZE", 1); size > 1)
    throwError(ErrorCode::communication,
               "this is rank {} of {} of an mpiexec of MPICH's family (MPICH, Intel MPI, Cray MPI), but this engine's "
               "MPI module is linked with Open MPI, {}",
               numberIn("PMI_RANK", 0), size, kRemedy);
  if (const int size = numberIn("SLURM_STEP_NUM_TASKS", 1); size > 1 && std::getenv("SLURM_STEP_ID"))
    throwError(ErrorCode::communication,
               "this is task {} of {} of an srun that offers no PMIx, by which Open MPI's ranks find each other, {}",
               numberIn("SLURM_PROCID", 0), size, kRemedy);
}

}  // namespace

Launch launchOfEnvironment() {
  Launch launch;
  if (std::getenv("OMPI_COMM_WORLD_SIZE")) {
    launch = {.launched = true,
              .rank = numberIn("OMPI_COMM_WORLD_RANK", 0),
              .size = numberIn("OMPI_COMM_WORLD_SIZE", 1),
              .localRank = numberIn("OMPI_COMM_WORLD_LOCAL_RANK", 0),
              .localSize = numberIn("OMPI_COMM_WORLD_LOCAL_SIZE", 1)};
  } else if (std::getenv("SLURM_PROCID") && (std::getenv("PMIX_RANK") || std::getenv("PMI_RANK"))) {
    launch = {.launched = true,
              .rank = numberIn("SLURM_PROCID", 0),
              .size = numberIn("SLURM_NTASKS", 1),
              .localRank = numberIn("SLURM_LOCALID", 0),
              .localSize = tasksOfNode(textIn("SLURM_STEP_TASKS_PER_NODE"), numberIn("SLURM_NODEID", 0))};
  } else {
    refuseForeign();
  }
  return launch;
}

std::filesystem::path mpiModule() {
  return moduleNamed("loom_mpi.so", "GRADLOOM_MPI_MODULE");
}

std::unique_ptr<Communicator> openMpi(const Launch& launch) {
  // Large messages of the library's own over TCP go in a stream, without a request for each fragment that would stand
  // behind the other way's data. What a person set stays.
  ::setenv("OMPI_MCA_btl_tcp_flags", "send,inplace,need-ack,need-csum,hetero-rdma", 0);
  auto library = std::make_shared<Library>(mpiModule());
  auto world = std::make_unique<MpiCommunicator>(library, library->functions->world(), false,
                                                 std::make_shared<CollectiveActivity>());
  if (world->size() != launch.size || world->rank() != launch.rank)
    throwError(ErrorCode::communication,
               "the launcher started rank {} of {}, but {} sees rank {} of {}: mpirun and the library that loom opens "
               "must be of one "
               "installation",
               launch.rank, launch.size, world->name(), world->rank(), world->size());
  if (const char* wanted = std::getenv("GRADLOOM_SHARED_MEMORY"); !wanted || std::string_view(wanted) != "0")
    world->shareMemory();
  return world;
}

}  // namespace loom

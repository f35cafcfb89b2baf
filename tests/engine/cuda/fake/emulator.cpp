#include "tests/engine/cuda/fake/emulator.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "engine/base/error.h"
#include "tests/engine/cuda/fake/device_language.h"
#include "tests/engine/cuda/fake/fiber.h"

namespace loom::cuda::emulator {
namespace {

constexpr unsigned kLanes = 32, kMostThreads = 1024, kMostWarps = kMostThreads / kLanes;

struct Thread {
  enum class State { fresh, ready, waiting, left };
  State state = State::fresh;
  Fiber* fiber = nullptr;
  Meeting meeting = Meeting::block;  // while it waits
  Place place{};
  uint3 index{};
};

struct Warp {
  unsigned lanes = 0, waiting = 0;  // those who wait for the warp
  unsigned exchanges[kLanes] = {};  // by lane
  std::array<std::array<std::uint64_t, kLanes>, 2> words;
};

// What runs: one kernel, one block.
struct Machine {
  const Run* run = nullptr;
  Body body = nullptr;
  const void* closure = nullptr;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  unsigned now = 0;                // the thread
  unsigned waiting = 0, left = 0;  // those who wait for the block, and who have ended
  unsigned yes = 0, counted[2] = {};
  unsigned barriers = 0;
  std::uint64_t block = 0;
  std::string failure;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber*> idle;
};
Machine machine;

std::string blockName() {
  return fmt::format("{}, block ({}, {}, {})", machine.run->kernel, blockIdx.x, blockIdx.y, blockIdx.z);
}

std::string nameOf(Place place) {
  const std::string_view file = place.file;
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), place.line);
}

std::string nameOf(const Thread& thread) {
  if (thread.state != Thread::State::waiting) return "has left";
  constexpr const char* kMeetings[] = {"the block's barrier", "the warp's barrier", "a shuffle or ballot"};
  return fmt::format("waits at {} in {}", kMeetings[static_cast<int>(thread.meeting)], nameOf(thread.place));
}

// All who wait for it go on.
void release(unsigned first, unsigned count) {
  for (unsigned i = first; i < first + count; ++i) machine.threads[i].state = Thread::State::ready;
}

void wait(Meeting meeting, Place place) {
  Thread& self = machine.threads[machine.now];
  self.state = Thread::State::waiting;
  self.meeting = meeting;
  self.place = place;
  if (meeting == Meeting::block)
    ++machine.waiting;
  else
    ++machine.warps[machine.now / kLanes].waiting;
  Fiber::leave(false);
}

void expectWholeWarp(unsigned mask) {
  const Warp& warp = machine.warps[machine.now / kLanes];
  if (mask != ~0u) fail(fmt::format("a warp meets under the mask {:#x}, but only whole warps may", mask));
  if (warp.lanes != kLanes)
    fail(fmt::format("a warp of {} lanes meets: a block that does so must have a multiple of 32 threads", warp.lanes));
}

// The first two that do not stand at the same place.
void expectOnePlace(unsigned first, unsigned count) {
  const Thread& one = machine.threads[first];
  for (unsigned i = first + 1; i < first + count; ++i) {
    const Thread& other = machine.threads[i];
    const bool waits = other.state == Thread::State::waiting;
    if (waits == (one.state == Thread::State::waiting) &&
        (!waits || (other.meeting == one.meeting && other.place.line == one.place.line &&
                    (other.place.file == one.place.file || std::string_view(other.place.file) == one.place.file))))
      continue;
    throwError(ErrorCode::internal, "{}: thread {} {}, but thread {} {}: all must meet at one place", blockName(),
               first, nameOf(one), i, nameOf(other));
  }
}

void threadMain() {
  machine.body(machine.closure);
  machine.threads[machine.now].state = Thread::State::left;
  ++machine.left;
  Fiber::leave(true);
}

void runThread(unsigned i) {
  Thread& thread = machine.threads[i];
  machine.now = i;
  threadIdx = thread.index;
  const bool fresh = thread.state == Thread::State::fresh;
  if (fresh) {
    if (machine.idle.empty()) {
      machine.fibers.push_back(std::make_unique<Fiber>());
      machine.idle.push_back(machine.fibers.back().get());
    }
    thread.fiber = machine.idle.back();
    machine.idle.pop_back();
    thread.fiber->begin(threadMain);
  } else {
    thread.fiber->resume();
  }
  if (!machine.failure.empty()) throw Error(ErrorCode::internal, machine.failure);
  if (thread.state == Thread::State::left) machine.idle.push_back(thread.fiber);
}

// As far as it can by itself.
void runWarp(unsigned w, unsigned turn) {
  Warp& warp = machine.warps[w];
  const unsigned first = w * kLanes;
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned k = 0; k < kLanes; ++k) {
      const unsigned lane = (machine.run->backwards ? kLanes - 1 - k : k) ^ turn;
      if (lane >= warp.lanes) continue;
      const Thread::State state = machine.threads[first + lane].state;
      if (state != Thread::State::fresh && state != Thread::State::ready) continue;
      runThread(first + lane);
      moved = true;
    }
    if (warp.waiting == 0) continue;
    expectOnePlace(first, warp.lanes);  // also who has left, or waits for the block
    warp.waiting = 0;
    release(first, warp.lanes);
    moved = true;
  }
}

void runBlock(const Launch& launch, std::uint64_t& random) {
  const unsigned count = static_cast<unsigned>(machine.threads.size());
  uint3 index{};
  for (Thread& thread : machine.threads) {
    thread = {.index = index};
    if (++index.x < launch.block.x) continue;
    index.x = 0;
    if (++index.y < launch.block.y) continue;
    index.y = 0;
    ++index.z;
  }
  for (unsigned w = 0; w < machine.warps.size(); ++w) {
    Warp& warp = machine.warps[w];
    warp.lanes = std::min(kLanes, count - w * kLanes);
    warp.waiting = 0;
    std::fill(std::begin(warp.exchanges), std::end(warp.exchanges), 0);
  }
  machine.waiting = machine.left = machine.yes = machine.barriers = 0;
  ++machine.block;

  const auto warps = static_cast<unsigned>(machine.warps.size());
  unsigned order[kMostWarps];
  std::iota(order, order + warps, 0);
  for (unsigned k = warps; k > 1; --k) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    std::swap(order[k - 1], order[(random >> 33) % k]);
  }
  const auto turn = static_cast<unsigned>(random >> 59);
  if (machine.run->backwards) std::reverse(order, order + warps);
  while (machine.left < count) {
    for (unsigned k = 0; k < warps; ++k) runWarp(order[k], turn);
    if (machine.waiting == 0) continue;
    expectOnePlace(0, count);
    machine.waiting = 0;
    machine.counted[machine.barriers++ % 2] = std::exchange(machine.yes, 0);
    release(0, count);
  }
}

void expectLaunch(const Launch& launch) {
  const Extent &grid = launch.grid, &block = launch.block;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > kMostThreads || block.z > 64)
    throwError(ErrorCode::internal, "{}: a block of {} x {} x {} threads, but 1 to {} can be, z at most 64",
               machine.run->kernel, block.x, block.y, block.z, kMostThreads);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffff || grid.y > 0xffff || grid.z > 0xffff)
    throwError(ErrorCode::internal, "{}: a grid of {} x {} x {} blocks, but 1 to 2147483647 x 65535 x 65535 can be",
               machine.run->kernel, grid.x, grid.y, grid.z);
}

// An address that is not there (null, or computed from what nobody has written), or an integer divided by zero, which a
// GPU does in silence. The thread that asked for it is left where it is.
extern "C" void onFault(int number) {
  if (!Fiber::isRunning()) {
    signal(number, SIG_DFL);  // not a kernel's: happens again, and ends the process
    return;
  }
  fail(number == SIGFPE ? "it divides an integer by zero" : "it reaches for an address that is not there");
}
class Faults {
 public:
  Faults() {
    struct sigaction action {};
    action.sa_handler = onFault;
    action.sa_flags = SA_NODEFER;  // it is never returned from
    sigaction(SIGSEGV, &action, &m_address);
    sigaction(SIGFPE, &action, &m_division);
  }
  ~Faults() {
    sigaction(SIGSEGV, &m_address, nullptr);
    sigaction(SIGFPE, &m_division, nullptr);
  }

 private:
  struct sigaction m_address {
  }, m_division{};
};

// What an exception left behind.
void reset() {
  machine.failure.clear();
  machine.idle.clear();
  for (const auto& fiber : machine.fibers) machine.idle.push_back(fiber.get());
}

}  // namespace

void run(const Launch& launch, const void* how, Body body, const void* closure) {
  machine.run = static_cast<const Run*>(how);
  expectLaunch(launch);
  reset();
  machine.body = body;
  machine.closure = closure;
  gridDim = {launch.grid.x, launch.grid.y, launch.grid.z};
  blockDim = {launch.block.x, launch.block.y, launch.block.z};
  const std::size_t threads = std::size_t{launch.block.x} * launch.block.y * launch.block.z;
  machine.threads.resize(threads);
  machine.warps.resize((threads + kLanes - 1) / kLanes);
  const Faults faults;
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  const std::uint64_t seed = machine.run->seed * 0x9e3779b97f4a7c15u;
  for (std::uint64_t k = 0; k < blocks; ++k) {
    const std::uint64_t place = ((machine.run->backwards ? blocks - 1 - k : k) + seed % blocks) % blocks;
    blockIdx = {static_cast<unsigned>(place % launch.grid.x),
                static_cast<unsigned>(place / launch.grid.x % launch.grid.y),
                static_cast<unsigned>(place / (std::uint64_t{launch.grid.x} * launch.grid.y))};
    std::uint64_t random = seed + place;  // the same in both directions
    runBlock(launch, random);
  }
}

void meet(Meeting meeting, unsigned mask, Place where) {
  if (Barriers* const barriers = machine.run->barriers) {
    const std::string name = nameOf(where);
    if (name == barriers->leftOut) return;
    barriers->met.insert(name);
  }
  if (meeting != Meeting::block) expectWholeWarp(mask);
  wait(meeting, where);
}

const std::uint64_t* exchange(std::uint64_t value, unsigned mask, Place where) {
  expectWholeWarp(mask);
  Warp& warp = machine.warps[machine.now / kLanes];
  auto& words = warp.words[warp.exchanges[machine.now % kLanes]++ % 2];
  words[machine.now % kLanes] = value;
  wait(Meeting::shuffle, where);
  return words.data();
}

int count(bool yes, Place where) {
  machine.yes += yes;
  const unsigned mine = machine.barriers;
  wait(Meeting::block, where);
  return static_cast<int>(machine.counted[mine % 2]);
}

unsigned lane() {
  return machine.now % kLanes;
}

std::uint64_t blockNumber() {
  return machine.block;
}

void fail(std::string&& what) {
  machine.failure = fmt::format("{}, thread {}: {}", blockName(), machine.now, what);
  std::string().swap(what);  // nobody returns to whoever owns it
  Fiber::leave(true);
  std::abort();
}

}  // namespace loom::cuda::emulator

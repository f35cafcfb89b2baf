#pragma once
// One GPU, as this room needs it. Behind it stands the module loom_cuda.so (module_device.h), or in tests a fake that
// runs late, in an order of its own, and checks (tests/engine/cuda/fake). One thread. Errors are Error(device) with
// what was asked, and what the vendor's library said.
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/cuda/calls.h"

namespace loom::cuda {

struct DeviceFacts {
  std::string name;           // "NVIDIA H200"
  int computeCapability = 0;  // 90 for 9.0
  int multiprocessors = 0;
  std::size_t memoryBytes = 0;  // of the device, all of it
  std::size_t freeBytes = 0;    // when it was asked
  std::string pci;              // where it is plugged in, "0000:3B:00.0"; empty where that is not known
};

// Bytes: where every buffer begins. Libraries want their workspaces so (cuBLASLt says it, and fails or reads elsewhere
// otherwise), and engines for well-aligned tensors are faster.
inline constexpr std::size_t kMemoryAlignment = 256;

// Work in one stream happens in order; between streams an event orders it.
enum class Stream { compute, upload, exchange };
inline constexpr int kStreams = 3;

// A GPU that answers nothing any more: what was asked of it broke it, and whatever is asked next fails with it.
struct DeviceLost : Error {
  explicit DeviceLost(std::string message) : Error(ErrorCode::device, std::move(message)) {}
};

// A moment in a stream. Made by the device, which it must not outlive.
struct Event {
  virtual ~Event() = default;
};
// Stages that were captured and are launched as one.
struct Graph {
  virtual ~Graph() = default;
};

class EngineChoice;

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceFacts facts() const = 0;

  // Aligned to kMemoryAlignment, of any content. Throws OutOfMemory with `what` it was for, its size, and what is free.
  virtual std::byte* allocate(std::size_t bytes, std::string_view what) = 0;
  virtual void release(std::byte* at) noexcept = 0;  // nothing that uses it may be under way
  // Memory of the host that copies go to and from without waiting.
  virtual std::byte* allocatePinned(std::size_t bytes) = 0;
  virtual void releasePinned(std::byte* at) noexcept = 0;

  // All of these begin and do not wait. `accesses` are all that the call reaches.
  virtual void enqueue(Stream stream, const Call& call, std::span<const Access> accesses, std::string_view origin) = 0;
  virtual void upload(Stream stream, const std::byte* pinned, std::byte* to, std::size_t bytes) = 0;
  virtual void download(Stream stream, const std::byte* from, std::byte* pinned, std::size_t bytes) = 0;

  virtual std::unique_ptr<Event> makeEvent() = 0;
  virtual void record(Stream stream, Event& event) = 0;
  virtual void wait(Stream stream,
                    const Event& event) = 0;         // the stream waits; one that was never recorded is an error
  virtual void synchronise(const Event& event) = 0;  // the host waits
  virtual void synchronise(Stream stream) = 0;

  // What is enqueued between, on this stream and on those that wait for it and are waited for again, is kept instead of
  // run. No allocation, no query, no synchronisation of these streams meanwhile.
  virtual void beginCapture(Stream stream) = 0;
  virtual std::unique_ptr<Graph> endCapture(Stream stream) = 0;
  virtual void launch(const Graph& graph, Stream stream) = 0;
  // False where every call shall be enqueued by itself in every step, to be told by name.
  virtual bool captures() const { return true; }

  // The first candidate whose workspace is within the limit. Throws Error(device) with the library's own words.
  virtual std::shared_ptr<const DnnPlan> plan(const DnnGraph& graph, std::size_t workspaceLimit) = 0;

  // How ways to compute the same are told apart; null where the first that there is shall be taken. Of the device.
  struct Timing {
    EngineChoice& choice;
    std::function<double(const Graph&)> seconds;  // of one launch, of several; nothing else may be under way
  };
  virtual const Timing* timing() { return nullptr; }
};

}  // namespace loom::cuda

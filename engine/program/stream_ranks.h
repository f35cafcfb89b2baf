#pragma once
// Ranks with a device each: what they exchange goes from the memory of one device to that of the others and is in turn
// with what else a stream does, so the host need not wait for it and a step may be captured whole.
#include <cstddef>
#include <string_view>
#include <vector>

namespace loom {

// One exchange, as a value. Sums are of f32; all else carries bytes. Several parts are as many exchanges begun at once.
struct RankExchange {
  enum class Kind { allReduce, allGather, reduceScatter, broadcast, reduce, send, receive };
  struct Part {
    const std::byte* from = nullptr;  // null: receive
    std::byte* to = nullptr;          // null: send. `from` again where it is done in place (allReduce)
    std::size_t bytes = 0;  // what one rank gives to allGather, what one gets of reduceScatter; else of either
  };
  Kind kind = Kind::allReduce;
  int partner = 0;  // broadcast, reduce: the root, which alone gets the sum; send, receive: the other rank
  std::vector<Part> parts;
  int tag = 0;  // of a message between two ranks, where the library knows tags
};
std::string_view toString(RankExchange::Kind kind);

class StreamRanks {
 public:
  // Nothing may be under way; graphs that hold its exchanges must have ended.
  virtual ~StreamRanks() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  // `stream`: the driver's handle of a stream of this rank's device. All ranks begin the same in the same order; it is
  // captured, or launched as part of a graph that was, on all of them or on none. Throws Error(communication).
  virtual void begin(const RankExchange& what, void* stream) = 0;
  // Asked again and again by whoever waits for such a stream, which waits for ever where another rank is gone: throws
  // Error(communication) once the library knows of it. What is under way then ends, with any content, and nothing more
  // can begin.
  virtual void expectAlive() {}
};

}  // namespace loom

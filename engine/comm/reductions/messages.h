#pragma once
// What rows of send and receive have in common.
#include <bit>
#include <cstdint>
#include <span>

#include "engine/comm/communicator.h"

namespace loom {

inline constexpr int kReductionTag = 20;  // of every message; those between two ranks keep their order

void addTo(std::span<float> sum, std::span<const float> values);      // sum + values
void addBehind(std::span<float> sum, std::span<const float> values);  // values + sum
void addLowerFirst(bool sumIsLower, std::span<float> sum, std::span<const float> values);

// Part i of n of `count` numbers begins here: parts differ by one number at most.
inline std::size_t partBegin(std::size_t count, int parts, int i) {
  return count * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts);
}
template <class T>
std::span<T> partOf(std::span<T> data, int parts, int first, int last) {
  const std::size_t begin = partBegin(data.size(), parts, first);
  return data.subspan(begin, partBegin(data.size(), parts, last) - begin);
}
inline std::int64_t partBytes(std::size_t count, int parts, int first, int last) {
  return 4 * static_cast<std::int64_t>(partBegin(count, parts, last) - partBegin(count, parts, first));
}

inline int doublings(int ranks) {  // ceil(log2)
  return ranks <= 1 ? 0 : std::bit_width(static_cast<unsigned>(ranks - 1));
}

inline void sendFloats(Communicator& ranks, std::span<const float> data, int to) {
  ranks.send(std::as_bytes(data), to, kReductionTag);
}
inline void receiveFloats(Communicator& ranks, std::span<float> data, int from) {
  ranks.receive(std::as_writable_bytes(data), from, kReductionTag);
}
inline void exchangeFloats(Communicator& ranks, std::span<const float> sent, int to, std::span<float> received,
                           int from) {
  ranks.exchange(std::as_bytes(sent), to, std::as_writable_bytes(received), from, kReductionTag);
}

// Equal parts go round, are added on their way, and go round once more as sums: 2(p - 1) messages and 2S(p - 1)/p bytes
// a rank. `received` has room for count / p + 1 numbers. By all ranks; every rank ends with the same bits.
void ringAllReduce(Communicator& ranks, std::span<float> sum, std::span<float> received);
// Part r of `data`, added up over all ranks, is `part` of rank r: each rank gives each other one its part, p - 1
// messages and S(p - 1)/p bytes. `received` has room for a part.
void pairwiseReduceScatter(Communicator& ranks, std::span<const float> data, std::span<float> part,
                           std::span<float> received);

// Where ranks are no power of two: the first 2 r pair, each odd one gives its numbers to the even one and waits, and
// the rest, a power of two, go on under numbers without gaps.
struct Folded {
  explicit Folded(int ranks)
      : core(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))), pairs(ranks - core) {}
  int core, pairs;
  int rounds() const { return doublings(core); }
  int steps() const { return pairs > 0 ? 2 : 0; }  // of giving and taking back
  bool waits(int rank) const { return rank < 2 * pairs && rank % 2 == 1; }
  int number(int rank) const { return rank < 2 * pairs ? rank / 2 : rank - pairs; }
  int rankOf(int number) const { return number < pairs ? 2 * number : number + pairs; }

  // Calls `among` on the ranks that go on, with the others' numbers added; the others end with its result.
  template <class Among>
  void run(Communicator& ranks, std::span<float> data, std::span<float> scratch, const Among& among) const {
    const int rank = ranks.rank();
    if (waits(rank)) {
      sendFloats(ranks, data, rank - 1);
      receiveFloats(ranks, data, rank - 1);
      return;
    }
    const bool paired = rank < 2 * pairs;
    if (paired) {
      receiveFloats(ranks, scratch.first(data.size()), rank + 1);
      addTo(data, scratch.first(data.size()));
    }
    among(number(rank));
    if (paired) sendFloats(ranks, data, rank + 1);
  }
};

}  // namespace loom

// The direct exchange: an all-to-all brings each rank its part of all gradients, it adds them in the order of ranks in
// f32, and an all-gather spreads the sums. The one that 16-bit wires take, since nothing is added on the way.
#include <algorithm>

#include "engine/comm/communicator.h"
#include "engine/comm/reductions/collectives.h"
#include "engine/comm/reductions/messages.h"
#include "engine/comm/reductions/scattered.h"

namespace loom {
namespace {

// 16 bits: virtual ranks are rounded one by one, as each rank's gradient is on the wire.
class Rounded final : public Reduction {
 public:
  Rounded(Communicator& ranks, const ReductionShape& most)
      : m_wire(most.wire),
        m_alone(ranks.size() == 1),
        m_virtual(most.shards > ranks.size()),
        m_reduction(ranks, most.wire, most.floats) {}
  bool addsShards() const override { return m_virtual; }
  void add(int, TensorSpans values, std::span<float> sum) override {
    m_sizes.clear();
    for (const std::span<float> tensor : values) {
      addRounded(m_wire, tensor, sum.first(tensor.size()), m_words);
      sum = sum.subspan(tensor.size());
      m_sizes.push_back(tensor.size());
    }
  }
  void finish(std::span<float> sum) override {
    if (!m_alone) return m_reduction.run(sum);
    for (const std::size_t size : m_sizes) {  // a tensor's block has a scale of its own
      roundTo(m_wire, sum.first(size), m_words);
      sum = sum.subspan(size);
    }
  }

 private:
  Wire m_wire;
  bool m_alone, m_virtual;
  WireReduction m_reduction;
  std::vector<std::uint16_t> m_words;
  std::vector<std::size_t> m_sizes;
};

class Direct final : public Reduction, public Scattering {
 public:
  Direct(Communicator& ranks, const ReductionShape& most)
      : m_ranks(ranks), m_sent(padded(most.floats, ranks.size())), m_received(m_sent.size()) {}
  void scatter(OwnedParts parts) override {
    m_parts = std::move(parts);
    m_received.resize(static_cast<std::size_t>(m_ranks.size()) * m_parts.of(m_ranks.rank()));
  }
  void finish(std::span<float> sum) override {
    const auto ranks = static_cast<std::size_t>(m_ranks.size());
    if (ranks == 1) return;
    if (!m_parts.empty()) return finishOwn(sum);
    const std::size_t whole = padded(sum.size(), m_ranks.size()), part = whole / ranks;
    const std::span<float> sent = std::span(m_sent).first(whole), received = std::span(m_received).first(whole);
    std::fill(std::copy(sum.begin(), sum.end(), sent.begin()), sent.end(), 0.0f);
    m_ranks.allToAll(std::as_bytes(sent), std::as_writable_bytes(received));
    const std::span<float> mine = received.first(part);
    for (std::size_t r = 1; r < ranks; ++r) addTo(mine, received.subspan(r * part, part));
    m_ranks.allGather(std::as_bytes(mine), std::as_writable_bytes(sent));
    std::copy_n(sent.begin(), sum.size(), sum.begin());
  }

 private:
  // In the order of ranks, too.
  void finishOwn(std::span<float> sum) {
    const int rank = m_ranks.rank();
    const std::size_t own = m_parts.of(rank);
    const auto from = [&](int other) {
      return std::span(m_received).subspan(static_cast<std::size_t>(other) * own, own);
    };
    m_parts.pack(rank, sum, from(rank));
    scatterRounds(
        m_ranks,
        [&](int to) {
          const std::span<float> sent = std::span(m_sent).first(m_parts.of(to));
          m_parts.pack(to, sum, sent);
          return sent;
        },
        from);
    for (int other = 1; other < m_ranks.size(); ++other) addTo(from(0), from(other));
    m_parts.unpack(rank, from(0), sum);
  }

  Communicator& m_ranks;
  OwnedParts m_parts;  // empty: all ranks need all
  std::vector<float> m_sent, m_received;
};

// A part on the wire: a block of 16 bits has a header.
std::int64_t directPart(const ReductionShape& shape) {
  const auto part = static_cast<std::int64_t>(padded(shape.floats, shape.ranks)) / shape.ranks;
  return shape.wire == Wire::f32 ? 4 * part : 2 * (part + static_cast<std::int64_t>(kWireHeader));
}

std::vector<ReductionPhase> directPhases(const ReductionShape& shape) {
  return {scatterOrGather("parts to their ranks", "all-to-all", 1, shape.ranks, directPart(shape), shape.ranks),
          scatterOrGather("sums to all", "all-gather", 1, shape.ranks, directPart(shape), shape.ranks)};
}

}  // namespace

const ReductionDefinition& defineDirectReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "direct";
    made.entry.label = "Direct exchange";
    made.entry.category = "reduction";
    made.entry.summary = "Every rank sends every other one its part: what 16-bit wires take.";
    made.entry.help =
        "An all-to-all, a sum in 32 bits in the order of ranks, an all-gather: as many bytes as a ring, nothing is "
        "rounded on the way, so each gradient is rounded once and the sum once.";
    made.carriesSixteenBits = true;
    made.phases = directPhases;
    made.sent = [](const ReductionShape& shape, int) { return sentIn(directPhases(shape)); };
    made.make = [](Communicator& ranks, const ReductionShape& most) -> std::unique_ptr<Reduction> {
      if (most.wire != Wire::f32) return std::make_unique<Rounded>(ranks, most);
      return std::make_unique<Direct>(ranks, most);
    };
    return made;
  }();
  return row;
}

}  // namespace loom

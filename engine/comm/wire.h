#pragma once
// What gradients look like between ranks. 16-bit wires carry half the bytes; sums are taken in f32. Rounding is to the
// nearest, ties to even. An f16 block carries a scale of its own, a power of two that brings its largest number to
// 2^14: so nothing over- or underflows that matters, and a gradient of any size keeps eleven bits.
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace loom {

class Communicator;

enum class Wire { f32, bf16, f16 };
std::string_view toString(Wire wire);
Wire wireNamed(std::string_view name);  // throws Error(badProject)

// A block of numbers in 16 bits: two words that hold the scale as a float, then the numbers.
constexpr std::size_t kWireHeader = 2;
void encode(Wire wire, std::span<const float> values, std::uint16_t* words);      // values.size() + kWireHeader words
void decode(Wire wire, const std::uint16_t* words, std::span<float> values);      // overwrites
void addDecoded(Wire wire, const std::uint16_t* words, std::span<float> values);  // adds

// Sums over all ranks, in place and with the same bits everywhere. f32: the library's all-reduce. 16 bits: an
// all-to-all brings every rank its part of all gradients, it adds them in f32 in the order of ranks, and an all-gather
// spreads the rounded sums: as many bytes as a ring would move. Its memory is taken once, for at most `most` numbers at
// a time.
class WireReduction {
 public:
  WireReduction(Communicator& communicator, Wire wire, std::size_t most);
  void run(std::span<float> data);

 private:
  Communicator& m_communicator;
  Wire m_wire;
  std::vector<float> m_sum;
  std::vector<std::uint16_t> m_send, m_received;
};

// What ranks in one process make of their gradients: `sums` gains each rank's numbers as the wire would carry them.
void addRounded(Wire wire, std::span<const float> values, std::span<float> sums, std::vector<std::uint16_t>& words);
void roundTo(Wire wire, std::span<float> values, std::vector<std::uint16_t>& words);

}  // namespace loom

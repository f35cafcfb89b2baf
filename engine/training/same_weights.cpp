#include "engine/training/same_weights.h"

#include <algorithm>
#include <bit>

#include "engine/training/update_program.h"

namespace loom {
namespace {

constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ull;
constexpr std::size_t kLanes = 8;  // multiplications side by side

std::uint64_t checksumOf(std::span<const float> values) {
  std::uint64_t lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = (lanes[lane] ^ std::bit_cast<std::uint32_t>(values[i + lane])) * kOdd;
  for (; i < values.size(); ++i) lanes[0] = (lanes[0] ^ std::bit_cast<std::uint32_t>(values[i])) * kOdd;
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum = (std::rotl(sum, 23) ^ lane) * kOdd;
  return sum;
}

}  // namespace

std::uint64_t checksumOf(const ParameterStore& store) {
  std::uint64_t sum = 0;
  for (const auto& entry : store.entries())
    if (!isMatrix(entry->parameter)) sum = (std::rotl(sum, 23) ^ checksumOf(entry->value.values())) * kOdd;
  return std::max<std::uint64_t>(sum, 1);
}

void shareStore(Communicator& communicator, ParameterStore& store, StorePart what, const SkipsSlot& skips) {
  communicator.activity().subject.store("rank 0's weights", std::memory_order_relaxed);
  const auto share = [&communicator](StoredTensor& tensor) {
    std::vector<float> values = tensor.values();
    communicator.broadcast(std::as_writable_bytes(std::span(values)), 0);
    tensor.write(values);
  };
  for (const auto& entry : store.entries()) {
    if (isMatrix(entry->parameter)) {
      const auto [parameter, matrix] = parameterAndSlot(entry->parameter.name);
      if (what != StorePart::values && (!skips || !skips(parameter, matrix))) share(entry->value);
      continue;
    }
    share(entry->value);
    if (what == StorePart::values) continue;
    for (auto& [name, slot] : entry->slots)
      if (!skips || !skips(entry->parameter.name, name)) share(slot);
  }
}

}  // namespace loom

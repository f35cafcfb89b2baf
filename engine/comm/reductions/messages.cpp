#include "engine/comm/reductions/messages.h"

#include <algorithm>

namespace loom {

void addTo(std::span<float> sum, std::span<const float> values) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

void addBehind(std::span<float> sum, std::span<const float> values) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = values[i] + sum[i];
}

void addLowerFirst(bool sumIsLower, std::span<float> sum, std::span<const float> values) {
  sumIsLower ? addTo(sum, values) : addBehind(sum, values);
}

void ringAllReduce(Communicator& ranks, std::span<float> sum, std::span<float> received) {
  const int size = ranks.size(), rank = ranks.rank();
  const auto wrapped = [&](int part) { return ((part % size) + size) % size; };
  const int right = wrapped(rank + 1), left = wrapped(rank - 1);
  const auto part = [&](int i) { return partOf(sum, size, wrapped(i), wrapped(i) + 1); };
  for (int step = 0; step < size - 1; ++step) {
    const std::span<float> mine = part(rank - step - 1), came = received.first(mine.size());
    exchangeFloats(ranks, part(rank - step), right, came, left);
    addTo(mine, came);
  }
  for (int step = 0; step < size - 1; ++step)
    exchangeFloats(ranks, part(rank + 1 - step), right, part(rank - step), left);
}

void pairwiseReduceScatter(Communicator& ranks, std::span<const float> data, std::span<float> part,
                           std::span<float> received) {
  const int size = ranks.size(), rank = ranks.rank();
  const auto of = [&](int r) { return data.subspan(static_cast<std::size_t>(r) * part.size(), part.size()); };
  std::copy_n(of(rank).begin(), part.size(), part.begin());
  for (int step = 1; step < size; ++step) {
    const int to = (rank + step) % size;
    exchangeFloats(ranks, of(to), to, received.first(part.size()), (rank - step + size) % size);
    addTo(part, received.first(part.size()));
  }
}

}  // namespace loom

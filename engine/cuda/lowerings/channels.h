#pragma once
// Tensors as rows x channels (kernels/channels.h), as lowerings ask for them.
#include "engine/cuda/kernels/channels.h"
#include "engine/cuda/plan.h"

namespace loom::cuda {

// How `rows` x `channels` in this type are shared among blocks: a function of the three alone, so that sums are taken
// in the same order on every device.
ChannelRows channelRows(std::int64_t rows, std::int64_t channels, DataType type);
// The tensor with `axis` (may be negative) innermost: its layout, and its rows of so many channels in this type.
struct ChannelView {
  Layout layout;
  ChannelRows rows;
};
ChannelView channelView(const Plan& plan, TensorId id, std::int64_t axis, DataType type);
Launch overChannels(const ChannelRows& view, DataType type);
// For kernels that go through what the chunks left for each channel (sumPairsOfChunks).
Launch overPairs(const ChannelRows& view);

}  // namespace loom::cuda

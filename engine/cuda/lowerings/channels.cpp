#include "engine/cuda/lowerings/channels.h"

#include <algorithm>

namespace loom::cuda {
namespace {

// Threads of a block along the channels and down the rows, and tiles of channels.
struct Tiles {
  std::int64_t across = 1, down = 1, count = 1;
};

Tiles tilesOf(std::int64_t channels, DataType type) {
  const auto pack = 16 / static_cast<std::int64_t>(bytesOf(type));
  const std::int64_t columns = channels % pack == 0 ? channels / pack : channels;
  Tiles tiles;
  while (tiles.across < columns && tiles.across < 32) tiles.across *= 2;
  tiles.down = kChannelThreads / tiles.across;
  tiles.count = (columns + tiles.across - 1) / tiles.across;
  return tiles;
}

}  // namespace

ChannelRows channelRows(std::int64_t rows, std::int64_t channels, DataType type) {
  constexpr std::int64_t kBlocks = 1024, kRowsOfThread = 8;  // about a wave of a large device; worth a block's start
  const Tiles tiles = tilesOf(channels, type);
  const std::int64_t most = std::max<std::int64_t>(1, kBlocks / tiles.count);
  const std::int64_t chunks = std::clamp<std::int64_t>(rows / (tiles.down * kRowsOfThread), 1, most);
  ChannelRows view{
      .rows = rows, .channels = channels, .chunkRows = std::max<std::int64_t>(1, (rows + chunks - 1) / chunks)};
  view.chunks = static_cast<int>(std::max<std::int64_t>(1, (rows + view.chunkRows - 1) / view.chunkRows));
  return view;
}

ChannelView channelView(const Plan& plan, TensorId id, std::int64_t axis, DataType type) {
  const Shape& shape = plan.shape(id);
  if (axis < 0) axis += static_cast<std::int64_t>(shape.rank());
  return {lastAxis(shape.rank(), static_cast<int>(axis)),
          channelRows(shape.elements() / shape[axis], shape[axis], type)};
}

Launch overChannels(const ChannelRows& view, DataType type) {
  const Tiles tiles = tilesOf(view.channels, type);
  return {.grid = {static_cast<unsigned>(tiles.count), static_cast<unsigned>(view.chunks)},
          .block = {static_cast<unsigned>(tiles.across), static_cast<unsigned>(tiles.down)}};
}

Launch overPairs(const ChannelRows& view) {
  return {.grid = {static_cast<unsigned>((view.channels + 31) / 32)}, .block = {32, 32}};
}

}  // namespace loom::cuda

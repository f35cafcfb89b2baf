// embedding and its gradient. The gradient sorts the places of the batch by the row that they read, so that each row's
// sum is taken in a fixed order and by threads of its own.
#include "engine/cuda/kernels/embedding.h"

#include <algorithm>
#include <bit>

#include "engine/base/error.h"
#include "engine/cuda/kernels/sort.h"
#include "engine/cuda/lowerings/indices.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/memory_order.h"

namespace loom::cuda {
namespace {

void lowerEmbedding(Plan& plan, const Operation& operation) {
  const TensorId indices = operation.inputs[0], w = operation.inputs[1], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  checkIndices(plan, indices, plan.shape(w)[0], "index");
  const Operand from = plan.read(indices), table = plan.read(w, plainLayout(2), DataType::f32), to = plan.write(y);
  const std::size_t touched = std::min(table.bytes, static_cast<std::size_t>(plan.shape(y).elements()) * sizeof(float));
  EmbeddingArguments arguments{.count = plan.shape(y).elements(), .width = divisorOf(plan.shape(w)[1])};
  plan.kernel(named("embedding", type), overPacks(arguments.count, type), {from, table.moving(touched)}, {to},
              [=]() mutable {
                arguments.indices = from.address<const std::int32_t>();
                arguments.w = table.address<const float>();
                arguments.y = to.address();
                return arguments;
              });
}

Operand scratchInts(Plan& plan, std::int64_t count) {
  Operand made = plan.scratch(static_cast<std::size_t>(count) * sizeof(std::int32_t));
  made.type = DataType::i32;
  return made;
}

// What stands in the order of its keys.
struct Sorted {
  Operand keys, places;
};

// Keys in [0, limit), and the place of each before it was sorted.
Sorted sortedOf(Plan& plan, const Operand& keys, std::int64_t count, std::int64_t limit) {
  const std::int64_t tiles = (count + kSortTile - 1) / kSortTile, cells = tiles * kSortDigits;
  const Operand counts = scratchInts(plan, cells);
  const Sorted to[] = {{scratchInts(plan, count), scratchInts(plan, count)},
                       {scratchInts(plan, count), scratchInts(plan, count)}};
  const Launch overTiles{.grid = {static_cast<unsigned>(tiles)}, .block = {kSortThreads}};
  Sorted now{keys, {}};
  const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(limit - 1))));
  for (int shift = 0; shift < bits; shift += 8) {
    const Sorted next = to[shift / 8 % 2];
    plan.kernel("sort_count", overTiles, {now.keys}, {counts}, [=] {
      return SortCountArguments{now.keys.address<const std::int32_t>(), counts.address<std::int32_t>(), count, shift};
    });
    plan.kernel("sort_scan", {.block = {kSortThreads}}, {counts}, {counts}, [=] {
      return SortScanArguments{counts.address<std::int32_t>(), cells};
    });
    plan.kernel("sort_move", overTiles, {now.keys, now.places, counts}, {next.keys, next.places}, [=] {
      return SortMoveArguments{now.keys.address<const std::int32_t>(),
                               now.places.address<const std::int32_t>(),
                               counts.address<const std::int32_t>(),
                               next.keys.address<std::int32_t>(),
                               next.places.address<std::int32_t>(),
                               count,
                               shift};
    });
    now = next;
  }
  return now;
}

void lowerEmbeddingGradient(Plan& plan, const Operation& operation) {
  const TensorId indices = operation.inputs[0], dy = operation.inputs[1], dw = operation.outputs[0];
  const DataType type = plan.tensor(dy).type;
  const std::int64_t count = plan.shape(indices).elements(), rows = plan.shape(dw)[0], width = plan.shape(dw)[1];
  if (count >> 31 != 0)
    throwError(ErrorCode::badProject, "a batch of {} indices is more than a GPU's embedding sorts: at most {}", count,
               (std::int64_t{1} << 31) - 1);
  checkIndices(plan, indices, rows, "index");
  const Operand keys = plan.read(indices), gradient = plan.read(dy), to = plan.write(dw);
  const auto [sortedKeys, places] = sortedOf(plan, keys, count, rows);
  const Operand starts = scratchInts(plan, rows + 1);
  plan.kernel("row_starts", overElements(rows + 1), {sortedKeys}, {starts}, [=, sorted = sortedKeys] {
    return RowStartsArguments{sorted.address<const std::int32_t>(), starts.address<std::int32_t>(), count, rows};
  });
  const std::int64_t pack = 16 / static_cast<std::int64_t>(bytesOf(type));
  const std::int64_t tile = 32 * (width % pack == 0 ? pack : 1);
  const Launch launch{.grid = {static_cast<unsigned>(std::clamp<std::int64_t>((rows + 7) / 8, 1, 1 << 16)),
                               static_cast<unsigned>(std::clamp<std::int64_t>((width + tile - 1) / tile, 1, 1 << 10))},
                      .block = {kEmbeddingThreads}};
  plan.kernel(named("embedding_gradient", type), launch, {starts, places, gradient}, {to}, [=, places = places] {
    return EmbeddingGradientArguments{starts.address<const std::int32_t>(),
                                      places.address<const std::int32_t>(),
                                      gradient.address(),
                                      to.address<float>(),
                                      rows,
                                      width};
  });
}

}  // namespace

LoweringRows embeddingRows() {
  static const LoweringRow rows[] = {
      {"embedding", lowerEmbedding, {}, {{}, true}},
      {"embedding_gradient", lowerEmbeddingGradient, {}, {{1}}},
  };
  return rows;
}

}  // namespace loom::cuda

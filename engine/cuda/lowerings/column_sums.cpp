#include "engine/cuda/lowerings/column_sums.h"

#include <algorithm>

#include "engine/cuda/kernels/bias.h"
#include "engine/cuda/lowerings/product.h"

namespace loom::cuda {
namespace {

constexpr std::int64_t kBlocks = 512;        // enough for any device of today; the same on all, so that sums are
constexpr std::int64_t kLeastRows = 64;      // of a chunk
constexpr std::int64_t kMostChunks = 65535;  // blocks along y

std::int64_t ceilDivide(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

void emitPass(Plan& plan, const Operand& from, std::int64_t rows, std::int64_t columns, std::int64_t chunks,
              const Operand& to) {
  const auto width = static_cast<std::int64_t>(16 / bytesOf(from.type));
  ColumnSumArguments arguments{
      .rows = rows, .columns = columns, .rowsPerChunk = ceilDivide(rows, chunks), .packed = columns % width == 0};
  const std::int64_t tiles = ceilDivide(columns, kColumnSumLanes * (arguments.packed ? width : 1));
  plan.kernel(named("column_sums", from.type),
              {.grid = {static_cast<unsigned>(tiles), static_cast<unsigned>(chunks)},
               .block = {kColumnSumLanes, kColumnSumRows}},
              {from}, {to}, [=]() mutable {
                arguments.x = from.address();
                arguments.sums = to.address<float>();
                return arguments;
              });
}

}  // namespace

void emitColumnSums(Plan& plan, const Operand& from, std::int64_t rows, std::int64_t columns, const Operand& to) {
  const std::int64_t tiles = ceilDivide(columns, kColumnSumLanes * static_cast<std::int64_t>(16 / bytesOf(from.type)));
  const std::int64_t wanted = std::min({ceilDivide(kBlocks, tiles), ceilDivide(rows, kLeastRows), kMostChunks});
  const std::int64_t chunks = ceilDivide(rows, ceilDivide(rows, std::max<std::int64_t>(wanted, 1)));  // none is empty
  if (chunks <= 1) return emitPass(plan, from, rows, columns, 1, to);
  const Operand partial = scratchOf(plan, chunks * columns, DataType::f32);
  emitPass(plan, from, rows, columns, chunks, partial);
  emitPass(plan, partial, chunks, columns, 1, to);
}

void emitAddBias(Plan& plan, const Operand& y, std::int64_t rows, std::int64_t columns, const Operand& bias,
                 bool relu) {
  AddBiasArguments arguments{.count = rows * columns, .columns = columns, .relu = relu};
  plan.kernel(named("add_bias", y.type), overElements(arguments.count, 4), {y, bias}, {y}, [=]() mutable {
    arguments.y = y.address();
    arguments.bias = bias.address();
    return arguments;
  });
}

}  // namespace loom::cuda

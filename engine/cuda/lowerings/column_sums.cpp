#include "engine/cuda/lowerings/column_sums.h"

#include <algorithm>

#include "engine/cuda/kernels/bias.h"
#include "engine/cuda/lowerings/product.h"

namespace loom::cuda {
namespace {

constexpr std::int64_t kBlocks = 512;        // enough for any device of today; the same on all, so that sums are
constexpr std::int64_t kLeastRows = 64;      // of a chunk
constexpr std::int64_t kMostChunks = 65535;  // blocks along y
// So few rows are summed in one launch: a second costs more than blocks that are not enough for a device.
constexpr std::int64_t kMostWholeRows = 4096;

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

void emitWhole(Plan& plan, const Operand& from, std::int64_t rows, std::int64_t columns, const Operand& to) {
  const auto width = static_cast<std::int64_t>(16 / bytesOf(from.type));
  ColumnSumArguments arguments{.rows = rows, .columns = columns, .rowsPerChunk = rows, .packed = columns % width == 0};
  const std::int64_t lanes = arguments.packed ? kWholeColumnLanes : kWholeColumnLanes * width;
  const std::int64_t tiles = ceilDivide(columns, lanes * (arguments.packed ? width : 1));
  plan.kernel(named("whole_column_sums", from.type),
              {.grid = {static_cast<unsigned>(tiles)},
               .block = {static_cast<unsigned>(lanes), static_cast<unsigned>(kWholeColumnThreads / lanes)}},
              {from}, {to}, [=]() mutable {
                arguments.x = from.address();
                arguments.sums = to.address<float>();
                return arguments;
              });
}

}  // namespace

void emitColumnSums(Plan& plan, const Operand& from, std::int64_t rows, std::int64_t columns, const Operand& to) {
  if (rows > kLeastRows && rows <= kMostWholeRows) return emitWhole(plan, from, rows, columns, to);
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

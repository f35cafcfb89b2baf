#include <bit>
#include <cmath>
#include <vector>

#include "engine/base/bf16.h"
#include "engine/base/error.h"
#include "tests/engine/cuda/fake/interpreters.h"

namespace loom::cuda::fake {
namespace {

// op(matrix), `rows` x `columns`, row by row.
std::vector<double> factor(const std::byte* matrix, DataType type, bool tf32, bool transposed, std::int64_t leading,
                           std::int64_t first, std::int64_t rows, std::int64_t columns) {
  std::vector<double> all(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const double value = loadNumber(matrix, type, first + (transposed ? j + i * leading : i + j * leading));
      all[static_cast<std::size_t>(i * columns + j)] = tf32 && type == DataType::f32 ? roundedToTf32(value) : value;
    }
  return all;
}

void expectLeading(const char* name, std::int64_t leading, std::int64_t rows) {
  if (leading < rows)
    throwError(ErrorCode::internal, "a product's leading dimension {} is {}, but its matrix has {} rows", name, leading,
               rows);
}

}  // namespace

double loadNumber(const std::byte* from, DataType type, std::int64_t index) {
  switch (type) {
    case DataType::f32:
      return reinterpret_cast<const float*>(from)[index];
    case DataType::f64:
      return reinterpret_cast<const double*>(from)[index];
    case DataType::bf16:
      return fromBf16(reinterpret_cast<const std::uint16_t*>(from)[index]);
    case DataType::f16:
      return std::bit_cast<_Float16>(reinterpret_cast<const std::uint16_t*>(from)[index]);
    default:
      throwError(ErrorCode::internal, "{} is no type of a product's or a graph's numbers", toString(type));
  }
}

void storeNumber(std::byte* to, DataType type, std::int64_t index, double value) {
  switch (type) {
    case DataType::f32:
      reinterpret_cast<float*>(to)[index] = static_cast<float>(value);
      break;
    case DataType::f64:
      reinterpret_cast<double*>(to)[index] = value;
      break;
    case DataType::bf16:
      reinterpret_cast<std::uint16_t*>(to)[index] = toBf16(static_cast<float>(value));
      break;
    case DataType::f16:
      reinterpret_cast<std::uint16_t*>(to)[index] = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
      break;
    default:
      throwError(ErrorCode::internal, "{} is no type of a product's or a graph's numbers", toString(type));
  }
}

double roundedToTf32(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if ((bits & 0x7f800000) == 0x7f800000) return value;
  return std::bit_cast<float>((bits + 0xfff + ((bits >> 13) & 1)) & 0xffffe000);
}

void interpret(const MatmulCall& call) {
  const std::int64_t m = call.m, n = call.n, k = call.k;
  if (m < 1 || n < 1 || k < 1 || call.batch < 1)
    throwError(ErrorCode::internal, "a batch of {} products {} x {} x {}: all must be positive", call.batch, m, n, k);
  expectLeading("of a", call.lda, call.transposeA ? k : m);
  expectLeading("of b", call.ldb, call.transposeB ? n : k);
  expectLeading("of c", call.ldc, m);
  if (call.batch > 1 && call.strideC < m)
    throwError(ErrorCode::internal, "the {} results of a batch lie {} numbers apart and overlap", call.batch,
               call.strideC);
  using Epilogue = MatmulCall::Epilogue;
  const bool bias = call.epilogue == Epilogue::bias || call.epilogue == Epilogue::biasRelu;
  const bool relu = call.epilogue == Epilogue::relu || call.epilogue == Epilogue::biasRelu;
  for (std::int64_t batch = 0; batch < call.batch; ++batch) {
    const auto a = factor(call.a, call.factors, call.tf32, call.transposeA, call.lda, batch * call.strideA, m, k);
    // Transposed, so that sums run along both.
    const auto b = factor(call.b, call.factors, call.tf32, !call.transposeB, call.ldb, batch * call.strideB, n, k);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (std::int64_t p = 0; p < k; ++p)
          sum += a[static_cast<std::size_t>(i * k + p)] * b[static_cast<std::size_t>(j * k + p)];
        const std::int64_t place = batch * call.strideC + i + j * call.ldc;
        double value = call.alpha * sum;
        if (call.beta != 0)
          value += call.beta * loadNumber(call.addend != nullptr ? call.addend : call.c, call.result, place);
        if (bias) value += loadNumber(call.bias, call.result, i);
        if (relu && value < 0) value = 0;
        storeNumber(call.c, call.result, place, value);
      }
  }
}

}  // namespace loom::cuda::fake

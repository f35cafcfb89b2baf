#pragma once
// One number in, one number out, over ranges; outputs may be the inputs themselves.
#include <cstdint>

#include "engine/cpu/kernels/stored.h"
#include "engine/ops/binary.h"
#include "engine/ops/reduce.h"
#include "engine/ops/unary.h"

namespace loom::cpu {

void unary(UnaryFunction function, const UnaryNumbers& numbers, const float* x, float* y, std::int64_t count);
// `at` is x or y, as ops/unary.h says which the derivative is computed from.
void unaryGradient(UnaryFunction function, const UnaryNumbers& numbers, bool fromOutput, const float* at,
                   const float* dy, float* dx, std::int64_t count);

void binary(BinaryFunction function, const float* a, const float* b, float* y, std::int64_t count);
void binaryScalar(BinaryFunction function, const float* a, float b, float* y, std::int64_t count);
// y = max(a + b, 0)
void addRelu(const float* a, const float* b, float* y, std::int64_t count);
// y = mask > 0 ? a + b : 0
void addMasked(const float* a, const float* b, const float* mask, float* y, std::int64_t count);
// y = factor x + offset
void scale(const float* x, float factor, float offset, float* y, std::int64_t count);

// out[c] += sum over rows of x[r, c]; in blocks, so that the error does not grow with the number of rows.
void sumRows(Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* out);
double sumAll(Stored x, std::int64_t count);
// The same for reductions that are no sums: out[c] = out[c] and all of x[r, c]; the answer begins with `first`.
void foldRows(ReduceFunction function, Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride,
              float* out);
float foldAll(ReduceFunction function, Stored x, std::int64_t count, float first);
// y = condition != 0 ? a : b
void choose(const float* condition, const float* a, const float* b, float* y, std::int64_t count);

}  // namespace loom::cpu

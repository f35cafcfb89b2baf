#pragma once
// Eigenproblems of small symmetric matrices, on the host and in double, by Eigen: the same bits on every processor,
// since it is compiled for the least of them. Matrices are row-major, rows × rows.
#include <cstdint>
#include <span>
#include <vector>

namespace loom {

// (λ + damping + ridge · λmax) in place of each eigenvalue λ, of which negative ones, that rounding makes, count as 0.
struct Damping {
  double damping = 0, ridge = 0;
};

// scale · matrix to the power of -1/4. Empty: its eigenvalues cannot be told, since something is not finite.
std::vector<float> inverseFourthRoot(std::span<const float> matrix, std::int64_t rows, double scale,
                                     const Damping& damping);

// Eigenvectors as columns, that of the largest eigenvalue first. Empty as above.
std::vector<float> eigenvectors(std::span<const float> matrix, std::int64_t rows);

// One step of orthogonal iteration from `basis`: columns are put into the order of what the matrix makes of them, the
// longest first (`order` says which column stood there before), multiplied by the matrix and made orthogonal. Empty as
// above.
std::vector<float> refreshed(std::span<const float> matrix, std::span<const float> basis, std::int64_t rows,
                             std::vector<std::int64_t>& order);

}  // namespace loom

#include "engine/optimizers/symmetric.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace loom {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stored = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix matrixOf(std::span<const float> values, std::int64_t rows) {
  return Eigen::Map<const Stored>(values.data(), rows, rows).cast<double>();
}

std::vector<float> valuesOf(const Matrix& matrix) {
  std::vector<float> values(static_cast<std::size_t>(matrix.size()));
  Eigen::Map<Stored>(values.data(), matrix.rows(), matrix.cols()) = matrix.cast<float>();
  return values;
}

}  // namespace

std::vector<float> inverseFourthRoot(std::span<const float> values, std::int64_t rows, double scale,
                                     const Damping& damping) {
  const Matrix matrix = scale * matrixOf(values, rows);
  if (!matrix.allFinite()) return {};
  const Eigen::SelfAdjointEigenSolver<Matrix> solved(matrix);
  if (solved.info() != Eigen::Success) return {};
  const double least = damping.damping + damping.ridge * std::max(0.0, solved.eigenvalues().maxCoeff());
  Eigen::VectorXd roots(rows);
  // By square roots, which are rounded alike everywhere, unlike pow().
  for (std::int64_t i = 0; i < rows; ++i)
    roots[i] = 1 / std::sqrt(std::sqrt(std::max(0.0, solved.eigenvalues()[i]) + least));
  return valuesOf(solved.eigenvectors() * roots.asDiagonal() * solved.eigenvectors().transpose());
}

std::vector<float> eigenvectors(std::span<const float> values, std::int64_t rows) {
  const Matrix matrix = matrixOf(values, rows);
  if (!matrix.allFinite()) return {};
  const Eigen::SelfAdjointEigenSolver<Matrix> solved(matrix);
  if (solved.info() != Eigen::Success) return {};
  return valuesOf(solved.eigenvectors().rowwise().reverse());
}

std::vector<float> refreshed(std::span<const float> values, std::span<const float> basis, std::int64_t rows,
                             std::vector<std::int64_t>& order) {
  const Matrix matrix = matrixOf(values, rows), before = matrixOf(basis, rows);
  if (!matrix.allFinite() || !before.allFinite()) return {};
  const Matrix product = matrix * before;
  const Eigen::VectorXd lengths = before.cwiseProduct(product).colwise().sum();  // of the eigenvalues, by the columns
  order.resize(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return lengths[a] > lengths[b]; });
  Matrix sorted(rows, rows);
  for (std::int64_t i = 0; i < rows; ++i) sorted.col(i) = product.col(order[static_cast<std::size_t>(i)]);
  const Eigen::HouseholderQR<Matrix> solved(sorted);
  return valuesOf(solved.householderQ() * Matrix::Identity(rows, rows));
}

}  // namespace loom

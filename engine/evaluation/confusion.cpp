#include "engine/evaluation/confusion.h"

#include <algorithm>
#include <tuple>

namespace loom {

ConfusionMatrix::ConfusionMatrix(std::int64_t classes)
    : m_classes(classes),
      m_ofTruth(static_cast<std::size_t>(classes)),
      m_ofPredicted(static_cast<std::size_t>(classes)) {
  if (classes <= kDense) m_dense.resize(static_cast<std::size_t>(classes * classes));
}

void ConfusionMatrix::add(std::int64_t truth, std::int64_t predicted, std::int64_t count) {
  const std::int64_t place = truth * m_classes + predicted;
  if (m_dense.empty())
    m_sparse[place] += count;
  else
    m_dense[static_cast<std::size_t>(place)] += count;
  m_ofTruth[static_cast<std::size_t>(truth)] += count;
  m_ofPredicted[static_cast<std::size_t>(predicted)] += count;
  m_total += count;
}

void ConfusionMatrix::merge(const ConfusionMatrix& other) {
  for (const Cell& cell : other.cells()) add(cell.truth, cell.predicted, cell.count);
}

std::int64_t ConfusionMatrix::at(std::int64_t truth, std::int64_t predicted) const {
  const std::int64_t place = truth * m_classes + predicted;
  if (!m_dense.empty()) return m_dense[static_cast<std::size_t>(place)];
  const auto found = m_sparse.find(place);
  return found == m_sparse.end() ? 0 : found->second;
}

std::vector<ConfusionMatrix::Cell> ConfusionMatrix::cells() const {
  std::vector<Cell> cells;
  for (std::size_t place = 0; place < m_dense.size(); ++place)
    if (m_dense[place] != 0)
      cells.push_back(
          {static_cast<std::int64_t>(place) / m_classes, static_cast<std::int64_t>(place) % m_classes, m_dense[place]});
  for (const auto& [place, count] : m_sparse) cells.push_back({place / m_classes, place % m_classes, count});
  if (m_dense.empty())
    std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
      return std::tie(a.truth, a.predicted) < std::tie(b.truth, b.predicted);
    });
  return cells;
}

std::int64_t ConfusionMatrix::right() const {
  std::int64_t right = 0;
  for (std::int64_t each = 0; each < m_classes; ++each) right += at(each, each);
  return right;
}

}  // namespace loom

#pragma once
// Which class was said of samples of which class. Two to thousands of classes: beyond kDense only the cells that are
// not zero are kept.
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace loom {

class ConfusionMatrix {
 public:
  struct Cell {
    std::int64_t truth = 0, predicted = 0, count = 0;
    bool operator==(const Cell&) const = default;
  };
  static constexpr std::int64_t kDense = 512;

  explicit ConfusionMatrix(std::int64_t classes = 0);
  void add(std::int64_t truth, std::int64_t predicted, std::int64_t count = 1);  // both in [0, classes)
  void merge(const ConfusionMatrix& other);                                      // of as many classes

  std::int64_t classes() const { return m_classes; }
  std::int64_t at(std::int64_t truth, std::int64_t predicted) const;
  std::vector<Cell> cells() const;  // those above zero, by truth and then by prediction
  const std::vector<std::int64_t>& ofTruth() const { return m_ofTruth; }
  const std::vector<std::int64_t>& ofPredicted() const { return m_ofPredicted; }
  std::int64_t total() const { return m_total; }
  std::int64_t right() const;

 private:
  std::int64_t m_classes, m_total = 0;
  std::vector<std::int64_t> m_dense;
  std::unordered_map<std::int64_t, std::int64_t> m_sparse;  // by truth * classes + predicted
  std::vector<std::int64_t> m_ofTruth, m_ofPredicted;
};

}  // namespace loom

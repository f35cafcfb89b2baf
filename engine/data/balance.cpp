#include "engine/data/balance.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/error.h"
#include "engine/data/shuffle.h"
#include "engine/data/stats.h"

namespace loom {
namespace {

class RepeatedRows : public Dataset {
 public:
  RepeatedRows(std::shared_ptr<const Dataset> whole, std::vector<std::int64_t> rows)
      : m_whole(std::move(whole)), m_rows(std::move(rows)) {}
  const Schema& schema() const override { return m_whole->schema(); }
  std::int64_t size() const override { return static_cast<std::int64_t>(m_rows.size()); }
  std::span<const std::byte> read(std::int64_t row, std::size_t variable, Shape* shape) const override {
    return m_whole->read(m_rows.at(static_cast<std::size_t>(row)), variable, shape);
  }
  void verify() const override { m_whole->verify(); }
  std::int64_t sourceRow(std::int64_t row) const override {
    return m_whole->sourceRow(m_rows.at(static_cast<std::size_t>(row)));
  }
  std::string contentHash() const override { return m_whole->contentHash(); }

 private:
  std::shared_ptr<const Dataset> m_whole;
  std::vector<std::int64_t> m_rows;
};

bool isClass(float value) {
  return value >= 0 && value == std::floor(value) && value < kMostLabels;
}

std::vector<std::vector<std::int64_t>> rowsOfClasses(const Dataset& dataset, const std::string& by) {
  const int variable = dataset.schema().indexOf(by);
  if (variable < 0 || dataset.schema().variables[static_cast<std::size_t>(variable)].kind != VariableKind::scalar)
    throwError(ErrorCode::badProject, "training.oversample: the dataset has no column '{}' of classes", by);
  std::vector<std::vector<std::int64_t>> classes;
  for (std::int64_t row = 0; row < dataset.size(); ++row) {
    float value;
    std::memcpy(&value, dataset.read(row, static_cast<std::size_t>(variable)).data(), sizeof value);
    if (!isClass(value))
      throwError(ErrorCode::badProject, "training.oversample: '{}' holds no classes: row {} of the data has {}", by,
                 row + 1, value);
    const auto index = static_cast<std::size_t>(value);
    if (classes.size() <= index) classes.resize(index + 1);
    classes[index].push_back(row);
  }
  return classes;
}

}  // namespace

std::shared_ptr<const Dataset> balanceClasses(std::shared_ptr<const Dataset> dataset, const std::string& by,
                                              std::uint64_t seed) {
  const auto classes = rowsOfClasses(*dataset, by);
  std::int64_t most = 0;
  for (const auto& rows : classes) most = std::max(most, static_cast<std::int64_t>(rows.size()));
  std::vector<std::int64_t> repeated;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const auto count = static_cast<std::int64_t>(classes[c].size());
    if (count == 0) continue;
    const EpochOrder once(count, true, seed, static_cast<std::int64_t>(c));
    for (std::int64_t i = 0; i < most; ++i)
      repeated.push_back(classes[c][static_cast<std::size_t>(i < most / count * count ? i % count : once[i % count])]);
  }
  return std::make_shared<RepeatedRows>(std::move(dataset), std::move(repeated));
}

std::vector<double> classWeights(const Dataset& dataset, const std::string& by) {
  const int at = dataset.schema().indexOf(by);
  if (at < 0 || dataset.schema().variables[static_cast<std::size_t>(at)].type != DataType::f32) return {};
  const auto variable = static_cast<std::size_t>(at);
  std::vector<std::int64_t> counts;
  std::int64_t all = 0;
  for (std::int64_t row = 0; row < dataset.size(); ++row) {
    const std::span<const std::byte> bytes = dataset.read(row, variable);
    for (std::size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
      float value;
      std::memcpy(&value, bytes.data() + i, sizeof value);
      if (!isClass(value)) return {};
      const auto index = static_cast<std::size_t>(value);
      if (counts.size() <= index) counts.resize(index + 1);
      ++counts[index], ++all;
    }
  }
  const auto occurring =
      static_cast<double>(counts.size()) - static_cast<double>(std::count(counts.begin(), counts.end(), 0));
  std::vector<double> weights;
  for (const std::int64_t count : counts)
    weights.push_back(count == 0 ? 1 : static_cast<double>(all) / (occurring * static_cast<double>(count)));
  return weights;
}

}  // namespace loom

#include "engine/data/parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/error.h"
#include "engine/data/shuffle.h"
#include "engine/data/stats.h"

namespace loom {
namespace {

class PickedRows : public Dataset {
 public:
  PickedRows(std::shared_ptr<const Dataset> whole, std::vector<std::int64_t> rows, std::string name)
      : m_whole(std::move(whole)), m_rows(std::move(rows)), m_name(std::move(name)) {}
  const Schema& schema() const override { return m_whole->schema(); }
  std::int64_t size() const override { return static_cast<std::int64_t>(m_rows.size()); }
  std::span<const std::byte> read(std::int64_t row, std::size_t variable, Shape* shape) const override {
    if (row < 0 || row >= size())
      throwError(ErrorCode::internal, "row {} was asked of a dataset with {} rows", row, size());
    return m_whole->read(m_rows[static_cast<std::size_t>(row)], variable, shape);
  }
  void verify() const override { m_whole->verify(); }
  std::string contentHash() const override {
    const std::string whole = m_whole->contentHash();
    return whole.empty() ? whole : whole + m_name;
  }
  std::int64_t sourceRow(std::int64_t row) const override {
    return m_whole->sourceRow(m_rows[static_cast<std::size_t>(row)]);
  }

 private:
  std::shared_ptr<const Dataset> m_whole;
  std::vector<std::int64_t> m_rows;  // eight bytes a row: a split is of datasets that fit a CSV
  std::string m_name;
};

float scalarAt(const Dataset& dataset, std::int64_t row, std::size_t variable) {
  const auto bytes = dataset.read(row, variable);
  if (dataset.schema().variables[variable].type == DataType::u8)
    return static_cast<float>(std::to_integer<int>(bytes[0]));
  float value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// The class of each row; one class for all without `by`.
std::vector<std::vector<std::int64_t>> rowsByClass(const Dataset& dataset, const std::string& by) {
  std::vector<std::vector<std::int64_t>> classes(1);
  const int variable = by.empty() ? -1 : dataset.schema().indexOf(by);
  if (!by.empty() &&
      (variable < 0 || dataset.schema().variables[static_cast<std::size_t>(variable)].kind != VariableKind::scalar))
    throwError(ErrorCode::badProject,
               "the split keeps the shares of '{}', but the dataset has no such column of classes", by);
  for (std::int64_t row = 0; row < dataset.size(); ++row) {
    std::size_t index = 0;
    if (variable >= 0) {
      const float value = scalarAt(dataset, row, static_cast<std::size_t>(variable));
      if (value < 0 || value != std::floor(value) || value >= kMostLabels)
        throwError(
            ErrorCode::badProject,
            "the split keeps the shares of '{}', but its values are no classes: row {} has {}; split without classes",
            by, row + 1, value);
      index = static_cast<std::size_t>(value);
    }
    if (classes.size() <= index) classes.resize(index + 1);
    classes[index].push_back(row);
  }
  return classes;
}

}  // namespace

std::shared_ptr<const Dataset> selectPart(std::shared_ptr<const Dataset> dataset, const HoldOut& how) {
  if (!(how.share > 0 && how.share < 1))
    throwError(ErrorCode::badProject, "{} of the rows are to be held out, but a share between 0 and 1 is possible",
               how.share);
  std::vector<bool> held(static_cast<std::size_t>(dataset->size()), false);
  std::int64_t count = 0;
  const auto classes = rowsByClass(*dataset, how.by);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::vector<std::int64_t>& rows = classes[c];
    const auto all = static_cast<std::int64_t>(rows.size());
    if (all < 2) continue;  // a single one stays where it can be learnt
    const std::int64_t taken = std::clamp<std::int64_t>(std::llround(static_cast<double>(all) * how.share), 1, all - 1);
    const EpochOrder order(all, how.shuffled, how.seed, static_cast<std::int64_t>(c));
    for (std::int64_t i = all - taken; i < all; ++i)
      held[static_cast<std::size_t>(rows[static_cast<std::size_t>(order[i])])] = true;
    count += taken;
  }
  if (count == 0)
    throwError(ErrorCode::badProject, "the dataset has {} row{}{}: too few to hold some out", dataset->size(),
               dataset->size() == 1 ? "" : "s", how.by.empty() ? "" : " and no class of two");
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(how.held ? count : dataset->size() - count));
  for (std::int64_t row = 0; row < dataset->size(); ++row)
    if (held[static_cast<std::size_t>(row)] == how.held) rows.push_back(row);
  return std::make_shared<PickedRows>(
      std::move(dataset), std::move(rows),
      fmt::format("[{} {} of {}, {} by '{}']", how.held ? "held" : "rest", how.share, count,
                  how.shuffled ? fmt::format("seed {}", how.seed) : "last", how.by));
}

std::vector<std::int64_t> countClasses(const Dataset& dataset, std::size_t variable) {
  const Variable& facts = dataset.schema().variables.at(variable);
  std::vector<std::int64_t> counts;
  if (facts.kind != VariableKind::scalar) return counts;
  for (std::int64_t row = 0; row < dataset.size(); ++row) {
    const float value = scalarAt(dataset, row, variable);
    if (value < 0 || value != std::floor(value) || value >= kMostLabels) return {};
    if (counts.size() <= static_cast<std::size_t>(value)) counts.resize(static_cast<std::size_t>(value) + 1, 0);
    ++counts[static_cast<std::size_t>(value)];
  }
  return areClasses(facts, counts) ? counts : std::vector<std::int64_t>();
}

std::vector<Fault> loneClasses(const std::string& column, const std::vector<std::int64_t>& here,
                               std::string_view hereName, const std::vector<std::int64_t>& there,
                               std::string_view thereName) {
  std::vector<Fault> faults;
  const auto tell = [&](const std::vector<std::int64_t>& has, std::string_view hasName,
                        const std::vector<std::int64_t>& lacks, std::string_view lacksName) {
    std::string names;
    std::size_t lone = 0, all = 0;
    for (std::size_t c = 0; c < has.size(); ++c) {
      all += has[c] > 0;
      if (has[c] == 0 || (c < lacks.size() && lacks[c] > 0)) continue;
      if (++lone <= 10) names += (names.empty() ? "" : ", ") + std::to_string(c);
    }
    if (lone == 0) return;
    // A part with hardly a row for each class cannot have them all.
    std::int64_t rows = 0;
    for (const std::int64_t count : lacks) rows += count;
    const std::string which =
        lone < all ? fmt::format("{} of the {} classes of {} {} not", lone, all, hasName, lone == 1 ? "is" : "are")
        : all == 1 ? fmt::format("the one class of {} is not", hasName)
                   : fmt::format("none of the {} classes of {} is", all, hasName);
    const bool few = rows < 2 * static_cast<std::int64_t>(all);
    faults.push_back({.kind = FaultKind::loneClass,
                      .severity = few ? FaultSeverity::info : FaultSeverity::warning,
                      .line = 0,
                      .column = column,
                      .found = fmt::format("{} in {}: {}{}", which, lacksName, names, lone > 10 ? " …" : ""),
                      .wanted = fmt::format("{} should have samples of each", lacksName),
                      .remedy = "split anew, shuffled and with the same share of each class"});
  };
  tell(here, hereName, there, thereName);
  tell(there, thereName, here, hereName);
  return faults;
}

std::vector<Fault> loneClasses(const Dataset& here, std::string_view hereName, const Dataset& there,
                               std::string_view thereName) {
  std::vector<Fault> faults;
  for (std::size_t v = 0; v < here.schema().variables.size(); ++v) {
    const Variable& variable = here.schema().variables[v];
    const int other = there.schema().indexOf(variable.name);
    if (other < 0 || !isLabel(variable)) continue;
    const auto own = countClasses(here, v), its = countClasses(there, static_cast<std::size_t>(other));
    if (own.empty() || its.empty()) continue;
    for (Fault& fault : loneClasses(variable.name, own, hereName, its, thereName)) faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace loom

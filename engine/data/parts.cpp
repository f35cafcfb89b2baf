#include "engine/data/parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

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
  std::vector<Json> columnSteps() const override { return m_whole->columnSteps(); }
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

// A scalar variable that the split goes by; its values row by row.
std::vector<float> scalarsOf(const Dataset& dataset, const std::string& name, std::string_view what) {
  const int variable = dataset.schema().indexOf(name);
  if (variable < 0 || dataset.schema().variables[static_cast<std::size_t>(variable)].kind != VariableKind::scalar)
    throwError(ErrorCode::badProject, "the split {} '{}', but the dataset has no such column of {}", what, name,
               what == "keeps the shares of" ? "classes" : "single numbers");
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(dataset.size()));
  for (std::int64_t row = 0; row < dataset.size(); ++row)
    values.push_back(scalarAt(dataset, row, static_cast<std::size_t>(variable)));
  return values;
}

SplitKeys keysOf(const Dataset& dataset, const HoldOut& how) {
  SplitKeys keys{.rows = dataset.size(), .classes = {}, .groups = {}, .orders = {}};
  if (!how.by.empty()) {
    for (const float value : scalarsOf(dataset, how.by, "keeps the shares of")) {
      if (value < 0 || value != std::floor(value) || value >= kMostLabels)
        throwError(
            ErrorCode::badProject,
            "the split keeps the shares of '{}', but its values are no classes: row {} has {}; split without classes",
            how.by, keys.classes.size() + 1, value);
      keys.classes.push_back(static_cast<std::int64_t>(value));
    }
  }
  if (!how.group.empty()) {
    const std::vector<float> values = scalarsOf(dataset, how.group, "keeps together");
    std::map<float, std::int64_t> numbers;
    for (const float value : values) numbers.emplace(value, 0);
    std::int64_t next = 0;
    for (auto& [value, number] : numbers) number = next++;
    for (const float value : values) keys.groups.push_back(numbers.at(value));
  }
  if (!how.order.empty())
    for (const float value : scalarsOf(dataset, how.order, "goes in order of")) keys.orders.push_back(value);
  return keys;
}

std::int64_t takenOf(std::int64_t all, double share) {
  return std::clamp<std::int64_t>(std::llround(static_cast<double>(all) * share), 1, all - 1);
}

// Whole groups, until as many rows as wanted are held out.
std::int64_t holdGroups(const SplitKeys& keys, const HoldOut& how, std::vector<bool>& held) {
  std::vector<std::vector<std::int64_t>> groups;
  for (std::int64_t row = 0; row < keys.rows; ++row) {
    const auto group = static_cast<std::size_t>(keys.groups[static_cast<std::size_t>(row)]);
    if (groups.size() <= group) groups.resize(group + 1);
    groups[group].push_back(row);
  }
  const auto all = static_cast<std::int64_t>(groups.size());
  if (all < 2) return 0;
  std::vector<std::size_t> order(groups.size());
  const EpochOrder shuffled(all, how.shuffled, how.seed, 0);
  for (std::int64_t i = 0; i < all; ++i) order[static_cast<std::size_t>(i)] = static_cast<std::size_t>(shuffled[i]);
  const auto last = [&](std::size_t group) {
    double value = -std::numeric_limits<double>::infinity();
    for (const std::int64_t row : groups[group]) value = std::max(value, keys.orders[static_cast<std::size_t>(row)]);
    return value;
  };
  if (!keys.orders.empty())
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return last(a) < last(b); });
  const std::int64_t wanted = takenOf(keys.rows, how.share);
  std::int64_t count = 0;
  for (std::size_t i = order.size(); i-- > 1 && count < wanted;) {
    for (const std::int64_t row : groups[order[i]]) held[static_cast<std::size_t>(row)] = true;
    count += static_cast<std::int64_t>(groups[order[i]].size());
  }
  return count;
}

}  // namespace

std::vector<bool> heldRows(const SplitKeys& keys, const HoldOut& how) {
  if (!(how.share > 0 && how.share < 1))
    throwError(ErrorCode::badProject, "{} of the rows are to be held out, but a share between 0 and 1 is possible",
               how.share);
  if (!how.by.empty() && !how.group.empty())
    throwError(ErrorCode::badProject,
               "the split is to keep the shares of '{}' and all rows of a '{}' together; one of the two is possible",
               how.by, how.group);
  std::vector<bool> held(static_cast<std::size_t>(keys.rows), false);
  std::int64_t count = 0;
  if (!keys.groups.empty()) {
    count = holdGroups(keys, how, held);
  } else {
    std::vector<std::vector<std::int64_t>> classes(1);
    for (std::int64_t row = 0; row < keys.rows; ++row) {
      const auto index =
          keys.classes.empty() ? std::size_t{0} : static_cast<std::size_t>(keys.classes[static_cast<std::size_t>(row)]);
      if (classes.size() <= index) classes.resize(index + 1);
      classes[index].push_back(row);
    }
    for (std::size_t c = 0; c < classes.size(); ++c) {
      std::vector<std::int64_t>& rows = classes[c];
      const auto all = static_cast<std::int64_t>(rows.size());
      if (all < 2) continue;  // a single one stays where it can be learnt
      if (!keys.orders.empty())
        std::stable_sort(rows.begin(), rows.end(), [&](std::int64_t a, std::int64_t b) {
          return keys.orders[static_cast<std::size_t>(a)] < keys.orders[static_cast<std::size_t>(b)];
        });
      const std::int64_t taken = takenOf(all, how.share);
      const EpochOrder order(all, how.shuffled && keys.orders.empty(), how.seed, static_cast<std::int64_t>(c));
      for (std::int64_t i = all - taken; i < all; ++i)
        held[static_cast<std::size_t>(rows[static_cast<std::size_t>(order[i])])] = true;
      count += taken;
    }
  }
  if (count == 0)
    throwError(ErrorCode::badProject, "the dataset has {} row{}{}: too few to hold some out", keys.rows,
               keys.rows == 1 ? "" : "s",
               !how.group.empty() ? " and fewer than two groups"
               : how.by.empty()   ? ""
                                  : " and no class of two");
  return held;
}

std::shared_ptr<const Dataset> selectPart(std::shared_ptr<const Dataset> dataset, const HoldOut& how) {
  std::vector<bool> held;
  const int marked = dataset->schema().indexOf(kHeldOutVariable);
  if (marked >= 0 && dataset->schema().variables[static_cast<std::size_t>(marked)].label == kHeldOutLabel) {
    for (std::int64_t row = 0; row < dataset->size(); ++row)
      held.push_back(scalarAt(*dataset, row, static_cast<std::size_t>(marked)) != 0);
  } else {
    held = heldRows(keysOf(*dataset, how), how);
  }
  const std::int64_t count = std::count(held.begin(), held.end(), true);
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(how.held ? count : dataset->size() - count));
  for (std::int64_t row = 0; row < dataset->size(); ++row)
    if (held[static_cast<std::size_t>(row)] == how.held) rows.push_back(row);
  std::string name = fmt::format("[{} {} of {}, {} by '{}']", how.held ? "held" : "rest", how.share, count,
                                 how.shuffled ? fmt::format("seed {}", how.seed) : "last", how.by);
  if (!how.group.empty() || !how.order.empty()) name += fmt::format("[group '{}', order '{}']", how.group, how.order);
  return std::make_shared<PickedRows>(std::move(dataset), std::move(rows), std::move(name));
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

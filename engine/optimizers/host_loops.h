#pragma once
// A rule over ranges in the host's memory: in float where the host is the machine, in double for references. Templates
// cannot be compiled for several instruction sets at once, so each rule's file names its loops:
//   LOOM_VECTORISED void descend(const NameRule::Constants<float>& c, const UpdateRange& range) {
//     updateRange<NameRule>(c, range);
//   }
// and, where it measures, `UpdateSums gather(...)` in the same way by gatherRange().
#include <type_traits>
#include <utility>

#include "engine/base/vectorised.h"
#include "engine/optimizers/optimizer.h"

namespace loom {

// Calls work(weight, gradient, slots) for element i.
template <class Rule, class T, class Work>
LOOM_DEVICE_INLINE void atElement(std::int64_t i, T* __restrict w, const T* __restrict g, T* __restrict a,
                                  T* __restrict b, T* __restrict c, const Work& work) {
  static_assert(kMostSlots == 3);
  T slots[kMostSlots] = {};
  if constexpr (Rule::kSlots > 0) slots[0] = a[i];
  if constexpr (Rule::kSlots > 1) slots[1] = b[i];
  if constexpr (Rule::kSlots > 2) slots[2] = c[i];
  T weight = w[i];
  work(weight, g[i], slots);
  if constexpr (Rule::kSlots > 0) a[i] = slots[0];
  if constexpr (Rule::kSlots > 1) b[i] = slots[1];
  if constexpr (Rule::kSlots > 2) c[i] = slots[2];
  w[i] = weight;  // the last: the compiler sees that slots which the rule leaves alone need no store
}

template <class Rule, class T>
LOOM_DEVICE_INLINE void updateRange(const typename Rule::template Constants<T>& given, const UpdateRangeOf<T>& range) {
  const typename Rule::template Constants<T> c = given;
  const UpdateRangeOf<T> r = range;
  for (std::int64_t i = 0; i < r.count; ++i)
    atElement<Rule, T>(
        i, r.weight, r.gradient, r.slots[0], r.slots[1],
        r.slots[2], [&](T & w, T g, T(&slots)[kMostSlots]) __attribute__((always_inline)) {
          Rule::update(c, w, g, slots);
        });
}

// Sixteen sums side by side: a fixed order that still fills the widest registers.
template <class Rule, class T>
LOOM_DEVICE_INLINE UpdateSums gatherRange(const typename Rule::template Constants<T>& given,
                                          const UpdateRangeOf<T>& range) {
  constexpr int kLanes = 16;
  const typename Rule::template Constants<T> c = given;
  const UpdateRangeOf<T> r = range;
  double weight[kLanes] = {}, direction[kLanes] = {};
  const auto add = [&](std::int64_t i, int lane) __attribute__((always_inline)) {
    atElement<Rule, T>(
        i, r.weight, r.gradient, r.slots[0], r.slots[1],
        r.slots[2], [&](const T& w, T g, T(&slots)[kMostSlots]) __attribute__((always_inline)) {
          const UpdateSums part = Rule::gather(c, w, g, slots);
          weight[lane] += part.weight;
          direction[lane] += part.direction;
        });
  };
  std::int64_t i = 0;
  for (; i + kLanes <= r.count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  for (; i < r.count; ++i) add(i, 0);
  UpdateSums sums;
  for (int lane = 0; lane < kLanes; ++lane) {
    sums.weight += weight[lane];
    sums.direction += direction[lane];
  }
  return sums;
}

template <class Rule>
class RuleOptimizer final : public Optimizer {
 public:
  RuleOptimizer(const Rule& rule, std::vector<std::string> slots, std::vector<std::string> unscaled)
      : m_rule(rule), m_slots(std::move(slots)), m_unscaled(std::move(unscaled)) {}

  std::span<const std::string> slots() const override { return m_slots; }
  void update(const UpdateRange& range, const UpdateScalars& scalars) const override {
    descend(m_rule.template constants<float>(scalars), range);
  }
  void update(const ReferenceRange& range, const UpdateScalars& scalars) const override {
    updateRange<Rule>(m_rule.template constants<double>(scalars), range);
  }
  bool followsEpochs() const override {
    return weighsSteps() || requires {
      Rule::kFollowsEpochs;
    };
  }
  bool weighsSteps() const override {
    return requires {
      Rule::kWeighsSteps;
    };
  }
  std::optional<EvaluatedFrom> evaluated() const override {
    if constexpr (requires(const Rule& rule) { rule.evaluatedShare(); }) {
      const double share = m_rule.evaluatedShare();
      return EvaluatedFrom{.slot = m_slots.front(), .ofWeight = 1 / share, .ofSlot = (share - 1) / share};
    }
    return std::nullopt;
  }
  bool measures() const override { return kMeasures; }
  UpdateSums measure(const UpdateRange& range, const UpdateScalars& scalars) const override {
    if constexpr (kMeasures) return gather(m_rule.template constants<float>(scalars), range);
    return {};
  }
  UpdateSums measure(const ReferenceRange& range, const UpdateScalars& scalars) const override {
    if constexpr (kMeasures) return gatherRange<Rule>(m_rule.template constants<double>(scalars), range);
    return {};
  }
  double tensorScale(const UpdateSums& sums, const UpdateScalars& scalars) const override {
    if constexpr (kMeasures) return m_rule.tensorScale(sums, scalars);
    return 1;
  }
  std::span<const std::string> unscaled() const override { return m_unscaled; }
  PlainRule plain() const override {
    return {Rule::kName, std::as_bytes(std::span(&m_rule, 1)), sizeof(typename Rule::template Constants<float>)};
  }

 private:
  static constexpr bool kMeasures = requires(const Rule& rule, UpdateSums sums, UpdateScalars scalars) {
    rule.tensorScale(sums, scalars);
  };
  Rule m_rule;
  std::vector<std::string> m_slots, m_unscaled;
};

// `slots`: a name for each; `unscaled` as Optimizer::unscaled().
template <class Rule>
std::unique_ptr<Optimizer> makeOptimizer(const Rule& rule, std::vector<std::string> slots,
                                         std::vector<std::string> unscaled = {}) {
  static_assert(Rule::kSlots <= kMostSlots && std::is_trivially_copyable_v<Rule>);
  return std::make_unique<RuleOptimizer<Rule>>(rule, std::move(slots), std::move(unscaled));
}

}  // namespace loom

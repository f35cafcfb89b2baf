#include "engine/planner/rule_share.h"

#include <cstring>

#include "engine/base/error.h"
#include "engine/optimizers/optimizer.h"
#include "engine/optimizers/rules/rmsprop_warmup.h"
#include "engine/optimizers/rules/still.h"

namespace loom {
namespace {

template <class Rule>
std::optional<RuleShare> shareOf(const PlainRule& plain, const char* of) {
  if (plain.name != Rule::kName || plain.bytes.size() != sizeof(Rule)) return {};
  Rule rule;
  std::memcpy(static_cast<void*>(&rule), plain.bytes.data(), sizeof rule);
  return RuleShare{of, [rule](double epoch) { return rule.share(epoch); }};
}

}  // namespace

std::optional<RuleShare> ruleShare(const Json& optimizer) {
  const OptimizerDefinition* definition =
      optimizer.is_object() && optimizer.contains("name") && optimizer["name"].is_string()
          ? findOptimizer(optimizer["name"].get<std::string>())
          : nullptr;
  if (!definition) return {};
  try {
    const auto rule = definition->make(Values(definition->entry, optimizer));
    if (auto share = shareOf<StillRule>(rule->plain(), "LARS")) return share;
    return shareOf<RmsPropWarmupRule>(rule->plain(), "momentum");
  } catch (const Error&) {
    return {};  // no numbers there: the field says so
  }
}

}  // namespace loom

#include "engine/planner/exchange_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/comm/reductions/scattered.h"
#include "engine/comm/reductions/shards.h"
#include "engine/network/product_choice.h"
#include "engine/optimizers/optimizer.h"
#include "engine/passes/passes.h"
#include "engine/planner/numbers_text.h"
#include "engine/planner/plan.h"
#include "engine/training/methods/method.h"
#include "engine/training/methods/slot_owners.h"

namespace loom {
namespace {

class Exchange {
 public:
  Exchange(const Project& project, const ExchangeQuestion& question)
      : m_question(question),
        m_values(project.training.settings),
        m_settings(settingsEntry(), project.training.settings),
        m_choice(reductionIn(project.training.settings)),
        m_wire(wireNamed(m_settings.text("wire"))),
        m_deterministic(m_settings.boolean("deterministic")) {
    if (const auto refusal = refusalOf(m_choice, question.ranks, m_wire, m_deterministic))
      throwError(ErrorCode::badProject, "training: {}", refusal->text);
  }

  ExchangePlan plan(const UpdateSpec& update, Program program) const {
    averageStates(program);
    const auto fusion = static_cast<std::size_t>(m_settings.real("fusion") * (1 << 20));
    const std::vector<std::string> states = averagedStates(program);
    std::vector<std::vector<std::string>> buckets = planBuckets(program, fusion);
    const ReductionDefinition& row = reductionOf(m_choice, m_wire, m_deterministic);
    if (row.exact && buckets.size() > 1) {  // one message behind the last shard
      for (std::size_t b = 1; b < buckets.size(); ++b)
        buckets[0].insert(buckets[0].end(), buckets[b].begin(), buckets[b].end());
      buckets.resize(1);
    }
    ExchangePlan plan{.network = update.network, .reduction = row.entry.id, .ranks = m_question.ranks, .wire = m_wire};
    if (m_question.links) plan.seconds = 0;
    plan.times = methodCost(m_values).computes;
    plan.delayed = std::ranges::any_of(methodsIn(m_values), [](const MethodChoice& way) { return way.row->delays; });
    std::size_t largest = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      const bool ofStates = !states.empty() && !row.exact && b + 1 == buckets.size();
      const Wire wire = ofStates ? Wire::f32 : m_wire;
      const ReductionDefinition& own = reductionOf(m_choice, wire, m_deterministic);
      ExchangePlan::Bucket& bucket = plan.buckets.emplace_back();
      bucket.label = ofStates                ? "running statistics"
                     : buckets[b].size() > 1 ? fmt::format("{} and {} more", buckets[b].front(), buckets[b].size() - 1)
                                             : buckets[b].front();
      bucket.tensors = buckets[b].size();
      for (const std::string& name : buckets[b]) bucket.floats += elementsOf(program, name);
      if (!ofStates && !leavesBehind(own, wire)) bucket.layers = layersOf(buckets[b]);
      const ReductionShape shape = shapeOf(wire, bucket.floats);
      bucket.reduction = own.entry.id;
      bucket.cost = costOf(own, shape);
      plan.cost.steps += bucket.cost.steps;
      plan.cost.bytes += bucket.cost.bytes;
      plan.cost.total += bucket.cost.total;
      if (plan.seconds) *plan.seconds += bucket.seconds = secondsOf(own, shape);
      if (bucket.floats < largest) continue;
      largest = bucket.floats;
      plan.phases = own.phases(shape);
    }
    plan.cost.steps *= plan.times, plan.cost.bytes *= plan.times, plan.cost.total *= plan.times;
    if (plan.seconds) *plan.seconds *= plan.times;
    if (m_question.ranks > 1) addWeights(plan, update, program);
    if (m_settings.boolean("shard_optimizer")) scatter(plan, update, program, buckets);
    return plan;
  }

 private:
  // Where ranks share state, each needs the sums of what it steps alone, if that takes less of the busiest of them.
  void scatter(ExchangePlan& plan, const UpdateSpec& update, const Program& program,
               std::vector<std::vector<std::string>> names) const {
    const OptimizerDefinition& rule = *findOptimizer(update.optimizer["name"].get<std::string>());
    if (!needsOwnGradientsAlone(methodsIn(m_values), rule.products != nullptr)) return;
    const ReductionDefinition& row = reductionOf(m_choice, m_wire, m_deterministic);
    const std::vector<std::string> states = averagedStates(program);
    std::map<std::string, int> owners;
    std::vector<std::int64_t> elements;
    std::vector<std::string> stepped;
    for (const Parameter& parameter : program.parameters) {
      if (parameter.isState || program.findTensor(parameter.name, TensorRole::parameterGradient) == kNoTensor) continue;
      stepped.push_back(parameter.name);
      elements.push_back(parameter.shape.elements());
    }
    const std::vector<int> ranks = ownersOf(elements, m_question.ranks);
    for (std::size_t i = 0; i < stepped.size(); ++i) owners[stepped[i]] = ranks[i];
    std::vector<std::int64_t> scattered;
    std::int64_t less = 0;
    for (std::size_t b = 0; b < names.size(); ++b) {
      std::vector<OwnedParts::Part> parts;
      std::size_t begin = 0;
      for (const std::string& name : names[b])
        if (const auto owner = owners.find(name); owner != owners.end()) {
          parts.push_back({begin, elementsOf(program, name), owner->second});
          begin += parts.back().count;
        }
      const auto bytes = begin == 0 ? std::optional<std::int64_t>(0)
                                    : scatteredBytes(row, shapeOf(m_wire, begin), OwnedParts(parts, m_question.ranks));
      if (!bytes) return;
      scattered.push_back(begin == 0 ? -1 : *bytes);
      if (begin > 0) less += costOf(row, shapeOf(m_wire, begin)).bytes - *bytes;
    }
    if (less <= 0) return;
    for (std::size_t b = 0; b < names.size(); ++b)
      if (scattered[b] >= 0) rewrite(plan, plan.buckets[b], scattered[b]);
    if (row.exact && !states.empty()) separate(plan, program, states, row);
  }
  // Running statistics, which all ranks need, from the one message of an exact sum.
  void separate(ExchangePlan& plan, const Program& program, const std::vector<std::string>& states,
                const ReductionDefinition& row) const {
    ExchangePlan::Bucket own{.label = "running statistics", .tensors = states.size(), .reduction = row.entry.id};
    for (const std::string& name : states) own.floats += elementsOf(program, name);
    plan.buckets[0].tensors -= own.tensors;
    plan.buckets[0].floats -= own.floats;
    const ReductionShape shape = shapeOf(m_wire, own.floats);
    own.cost = costOf(row, shape);
    plan.cost.steps += own.cost.steps, plan.cost.bytes += own.cost.bytes, plan.cost.total += own.cost.total;
    if (plan.seconds) *plan.seconds += own.seconds = secondsOf(row, shape);
    plan.buckets.insert(plan.buckets.begin() + 1, std::move(own));
  }
  void rewrite(ExchangePlan& plan, ExchangePlan::Bucket& bucket, std::int64_t bytes) const {
    const ReductionCost cost{.steps = m_question.ranks - 1, .bytes = bytes, .total = bytes * m_question.ranks};
    plan.cost.steps += cost.steps - bucket.cost.steps;
    plan.cost.bytes += cost.bytes - bucket.cost.bytes;
    plan.cost.total += cost.total - bucket.cost.total;
    bucket.cost = cost;
    bucket.label += ", each to who steps it";
    if (!plan.seconds) return;
    const bool inside = m_question.perHost == 0 || m_question.perHost >= m_question.ranks;
    const Link& link = inside ? m_question.links->within : m_question.links->between;
    const double seconds = static_cast<double>(cost.steps) * link.delay + static_cast<double>(bytes) / link.bandwidth;
    *plan.seconds += seconds - bucket.seconds;
    bucket.seconds = seconds;
  }

  // Behind a step each rank gives the weights that it alone steps to all others, in parts as large as the largest: of
  // all (ZeRO 1), or of a rule's matrices.
  void addWeights(ExchangePlan& plan, const UpdateSpec& update, const Program& program) const {
    const bool sharesSlots = m_settings.boolean("shard_optimizer");
    const OptimizerDefinition& rule = *findOptimizer(update.optimizer["name"].get<std::string>());
    const auto products = rule.products ? rule.products(Values(rule.entry, update.optimizer)) : nullptr;
    if (!sharesSlots && !(products && products->oneRankEach())) return;
    std::vector<std::int64_t> elements, work;
    for (const Parameter& parameter : program.parameters) {
      if (parameter.isState || program.findTensor(parameter.name, TensorRole::parameterGradient) == kNoTensor) continue;
      if (!sharesSlots && !ProductChoice(*products, program).takes(parameter)) continue;
      elements.push_back(parameter.shape.elements());
      work.push_back(sharesSlots ? elements.back() : static_cast<std::int64_t>(products->work(parameter.shape)));
    }
    if (elements.empty()) return;
    const std::int64_t ranks = m_question.ranks;
    std::vector<std::int64_t> held(static_cast<std::size_t>(ranks));
    const std::vector<int> owners = ownersOf(work, m_question.ranks);
    std::int64_t all = 0;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      held[static_cast<std::size_t>(owners[i])] += elements[i];
      all += elements[i];
    }
    const std::int64_t most = *std::max_element(held.begin(), held.end()), bytes = (ranks - 1) * most * 4;
    ExchangePlan::Bucket& bucket = plan.buckets.emplace_back();
    bucket.label = "stepped weights";
    bucket.behindUpdate = true;
    bucket.reduction = "all-gather";
    bucket.tensors = elements.size();
    bucket.floats = static_cast<std::size_t>(all);
    bucket.cost = {.steps = ranks - 1, .bytes = bytes, .total = ranks * bytes};
    plan.cost.steps += bucket.cost.steps;
    plan.cost.bytes += bytes;
    plan.cost.total += bucket.cost.total;
    if (sharesSlots) plan.stateShare = static_cast<double>(most) / static_cast<double>(all);
    if (!plan.seconds) return;
    const bool inside = m_question.perHost == 0 || m_question.perHost >= ranks;
    const Link& link = inside ? m_question.links->within : m_question.links->between;
    bucket.seconds = static_cast<double>(ranks - 1) * link.delay + static_cast<double>(bytes) / link.bandwidth;
    *plan.seconds += bucket.seconds;
  }
  static std::size_t elementsOf(const Program& program, const std::string& name) {
    for (const Parameter& parameter : program.parameters)
      if (parameter.name == name) return static_cast<std::size_t>(parameter.shape.elements());
    return 0;
  }
  // What is added shard by shard is whole behind the last one.
  bool leavesBehind(const ReductionDefinition& row, Wire wire) const {
    return row.exact || (wire != Wire::f32 && shards() > m_question.ranks);
  }
  // "block1/conv2" of "block1/conv2/weight".
  static std::vector<std::string> layersOf(const std::vector<std::string>& parameters) {
    std::vector<std::string> layers;
    for (const std::string& name : parameters) {
      std::string layer = name.substr(0, name.find_last_of('/'));
      if (std::find(layers.begin(), layers.end(), layer) == layers.end()) layers.push_back(std::move(layer));
    }
    return layers;
  }
  int shards() const {
    const auto virtualRanks = static_cast<int>(m_settings.integer("virtual_ranks"));
    return virtualRanks > 0 ? virtualRanks : m_deterministic ? kDeterministicShards : m_question.ranks;
  }
  ReductionShape shapeOf(Wire wire, std::size_t floats) const {
    ReductionShape shape{.ranks = m_question.ranks,
                         .floats = floats,
                         .wire = wire,
                         .shards = shards(),
                         .perHost = m_question.perHost,
                         .values = m_choice.values};
    if (m_question.links) shape.links = *m_question.links;
    return shape;
  }

  const ExchangeQuestion& m_question;
  const Json& m_values;
  Values m_settings;
  ReductionChoice m_choice;
  Wire m_wire;
  bool m_deterministic;
};

std::string milliseconds(double seconds) {
  return fmt::format("{:.3f} ms", seconds * 1e3);
}

}  // namespace

std::vector<ExchangePlan> planExchange(const Project& project, const ExchangeQuestion& question) {
  const Exchange exchange(project, question);
  std::vector<ExchangePlan> plans;
  planTraining(project, [&](const Program& program) {
    plans.push_back(exchange.plan(project.training.updates[plans.size()], program));
    return StepMemory{};
  });
  return plans;
}

Json toJson(const std::vector<ExchangePlan>& plans) {
  Json all = Json::array();
  for (const ExchangePlan& plan : plans) {
    Json buckets = Json::array(), phases = Json::array();
    for (const ExchangePlan::Bucket& bucket : plan.buckets) {
      Json one = {{"label", bucket.label},           {"tensors", bucket.tensors},  {"numbers", bucket.floats},
                  {"reduction", bucket.reduction},   {"steps", bucket.cost.steps}, {"bytes", bucket.cost.bytes},
                  {"total_bytes", bucket.cost.total}};
      if (plan.seconds) one["seconds"] = bucket.seconds;
      buckets.push_back(std::move(one));
    }
    for (const ReductionPhase& phase : plan.phases)
      phases.push_back({{"name", phase.name},
                        {"call", phase.call},
                        {"groups", phase.groups},
                        {"ranks", phase.ranks},
                        {"steps", phase.steps},
                        {"bytes", phase.bytes}});
    all.push_back({{"network", plan.network},
                   {"reduction", plan.reduction},
                   {"ranks", plan.ranks},
                   {"wire", toString(plan.wire)},
                   {"times", plan.times},
                   {"state_share", plan.stateShare},
                   {"steps", plan.cost.steps},
                   {"bytes", plan.cost.bytes},
                   {"total_bytes", plan.cost.total},
                   {"seconds", plan.seconds ? Json(*plan.seconds) : Json()},
                   {"buckets", std::move(buckets)},
                   {"phases", std::move(phases)}});
  }
  return all;
}

std::string toText(const std::vector<ExchangePlan>& plans) {
  std::string text;
  for (const ExchangePlan& plan : plans) {
    const ReductionDefinition& row = *findReduction(plan.reduction);
    text += fmt::format("what {} ranks exchange in a step of '{}': {} ({}), {} on the wire\n", plan.ranks, plan.network,
                        row.entry.label, row.entry.id, toString(plan.wire));
    text += fmt::format("  {:<36}{:>14}{:>8}{:>16}{:>16}{:>14}\n", "bucket", "numbers", "steps", "bytes a rank",
                        "bytes of all", plan.seconds ? "time" : "");
    const auto line = [&](const std::string& what, std::size_t floats, const ReductionCost& cost, double seconds) {
      text += fmt::format("  {:<36}{:>14}{:>8}{:>16}{:>16}{:>14}\n", what,
                          groupedText(static_cast<std::int64_t>(floats)), cost.steps, groupedText(cost.bytes),
                          groupedText(cost.total), plan.seconds ? milliseconds(seconds) : "");
    };
    std::size_t floats = 0;
    for (const ExchangePlan::Bucket& bucket : plan.buckets) {
      line(bucket.label + (bucket.reduction == plan.reduction ? "" : ", " + bucket.reduction), bucket.floats,
           bucket.cost, bucket.seconds);
      floats += bucket.floats;
    }
    line(plan.times > 1 ? fmt::format("together, {} times", plan.times) : "together", floats, plan.cost,
         plan.seconds.value_or(0));
    if (plan.stateShare < 1)
      text += fmt::format("  of the optimizer's state a rank keeps {:.0f} % at most\n", 100 * plan.stateShare);
    for (const ReductionPhase& phase : plan.phases)
      text += fmt::format("  {}: {} {} of {} ranks, {} {}, {} each\n",
                          phase.call.empty() ? phase.name : fmt::format("{} ({})", phase.name, phase.call),
                          phase.groups, phase.groups == 1 ? "group" : "groups", phase.ranks, phase.steps,
                          phase.steps == 1 ? "step" : "steps", bytesText(phase.bytes));
    if (plan.seconds) text += "  times are predicted from the links, where nobody waits and nothing is computed\n";
  }
  return text;
}

}  // namespace loom

#include "engine/exchange/sdcproj/sdc_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "engine/catalogue/text.h"
#include "engine/exchange/sdcproj/sdc_value.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"

namespace loom::sdc {
namespace {

using Kind = ReportItem::Kind;

struct Solver {
  const char* name;
  const char* rule;                                         // ours
  bool linear;                                              // in the gradient: a sum over passes is a higher rate
  const char* instead;                                      // what is different in ours; empty = the same arithmetic
  std::vector<std::pair<const char*, const char*>> fields;  // Console's parameter -> our field
  double rate;                                              // nnabla's own where the file has none
};

const std::vector<Solver>& solvers() {
  static const std::vector<Solver> all = {
      {"Sgd", "SGD", true, "", {}, 1e-3},
      {"Momentum", "Momentum", true, "", {{"Momentum", "momentum"}}, 1e-3},
      {"Nesterov", "Nesterov", true, "", {{"Momentum", "momentum"}}, 1e-3},
      {"Adam", "Adam", false, "", {{"Beta1", "beta1"}, {"Beta2", "beta2"}, {"Epsilon", "epsilon"}}, 1e-3},
      {"AdamW", "AdamW", false, "", {{"Beta1", "beta1"}, {"Beta2", "beta2"}, {"Epsilon", "epsilon"}}, 1e-3},
      {"Adagrad", "Adagrad", false, "", {{"Epsilon", "epsilon"}}, 1e-2},
      {"RMSprop", "RMSprop", false, "", {{"Decay", "decay"}, {"Epsilon", "epsilon"}}, 1e-3},
      {"Lars",
       "LARS",
       false,
       "",
       {{"Momentum", "momentum"}, {"Coefficient", "coefficient"}, {"Epsilon", "epsilon"}},
       1e-3},
      {"SgdW", "Momentum", true, "decay that does not pass through the momentum", {{"Momentum", "momentum"}}, 1e-3},
      {"Adamax", "Adamax", false, "", {{"Beta1", "beta1"}, {"Beta2", "beta2"}, {"Epsilon", "epsilon"}}, 2e-3},
      {"AMSGRAD",
       "Adam",
       false,
       "the largest mean square so far",
       {{"Beta1", "beta1"}, {"Beta2", "beta2"}, {"Epsilon", "epsilon"}},
       1e-3},
      {"AdaBelief",
       "Adam",
       false,
       "the variance of the gradient in place of its mean square",
       {{"Beta1", "beta1"}, {"Beta2", "beta2"}, {"Epsilon", "epsilon"}},
       1e-3},
      {"AdaBound",
       "Adam",
       false,
       "bounds of the step",
       {{"Beta1", "beta1"}, {"Beta2", "beta2"}, {"Epsilon", "epsilon"}},
       1e-3},
      {"AMSBound",
       "Adam",
       false,
       "bounds of the step",
       {{"Beta1", "beta1"}, {"Beta2", "beta2"}, {"Epsilon", "epsilon"}},
       1e-3},
      {"Adadelta", "Adadelta", false, "", {{"Decay", "decay"}, {"Epsilon", "epsilon"}}, 1},
  };
  return all;
}

class SolverReader {
 public:
  SolverReader(const Section& section, const SolverPlace& where, UpdateSpec& update)
      : m_section(section), m_where(where), m_update(update) {
    for (std::int64_t i = 0; i < 100; ++i) {
      const std::string* key = section.find(fmt::format("SolverParameterName_{}", i));
      if (!key) break;
      if (const auto value = numberOf(section.text(fmt::format("SolverParameter_{}", i))))
        m_parameters[folded(*key)] = *value;
    }
    m_interval = std::clamp<std::int64_t>(section.integer("UpdateInterval", 1), 1, 1000);
  }

  void run() {
    rule();
    schedule();
    warmup();
    if (m_section.integer("RangeFrom", -1) > 0 || m_section.integer("RangeTo", -1) >= 0)
      tell(Kind::untranslatable,
           "it works in a part of the run only (RangeFrom, RangeTo); here an update works in the whole run");
  }

 private:
  void tell(Kind kind, std::string sentence) { m_where.report.add(kind, "", m_where.place, "", std::move(sentence)); }

  double parameter(std::initializer_list<const char*> names, double otherwise) const {
    for (const char* name : names)
      if (const auto found = m_parameters.find(name); found != m_parameters.end()) return found->second;
    return otherwise;
  }

  void rule() {
    const std::string name = m_section.text("SolverName", "Adam");
    const auto known = std::find_if(solvers().begin(), solvers().end(),
                                    [&](const Solver& solver) { return folded(solver.name) == folded(name); });
    const Solver& solver = known == solvers().end() ? solvers()[3] : *known;
    if (known == solvers().end())
      tell(Kind::untranslatable, fmt::format("there is no rule {} here: Adam takes its place", clipped(name)));
    else if (*solver.instead)
      tell(Kind::untranslatable,
           fmt::format("{} has {}, which is not there: {} takes its place", name, solver.instead, solver.rule));
    Json& optimizer = m_update.optimizer = Json{{"name", solver.rule}};
    const double rate = parameter({"alpha", "lr", "learningrate"}, solver.rate);
    for (const auto& [console, ours] : solver.fields)
      if (const auto found = m_parameters.find(folded(console)); found != m_parameters.end())
        set(optimizer, solver.rule, ours, found->second);
    decay(solver, rate);
    // Gradients of the passes are summed there, not averaged.
    const bool sums = m_interval > 1 && solver.linear;
    set(optimizer, solver.rule, "learning_rate", sums ? rate * static_cast<double>(m_interval) : rate);
    if (sums)
      tell(Kind::converted,
           fmt::format(
               "Console adds the gradients of {} passes up where we take their mean: the learning rate {} is {} here",
               m_interval, shown(rate), shown(rate * static_cast<double>(m_interval))));
    if (known != solvers().end() && !*solver.instead)
      tell(Kind::translated, fmt::format("{} is {}", name, solver.rule));
  }

  // Added to all gradients there, biases and normalisation included.
  void decay(const Solver& solver, double rate) {
    double decay = m_section.number("WeightDecay", 0);
    const bool decoupled = std::string_view(solver.name).ends_with('W');
    if (decoupled) decay += parameter({"wd", "weightdecay"}, 0);
    if (decay <= 0) return;
    double ours = decay / static_cast<double>(m_interval);
    std::string said = m_interval > 1 ? fmt::format("the decay {} is {} beside the mean of {} passes; ", shown(decay),
                                                    shown(ours), m_interval)
                                      : "";
    if (std::string_view(solver.rule) == "AdamW" && rate > 0) {
      ours = decay / rate;
      said = fmt::format("nnabla decays by rate / first rate · decay where we take rate · decay: {} is {} here; ",
                         shown(decay), shown(ours));
    }
    if (ours > 1) {
      tell(Kind::untranslatable,
           fmt::format("its weight decay would be {} here, more than weights bear: set it", shown(ours)));
      return;
    }
    set(m_update.optimizer, solver.rule, "weight_decay", ours);
    m_update.decayExclude.clear();
    if (std::string_view(solver.rule) == "LARS") m_update.optimizer["unscaled"] = Json::array();
    tell(Kind::converted, said + "decay holds for biases and normalisation too, as there: No decay is empty");
  }

  static void set(Json& object, const char* rule, const char* field, double value) {
    const OptimizerDefinition* definition = findOptimizer(rule);
    const Field* known = definition ? definition->entry.field(field) : nullptr;
    if (!known) return;
    if (known->hard) value = std::clamp(value, known->hard->low, known->hard->high);
    if (Json(value) != known->defaultValue) object[field] = value;
  }

  // Our schedules count epochs. An iteration of Console is one pass, of which UpdateInterval make a step.
  std::optional<double> epochs(double count, std::int64_t unit) const {
    if (unit == 0) return count;
    if (m_where.samples <= 0) return {};
    return count / std::max(std::floor(static_cast<double>(m_where.samples) / static_cast<double>(m_where.batch)), 1.0);
  }

  void schedule() {
    const std::string name = m_section.text("LearningRateScheduler", "Exponential");
    const double factor = std::clamp(m_section.number("LearningRateMultiplier", 1), 0.0, 10.0);
    Json& schedule = m_update.schedule = Json{{"name", "Constant"}};
    if (name == "Cosine") {
      schedule = Json{{"name", "Cosine"}};
    } else if (name == "Polynomial") {
      schedule = Json{{"name", "Polynomial"}};
      if (const double power = m_section.number("LearningRatePower", 1); power != 1)
        schedule["power"] = std::clamp(power, 1e-3, 100.0);
    } else if (name == "Step") {
      steps(factor, schedule);
      return;
    } else {
      if (name != "Exponential" && !name.empty())
        tell(Kind::untranslatable, fmt::format("there is no schedule {} here: the rate stays", clipped(name)));
      if (factor == 1 || name != "Exponential") return;
      const double interval = m_section.number("LearningRateUpdateInterval", 1);
      const auto every = epochs(interval, m_section.integer("LearningRateUpdateIntervalUnit", 0));
      if (!every || *every <= 0) {
        tell(Kind::untranslatable, fmt::format("the rate is multiplied by {} every {} iterations, and the file does "
                                               "not say how many make an epoch: set the schedule",
                                               shown(factor), shown(interval)));
        return;
      }
      schedule = Json{{"name", "Exponential"}, {"factor", factor}};
      if (*every != 1) schedule["every"] = *every;
    }
    tell(Kind::translated, fmt::format("the schedule {}", schedule["name"].get<std::string>()));
  }

  void steps(double factor, Json& schedule) {
    Json at = Json::array();
    for (const std::string& part : splitList(m_section.text("LearningRateSteps"))) {
      const auto count = numberOf(part);
      const auto epoch = count ? epochs(*count, m_section.integer("LearningRateUpdateIntervalUnit", 0)) : std::nullopt;
      if (!epoch || *epoch < 0 || at.size() >= 1000) {
        tell(Kind::untranslatable,
             fmt::format("of the steps of its schedule {} cannot be told in epochs: set the schedule", clipped(part)));
        return;
      }
      at.push_back(*epoch);
    }
    if (at.empty() || factor == 1) return;
    schedule = Json{{"name", "Step"}, {"factor", factor}, {"at", std::move(at)}};
    tell(Kind::translated, "the schedule Step");
  }

  void warmup() {
    if (m_section.text("LearningRateWarmupScheduler", "None") != "Linear") return;
    const double length = m_section.number("LearningRateWarmupLength", 0);
    if (length <= 0) return;
    if (m_section.integer("LearningRateWarmupLengthUnit", 0) == 0)
      m_update.warmup = Json{{"epochs", std::min(length, 1e6)}};
    else
      m_update.warmup = Json{{"steps", static_cast<std::int64_t>(std::clamp(
                                           std::round(length / static_cast<double>(m_interval)), 1.0, 1e12))}};
    tell(Kind::translated, "a linear warm-up");
  }

  const Section& m_section;
  const SolverPlace& m_where;
  UpdateSpec& m_update;
  std::map<std::string, double> m_parameters;
  std::int64_t m_interval = 1;
};

}  // namespace

void readSolver(const Section& section, const SolverPlace& where, UpdateSpec& update) {
  SolverReader(section, where, update).run();
}

}  // namespace loom::sdc

#include "engine/optimizers/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

namespace loom {
namespace {

// One element's state in a formula that is written again here, in double.
struct Element {
  double w, a = 0, b = 0, c = 0;
};
struct Given {
  double g, lr, decay;
  int t;  // from 1
};
using Formula = std::function<void(Element&, const Given&)>;

constexpr double kScale = 0.8;  // the rules' tensorScale in the test of formulas

// Hyper-parameters that make every term matter, and the published formula with them.
struct Case {
  Json values;
  Formula formula;
};

Formula plainLars(bool inside);
Formula plainLamb(bool corrected);

constexpr double kEpoch = 4.5;  // of all steps in the test of formulas

void addLaterOnes(std::map<std::string, std::vector<Case>>& all);

std::map<std::string, std::vector<Case>> cases() {
  std::map<std::string, std::vector<Case>> all;
  all["SGD"] = {{Json::object(), [](Element& e, const Given& s) { e.w -= s.lr * (s.g + s.decay * e.w); }}};
  all["Momentum"] = {{{{"momentum", 0.7}, {"dampening", 0.5}},
                      [](Element& e, const Given& s) {
                        const double g = s.g + s.decay * e.w;
                        e.a = s.t == 1 ? g : 0.7 * e.a + 0.5 * g;
                        e.w -= s.lr * e.a;
                      }},
                     {{{"momentum", 0.9}}, [](Element& e, const Given& s) {
                        e.a = 0.9 * e.a + s.g + s.decay * e.w;
                        e.w -= s.lr * e.a;
                      }}};
  all["Nesterov"] = {{{{"momentum", 0.8}}, [](Element& e, const Given& s) {
                        const double g = s.g + s.decay * e.w;
                        e.a = 0.8 * e.a + g;
                        e.w -= s.lr * (g + 0.8 * e.a);
                      }}};
  const auto adam = [](Element& e, double g, const Given& s, double epsilon) {
    e.a = 0.6 * e.a + 0.4 * g;
    e.b = 0.75 * e.b + 0.25 * g * g;
    const double m = e.a / (1 - std::pow(0.6, s.t)), v = e.b / (1 - std::pow(0.75, s.t));
    e.w -= s.lr * m / (std::sqrt(v) + epsilon);
  };
  const Json adamValues = {{"beta1", 0.6}, {"beta2", 0.75}, {"epsilon", 0.1}};
  all["Adam"] = {{adamValues, [adam](Element& e, const Given& s) { adam(e, s.g + s.decay * e.w, s, 0.1); }}};
  all["AdamW"] = {{adamValues, [adam](Element& e, const Given& s) {
                     e.w *= 1 - s.lr * s.decay;
                     adam(e, s.g, s, 0.1);
                   }}};
  const auto rms = [](double momentum) {
    return [momentum](Element& e, const Given& s) {
      const double g = s.g + s.decay * e.w;
      e.a = 0.6 * e.a + 0.4 * g * g;
      e.b = momentum * e.b + g / (std::sqrt(e.a) + 0.05);
      e.w -= s.lr * e.b;
    };
  };
  all["RMSprop"] = {{{{"decay", 0.6}, {"epsilon", 0.05}}, rms(0)},
                    {{{"decay", 0.6}, {"epsilon", 0.05}, {"momentum", 0.5}}, rms(0.5)}};
  all["Adagrad"] = {{{{"epsilon", 0.05}, {"initial_sum", 0.3}}, [](Element& e, const Given& s) {
                       const double g = s.g + s.decay * e.w;
                       if (s.t == 1) e.a = 0.3;
                       e.a += g * g;
                       e.w -= s.lr * g / (std::sqrt(e.a) + 0.05);
                     }}};
  all["LARS"] = {{{{"momentum", 0.7}}, plainLars(true)},
                 {{{"momentum", 0.7}, {"rate_placement", "outside"}}, plainLars(false)}};
  const Json lambValues = {{"beta1", 0.6}, {"beta2", 0.75}, {"epsilon", 0.1}};
  Json corrected = lambValues;
  corrected["bias_correction"] = true;
  all["LAMB"] = {{lambValues, plainLamb(false)}, {corrected, plainLamb(true)}};
  addLaterOnes(all);
  return all;
}

// mu_1 ... mu_t one by one, where the rule has a series.
double productOfMomenta(double beta, double decay, int t) {
  double product = 1;
  for (int i = 1; i <= t; ++i) product *= beta * (1 - 0.5 * std::pow(0.96, i * decay));
  return product;
}

// z stands in a, v in b; the share of the step is the test's epoch.
Formula scheduleFree(bool adam) {
  return [adam](Element& e, const Given& s) {
    double d = s.g + s.decay * e.w;
    if (adam) {
      e.b = 0.75 * e.b + 0.25 * s.g * s.g;
      d = s.g / (std::sqrt(e.b / (1 - std::pow(0.75, s.t))) + 0.1) + s.decay * e.w;
    }
    double x = (e.w - 0.4 * e.a) / 0.6;
    e.a -= s.lr * d;
    x = (1 - kEpoch) * x + kEpoch * e.a;
    e.w = 0.4 * e.a + 0.6 * x;
  };
}

void addLaterOnes(std::map<std::string, std::vector<Case>>& all) {
  all["ScheduleFreeSGD"] = {{{{"momentum", 0.6}}, scheduleFree(false)}};
  all["ScheduleFreeAdamW"] = {{{{"momentum", 0.6}, {"beta2", 0.75}, {"epsilon", 0.1}}, scheduleFree(true)}};
  for (const char* rule : {"Muon", "Shampoo", "SOAP"})  // of what is no matrix: AdamW
    all[rule] = {{{{"beta1", 0.6}, {"beta2", 0.75}, {"epsilon", 0.1}}, [](Element& e, const Given& s) {
                    e.w *= 1 - s.lr * s.decay;
                    e.a = 0.6 * e.a + 0.4 * s.g;
                    e.b = 0.75 * e.b + 0.25 * s.g * s.g;
                    e.w -= s.lr * e.a / (1 - std::pow(0.6, s.t)) / (std::sqrt(e.b / (1 - std::pow(0.75, s.t))) + 0.1);
                  }}};
  all["Adadelta"] = {{{{"decay", 0.6}, {"epsilon", 0.05}}, [](Element& e, const Given& s) {
                        const double g = s.g + s.decay * e.w;
                        e.a = 0.6 * e.a + 0.4 * g * g;
                        const double step = std::sqrt(e.b + 0.05) / std::sqrt(e.a + 0.05) * g;
                        e.b = 0.6 * e.b + 0.4 * step * step;
                        e.w -= s.lr * step;
                      }}};
  all["Adamax"] = {{{{"beta1", 0.6}, {"beta2", 0.75}, {"epsilon", 0.1}}, [](Element& e, const Given& s) {
                      const double g = s.g + s.decay * e.w;
                      e.a = 0.6 * e.a + 0.4 * g;
                      e.b = std::max(0.75 * e.b, std::abs(g) + 0.1);
                      e.w -= s.lr / (1 - std::pow(0.6, s.t)) * e.a / e.b;
                    }}};
  const auto nadam = [](double decay) {
    return [decay](Element& e, const Given& s) {
      const double g = s.g + s.decay * e.w;
      e.a = 0.6 * e.a + 0.4 * g;
      e.b = 0.75 * e.b + 0.25 * g * g;
      const double below = std::sqrt(e.b / (1 - std::pow(0.75, s.t))) + 0.1;
      const double mu = 0.6 * (1 - 0.5 * std::pow(0.96, s.t * decay)),
                   next = 0.6 * (1 - 0.5 * std::pow(0.96, (s.t + 1) * decay));
      e.w -= s.lr * (1 - mu) / (1 - productOfMomenta(0.6, decay, s.t)) * g / below;
      e.w -= s.lr * next / (1 - productOfMomenta(0.6, decay, s.t + 1)) * e.a / below;
    };
  };
  const Json betas = {{"beta1", 0.6}, {"beta2", 0.75}, {"epsilon", 0.1}};
  Json slow = betas, fast = betas, decoupled = betas;
  slow["momentum_decay"] = 0;
  fast["momentum_decay"] = 20.0;
  decoupled["decoupled"] = true;
  all["NAdam"] = {{betas, nadam(0.004)}, {slow, nadam(0)}, {fast, nadam(20)}};
  const auto radam = [](Element& e, double g, const Given& s) {
    e.a = 0.6 * e.a + 0.4 * g;
    e.b = 0.75 * e.b + 0.25 * g * g;
    const double power = std::pow(0.75, s.t), most = 7, length = most - 2 * s.t * power / (1 - power);
    double step = e.a / (1 - std::pow(0.6, s.t));
    if (length > 5)
      step *= std::sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)) *
              std::sqrt(1 - power) / (std::sqrt(e.b) + 0.1);
    e.w -= s.lr * step;
  };
  all["RAdam"] = {{betas, [radam](Element& e, const Given& s) { radam(e, s.g + s.decay * e.w, s); }},
                  {decoupled, [radam](Element& e, const Given& s) {
                     e.w *= 1 - s.lr * s.decay;
                     radam(e, s.g, s);
                   }}};
  all["Lion"] = {{{{"beta1", 0.6}, {"beta2", 0.75}}, [](Element& e, const Given& s) {
                    const double mixed = 0.6 * e.a + 0.4 * s.g;
                    e.w -= s.lr * s.decay * e.w + s.lr * (mixed > 0 ? 1 : mixed < 0 ? -1 : 0);
                    e.a = 0.75 * e.a + 0.25 * s.g;
                  }}};
  // A tensor whose sums nobody gave: both ratios are 1. Six of ten epochs of the way are left.
  all["STiLL"] = {{{{"transition", 10.0},
                    {"lamb_learning_rate", 0.03},
                    {"momentum", 0.7},
                    {"beta1", 0.6},
                    {"beta2", 0.75},
                    {"epsilon", 0.1}},
                   [](Element& e, const Given& s) {
                     e.a = 0.6 * e.a + 0.4 * s.g;
                     e.b = 0.75 * e.b + 0.25 * s.g * s.g;
                     e.c = 0.7 * e.c + s.lr * (s.g + s.decay * e.w);
                     e.w -= 0.55 * 0.03 * (e.a / (std::sqrt(e.b) + 0.1) + s.decay * e.w) + 0.45 * e.c;
                   }}};
  const auto warmup = [](double plain) {
    return [plain](Element& e, const Given& s) {
      const double g = s.g + s.decay * e.w;
      e.a = 0.6 * e.a + 0.4 * g * g;
      e.b = 0.7 * e.b + (plain + (1 - plain) * 0.01 / s.lr / (std::sqrt(e.a) + 0.05)) * g;
      e.w -= s.lr * e.b;
    };
  };
  const Json rms = {{"decay", 0.6}, {"epsilon", 0.05}, {"momentum", 0.7}, {"rmsprop_rate", 0.01}, {"period", 5.0}};
  Json before = rms, behind = rms, done = rms;
  before["center"] = 7.0;
  behind["center"] = 3.5;
  done["center"] = 1.0;
  all["RMSpropWarmup"] = {{before, warmup(0.5 * std::exp(-1.0))}, {behind, warmup(0.7)}, {done, warmup(1)}};
}

// LARS and LAMB share ratios over a tensor: their formulas are applied to one as large as the test's, see below.
Formula plainLars(bool inside) {
  return [inside](Element& e, const Given& s) {
    const double lr = inside ? s.lr : 1;
    e.a = 0.7 * e.a + lr * kScale * (s.g + s.decay * e.w);
    e.w -= (inside ? 1 : s.lr) * e.a;
  };
}
Formula plainLamb(bool corrected) {
  return [corrected](Element& e, const Given& s) {
    e.a = 0.6 * e.a + 0.4 * s.g;
    e.b = 0.75 * e.b + 0.25 * s.g * s.g;
    const double m = corrected ? e.a / (1 - std::pow(0.6, s.t)) : e.a,
                 v = corrected ? e.b / (1 - std::pow(0.75, s.t)) : e.b;
    e.w -= s.lr * kScale * (m / (std::sqrt(v) + 0.1) + s.decay * e.w);
  };
}

struct Tensors {
  explicit Tensors(std::size_t count) : weight(count), gradient(count), slots(3, std::vector<float>(count)) {}
  std::vector<float> weight, gradient;
  std::vector<std::vector<float>> slots;
  void update(const Optimizer& rule, const UpdateScalars& scalars, std::size_t first, std::size_t count) {
    UpdateRange range{.weight = weight.data() + first,
                      .gradient = gradient.data() + first,
                      .slots = {slots[0].data() + first, slots[1].data() + first, slots[2].data() + first},
                      .count = static_cast<std::int64_t>(count)};
    if (rule.measures()) {
      const UpdateSums part = rule.measure(range, scalars);
      sums = {sums.weight + part.weight, sums.direction + part.direction};
    }
    rule.update(range, scalars);
  }
  UpdateSums sums;  // of all updates
};

double gradientAt(std::size_t i, int step) {
  return std::sin(0.7 * static_cast<double>(i) + 1.3 * step) + 0.1;
}

TEST(Optimizers, FollowTheirFormulas) {
  const auto all = cases();
  for (const OptimizerDefinition* definition : optimizerTable()) {
    const auto found = all.find(definition->entry.id);
    ASSERT_NE(found, all.end()) << definition->entry.id
                                << " has no formula in this test: write it again here, in double";
    for (const Case& one : found->second) {
      const auto rule = definition->make(Values(definition->entry, one.values));
      constexpr std::size_t kCount = 101;  // no multiple of any vector
      Tensors tensors(kCount);
      std::vector<Element> expected;
      for (std::size_t i = 0; i < kCount; ++i) {
        tensors.weight[i] = static_cast<float>(std::cos(static_cast<double>(i)));
        expected.push_back({tensors.weight[i]});
      }
      for (int step = 1; step <= 6; ++step) {
        const double rate = step < 4 ? 0.05 : 0.02;  // it changes on the way: conventions differ there
        for (std::size_t i = 0; i < kCount; ++i) {
          tensors.gradient[i] = static_cast<float>(gradientAt(i, step));
          one.formula(expected[i], {.g = 0.5 * tensors.gradient[i], .lr = rate, .decay = 0.3, .t = step});
        }
        tensors.update(*rule,
                       {.learningRate = static_cast<float>(rate),
                        .weightDecay = 0.3f,
                        .gradientScale = 0.5f,
                        .step = step,
                        .tensorScale = rule->measures() ? static_cast<float>(kScale) : 1,
                        .epoch = kEpoch},
                       0, kCount);
        for (std::size_t i = 0; i < kCount; ++i)
          ASSERT_NEAR(tensors.weight[i], expected[i].w, 3e-6 * std::max(1.0, std::abs(expected[i].w)))
              << definition->entry.id << one.values << " element " << i << " step " << step;
      }
    }
  }
}

// Pieces of any size give the same bits: what lets a tensor be shared among threads.
TEST(Optimizers, DoNotDependOnThePieces) {
  for (const OptimizerDefinition* definition : optimizerTable()) {
    const Json none = Json::object();
    const auto rule = definition->make(Values(definition->entry, none));
    constexpr std::size_t kCount = 97;
    Tensors whole(kCount), parts(kCount);
    for (int step = 1; step <= 3; ++step) {
      for (std::size_t i = 0; i < kCount; ++i)
        whole.gradient[i] = parts.gradient[i] = static_cast<float>(gradientAt(i, step));
      const UpdateScalars scalars{.learningRate = 0.01f, .weightDecay = 0.1f, .gradientScale = 0.9f, .step = step};
      whole.update(*rule, scalars, 0, kCount);
      for (std::size_t first = 0; first < kCount; first += 13)
        parts.update(*rule, scalars, first, std::min<std::size_t>(13, kCount - first));
    }
    EXPECT_EQ(whole.weight, parts.weight) << definition->entry.id;
    EXPECT_NEAR(whole.sums.weight, parts.sums.weight, 1e-9) << definition->entry.id;
    EXPECT_NEAR(whole.sums.direction, parts.sums.direction, 1e-9 * whole.sums.direction) << definition->entry.id;
  }
}

// One weight under one rule, gradient by gradient.
class Single {
 public:
  Single(const char* name, Json values, float weight)
      : m_values(std::move(values)),
        m_definition(findOptimizer(name)),
        m_rule(m_definition->make(Values(m_definition->entry, m_values))),
        m_tensors(1) {
    m_tensors.weight[0] = weight;
  }
  double step(float gradient, float rate, float decay = 0) {
    m_tensors.gradient[0] = gradient;
    m_tensors.update(*m_rule, {.learningRate = rate, .weightDecay = decay, .step = ++m_step}, 0, 1);
    return m_tensors.weight[0];
  }

 private:
  Json m_values;
  const OptimizerDefinition* m_definition;
  std::unique_ptr<Optimizer> m_rule;
  Tensors m_tensors;
  int m_step = 0;
};

// Worked numbers of the momentum conventions: w0 = 1, g = 1, mu = 0.9, rates 0.1, 0.1, 0.01, 0.01.
TEST(Optimizers, MomentumKeepsTheRateOutsideOfTheBuffer) {
  Single single("Momentum", {{"momentum", 0.9}}, 1);
  for (const auto& [rate, weight] :
       std::vector<std::pair<float, double>>{{0.1f, 0.9}, {0.1f, 0.71}, {0.01f, 0.6829}, {0.01f, 0.64851}})
    EXPECT_NEAR(single.step(1, rate), weight, 1e-6);
}

TEST(Optimizers, DampeningSparesTheFirstStep) {
  Single single("Momentum", {{"momentum", 0.9}, {"dampening", 0.5}}, 1);
  for (const auto& [rate, weight] :
       std::vector<std::pair<float, double>>{{0.1f, 0.9}, {0.1f, 0.76}, {0.01f, 0.7424}, {0.01f, 0.72156}})
    EXPECT_NEAR(single.step(1, rate), weight, 1e-6);
}

TEST(Optimizers, NesterovLooksAhead) {
  Single single("Nesterov", {{"momentum", 0.9}}, 1);
  for (const double weight : {0.81, 0.539, 0.1951}) EXPECT_NEAR(single.step(1, 0.1f), weight, 1e-6);
}

TEST(Optimizers, AdamPutsEpsilonOutsideOfTheRoot) {
  Single single("Adam", Json::object(), 0);
  EXPECT_NEAR(single.step(1e-4f, 1e-3f), -9.99900009999e-4,
              1e-9);  // TensorFlow's and nnabla's place would give 9.968e-4
}

TEST(Optimizers, AdamWDecaysByRateTimesDecay) {
  Single single("AdamW", Json::object(), 2);
  EXPECT_NEAR(single.step(0, 1e-3f, 0.01f), 2 * 0.99999, 1e-7);
}

TEST(Optimizers, DefaultsAreThoseThatPeopleKnow) {
  const auto defaultOf = [](const char* name, const char* key) {
    return findOptimizer(name)->entry.field(key)->defaultValue.get<double>();
  };
  EXPECT_EQ(defaultOf("Adam", "learning_rate"), 1e-3);
  EXPECT_EQ(defaultOf("Adam", "beta2"), 0.999);
  EXPECT_EQ(defaultOf("Adam", "epsilon"), 1e-8);
  EXPECT_EQ(defaultOf("AdamW", "weight_decay"), 1e-2);
  EXPECT_EQ(defaultOf("Momentum", "momentum"), 0.9);
  EXPECT_EQ(defaultOf("RMSprop", "decay"), 0.99);
  EXPECT_EQ(defaultOf("Adadelta", "learning_rate"), 1);
  EXPECT_EQ(defaultOf("Adadelta", "epsilon"), 1e-6);
  EXPECT_EQ(defaultOf("Adamax", "learning_rate"), 2e-3);
  EXPECT_EQ(defaultOf("NAdam", "learning_rate"), 2e-3);
  EXPECT_EQ(defaultOf("NAdam", "momentum_decay"), 4e-3);
  EXPECT_EQ(defaultOf("RAdam", "learning_rate"), 1e-3);
  EXPECT_EQ(defaultOf("Lion", "learning_rate"), 1e-4);
  EXPECT_EQ(defaultOf("Lion", "beta2"), 0.99);
  EXPECT_EQ(defaultOf("STiLL", "learning_rate"), 26.1);
  EXPECT_EQ(defaultOf("STiLL", "momentum"), 0.955);
  EXPECT_EQ(defaultOf("RMSpropWarmup", "rmsprop_rate"), 3e-4);
}

TEST(Optimizers, EveryEntryIsWhole) {
  for (const OptimizerDefinition* definition : optimizerTable()) {
    const Entry& entry = definition->entry;
    EXPECT_FALSE(entry.summary.empty() || entry.help.empty()) << entry.id;
    EXPECT_NE(entry.field("learning_rate"), nullptr) << entry.id;
    EXPECT_NE(entry.field("weight_decay"), nullptr) << entry.id;
    EXPECT_TRUE(validate(entry, Json::object()).empty()) << entry.id << ": its own defaults must be comfortable";
    EXPECT_EQ(findOptimizer(entry.id), definition);
    const Json none = Json::object();
    EXPECT_LE(definition->make(Values(entry, none))->slots().size(), 3u);
  }
  EXPECT_EQ(findOptimizer("adamw"), findOptimizer("AdamW"));
  EXPECT_EQ(findOptimizer("Adamaxx"), nullptr);
}

}  // namespace
}  // namespace loom

// What happens around a rule: worked numbers in double, whole runs against what is done by hand, resumes to the bit,
// and what is refused or told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/philox.h"
#include "engine/network/method_check.h"
#include "engine/optimizers/optimizer.h"
#include "engine/run/control.h"
#include "engine/run/safetensors.h"
#include "engine/training/methods/method.h"
#include "engine/training/trained_run.h"
#include "tests/engine/training/far_machine.h"
#include "tests/engine/training/fixture.h"

namespace loom::methods_test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;
using Tensors = std::map<std::string, std::vector<float>>;

// A store of two weights, in the host's memory or in one whose addresses lead nowhere.
class Weights {
 public:
  explicit Weights(std::vector<float> w, std::vector<float> g, bool far = false)
      : m_store(1, far ? FarBackend().makeMemory() : makeHostMemory()) {
    m_store.ensure({{.name = "w", .shape = {static_cast<std::int64_t>(w.size())}, .initializer = {}}});
    m_store.at("w").value.write(w);
    m_store.gradient("w").write(g);
  }
  std::unique_ptr<UpdateMethod> method(const char* id, const Json& values, double epochs = 4) {
    const MethodDefinition& row = *findMethod(id);
    auto made = row.make(Values(row.entry, values), {.store = m_store, .names = {"w"}, .seed = 7, .epochs = epochs});
    if (row.slotsBeginAsWeights) m_store.slot("w", row.slots.front()).copyFrom(m_store.at("w").value);
    return made;
  }
  std::vector<float> values() const { return m_store.at("w").value.values(); }
  std::vector<float> slot(const char* name) { return m_store.slot("w", name).values(); }
  void write(const std::vector<float>& w) { m_store.at("w").value.write(w); }

 private:
  ParameterStore m_store;
};

TEST(Methods, SamGoesWhereTheGradientLeadsAndComesBack) {
  for (const bool far : {false, true}) {
    Weights weights({3, 4}, {0.6f, 0.8f}, far);
    const Json plain = {{"sam_radius", 0.05}}, adaptive = {{"sam_radius", 0.05}, {"sam_adaptive", true}};
    const auto sam = weights.method("sam", plain);
    ASSERT_TRUE(sam->again());
    EXPECT_THAT(weights.values(), Pointwise(FloatNear(1e-6f), {3.03f, 4.04f}));
    sam->gradientsDone();
    EXPECT_THAT(weights.values(), ElementsAre(3, 4));
    const auto scaled = weights.method("sam", adaptive);
    ASSERT_TRUE(scaled->again());
    EXPECT_THAT(weights.values(), Pointwise(FloatNear(1e-6f), {3.073539185945f, 4.174315107425f}));
    scaled->gradientsDone();
    EXPECT_THAT(weights.values(), ElementsAre(3, 4));
  }
  Weights still({3, 4}, {0, 0}), lost({3, 4}, {std::nanf(""), 1});
  EXPECT_FALSE(still.method("sam", Json::object())->again()) << "no direction";
  EXPECT_FALSE(lost.method("sam", Json::object())->again()) << "for the update to find out";
}

TEST(Methods, LookaheadsSlowWeightsFollow) {
  for (const bool far : {false, true}) {
    Weights weights({1, 2}, {0, 0}, far);
    const Json values = {{"lookahead_steps", 2}, {"lookahead_share", 0.25}};
    const auto lookahead = weights.method("lookahead", values);
    weights.write({3, 0});
    lookahead->updated({.updates = 1});
    EXPECT_THAT(weights.values(), ElementsAre(3, 0));
    EXPECT_THAT(weights.slot("slow"), ElementsAre(1, 2));
    weights.write({5, -2});
    lookahead->updated({.updates = 2});
    EXPECT_THAT(weights.values(), ElementsAre(2, 1));
    EXPECT_THAT(weights.slot("slow"), ElementsAre(2, 1));
    EXPECT_EQ(lookahead->evaluated()->slot, "slow");
  }
}

TEST(Methods, SwaIsTheEqualMeanOfTheLastEpochs) {
  Weights weights({1, 2}, {0, 0});
  const Json values = {{"swa_from", 0.5}};
  auto swa = weights.method("swa", values);
  std::int64_t updates = 0;
  const auto epoch = [&](double done, std::vector<float> w) {
    weights.write(w);
    swa->updated({.updates = ++updates, .epoch = done});
  };
  epoch(1, {100, 100});
  epoch(1.5, {200, 100});
  EXPECT_FALSE(swa->evaluated()) << "nothing was taken yet";
  EXPECT_TRUE(swa->state().is_null());
  epoch(2, {3, 6});
  epoch(2.5, {500, 100});
  EXPECT_THAT(weights.slot("mean"), ElementsAre(3, 6));
  const Json state = swa->state();
  swa = weights.method("swa", values);
  swa->restore(state);
  epoch(3, {5, 6});
  EXPECT_THAT(weights.slot("mean"), ElementsAre(4, 6));
  epoch(4, {7, 12});
  EXPECT_THAT(weights.slot("mean"), Pointwise(FloatNear(1e-6f), {5.0f, 8.0f}));
  EXPECT_EQ(swa->evaluated()->slot, "mean");
  EXPECT_THAT(weights.values(), ElementsAre(7, 12)) << "training takes no notice";
}

// The noise by the formulas again, in double.
TEST(Methods, SmoothOutDrawsNoiseForEachRankAndTakesItAway) {
  const std::vector<float> w{3, -4, 0.5f, 2, 1, 6};
  const auto noise = [](std::int64_t step, int rank) {
    const Philox random(7, hashName("smoothout/w"));
    std::vector<double> drawn;
    for (std::uint64_t block = 0; block < 2; ++block)
      for (const std::uint32_t word :
           random(block, static_cast<std::uint64_t>(step) << 20 | static_cast<unsigned>(rank)))
        drawn.push_back(2.0 * Philox::toUniform(word) - 1);
    return drawn;
  };
  for (const char* by : {"none", "weight", "filter"})
    for (const bool alike : {false, true})
      for (const bool far : {false, true}) {
        Weights weights(w, w, far);
        const Json values = {
            {"smoothout_radius", 0.3}, {"smoothout_scale", by}, {"smoothout_alike", alike}, {"smoothout_fades", true}};
        const auto smooth = weights.method("smoothout", values);
        const double radius = 0.3 * std::pow(6, -0.275);
        smooth->begin(5);
        for (const int rank : {0, 0, 3}) {
          smooth->beforeShard(rank);
          const std::vector<double> drawn = noise(5, alike ? 0 : rank + 1);
          double ownLength = 0, length = 0;
          for (std::size_t i = 0; i < w.size(); ++i) ownLength += w[i] * w[i], length += drawn[i] * drawn[i];
          const std::vector<float> moved = weights.values();
          for (std::size_t i = 0; i < w.size(); ++i) {
            const double factor = by == std::string("none")     ? 1
                                  : by == std::string("weight") ? std::abs(w[i])
                                                                : std::sqrt(ownLength / length);
            EXPECT_NEAR(moved[i], w[i] + radius * factor * drawn[i], 1e-6) << by << i;
          }
        }
        smooth->gradientsDone();
        EXPECT_EQ(weights.values(), w);
      }
}

// ---- whole runs

Json with(const Json& settings, Json project = perceptron()) {
  project["training"].update(settings);
  return project;
}

const Json kPlain = {{"optimizer", {{"name", "SGD"}, {"learning_rate", 1.0}}},
                     {"batch", 48},
                     {"epochs", 20},
                     {"max_steps", 1},
                     {"shuffle", false}};

// The gradient at some weights, all samples at once: what one step of plain descent takes off.
Tensors stepFrom(const Workshop& workshop, const std::string& name, const Tensors* weights, Json settings = kPlain) {
  if (weights) {
    std::vector<TensorFile::Tensor> tensors;
    for (const auto& [id, values] : *weights) {
      if (id.find('#') != std::string::npos) continue;
      const std::int64_t size = static_cast<std::int64_t>(values.size());
      const Shape shape = id == "fc1/weight" ? Shape{8, 3} : id == "fc2/weight" ? Shape{3, 8} : Shape{size};
      tensors.push_back({id, shape, values});
    }
    TensorFile::write(workshop.path() / (name + ".safetensors"), tensors, {});
    settings["start_from"] = name + ".safetensors";
  }
  return workshop.train(with(settings), name).tensors();
}

Tensors start(const Workshop& workshop) {
  return workshop.train(with({{"epochs", 0}}), "start").tensors();
}

TEST(Methods, ASamRunTakesTheGradientOfTheMovedWeights) {
  const Workshop workshop("methods-sam", 48);
  const Tensors first = start(workshop), plain = stepFrom(workshop, "plain", nullptr);
  Tensors moved = first;
  double norm = 0;
  for (const auto& [name, values] : plain)
    for (std::size_t i = 0; i < values.size(); ++i) norm += std::pow(first.at(name)[i] - values[i], 2);
  for (auto& [name, values] : moved)
    if (plain.contains(name))
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] += static_cast<float>(0.5 / std::sqrt(norm) * (first.at(name)[i] - plain.at(name)[i]));
  const Tensors there = stepFrom(workshop, "there", &moved);
  Json sam = kPlain;
  sam.update({{"perturbation", "sam"}, {"sam_radius", 0.5}});
  const auto run = workshop.train(with(sam), "sam");
  const Tensors after = run.tensors();
  double apart = 0;
  for (const auto& [name, values] : there)
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(after.at(name)[i], first.at(name)[i] - (moved.at(name)[i] - values[i]), 2e-6) << name;
      apart = std::max<double>(apart, std::abs(after.at(name)[i] - plain.at(name)[i]));
    }
  EXPECT_GT(apart, 1e-3) << "another step than the plain one";
  EXPECT_EQ(run.series("step", "loss"), workshop.train(with(kPlain), "again").series("step", "loss")) << "at w";
}

TEST(Methods, DelayedGradientsAreThoseOfTheStepBefore) {
  const Workshop workshop("methods-delayed", 48);
  Json delayed = kPlain;
  delayed["gradients"] = "delayed";
  const auto after = [&](int steps) {
    delayed["max_steps"] = steps;
    return workshop.train(with(delayed), "delayed" + std::to_string(steps)).tensors();
  };
  const Tensors first = start(workshop), one = after(1), two = after(2), three = after(3), four = after(4),
                plain = stepFrom(workshop, "plain", nullptr), there = stepFrom(workshop, "there", &two);
  for (const auto& [name, values] : plain)
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(one.at(name)[i], first.at(name)[i]) << "the first step applies none";
      EXPECT_NEAR(two.at(name)[i], values[i], 1e-6) << name;
      EXPECT_NEAR(three.at(name)[i], two.at(name)[i] - (first.at(name)[i] - values[i]), 2e-6) << name;
      EXPECT_NEAR(four.at(name)[i], three.at(name)[i] - (two.at(name)[i] - there.at(name)[i]), 2e-6) << name;
    }
}

Json everything(Json project) {
  Json& nodes = project["networks"]["main"]["nodes"];
  nodes.push_back({{"id", "bn"}, {"layer", "BatchNormalization"}});
  Json& edges = project["networks"]["main"]["edges"];
  edges[1] = {"fc1", "bn"};
  edges.push_back({"bn", "relu"});
  project["training"].update({{"warmup", {{"epochs", 1}}}, {"optimizer", {{"name", "Adam"}, {"learning_rate", 0.02}}}});
  return project;
}

std::vector<std::pair<std::string, Json>> ways() {
  std::vector<std::pair<std::string, Json>> all;
  for (const MethodDefinition* row : methodTable())
    all.push_back({row->entry.id, {{settingOf(row->place), row->entry.id}}});
  all.push_back({"three", {{"perturbation", "smoothout"}, {"gradients", "delayed"}, {"afterwards", "lookahead"}}});
  all.push_back({"sam-swa", {{"perturbation", "sam"}, {"afterwards", "swa"}, {"swa_from", 0.3}}});
  all.push_back({"average", {{"evaluated_weights", "average"}}});
  for (const char* rule : {"ScheduleFreeSGD", "ScheduleFreeAdamW", "Muon"})
    all.push_back({rule, {{"optimizer", {{"name", rule}, {"learning_rate", 0.03}, {"weight_decay", 0.01}}}}});
  all.push_back({"Shampoo",
                 {{"optimizer",
                   {{"name", "Shampoo"}, {"precondition_every", 3}, {"precondition_from", 2}, {"largest_block", 5}}}}});
  all.push_back({"SOAP", {{"optimizer", {{"name", "SOAP"}, {"precondition_every", 3}}}}});
  return all;
}

Workshop::Ways endAt(std::int64_t step, bool resume = false) {
  return {.resume = resume, .watch = [step](const Event& event, const RunFolder& folder) {
            if (event.kind == "step" && event.body["step"] == step) appendControl(folder, {{"command", "stop"}});
          }};
}

TEST(Methods, EachGoesOnAsIfItHadNeverStopped) {
  const Workshop workshop("methods-resume", 50);  // 4 steps an epoch, the last of 2 samples
  for (const auto& [name, settings] : ways()) {
    const Json project = with(settings, everything(perceptron()));
    const auto whole = workshop.train(project, name + "-whole");
    EXPECT_TRUE(whole.of("warning").empty()) << name;
    for (const std::int64_t step : {1, 6, 9}) {
      const std::string parts = name + std::to_string(step);
      workshop.train(project, parts, endAt(step));
      const auto run = workshop.train(project, parts, {.resume = true});
      EXPECT_EQ(whole.tensors(), run.tensors()) << parts;
      EXPECT_EQ(whole.series("step", "loss"), run.series("step", "loss")) << parts;
      EXPECT_EQ(whole.series("validation", "loss"), run.series("validation", "loss")) << parts;
      EXPECT_TRUE(run.of("warning").empty()) << parts;
    }
  }
}

// On a machine whose memory the host cannot follow: the same bits.
TEST(Methods, FollowNoAddress) {
  const Workshop workshop("methods-far", 32);
  const auto reference = makeReferenceBackend();
  FarBackend far;
  for (const auto& [name, settings] : ways()) {
    const Json project = with({{"max_steps", 5}}, with(settings, everything(perceptron())));
    EXPECT_EQ(workshop.train(project, name + "-here", {.backend = reference.get()}).tensors(),
              workshop.train(project, name + "-there", {.backend = &far}).tensors())
        << name;
  }
}

// What is evaluated has statistics of its own: those of the training set, forwards, at those weights.
TEST(Methods, BatchStatisticsAreTakenAnewForWhatIsEvaluated) {
  const Workshop workshop("methods-statistics", 48);
  const Json settings = {{"batch", 48}, {"shuffle", false}, {"evaluated_weights", "average"}, {"average_decay", 0.9}};
  const auto run = workshop.train(with(settings, everything(perceptron())), "run");
  const Tensors left = run.tensors();
  EXPECT_NE(left.at("bn/mean"), left.at("bn/mean#trained"));
  // fc1 by hand at the average; all samples are one batch.
  Tensors weights;
  for (const auto& [name, values] : left)
    if (name.find('#') == std::string::npos) weights[name] = values;
  std::vector<double> mean(8), square(8);
  const std::string text = clusters(48, 1);
  std::size_t at = text.find('\n') + 1;
  for (int row = 0; row < 48; ++row) {
    double x[3];
    for (double& value : x) {
      std::size_t used = 0;
      value = std::stod(text.substr(at), &used);
      at += used + 1;
    }
    at = text.find('\n', at) + 1;
    for (std::size_t o = 0; o < 8; ++o) {
      double y = weights["fc1/bias"][o];
      for (std::size_t i = 0; i < 3; ++i) y += weights["fc1/weight"][3 * o + i] * x[i];
      mean[o] += y / 48, square[o] += y * y / 48;
    }
  }
  for (std::size_t o = 0; o < 8; ++o) {
    EXPECT_NEAR(left.at("bn/mean")[o], mean[o], 1e-4);
    EXPECT_NEAR(left.at("bn/variance")[o], (square[o] - mean[o] * mean[o]) * 48 / 47, 1e-3);
  }
}

TEST(Methods, ARunIsJudgedByWhatItLeaves) {
  const Workshop workshop("methods-judged", 48);
  for (const auto& [name, settings] : ways()) {
    const auto run = workshop.train(with(settings, everything(perceptron())), name);
    TrainedNetwork trained(cpuBackend(), {.run = run.folder, .which = Which::last});
    EXPECT_NEAR(trained.evaluate("").loss, run.series("validation", "loss").back(), 1e-5) << name;
  }
}

std::vector<std::string> messages(const Workshop::Run& run) {
  std::vector<std::string> all;
  for (const Event& event : run.of("warning")) all.push_back(event.body["message"].get<std::string>());
  return all;
}

TEST(Methods, AnotherOneFromAResumeOnSaysWhatBecomesOfTheFirst) {
  const Workshop workshop("methods-changed", 48);
  const auto plain = workshop.train(perceptron(), "plain");
  for (const auto& [id, words] :
       std::vector<std::pair<std::string, std::string>>{{"lookahead", "Lookahead's slow weights are given up"},
                                                        {"swa", "SWA's means of the weights are given up"}}) {
    const Json project = with({{"afterwards", id}, {"swa_from", 0.1}, {"lookahead_steps", 4}});
    workshop.train(project, id, endAt(3));
    const auto ended = workshop.train(perceptron(), id, {.resume = true, .changed = true});
    EXPECT_THAT(messages(ended), ElementsAre(HasSubstr(words)));
    EXPECT_EQ(ended.tensors(), plain.tensors()) << "training goes on from its own weights";
    workshop.train(perceptron(), id + "-begins", endAt(3));
    const auto begun = workshop.train(project, id + "-begins", {.resume = true, .changed = true});
    EXPECT_THAT(messages(begun), ElementsAre(HasSubstr("the checkpoint has no ")));
  }
  const Json delayed = with({{"gradients", "delayed"}});
  workshop.train(delayed, "delayed", endAt(4));
  EXPECT_THAT(messages(workshop.train(perceptron(), "delayed", {.resume = true, .changed = true})),
              ElementsAre(HasSubstr("the gradients of the step before are given up")));
  Json other = perceptron();
  other["training"]["optimizer"] = {{"name", "ScheduleFreeSGD"}, {"learning_rate", 0.1}};
  workshop.train(perceptron(), "rule", endAt(4));
  EXPECT_THAT(messages(workshop.train(other, "rule", {.resume = true, .changed = true})),
              ElementsAre(HasSubstr("no optimizer state 'z'; they begin at the weights"),
                          HasSubstr("optimizer state 'momentum' is given up")));
}

TEST(Methods, ImpossibleOnesAreRefusedBeforeTheRunWithTheRemedy) {
  const Workshop workshop("methods-refused", 48);
  int runs = 0;
  const auto refused = [&](const Json& settings, const std::string& words, const std::string& setting) {
    const Json project = with(settings);
    std::vector<Event> events;
    EXPECT_THAT(workshop.failure(project, "run" + std::to_string(runs++), &events).message(), HasSubstr(words));
    for (const Event& event : events) EXPECT_NE(event.kind, "step");
    const ReadProject read = readProject(project.dump(), "test.loom");
    bool told = false;
    for (const Problem& problem : checkProject(read.project))
      if (problem.field == "training." + setting && problem.severity == Severity::error) {
        told = true;
        EXPECT_THAT(problem.message, HasSubstr(words));
        Json mended = project;
        mended["training"][setting] = problem.remedy.value;
        EXPECT_FALSE(refusedMethods(readProject(mended.dump(), "mended.loom").project)) << settings;
      }
    EXPECT_TRUE(told) << settings;
  };
  refused({{"perturbation", "sam"}, {"gradients", "delayed"}}, "set gradients to synchronous", "gradients");
  for (const char* id : {"lookahead", "swa"}) {
    refused({{"afterwards", id}, {"evaluated_weights", "average"}}, "set evaluated_weights to last",
            "evaluated_weights");
    refused({{"afterwards", id}, {"optimizer", {{"name", "ScheduleFreeSGD"}}}}, "set afterwards to none", "afterwards");
  }
  refused({{"evaluated_weights", "average"}, {"optimizer", {{"name", "ScheduleFreeAdamW"}}}},
          "set evaluated_weights to last", "evaluated_weights");
  refused({{"shard_optimizer", true}, {"evaluated_weights", "average"}}, "set shard_optimizer to false",
          "shard_optimizer");
  EXPECT_FALSE(refusedMethods(readProject(with({{"perturbation", "sam"}, {"afterwards", "swa"}}).dump(), "x").project));
}

TEST(Methods, AScheduleBesideAnAverageOfTheRulesOwnIsAdvisedAgainst) {
  const auto advised = [](const char* rule, const char* schedule) {
    const ReadProject read =
        readProject(with({{"optimizer", {{"name", rule}}}, {"schedule", {{"name", schedule}}}}).dump(), "test.loom");
    int found = 0;
    for (const Problem& problem : checkProject(read.project)) found += problem.field == "training.schedule";
    return found;
  };
  EXPECT_EQ(advised("ScheduleFreeSGD", "Cosine"), 1);
  EXPECT_EQ(advised("ScheduleFreeSGD", "Constant"), 0);
  EXPECT_EQ(advised("SGD", "Cosine"), 0);
}

TEST(Methods, FieldsStandWhereTheirMethodIsChosen) {
  for (const MethodDefinition* row : methodTable()) {
    const loom::Field* choice = settingsEntry().field(settingOf(row->place));
    ASSERT_TRUE(choice);
    EXPECT_TRUE(std::any_of(choice->choices.begin(), choice->choices.end(),
                            [&](const Choice& each) { return each.id == row->entry.id && !each.help.empty(); }));
    for (const loom::Field& field : row->entry.fields) {
      const loom::Field* found = settingsEntry().field(field.key);
      ASSERT_TRUE(found) << field.key;
      EXPECT_FALSE(isRead(settingsEntry(), *found, Json::object()));
      EXPECT_TRUE(isRead(settingsEntry(), *found, {{choice->key, row->entry.id}}));
    }
    const MethodCost cost = row->cost(Json::object());
    EXPECT_EQ(cost.slots, static_cast<int>(row->slots.size()));
  }
}

}  // namespace
}  // namespace loom::methods_test

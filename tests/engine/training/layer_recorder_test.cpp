// What is recorded of layers, against the same computed here in double precision; that training is the same with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "engine/run/layer_record.h"
#include "tests/engine/training/fixture.h"
#include "tests/engine/training/late_backend.h"

namespace loom {
namespace {

using Numbers = std::vector<double>;

// The perceptron of the fixture on all rows at once.
struct ByHand {
  Numbers h, r, z, dh, dr, dz, gradient[4];  // values and slopes by sample and unit; of fc1, fc2: weight, bias

  ByHand(const std::string& csv, const std::map<std::string, std::vector<float>>& weights) {
    const auto &w1 = weights.at("fc1/weight"), &b1 = weights.at("fc1/bias"), &w2 = weights.at("fc2/weight"),
               &b2 = weights.at("fc2/bias");
    std::istringstream lines(csv);
    std::string line;
    std::getline(lines, line);
    std::vector<std::array<double, 4>> rows;
    while (std::getline(lines, line)) {
      std::array<double, 4>& row = rows.emplace_back();
      std::istringstream cells(line);
      for (double& cell : row) {
        std::string text;
        std::getline(cells, text, ',');
        cell = std::stod(text);
      }
    }
    const std::size_t sizes[] = {24, 8, 24, 3};
    for (std::size_t i = 0; i < 4; ++i) gradient[i].assign(sizes[i], 0);
    const auto n = static_cast<double>(rows.size());
    for (const auto& row : rows) {
      double hidden[8], rectified[8], logits[3], slope[3], sum = 0;
      for (std::size_t j = 0; j < 8; ++j) {
        hidden[j] = b1[j];
        for (std::size_t i = 0; i < 3; ++i) hidden[j] += w1[3 * j + i] * row[i];
        rectified[j] = std::max(0.0, hidden[j]);
        h.push_back(hidden[j]);
        r.push_back(rectified[j]);
      }
      for (std::size_t k = 0; k < 3; ++k) {
        logits[k] = b2[k];
        for (std::size_t j = 0; j < 8; ++j) logits[k] += w2[8 * k + j] * rectified[j];
        z.push_back(logits[k]);
        sum += std::exp(logits[k]);
      }
      for (std::size_t k = 0; k < 3; ++k) {
        slope[k] = (std::exp(logits[k]) / sum - (static_cast<double>(k) == row[3])) / n;
        dz.push_back(slope[k]);
        gradient[3][k] += slope[k];
        for (std::size_t j = 0; j < 8; ++j) gradient[2][8 * k + j] += slope[k] * rectified[j];
      }
      for (std::size_t j = 0; j < 8; ++j) {
        double back = 0;
        for (std::size_t k = 0; k < 3; ++k) back += w2[8 * k + j] * slope[k];
        dr.push_back(back);
        dh.push_back(hidden[j] > 0 ? back : 0);
        gradient[1][j] += dh.back();
        for (std::size_t i = 0; i < 3; ++i) gradient[0][3 * j + i] += dh.back() * row[i];
      }
    }
  }
  static double norm(std::initializer_list<const Numbers*> parts) {
    double squares = 0;
    for (const Numbers* part : parts)
      for (const double value : *part) squares += value * value;
    return std::sqrt(squares);
  }
};

void expectDistribution(const ValueDistribution& told, const Numbers& values, const char* what) {
  SCOPED_TRACE(what);
  ASSERT_EQ(told.count(), static_cast<std::int64_t>(values.size()));
  EXPECT_EQ(told.notFinite(), 0);
  double sum = 0, squares = 0;
  for (const double value : values) sum += value, squares += value * value;
  const double mean = sum / static_cast<double>(values.size()),
               deviation = std::sqrt(squares / static_cast<double>(values.size()) - mean * mean);
  Numbers sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double scale = std::max(std::abs(sorted.front()), std::abs(sorted.back())), near = 1e-5 * scale;
  EXPECT_NEAR(told.least(), sorted.front(), near);
  EXPECT_NEAR(told.most(), sorted.back(), near);
  EXPECT_NEAR(told.mean(), mean, near);
  EXPECT_NEAR(told.deviation(), deviation, 10 * near);
  for (const double share : {0.05, 0.25, 0.5, 0.75, 0.95}) {
    const double quantile = sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
    EXPECT_NEAR(told.quantile(share), quantile, 0.26 * std::abs(quantile) + 0.06 * scale) << share;
  }
}

Json recordedProject(std::int64_t every = 1) {
  Json project = perceptron(false);
  project["training"].update({{"record_layers", every},
                              {"batch", 50},
                              {"shuffle", false},
                              {"max_steps", 1},
                              {"optimizer", {{"name", "SGD"}, {"learning_rate", 0.1}}}});
  return project;
}

std::vector<RecordedStep> stepsOf(const Workshop::Run& run) {
  RecordedSteps steps(run.folder.eventsFile());
  steps.read();
  EXPECT_EQ(steps.skipped(), 0);
  return steps.steps();
}

TEST(LayerRecorder, TellsWhatAHandComputes) {
  const Workshop workshop("record");
  Json untrained = recordedProject(0);
  untrained["training"]["epochs"] = 0;
  const auto weights = workshop.train(untrained, "untrained").tensors();
  const ByHand hand(clusters(50, 1), weights);
  // In one pass, and in passes of 17, 17 and 16 samples.
  for (const int passes : {1, 3}) {
    SCOPED_TRACE(passes);
    Json project = recordedProject();
    project["training"]["accumulate"] = passes;
    const std::vector<RecordedStep> steps = stepsOf(workshop.train(project, "passes-" + std::to_string(passes)));
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].step, 1);
    EXPECT_GT(steps[0].ms, 0);
    const auto& layers = steps[0].networks.at("main");
    expectDistribution(layers.at("fc1").activations, hand.h, "h");
    expectDistribution(layers.at("relu").activations, hand.r, "r");
    expectDistribution(layers.at("fc2").activations, hand.z, "z");
    expectDistribution(layers.at("fc1").gradients, hand.dh, "dh");
    expectDistribution(layers.at("relu").gradients, hand.dr, "dr");
    expectDistribution(layers.at("fc2").gradients, hand.dz, "dz");
    EXPECT_EQ(layers.at("x").activations.count(), 150);
    EXPECT_EQ(layers.at("x").gradients.count(), 0);
    const double norms[] = {ByHand::norm({&hand.gradient[0], &hand.gradient[1]}),
                            ByHand::norm({&hand.gradient[2], &hand.gradient[3]})};
    for (const int layer : {0, 1}) {
      const LayerRecord& told = layers.at(layer == 0 ? "fc1" : "fc2");
      double squares = 0;
      for (const char* tensor : {"/weight", "/bias"})
        for (const float value : weights.at((layer == 0 ? "fc1" : "fc2") + std::string(tensor)))
          squares += static_cast<double>(value) * value;
      ASSERT_TRUE(told.norms);
      EXPECT_NEAR(told.norms->gradient, norms[layer], 1e-5 * norms[layer]);
      EXPECT_NEAR(told.norms->weight, std::sqrt(squares), 1e-6);
      EXPECT_NEAR(told.norms->updateRatio(), 0.1 * norms[layer] / std::sqrt(squares), 1e-5);
    }
    EXPECT_FALSE(layers.at("relu").norms);
    int dead = 0;
    for (std::size_t unit = 0; unit < 8; ++unit) {
      bool lives = false;
      for (std::size_t i = unit; i < hand.r.size(); i += 8) lives |= hand.r[i] > 0;
      dead += lives ? 0 : 1;
    }
    EXPECT_EQ(layers.at("relu").units, 8);
    EXPECT_EQ(layers.at("relu").dead, dead);
    EXPECT_EQ(layers.at("fc1").units, 0);
  }
}

// A unit whose input is always negative, set so by weights that training starts from.
TEST(LayerRecorder, CountsUnitsThatGiveNothing) {
  const Workshop workshop("record-dead");
  Json project = recordedProject();
  Json& nodes = project["networks"]["main"]["nodes"];
  nodes[1]["initializer"] = "zeros";
  const auto layers = stepsOf(workshop.train(project, "run"))[0].networks.at("main");
  EXPECT_EQ(layers.at("relu").units, 8);
  EXPECT_EQ(layers.at("relu").dead, 8);
  EXPECT_EQ(layers.at("relu").activations.most(), 0);
}

TEST(LayerRecorder, LeavesTrainingAsItIs) {
  const Workshop workshop("record-same");
  Json project = parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc1", "layer": "Linear", "outputs": 8}, {"id": "norm", "layer": "BatchNormalization"},
                {"id": "relu", "layer": "ReLU"}, {"id": "drop", "layer": "Dropout"}, {"id": "fc2", "layer": "Linear", "outputs": 3},
                {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["x", "fc1"], ["fc1", "norm"], ["norm", "relu"], ["relu", "drop"], ["drop", "fc2"], ["fc2", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "train.csv"}},
    "training": {"network": "main", "dataset": "training", "epochs": 3, "batch": 16, "seed": 4, "optimizer": {"name": "Momentum", "learning_rate": 0.05}}})",
                           "normalised");
  const auto without = workshop.train(project, "without");
  project["training"]["record_layers"] = 3;
  const auto with = workshop.train(project, "with");
  EXPECT_EQ(with.tensors(), without.tensors());
  EXPECT_EQ(with.series("step", "loss"), without.series("step", "loss"));
  EXPECT_TRUE(without.of("recorded").empty());
  std::vector<std::int64_t> at;
  for (const RecordedStep& step : stepsOf(with)) {
    at.push_back(step.step);
    // As in training: what was normalised has mean 0 and deviation 1, and half is dropped.
    const auto& layers = step.networks.at("main");
    if (step.step == 1) {
      EXPECT_NEAR(layers.at("norm").activations.deviation(), 1, 0.05);
    }
    EXPECT_GT(layers.at("drop").activations.countOf(ValueDistribution::kZero),
              layers.at("relu").activations.countOf(ValueDistribution::kZero));
    EXPECT_TRUE(layers.at("norm").norms);
  }
  EXPECT_EQ(at, (std::vector<std::int64_t>{1, 4, 7, 10}));  // of 12 steps
  // The norms of all layers together are what each step tells.
  const std::vector<double> told = with.series("step", "gradient_norm");
  for (const RecordedStep& step : stepsOf(with)) {
    double squares = 0;
    for (const auto& [name, layer] : step.networks.at("main"))
      if (layer.norms) squares += layer.norms->gradient * layer.norms->gradient;
    EXPECT_NEAR(std::sqrt(squares), told[static_cast<std::size_t>(step.step - 1)], 1e-6);
  }
}

TEST(LayerRecorder, AResumedRunForgetsWhatItTrainsAgain) {
  const Workshop workshop("record-resume");
  Json project = recordedProject(2);
  project["training"].update({{"batch", 16}, {"max_steps", 5}});
  const auto first = workshop.train(project, "run");
  EXPECT_EQ(stepsOf(first).size(), 3u);  // 1, 3, 5
  project["training"]["max_steps"] = 9;
  const auto second = workshop.train(project, "run", {.resume = true, .changed = true});
  std::vector<std::int64_t> at;
  for (const RecordedStep& step : stepsOf(second)) at.push_back(step.step);
  EXPECT_EQ(at, (std::vector<std::int64_t>{1, 3, 5, 7, 9}));
  // An attempt that begins before what was recorded.
  std::ofstream(second.folder.eventsFile(), std::ios::app)
      << R"({"v":1,"seq":900,"attempt":3,"time":1,"kind":"started","resumed_from":4})" << '\n';
  RecordedSteps steps(second.folder.eventsFile());
  EXPECT_TRUE(steps.read());
  EXPECT_EQ(steps.steps().size(), 2u);
  EXPECT_FALSE(steps.read());
  // A line that is being written waits for its end; one that says something else is counted.
  const std::string row = first.of("recorded").back().body.dump();
  std::ofstream(second.folder.eventsFile(), std::ios::app) << row;
  EXPECT_FALSE(steps.read());
  std::ofstream(second.folder.eventsFile(), std::ios::app) << '\n' << R"({"kind":"recorded","step":7})" << '\n';
  EXPECT_TRUE(steps.read());
  EXPECT_EQ(steps.steps().back().step, 5);
  EXPECT_EQ(steps.skipped(), 1);
}

// A machine of its own begins the next step before the figures of the one before are read.
TEST(LayerRecorder, TellsTheSameOfALateMachine) {
  const Workshop workshop("record-late");
  Json project = recordedProject(2);
  project["training"].update({{"batch", 16}, {"max_steps", 5}});
  const auto here = stepsOf(workshop.train(project, "here"));
  LateBackend late;
  const auto there = stepsOf(workshop.train(project, "there", {.backend = &late}));
  ASSERT_EQ(here.size(), there.size());
  for (std::size_t i = 0; i < here.size(); ++i)
    for (const auto& [name, layer] : here[i].networks.at("main"))
      EXPECT_EQ(there[i].networks.at("main").at(name).toJson(), layer.toJson()) << name;
}

// The step that diverges is told, too: its loss is not finite, and so no gradient was taken.
TEST(LayerRecorder, KeepsWhatIsNoNumber) {
  const Workshop workshop("record-nan");
  const Json project = parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc1", "layer": "Linear", "outputs": 4}, {"id": "fc2", "layer": "Linear", "outputs": 1},
                {"id": "y", "layer": "Input", "shape": [1]}, {"id": "loss", "layer": "MeanSquaredError"}],
      "edges": [["x", "fc1"], ["fc1", "fc2"], ["fc2", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "train.csv"}},
    "training": {"network": "main", "dataset": "training", "epochs": 50, "batch": 16, "record_layers": 1, "optimizer": {"name": "SGD", "learning_rate": 20}}})",
                                 "exploding");
  std::vector<Event> events;
  EXPECT_EQ(workshop.failure(project, "run", &events).code(), ErrorCode::diverged);
  RecordedSteps steps(workshop.path() / "run" / "events.jsonl");
  steps.read();
  EXPECT_EQ(steps.skipped(), 0);
  ASSERT_FALSE(steps.steps().empty());
  EXPECT_EQ(steps.steps().back().step, events.back().body["step"].get<std::int64_t>());
  for (const char* layer : {"fc1", "fc2"}) {
    const LayerRecord& record = steps.steps().back().networks.at("main").at(layer);
    EXPECT_FALSE(std::isfinite(record.norms->gradient)) << layer;
    EXPECT_TRUE(record.activations.notFinite() > 0 || record.largest() > 1e15) << layer;
    EXPECT_TRUE(std::isfinite(steps.steps().front().networks.at("main").at(layer).norms->gradient));
  }
}

TEST(ValueDistribution, BinsAreInOrderAndHoldTheirBounds) {
  using D = ValueDistribution;
  EXPECT_EQ(D::binOf(0), D::kZero);
  EXPECT_EQ(D::binOf(-0.0F), D::kZero);
  EXPECT_EQ(D::binOf(1e-12F), D::kZero);
  EXPECT_EQ(D::binOf(std::numeric_limits<float>::max()), D::kBins - 1);
  EXPECT_EQ(D::binOf(-std::numeric_limits<float>::max()), 0);
  for (int bin = 1; bin < D::kBins; ++bin) EXPECT_EQ(D::lowerOf(bin), D::upperOf(bin - 1)) << bin;
  for (float value = 1e-9F; value < 1e7F; value *= 1.07F) {
    const int bin = D::binOf(value);
    EXPECT_LE(D::lowerOf(bin), value);
    EXPECT_LT(value, D::upperOf(bin));
    EXPECT_LE(D::upperOf(bin), 1.2501 * D::lowerOf(bin));
    EXPECT_EQ(D::binOf(-value), 2 * D::kZero - bin);
  }
}

TEST(ValueDistribution, AddsUpInAnyOrderAndSurvivesJson) {
  ValueDistribution all, parts, other;
  const std::vector<float> a{-3, 0.25F, 1e-3F, 0, std::nanf("")}, b{7, -1e-5F, HUGE_VALF};
  all.add(a);
  all.add(b);
  other.add(b);
  parts.add(other);
  other = {};
  other.add(a);
  parts.add(other);
  EXPECT_EQ(all.toJson(), parts.toJson());
  EXPECT_EQ(all.count(), 6);
  EXPECT_EQ(all.notFinite(), 2);
  EXPECT_EQ(ValueDistribution::fromJson(Json::parse(all.toJson().dump())).toJson(), all.toJson());
  EXPECT_EQ(all.quantile(0), -3);
  EXPECT_EQ(all.quantile(1), 7);
  const ValueDistribution none = ValueDistribution::fromJson(Json::parse(ValueDistribution().toJson().dump()));
  EXPECT_TRUE(std::isnan(none.mean()) && std::isnan(none.least()) && std::isnan(none.quantile(0.5)));
  Json damaged = all.toJson();
  damaged["bins"][0] = 900;
  EXPECT_THROW(ValueDistribution::fromJson(damaged), Error);
}

}  // namespace
}  // namespace loom

// Metrics that are no means over samples: against scikit-learn 1.9.1, over batches of any sizes; which way they are
// better, and what a run makes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/base/files.h"
#include "engine/metrics/gathered.h"
#include "engine/metrics/metric.h"
#include "engine/run/control.h"
#include "engine/training/figures.h"
#include "engine/training/gather.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

constexpr int kRows = 36, kClasses = 6, kNumbers = 3;

// Class 3 and 4 are said and never true, class 5 neither.
int labelOf(int row) {
  return (row * 5 + row / 3) % 4;
}
float scoreOf(int row, int k) {
  if (k == 5) return -1;
  const auto score = static_cast<float>((row * 7919 + k * 104729 + row * row * 31) % 1009 / 1009.0);
  return row % 3 != 0 && k == labelOf(row) ? score + 0.6f : score;
}
float targetOf(int row, int d) {
  return static_cast<float>(1000 + (row * 13 + d * 7 + row * row) % 17 / 3.0);
}
float predictionOf(int row, int d) {
  return targetOf(row, d) + static_cast<float>(((row * 5 + d * 3) % 7 - 3) / 5.0);
}
float chanceOf(int row, int d) {
  return static_cast<float>((row * 29 + d * 17 + row * row * 3) % 101 / 101.0);
}
float truthOf(int row, int d) {
  return (row * 3 + d * 5 + row * row) % 4 == 0 ? 1 : 0;
}

// A metric alone in a program, its inputs filled row by row.
struct Metric {
  const char* layer;
  const char* values;
  Shape input, target;
  bool labels;
  float (*x)(int row, int k);
  float (*t)(int row, int k);
};
float label(int row, int) {
  return static_cast<float>(labelOf(row));
}

Metric classes(const char* layer, const char* values = "{}") {
  return {layer, values, Shape{kClasses}, Shape{1}, true, scoreOf, label};
}
Metric chances(const char* layer, const char* values) {
  return {layer, values, Shape{kNumbers}, Shape{kNumbers}, false, chanceOf, truthOf};
}
Metric numbers(const char* layer) {
  return {layer, "{}", Shape{kNumbers}, Shape{kNumbers}, false, predictionOf, targetOf};
}

std::unique_ptr<Executable> compiled(const Metric& metric, std::int64_t batch, ParameterStore& store, Backend& backend,
                                     DataType precision) {
  const LayerDefinition& layer = *findLayer(metric.layer);
  const Json given = parseJson(metric.values, metric.layer);
  const Values values(layer.entry, given);
  ProgramBuilder builder(batch, 1, false);
  const std::vector<TensorId> inputs{
      builder.input("x", metric.input.prepended(batch), DataType::f32),
      builder.input("t", metric.target.prepended(batch), metric.labels ? DataType::i32 : DataType::f32)};
  builder.setOrigin("m");
  EXPECT_EQ(layer.shapes({"m", values, std::vector<Shape>{metric.input, metric.target}}), std::vector<Shape>{Shape{}});
  EXPECT_EQ(layer.lower({"m", "m", values, inputs, builder}).size(), 1u);
  return backend.compile(builder.take(), store, {.precision = precision});
}

// Rows of a sequence stand one after the other in a sample.
void fill(Executable& executable, const Metric& metric, int first) {
  const auto tensor = [&](const char* name) {
    const Program& program = executable.program();
    return program.tensor(program.findTensor(name, TensorRole::input));
  };
  const std::int64_t steps = metric.labels && metric.input.rank() == 2 ? metric.input[0] : 1;
  const std::int64_t rows = tensor("x").shape[0] * steps;
  std::vector<float> x, t;
  std::vector<std::int32_t> labels;
  for (int row = first; row < first + rows; ++row) {
    for (int k = 0; k < metric.input[-1]; ++k) x.push_back(metric.x(row, k));
    for (int k = 0; k < (metric.labels ? 1 : metric.target[-1]); ++k) t.push_back(metric.t(row, k));
  }
  for (const float value : t) labels.push_back(static_cast<std::int32_t>(value));
  std::memcpy(executable.input("x").data(), x.data(), x.size() * sizeof(float));
  std::memcpy(executable.input("t").data(), metric.labels ? static_cast<const void*>(labels.data()) : t.data(),
              t.size() * 4);
}

double measured(const Metric& metric, const std::vector<int>& batches, Backend& backend,
                DataType precision = DataType::f32) {
  ParameterStore store(1, backend.makeMemory());
  Means means;
  int first = 0;
  for (const int batch : batches) {
    const auto executable = compiled(metric, batch, store, backend, precision);
    fill(*executable, metric, first);
    first += batch * static_cast<int>(metric.labels && metric.input.rank() == 2 ? metric.input[0] : 1);
    Figures figures;
    figures.run(*executable, {}, batch);
    means.add(figures.take());
    means = Means::fromJson(means.toJson());  // as a checkpoint holds them
  }
  means.add({.metrics = {{"m", 0}},
             .sums = {{"m", compiled(metric, 1, store, backend, precision)->program().results[0].sums, {}}}});
  return means.value().metrics.at(0).second;
}

struct Known {
  Metric metric;
  double value;
};
const std::vector<Known>& known() {
  static const std::vector<Known> all = {
      {classes("F1"), 0.31208791208791209},
      {classes("F1", R"({"average": "micro"})"), 0.55555555555555558},
      {classes("F1", R"({"average": "binary", "positive": 2})"), 0.7142857142857143},
      {classes("Precision"), 0.45357142857142857},
      {classes("Precision", R"({"average": "micro"})"), 0.55555555555555558},
      {classes("Precision", R"({"average": "binary", "positive": 2})"), 0.625},
      {classes("Recall"), 1.0 / 3},
      {classes("Recall", R"({"average": "micro"})"), 0.55555555555555558},
      {classes("Recall", R"({"average": "binary", "positive": 2})"), 0.83333333333333337},
      {classes("MeanIoU"), 0.23366013071895425},
      {classes("AUC"), 0.70023148148148151},
      {classes("AUC", R"({"average": "weighted"})"), 0.70023148148148151},
      {classes("AUC", R"({"average": "binary", "positive": 2})"), 0.86111111111111116},
      {chances("BinaryAUC", R"({"from": "probabilities"})"), 0.40316358024691357},
      {chances("BinaryAUC", "{}"), 0.40316358024691357},  // only the order counts
      {classes("Perplexity"), 4.3424178736535906},
      {chances("BinaryF1", R"({"from": "probabilities"})"), 0.35555555555555557},
      {chances("BinaryPrecision", R"({"from": "probabilities"})"), 0.29629629629629628},
      {chances("BinaryRecall", R"({"from": "probabilities"})"), 0.44444444444444442},
      {chances("BinaryIoU", R"({"from": "probabilities"})"), 0.21621621621621623},
      {chances("BinaryF1", R"({"from": "probabilities", "threshold": 0.3})"), 0.4},
      {chances("BinaryRecall", R"({"from": "probabilities", "threshold": 0.3})"), 0.63888888888888884},
      {numbers("R2"), 0.93292113221996098},
      {numbers("RootMeanSquaredError"), 0.40276584231319984}};
  return all;
}

TEST(Metrics, AreThoseOfScikitLearnOverBatchesOfAnySizes) {
  for (const auto& [metric, value] : known()) {
    for (const std::vector<int>& batches :
         std::vector<std::vector<int>>{{36}, {10, 10, 10, 6}, {1, 34, 1}, {5, 5, 5, 5, 5, 5, 5, 1}})
      EXPECT_NEAR(measured(metric, batches, cpuBackend()), value, 1e-6 * std::abs(value))
          << metric.layer << " " << metric.values << " in " << batches.size() << " batches";
    EXPECT_NEAR(measured(metric, {20, 16}, *makeReferenceBackend()), value, 1e-6 * std::abs(value)) << metric.layer;
  }
}

// What a metric makes of values in 32 bits is not rounded to 16 on its way.
TEST(Metrics, AreAsExactWhereTheNetworkComputesInSixteenBits) {
  for (const auto& [metric, value] : known())
    EXPECT_NEAR(measured(metric, {20, 16}, cpuBackend(), DataType::bf16), value, 1e-6 * std::abs(value))
        << metric.layer << " " << metric.values;
}

TEST(Metrics, ASequenceIsARowOfScoresAStep) {
  for (const auto& [metric, value] : known()) {
    if (!metric.labels) continue;
    Metric sequence = metric;
    sequence.input = Shape{3, kClasses};
    sequence.target = Shape{3};
    EXPECT_NEAR(measured(sequence, {5, 7}, cpuBackend()), value, 1e-6 * value) << metric.layer << metric.values;
  }
}

// Words are replaced, put in and left out there: jiwer 4.0 says 16 edits of 36 words, of 24 without class 0.
TEST(Metrics, TheRateOfWordErrorsIsThatOfJiwer) {
  for (const auto& [values, rate] :
       {std::pair(R"({"blank": -1})", 16.0 / 36), std::pair(R"({"blank": 0})", 16.0 / 24)}) {
    const Metric metric{"WordErrorRate", values, Shape{6, kClasses}, Shape{6}, true, scoreOf, label};
    for (const std::vector<int>& batches : std::vector<std::vector<int>>{{6}, {4, 2}, {1, 4, 1}})
      EXPECT_DOUBLE_EQ(measured(metric, batches, cpuBackend()), rate) << values;
    EXPECT_DOUBLE_EQ(measured(metric, {4, 2}, *makeReferenceBackend()), rate) << values;
    EXPECT_DOUBLE_EQ(measured(metric, {4, 2}, cpuBackend(), DataType::bf16), rate) << values;
  }
  Metric none{"WordErrorRate", R"({"blank": 2})", Shape{6, kClasses}, Shape{6}, true, scoreOf, label};
  none.t = [](int, int) { return 2.0f; };
  EXPECT_TRUE(std::isnan(measured(none, {6}, cpuBackend()))) << "no word is true";
  none.values = R"({"blank": 6})";
  const Json given = parseJson(none.values, "");
  const Values asked(findLayer("WordErrorRate")->entry, given);
  const auto shapesOf = [&](Shape x, Shape t) {
    return findLayer("WordErrorRate")->shapes({"m", asked, std::vector<Shape>{std::move(x), std::move(t)}});
  };
  EXPECT_THROW(shapesOf({6, kClasses}, {6}), Error) << "no class is the blank";
  EXPECT_THROW(shapesOf({kClasses}, {1}), Error) << "no sequence";
}

// Nothing to divide by: scikit-learn answers 0 (zero_division), and of a target that never changes 1 or 0.
TEST(Metrics, AnswerWhereThereIsNothingToDivideBy) {
  Metric none = chances("BinaryF1", R"({"from": "probabilities", "threshold": 0.999})");
  none.t = [](int, int) { return 0.0f; };
  for (const char* layer : {"BinaryF1", "BinaryPrecision", "BinaryRecall", "BinaryIoU"}) {
    none.layer = layer;
    EXPECT_EQ(measured(none, {20, 16}, cpuBackend()), 0) << layer;
  }
  Metric constant = numbers("R2");
  constant.t = [](int, int) { return 0.1f; };
  constant.x = constant.t;
  EXPECT_EQ(measured(constant, {20, 16}, cpuBackend()), 1);
  constant.x = [](int row, int) { return row == 3 ? 1.0f : 0.1f; };
  EXPECT_EQ(measured(constant, {20, 16}, cpuBackend()), 0);
}

// A network of the fixture with such a metric beside what feeds its loss.
Json with(const std::string& layer, Json values = Json::object()) {
  Json project = perceptron();
  Json& main = project["networks"]["main"];
  values.update({{"id", "m"}, {"layer", layer}});
  main["nodes"].push_back(std::move(values));
  main["edges"].push_back({"fc2", "m"});
  main["edges"].push_back({"y", "m.target"});
  project["training"]["monitor"] = "m";
  project["training"]["epochs"] = 4;
  return project;
}

// Of a metric that has no weight and gets better downwards the best is the least; of F1 the greatest.
TEST(Metrics, ChooseTheBestByTheirOwnGoal) {
  const Workshop workshop("metrics-best");
  for (const char* layer : {"Perplexity", "F1", "AUC"}) {
    const auto run = workshop.train(with(layer), layer);
    const std::vector<double> values = run.series("validation", "m");
    ASSERT_EQ(values.size(), 4u);
    ASSERT_TRUE(run.result.best);
    EXPECT_EQ(run.result.best->metric, "m");
    EXPECT_EQ(run.result.best->value,
              goalOf(layer) == Goal::lower ? *std::ranges::min_element(values) : *std::ranges::max_element(values));
    EXPECT_NE(*std::ranges::min_element(values), *std::ranges::max_element(values));
  }
  EXPECT_EQ(goalOf("Perplexity"), Goal::lower);
  EXPECT_EQ(goalOf("F1"), Goal::higher);
}

// Of epochs with one accuracy the best is that of the lowest loss, also for a run that was stopped among them.
TEST(Metrics, OfEqualOnesTheLowerLossIsTheBest) {
  const Workshop workshop("metrics-equal");
  std::string apart = "x__0,x__1,x__2,y:label\n";
  for (int i = 0; i < 48; ++i)
    apart += fmt::format("{},{},{},{}\n", 9 * (i % 3 == 0), 9 * (i % 3 == 1), 9 * (i % 3 == 2), i % 3);
  workshop.write("train.csv", apart);
  workshop.write("val.csv", apart);
  Json project = perceptron();
  project["training"].update({{"monitor", "accuracy"}, {"epochs", 6}});
  const auto whole = workshop.train(project, "whole");
  const std::vector<double> accuracy = whole.series("validation", "accuracy"),
                            loss = whole.series("validation", "loss");
  ASSERT_EQ(accuracy.size(), 6u);
  ASSERT_EQ(accuracy[3], 1) << "it has to be learnt before the last epoch";
  ASSERT_LT(loss[5], loss[3]);
  EXPECT_EQ(whole.result.best->epoch, 6);
  EXPECT_EQ(whole.result.best->value, 1);
  const Json named = parseJson(readFile(whole.folder.checkpoints() / "best.json"), "best.json");
  EXPECT_EQ(named["step"], whole.result.step);
  workshop.train(project, "parts", {.watch = [](const Event& event, const RunFolder& folder) {
                   if (event.kind == "step" && event.body["step"] == 14) appendControl(folder, {{"command", "stop"}});
                 }});
  const auto parts = workshop.train(project, "parts", {.resume = true});
  EXPECT_EQ(parts.result.best->toJson(), whole.result.best->toJson());
}

// The number of an epoch is made of the sums of its steps: exp of the mean loss, and no mean of each step's number.
TEST(Metrics, OfAnEpochAreMadeOfTheSumsOfItsSteps) {
  const Workshop workshop("metrics-epoch", 40);
  const auto run = workshop.train(with("Perplexity"), "run");
  const std::vector<double> losses = run.series("epoch", "loss"), values = run.series("epoch", "m");
  ASSERT_EQ(values.size(), 4u);
  for (std::size_t epoch = 0; epoch < 4; ++epoch) EXPECT_NEAR(values[epoch], std::exp(losses[epoch]), 1e-6);
}

// Of an epoch and of a validation all scores are looked at together, and not those of a batch.
TEST(Metrics, AnAreaIsOfAllScoresOfTheDataset) {
  const Workshop workshop("metrics-area", 40);
  Json project = with("AUC", {{"average", "binary"}, {"positive", 0}});
  project["training"]["batch"] = 7;
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder, .which = Which::last});
  std::vector<float> there, elsewhere;
  PredictionRequest wish{.dataset = trained.usualDataset()};
  wish.each = [&](const Predictions&, const PredictedRow& row) {
    (row.truth[0][0] == 0 ? there : elsewhere).push_back(row.values[0][0]);
  };
  trained.predict(wish);
  double before = 0;
  for (const float one : there)
    for (const float other : elsewhere) before += one > other ? 1 : one == other ? 0.5 : 0;
  const double area = before / static_cast<double>(there.size() * elsewhere.size());
  EXPECT_NEAR(trained.evaluate("").metrics.at(1).second, area, 1e-6);
  EXPECT_NEAR(run.series("validation", "m").back(), area, 1e-6);
  EXPECT_EQ(run.series("epoch", "m").size(), 4u);
  for (const double each : run.series("epoch", "m")) EXPECT_TRUE(each > 0 && each <= 1) << each;
}

TEST(Metrics, BeyondSoManyScoresTheyAreCountedInBins) {
  using namespace score_lists;
  constexpr std::int64_t kFew = 2000;
  std::vector<double> exact, binned, otherWay;
  std::vector<std::vector<double>> runs;
  for (int batch = 0; batch < 10; ++batch) {
    std::vector<double> run{1, -1};
    for (int i = 0; i < 700; ++i) {
      const int at = batch * 700 + i;
      run.push_back(chanceOf(at, 0) * 6 - 3 + (at % 3 == 0));
    }
    for (int i = 0; i < 700; ++i) run.push_back((batch * 700 + i) % 3 == 0);
    runs.push_back(ofRun(run, Form::logits));
  }
  for (const auto& each : runs) join(exact, each), join(binned, each, kFew);
  for (std::size_t i = runs.size(); i-- > 0;) join(otherWay, runs[i], kFew);
  EXPECT_FALSE(isBinned(exact));
  ASSERT_TRUE(isBinned(binned));
  EXPECT_EQ(binned, otherWay);
  // Class 0 is true once and always said highest, class 1 three times with an area of a half, class 2 never.
  const std::vector<double> few{3, 1, 0.9, 0.4, 0, 0, 0.1, 0.4, 0, 1, 0.1, 0.4, 0, 1, 0.1, 0.4, 0, 1};
  EXPECT_EQ(area(few, false), 0.75);
  EXPECT_EQ(area(few, true), (1 * 1 + 3 * 0.5) / 4);
  EXPECT_NEAR(area(binned, false), area(exact, false), 1e-3);
  EXPECT_GT(area(exact, false), 0.55);
  std::vector<double> halves = binned;
  join(halves, exact);
  EXPECT_NEAR(area(halves, false), area(binned, false), 1e-9) << "what is whole is counted where bins are";
  ParameterStore store(1, cpuBackend().makeMemory());
  const auto program = compiled(chances("BinaryAUC", "{}"), 4, store, cpuBackend(), DataType::f32);
  const GatheredSums* const rule = asGathered(program->program().results[0].sums);
  ASSERT_NE(rule, nullptr);
  EXPECT_THAT(rule->remark(binned), testing::HasSubstr("65,536 bins"));
  EXPECT_STREQ(rule->remark(exact), "");
  runs[0][2] = std::numeric_limits<double>::quiet_NaN();
  for (auto* each : {&exact, &binned}) {
    join(*each, runs[0], kFew * 1000);
    EXPECT_TRUE(std::isnan(area(*each, false))) << "a score that is no number";
  }
}

TEST(Metrics, HaveNoGradientAndNoPlaceInAPrediction) {
  const Workshop workshop("metrics-predict");
  const auto plain = workshop.train(perceptron(), "plain"), run = workshop.train(with("F1"), "run");
  EXPECT_EQ(run.series("step", "loss")[2], plain.series("step", "loss")[2]);
  TrainedNetwork trained(cpuBackend(), {.run = run.folder, .which = Which::last});
  const Measured whole = trained.evaluate("");
  EXPECT_NEAR(whole.metrics.at(1).second, run.series("validation", "m").back(), 1e-9);
}

}  // namespace
}  // namespace loom

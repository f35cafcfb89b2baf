#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> kinds(const std::vector<Event>& events) {
  std::vector<std::string> names;
  for (const Event& event : events)
    if (event.kind != "preparing") names.push_back(event.kind);
  return names;
}

TEST(Trainer, WritesTheEventsThatReadersRelyOn) {
  const Workshop workshop("trainer-events", 40);
  Json project = perceptron();
  project["training"]["epochs"] = 2;
  const auto run = workshop.train(project, "run");
  EXPECT_THAT(kinds(run.events), ElementsAre("started", "plan", "step", "step", "step", "epoch", "validation", "step",
                                             "step", "step", "epoch", "validation", "checkpoint", "finished"));
  for (std::size_t i = 0; i < run.events.size(); ++i) EXPECT_EQ(run.events[i].sequence, static_cast<std::int64_t>(i));
  const Json started = run.of("started")[0].body;
  EXPECT_EQ(started["steps_total"], 6);
  EXPECT_EQ(started["steps_per_epoch"], 3);
  EXPECT_EQ(started["samples"], 40);
  EXPECT_EQ(started["batch"], 16);
  EXPECT_EQ(started["parameters"], 3 * 8 + 8 + 8 * 3 + 3);
  EXPECT_EQ(started["attempt"], 1);
  EXPECT_FALSE(started.contains("resumed_from"));
  EXPECT_THAT(run.series("step", "step"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(run.series("step", "samples"), ElementsAre(16, 32, 40, 56, 72, 80));
  EXPECT_THAT(run.series("step", "epoch"), ElementsAre(0.4, 0.8, 1, 1.4, 1.8, 2));
  for (const char* field : {"ms", "data_ms", "learning_rate", "gradient_norm", "loss"})
    for (const double value : run.series("step", field)) EXPECT_GE(value, 0) << field;
  const Json last = run.events.back().body;
  EXPECT_EQ(last["reason"], "done");
  EXPECT_EQ(last["best"]["metric"], "loss");
  EXPECT_EQ(run.result.step, 6);
  EXPECT_FALSE(run.result.stopped);
}

// Means weigh each step by its samples: 16, 16 and 8 here.
TEST(Trainer, EpochMeansCountSamples) {
  const Workshop workshop("trainer-means", 40);
  const auto run = workshop.train(perceptron(), "run");
  const auto loss = run.series("step", "loss"), accuracy = run.series("step", "accuracy");
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    const std::size_t i = 3 * epoch;
    EXPECT_NEAR(run.series("epoch", "loss")[epoch], (16 * loss[i] + 16 * loss[i + 1] + 8 * loss[i + 2]) / 40, 1e-12);
    EXPECT_NEAR(run.series("epoch", "accuracy")[epoch],
                (16 * accuracy[i] + 16 * accuracy[i + 1] + 8 * accuracy[i + 2]) / 40, 1e-12);
  }
}

// 21 samples in batches of 16 and 5 give what one batch of 21 gives.
TEST(Trainer, ValidationIsTheMeanOverAllSamples) {
  const Workshop workshop("trainer-validation");
  Json project = perceptron();
  const auto parts = workshop.train(project, "parts");
  Backend& backend = cpuBackend();
  TrainedNetwork trained(backend, {.run = parts.folder, .which = Which::last});
  const Measured inParts = trained.evaluate("");
  EXPECT_EQ(inParts.samples, 21);
  EXPECT_NEAR(inParts.loss, parts.series("validation", "loss").back(), 1e-7);
  // The same weights with a batch that takes all at once: the run's description with another batch.
  Json description = parseJson(readFile(parts.folder.runFile()), "run.json");
  description["project"]["training"]["batch"] = 50;
  writeFileAtomically(parts.folder.runFile(), formatJson(description));
  TrainedNetwork whole(backend, {.run = parts.folder, .which = Which::last});
  EXPECT_NEAR(whole.evaluate("").loss, inParts.loss, 1e-6);
  EXPECT_NEAR(whole.evaluate("").metrics[0].second, inParts.metrics[0].second, 1e-6);
}

TEST(Trainer, LearnsTheClusters) {
  const Workshop workshop("trainer-learns", 300);
  Json project = perceptron();
  project["training"]["epochs"] = 10;
  const auto run = workshop.train(project, "run");
  EXPECT_LT(run.series("epoch", "loss").back(), 0.6 * run.series("epoch", "loss").front());
  EXPECT_GT(run.series("validation", "accuracy").back(), 0.75);
}

TEST(Trainer, TheReferenceBackendAgrees) {
  const Workshop workshop("trainer-reference", 40);
  const auto reference = makeReferenceBackend();
  const auto slow = workshop.train(perceptron(), "reference", {.backend = reference.get()});
  const auto fast = workshop.train(perceptron(), "cpu");
  const auto a = slow.series("step", "loss"), b = fast.series("step", "loss");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-5);
}

TEST(Trainer, SameSeedSameBitsOtherSeedOtherNumbers) {
  const Workshop workshop("trainer-seed", 40);
  Json project = perceptron();
  const auto one = workshop.train(project, "one"), two = workshop.train(project, "two");
  EXPECT_EQ(one.series("step", "loss"), two.series("step", "loss"));
  EXPECT_EQ(one.tensors(), two.tensors());
  project["training"]["seed"] = 5;
  EXPECT_NE(workshop.train(project, "three").series("step", "loss"), one.series("step", "loss"));
}

TEST(Trainer, ScheduleAndWarmUpAreSeenInTheEvents) {
  const Workshop workshop("trainer-schedule", 48);
  Json project = perceptron(false);
  project["training"]["schedule"] = {{"name", "Polynomial"}};
  project["training"]["warmup"] = {{"steps", 2}};
  const auto rates = workshop.train(project, "run").series("step", "learning_rate");
  ASSERT_EQ(rates.size(), 9u);
  for (int step = 0; step < 9; ++step)
    EXPECT_NEAR(rates[step], 0.05 * (1 - step / 9.0) * std::min(1.0, (step + 1) / 2.0), 1e-12);
}

TEST(Trainer, TheRateFollowsTheBatch) {
  const Workshop workshop("rate_scaling");
  Json project = perceptron(false);
  project["training"].update({{"epochs", 1}, {"rate_scaling", "square_root"}, {"base_batch", 4}});
  project["training"]["warmup"] = {{"steps", 2}, {"from_unscaled", true}};
  const auto rates = workshop.train(project, "run").series("step", "learning_rate");
  ASSERT_EQ(rates.size(), 4u);
  EXPECT_NEAR(rates[0], 0.05, 1e-9);  // the rate before scaling
  EXPECT_NEAR(rates[1], 0.075, 1e-9);
  EXPECT_NEAR(rates[2], 0.1, 1e-9);  // times the root of 16 / 4
}

TEST(Trainer, EndsAtMostStepsAndInTheMidstOfAnEpoch) {
  const Workshop workshop("trainer-steps", 64);
  Json project = perceptron();
  project["training"]["max_steps"] = 6;
  const auto steps = workshop.train(project, "steps");
  EXPECT_EQ(steps.result.step, 6);
  EXPECT_THAT(steps.series("validation", "step"), ElementsAre(4, 6)) << "what is kept at the end is measured";
  project["training"].erase("max_steps");
  project["training"]["epochs"] = 1.5;
  const auto part = workshop.train(project, "part");
  EXPECT_EQ(part.result.step, 6);
  EXPECT_EQ(part.events.back().body["reason"], "done");
}

TEST(Trainer, DropLastLeavesOutWhatFillsNoBatch) {
  const Workshop workshop("trainer-drop", 40);
  Json project = perceptron(false);
  project["training"]["drop_last"] = true;
  const auto run = workshop.train(project, "run");
  EXPECT_THAT(run.series("step", "samples"), ElementsAre(16, 32, 48, 64, 80, 96));
  EXPECT_THAT(run.series("step", "epoch"), ElementsAre(0.5, 1, 1.5, 2, 2.5, 3));
}

TEST(Trainer, ABatchLargerThanTheDataTakesAll) {
  const Workshop workshop("trainer-large", 10);
  Json project = perceptron(false);
  project["training"]["batch"] = 1000;
  project["training"]["drop_last"] = true;
  EXPECT_THAT(workshop.train(project, "run").series("step", "samples"), ElementsAre(10, 20, 30));
}

TEST(Trainer, NoEpochsWriteTheUntrainedNetwork) {
  const Workshop workshop("trainer-none");
  Json project = perceptron();
  project["training"]["epochs"] = 0;
  const auto run = workshop.train(project, "run");
  EXPECT_EQ(run.result.step, 0);
  EXPECT_EQ(run.tensors().at("fc1/bias"), std::vector<float>(8));
  EXPECT_EQ(run.of("warning").at(0).body["message"],
            "training.epochs is 0: nothing is trained, only the untrained network is written");
  EXPECT_EQ(run.events.back().body["reason"], "done");
}

TEST(Trainer, KeepsTheBestByTheMonitor) {
  const Workshop workshop("trainer-best", 60);
  Json project = perceptron();
  project["training"]["epochs"] = 8;
  project["training"]["monitor"] = "accuracy";
  const auto run = workshop.train(project, "run");
  const auto accuracy = run.series("validation", "accuracy");
  const double highest = *std::max_element(accuracy.begin(), accuracy.end());
  ASSERT_TRUE(run.result.best);
  EXPECT_EQ(run.result.best->value, highest);
  const auto first = std::find(accuracy.begin(), accuracy.end(), highest) - accuracy.begin();
  EXPECT_EQ(run.result.best->step, (first + 1) * 4) << "the first that is so good";
  TrainedNetwork best(cpuBackend(), {.run = run.folder});
  EXPECT_NEAR(best.evaluate("").metrics[0].second, highest, 1e-6) << "and the file holds those weights";
  project["training"]["monitor"] = "fc1";
  EXPECT_THAT(workshop.failure(project, "wrong").what(), HasSubstr("\"accuracy\""));
}

TEST(Trainer, RefusesARunFolderThatHoldsARun) {
  const Workshop workshop("trainer-twice");
  workshop.train(perceptron(), "run");
  const Error error = workshop.failure(perceptron(), "run");
  EXPECT_EQ(error.code(), ErrorCode::badArgument);
  EXPECT_THAT(error.what(), HasSubstr("--resume"));
}

TEST(Trainer, RunJsonDefinesTheRun) {
  const Workshop workshop("trainer-description");
  Json project = perceptron();
  project["datasets"]["training"]["prepare"] = Json::array({{{"step", "Normalise"}}});
  const auto run = workshop.train(project, "run");
  const Json json = parseJson(readFile(run.folder.runFile()), "run.json");
  EXPECT_EQ(json["settings"]["batch"], 16);
  EXPECT_EQ(json["settings"]["shuffle"], true) << "defaults are resolved";
  EXPECT_EQ(json["datasets"]["training"]["rows"], 50);
  EXPECT_TRUE(json["datasets"]["training"]["prepare"][0].contains("mean")) << json["datasets"].dump();
  EXPECT_EQ(json["datasets"]["training"]["prepare"], json["datasets"]["validation"]["prepare"])
      << "validation takes the training set's";
  EXPECT_EQ(readRunDescription(run.folder).project.networks.size(), 1u);
}

// In bf16 the same training goes the same way; weights and optimizer state stay f32, so a checkpoint goes on in either.
TEST(Trainer, InBf16LearnsAlike) {
  const Workshop workshop("trainer-bf16", 120);
  Json project = perceptron();
  project["training"]["epochs"] = 12;
  const auto exact = workshop.train(project, "f32");
  project["training"]["precision"] = "bf16";
  const auto rounded = workshop.train(project, "bf16");
  EXPECT_NE(rounded.series("step", "loss"), exact.series("step", "loss"));
  EXPECT_NEAR(rounded.series("validation", "loss").back(), exact.series("validation", "loss").back(), 0.02);
  EXPECT_LT(rounded.series("validation", "loss").back(), rounded.series("validation", "loss").front() - 0.05);
  EXPECT_EQ(rounded.of("started")[0].body["precision"], "bf16");
}

}  // namespace
}  // namespace loom

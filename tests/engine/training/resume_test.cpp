#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/control.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Everything that has a state: dropout and what is erased (step), batch normalisation and the mean of all batches
// (running statistics), Adam (slots and their count),
// a schedule with warm-up, accumulation, a smaller last batch, a metric that is made of sums over the epoch.
Json elaborate() {
  Json project = perceptron();
  Json& nodes = project["networks"]["main"]["nodes"];
  nodes.push_back({{
                       "id",
                       "bn",
                   },
                   {"layer", "BatchNormalization"}});
  nodes.push_back({{"id", "drop"}, {"layer", "Dropout"}});
  nodes.push_back({{"id", "mean"}, {"layer", "MeanSubtraction"}});
  nodes.push_back({{"id", "image"}, {"layer", "Reshape"}, {"shape", {1, 1, 3}}});
  nodes.push_back({{"id", "erase"}, {"layer", "RandomErase"}, {"min_area", 0.35}});
  Json& edges = project["networks"]["main"]["edges"];
  edges[0] = {"x", "mean"};
  for (const auto& [from, to] : {std::pair{"mean", "image"}, {"image", "erase"}, {"erase", "fc1"}})
    edges.push_back({from, to});
  edges[1] = {"fc1", "bn"};
  edges.push_back({"bn", "relu"});
  edges[2] = {"relu", "drop"};
  edges.push_back({"drop", "fc2"});
  nodes.push_back({{"id", "f1"}, {"layer", "F1"}});
  edges.push_back({"fc2", "f1"});
  edges.push_back({"y", "f1.target"});
  Json& training = project["training"];
  training["optimizer"] = {{"name", "Adam"}, {"learning_rate", 0.02}, {"weight_decay", 0.01}};
  training["schedule"] = {{"name", "Cosine"}};
  training["warmup"] = {{"epochs", 1}};
  training["accumulate"] = 2;
  training["clip_norm"] = 1.0;
  training["epochs"] = 4;
  return project;
}

// Series as a view shows them: each step once, from the newest attempt that has it.
std::map<std::int64_t, Json> newest(const std::vector<Event>& events, const std::string& kind) {
  std::map<std::int64_t, Json> byStep;
  for (const Event& event : events) {
    if (event.kind != kind) continue;
    Json body = event.body;
    for (const char* own : {"seq", "attempt", "time", "ms", "data_ms"}) body.erase(own);
    byStep[body["step"].get<std::int64_t>()] = body;
  }
  return byStep;
}

void expectSame(const Workshop::Run& whole, const Workshop::Run& parts) {
  for (const char* kind : {"step", "epoch", "validation"})
    EXPECT_EQ(newest(whole.events, kind), newest(parts.events, kind)) << kind;
  EXPECT_EQ(whole.tensors(), parts.tensors()) << "weights, running statistics and optimizer state, bit by bit";
  ASSERT_TRUE(parts.result.best);
  EXPECT_EQ(whole.result.best->toJson(), parts.result.best->toJson());
}

Workshop::Ways stopAt(std::int64_t step) {
  return {.watch = [step](const Event& event, const RunFolder& folder) {
    if (event.kind == "step" && event.body["step"] == step) appendControl(folder, {{"command", "stop"}});
  }};
}

TEST(Resume, EqualsNeverStopped) {
  const Workshop workshop("resume", 50);
  const auto whole = workshop.train(elaborate(), "whole");
  ASSERT_EQ(whole.result.step, 16);
  for (const std::int64_t step : {1, 4, 6, 15}) {  // the first, an epoch's last, in the midst, the last but one
    const std::string name = "run" + std::to_string(step);
    const auto first = workshop.train(elaborate(), name, stopAt(step));
    EXPECT_TRUE(first.result.stopped);
    EXPECT_EQ(first.result.step, step);
    EXPECT_EQ(first.events.back().body["reason"], "stopped");
    const auto second = workshop.train(elaborate(), name, {.resume = true});
    EXPECT_EQ(second.result.step, 16);
    EXPECT_EQ(second.events.back().attempt, 2);
    EXPECT_EQ(second.of("started")[1].body["resumed_from"], step);
    expectSame(whole, second);
    // Nothing was done twice either: the stop came with its checkpoint.
    EXPECT_EQ(second.of("step").size(), 16u);
  }
}

TEST(Resume, ManyTimesStillEqual) {
  const Workshop workshop("resume-often", 50);
  const auto whole = workshop.train(elaborate(), "whole");
  workshop.train(elaborate(), "often", stopAt(2));
  for (const std::int64_t step : {3, 5, 9, 12, 13}) {
    Workshop::Ways ways = stopAt(step);
    ways.resume = true;
    workshop.train(elaborate(), "often", ways);
  }
  const auto last = workshop.train(elaborate(), "often", {.resume = true});
  EXPECT_EQ(last.events.back().attempt, 7);
  expectSame(whole, last);
}

// A signal in the midst of a validation: the next attempt validates first.
TEST(Resume, AValidationThatWasInterruptedIsMadeUpFor) {
  const Workshop workshop("resume-validation", 50);
  const auto whole = workshop.train(elaborate(), "whole");
  std::atomic<bool> stop{false};
  const auto first = workshop.train(
      elaborate(), "run",
      {.watch = [&](const Event& event, const RunFolder&) { stop = event.kind == "epoch"; }, .stop = &stop});
  EXPECT_TRUE(first.result.stopped);
  EXPECT_TRUE(first.of("validation").empty());
  expectSame(whole, workshop.train(elaborate(), "run", {.resume = true}));
}

TEST(Resume, WithoutACheckpointBeginsAnew) {
  const Workshop workshop("resume-none", 50);
  const auto whole = workshop.train(elaborate(), "whole");
  const auto first = workshop.train(elaborate(), "run", stopAt(5));
  // As if killed before the first one.
  std::filesystem::remove_all(first.folder.checkpoints());
  std::string log;
  for (const Event& event : first.events)
    if (event.kind != "checkpoint") log += event.body.dump() + "\n";
  workshop.write("run/events.jsonl", log);
  const auto second = workshop.train(elaborate(), "run", {.resume = true});
  EXPECT_FALSE(second.of("started")[1].body.contains("resumed_from"));
  EXPECT_THAT(second.of("warning")[0].body["message"].get<std::string>(), HasSubstr("begins anew"));
  expectSame(whole, second);
}

TEST(Resume, PassesOverACheckpointThatIsNotWhole) {
  const Workshop workshop("resume-torn", 50);
  Json project = elaborate();
  project["training"]["checkpoint_every"] = 1;
  const auto whole = workshop.train(project, "whole");
  const auto first = workshop.train(project, "run", stopAt(14));
  const auto newestFile = first.result.lastCheckpoint;
  std::filesystem::resize_file(newestFile, std::filesystem::file_size(newestFile) - 4);
  const auto second = workshop.train(project, "run", {.resume = true});
  EXPECT_EQ(second.of("started")[1].body["resumed_from"], 12) << "the epoch's, which is kept";
  EXPECT_THAT(second.of("warning")[0].body["message"].get<std::string>(), HasSubstr("no whole checkpoint"));
  EXPECT_TRUE(std::filesystem::exists(newestFile.string() + ".damaged")) << "it was refused, and is kept";
  expectSame(whole, second);
}

// What cannot be read now may be whole: a run that began anew would write over it.
TEST(Resume, WithoutAReadableCheckpointIsRefusedAndLosesNone) {
  const Workshop workshop("resume-unreadable", 50);
  const auto whole = workshop.train(elaborate(), "whole");
  const auto first = workshop.train(elaborate(), "run", stopAt(5));
  std::vector<std::filesystem::path> files;
  for (const auto& item : std::filesystem::directory_iterator(first.folder.checkpoints()))
    if (item.path().extension() == ".safetensors") files.push_back(item.path());
  const auto refusal = [&] { return workshop.failure(elaborate(), "run", nullptr, {.resume = true}); };
  const std::filesystem::path away = workshop.path() / "away";
  std::filesystem::create_directory(away);
  for (const auto& file : files) {  // a link to where nothing is: it cannot be opened, whoever asks
    std::filesystem::rename(file, away / file.filename());
    std::filesystem::create_symlink(away / "unmounted" / file.filename(), file);
  }
  const Error unread = refusal();
  EXPECT_EQ(unread.code(), ErrorCode::inputOutput);
  EXPECT_THAT(unread.what(), AllOf(HasSubstr("cannot read"), HasSubstr("may be whole")));
  for (const auto& file : files) std::filesystem::remove(file);
  const Error gone = refusal();
  EXPECT_EQ(gone.code(), ErrorCode::badData);
  EXPECT_THAT(gone.what(), AllOf(HasSubstr("resume again"), HasSubstr("start a new run")));
  for (const auto& file : files) {
    std::string text = readFile(away / file.filename());
    text[text.size() / 2] ^= 1;
    std::ofstream(file, std::ios::binary) << text;
  }
  const Error damaged = refusal();
  EXPECT_EQ(damaged.code(), ErrorCode::badData);
  EXPECT_THAT(damaged.what(), AllOf(HasSubstr("no whole checkpoint"), HasSubstr("resume again")));
  for (const auto& file : files) {
    ASSERT_TRUE(std::filesystem::exists(file)) << "it was refused, and is kept";
    std::filesystem::rename(away / file.filename(), file);
  }
  expectSame(whole, workshop.train(elaborate(), "run", {.resume = true}));
}

TEST(Resume, ARunThatIsDoneHasNothingToDo) {
  const Workshop workshop("resume-done", 50);
  const auto first = workshop.train(elaborate(), "run");
  const auto again = workshop.train(elaborate(), "run", {.resume = true});
  EXPECT_EQ(again.of("step").size(), first.of("step").size());
  EXPECT_EQ(again.events.back().body["reason"], "done");
  EXPECT_EQ(again.tensors(), first.tensors());
}

TEST(Resume, MoreEpochsGoOn) {
  const Workshop workshop("resume-more", 50);
  Json project = elaborate();
  project["training"]["schedule"] = {{"name", "Constant"}};  // which does not depend on the length of the run
  const auto whole = workshop.train(project, "whole");
  project["training"]["epochs"] = 2;
  workshop.train(project, "run");
  project["training"]["epochs"] = 4;
  expectSame(whole, workshop.train(project, "run", {.resume = true, .changed = true}));
  EXPECT_EQ(parseJson(readFile(workshop.path() / "run" / "run.json"), "run.json")["settings"]["epochs"], 4)
      << "and the run tells it";
}

TEST(Control, StopAfterTheEpoch) {
  const Workshop workshop("control-epoch", 50);
  const auto run = workshop.train(elaborate(), "run", {.watch = [](const Event& event, const RunFolder& folder) {
                                    if (event.kind == "step" && event.body["step"] == 6)
                                      appendControl(folder, {{"command", "stop_after_epoch"}, {"id", "7"}});
                                  }});
  EXPECT_EQ(run.result.step, 8);
  EXPECT_TRUE(run.result.stopped);
  EXPECT_THAT(run.series("validation", "step"), ElementsAre(4, 8));
  EXPECT_EQ(run.of("control")[0].body["id"], "7");
}

TEST(Control, AnOldStopDoesNotStopTheNextAttempt) {
  const Workshop workshop("control-old", 50);
  workshop.train(elaborate(), "run", stopAt(3));
  EXPECT_FALSE(workshop.train(elaborate(), "run", {.resume = true}).result.stopped);
}

TEST(Control, LearningRateHoldsAtOnceAndTheScheduleGoesOn) {
  const Workshop workshop("control-rate", 48);
  Json project = perceptron(false);
  project["training"]["schedule"] = {{"name", "Polynomial"}};
  project["training"]["warmup"] = {{"steps", 4}};
  const auto set = [](const Event& event, const RunFolder& folder) {
    if (event.kind == "step" && event.body["step"] == 2)
      appendControl(folder, {{"command", "learning_rate"}, {"value", 0.2}});
  };
  const auto rates = workshop.train(project, "run", {.watch = set}).series("step", "learning_rate");
  EXPECT_NEAR(rates[1], 0.05 * 0.5 * (1 - 1 / 9.0), 1e-12);
  EXPECT_NEAR(rates[2], 0.2, 1e-12) << "at once, and the warm-up is over";
  for (int step = 3; step < 9; ++step)
    EXPECT_NEAR(rates[step], 0.2 * (9 - step) / 7.0, 1e-12) << "in proportion to the schedule";

  // The same through a stop: the checkpoint knows it.
  workshop.train(project, "parts", {.watch = [&](const Event& event, const RunFolder& folder) {
                   set(event, folder);
                   if (event.kind == "step" && event.body["step"] == 5) appendControl(folder, {{"command", "stop"}});
                 }});
  EXPECT_EQ(workshop.train(project, "parts", {.resume = true}).series("step", "learning_rate"), rates);
}

TEST(Control, NonsenseIsAWarning) {
  const Workshop workshop("control-nonsense", 48);
  const auto run = workshop.train(
      perceptron(false), "run", {.watch = [](const Event& event, const RunFolder& folder) {
        if (event.kind != "step" || event.body["step"] != 1) return;
        for (const char* text :
             {R"({"command":"dance"})", R"({"command":"learning_rate"})", R"({"command":"learning_rate","value":-1})",
              R"({"command":"learning_rate","value":1,"update":3})", R"({"command":"batch","value":0.5})"})
          appendControl(folder, Json::parse(text));
      }});
  EXPECT_EQ(run.of("warning").size(), 5u);
  EXPECT_EQ(run.result.step, 9);
}

TEST(Control, ABatchThatChanges) {
  const Workshop workshop("control-batch", 48);
  const auto change = [](const Event& event, const RunFolder& folder) {
    if (event.kind == "step" && event.body["step"] == 3) appendControl(folder, {{"command", "batch"}, {"value", 24}});
  };
  const auto run = workshop.train(perceptron(false), "run", {.watch = change});
  EXPECT_THAT(run.series("step", "samples"), ElementsAre(16, 32, 48, 72, 96, 120, 144));
  EXPECT_THAT(run.series("epoch", "step"), ElementsAre(3, 5, 7));
  workshop.train(perceptron(false), "parts", {.watch = [&](const Event& event, const RunFolder& folder) {
                   change(event, folder);
                   if (event.kind == "step" && event.body["step"] == 4) appendControl(folder, {{"command", "stop"}});
                 }});
  const auto second = workshop.train(perceptron(false), "parts", {.resume = true});
  EXPECT_EQ(second.series("step", "loss"), run.series("step", "loss"));
}

// Resuming with a part of the batch is what the program itself advises where memory runs out.
TEST(Resume, WithAnotherBatchTheScheduleGoesOnWhereItStood) {
  const Workshop workshop("resume-batch", 50);  // 4 steps an epoch in batches of 16, 7 in batches of 8
  Json project = perceptron(false);
  project["training"]["epochs"] = 4;
  project["training"]["schedule"] = {{"name", "Cosine"}};
  project["training"]["warmup"] = {{"epochs", 1}};
  const auto whole = workshop.train(project, "whole").series("step", "learning_rate");
  workshop.train(project, "run", stopAt(8));
  project["training"]["batch"] = 8;
  const auto smaller = workshop.train(project, "run", {.resume = true, .changed = true});
  EXPECT_EQ(smaller.result.step, 8 + 2 * 7);
  const auto rates = smaller.series("step", "learning_rate");
  EXPECT_NEAR(rates[8], whole[8], 1e-12) << "half of the run is over";
  EXPECT_NEAR(rates[8 + 7], whole[12], 1e-12) << "three quarters are";
  EXPECT_LT(rates.back(), 0.001);
}

TEST(Resume, WhereStepsEndTheRunTheScheduleCountsSteps) {
  const Workshop workshop("resume-steps", 48);
  Json project = perceptron(false);
  project["training"].update({{"epochs", 100}, {"max_steps", 12}, {"schedule", {{"name", "Polynomial"}}}});
  const auto whole = workshop.train(project, "whole").series("step", "learning_rate");
  workshop.train(project, "run", stopAt(6));
  project["training"]["batch"] = 8;
  EXPECT_EQ(workshop.train(project, "run", {.resume = true, .changed = true}).series("step", "learning_rate"), whole);
}

TEST(Resume, NewSettingsHoldOverWhatWasSetWhileTraining) {
  const Workshop workshop("resume-settings", 48);
  Json project = perceptron(false);
  const auto begin = [&](const std::string& name) {
    workshop.train(project, name, {.watch = [](const Event& event, const RunFolder& folder) {
                     if (event.kind != "step") return;
                     if (event.body["step"] == 2) {
                       appendControl(folder, {{"command", "batch"}, {"value", 24}});
                       appendControl(folder, {{"command", "learning_rate"}, {"value", 0.2}});
                     }
                     if (event.body["step"] == 4) appendControl(folder, {{"command", "stop"}});
                   }});
  };
  begin("kept");
  begin("changed");
  Json other = project;
  other["training"]["epochs"] = 4;
  const auto kept = workshop.train(other, "kept", {.resume = true, .changed = true});
  EXPECT_EQ(kept.series("step", "samples")[4] - kept.series("step", "samples")[3], 24);
  EXPECT_EQ(kept.series("step", "learning_rate").back(), 0.2);
  EXPECT_TRUE(kept.of("warning").empty());
  other["training"]["batch"] = 8;
  other["training"]["optimizer"]["learning_rate"] = 0.01;
  const auto changed = workshop.train(other, "changed", {.resume = true, .changed = true});
  EXPECT_EQ(changed.series("step", "samples")[4] - changed.series("step", "samples")[3], 8);
  EXPECT_EQ(changed.series("step", "learning_rate")[4], 0.01);
  ASSERT_EQ(changed.of("warning").size(), 2u);
  EXPECT_THAT(changed.of("warning")[0].body["message"].get<std::string>(), HasSubstr("the batch of 24"));
  EXPECT_THAT(changed.of("warning")[1].body["message"].get<std::string>(), HasSubstr("the learning rate of 0.2"));
}

TEST(Control, ABatchAboveTheDataIsRefusedWhereTheLastOneIsDropped) {
  const Workshop workshop("control-large", 50);
  Json project = perceptron(false);
  project["training"]["drop_last"] = true;
  const auto set = [](std::int64_t batch, std::int64_t step) {
    return [batch, step](const Event& event, const RunFolder& folder) {
      if (event.kind == "step" && event.body["step"] == step)
        appendControl(folder, {{"command", "batch"}, {"value", batch}});
    };
  };
  const auto large = workshop.train(project, "large", {.watch = set(51, 2)});
  EXPECT_EQ(large.result.step, 9) << "as without the command";
  EXPECT_THAT(large.of("warning")[0].body["message"].get<std::string>(),
              AllOf(HasSubstr("'training' has 50 samples"), HasSubstr("drop_last")));
  // Right behind the last whole batch: the two samples that were dropped stay dropped.
  const auto small = workshop.train(project, "small", {.watch = set(2, 3)});
  EXPECT_THAT(small.series("epoch", "step"), ElementsAre(3, 3 + 25, 3 + 50));
}

}  // namespace
}  // namespace loom

// p ranks against virtual ranks of one process and against one rank: networks of every kind, every wire, batches that
// do not divide.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/base/files.h"
#include "engine/comm/reductions/reduction.h"
#include "engine/optimizers/optimizer.h"
#include "engine/run/control.h"
#include "engine/run/layer_record.h"
#include "tests/engine/ranks/ranks.h"
#include "tests/engine/ranks/training_on_ranks.h"
#include "tests/engine/training/far_machine.h"
#include "tests/engine/training/fixture.h"
#include "tests/engine/training/late_backend.h"

namespace loom {
namespace {

using testing::HasSubstr;
using namespace on_ranks;
double distance(const Tensors& a, const Tensors& b, const Tensors& origin) {
  double difference = 0, length = 0;
  for (const auto& [name, values] : b) {
    if (name.find('#') != std::string::npos || name.ends_with("/mean") || name.ends_with("/variance") ||
        name.ends_with("/batches"))
      continue;
    const std::vector<float>&other = a.at(name), &before = origin.at(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = other[i] - values[i], y = values[i] - before[i];
      difference += x * x;
      length += y * y;
    }
  }
  return std::sqrt(difference / length);
}

// Each rank sees its own samples; a layer's record is of all of them.
TEST(LayerRecorder, TellsTheSameOnAnyNumberOfRanks) {
  for (const int net : {0, 1}) {  // a perceptron with dropout, and convolutions whose statistics are each shard's own
    const Shared shared(fmt::format("record-{}", net));
    Json project = projectOf(kNets[net], {{"record_layers", 4}, {"monitor", "loss"}});
    if (net == 1) project["training"]["virtual_ranks"] = 24;
    const Workshop::Run together = runOnAll(shared, project, "together");
    if (rank() != 0) continue;
    std::filesystem::create_directories(shared.path() / "alone");
    const Workshop::Run one = workshopOf(shared).train(project, "alone");
    RecordedSteps ours(together.folder.eventsFile()), expected(one.folder.eventsFile());
    ours.read();
    expected.read();
    ASSERT_EQ(ours.steps().size(), 2u);
    ASSERT_EQ(expected.steps().size(), 2u);
    for (std::size_t i = 0; i < 2; ++i)
      for (const auto& [name, layer] : expected.steps()[i].networks.at("main")) {
        SCOPED_TRACE(name);
        const LayerRecord& mine = ours.steps()[i].networks.at("main").at(name);
        EXPECT_EQ(mine.units, layer.units);
        EXPECT_EQ(mine.dead, layer.dead);
        EXPECT_EQ(mine.norms.has_value(), layer.norms.has_value());
        if (layer.norms) {
          EXPECT_NEAR(mine.norms->gradient, layer.norms->gradient, 1e-4 * layer.norms->gradient);
          EXPECT_NEAR(mine.norms->updateRatio(), layer.norms->updateRatio(), 1e-5);
        }
        for (const auto part : {&LayerRecord::activations, &LayerRecord::gradients}) {
          EXPECT_EQ((mine.*part).count(), (layer.*part).count());
          if ((layer.*part).count() == 0) continue;
          const double near = 1e-4 * std::max(std::abs((layer.*part).least()), std::abs((layer.*part).most()));
          EXPECT_NEAR((mine.*part).least(), (layer.*part).least(), near);
          EXPECT_NEAR((mine.*part).most(), (layer.*part).most(), near);
          EXPECT_NEAR((mine.*part).mean(), (layer.*part).mean(), near);
          EXPECT_NEAR((mine.*part).deviation(), (layer.*part).deviation(), near);
        }
      }
  }
}

class Networks : public testing::TestWithParam<Net> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Networks, testing::ValuesIn(kNets),
                         [](const auto& info) { return std::string(info.param.name); });

// 46 samples in batches of 17: 17, 17, 12; for 8 ranks 2 or 3 samples each.
TEST_P(Networks, DeterministicRunsHaveTheSameBits) {
  const Shared shared(std::string("bits-") + GetParam().name);
  const Json project = projectOf(GetParam(), {{"deterministic", true}});
  const Outcome together = onAll(shared, project, "together");
  if (rank() != 0) return;
  const Outcome one = alone(shared, project, "alone");
  EXPECT_EQ(together.tensors, one.tensors);
  EXPECT_EQ(together.losses, one.losses);
  EXPECT_EQ(together.validation, one.validation);
  EXPECT_EQ(one.losses.size(), 6u);
}

// Counts and squares are added over ranks and batches of any size; the number is made of the sums.
TEST(Metrics, AreTheSameOnAnyNumberOfRanks) {
  const Shared shared("metrics");
  Json project = projectOf(kNets[0], {{"deterministic", true}, {"monitor", "F1"}});
  const std::vector<const char*> layers{
      "F1", "Recall", "MeanIoU", "AUC", "WordErrorRate", "Perplexity", "R2", "RootMeanSquaredError"};
  Json& main = project["networks"]["main"];
  main["nodes"].push_back({{"id", "numbers"}, {"layer", "Input"}, {"shape", {16}}, {"variable", "x"}});
  main["nodes"].push_back({{"id", "guess"}, {"layer", "Linear"}, {"outputs", 16}});
  main["edges"].push_back({"c", "guess"});
  main["nodes"].push_back({{"id", "word"}, {"layer", "Reshape"}, {"shape", {1, 3}}});  // a sequence of one
  main["edges"].push_back({"fc", "word"});
  for (const char* layer : layers) {
    const bool ofNumbers = findLayer(layer)->entry.inputs[1].type == PortType::values;
    const bool ofWords = layer == std::string_view("WordErrorRate");
    main["nodes"].push_back({{"id", layer}, {"layer", layer}});
    main["edges"].push_back({ofNumbers ? "guess" : ofWords ? "word" : "fc", layer});
    main["edges"].push_back({ofNumbers ? "numbers" : "y", std::string(layer) + ".target"});
  }
  const Workshop::Run together = runOnAll(shared, project, "together");
  if (rank() != 0) return;
  std::filesystem::create_directories(shared.path() / "alone");
  const Workshop::Run one = workshopOf(shared).train(project, "alone");
  for (const char* layer : layers)
    for (const char* kind : {"step", "epoch", "validation"}) {
      const std::vector<double> values = together.series(kind, layer), expected = one.series(kind, layer);
      ASSERT_EQ(values.size(), expected.size()) << layer;
      ASSERT_GE(values.size(), 2u) << layer;
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], expected[i], 1e-6 * std::abs(expected[i])) << layer << " of " << kind << " " << i;
    }
  EXPECT_EQ(together.result.best->toJson(), one.result.best->toJson());
}

// Every rule, one epoch of each on the way that some of them go.
TEST(Rules, HaveTheSameBitsOnAnyNumberOfRanks) {
  const Shared shared("rules");
  for (const OptimizerDefinition* rule : optimizerTable()) {
    Json optimizer = {{"name", rule->entry.id}, {"weight_decay", 0.01}};
    if (rule->entry.field("transition")) optimizer["transition"] = 1.0;
    if (rule->entry.field("center")) optimizer.update({{"center", 0.5}, {"period", 1.0}});
    if (rule->entry.field("precondition_every")) optimizer["precondition_every"] = 2;
    if (rule->entry.field("precondition_from")) optimizer["precondition_from"] = 2;
    const Json project = projectOf(kNets[0], {{"deterministic", true},
                                              {"optimizer", std::move(optimizer)},
                                              {"schedule", {{"name", "Plateau"}, {"patience", 0}}},
                                              {"evaluated_weights", rule->evaluates ? "last" : "average"},
                                              {"batch_at", {1}},
                                              {"batch_then", {23}}});
    const Outcome together = onAll(shared, project, rule->entry.id + "-together");
    if (rank() != 0) continue;
    const Outcome one = alone(shared, project, rule->entry.id);
    EXPECT_EQ(together.tensors, one.tensors) << rule->entry.id;
    EXPECT_EQ(together.losses, one.losses) << rule->entry.id;
    EXPECT_EQ(one.losses.size(), 5u);
  }
}

// Rounded to bf16, too: what a shard computes does not depend on who computes it.
TEST(Precision, DeterministicRunsInBf16HaveTheSameBits) {
  for (const Net& net : {kNets[0], kNets[1]}) {
    const Shared shared(std::string("bf16-") + net.name);
    const Json project = projectOf(net, {{"deterministic", true}, {"precision", "bf16"}, {"epochs", 1}});
    const Outcome together = onAll(shared, project, "together");
    if (rank() != 0) continue;
    const Outcome one = alone(shared, project, "alone");
    EXPECT_EQ(together.tensors, one.tensors) << net.name;
    EXPECT_EQ(together.losses, one.losses) << net.name;
  }
}

// One step of plain descent moves the weights by the gradient (times 100, so that the weights' own rounding is not
// seen): what is left differs by the order of sums, and by the wire.
TEST_P(Networks, TheGradientOfAStepIsThatOfOneRank) {
  const Shared shared(std::string("gradient-") + GetParam().name);
  const auto settings = [](const char* wire, int virtualRanks, int steps) {
    Json made = {
        {"wire", wire}, {"virtual_ranks", virtualRanks}, {"optimizer", {{"name", "SGD"}, {"learning_rate", 100.0}}}};
    if (steps > 0)
      made["max_steps"] = steps;
    else
      made["epochs"] = 0;
    return made;
  };
  Outcome origin, exact, plain;
  if (rank() == 0) {
    origin = alone(shared, projectOf(GetParam(), settings("f32", 0, 0)), "origin");
    exact = alone(shared, projectOf(GetParam(), settings("f32", size(), 1)), "exact");
    plain = alone(shared, projectOf(GetParam(), settings("f32", 0, 1)), "plain");
  }
  for (const auto& [wire, tolerance] :
       std::vector<std::pair<const char*, double>>{{"f32", 1e-5}, {"f16", 1e-3}, {"bf16", 1e-2}}) {
    const Outcome together =
        onAll(shared, projectOf(GetParam(), settings(wire, 0, 1)), fmt::format("together-{}", wire));
    if (rank() != 0) continue;
    const Outcome virtually =
        alone(shared, projectOf(GetParam(), settings(wire, size(), 1)), fmt::format("virtual-{}", wire));
    EXPECT_LE(distance(together.tensors, exact.tensors, origin.tensors), tolerance) << wire;
    EXPECT_LE(distance(virtually.tensors, exact.tensors, origin.tensors), tolerance) << wire;
    EXPECT_NEAR(together.losses[0], exact.losses[0], 1e-5) << wire;
    if (!GetParam().statistics) {  // else each shard normalises by itself, which is another function
      EXPECT_LE(distance(together.tensors, plain.tensors, origin.tensors), tolerance) << wire;
    }
    if (size() > 1 && std::string(wire) != "f32") {  // the wire is really used
      EXPECT_GT(distance(together.tensors, exact.tensors, origin.tensors), 1e-5) << wire;
      EXPECT_GT(distance(virtually.tensors, exact.tensors, origin.tensors), 1e-5) << wire;
    }
  }
}

// Whole runs: every step, running statistics and validation included.
TEST_P(Networks, VirtualRanksFollowRealOnes) {
  const Shared shared(std::string("virtual-") + GetParam().name);
  const Outcome together = onAll(shared, projectOf(GetParam(), Json::object()), "together");
  if (rank() != 0) return;
  const Outcome one = alone(shared, projectOf(GetParam(), {{"virtual_ranks", size()}}), "alone");
  ASSERT_EQ(together.losses.size(), one.losses.size());
  for (std::size_t i = 0; i < one.losses.size(); ++i)
    EXPECT_NEAR(together.losses[i], one.losses[i], 2e-4) << "step " << i;
  for (std::size_t i = 0; i < one.validation.size(); ++i) EXPECT_NEAR(together.validation[i], one.validation[i], 2e-4);
  for (const auto& [name, values] : one.tensors)
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(together.tensors.at(name)[i], values[i], 2e-3) << name;
}

// Every way to add up gradients trains alike; the run says what it sends and, after some steps, how long that took.
TEST(Exchange, TrainsAlikeByEveryReduction) {
  const Shared shared("reductions");
  const auto settings = [](const std::string& name) {
    return Json{{"reduction", name},
                {"max_steps", 10},
                {"epochs", 10},
                {"optimizer", {{"name", "Momentum"}, {"learning_rate", 0.01}}}};
  };
  const Json begun = {{"epochs", 0}};
  Outcome origin;
  if (rank() == 0) origin = alone(shared, projectOf(kNets[0], begun), "origin");
  const Outcome automatic = onAll(shared, projectOf(kNets[0], settings("automatic")), "automatic");
  for (const ReductionDefinition* row : reductionTable()) {
    if (row->refuse && row->refuse(size(), Json::object())) continue;
    const std::string& name = row->entry.id;
    const Workshop::Run run = runOnAll(shared, projectOf(kNets[0], settings(name)), "by-" + name);
    if (rank() != 0) continue;
    EXPECT_LE(distance(outcomeOf(run).tensors, automatic.tensors, origin.tensors), 1e-5) << name;
    if (size() == 1) continue;
    const std::vector<Event> plans = run.of("plan"), exchanges = run.of("exchange");
    ASSERT_EQ(plans.size(), 1u);
    ASSERT_EQ(exchanges.size(), 1u) << name;
    const Json planned = plans[0].body["updates"][0]["exchange"], told = exchanges[0].body["updates"][0];
    EXPECT_EQ(planned["reduction"], name);
    EXPECT_EQ(told["bytes"], planned["bytes"]);
    EXPECT_EQ(told["buckets"].size() == 1, name == "tree") << told;
    for (const Json& bucket : told["buckets"]) {
      EXPECT_GT(bucket["least_ms"].get<double>(), 0) << name;
      EXPECT_EQ(bucket.contains("predicted_ms"), name == "hybrid");
      EXPECT_EQ(bucket["reduction"] == name, name != "hybrid") << bucket;
    }
  }
}

// A tensor's block of 16 bits has a scale of its own, whichever tensors travel with it.
TEST(Exchange, OneRankRoundsTensorByTensor) {
  const Shared shared("rounded");
  if (rank() != 0) return;
  const auto outcome = [&](double fusion) {
    const Json settings = {{"wire", "f16"}, {"virtual_ranks", 4}, {"fusion", fusion}, {"max_steps", 3}};
    return alone(shared, projectOf(kNets[1], settings), fmt::format("fusion-{}", fusion));
  };
  const Outcome apart = outcome(0), together = outcome(2);
  EXPECT_EQ(apart.tensors, together.tensors);
  EXPECT_EQ(apart.losses, together.losses);
}

// Gradients and statistics of a machine whose memory the host cannot follow go and come back by copies: the same bits,
// over every wire, added in the store, rounded one by one, or in a tree.
TEST(Exchange, FollowsNoAddress) {
  for (const Json& settings : {Json{{"wire", "f32"}}, Json{{"wire", "bf16"}}, Json{{"deterministic", true}},
                               Json{{"wire", "f16"}, {"virtual_ranks", 2 * size()}}}) {
    const Shared shared("far");
    Json project = projectOf(kNets[1], settings);
    project["training"]["max_steps"] = 3;
    const auto outcome = [&](const char* name, Backend& backend) {
      const Workshop::Run run = runOnAll(shared, project, name, false, &backend);
      return rank() == 0 ? outcomeOf(run) : Outcome{};
    };
    const auto reference = makeReferenceBackend();
    FarBackend far;
    const Outcome here = outcome("here", *reference), there = outcome("there", far);
    EXPECT_EQ(here.tensors, there.tensors) << settings;
    EXPECT_EQ(here.losses, there.losses) << settings;
    EXPECT_EQ(here.losses.size(), rank() == 0 ? 3u : 0u);
  }
}

// Statistics of all ranks at once are those of one rank with the whole batch.
TEST(BatchStatistics, SynchronisedOnesAreThoseOfOneRank) {
  const Shared shared("synchronised");
  const Json project = projectOf(kNets[1], {{"batch_statistics", "synchronised"}, {"epochs", 1}});
  const Outcome together = onAll(shared, project, "together");
  if (rank() != 0) return;
  const Outcome one = alone(shared, project, "alone");
  for (std::size_t i = 0; i < one.losses.size(); ++i)
    EXPECT_NEAR(together.losses[i], one.losses[i], 2e-5) << "step " << i;
  for (const auto& [name, values] : one.tensors)
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(together.tensors.at(name)[i], values[i], 2e-4) << name;
}

TEST(BatchStatistics, WithoutMovingAveragesThoseOfTheLastStepRemain) {
  const Shared shared("last-batch");
  const auto settings = [](const char* statistics, int steps) {
    return Json{{"batch_statistics", statistics},
                {"max_steps", steps},
                {"deterministic", true},
                {"optimizer", {{"name", "SGD"}, {"learning_rate", 0.0}}}};
  };
  const Outcome two = onAll(shared, projectOf(kNets[1], settings("last_batch", 2)), "two");
  const Outcome moving = onAll(shared, projectOf(kNets[1], settings("per_shard", 2)), "moving");
  if (rank() != 0) return;
  // Weights stand still: a third step would see other samples and other statistics, and the first is forgotten.
  const Outcome one = alone(shared, projectOf(kNets[1], settings("last_batch", 1)), "one");
  EXPECT_NE(two.tensors.at("b/mean"), one.tensors.at("b/mean"));
  EXPECT_EQ(two.tensors, alone(shared, projectOf(kNets[1], settings("last_batch", 2)), "again").tensors);
  // Moving averages begin at 0 and 1: 0.9 (0.9 · 0 + 0.1 m1) + 0.1 m2.
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(moving.tensors.at("b/mean")[i], 0.09 * one.tensors.at("b/mean")[i] + 0.1 * two.tensors.at("b/mean")[i],
                1e-6);
}

TEST(Resume, GoesOnWithAnotherNumberOfRanks) {
  const Shared shared("resume");
  Json begun = projectOf(kNets[1], {{"deterministic", true}, {"max_steps", 4}}), whole = begun;
  whole["training"].erase("max_steps");
  Outcome never;
  if (rank() == 0) {
    never = alone(shared, whole, "never-stopped");
    alone(shared, begun, "resumed");  // one rank, four steps
  }
  broadcastText(world(), "begun");
  const Outcome resumed = onAll(shared, whole, "resumed", true);
  if (rank() != 0) return;
  EXPECT_EQ(resumed.tensors, never.tensors);
  EXPECT_EQ(resumed.losses, never.losses);
}

// Another machine's library may round the first weights otherwise.
TEST(Start, AllBeginWithTheFirstRanksWeights) {
  const Shared shared("begin");
  const Json project = projectOf(kNets[1], {{"deterministic", true}});
  const Outcome plain = onAll(shared, project, "plain");
  WatchedBackend backend;
  // Only before the start: other shapes are compiled later, between steps.
  backend.compiled = [first = true](ParameterStore& store) mutable {
    if (first && rank() > 0) store.entries().front()->value.host()[0] += 0.5f;
    first = false;
  };
  const Workshop::Run run = runOnAll(shared, project, "apart", false, &backend);
  if (rank() != 0) return;
  EXPECT_EQ(outcomeOf(run).tensors, plain.tensors);
  EXPECT_TRUE(run.of("warning").empty());
  const Json described = parseJson(readFile(run.folder.runFile()), "run.json");
  EXPECT_EQ(described["ranks"], size());
  EXPECT_EQ(described["hosts"].size(), 1u) << "each host once";
}

// Machines that work by themselves, a step ahead of their figures: ranks do the same in the same order, although rank 0
// alone wants to write, or to stop.
TEST(LateFigures, OfSeveralRanksChangeNothing) {
  const Shared shared("late");
  const Json project = projectOf(kNets[1], {{"deterministic", true}, {"batch", 8}});
  const Outcome prompt = onAll(shared, project, "prompt");
  LateBackend backend;
  const auto train = [&](const std::string& name, Workshop::Ways ways) {
    if (rank() == 0) std::filesystem::create_directories(shared.path() / name);
    ways.backend = &backend;
    ways.communicator = &world();
    return workshopOf(shared).train(project, name, ways);
  };
  const Workshop::Run late = train("late", {}),
                      written = train("written", {.longEpochSeconds = rank() == 0 ? 0.0 : 1e9});
  const Workshop::Run stopped = train("stopped", {.watch = [](const Event& event, const RunFolder& folder) {
                                        if (event.kind == "step" && event.body["step"] == 4)
                                          appendControl(folder, {{"command", "stop"}});
                                      }});
  for (const std::string& step : allGatherTexts(world(), std::to_string(stopped.result.step)))
    EXPECT_EQ(step, std::to_string(stopped.result.step)) << "all ranks stop behind the same step";
  const Workshop::Run resumed = train("stopped", {.resume = true});
  if (rank() != 0) return;
  const auto within = [](double step) { return std::fmod(step, 6) != 0; };
  EXPECT_TRUE(std::ranges::any_of(written.series("checkpoint", "step"), within)) << "in the midst of an epoch";
  EXPECT_GE(stopped.result.step, 4);
  EXPECT_LT(stopped.result.step, 12);
  for (const Workshop::Run* run : {&late, &written, &resumed}) {
    EXPECT_EQ(outcomeOf(*run).tensors, prompt.tensors);
    EXPECT_EQ(outcomeOf(*run).losses, prompt.losses);
    EXPECT_EQ(outcomeOf(*run).validation, prompt.validation);
  }
}

TEST(Weights, ThatComeApartAreFoundAndMadeAlike) {
  const Shared shared("apart");
  Json project = projectOf(kNets[0], {{"epochs", 1000}, {"max_steps", 130}});
  WatchedBackend backend;
  backend.ran = [times = 0](ParameterStore& store) mutable {
    if (++times == 10 && rank() == size() - 1 && rank() > 0) store.entries().front()->value.host()[0] += 1e-3f;
  };
  const Workshop::Run run = runOnAll(shared, project, "run", false, &backend);
  if (rank() != 0) return;
  const auto warnings = run.of("warning");
  ASSERT_EQ(warnings.size(), size() > 1 ? 1u : 0u) << "once: they are alike afterwards";
  if (size() > 1) {
    EXPECT_THAT(warnings[0].body["message"].get<std::string>(),
                testing::AllOf(HasSubstr("at step 65"), HasSubstr(fmt::format("rank {} on ", size() - 1))));
  }
}

TEST(Start, RanksThatWouldTrainDifferentThingsRefuse) {
  if (size() == 1) GTEST_SKIP() << "one rank always agrees with itself";
  const Shared shared("refuse");
  const bool last = rank() == size() - 1;
  const auto failureOf = [&](const Json& project, const std::string& run) -> std::string {
    if (rank() == 0) std::filesystem::create_directories(shared.path() / run);
    try {
      workshopOf(shared).train(project, run, {.communicator = &world()});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::communication);
      return error.what();
    }
    return "no error";
  };
  const std::string seed = failureOf(projectOf(kNets[0], {{"seed", last ? 6 : 5}}), "seed");
  EXPECT_THAT(seed, HasSubstr(fmt::format("rank {} on ", size() - 1)));
  EXPECT_THAT(seed, HasSubstr("settings seed is 6 there and 5 here"));
  Json narrow = projectOf(kNets[0], Json::object());
  if (last) narrow["networks"]["main"]["nodes"][1]["outputs"] = 8;
  EXPECT_THAT(failureOf(narrow, "program"), HasSubstr("program is"));
  if (rank() == 0) {
    const std::string csv = readFile(shared.path() / "train.csv");
    workshopOf(shared).write("short.csv", csv.substr(0, csv.rfind('\n', csv.size() - 2) + 1));
  }
  broadcastText(world(), "written");
  Json fewer = projectOf(kNets[0], Json::object());
  if (last) fewer["datasets"]["training"]["csv"] = "short.csv";
  EXPECT_THAT(failureOf(fewer, "data"), HasSubstr("dataset 'training' rows is 45 there and 46 here"));
}

TEST(Start, AFaultOfOneRankIsToldByAll) {
  const Shared shared("fault");
  Json project = projectOf(kNets[0], Json::object());
  if (rank() == size() - 1) project["datasets"]["training"]["csv"] = "absent.csv";
  if (rank() == 0) std::filesystem::create_directories(shared.path() / "run");
  try {
    workshopOf(shared).train(project, "run", {.communicator = &world()});
    ADD_FAILURE() << "the training did not fail";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::missingFile);
    EXPECT_THAT(error.what(), HasSubstr("absent.csv"));
    const std::string place = size() > 1 ? fmt::format("rank {} on ", size() - 1) : "";
    EXPECT_THAT(error.what(), HasSubstr(place));
  }
}

// The first reads the file; what the others read would be another one.
TEST(Start, AllBeginWithTheWeightsThatTheFirstReads) {
  const Shared shared("weights");
  const Json project = projectOf(kNets[1], Json::object());
  const Outcome trained = onAll(shared, project, "first");
  Json again = projectOf(kNets[1], {{"start_from", "first"},
                                    {"seed", 9},
                                    {"max_steps", 1},
                                    {"optimizer", {{"name", "SGD"}, {"learning_rate", 0.0}}}});
  const Outcome begun = onAll(shared, again, "second");
  if (rank() == 0)
    for (const char* name : {"a/weight", "a/bias", "b/gamma", "fc/weight"})
      EXPECT_EQ(begun.tensors.at(name), trained.tensors.at(name)) << name;
  again["training"]["start_from"] = "absent.safetensors";
  if (rank() == 0) std::filesystem::create_directories(shared.path() / "third");
  try {
    workshopOf(shared).train(again, "third", {.communicator = &world()});
    ADD_FAILURE() << "the training did not fail";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::missingFile);
    EXPECT_THAT(error.what(), HasSubstr("absent.safetensors"));
  }
}

// Each rank's gradient is the part: measured before it leaves, and the weights are those of a run that is not watched.
TEST(Start, WatchedGradientsTellNoiseAndWaiting) {
  const Shared shared("watched");
  Json settings = {{"epochs", 40}, {"batch", 24}, {"watch_gradients", true}, {"validate_every", 0}};
  const Workshop::Run watched = runOnAll(shared, projectOf(kNets[0], settings), "watched");
  settings["watch_gradients"] = false;
  const Workshop::Run plain = runOnAll(shared, projectOf(kNets[0], settings), "plain");
  if (rank() != 0) return;
  EXPECT_EQ(watched.tensors(), plain.tensors());
  const auto tells = [](const Workshop::Run& run, const char* figure) {
    const std::vector<Event> steps = run.of("step");
    return std::count_if(steps.begin(), steps.end(), [&](const Event& each) { return each.body.contains(figure); });
  };
  EXPECT_EQ(tells(watched, "noise_scale") == 0, size() == 1);
  EXPECT_EQ(tells(plain, "noise_scale"), 0);
  EXPECT_EQ(tells(plain, "exchange_ms"), size() == 1 ? 0 : static_cast<int>(plain.of("step").size()));
  for (const Event& step : plain.of("step"))
    if (size() > 1) {
      EXPECT_LE(step.body["exchange_ms"].get<double>(), step.body["ms"].get<double>() + 0.1);
    }
}

// Of delayed gradients, whose exchange goes on behind, and of those that SAM takes elsewhere: as of plain ones.
TEST(Start, NoiseIsMeasuredWithMethodsToo) {
  const Shared shared("noise");
  std::map<std::string, double> last;
  for (const auto& [name, more] : std::map<std::string, Json>{
           {"plain", Json::object()}, {"delayed", {{"gradients", "delayed"}}}, {"sam", {{"perturbation", "sam"}}}}) {
    Json settings = {{"epochs", 40}, {"batch", 24}, {"watch_gradients", true}, {"validate_every", 0}};
    settings["optimizer"] = {{"name", "SGD"}, {"learning_rate", 0.0}};  // all see the same weights
    settings.update(more);
    const Workshop::Run run = runOnAll(shared, projectOf(kNets[0], settings), name);
    if (rank() != 0) continue;
    for (const Event& step : run.of("step"))
      if (step.body.contains("noise_scale")) last[name] = step.body["noise_scale"].get<double>();
    EXPECT_EQ(last.count(name) == 0, size() == 1) << name;
  }
  if (rank() != 0 || size() == 1) return;
  EXPECT_NEAR(last["sam"], last["plain"], 1e-3 * last["plain"]);
  EXPECT_NEAR(last["delayed"], last["plain"], 1e-3 * last["plain"]);
}

// What each rank does with a step, told once behind the eighth: the parts are the step, and nobody waits for the
// slowest longer than it takes.
TEST(Start, TheTimeOfAStepIsToldByRank) {
  const Shared shared("times");
  const Workshop::Run run =
      runOnAll(shared, projectOf(kNets[0], {{"epochs", 10}, {"batch", 24}, {"validate_every", 1}}), "times");
  if (rank() != 0) return;
  const std::vector<Event> told = run.of("ranks");
  ASSERT_EQ(told.empty(), size() == 1);
  if (told.empty()) return;
  const Json& body = told.front().body;
  EXPECT_EQ(body["step"], 8);
  EXPECT_EQ(body["steps"], 7) << "the first has no step before it";
  EXPECT_EQ(body["hosts"].size(), 1u);
  EXPECT_EQ(body["hosts"][0][1], size());
  double least = 1e9;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size()); ++i) {
    const auto at = [&](const char* key) { return body[key].at(i).get<double>(); };
    EXPECT_GT(at("computing_ms"), 0);
    EXPECT_GE(at("waiting_ms"), 0);
    EXPECT_EQ(at("exchanging_ms"), body["exchanging_ms"][0]);
    least = std::min(least, at("waiting_ms"));
  }
  EXPECT_EQ(body["computing_ms"].size(), static_cast<std::size_t>(size()));
  const std::vector<Event> steps = run.of("step");
  double all = 0, summed = 0;
  for (std::size_t i = 1; i < 8; ++i) all += steps[i].body["ms"].get<double>() / 7;
  for (const char* key : {"computing_ms", "exchanging_ms", "waiting_ms", "data_ms"})
    summed += body[key][0].get<double>();
  EXPECT_LT(summed, 3 * all + 1);
}

TEST(Start, SettingsThatCannotBeWithSoManyRanksAreRefused) {
  const Shared shared("cannot");
  int runs = 0;
  const auto refusal = [&](const Json& settings) -> std::string {
    const std::string run = fmt::format("run-{}", ++runs);
    if (rank() == 0) std::filesystem::create_directories(shared.path() / run);
    try {
      workshopOf(shared).train(projectOf(kNets[1], settings), run, {.communicator = &world()});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(refusal({{"deterministic", true}, {"wire", "f16"}}), HasSubstr("set wire to f32"));
  EXPECT_THAT(refusal({{"reduction", "ring"}, {"wire", "bf16"}}), HasSubstr("set reduction to automatic"));
  EXPECT_THAT(refusal({{"deterministic", true}, {"reduction", "torus"}}), HasSubstr("set reduction to automatic"));
  if (size() == 2 || size() == 3) {
    EXPECT_THAT(refusal({{"reduction", "torus"}}), HasSubstr("is a prime; start 4 ranks, or set reduction to ring"));
  }
  EXPECT_THAT(refusal({{"batch_statistics", "synchronised"}, {"accumulate", 2}}), HasSubstr("accumulation"));
  // 46 samples in batches of 15 leave one.
  EXPECT_THAT(refusal({{"batch_statistics", "synchronised"}, {"batch", 15}, {"max_steps", 1}}),
              HasSubstr(size() > 1 ? fmt::format("a sample on each of the {} ranks", size()) : "no error"));
  if (size() > 2) {
    EXPECT_THAT(refusal({{"virtual_ranks", 2}}), HasSubstr(fmt::format("cannot be shared by {} ranks", size())));
  }
}

}  // namespace
}  // namespace loom

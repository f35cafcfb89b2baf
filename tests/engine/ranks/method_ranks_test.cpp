// What happens around a rule, and state that ranks share: p ranks against one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/training/methods/method.h"
#include "tests/engine/ranks/training_on_ranks.h"

namespace loom::on_ranks {
namespace {

// What happens around a rule: bits in deterministic runs; else as virtual ranks, which have the same arithmetic.
TEST(Methods, AreAlikeOnAnyNumberOfRanks) {
  const Shared shared("methods");
  std::vector<std::pair<std::string, Json>> ways;
  for (const MethodDefinition* row : methodTable())
    ways.push_back({row->entry.id, {{settingOf(row->place), row->entry.id}, {"swa_from", 0.2}}});
  ways.push_back({"three", {{"perturbation", "smoothout"}, {"gradients", "delayed"}, {"afterwards", "lookahead"}}});
  for (auto& [name, settings] : ways) {
    settings["batch_at"] = {1};
    settings["batch_then"] = {23};
    Json exact = settings;
    exact["deterministic"] = true;
    const Outcome together = onAll(shared, projectOf(kNets[1], exact), name + "-together"),
                  plain = onAll(shared, projectOf(kNets[1], settings), name + "-plain");
    if (rank() != 0) continue;
    settings["virtual_ranks"] = size();
    const Outcome one = alone(shared, projectOf(kNets[1], exact), name),
                  virtually = alone(shared, projectOf(kNets[1], settings), name + "-virtual");
    EXPECT_EQ(together.tensors, one.tensors) << name;
    EXPECT_EQ(together.losses, one.losses) << name;
    EXPECT_EQ(together.validation, one.validation) << name;
    EXPECT_EQ(one.losses.size(), 5u);
    ASSERT_EQ(plain.losses.size(), virtually.losses.size());
    for (std::size_t i = 0; i < plain.losses.size(); ++i)
      EXPECT_NEAR(plain.losses[i], virtually.losses[i], 2e-4) << name << " step " << i;
  }
}

// Stopped by all, resumed by one and again by all: what waited between ranks is in the checkpoint.
TEST(Methods, GoOnWithAnotherNumberOfRanks) {
  const Shared shared("methods-resume");
  for (const MethodDefinition* row : methodTable()) {
    const std::string& name = row->entry.id;
    const Json whole = projectOf(kNets[1], {{settingOf(row->place), name}, {"deterministic", true}, {"swa_from", 0.2}});
    Json two = whole, four = whole;
    two["training"]["max_steps"] = 2;
    four["training"]["max_steps"] = 4;
    onAll(shared, two, name);
    if (rank() == 0) workshopOf(shared).train(four, name, {.resume = true, .changed = true});
    broadcastText(world(), "four");
    const Outcome resumed = onAll(shared, whole, name, true);
    if (rank() != 0) continue;
    const Outcome never = alone(shared, whole, name + "-never");
    EXPECT_EQ(resumed.tensors, never.tensors) << name;
    EXPECT_EQ(resumed.losses, never.losses) << name;
  }
}

// ZeRO 1: what a rule keeps stands on one rank each, and nothing else changes.
TEST(SharedOptimizerState, HasTheBitsOfOneThatIsNotShared) {
  const Shared shared("shared-state");
  for (const char* rule : {"Adam", "LARS", "LAMB", "Muon", "SOAP"}) {
    const Json project = projectOf(kNets[1], {{"deterministic", true},
                                              {"shard_optimizer", true},
                                              {"clip_norm", 0.3},
                                              {"afterwards", "lookahead"},
                                              {"optimizer", {{"name", rule}, {"weight_decay", 0.01}}}});
    WatchedBackend backend;
    std::int64_t kept = 0, all = 0;
    backend.ran = [&](ParameterStore& store) {
      kept = all = 0;
      for (const auto& entry : store.entries()) {
        for (const auto& [slot, tensor] : entry->slots)
          if (slot == "m" || slot == "v") kept += tensor.elements();
        if (!entry->parameter.isState) all += 2 * entry->value.elements();
      }
    };
    const Workshop::Run run = runOnAll(shared, project, std::string(rule) + "-together", false, &backend);
    if (rule == std::string("Adam")) {
      EXPECT_LE(kept, size() == 1 ? all : all / std::min(size(), 2) + 60) << "of " << all;
    }
    if (rank() != 0) continue;
    const Outcome together = outcomeOf(run), one = alone(shared, project, rule);
    EXPECT_EQ(together.tensors, one.tensors) << rule << ": other ranks' state among them";
    EXPECT_EQ(together.losses, one.losses) << rule;
    EXPECT_EQ(together.validation, one.validation) << rule;
  }
}

// Sums go to who steps them alone, where the reduction can do so and it sends less: the bits of the run that has them
// everywhere.
TEST(SharedOptimizerState, NeedsItsOwnGradientsAlone) {
  const Shared shared("own-gradients");
  for (const bool deterministic : {false, true})
    for (const char* rule : {"Adam", "LARS"}) {
      Json settings = {{"clip_norm", 0.3}, {"optimizer", {{"name", rule}, {"weight_decay", 0.01}}}};
      settings.update(deterministic ? Json{{"deterministic", true}} : Json{{"reduction", "direct"}});
      const std::string name = std::string(rule) + (deterministic ? "-tree" : "-direct");
      const Workshop::Run plain = runOnAll(shared, projectOf(kNets[1], settings), name);
      settings["shard_optimizer"] = true;
      const Workshop::Run own = runOnAll(shared, projectOf(kNets[1], settings), name + "-own");
      if (rank() != 0) continue;
      EXPECT_EQ(outcomeOf(own).tensors, outcomeOf(plain).tensors) << name;
      EXPECT_EQ(outcomeOf(own).losses, outcomeOf(plain).losses) << name;
      EXPECT_EQ(own.series("step", "gradient_norm"), plain.series("step", "gradient_norm")) << name;
      if (size() != 2) continue;
      const Json bucket = own.of("plan")[0].body["updates"][0]["exchange"]["buckets"][0];
      EXPECT_TRUE(bucket.value("scattered", false)) << bucket;
      EXPECT_LT(bucket["bytes"], plain.of("plan")[0].body["updates"][0]["exchange"]["buckets"][0]["bytes"]);
    }
}

// By all, by all but one, by one and by all again.
TEST(SharedOptimizerState, GoesOnWithAnyNumberOfRanks) {
  const Shared shared("shared-resume");
  const Json whole =
      projectOf(kNets[1], {{"deterministic", true}, {"shard_optimizer", true}, {"optimizer", {{"name", "Adam"}}}});
  const auto until = [&](int steps) {
    Json part = whole;
    part["training"]["max_steps"] = steps;
    return part;
  };
  onAll(shared, until(1), "run");
  if (size() > 1) {
    const bool in = rank() + 1 < size();
    const auto fewer = world().split(in ? 0 : 1, rank());
    if (in) workshopOf(shared).train(until(3), "run", {.resume = true, .changed = true, .communicator = fewer.get()});
    broadcastText(world(), "three");
  }
  if (rank() == 0) workshopOf(shared).train(until(4), "run", {.resume = true, .changed = true});
  broadcastText(world(), "four");
  const Workshop::Run run = runOnAll(shared, whole, "run", true);
  if (rank() != 0) return;
  const Outcome never = alone(shared, whole, "never");
  EXPECT_EQ(outcomeOf(run).tensors, never.tensors);
  EXPECT_EQ(outcomeOf(run).losses, never.losses);
  EXPECT_TRUE(run.of("warning").empty());
}

// Matrices alone are shared, the largest first; what stands on other ranks comes back into a checkpoint.
TEST(OneRankEach, HasTheBitsOfOneRankAndGoesOnWithAnyNumber) {
  const Shared shared("one-rank-each");
  for (Json optimizer :
       {Json{{"name", "Muon"}, {"left_to_adamw", Json::array()}},
        Json{{"name", "Shampoo"}, {"precondition_every", 2}, {"precondition_from", 2}, {"largest_block", 6}},
        Json{{"name", "SOAP"}}}) {
    const std::string rule = optimizer["name"];
    Json plain = projectOf(kNets[1], {{"deterministic", true}, {"clip_norm", 0.3}, {"optimizer", optimizer}});
    optimizer["one_rank_each"] = true;
    Json whole = projectOf(kNets[1], {{"deterministic", true}, {"clip_norm", 0.3}, {"optimizer", optimizer}});
    const auto until = [&](int steps) {
      Json part = whole;
      part["training"]["max_steps"] = steps;
      return part;
    };
    onAll(shared, until(2), rule);
    if (rank() == 0) workshopOf(shared).train(until(3), rule, {.resume = true, .changed = true});
    broadcastText(world(), "three");
    const Workshop::Run run = runOnAll(shared, whole, rule, true);
    if (rank() != 0) continue;
    const Outcome never = alone(shared, plain, rule + "-never");
    EXPECT_EQ(outcomeOf(run).tensors, never.tensors) << rule;
    EXPECT_EQ(outcomeOf(run).losses, never.losses) << rule;
    EXPECT_TRUE(run.of("warning").empty()) << rule;
  }
}

}  // namespace
}  // namespace loom::on_ranks

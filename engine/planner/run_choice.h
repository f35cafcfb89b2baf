#pragma once
// "Choose for me": batch, ranks, topology, wire, rule, rate and warm-up for a project on a host, each with its reason.
// Rules with their sources, over what the planner predicts. Pure; any thread.
#include <optional>

#include "engine/network/presets.h"
#include "engine/planner/scaling.h"

namespace loom {

struct HostOffer {
  std::string name;
  int ranks = 1;    // that it offers
  int perHost = 0;  // of them on one machine; 0 = all
  Links links;
  bool measured = false;  // the links; else they are assumed
};

struct ChoiceQuestion {
  HostOffer host;
  // Nothing: as fast as it goes. Else the batch whose accuracy is wanted: it stays.
  std::optional<std::int64_t> sameAsBatch;
  std::int64_t samples = 0;                         // of an epoch; 0 = not known
  double secondsPerSample = 0, secondsPerStep = 0;  // of a rank (ScalingQuestion)
  std::optional<double> noise;                      // the critical batch, where it was measured
  double memory = 0;                                // bytes that a rank may use; 0 = not known
  double memoryPerSample = 0, memoryBeside = 0;     // bytes that a rank needs: for each sample at once, and besides
};

struct RunChoice {
  Project project;
  int ranks = 1;
  ScalingPoint predicted;
  std::vector<FieldChange> changes;  // "ranks" among them, which is no field of the project
};
// For update `update`. Throws Error(badProject).
RunChoice chooseRun(const Project& project, std::size_t update, int ranksNow, const ChoiceQuestion& question);

}  // namespace loom

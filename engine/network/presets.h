#pragma once
// Published recipes for large batches, each under the name of the result that it follows, and how a project becomes
// like one: every field with its source, before and after. Pure; any thread.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/network/project.h"

namespace loom {

// One field that somebody proposes to set. Paths: those of `training` ("batch", "optimizer.learning_rate",
// "warmup.epochs"), "decay_exclude", and "loss.smoothing", which stands in the drawing.
struct FieldChange {
  std::string path;
  Json before, after;  // what holds, defaults included; null = absent
  std::string reason;  // where the value comes from
  bool same() const { return before == after; }
};

struct PresetValue {
  std::string path;
  Json value;
  std::string source;
};

struct Preset {
  std::string id;                     // "goyal-8k"
  std::string label;                  // "Goyal 8K"
  std::string result;                 // "ResNet-50 on ImageNet: 76.3 % in 1 hour on 256 P100"
  std::string source;                 // the publication
  std::int64_t batch = 0, ranks = 0;  // as published: samples of a step at first, devices
  // A rule (optimizer.*), a schedule (schedule.*) and a warm-up are set as a whole: fields that are not named have
  // their defaults. `batch_then` is as published and becomes the same multiples of the batch that is chosen.
  std::vector<PresetValue> values;
  std::vector<std::string> missing;  // what the recipe has and a project cannot say yet, or says in its drawing
};

std::span<const Preset> presetTable();
const Preset* findPreset(std::string_view id);
// Throws Error(badArgument) that names the nearest, or all.
const Preset& presetNamed(std::string_view id);

// The batch a recipe is taken for: the project's own stays (0), or another is set.
struct PresetScale {
  std::int64_t batch = 0;
  std::int64_t ranks = 1;  // of the run: a reduction that cannot be on so many is left out, with the reason
};

struct Proposal {
  Project project;
  std::vector<FieldChange> changes;  // the recipe's fields in their order, also those that stay; then what it resets
};
// Update `update` of the project as the preset has it. Throws Error(badProject) where the project has no such update.
Proposal withPreset(const Project& project, std::size_t update, const Preset& preset, const PresetScale& scale);

// Sets fields by their paths in a copy: what presets and advice are made of. Values that equal a default are left out.
Project withFields(const Project& project, std::size_t update, const std::vector<PresetValue>& values);
// The value that holds at such a path, default included; null = absent.
Json fieldAt(const Project& project, std::size_t update, const std::string& path);

// "optimizer.learning_rate  0.01 -> 0.1  Goyal et al. ...", a line each, in columns; what stays is marked.
std::string toText(const std::vector<FieldChange>& changes);
Json toJson(const std::vector<FieldChange>& changes);

}  // namespace loom

// presets: published recipes by name, and what one would change in a project.
#include "engine/network/presets.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/loom/verbs.h"
#include "engine/network/project_arguments.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

struct PresetArguments {
  std::string preset, project, out;
  std::vector<std::string> settings;
  bool published = false, json = false;
  int ranks = 1;
};

Json toJson(const Preset& preset) {
  return {{"id", preset.id},       {"label", preset.label}, {"result", preset.result},  {"source", preset.source},
          {"batch", preset.batch}, {"ranks", preset.ranks}, {"missing", preset.missing}};
}

int listPresets(bool json) {
  Json all = Json::array();
  for (const Preset& preset : presetTable()) {
    if (json)
      all.push_back(toJson(preset));
    else
      fmt::print("{:<20}{}\n{:<20}batch {} on {} ranks; {}\n", preset.id, preset.result, "", preset.batch, preset.ranks,
                 preset.source);
  }
  if (json) fmt::print("{}\n", all.dump(2));
  return kExitDone;
}

int showPreset(const PresetArguments& given) {
  const Preset& preset = presetNamed(given.preset);
  if (given.project.empty()) {
    if (!given.out.empty()) throwError(ErrorCode::badArgument, "--out needs a PROJECT that the preset is taken for");
    if (given.json) {
      Json one = toJson(preset);
      for (const PresetValue& value : preset.values)
        one["values"].push_back({{"path", value.path}, {"value", value.value}, {"source", value.source}});
      fmt::print("{}\n", one.dump(2));
      return kExitDone;
    }
    fmt::print("{}: {}\nbatch {} on {} ranks; {}\n", preset.label, preset.result, preset.batch, preset.ranks,
               preset.source);
    for (const PresetValue& value : preset.values)
      fmt::print("  {:<30}{:<24}{}\n", value.path, value.value.dump(), value.source);
  } else {
    const Project project = loadForTraining(projectFile(given.project), given.settings).project;
    const Proposal proposal =
        withPreset(project, 0, preset, {.batch = given.published ? preset.batch : 0, .ranks = given.ranks});
    if (given.json)
      fmt::print("{}\n", Json{{"preset", toJson(preset)}, {"changes", toJson(proposal.changes)}}.dump(2));
    else
      fmt::print("{}: {}\n{}", preset.label, preset.result, toText(proposal.changes));
    if (!given.out.empty()) saveProject(proposal.project, given.out);
    if (given.json) return kExitDone;
  }
  for (const std::string& missing : preset.missing) fmt::print("not set: {}\n", missing);
  return kExitDone;
}

}  // namespace

void addPresets(CLI::App& app, Session& session) {
  auto given = std::make_shared<PresetArguments>();
  CLI::App* verb = app.add_subcommand("presets", "Published recipes for large batches, and what one changes");
  verb->add_option("PRESET", given->preset, "One of them; without: all");
  verb->add_option("PROJECT", given->project, "The project that it is taken for: before and after of every field");
  verb->add_option("--set", given->settings, "As of loom train")->type_name("KEY=VALUE")->expected(1, -1);
  verb->add_option("--ranks", given->ranks, "Of the run: decides which reductions can be")->check(CLI::Range(1, 65536));
  verb->add_flag("--published", given->published, "With the batch of the publication; otherwise the project's stays");
  verb->add_option("--out", given->out, "Write the changed project there")->type_name("FILE");
  verb->add_flag("--json", given->json, "One JSON value");
  verb->callback([&session, given] {
    session.chosen = [given] { return given->preset.empty() ? listPresets(given->json) : showPreset(*given); };
  });
}

}  // namespace loom

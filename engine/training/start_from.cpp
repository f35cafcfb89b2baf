#include "engine/training/start_from.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/exchange/laid_over.h"
#include "engine/network/pattern.h"
#include "engine/training/trained_run.h"
#include "engine/training/update_program.h"

namespace loom {
namespace {

std::filesystem::path fileOf(const std::filesystem::path& named) {
  std::error_code none;
  if (!std::filesystem::exists(named, none))
    throwError(ErrorCode::missingFile,
               "training.start_from: there is no {}; name a .safetensors file or the folder of a run", named.string());
  if (!std::filesystem::is_directory(named, none)) return named;
  try {
    return TrainedRun(RunFolder{named}).checkpoint();
  } catch (const Error& error) {
    throwError(error.code(),
               "training.start_from: {}; name a .safetensors file or the folder of a run that was trained",
               error.message());
  }
}

bool isChosen(const std::string& name, const std::vector<std::string>& patterns) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                         [&](const std::string& pattern) { return matchesPattern(pattern, name); });
}

// "conv1/weight, conv1/bias and 12 more"
std::string some(const Json& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 4); ++i)
    text += (i ? ", " : "") + names[i].get<std::string>();
  return names.size() > 4 ? text + fmt::format(" and {} more", names.size() - 4) : text;
}

}  // namespace

StartedFrom startFrom(ParameterStore& store, const StartFromOptions& options) {
  const std::filesystem::path path = fileOf(options.file);
  std::vector<NamedShape> stored;
  std::vector<ParameterStore::Entry*> entries;
  for (const auto& entry : store.entries()) {
    if (isMatrix(entry->parameter)) continue;
    stored.push_back({entry->parameter.name, entry->parameter.shape});
    entries.push_back(entry.get());
  }
  // The whole network is matched, and the chosen part of it taken: a part by itself would leave its order more answers.
  LaidOverWeights over = layOver(path, std::move(stored));
  WeightMatch& match = over.match;
  const std::vector<NamedShape>&parameters = over.parameters, &tensors = over.tensors;
  std::erase_if(match.pairs,
                [&](const WeightPair& pair) { return !isChosen(parameters[pair.parameter].name, options.parameters); });
  std::erase_if(match.shapeDiffers,
                [&](const WeightPair& pair) { return !isChosen(parameters[pair.parameter].name, options.parameters); });
  std::erase_if(match.missing,
                [&](std::size_t index) { return !isChosen(parameters[index].name, options.parameters); });
  if (match.pairs.empty())
    throwError(ErrorCode::badProject,
               "training.start_from: none of the {} in {} fits {} of the network by name or by shape; it belongs to "
               "another network",
               counted(static_cast<std::int64_t>(tensors.size()), "tensors"), path.string(),
               options.parameters.empty() ? "a weight" : "a weight that start_from_parameters names");
  for (const WeightPair& pair : match.pairs) entries[pair.parameter]->value.write(over.sources[pair.tensor]->values);

  StartedFrom started;
  started.facts = toJson(match, parameters, tensors);
  started.facts["file"] = path.string();
  started.facts["bytes"] = std::filesystem::file_size(path);
  if (!match.doubt.empty()) started.warnings.push_back("start_from: " + match.doubt);
  if (!match.shapeDiffers.empty()) {
    Json names = Json::array();
    for (const WeightPair& pair : match.shapeDiffers) names.push_back(parameters[pair.parameter].name);
    started.warnings.push_back(
        fmt::format("start_from: {} begin at random numbers, since the file has them in another shape: {}",
                    counted(static_cast<std::int64_t>(names.size()), "weights"), some(names)));
  }
  if (!match.missing.empty())
    started.warnings.push_back(fmt::format(
        "start_from: {} begin at random numbers, since the file has none for them: {}",
        counted(static_cast<std::int64_t>(match.missing.size()), "weights"), some(started.facts["missing"])));
  return started;
}

}  // namespace loom

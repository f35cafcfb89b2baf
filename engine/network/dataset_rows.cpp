#include "engine/network/dataset_rows.h"

#include "engine/base/error.h"
#include "engine/data/columns/resolve.h"
#include "engine/data/parts.h"

namespace loom {

std::string originOf(const DatasetSpec& spec) {
  return Values(datasetEntry(), spec.extra).text("origin");
}

void needCsv(const DatasetSpec& spec, const std::filesystem::path& csv) {
  std::error_code none;
  if (std::filesystem::exists(csv, none)) return;
  const std::string origin = originOf(spec);
  throwError(ErrorCode::missingFile, "dataset '{}': there is no file {}{}", spec.name, csv.string(),
             origin.empty() ? "; set its \"csv\"" : ". " + origin);
}

namespace {

RowChoice choiceOf(const DatasetSpec& spec) {
  const Values values(datasetEntry(), spec.extra);
  RowChoice choice{.first = values.integer("first_row"),
                   .count = values.has("rows") ? values.integer("rows") : -1,
                   .holdOut = std::nullopt};
  if (values.has("hold_out"))
    choice.holdOut = HoldOut{.share = values.real("hold_out"),
                             .held = values.text("part") == "held",
                             .shuffled = values.boolean("hold_shuffled"),
                             .by = values.text("hold_by"),
                             .group = values.text("hold_group"),
                             .order = values.text("hold_order"),
                             .seed = static_cast<std::uint64_t>(values.integer("hold_seed"))};
  return choice;
}

}  // namespace

OpenOptions openingOf(const DatasetSpec& spec, std::vector<Json> prepare, OpenOptions options) {
  const Values values(datasetEntry(), spec.extra);
  options.format = {.separator = values.text("separator"),
                    .decimal = values.text("decimal"),
                    .thousands = values.text("thousands"),
                    .encoding = values.text("encoding"),
                    .header = values.boolean("header")};
  options.prepare = std::move(prepare);
  options.rows = choiceOf(spec);
  return options;
}

std::shared_ptr<const Dataset> openRows(const DatasetSpec& spec, const std::filesystem::path& csv,
                                        const std::vector<Json>& prepare, const OpenOptions& options) {
  return rowsOf(spec, openDataset(csv, openingOf(spec, prepare, options)));
}

std::shared_ptr<const Dataset> rowsOf(const DatasetSpec& spec, std::shared_ptr<const Dataset> whole) {
  const RowChoice choice = choiceOf(spec);
  if (choice.first != 0 || choice.count >= 0) whole = selectRows(std::move(whole), choice.first, choice.count);
  if (!choice.holdOut) return whole;
  return selectPart(std::move(whole), *choice.holdOut);
}

std::vector<Json> measuredSteps(const DatasetSpec& spec, const std::filesystem::path& csv,
                                const std::vector<Json>& prepare, const std::function<bool()>& goesOn) {
  const OpenOptions options = openingOf(spec, columnStepsOf(prepare));
  if (!needsResolving(options.prepare)) return options.prepare;
  return resolveColumns({.csv = csv,
                         .format = recogniseCsv(csv, options.format),
                         .steps = options.prepare,
                         .rows = options.rows,
                         .progress = [&](std::int64_t, std::int64_t) { return !goesOn || goesOn(); }})
      .steps;
}

std::vector<Json> prepareOf(const Project& project, const DatasetSpec& spec) {
  if (spec.ownPrepare || project.training.updates.empty()) return spec.prepare;
  const DatasetSpec* trained = project.dataset(project.training.updates.front().dataset);
  if (!trained || trained->name == spec.name) return spec.prepare;
  return trained->csv == spec.csv ? trained->prepare : stepsForAnotherFile(trained->prepare);
}

}  // namespace loom

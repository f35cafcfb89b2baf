#include "engine/training/position.h"

#include <cmath>

#include "engine/base/error.h"
#include "engine/training/checkpoint.h"

namespace loom {
namespace {

Json jsonOf(const PlateauState& state) {
  Json json = {{"scale", state.scale}, {"without", state.without}, {"cooling", state.cooling}};
  if (state.best) json["best"] = *state.best;
  return json;
}

PlateauState plateauOf(const Json& json) {
  PlateauState state{.scale = json.at("scale").get<double>(),
                     .best = {},
                     .without = json.at("without").get<std::int64_t>(),
                     .cooling = json.at("cooling").get<std::int64_t>()};
  if (json.contains("best")) state.best = json["best"].get<double>();
  return state;
}

}  // namespace

Json BestSoFar::toJson() const {
  Json json = {{"metric", metric}, {"value", numberToJson(value)}, {"epoch", epoch}, {"step", step}};
  if (std::isfinite(loss)) json["loss"] = numberToJson(loss);
  return json;
}

void Position::countStepsPerEpoch(std::int64_t wanted) {
  const double factor = stepsPerEpoch > 0 ? static_cast<double>(wanted) / static_cast<double>(stepsPerEpoch) : 1;
  scheduleStep *= factor;
  for (UpdatePlace& update : updates)
    if (update.rate) update.rate->at *= factor;
  stepsPerEpoch = wanted;
}

Json Position::toJson() const {
  Json places = Json::object();
  for (const auto& [name, place] : datasets) places[name] = {{"epoch", place.epoch}, {"sample", place.sample}};
  Json counts = Json::array();
  for (const UpdatePlace& update : updates) {
    Json one = {{"count", update.count}};
    if (update.rate) {
      one["learning_rate"] = {{"value", update.rate->value}, {"at", update.rate->at}};
      if (update.rate->base) one["learning_rate"]["base"] = *update.rate->base;
    }
    if (update.lossScale > 0) one["loss_scale"] = {{"value", update.lossScale}, {"finite_steps", update.finiteSteps}};
    if (update.plateau) one["plateau"] = jsonOf(*update.plateau);
    if (!update.methods.empty()) one["methods"] = update.methods;
    if (update.weights > 0) one["step_weights"] = {{"highest_rate", update.highestRate}, {"sum", update.weights}};
    counts.push_back(std::move(one));
  }
  Json json = {{"version", kCheckpointVersion},
               {"step", step},
               {"schedule_step", scheduleStep},
               {"steps_per_epoch", stepsPerEpoch},
               {"settings_batch", settingsBatch},
               {"samples", samples},
               {"epoch", epoch},
               {"validation_due", validationDue},
               {"next_validation", nextValidation},
               {"next_kept", nextKept},
               {"means", means.toJson()},
               {"datasets", std::move(places)},
               {"updates", std::move(counts)},
               {"batch", batch}};
  if (first) json["first"] = loom::toJson(*first);
  if (stageBatch > 0) json["stage_batch"] = stageBatch;
  if (best) json["best"] = best->toJson();
  return json;
}

Position Position::fromJson(const Json& json) {
  try {
    Position position;
    position.step = json.at("step").get<std::int64_t>();
    position.scheduleStep = json.at("schedule_step").get<double>();
    position.stepsPerEpoch = json.value("steps_per_epoch", std::int64_t{0});
    position.settingsBatch = json.value("settings_batch", std::int64_t{0});
    position.samples = json.at("samples").get<std::int64_t>();
    position.epoch = json.at("epoch").get<double>();
    position.validationDue = json.at("validation_due").get<bool>();
    position.nextValidation = json.at("next_validation").get<double>();
    position.nextKept = json.at("next_kept").get<double>();
    position.means = Means::fromJson(json.at("means"));
    if (json.contains("first")) position.first = measuredFromJson(json["first"]);
    for (const auto& [name, place] : json.at("datasets").items())
      position.datasets[name] = {place.at("epoch").get<std::int64_t>(), place.at("sample").get<std::int64_t>()};
    for (const Json& update : json.at("updates")) {
      UpdatePlace place{.count = update.at("count").get<std::int64_t>()};
      if (update.contains("learning_rate")) {
        const Json& rate = update["learning_rate"];
        place.rate = {.value = rate.at("value").get<double>(), .at = rate.at("at").get<double>()};
        if (rate.contains("base")) place.rate->base = rate["base"].get<double>();
      }
      if (update.contains("loss_scale")) {
        place.lossScale = update["loss_scale"].at("value").get<double>();
        place.finiteSteps = update["loss_scale"].at("finite_steps").get<std::int64_t>();
      }
      if (update.contains("plateau")) place.plateau = plateauOf(update["plateau"]);
      if (update.contains("methods")) place.methods = update["methods"];
      if (update.contains("step_weights")) {
        place.highestRate = update["step_weights"].at("highest_rate").get<double>();
        place.weights = update["step_weights"].at("sum").get<double>();
      }
      position.updates.push_back(place);
    }
    position.batch = json.at("batch").get<std::int64_t>();
    position.stageBatch = json.value("stage_batch", std::int64_t{0});
    if (json.contains("best")) {
      position.best = BestSoFar{.metric = json["best"].at("metric").get<std::string>(),
                                .value = numberFromJson(json["best"].at("value")),
                                .loss = std::numeric_limits<double>::quiet_NaN(),
                                .epoch = json["best"].at("epoch").get<double>(),
                                .step = json["best"].at("step").get<std::int64_t>()};
      if (const auto loss = json["best"].find("loss"); loss != json["best"].end())
        position.best->loss = numberFromJson(*loss);
    }
    return position;
  } catch (const Json::exception& fault) {
    throwError(ErrorCode::badData,
               "the checkpoint's training state cannot be read ({}); choose another one of this run", fault.what());
  }
}

}  // namespace loom

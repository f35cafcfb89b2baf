// TrainingSession: what a run says of itself before its first step.
#include <unistd.h>

#include <algorithm>

#include "engine/base/host.h"
#include "engine/training/agreement.h"
#include "engine/training/run_description.h"
#include "engine/training/training_session.h"

namespace loom {

Json TrainingSession::facts() const {
  if (m_parallel.ranks() == 1) return Json::object();
  Json settings = resolvedSettings(m_options.project.training.settings);
  settings.erase("threads");  // each machine has its own
  Json facts = {{"version", m_options.versions}, {"settings", std::move(settings)}};
  for (std::size_t i = 0; i < m_options.project.training.updates.size(); ++i) {
    const UpdateSpec& update = m_options.project.training.updates[i];
    Json rule = {{"optimizer", update.optimizer}, {"schedule", update.schedule}, {"warmup", update.warmup}};
    if (const Network* network = m_flat.find(update.network))
      rule["program"] = fingerprint(m_networks.program({.network = network, .batch = 1}).toString());
    facts[fmt::format("update {} (network '{}')", i + 1, update.network)] = std::move(rule);
  }
  for (const auto& [name, opened] : m_data.opened()) {
    facts[fmt::format("dataset '{}'", name)] = fingerprint(*opened.data);
    facts[fmt::format("dataset '{}'", name)]["prepare"] = opened.prepare;
  }
  return facts;
}

void TrainingSession::describe() {
  Json devices = Json::array();
  for (const std::string& text : allGatherTexts(m_parallel.communicator, Json{{"rank", m_parallel.communicator.rank()},
                                                                              {"host", hostName()},
                                                                              {"pid", ::getpid()},
                                                                              {"device", m_backend.name()}}
                                                                             .dump()))
    devices.push_back(Json::parse(text));
  for (const Json& device : devices) m_hosts.push_back(device["host"].get<std::string>());
  if (!first()) return;
  std::vector<std::string> hosts;
  for (const std::string& host : m_hosts)
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  Json data = m_data.facts();
  for (const auto& [dataset, weights] : m_classWeights)
    if (!weights.empty()) data[dataset]["class_weights"] = weights;
  if (!m_options.resume || m_options.changed || !std::filesystem::exists(m_options.run.runFile()))
    writeRunDescription(m_options.run, {.project = m_options.project,
                                        .projectFile = m_options.projectFile,
                                        .folder = std::filesystem::absolute(m_options.folder),
                                        .facts = std::move(data),
                                        .startedFrom = m_options.startedFrom,
                                        .device = m_backend.name(),
                                        .precision = std::string(toString(m_settings.precision)),
                                        .ranks = m_parallel.ranks(),
                                        .hosts = std::move(hosts),
                                        .versions = m_options.versions});
  Json started = {{"attempt", m_events->attempt()}};
  if (m_writtenStep >= 0) started["resumed_from"] = m_position.step;
  if (!m_options.startedFrom.is_null()) started["started_from"] = m_options.startedFrom;
  started.update({{"steps_total", m_stepsPlanned},
                  {"steps_per_epoch", m_primary->stepsPerEpoch()},
                  {"epochs", m_settings.epochs},
                  {"samples", m_primary->size()},
                  {"batch", m_settings.batch},
                  {"parameters", m_store.parameterCount()},
                  {"device", m_backend.name()},
                  {"precision", std::string(toString(m_settings.precision))},
                  {"ranks", m_parallel.ranks()},
                  {"logical_ranks", m_parallel.logical},
                  {"communicator", m_parallel.communicator.name()},
                  {"pid", ::getpid()},
                  {"host", hostName()}});
  tell("started", started);
  if (m_settings.epochs == 0)
    tell("warning", {{"message", "training.epochs is 0: nothing is trained, only the untrained network is written"},
                     {"code", "settings"}});
  if (m_parallel.ranks() > 1) tell("devices", {{"ranks", std::move(devices)}});
  tellPlan();
}

void TrainingSession::tellPlan() {
  Json updates = Json::array();
  for (const auto& update : m_updates) {
    const Json plan = update->executable().describe();
    updates.push_back({{"network", update->network().name},
                       {"parameters", update->update().parameters().size()},
                       {"without_decay", update->update().undecayed()},
                       {"operations", plan.contains("operations") ? plan["operations"].size() : 0},
                       {"reorders", plan.value("reorders", Json())},
                       {"recomputed", plan.value("recomputed", Json())},
                       {"exchange", update->exchange()},
                       {"arena_bytes", plan.value("arena_bytes", Json())}});
  }
  tell("plan", {{"updates", std::move(updates)}});
}

}  // namespace loom

#include "engine/cuda/engine_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/base/user_folders.h"
#include "engine/cuda/device.h"

namespace loom::cuda {
namespace {

constexpr int kMost = 4;           // that are timed; the heuristics' later ones are seldom better
constexpr double kClearly = 0.97;  // of the favourite's time, to be taken instead of it
constexpr const char* kForm = "gradloom_engines";
constexpr int kVersion = 1;

// A trial that reaches outside of memory breaks the device for whatever comes next, which would be blamed for it.
void expectDevice(Engines& engines, const Engine& tried, const std::string& what, const Error& error) {
  try {
    engines.expectDevice();
  } catch (const Error& after) {
    throw DeviceLost(fmt::format("the GPU was lost while engine '{}' was timed for {}: {}. Asked again it says: {}",
                                 tried.name, what, error.what(), after.what()));
  }
}

}  // namespace

std::filesystem::path keptEngines() {
  return userCacheFolder() / "engines.json";
}

EngineChoice::EngineChoice(std::string machine, EngineChoiceOptions options)
    : m_machine(std::move(machine)), m_options(std::move(options)) {
  if (m_options.times) m_kept = std::move(read()[m_machine]);
}

void EngineChoice::warn(const std::string& text) {
  if (!std::exchange(m_warned, true)) m_options.warn(text);
}

EngineChoice::ByMachine EngineChoice::read() {
  ByMachine all;
  std::error_code none;
  if (m_options.file.empty() || !std::filesystem::exists(m_options.file, none)) return all;
  try {
    const Json file = parseJson(readFile(m_options.file, std::size_t{64} << 20), m_options.file.string());
    if (!file.is_object() || file.value(kForm, 0) != kVersion)
      throwError(ErrorCode::badData, "it is no file of engines of this version of Gradloom");
    for (const auto& [machine, kept] : file.at("machines").items())
      for (const auto& [what, one] : kept.items())
        all[machine][what] = {{one.at("place").get<int>(), one.at("engine").get<std::string>()},
                              one.at("microseconds").get<std::vector<double>>()};
    m_foreign = false;
    return all;
  } catch (const std::exception& error) {
    m_foreign = true;
    warn(fmt::format("{} cannot be used, engines are timed again and not kept: {}. Move it away",
                     m_options.file.string(), error.what()));
    return {};
  }
}

// What another process has found meanwhile stays.
void EngineChoice::keep(const std::string& what, const Kept& found) {
  m_kept[what] = found;
  if (m_options.file.empty()) return;
  ByMachine all = read();
  if (m_foreign) return;
  all[m_machine][what] = found;
  Json machines = Json::object();
  for (const auto& [machine, kept] : all)
    for (const auto& [key, one] : kept)
      machines[machine][key] = {
          {"place", one.engine.place}, {"engine", one.engine.name}, {"microseconds", one.microseconds}};
  try {
    std::filesystem::create_directories(m_options.file.parent_path());
    writeFileAtomically(m_options.file, Json{{kForm, kVersion}, {"machines", std::move(machines)}}.dump(1) + "\n");
  } catch (const std::exception& error) {
    warn(fmt::format("what was found about the GPU's engines cannot be kept and is measured again next time: {}",
                     error.what()));
  }
}

bool EngineChoice::isKnown(const std::string& what, Engines& engines, Engine& engine) const {
  const auto found = m_kept.find(what);
  if (found == m_kept.end()) return false;
  try {
    const std::vector<Engine> offered = engines.offered(found->second.engine.place, 1);
    if (offered.empty() || offered[0].place != found->second.engine.place ||
        offered[0].name != found->second.engine.name)
      return false;
    engine = offered[0];
    return true;
  } catch (const Error&) {
    return false;  // it could be had when it was timed
  }
}

Engine EngineChoice::choose(const std::string& what, Engines& engines) {
  if (Engine engine; m_options.times && isKnown(what, engines, engine)) return engine;
  const std::vector<Engine> offered = engines.offered(0, m_options.times ? kMost : 1);
  if (offered.empty()) throwError(ErrorCode::internal, "no engine is offered for {}", what);
  if (offered.size() == 1) return offered[0];
  std::size_t best = offered.size();
  std::vector<double> times(offered.size(), -1.0);
  for (std::size_t k = 0; k < offered.size(); ++k) {
    try {
      times[k] = engines.seconds(offered[k]) * 1e6;
    } catch (const DeviceLost&) {
      throw;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::device) throw;
      expectDevice(engines, offered[k], what, error);
      continue;  // there is no room to try it now, say
    }
    if (best == offered.size() || times[k] < (best == 0 ? kClearly : 1.0) * times[best]) best = k;
  }
  if (best == offered.size()) return offered[0];  // nothing was learnt
  keep(what, {offered[best], times});
  return offered[best];
}

}  // namespace loom::cuda

// What methods and weights to evaluate ask of a session's beginning.
#include <algorithm>

#include "engine/base/error.h"
#include "engine/network/method_check.h"
#include "engine/training/training_session.h"

namespace loom {
namespace {

constexpr std::int64_t kStatisticsBatch = 64;  // at once; the same on any number of ranks

// A slot's name without the update's number.
std::string kindOf(const std::string& slot) {
  return slot.substr(0, slot.find('@'));
}

const MethodDefinition* methodOf(const std::string& slot) {
  for (const MethodDefinition* row : methodTable())
    if (std::find(row->slots.begin(), row->slots.end(), kindOf(slot)) != row->slots.end()) return row;
  return nullptr;
}

}  // namespace

void TrainingSession::refuseMethods() const {
  if (const auto refusal = refusedMethods(m_options.project))
    throwError(ErrorCode::badProject, "training: {}", refusal->text);
}

// For weights that no step has seen, of each network once.
void TrainingSession::makeStatistics() {
  std::set<const Network*> made;
  for (const auto& update : m_updates) {
    if (!update->mayEvaluateOthers() || !made.insert(&update->network()).second) continue;
    const FeedOptions& trained = update->feed().options();
    const std::int64_t atOnce = (m_settings.batch + m_settings.accumulate - 1) / m_settings.accumulate;
    const auto& opened = m_data.opened().at(trained.name);
    auto fresh = std::make_unique<FreshStatistics>(
        m_networks, m_store, update->network(),
        std::make_unique<Feed>(opened.data,
                               FeedOptions{.name = trained.name,
                                           .prepare = opened.prepare,
                                           .batch = std::min({atOnce, kStatisticsBatch, opened.data->size()}),
                                           .shuffle = true,
                                           .random = true,
                                           .seed = m_settings.seed}));
    if (!fresh->states().empty()) m_statistics.push_back(std::move(fresh));
  }
}

// Of a checkpoint's slots, what this training keeps and that one did not, and the other way round: a sentence each.
void TrainingSession::tellOtherSlots(const std::vector<std::string>& missing, const std::set<std::string>& had) {
  const auto warn = [this](const std::string& message) {
    tell("warning", {{"message", message}, {"code", "checkpoint"}});
  };
  std::vector<std::string> copies;
  for (const auto& update : m_updates)
    for (const std::string& slot : update->copies()) copies.push_back(slot);
  const auto isCopy = [&copies](const std::string& slot) {
    return std::find(copies.begin(), copies.end(), slot) != copies.end();
  };
  std::set<std::string> begun, kept;
  for (const std::string& name : missing) {
    const std::string slot = parameterAndSlot(name).second;
    if (isCopy(slot)) {
      StoredTensor& tensor = m_store.slot(parameterAndSlot(name).first, slot);
      tensor.copyFrom(m_store.at(parameterAndSlot(name).first).value);
    }
    const MethodDefinition* method = methodOf(slot);
    if (!method && slot != kAverageSlot && !isCopy(slot)) {
      warn("the checkpoint has no optimizer state '" + name + "'; it begins at 0");
    } else if (begun.insert(slot).second) {
      const std::string what = slot == kAverageSlot ? "averages of the weights"
                               : method             ? method->keeps
                                                    : fmt::format("optimizer state '{}'", slot);
      warn(fmt::format("the checkpoint has no {}; they begin {}", what,
                       isCopy(slot) ? "at the weights as they are" : "anew"));
    }
  }
  for (const auto& entry : m_store.entries())
    for (const auto& [slot, tensor] : entry->slots) kept.insert(slot);
  for (const std::string& slot : had) {
    if (kept.contains(slot)) continue;
    const MethodDefinition* method = methodOf(slot);
    if (slot == kAverageSlot)
      warn("the averages of the weights are given up: the settings ask for the last weights now");
    else if (method)
      warn(fmt::format("{} are given up: the settings have another method now", method->keeps));
    else
      warn(fmt::format("the optimizer state '{}' is given up: the settings have another rule now", slot));
  }
}

}  // namespace loom

#include "engine/training/evaluated_weights.h"

#include <algorithm>

#include "engine/training/fresh_statistics.h"

namespace loom {

EvaluatedInPlace::EvaluatedInPlace(ParameterStore& store, EvaluatedWeights evaluated)
    : m_store(store), m_evaluated(std::move(evaluated)) {
  if (m_evaluated.from.empty()) return;
  try {
    for (const auto& [name, from] : m_evaluated.from) {
      ParameterStore::Entry& entry = store.at(name);
      const std::vector<float>& weight = m_trained.emplace(name, entry.value.values()).first->second;
      std::vector<float> shown = entry.slots.find(from.slot)->second.values();
      if (!from.isSlot())
        for (std::size_t i = 0; i < shown.size(); ++i)
          shown[i] = static_cast<float>(from.ofWeight * weight[i] + from.ofSlot * shown[i]);
      entry.value.write(shown);
    }
    for (FreshStatistics* fresh : m_evaluated.statistics) {
      for (const std::string& state : fresh->states()) m_trained.emplace(state, store.at(state).value.values());
      fresh->take();
    }
  } catch (...) {
    putBack();
    throw;
  }
}

EvaluatedInPlace::~EvaluatedInPlace() {
  putBack();
}

void EvaluatedInPlace::putBack() {
  for (const auto& [name, values] : m_trained) m_store.at(name).value.write(values);
}

const std::vector<float>* EvaluatedInPlace::trained(std::string_view name) const {
  const auto found = m_trained.find(name);
  return found == m_trained.end() ? nullptr : &found->second;
}

bool EvaluatedInPlace::isShown(std::string_view name, std::string_view slot) const {
  const auto found = m_evaluated.from.find(name);
  return found != m_evaluated.from.end() && found->second.isSlot() && found->second.slot == slot;
}

std::vector<std::string> EvaluatedInPlace::shownSlots() const {
  std::vector<std::string> slots;
  for (const auto& [name, from] : m_evaluated.from)
    if (from.isSlot() && std::find(slots.begin(), slots.end(), from.slot) == slots.end()) slots.push_back(from.slot);
  return slots;
}

void beginAsWeights(ParameterStore& store, const std::vector<std::string>& slots) {
  for (const auto& entry : store.entries())
    for (auto& [name, slot] : entry->slots)
      if (std::find(slots.begin(), slots.end(), name) != slots.end()) slot.copyFrom(entry->value);
}

}  // namespace loom

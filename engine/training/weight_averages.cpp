#include "engine/training/weight_averages.h"

#include "engine/training/update_program.h"

namespace loom {

void beginAverages(ParameterStore& store) {
  for (const auto& entry : store.entries())
    if (const auto average = entry->slots.find(kAverageSlot); average != entry->slots.end())
      average->second.write(entry->value.values());
}

AveragesInPlace::AveragesInPlace(ParameterStore& store) {
  for (const auto& entry : store.entries()) {
    const auto average = entry->slots.find(kAverageSlot);
    if (average == entry->slots.end()) continue;
    m_trained.emplace_back(&entry->value, entry->value.values());
    entry->value.write(average->second.values());
  }
}

AveragesInPlace::~AveragesInPlace() {
  for (const auto& [tensor, values] : m_trained) tensor->write(values);
}

}  // namespace loom

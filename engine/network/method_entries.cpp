#include "engine/network/method_entries.h"

#include <algorithm>

#include "engine/training/methods/method.h"

namespace loom {

void addMethodEntries(Entry& settings) {
  const auto place = std::find_if(settings.fields.begin(), settings.fields.end(),
                                  [](const Field& field) { return field.key == "evaluated_weights"; });
  const std::vector<Field> fields = methodFields();
  settings.fields.insert(place, fields.begin(), fields.end());
}

}  // namespace loom

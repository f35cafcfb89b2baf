#include "engine/network/method_entries.h"

#include <algorithm>

#include "engine/training/methods/method.h"

namespace loom {

void addMethodEntries(Entry& settings) {
  const auto place = std::find_if(settings.fields.begin(), settings.fields.end(),
                                  [](const Field& field) { return field.key == "evaluated_weights"; });
  const std::vector<Field> fields = methodFields();
  settings.fields.insert(place, fields.begin(), fields.end());
  const auto ranks = std::find_if(settings.fields.begin(), settings.fields.end(),
                                  [](const Field& field) { return field.key == "virtual_ranks"; });
  settings.fields.insert(
      ranks,
      {.key = "shard_optimizer",
       .label = "Share optimizer state",
       .help = "Each rank keeps the optimizer's state of a part of the weights, steps these and gives them to the "
               "others (ZeRO 1): the same bits with 1/p of that memory, for an all-gather of the weights more a "
               "step; over the direct exchange or the fixed tree gradients go to who steps them alone where that "
               "sends less. Pays where Adam's two numbers a weight do not fit. Checkpoints hold all of it, for any "
               "number of ranks.",
       .type = FieldType::boolean,
       .defaultValue = false});
}

}  // namespace loom

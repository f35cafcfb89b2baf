#include "widgets/document/setting_fields.h"

#include <cctype>
#include <span>

#include "engine/layers/layer.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace {

const Entry* entryOfNode(const Problem& problem, const Project& project) {
  const Network* network = project.drawing(problem.network);
  const Node* node = network ? network->find(problem.node) : nullptr;
  const LayerDefinition* layer = node ? findLayer(node->layer) : nullptr;
  return layer ? &layer->entry : nullptr;
}

// Within a sentence; "RMSprop decay" keeps its capitals.
std::string lowered(std::string label) {
  if (label.size() > 1 && std::islower(static_cast<unsigned char>(label[1])))
    label[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(label[0])));
  return label;
}

// "training.optimizer: Learning rate is ..." becomes "Optimizer: ..."; on a page of settings nobody needs to hear
// "training".
void nameGroup(std::string& message) {
  const std::size_t colon = message.find(": ");
  if (message.rfind("training", 0) != 0 || colon == std::string::npos || message.find(' ') < colon) return;
  const std::string path = message.substr(0, colon);
  const std::size_t dot = path.rfind('.');
  const std::string group = dot == std::string::npos ? "" : path.substr(dot + 1);
  const char* name = group == "optimizer"  ? "Optimizer: "
                     : group == "schedule" ? "Schedule: "
                     : group == "warmup"   ? "Warm-up: "
                                           : "";
  message.replace(0, colon + 2, name);
}

}  // namespace

const Field* fieldOfSetting(std::string_view key) {
  if (key.rfind("training", 0) == 0) {
    const std::size_t dot = key.find('.');
    key = dot == std::string_view::npos ? std::string_view() : key.substr(dot + 1);
  }
  const std::size_t dot = key.rfind('.');
  const std::string last(dot == std::string_view::npos ? key : key.substr(dot + 1));
  if (dot == std::string_view::npos) {
    for (const Entry* entry : {&settingsEntry(), &validationEntry(), &updateEntry()})
      if (const Field* field = entry->field(last)) return field;
    return nullptr;
  }
  if (key.rfind("warmup.", 0) == 0) return warmupEntry().field(last);
  if (key.rfind("optimizer.", 0) == 0)
    for (const OptimizerDefinition* each : optimizerTable())
      if (const Field* field = each->entry.field(last)) return field;
  if (key.rfind("schedule.", 0) == 0)
    for (const ScheduleDefinition* each : scheduleTable())
      if (const Field* field = each->entry.field(last)) return field;
  return nullptr;
}

void nameByLabels(std::vector<Problem>& problems, const Project& project) {
  for (Problem& problem : problems) {
    if (problem.field.empty()) continue;
    const Entry* entry = entryOfNode(problem, project);
    const Field* field = entry ? entry->field(problem.field)
                         : problem.node.empty() && problem.field.rfind("training", 0) == 0
                             ? fieldOfSetting(problem.field)
                             : nullptr;
    if (!field) continue;
    nameGroup(problem.message);
    problem.message = inLabels(std::move(problem.message), entry ? std::span(entry->fields) : std::span(field, 1));
    for (const char* verb : {"Set ", "Remove ", "Leave out "})
      if (problem.remedy.label.rfind(verb + field->key, 0) == 0)
        problem.remedy.label.replace(std::string(verb).size(), field->key.size(), lowered(field->label));
  }
}

}  // namespace loom

#pragma once
// Everything that can be set about the training, in the order and under the headings of the Settings page: what that
// page shows, Ctrl+K finds and *Train with changes* offers.
#include <QString>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/catalogue/entry.h"
#include "engine/network/project.h"

namespace loom {

struct Setting {
  QString section;     // "Optimizer", "Large batch"
  QString label;       // "Learning rate"; "Warm-up, epochs" where the field's own label says too little
  std::string path;    // "training.optimizer.learning_rate", of several updates "training.1.optimizer.learning_rate"
  std::string key;     // without where it stands: "optimizer.learning_rate"
  const Field* field;  // lives as long as the program
  Json value;          // that holds now: the project's or the default; null = absent
};

// Settings of the run, by heading, without optimizer and schedule. Every field of settingsEntry() stands in exactly
// one.
struct SettingSection {
  QString title;
  std::vector<std::string> keys;
};
const std::vector<SettingSection>& settingSections();

// The choice of the rule and of the schedule as fields of their own.
const Field& ruleField();
const Field& scheduleField();

// Those that are read: what another setting switches off is left out. Of update `update`, and of the run.
std::vector<Setting> settingsOf(const Project& project, std::size_t update);
// Whether label, heading, key or the words of its choices contain all words: the one index of settings.
bool isCalled(const Setting& setting, const QString& words);
bool isCalled(const QString& section, const std::string& key, const Field& field, const QString& words);

// A rule in the place of another. Rate and trust mean another thing there; momentum and decay stay.
Json withRule(const Json& optimizer, const std::string& rule);
// A warm-up with one field set, null = taken away. Epochs and steps are two ways to say one length: the one that is set
// holds. Null where nothing is left.
Json withWarmup(Json warmup, const std::string& key, const Json& value);

}  // namespace loom

#pragma once
// Preferences that hold for the whole program: the look and the wheel. Each choice holds at once.
#include "widgets/controls/popover.h"

namespace loom {

class Preferences;

class PreferencesCard : public Popover {
  Q_OBJECT

 public:
  PreferencesCard(Preferences& preferences, QWidget* window);
};

}  // namespace loom

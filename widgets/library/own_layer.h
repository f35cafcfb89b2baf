#pragma once
// A layer of a person's own, as one file: {"loom": 1, "layer": "Residual", "units": {...}}, the unit and those that it
// uses.
#include <QString>
#include <string>
#include <string_view>

#include "engine/network/project.h"

namespace loom {

inline constexpr std::string_view kOwnPrefix = "own:";  // of an entry's id: no layer and no unit is called so
inline constexpr char kOwnCategory[] = "own";

struct OwnLayer {
  QString file;
  std::string name;    // of the unit; of a file that cannot be read what the file is called
  Project definition;  // its units alone, self-contained
  Entry entry;         // id "own:NAME"
  QString fault;       // why it cannot be used; empty where it can
  std::string text;    // as the file held it

  const Network* unit() const { return definition.unit(name); }
};

// Never throws, whatever the file holds.
OwnLayer readOwnLayer(const QString& file);
OwnLayer ownLayerOf(std::string text, const QString& file);  // the same of a text
// The unit and every unit that it uses, alone.
Project definitionOf(const Project& project, const std::string& unit);
// What the file of this unit holds.
std::string ownLayerText(const Project& project, const std::string& unit);
// Two units with the same text compute and show the same, whatever those inside are called.
std::string definitionText(const Project& project, const std::string& unit);

// "own:Residual" -> "Residual"; empty for what is none.
std::string ownLayerName(std::string_view id);

}  // namespace loom

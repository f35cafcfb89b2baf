#pragma once
// A tab of Console as a drawing of ours: a network, or a unit where another one uses it.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/exchange/sdcproj/sdc_layer.h"

namespace loom::sdc {

// What all tabs share.
struct Tabs {
  const File& file;
  ImportReport& report;
  std::map<std::string, std::string> unitNames;  // tab that is used as a unit -> its name in the project
  std::map<std::string, std::map<std::string, std::string>> arguments;  // tab -> Console's name of an argument -> ours
  std::map<std::string, std::string> scopes;  // ParameterScope that is not a layer's own name -> the node that has it
};

// What is left to do once shapes are known.
struct LateShape {
  enum class Kind { target, label, layerNormalization, loopLength } kind;
  std::string node;   // whose field is to be set
  std::string after;  // the node whose input decides
};

struct Drawing {
  loom::Network network;
  std::vector<LateShape> late;
  std::vector<std::string> frozen;  // parameters that do not learn: "conv1/weight", of this drawing
};

Drawing draw(const Network& tab, Tabs& tabs, bool asUnit);

}  // namespace loom::sdc

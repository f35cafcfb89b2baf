#pragma once
// How long each layer of the open project took in a step, as the run measured it that the Training page
// shows, else the newest that measured any, of the last 64.
#include <map>
#include <string>

namespace loom {

struct AppContext;

struct MeasuredLayers {
  std::map<std::string, double>
      seconds;      // by node of the flat network; empty where no run of the project has measured any
  std::string run;  // its name
};
MeasuredLayers measuredLayers(const AppContext& context);

}  // namespace loom

#pragma once
// What a project makes of a layer of a person's own: no Qt signals, no undo.
#include <string>

#include "widgets/library/own_layer.h"

namespace loom {

// The layer's unit in the project, and those that it uses: found where the same is there, else added; under a free name
// where the project has something else of the name. Answers the name that it has there.
std::string bringOwnLayer(Project& project, const OwnLayer& layer);

// Whether the project has a unit that came from it, or is called so; whatever it is now.
bool isPresent(const Project& project, const OwnLayer& layer);
// Whether the project's unit comes from this layer and is another now.
bool isOutdated(const Project& project, const Network& unit, const OwnLayer& layer);

// The unit as the library has it now, under its name in the project. What uses give stays; what the new one has no
// place for goes.
struct Updated {
  int values = 0, wires = 0;  // that went
};
Updated updateFromLibrary(Project& project, const std::string& unit, const OwnLayer& layer);

}  // namespace loom

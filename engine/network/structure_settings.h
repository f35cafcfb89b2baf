#pragma once
// Settings that change what is drawn where others change a value: another layer in a node's place, a node left out, a
// chain of nodes run several times over. What applySettings() takes beside plain keys; pure functions, any thread.
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace loom {

// "relu1.layer=none": the node is left out, and what it read goes to where it led.
inline constexpr char kNoLayer[] = "none";

// What one key names, each by itself: "conv1,conv2.channels" is conv1.channels and conv2.channels, and
// "conv1.channels,fc.outputs" is both. "conv1,relu1.repeat" stays whole: the chain of the two is repeated as one.
std::vector<std::string> singleKeys(const std::string& key);

// Carries out a setting whose path (settingPath()) names the layer of a node, or how often nodes that are no unit are
// repeated. False where it is a plain value. The other layer keeps what both have and drops what it does not know.
// Throws Error(badArgument) that names `setting` where the drawing cannot be changed so.
bool applyStructure(Json& project, const std::vector<std::string>& path, const Json& value, const std::string& setting);

}  // namespace loom

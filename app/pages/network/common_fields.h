#pragma once
// The fields that several nodes have in common, so that one form edits all of them.
#include <map>
#include <string>
#include <vector>

#include "engine/network/project.h"

namespace loom {

// What describes a node: its layer's entry, or that of the unit that it uses; null for what is neither. `units` keeps
// the latter.
const Entry* entryOf(const Project& project, const Node& node, std::map<std::string, Entry>& units);
// Fields with the same key, type, choices and condition in every node's entry; those of the first entry, in its order.
Entry commonEntry(const Project& project, const std::vector<const Node*>& nodes);
// The values on which all agree; what differs stays out.
Json commonValues(const Entry& entry, const std::vector<const Node*>& nodes);
// Keys on which they do not agree.
std::vector<std::string> differingKeys(const Entry& entry, const std::vector<const Node*>& nodes);

}  // namespace loom

#pragma once
// The fields that several nodes have in common, so that one form edits all of them.
#include <string>
#include <vector>

#include "engine/network/network.h"

namespace loom {

// Fields with the same key, type, choices and condition in every node's entry; those of the first entry, in its order.
Entry commonEntry(const std::vector<const Node*>& nodes);
// The values on which all agree; what differs stays out and shows as the default.
Json commonValues(const Entry& entry, const std::vector<const Node*>& nodes);
// Keys on which they do not agree.
std::vector<std::string> differingKeys(const Entry& entry, const std::vector<const Node*>& nodes);

}  // namespace loom

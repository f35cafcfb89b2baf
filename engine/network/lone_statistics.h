#pragma once
// Layers that take mean and deviation of a batch, where a pass of one sample leaves them one number a channel: its mean
// is the number, its deviation 0, and what comes out says nothing of what goes in.
#include <string>
#include <vector>

#include "engine/network/network.h"

namespace loom {

// Ids of the nodes of a sound network, written out flat, that have one number a channel in a pass of one sample.
std::vector<std::string> loneStatistics(const Network& flat);

// What is wrong with them, and what would be right.
std::string loneStatisticsText(const std::vector<std::string>& nodes);

}  // namespace loom

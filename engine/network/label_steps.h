#pragma once
// Classes are whole numbers 0, 1, 2 ...: a step of preparation that scales them makes something else of them.
#include "engine/network/project.h"

namespace loom {

// An error for each Input of labels whose column a step of `dataset` scales, with the steps without it as the remedy.
// `flat`: the network that reads it; `prepare`: the steps that hold for the dataset; `owner`: the dataset that they
// stand in.
std::vector<Problem> scaledLabels(const Network& flat, const std::string& owner, const std::vector<Json>& prepare);

}  // namespace loom

#pragma once
// How nodes and their ports are called, and where a wire of Console ends.
#include <cstdint>
#include <set>
#include <string>

#include "engine/exchange/sdcproj/sdc_layer.h"

namespace loom::sdc {

// A name as a node, a network or a dataset may have it: letters, digits, '_', '-', a letter first, none of `taken`, to
// which it is added.
std::string validName(const std::string& wanted, const std::string& otherwise, std::set<std::string>& taken);

// How a drawing names the n-th port of a unit, until all are drawn and the ids of their ports are known.
std::string unitPort(std::size_t place);

// The first port of a layer of ours.
std::string mainPort(const std::string& layer);
std::string outputPort(const std::string& layer);

// The port that a wire to `pin` of Console's layer means, drawn as our layer `drawn`; `used`: wires to pin 0 so far,
// counted on. Empty: none takes it.
std::string portOf(const Layer& layer, const std::string& drawn, bool isLoss, std::int64_t pin, std::size_t& used);

// What a layer of Console gives an argument of the unit that it stands for; what has no meaning here is a fault of `t`.
Json argumentValue(Translation& t, const Names& names, const std::string& argument, const std::string& text);

}  // namespace loom::sdc

#pragma once
// Large drawings to measure with: residual blocks behind each other, some skips over several of them.
#include <string>

#include "engine/network/project.h"

namespace loom::bench {

// About `nodes` nodes and `wires` wires in so many columns beside each other, as text of a project; arranged, so that
// the file names the places.
std::string residualProject(int nodes, int wires, int columns);
// Blocks of convolution, normalisation and activation alone, for the analysis.
Network chain(int layers);

}  // namespace loom::bench

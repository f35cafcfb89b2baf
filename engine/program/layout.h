#pragma once
// How a tensor lies in memory: its axes in the order of their strides, outermost first. Channels-last is {0, 2, 3, 1}.
#include <string>
#include <vector>

#include "engine/base/shape.h"

namespace loom {

using Layout = std::vector<int>;

Layout plainLayout(std::size_t rank);
// N, spatial axes, C: what convolutions and everything per channel read. Plain for rank 2 and below.
Layout channelsLast(std::size_t rank);
// Plain but with `axis` innermost.
Layout lastAxis(std::size_t rank, int axis);

// The extents in memory order.
Shape physicalShape(const Shape& shape, const Layout& layout);
// Place of a logical axis (may be negative) in memory order.
int placeOf(const Layout& layout, std::int64_t axis);
// Whether both orders put the same numbers in the same places (axes of extent 1 do not count).
bool sameMemory(const Shape& shape, const Layout& a, const Layout& b);
bool isPlain(const Shape& shape, const Layout& layout);
// "plain", "channels-last" or the axes, "0312".
std::string layoutName(const Shape& shape, const Layout& layout);

}  // namespace loom

#pragma once
// Pixels as files hold them, channel beside channel, parted into one plane a channel.
#include <cstddef>

namespace loom {

// The `count` pixels of `each` bytes at `packed`, of which the first `channels` bytes are wanted: channel c goes to
// out + c * plane. Writes `count` bytes of each plane, no more, and reads no byte behind the last pixel. `each` is 1 to
// 4.
void partPlanes(const std::byte* packed, std::size_t count, std::size_t each, std::size_t channels, std::byte* out,
                std::size_t plane);

}  // namespace loom

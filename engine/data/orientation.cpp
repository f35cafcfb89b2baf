#include "engine/data/orientation.h"

#include <cstring>

namespace loom {
namespace {

constexpr std::uint64_t kOrientationTag = 0x0112, kShort = 3, kLong = 4;

template <class T>
void turnPlanes(Sample& sample, int orientation) {
  const std::int64_t rows = sample.shape[1], columns = sample.shape[2];
  const bool crossed = orientation >= 5;  // rows become columns
  const std::int64_t outRows = crossed ? columns : rows, outColumns = crossed ? rows : columns;
  sample.work.resize(std::max(sample.work.size(), sample.bytes.size()));
  for (std::int64_t plane = 0; plane < sample.shape[0]; ++plane) {
    const T* const from = reinterpret_cast<const T*>(sample.bytes.data()) + plane * rows * columns;
    T* to = reinterpret_cast<T*>(sample.work.data()) + plane * rows * columns;
    for (std::int64_t y = 0; y < outRows; ++y) {
      for (std::int64_t x = 0; x < outColumns; ++x) {
        const std::int64_t down = crossed ? x : y, across = crossed ? y : x;
        const bool up = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
        const bool back = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
        *to++ = from[(up ? rows - 1 - down : down) * columns + (back ? columns - 1 - across : across)];
      }
    }
  }
  sample.work.resize(sample.bytes.size());
  sample.bytes.swap(sample.work);
  sample.shape = {sample.shape[0], outRows, outColumns};
}

}  // namespace

int orientationOf(std::span<const std::byte> tiff) {
  if (tiff.size() < 8) return 1;
  const bool big = tiff[0] == std::byte{'M'};
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value |= std::to_integer<std::uint64_t>(tiff[at + i]) << 8 * (big ? bytes - 1 - i : i);
    return value;
  };
  if (tiff[0] != tiff[1] || (!big && tiff[0] != std::byte{'I'}) || number(2, 2) != 42) return 1;
  const std::uint64_t directory = number(4, 4);
  if (directory + 2 > tiff.size()) return 1;
  const std::uint64_t entries = number(directory, 2);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t at = directory + 2 + 12 * i;
    if (at + 12 > tiff.size()) return 1;
    if (number(at, 2) != kOrientationTag) continue;
    // It should be a short number; some writers take a long one.
    const std::uint64_t type = number(at + 2, 2), value = number(at + 8, type == kLong ? 4 : 2);
    return (type == kShort || type == kLong) && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

void turnUpright(Sample& sample, int orientation) {
  if (orientation == 1) return;
  if (sample.type == DataType::u8)
    turnPlanes<std::uint8_t>(sample, orientation);
  else
    turnPlanes<float>(sample, orientation);
}

}  // namespace loom

#pragma once
// Which pixel of a stored sample stands where after crops, borders, mirroring and cut-outs: one composition of all
// steps for a sample, compiled for the host (the loader, references) and for devices alike.
#include <cstdint>

#include "engine/base/device_inline.h"

namespace loom {

// A piece of the output, in its coordinates; may reach beyond it.
struct SampleRectangle {
  std::int64_t top = 0, left = 0, rows = 0, columns = 0;

  LOOM_DEVICE_INLINE bool holds(std::int64_t y, std::int64_t x) const {
    return y >= top && y < top + rows && x >= left && x < left + columns;
  }
};

// crop: cuts `rows` x `columns` out. padBy: a border of so many on each side. padTo: up to that size. flip: left to
// right. cut: a rectangle of that size about a random place is blotted out.
enum class WindowKind : std::int32_t { crop, padBy, padTo, flip, cut };
enum class WindowPosition : std::int32_t { start, centre, random };

struct WindowStep {
  WindowKind kind = WindowKind::crop;
  WindowPosition position = WindowPosition::centre;
  std::int64_t rows = 0, columns = 0;
  double probability = 0;    // of a flip
  std::uint64_t number = 0;  // its place in `prepare`: the stream of its random numbers

  LOOM_DEVICE_INLINE bool draws() const {
    return kind == WindowKind::flip || kind == WindowKind::cut || position == WindowPosition::random;
  }
};

inline constexpr int kMostWindows = 16;

// Upper half of the counter of the Philox(seed, "prepare") that a step of this number reads for a sample's row.
LOOM_DEVICE_INLINE std::uint64_t windowCounter(std::int64_t epoch, std::uint64_t number) {
  return static_cast<std::uint64_t>(epoch) << 8 | number;
}

// Where the stored sample and what was put around or over it lie in the output.
struct SampleWindow {
  // The sample itself stands inside of a border, or a border's value stands inside of a cut.
  struct Border {
    SampleRectangle area;
    std::int32_t step = 0;  // whose value
    bool within = false;    // a cut: the value stands inside of the area, else outside
  };
  SampleRectangle size, content;
  bool mirrored = false;
  int count = 0;  // of borders, in the order of the steps
  Border borders[kMostWindows];
  std::int64_t lacking = -1;  // the crop that finds less than it wants, by its place in the list; -1: none

  // The step whose value stands at (y, x), or -1: then the pixel (sourceRow, sourceColumn) of the stored sample does.
  LOOM_DEVICE_INLINE int borderAt(std::int64_t y, std::int64_t x) const {
    for (int k = count; k-- > 0;)
      if (borders[k].area.holds(y, x) == borders[k].within) return borders[k].step;
    return -1;
  }
  LOOM_DEVICE_INLINE std::int64_t sourceRow(std::int64_t y) const { return y - content.top; }
  LOOM_DEVICE_INLINE std::int64_t sourceColumn(std::int64_t x) const {
    return mirrored ? content.columns - 1 - (x - content.left) : x - content.left;
  }
};

// What scaling and normalising make of a stored number: multiplied and rounded, then added, fused by no compiler (the
// product is exact in double).
LOOM_DEVICE_INLINE float scaledThenShifted(float value, float scale, float shift) {
  return static_cast<float>(static_cast<double>(value) * static_cast<double>(scale)) + shift;
}

// `words(number)`: the four random words of that step for this sample; a value whose words are found by index. `image`:
// rows count, too.
template <class Words>
LOOM_DEVICE_INLINE SampleWindow windowOf(const WindowStep* steps, int count, std::int64_t rows, std::int64_t columns,
                                         bool image, const Words& words) {
  SampleWindow window;
  window.size = window.content = {0, 0, rows, columns};
  SampleRectangle& size = window.size;
  for (int s = 0; s < count; ++s) {
    const WindowStep& step = steps[s];
    std::int64_t down = 0, right = 0;
    decltype(words(step.number)) drawn{};
    if (step.draws()) drawn = words(step.number);
    const auto random = [&](int word, std::int64_t places) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(drawn[word]) * static_cast<std::uint64_t>(places) >>
                                       32);
    };
    switch (step.kind) {
      case WindowKind::crop: {
        const std::int64_t wanted = image ? step.rows : size.rows;
        const std::int64_t freeRows = size.rows - wanted, freeColumns = size.columns - step.columns;
        if (freeRows < 0 || freeColumns < 0) {
          window.lacking = s;
          return window;
        }
        const auto place = [&](std::int64_t room, int word) {
          return step.position == WindowPosition::random   ? random(word, room + 1)
                 : step.position == WindowPosition::centre ? room / 2
                                                           : 0;
        };
        down = -place(freeRows, 0);
        right = -place(freeColumns, 1);
        size.rows = wanted;
        size.columns = step.columns;
        break;
      }
      case WindowKind::padBy:
      case WindowKind::padTo: {
        window.borders[window.count++] = {size, s, false};
        const auto grow = [&](std::int64_t& extent, std::int64_t by) {
          const std::int64_t missing = by > extent ? by - extent : 0;
          const std::int64_t more = step.kind == WindowKind::padBy ? 2 * by : missing;
          extent += more;
          return step.position == WindowPosition::start && step.kind == WindowKind::padTo ? 0 : more / 2;
        };
        if (image) down = grow(size.rows, step.rows);
        right = grow(size.columns, step.columns);
        break;
      }
      case WindowKind::flip:
        // The upper 24 bits, as Philox::toUniform() has them.
        if (static_cast<float>(drawn[0] >> 8) * 0x1p-24f < step.probability) {
          window.content.left = size.columns - window.content.left - window.content.columns;
          for (int k = 0; k < window.count; ++k) {
            SampleRectangle& area = window.borders[k].area;
            area.left = size.columns - area.left - area.columns;
          }
          window.mirrored = !window.mirrored;
        }
        break;
      case WindowKind::cut: {
        // The centre is any pixel, so that a part may fall outside (DeVries and Taylor, 2017).
        const std::int64_t top = random(0, size.rows) - step.rows / 2,
                           left = random(1, size.columns) - step.columns / 2;
        const auto clipped = [](std::int64_t first, std::int64_t extent, std::int64_t whole, std::int64_t& from) {
          const std::int64_t last = first + extent < whole ? first + extent : whole;
          from = first > 0 ? first : 0;
          return last - from;
        };
        SampleRectangle area;
        area.rows = clipped(top, step.rows, size.rows, area.top);
        area.columns = clipped(left, step.columns, size.columns, area.left);
        window.borders[window.count++] = {area, s, true};
        break;
      }
    }
    window.content.top += down;
    window.content.left += right;
    for (int k = 0; k < window.count; ++k) {
      window.borders[k].area.top += down;
      window.borders[k].area.left += right;
    }
  }
  return window;
}

}  // namespace loom

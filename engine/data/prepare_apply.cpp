// One sample through its window and its multiply-add.
#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/philox.h"
#include "engine/data/convert.h"
#include "engine/data/prepare.h"

namespace loom {
namespace {

SampleRectangle intersection(const SampleRectangle& a, const SampleRectangle& b) {
  const std::int64_t top = std::max(a.top, b.top), left = std::max(a.left, b.left);
  return {top, left, std::max<std::int64_t>(std::min(a.top + a.rows, b.top + b.rows) - top, 0),
          std::max<std::int64_t>(std::min(a.left + a.columns, b.left + b.columns) - left, 0)};
}

}  // namespace

void Preparation::apply(std::span<const std::byte> raw, const Shape& shape, std::int64_t row, std::int64_t epoch,
                        std::span<float> out) const {
  const SampleLayout in = layoutOf(m_variable, shape);
  const Philox random(m_seed, kPrepareStream);
  const SampleWindow window = windowOf(
      m_steps.data(), static_cast<int>(m_steps.size()), in.rows, in.columns, m_layout.image,
      [&](std::uint64_t number) { return random(static_cast<std::uint64_t>(row), windowCounter(epoch, number)); });
  const SampleRectangle &size = window.size, &content = window.content;
  if (window.lacking >= 0)
    throwError(ErrorCode::badData, "row {}: {} has {} steps, but {} are to be cut out", row, m_variable.name,
               size.columns, m_steps[static_cast<std::size_t>(window.lacking)].columns);
  const bool mirrored = window.mirrored;

  const std::int64_t inner = in.inner, area = size.rows * size.columns * inner;
  const auto channelOf = [&](std::int64_t plane) { return m_layout.image ? static_cast<std::size_t>(plane) : 0; };
  const auto borderOf = [&](int place) -> const std::vector<float>& {
    return m_borders[static_cast<std::size_t>(window.borders[place].step)];
  };
  SampleRectangle region = size;
  for (int p = window.count; p-- > 0;) {
    if (window.borders[p].within) continue;
    const SampleRectangle within = intersection(region, window.borders[p].area);
    if (within.rows != region.rows || within.columns != region.columns) {
      const auto& border = borderOf(p);
      for (std::int64_t plane = 0; plane < in.planes; ++plane) {
        for (std::int64_t y = region.top; y < region.top + region.rows; ++y) {
          float* const to = out.data() + plane * area + (y * size.columns + region.left) * inner;
          if (border.size() == 1 || m_layout.image) {
            std::fill_n(to, region.columns * inner, border[channelOf(plane)]);
          } else {
            for (std::int64_t i = 0; i < region.columns * inner; ++i)
              to[i] = border[static_cast<std::size_t>(i) % border.size()];
          }
        }
      }
    }
    region = within;
  }
  const SampleRectangle seen = intersection(region, content);

  const std::size_t element = bytesOf(m_variable.type);
  const bool whole = seen.columns == size.columns && seen.columns == in.columns &&
                     !mirrored;  // rows lie one behind the other on both sides
  for (std::int64_t plane = 0; plane < in.planes && seen.rows > 0 && seen.columns > 0; ++plane) {
    const float scale = m_scale[channelOf(plane)], shift = m_shift[channelOf(plane)];
    const std::int64_t rows = whole ? 1 : seen.rows, count = (whole ? seen.rows : 1) * seen.columns * inner;
    for (std::int64_t y = 0; y < rows; ++y) {
      const std::int64_t sourceRow = seen.top - content.top + y;
      const std::int64_t first =
          mirrored ? content.columns - (seen.left - content.left) - seen.columns : seen.left - content.left;
      const std::byte* const from =
          raw.data() + static_cast<std::size_t>((plane * in.rows + sourceRow) * in.columns + first) *
                           static_cast<std::size_t>(inner) * element;
      float* const to = out.data() + plane * area + ((seen.top + y) * size.columns + seen.left) * inner;
      if (m_layout.image || m_uniform) {
        if (m_variable.type == DataType::u8)
          convertBytes(from, to, count, scale, shift);
        else
          convertFloats(from, to, count, scale, shift);
        if (mirrored) std::reverse(to, to + count);
      } else {
        for (std::int64_t i = 0; i < count; i += m_layout.channels) {
          if (m_variable.type == DataType::u8)
            convertBytesEach(from + i, to + i, m_layout.channels, m_scale.data(), m_shift.data());
          else
            convertFloatsEach(from + i * 4, to + i, m_layout.channels, m_scale.data(), m_shift.data());
        }
      }
    }
  }
  // What is blotted out, over all that was there when it was, and over no border that came behind it.
  for (int p = 0; p < window.count; ++p) {
    if (!window.borders[p].within) continue;
    SampleRectangle cut = intersection(size, window.borders[p].area);
    for (int later = p + 1; later < window.count; ++later)
      if (!window.borders[later].within) cut = intersection(cut, window.borders[later].area);
    for (std::int64_t plane = 0; plane < in.planes; ++plane)
      for (std::int64_t y = cut.top; y < cut.top + cut.rows; ++y)
        std::fill_n(out.data() + plane * area + y * size.columns + cut.left, cut.columns,
                    borderOf(p)[channelOf(plane)]);
  }
}

}  // namespace loom

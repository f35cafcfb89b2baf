// One sample through its window and its multiply-add.
#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/base/philox.h"
#include "engine/data/convert.h"
#include "engine/data/prepare.h"

namespace loom {
namespace {

// A piece of the output, in its coordinates; may reach beyond it.
struct Rectangle {
  std::int64_t top = 0, left = 0, rows = 0, columns = 0;
};

Rectangle intersection(const Rectangle& a, const Rectangle& b) {
  const std::int64_t top = std::max(a.top, b.top), left = std::max(a.left, b.left);
  return {top, left, std::max<std::int64_t>(std::min(a.top + a.rows, b.top + b.rows) - top, 0),
          std::max<std::int64_t>(std::min(a.left + a.columns, b.left + b.columns) - left, 0)};
}

}  // namespace

void Preparation::apply(std::span<const std::byte> raw, const Shape& shape, std::int64_t row, std::int64_t epoch,
                        std::span<float> out) const {
  const SampleLayout in = layoutOf(m_variable, shape);
  // Where the stored sample and what stood before each padding lie in the output: every step moves them all.
  Rectangle size{0, 0, in.rows, in.columns};
  Rectangle content = size;
  bool mirrored = false;
  std::array<Rectangle, kMostWindows> inside{};
  std::array<const Window*, kMostWindows> pads{};
  std::size_t padCount = 0;
  const Philox random(m_seed, "prepare");
  for (const Window& window : m_windows) {
    std::int64_t down = 0, right = 0;
    const auto words =
        window.kind == Kind::flip || window.position == Position::random
            ? random(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(epoch) << 8 | window.number)
            : Philox::Block{};
    switch (window.kind) {
      case Kind::crop: {
        const std::int64_t rows = m_layout.image ? window.rows : size.rows;
        const std::int64_t freeRows = size.rows - rows, freeColumns = size.columns - window.columns;
        if (freeRows < 0 || freeColumns < 0)
          throwError(ErrorCode::badData, "row {}: {} has {} steps, but {} are to be cut out", row, m_variable.name,
                     size.columns, window.columns);
        const auto place = [&](std::int64_t room, std::uint32_t word) {
          if (window.position == Position::random)
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(word) * static_cast<std::uint64_t>(room + 1) >>
                                             32);
          return window.position == Position::centre ? room / 2 : 0;
        };
        down = -place(freeRows, words[0]);
        right = -place(freeColumns, words[1]);
        size.rows = rows;
        size.columns = window.columns;
        break;
      }
      case Kind::padBy:
      case Kind::padTo: {
        inside[padCount] = size;
        pads[padCount++] = &window;
        const auto grow = [&](std::int64_t& extent, std::int64_t by) {
          const std::int64_t more = window.kind == Kind::padBy ? 2 * by : std::max<std::int64_t>(by - extent, 0);
          extent += more;
          return window.position == Position::start && window.kind == Kind::padTo ? 0 : more / 2;
        };
        if (m_layout.image) down = grow(size.rows, window.rows);
        right = grow(size.columns, window.columns);
        break;
      }
      case Kind::flip:
        if (Philox::toUniform(words[0]) < window.probability) {
          content.left = size.columns - content.left - content.columns;
          for (std::size_t p = 0; p < padCount; ++p) inside[p].left = size.columns - inside[p].left - inside[p].columns;
          mirrored = !mirrored;
        }
        break;
    }
    content.top += down;
    content.left += right;
    for (std::size_t p = 0; p < padCount; ++p) {
      inside[p].top += down;
      inside[p].left += right;
    }
  }

  const std::int64_t inner = in.inner, area = size.rows * size.columns * inner;
  const auto channelOf = [&](std::int64_t plane) { return m_layout.image ? static_cast<std::size_t>(plane) : 0; };
  Rectangle region = size;
  for (std::size_t p = padCount; p-- > 0;) {
    const Rectangle within = intersection(region, inside[p]);
    if (within.rows != region.rows || within.columns != region.columns) {
      const auto& border = pads[p]->border;
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
  const Rectangle seen = intersection(region, content);
  if (seen.rows == 0 || seen.columns == 0) return;

  const std::size_t element = bytesOf(m_variable.type);
  const bool whole = seen.columns == size.columns && seen.columns == in.columns &&
                     !mirrored;  // rows lie one behind the other on both sides
  for (std::int64_t plane = 0; plane < in.planes; ++plane) {
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
}

}  // namespace loom

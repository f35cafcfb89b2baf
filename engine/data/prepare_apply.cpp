// One sample through its windows, its multiply-adds and the steps that compute its pixels.
#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/convert.h"
#include "engine/data/prepare.h"

namespace loom {
namespace {

SampleRectangle intersection(const SampleRectangle& a, const SampleRectangle& b) {
  const std::int64_t top = std::max(a.top, b.top), left = std::max(a.left, b.left);
  return {top, left, std::max<std::int64_t>(std::min(a.top + a.rows, b.top + b.rows) - top, 0),
          std::max<std::int64_t>(std::min(a.left + a.columns, b.left + b.columns) - left, 0)};
}

// A thread's own, so that only a picture larger than any before takes memory.
struct Workspace {
  Picture pictures[2];
  std::vector<float> moved;
};
thread_local Workspace workspace;

SampleLayout layoutOfPicture(const PictureView& picture) {
  return {.planes = picture.channels,
          .rows = picture.rows,
          .columns = picture.columns,
          .image = true,
          .channels = picture.channels};
}

// What was moved, as pixels again: whole numbers of 0 to 255 where they were bytes.
void takeNumbers(const std::vector<float>& numbers, Picture& picture) {
  if (picture.type == DataType::f32) {
    std::memcpy(picture.bytes.data(), numbers.data(), picture.bytes.size());
    return;
  }
  for (std::size_t i = 0; i < picture.bytes.size(); ++i)
    picture.bytes[i] = static_cast<std::byte>(std::clamp(numbers[i] + 0.5f, 0.0f, 255.0f));
}

}  // namespace

SampleWindow Preparation::windowIn(const SamplePass& pass, const SampleLayout& in, const SampleDraw& draw) const {
  const SampleWindow window = windowOf(pass.steps.data(), static_cast<int>(pass.steps.size()), in.rows, in.columns,
                                       in.image, [&](std::uint64_t number) {
                                         return SampleDraw{draw.seed, draw.row, draw.epoch, number}.words();
                                       });
  if (window.lacking >= 0)
    throwError(ErrorCode::badData, "row {}: {} has {} steps, but {} are to be cut out", draw.row, m_variable.name,
               window.size.columns, pass.steps[static_cast<std::size_t>(window.lacking)].columns);
  return window;
}

void Preparation::apply(std::span<const std::byte> raw, const Shape& shape, std::int64_t row, std::int64_t epoch,
                        std::span<float> out) const {
  SampleDraw draw{.seed = m_seed, .row = row, .epoch = epoch};
  SampleLayout in = layoutOf(m_variable, shape);
  if (!m_pictures.empty()) {
    PictureView picture{m_variable.type, in.planes, in.rows, in.columns, raw.data()};
    for (std::size_t i = 0; i < m_pictures.size(); ++i) {
      const PreparedPicture& each = m_pictures[i];
      Picture &to = workspace.pictures[i % 2], &moved = workspace.pictures[1 - i % 2];
      if (!each.before.steps.empty()) {
        const SampleWindow window = windowIn(each.before, layoutOfPicture(picture), draw);
        workspace.moved.resize(static_cast<std::size_t>(picture.channels * window.size.rows * window.size.columns));
        each.before.apply(window, picture.bytes, picture.type, layoutOfPicture(picture), workspace.moved.data());
        moved.make(picture.type, picture.channels, window.size.rows, window.size.columns);
        takeNumbers(workspace.moved, moved);
        picture = moved.view();
      }
      draw.number = each.number;
      each.step->apply(picture, draw, to);
      picture = to.view();
    }
    in = layoutOfPicture(picture);
    raw = {picture.bytes, raw.size()};
  }
  const SampleWindow window = windowIn(m_last, in, draw);
  m_last.apply(window, raw.data(), m_variable.type, in, out.data());
}

void SamplePass::apply(const SampleWindow& window, const std::byte* raw, DataType type, const SampleLayout& in,
                       float* out) const {
  const SampleRectangle &size = window.size, &content = window.content;
  const bool mirrored = window.mirrored;
  const std::int64_t inner = in.inner, area = size.rows * size.columns * inner;
  const auto channelOf = [&](std::int64_t plane) { return in.image ? static_cast<std::size_t>(plane) : 0; };
  const auto borderOf = [&](int place) -> const std::vector<float>& {
    return borders[static_cast<std::size_t>(window.borders[place].step)];
  };
  SampleRectangle region = size;
  for (int p = window.count; p-- > 0;) {
    if (window.borders[p].within) continue;
    const SampleRectangle within = intersection(region, window.borders[p].area);
    if (within.rows != region.rows || within.columns != region.columns) {
      const auto& border = borderOf(p);
      for (std::int64_t plane = 0; plane < in.planes; ++plane) {
        for (std::int64_t y = region.top; y < region.top + region.rows; ++y) {
          float* const to = out + plane * area + (y * size.columns + region.left) * inner;
          if (border.size() == 1 || in.image) {
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

  const std::size_t element = bytesOf(type);
  const auto channels = static_cast<std::int64_t>(scale.size());
  const bool whole = seen.columns == size.columns && seen.columns == in.columns &&
                     !mirrored;  // rows lie one behind the other on both sides
  for (std::int64_t plane = 0; plane < in.planes && seen.rows > 0 && seen.columns > 0; ++plane) {
    const float by = scale[channelOf(plane)], add = shift[channelOf(plane)];
    const std::int64_t rows = whole ? 1 : seen.rows, count = (whole ? seen.rows : 1) * seen.columns * inner;
    for (std::int64_t y = 0; y < rows; ++y) {
      const std::int64_t sourceRow = seen.top - content.top + y;
      const std::int64_t first =
          mirrored ? content.columns - (seen.left - content.left) - seen.columns : seen.left - content.left;
      const std::byte* const from = raw + static_cast<std::size_t>((plane * in.rows + sourceRow) * in.columns + first) *
                                              static_cast<std::size_t>(inner) * element;
      float* const to = out + plane * area + ((seen.top + y) * size.columns + seen.left) * inner;
      if (in.image || uniform) {
        if (type == DataType::u8)
          convertBytes(from, to, count, by, add);
        else
          convertFloats(from, to, count, by, add);
        if (mirrored) std::reverse(to, to + count);
      } else {
        for (std::int64_t i = 0; i < count; i += channels) {
          if (type == DataType::u8)
            convertBytesEach(from + i, to + i, channels, scale.data(), shift.data());
          else
            convertFloatsEach(from + i * 4, to + i, channels, scale.data(), shift.data());
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
        std::fill_n(out + plane * area + y * size.columns + cut.left, cut.columns, borderOf(p)[channelOf(plane)]);
  }
}

}  // namespace loom

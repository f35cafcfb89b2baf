#include "app/pages/data/sample_picture.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace loom {
namespace {

double valueAt(std::span<const std::byte> bytes, DataType type, std::size_t index) {
  if (type == DataType::u8) return std::to_integer<int>(bytes[index]);
  if (type == DataType::i32) {
    std::int32_t value;
    std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
    return value;
  }
  float value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

}  // namespace

QImage samplePicture(std::span<const std::byte> bytes, const Shape& shape, DataType type, const PictureScale& scale) {
  if (shape.rank() != 3 || (shape[0] != 1 && shape[0] != 3)) return {};
  const int channels = static_cast<int>(shape[0]), height = static_cast<int>(shape[1]),
            width = static_cast<int>(shape[2]);
  const std::size_t plane = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  if (plane == 0 || bytes.size() < plane * channels * bytesOf(type)) return {};
  const auto at = [&](std::size_t channel, std::size_t index) {
    const double value = valueAt(bytes, type, channel * plane + index);
    if (channel >= scale.by.size() || scale.by[channel] == 0) return value;
    return (value - scale.add[channel]) / scale.by[channel];
  };
  // The usual ranges of pictures stand as they are, so that what is grey is shown grey; only others are stretched.
  double low = 0, high = 255;
  if (type != DataType::u8 && !scale.bytes) {
    double least = 0, most = 0;
    for (int c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < plane; ++i)
        if (const double value = at(c, i); std::isfinite(value))
          least = std::min(least, value), most = std::max(most, value);
    if (least < 0 || most > 255)
      low = least, high = most;
    else if (most <= 1)
      high = 1;
  }
  const double factor = 255 / (high - low);
  QImage picture(width, height, channels == 1 ? QImage::Format_Grayscale8 : QImage::Format_RGB888);
  for (int y = 0; y < height; ++y) {
    uchar* line = picture.scanLine(y);
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const double value = (at(c, static_cast<std::size_t>(y) * width + x) - low) * factor;
        line[x * channels + c] =
            static_cast<uchar>(std::isfinite(value) ? std::clamp(std::round(value), 0.0, 255.0) : 0);
      }
  }
  return picture;
}

QString sampleText(std::span<const std::byte> bytes, const Shape& shape, DataType type, int most) {
  const std::size_t count = std::min<std::size_t>(shape.elements(), bytes.size() / bytesOf(type));
  QStringList numbers;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, most); ++i)
    numbers += QString::number(valueAt(bytes, type, i), 'g', 5).replace('-', QChar(0x2212));
  if (count <= static_cast<std::size_t>(most)) return numbers.join(", ");
  return numbers.join(", ") + QStringLiteral(" \u2026 (%1 values)").arg(count);
}

}  // namespace loom

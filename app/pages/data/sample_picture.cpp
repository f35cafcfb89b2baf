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

constexpr int kWaveWidth = 128, kWaveHeight = 80;
constexpr QRgb kWaveColour = 0xFF5B7FD6;  // 3.7 : 1 on the light surface, 4.2 : 1 on the dark one

// What a sound looks like: from its least to its largest value at each place, as loud as its loudest sample.
QImage wavePicture(std::span<const std::byte> bytes, const Shape& shape, DataType type) {
  const auto steps = static_cast<std::size_t>(shape[0]), channels = static_cast<std::size_t>(shape[1]);
  if (bytes.size() < steps * channels * bytesOf(type)) return {};
  std::vector<std::pair<double, double>> spans(kWaveWidth, {0, 0});
  double loudest = 0;
  for (std::size_t x = 0; x < spans.size(); ++x)
    for (std::size_t i = x * steps / kWaveWidth * channels; i < (x + 1) * steps / kWaveWidth * channels; ++i) {
      const double value = valueAt(bytes, type, i);
      if (!std::isfinite(value)) continue;
      spans[x] = {std::min(spans[x].first, value), std::max(spans[x].second, value)};
      loudest = std::max(loudest, std::abs(value));
    }
  QImage picture(kWaveWidth, kWaveHeight, QImage::Format_ARGB32);
  picture.fill(Qt::transparent);
  const double half = kWaveHeight / 2.0 - 1, factor = loudest > 0 ? half / loudest : 0;
  for (int x = 0; x < kWaveWidth; ++x) {
    const auto& [low, high] = spans[static_cast<std::size_t>(x)];
    const int top = static_cast<int>(std::lround(half - high * factor)),
              bottom = static_cast<int>(std::lround(half - low * factor));
    for (int y = top; y <= bottom; ++y) picture.setPixel(x, y, kWaveColour);
  }
  return picture;
}

}  // namespace

QImage samplePicture(std::span<const std::byte> bytes, const Shape& shape, DataType type, const PictureScale& scale) {
  if (shape.rank() == 2 && shape[0] > kWaveWidth && shape[1] <= 2) return wavePicture(bytes, shape, type);
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

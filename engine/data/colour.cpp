#include "engine/data/colour.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace loom {
namespace {

// Of ITU-R 601, in 2^16ths.
std::uint8_t greyOf(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  return static_cast<std::uint8_t>((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
}
float greyOf(float red, float green, float blue) {
  return (red * 19595 + green * 38470 + blue * 7471) / 65536;
}

// From `base` towards `value` and beyond. Pillow cuts off what stands behind the point.
std::uint8_t blended(std::uint8_t base, std::uint8_t value, float factor) {
  const float mixed = static_cast<float>(base) + factor * static_cast<float>(int{value} - int{base});
  return static_cast<std::uint8_t>(std::clamp(mixed, 0.0f, 255.0f));
}
float blended(float base, float value, float factor) {
  return std::clamp(base + factor * (value - base), 0.0f, 255.0f);
}

template <class T>
struct Planes {
  T* at[3];
  std::int64_t colours, pixels;  // 1 or 3 of them
};
template <class T>
Planes<T> planesOf(Picture& picture) {
  const std::int64_t pixels = picture.rows * picture.columns;
  T* const first = reinterpret_cast<T*>(picture.bytes.data());
  const std::int64_t colours = picture.channels >= 3 ? 3 : 1;
  return {{first, first + (colours > 1 ? pixels : 0), first + (colours > 1 ? 2 * pixels : 0)}, colours, pixels};
}

// work(planes), whatever the pixels are.
template <class Work>
void withPlanes(Picture& picture, const Work& work) {
  if (picture.type == DataType::u8)
    work(planesOf<std::uint8_t>(picture));
  else
    work(planesOf<float>(picture));
}

template <class T>
T greyAt(const Planes<T>& planes, std::int64_t i) {
  return planes.colours == 3 ? greyOf(planes.at[0][i], planes.at[1][i], planes.at[2][i]) : planes.at[0][i];
}

struct Hsv {
  float hue, saturation, value;  // hue and saturation of 0 to 1
};
Hsv hsvOf(float red, float green, float blue) {
  const float most = std::max({red, green, blue}), least = std::min({red, green, blue});
  if (most == least) return {0, 0, most};
  const float span = most - least;
  const float r = (most - red) / span, g = (most - green) / span, b = (most - blue) / span;
  const double hue = red == most ? double{b} - g : green == most ? 2.0 + r - b : 4.0 + g - r;
  return {static_cast<float>(std::fmod(hue / 6.0 + 1.0, 1.0)), span / most, most};
}
// `sector`: hue of 0 to 6.
void rgbOf(double sector, double saturation, double value, bool round, double* rgb) {
  const int whole = static_cast<int>(std::floor(sector));
  const double rest = sector - whole;
  const auto part = [&](double by) { return round ? std::round(value * (1 - by)) : value * (1 - by); };
  const double p = part(saturation), q = part(saturation * rest), t = part(saturation * (1 - rest));
  const double made[6][3] = {{value, t, p}, {q, value, p}, {p, value, t}, {p, q, value}, {t, p, value}, {value, p, q}};
  std::copy_n(made[whole % 6], 3, rgb);
}

// Hue and saturation are bytes between, as Pillow has them.
void turnPixel(std::uint8_t& red, std::uint8_t& green, std::uint8_t& blue, double part) {
  const Hsv hsv = hsvOf(red, green, blue);
  const auto turned = static_cast<std::uint8_t>(static_cast<int>(hsv.hue * 255.0) + static_cast<int>(part * 255));
  const int saturation = static_cast<int>(hsv.saturation * 255.0);
  if (saturation == 0) {
    red = green = blue = static_cast<std::uint8_t>(hsv.value);
    return;
  }
  double rgb[3];
  rgbOf(turned * 6.0 / 255.0, saturation / 255.0, hsv.value, true, rgb);
  red = static_cast<std::uint8_t>(rgb[0]);
  green = static_cast<std::uint8_t>(rgb[1]);
  blue = static_cast<std::uint8_t>(rgb[2]);
}
void turnPixel(float& red, float& green, float& blue, double part) {
  const Hsv hsv = hsvOf(red, green, blue);
  const double hue = hsv.hue + part;
  double rgb[3];
  rgbOf((hue - std::floor(hue)) * 6.0, hsv.saturation, hsv.value, false, rgb);
  red = static_cast<float>(rgb[0]);
  green = static_cast<float>(rgb[1]);
  blue = static_cast<float>(rgb[2]);
}

}  // namespace

void brighten(Picture& picture, double factor) {
  withPlanes(picture, [&]<class T>(const Planes<T>& planes) {
    for (std::int64_t c = 0; c < planes.colours; ++c)
      for (std::int64_t i = 0; i < planes.pixels; ++i)
        planes.at[c][i] = blended(T{0}, planes.at[c][i], static_cast<float>(factor));
  });
}

void contrast(Picture& picture, double factor) {
  withPlanes(picture, [&]<class T>(const Planes<T>& planes) {
    double sum = 0;
    for (std::int64_t i = 0; i < planes.pixels; ++i) sum += static_cast<double>(greyAt(planes, i));
    double mean = sum / static_cast<double>(planes.pixels);
    if (picture.type == DataType::u8) mean = std::floor(mean + 0.5);
    for (std::int64_t c = 0; c < planes.colours; ++c)
      for (std::int64_t i = 0; i < planes.pixels; ++i)
        planes.at[c][i] = blended(static_cast<T>(mean), planes.at[c][i], static_cast<float>(factor));
  });
}

void saturate(Picture& picture, double factor) {
  if (picture.channels < 3) return;
  withPlanes(picture, [&]<class T>(const Planes<T>& planes) {
    for (std::int64_t i = 0; i < planes.pixels; ++i) {
      const T grey = greyAt(planes, i);
      for (T* const plane : planes.at) plane[i] = blended(grey, plane[i], static_cast<float>(factor));
    }
  });
}

void turnHue(Picture& picture, double part) {
  if (picture.channels < 3) return;
  withPlanes(picture, [&]<class T>(const Planes<T>& planes) {
    for (std::int64_t i = 0; i < planes.pixels; ++i) turnPixel(planes.at[0][i], planes.at[1][i], planes.at[2][i], part);
  });
}

void toGrey(const PictureView& in, Picture& out) {
  out.make(in.type, 1, in.rows, in.columns);
  if (in.channels < 3) {
    std::memcpy(out.bytes.data(), in.bytes, out.bytes.size());
    return;
  }
  const auto each = [&]<class T>(const T* from, T* to) {
    const std::int64_t pixels = in.pixels();
    for (std::int64_t i = 0; i < pixels; ++i) to[i] = greyOf(from[i], from[pixels + i], from[2 * pixels + i]);
  };
  if (in.type == DataType::u8)
    each(reinterpret_cast<const std::uint8_t*>(in.bytes), reinterpret_cast<std::uint8_t*>(out.bytes.data()));
  else
    each(reinterpret_cast<const float*>(in.bytes), reinterpret_cast<float*>(out.bytes.data()));
}

void toColour(const PictureView& in, Picture& out) {
  out.make(in.type, 3, in.rows, in.columns);
  const std::size_t plane = static_cast<std::size_t>(in.pixels()) * bytesOf(in.type);
  for (std::size_t c = 0; c < 3; ++c)
    std::memcpy(out.bytes.data() + c * plane, in.bytes + (in.channels >= 3 ? c : 0) * plane, plane);
}

}  // namespace loom

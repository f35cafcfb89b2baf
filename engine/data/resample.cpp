#include "engine/data/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "engine/data/decode.h"

namespace loom {
namespace {

constexpr int kBits = 22;  // of a weight behind the point: with 8 of a pixel they fill 32

// What each place of the result takes: `count` places from `first` on, with the weights from `at` on.
struct Places {
  struct Place {
    std::int64_t first = 0, count = 0, at = 0;
  };
  std::vector<Place> places;
  std::vector<double> weights;
  std::vector<std::int32_t> whole;  // the weights times 2^kBits
};

void choosePlaces(std::int64_t in, std::int64_t out, Places& made) {
  const double scale = static_cast<double>(in) / static_cast<double>(out), reach = std::max(scale, 1.0);
  made.places.clear();
  made.weights.clear();
  made.whole.clear();
  for (std::int64_t i = 0; i < out; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    Places::Place place;
    place.first = std::max<std::int64_t>(static_cast<std::int64_t>(centre - reach + 0.5), 0);
    place.count = std::min<std::int64_t>(static_cast<std::int64_t>(centre + reach + 0.5), in) - place.first;
    place.at = static_cast<std::int64_t>(made.weights.size());
    double sum = 0;
    for (std::int64_t k = 0; k < place.count; ++k) {
      const double far = std::fabs((static_cast<double>(k + place.first) - centre + 0.5) * (1.0 / reach));
      made.weights.push_back(far < 1 ? 1 - far : 0);
      sum += made.weights.back();
    }
    for (std::int64_t k = place.at; k < place.at + place.count; ++k) {
      double& weight = made.weights[static_cast<std::size_t>(k)];
      if (sum != 0) weight /= sum;
      made.whole.push_back(static_cast<std::int32_t>(0.5 + weight * (1 << kBits)));
    }
    made.places.push_back(place);
  }
}

std::uint8_t clipped(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kBits, 0, 255));
}

// One row, to the places of the result. Sums of floats are doubles, as Pillow has them.
void takeAcross(const std::uint8_t* from, const Places& to, std::uint8_t* out) {
  for (const Places::Place& place : to.places) {
    std::int32_t sum = 1 << (kBits - 1);
    const std::int32_t* const weights = to.whole.data() + place.at;
    for (std::int64_t k = 0; k < place.count; ++k) sum += from[place.first + k] * weights[k];
    *out++ = clipped(sum);
  }
}
void takeAcross(const float* from, const Places& to, float* out) {
  for (const Places::Place& place : to.places) {
    double sum = 0;
    for (std::int64_t k = 0; k < place.count; ++k)
      sum += static_cast<double>(from[place.first + k]) * to.weights[static_cast<std::size_t>(place.at + k)];
    *out++ = static_cast<float>(sum);
  }
}

// Some rows of `columns` each, one upon the other.
template <class Sum, class T>
void addRows(const T* from, std::int64_t columns, std::int64_t count, const Sum* weights, Sum* sums) {
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t x = 0; x < columns; ++x) sums[x] += static_cast<Sum>(from[k * columns + x]) * weights[k];
}
void takeDown(const std::uint8_t* from, std::int64_t columns, const Places& to, std::uint8_t* out) {
  thread_local std::vector<std::int32_t> sums;
  for (const Places::Place& place : to.places) {
    sums.assign(static_cast<std::size_t>(columns), 1 << (kBits - 1));
    addRows(from + place.first * columns, columns, place.count, to.whole.data() + place.at, sums.data());
    for (std::int64_t x = 0; x < columns; ++x) *out++ = clipped(sums[static_cast<std::size_t>(x)]);
  }
}
void takeDown(const float* from, std::int64_t columns, const Places& to, float* out) {
  thread_local std::vector<double> sums;
  for (const Places::Place& place : to.places) {
    sums.assign(static_cast<std::size_t>(columns), 0);
    addRows(from + place.first * columns, columns, place.count, to.weights.data() + place.at, sums.data());
    for (std::int64_t x = 0; x < columns; ++x) *out++ = static_cast<float>(sums[static_cast<std::size_t>(x)]);
  }
}

template <class T>
void resamplePlanes(const PictureView& in, const PicturePiece& piece, Picture& out) {
  thread_local Places across, down;
  thread_local std::vector<T> between;  // as many rows as the piece, as many columns as the result
  choosePlaces(piece.columns, out.columns, across);
  choosePlaces(piece.rows, out.rows, down);
  between.resize(static_cast<std::size_t>(piece.rows * out.columns));
  for (std::int64_t plane = 0; plane < in.channels; ++plane) {
    const T* const from =
        reinterpret_cast<const T*>(in.bytes) + (plane * in.rows + piece.top) * in.columns + piece.left;
    for (std::int64_t y = 0; y < piece.rows; ++y)
      takeAcross(from + y * in.columns, across, between.data() + y * out.columns);
    takeDown(between.data(), out.columns, down,
             reinterpret_cast<T*>(out.bytes.data()) + plane * out.rows * out.columns);
  }
}

template <class T>
void rotatePlanes(const PictureView& in, double degrees, double fill, Picture& out) {
  const double angle = -degrees * std::numbers::pi / 180, cosine = std::cos(angle), sine = std::sin(angle);
  const double middleX = static_cast<double>(in.columns) / 2, middleY = static_cast<double>(in.rows) / 2;
  const auto columns = static_cast<double>(in.columns), rows = static_cast<double>(in.rows);
  for (std::int64_t y = 0; y < in.rows; ++y) {
    for (std::int64_t x = 0; x < in.columns; ++x) {
      const double fromX = static_cast<double>(x) + 0.5 - middleX, fromY = static_cast<double>(y) + 0.5 - middleY;
      const double sourceX = cosine * fromX + sine * fromY + middleX,
                   sourceY = -sine * fromX + cosine * fromY + middleY;
      const bool inside = sourceX >= 0 && sourceX < columns && sourceY >= 0 && sourceY < rows;
      const double left = std::floor(sourceX - 0.5), top = std::floor(sourceY - 0.5);
      const double right = sourceX - 0.5 - left, below = sourceY - 0.5 - top;
      const auto column = [&](double at) {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, in.columns - 1);
      };
      const auto row = [&](double at) {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, in.rows - 1);
      };
      for (std::int64_t plane = 0; plane < in.channels; ++plane) {
        const T* const from = reinterpret_cast<const T*>(in.bytes) + plane * in.pixels();
        T& to = reinterpret_cast<T*>(out.bytes.data())[(plane * in.rows + y) * in.columns + x];
        if (!inside) {
          to = static_cast<T>(fill);
          continue;
        }
        const auto pixel = [&](double atRow, double atColumn) {
          return static_cast<double>(from[row(atRow) * in.columns + column(atColumn)]);
        };
        const double upper = pixel(top, left) + (pixel(top, left + 1) - pixel(top, left)) * right;
        const double lower = pixel(top + 1, left) + (pixel(top + 1, left + 1) - pixel(top + 1, left)) * right;
        to = static_cast<T>(upper + (lower - upper) * below);
      }
    }
  }
}

}  // namespace

void resample(const PictureView& in, const PicturePiece& piece, std::int64_t rows, std::int64_t columns, Picture& out) {
  checkSampleSize(Shape{in.channels, rows, columns}, in.type, "the picture in its new size");
  out.make(in.type, in.channels, rows, columns);
  if (in.type == DataType::u8)
    resamplePlanes<std::uint8_t>(in, piece, out);
  else
    resamplePlanes<float>(in, piece, out);
}

void rotate(const PictureView& in, double degrees, double fill, Picture& out) {
  out.make(in.type, in.channels, in.rows, in.columns);
  if (in.type == DataType::u8)
    rotatePlanes<std::uint8_t>(in, degrees, fill, out);
  else
    rotatePlanes<float>(in, degrees, fill, out);
}

}  // namespace loom

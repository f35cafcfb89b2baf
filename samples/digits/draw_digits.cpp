// Draws the images of the digits sample: ten kinds of strokes with random pose, thickness, ink and noise, as PNG files
// beside train.csv and test.csv. An image is a function of (seed, its number): every machine draws the same ones.
//
//   draw_digits FOLDER [TRAINING TEST SEED [SIDE]]      (6000 1000 1)
// With SIDE they are pictures in colour of so many pixels a side: what a network for photographs takes.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/philox.h"
#include "engine/data/write_png.h"

namespace {

namespace fs = std::filesystem;
using namespace loom;

constexpr int kSide = 28;
constexpr std::string_view kVersion = "digits drawn by version 1";

struct Point {
  double x, y;
};
using Stroke = std::vector<Point>;

// Random numbers of one image, one after another.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t image) : m_random(seed, "digits"), m_image(image) {}
  double uniform(double low, double high) {
    return low + (high - low) * Philox::toUniform(m_random(m_image, m_next++)[0]);
  }
  // The sum of twelve uniform numbers: near enough to normal, and free of functions whose last bit differs between
  // machines.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 3; ++i) {
      for (const std::uint32_t word : m_random(m_image, m_next++)) sum += Philox::toUniform(word);
    }
    return sum;
  }

 private:
  Philox m_random;
  std::uint64_t m_image, m_next = 0;
};

Stroke ellipse(double x, double y, double rx, double ry) {
  Stroke stroke;
  for (int i = 0; i <= 16; ++i) {
    const double angle = 2 * 3.14159265358979 * i / 16 - 1.5707963;
    stroke.push_back({x + rx * std::cos(angle), y + ry * std::sin(angle)});
  }
  return stroke;
}

// In a square of side 1, y downwards. Some digits are written in two ways.
std::vector<Stroke> strokesOf(int digit, Dice& dice) {
  const bool second = dice.uniform(0, 1) < 0.4;
  switch (digit) {
    case 0:
      return {ellipse(0.5, 0.5, 0.27, 0.41)};
    case 1:
      if (second) return {{{0.36, 0.27}, {0.53, 0.1}, {0.53, 0.9}}, {{0.36, 0.9}, {0.7, 0.9}}};
      return {{{0.4, 0.25}, {0.54, 0.1}, {0.54, 0.9}}};
    case 2:
      return {
          {{0.25, 0.28}, {0.34, 0.14}, {0.5, 0.09}, {0.67, 0.15}, {0.73, 0.3}, {0.65, 0.47}, {0.45, 0.68}, {0.23, 0.9}},
          {{0.23, 0.9}, {0.79, 0.9}}};
    case 3:
      return {{{0.27, 0.17}, {0.44, 0.09}, {0.63, 0.14}, {0.69, 0.29}, {0.6, 0.42}, {0.43, 0.47}},
              {{0.43, 0.47}, {0.64, 0.53}, {0.74, 0.69}, {0.66, 0.85}, {0.46, 0.92}, {0.25, 0.83}}};
    case 4:
      if (second) return {{{0.3, 0.12}, {0.25, 0.55}, {0.78, 0.55}}, {{0.66, 0.1}, {0.62, 0.92}}};
      return {{{0.6, 0.1}, {0.22, 0.62}, {0.8, 0.62}}, {{0.6, 0.1}, {0.6, 0.92}}};
    case 5:
      return {{{0.72, 0.1}, {0.33, 0.1}, {0.29, 0.45}},
              {{0.29, 0.45}, {0.48, 0.38}, {0.67, 0.46}, {0.74, 0.64}, {0.65, 0.84}, {0.45, 0.92}, {0.24, 0.84}}};
    case 6:
      return {{{0.66, 0.1},
               {0.45, 0.24},
               {0.31, 0.47},
               {0.28, 0.7},
               {0.39, 0.88},
               {0.58, 0.9},
               {0.71, 0.75},
               {0.65, 0.57},
               {0.48, 0.52},
               {0.31, 0.64}}};
    case 7:
      if (second) return {{{0.22, 0.12}, {0.77, 0.12}, {0.44, 0.92}}, {{0.36, 0.5}, {0.7, 0.5}}};
      return {{{0.22, 0.12}, {0.77, 0.12}, {0.42, 0.92}}};
    case 8:
      return {ellipse(0.5, 0.29, 0.19, 0.2), ellipse(0.5, 0.7, 0.24, 0.21)};
    default:
      if (second) return {ellipse(0.48, 0.33, 0.21, 0.23), {{0.7, 0.3}, {0.7, 0.92}}};
      return {ellipse(0.49, 0.33, 0.22, 0.23), {{0.71, 0.33}, {0.69, 0.6}, {0.55, 0.92}}};
  }
}

double distanceSquared(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double along = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  const double x = p.x - a.x - along * dx, y = p.y - a.y - along * dy;
  return x * x + y * y;
}

// Pen strokes are no straight lines: Catmull-Rom through points that each moved a little.
Stroke curved(const Stroke& corners) {
  if (corners.size() < 4) return corners;
  Stroke out;
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
    const Point a = corners[i == 0 ? 0 : i - 1], b = corners[i], c = corners[i + 1],
                d = corners[std::min(i + 2, corners.size() - 1)];
    for (int k = 0; k < 3; ++k) {
      const double t = k / 3.0;
      const auto blend = [t](double p, double q, double r, double s) {
        return 0.5 * (2 * q + (r - p) * t + (2 * p - 5 * q + 4 * r - s) * t * t + (3 * q - p - 3 * r + s) * t * t * t);
      };
      out.push_back({blend(a.x, b.x, c.x, d.x), blend(a.y, b.y, c.y, d.y)});
    }
  }
  out.push_back(corners.back());
  return out;
}

std::array<std::byte, kSide * kSide> draw(int digit, Dice& dice) {
  std::vector<Stroke> strokes = strokesOf(digit, dice);
  const double angle = dice.uniform(-0.28, 0.28), shear = dice.uniform(-0.25, 0.25);
  const double width = dice.uniform(14, 21), height = dice.uniform(17, 23);
  const double x = kSide / 2.0 + dice.uniform(-2.2, 2.2), y = kSide / 2.0 + dice.uniform(-2.2, 2.2);
  const double thickness = dice.uniform(1.3, 3.4), ink = dice.uniform(170, 255), paper = dice.uniform(0, 25),
               noise = dice.uniform(4, 22);
  for (Stroke& stroke : strokes) {
    for (Point& point : stroke) {
      const double u = (point.x - 0.5 + 0.018 * dice.normal()) * width,
                   v = (point.y - 0.5 + 0.018 * dice.normal()) * height;
      const double slanted = u - shear * v;
      point = {x + slanted * std::cos(angle) - v * std::sin(angle),
               y + slanted * std::sin(angle) + v * std::cos(angle)};
    }
    stroke = curved(stroke);
  }
  std::array<std::byte, kSide * kSide> image;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      double nearest = 1e9;
      for (const Stroke& stroke : strokes) {
        for (std::size_t i = 1; i < stroke.size(); ++i)
          nearest = std::min(nearest, distanceSquared({column + 0.5, row + 0.5}, stroke[i - 1], stroke[i]));
      }
      const double coverage = std::clamp(0.5 + thickness / 2 - std::sqrt(nearest), 0.0, 1.0);
      const double value = paper + (ink - paper) * coverage + noise * dice.normal();
      image[static_cast<std::size_t>(row * kSide + column)] =
          static_cast<std::byte>(std::lround(std::clamp(value, 0.0, 255.0)));
    }
  }
  return image;
}

// The same in two colours, enlarged: each pixel between the four that are next to it.
std::vector<std::byte> coloured(const std::array<std::byte, kSide * kSide>& image, int side, Dice& dice) {
  std::vector<std::byte> picture(static_cast<std::size_t>(3 * side * side));
  const auto at = [&](int row, int column) {
    return std::to_integer<int>(
               image[static_cast<std::size_t>(std::min(row, kSide - 1) * kSide + std::min(column, kSide - 1))]) /
           255.0;
  };
  for (int channel = 0; channel < 3; ++channel) {
    const double paper = dice.uniform(0, 110), ink = dice.uniform(130, 255);
    for (int row = 0; row < side; ++row) {
      for (int column = 0; column < side; ++column) {
        const double y = static_cast<double>(row) * (kSide - 1) / std::max(side - 1, 1),
                     x = static_cast<double>(column) * (kSide - 1) / std::max(side - 1, 1);
        const int top = static_cast<int>(y), left = static_cast<int>(x);
        const double v = y - top, u = x - left;
        const double value = (1 - v) * ((1 - u) * at(top, left) + u * at(top, left + 1)) +
                             v * ((1 - u) * at(top + 1, left) + u * at(top + 1, left + 1));
        picture[static_cast<std::size_t>((channel * side + row) * side + column)] =
            static_cast<std::byte>(std::lround(paper + (ink - paper) * value));
      }
    }
  }
  return picture;
}

void drawSet(const fs::path& folder, const std::string& name, std::uint64_t first, std::int64_t count,
             std::uint64_t seed, int side) {
  for (int digit = 0; digit < 10; ++digit) fs::create_directories(folder / name / std::to_string(digit));
  const auto fileOf = [&](std::int64_t i) { return fmt::format("{}/{}/{:05d}.png", name, i % 10, i); };
  std::atomic<std::int64_t> next{0};
  std::vector<std::thread> threads;
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  std::string failure;
  std::atomic<bool> failed{false};
  for (unsigned t = 0; t < cores; ++t) {
    threads.emplace_back([&] {
      try {
        for (std::int64_t i; !failed && (i = next.fetch_add(1)) < count;) {
          Dice dice(seed, first + static_cast<std::uint64_t>(i));
          const auto image = draw(static_cast<int>(i % 10), dice);
          if (side == 0)
            writePng(folder / fileOf(i), image, Shape{1, kSide, kSide});
          else
            writePng(folder / fileOf(i), coloured(image, side, dice), Shape{3, side, side});
        }
      } catch (const Error& error) {
        if (!failed.exchange(true)) failure = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failed) throwError(ErrorCode::inputOutput, "{}", failure);
  std::string csv = "x:image,y:label\n";
  for (std::int64_t i = 0; i < count; ++i) csv += fmt::format("{},{}\n", fileOf(i), i % 10);
  writeFileAtomically(folder / (name + ".csv"), csv);
}

// Drawn under another name and renamed when whole: whoever sees the folder sees all of it.
int run(const fs::path& out, std::int64_t training, std::int64_t test, std::uint64_t seed, int side) {
  const std::string stamp = fmt::format("{}: {} + {}, seed {}{}\n", kVersion, training, test, seed,
                                        side == 0 ? "" : fmt::format(", side {}", side));
  std::error_code ignored;
  if (fs::exists(out / "drawn.txt", ignored) && readFile(out / "drawn.txt") == stamp) return 0;
  fs::path partial = out;
  partial += fmt::format(".partial-{}", ::getpid());
  fs::remove_all(partial, ignored);
  fs::create_directories(partial);
  try {
    drawSet(partial, "train", 0, training, seed, side);
    drawSet(partial, "test", std::uint64_t{1} << 32, test, seed, side);
    writeFileAtomically(partial / "drawn.txt", stamp);
    fs::remove_all(out, ignored);
    std::error_code taken;
    fs::rename(partial, out, taken);  // another process may have been faster: then its folder stands, and is the same
    if (taken && !fs::exists(out / "drawn.txt")) throwErrno(taken.value(), "write", out);
    fs::remove_all(partial, ignored);
  } catch (...) {
    fs::remove_all(partial, ignored);
    throw;
  }
  std::printf("%lld images in %s\n", static_cast<long long>(training + test), out.c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::array<std::int64_t, 4> numbers{6000, 1000, 1, 0};
  bool good = count >= 2 && count <= 6 && *arguments[1] != '-';
  for (int i = 2; good && i < count; ++i) {
    const std::string_view text = arguments[i];
    const auto [end, fault] =
        std::from_chars(text.data(), text.data() + text.size(), numbers[static_cast<std::size_t>(i - 2)]);
    good = fault == std::errc{} && end == text.data() + text.size() && numbers[static_cast<std::size_t>(i - 2)] > 0;
  }
  good = good && numbers[3] <= 4096;
  if (!good) {
    std::fprintf(stderr, "usage: draw_digits FOLDER [TRAINING TEST SEED [SIDE]]    (6000 1000 1)\n");
    return 2;
  }
  try {
    return run(arguments[1], numbers[0], numbers[1], static_cast<std::uint64_t>(numbers[2]),
               static_cast<int>(numbers[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "draw_digits: %s\n", error.what());
    return 1;
  }
}

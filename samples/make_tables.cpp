// Makes the tables of the samples, which are small enough to be kept: make_tables SAMPLES_FOLDER writes them anew.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/philox.h"

namespace {

using namespace loom;

// Two kinds of flowers by length and width of a petal: two clouds that touch, parted by a straight line.
std::string flowers(std::string_view name, int count) {
  const Philox random(11, name);
  std::string csv = "x__0:petal_length,x__1:petal_width,y:label\n";
  for (int i = 0; i < count; ++i) {
    const int kind = i % 2;
    const double spread = random.normal(3 * static_cast<std::uint64_t>(i)),
                 across = random.normal(3 * static_cast<std::uint64_t>(i) + 1);
    const double length = kind ? 5.5 + 0.55 * spread : 4.2 + 0.45 * spread,
                 width = kind ? 2.0 + 0.18 * spread + 0.2 * across : 1.3 + 0.14 * spread + 0.14 * across;
    csv += fmt::format("{:.2f},{:.2f},{}\n", length, width, kind);
  }
  return csv;
}

// Two spirals, one wound into the other: no straight line parts them.
std::string spirals(std::string_view name, int count) {
  const Philox random(12, name);
  std::string csv = "x__0:east,x__1:north,y:label\n";
  for (int i = 0; i < count; ++i) {
    const int arm = i % 2;
    // Evenly along the arm rather than by angle, so that the outer turns are not sparse.
    const double along = std::sqrt(0.03 + 0.97 * random.uniform(4 * static_cast<std::uint64_t>(i))),
                 angle = 3.3 * 3.14159265 * along + arm * 3.14159265;
    const double x = along * std::cos(angle) + 0.02 * random.normal(4 * static_cast<std::uint64_t>(i) + 1);
    const double y = along * std::sin(angle) + 0.02 * random.normal(4 * static_cast<std::uint64_t>(i) + 2);
    csv += fmt::format("{:.3f},{:.3f},{}\n", x, y, arm);
  }
  return csv;
}

// What a flat costs to heat in a year, from six facts about it.
std::string heating(std::string_view name, int count) {
  const Philox random(13, name);
  std::string csv = "x__0:area,x__1:storey,x__2:outer_walls,x__3:built,x__4:degree_days,x__5:price,y:cost\n";
  for (int i = 0; i < count; ++i) {
    const auto draw = [&](int which, double low, double high) {
      return low + (high - low) * random.uniform(8 * static_cast<std::uint64_t>(i) + static_cast<std::uint64_t>(which));
    };
    const double area = std::floor(draw(0, 25, 160)), storey = std::floor(draw(1, 0, 9)),
                 walls = std::floor(draw(2, 1, 5)), built = std::floor(draw(3, 1920, 2025));
    const double days = std::floor(draw(4, 1800, 4200)), price = std::floor(draw(5, 6, 19) * 10) / 10;
    const double loss =
        0.35 + 0.9 / (1 + std::exp((built - 1984) / 9));  // insulation came with the decrees of the eighties
    const double exposed = 0.5 + 0.22 * walls + (storey == 0 || storey == 8 ? 0.35 : 0);  // cellar below, roof above
    const double energy = area * loss * exposed * days / 24 * 0.55;                       // kWh
    csv += fmt::format("{:.0f},{:.0f},{:.0f},{:.0f},{:.0f},{:.1f},{:.0f}\n", area, storey, walls, built, days, price,
                       energy * price / 100 * (1 + 0.04 * random.normal(8 * static_cast<std::uint64_t>(i) + 7)));
  }
  return csv;
}

// Twelve digits, and the same in order.
std::string sorted(std::string_view name, int count) {
  constexpr int kDigits = 12;
  const Philox random(14, name);
  std::string csv;
  for (const char* variable : {"x", "y"})
    for (int i = 0; i < kDigits; ++i) csv += fmt::format("{}{}__{}", csv.empty() ? "" : ",", variable, i);
  for (int row = 0; row < count; ++row) {
    std::array<int, kDigits> digits;
    for (int i = 0; i < kDigits; ++i)
      digits[static_cast<std::size_t>(i)] =
          static_cast<int>(random.below(10, static_cast<std::uint64_t>(row) * kDigits + static_cast<std::uint64_t>(i)));
    csv += fmt::format("\n{}", fmt::join(digits, ","));
    std::sort(digits.begin(), digits.end());
    csv += fmt::format(",{}", fmt::join(digits, ","));
  }
  return csv + "\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 || *arguments[1] == '-') {
    std::fprintf(stderr, "usage: make_tables SAMPLES_FOLDER\n");
    return 2;
  }
  const std::filesystem::path samples = arguments[1];
  try {
    const auto write = [&](const std::string& sample, auto make, int training, int test) {
      std::filesystem::create_directories(samples / sample);
      writeFileAtomically(samples / sample / "train.csv", make("train", training));
      writeFileAtomically(samples / sample / "test.csv", make("test", test));
    };
    write("logistic_regression", flowers, 400, 200);
    write("binary_classifier", spirals, 1000, 400);
    write("tabular_regression", heating, 2000, 500);
    write("transformer", sorted, 4000, 500);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_tables: %s\n", error.what());
    return 1;
  }
  return 0;
}

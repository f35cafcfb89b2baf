#include <set>

#include "engine/base/philox.h"
#include "engine/search/strategy.h"

namespace loom {
namespace {

constexpr int kTries = 64;  // of a small space most is taken towards its end; then it is gone through

Point drawn(const SoFar& soFar, int number, int attempt) {
  const Philox random(soFar.seed, "search");
  Point point;
  for (std::size_t i = 0; i < soFar.space.size(); ++i) {
    const Dimension& dimension = soFar.space[i];
    const Philox::Block words =
        random(static_cast<std::uint64_t>(number) * kTries + static_cast<std::uint64_t>(attempt),
               i + (static_cast<std::uint64_t>(soFar.redraw) << 32));
    const double place = (words[0] + words[1] * 0x1p-32) * 0x1p-32;
    const std::int64_t count = countOf(dimension);
    // Of a list each value is as likely; rounding would give both ends half.
    const bool even = count > 1 && !dimension.log;
    point.push_back(valueAt(
        dimension, even ? std::floor(place * static_cast<double>(count)) / static_cast<double>(count - 1) : place));
  }
  return point;
}

// The first that is free, from one that seed and number choose, of a space that can be counted.
std::optional<Point> firstFree(const SoFar& soFar, int number) {
  const std::int64_t all = countOf(soFar.space);
  if (all == 0) return std::nullopt;
  const std::set<std::string> taken = takenKeys(soFar);
  const auto begin = static_cast<std::int64_t>(
      Philox(soFar.seed, "search/begin").below(static_cast<std::uint64_t>(all), static_cast<std::uint64_t>(number)));
  for (std::int64_t step = 0; step < all; ++step) {
    std::int64_t rest = (begin + step) % all;
    Point point;
    for (const Dimension& each : soFar.space) {
      const std::int64_t count = countOf(each);
      if (each.choices.empty())
        point.push_back(static_cast<std::int64_t>(std::ceil(each.low)) + rest % count);
      else
        point.push_back(each.choices[static_cast<std::size_t>(rest % count)]);
      rest /= count;
    }
    if (!taken.count(keyOf(point))) return point;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Point> randomPoint(const SoFar& soFar) {
  const int number = nextNumber(soFar.trials);
  for (int attempt = 0; attempt < kTries; ++attempt)
    if (Point point = drawn(soFar, number, attempt); !isTaken(soFar, point)) return point;
  return firstFree(soFar, number);
}

const SearchStrategy& defineRandomStrategy() {
  static const SearchStrategy row{
      .id = "random",
      .label = "Random",
      .help =
          "Each trial is drawn evenly over the ranges, and none twice. A good first look, and hard to beat with "
          "many settings of which few matter.",
      .next = &randomPoint};
  return row;
}

}  // namespace loom

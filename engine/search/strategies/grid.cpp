#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/search/strategy.h"

namespace loom {
namespace {

// Values of each dimension. Ranges without a number of levels share what the number of trials leaves them.
std::vector<std::vector<Json>> levelsOf(const Space& space, int planned) {
  double fixed = 1, open = 0;
  for (const Dimension& each : space) {
    if (!each.choices.empty())
      fixed *= static_cast<double>(each.choices.size());
    else if (each.levels > 0)
      fixed *= each.levels;
    else
      ++open;
  }
  const int share = open > 0 ? std::max(2, static_cast<int>(std::pow(planned / fixed, 1 / open) + 1e-9)) : 0;
  std::vector<std::vector<Json>> all;
  for (const Dimension& each : space) {
    std::vector<Json>& values = all.emplace_back(each.choices);
    if (!values.empty()) continue;
    const int levels = each.levels > 0 ? each.levels : share;
    for (int i = 0; i < levels; ++i) {
      Json value = valueAt(each, static_cast<double>(i) / (levels - 1));
      if (values.empty() || values.back() != value) values.push_back(std::move(value));  // whole numbers may meet
    }
  }
  return all;
}

// Fewer trials than cells: they go through all of it in equal strides, so that no corner is left out.
std::int64_t strideOf(std::int64_t cells, int planned) {
  if (planned >= cells) return 1;
  auto stride = static_cast<std::int64_t>(static_cast<double>(cells) * 0.6180339887498949);
  for (stride = std::max<std::int64_t>(stride, 1); std::gcd(stride, cells) != 1;) ++stride;
  return stride;
}

std::optional<Point> nextCell(const SoFar& soFar) {
  const std::vector<std::vector<Json>> levels = levelsOf(soFar.space, soFar.planned);
  std::int64_t cells = 1;
  for (const auto& each : levels)
    cells = std::min(cells * static_cast<std::int64_t>(each.size()), std::int64_t{1} << 40);
  const std::set<std::string> taken = takenKeys(soFar);
  const std::int64_t stride = strideOf(cells, soFar.planned);
  const std::int64_t looks = std::min(cells, static_cast<std::int64_t>(taken.size()) + 1);
  for (std::int64_t look = 0, cell = 0; look < looks; ++look, cell = (cell + stride) % cells) {
    Point point(levels.size());
    std::int64_t rest = cell;
    for (std::size_t i = levels.size(); i-- > 0;) {
      const auto count = static_cast<std::int64_t>(levels[i].size());
      point[i] = levels[i][static_cast<std::size_t>(rest % count)];
      rest /= count;
    }
    if (!taken.count(keyOf(point))) return point;
  }
  return std::nullopt;
}

}  // namespace

const SearchStrategy& defineGridStrategy() {
  static const SearchStrategy row{
      .id = "grid",
      .label = "Grid",
      .help =
          "Every combination of a few values of each setting. The whole picture of one or two settings; the number "
          "of trials grows with every further one.",
      .next = &nextCell};
  return row;
}

}  // namespace loom

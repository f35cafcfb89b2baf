#include <dlfcn.h>

#include <algorithm>
#include <functional>

#include "engine/base/error.h"
#include "engine/base/module.h"
#include "engine/search/global/global_functions.h"
#include "engine/search/strategy.h"

namespace loom {
namespace {

struct GlobalLibrary {
  const LoomGlobalFunctions* functions = nullptr;
  std::string why;  // it cannot be opened
  GlobalLibrary() {
    const auto module = moduleNamed("loom_dlib.so", "GRADLOOM_DLIB_MODULE");
    void* const handle = ::dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      why = ::dlerror();
      return;
    }
    const auto entry = reinterpret_cast<LoomGlobalEntry>(::dlsym(handle, kLoomGlobalEntryName));
    functions = entry ? entry() : nullptr;
    if (functions && functions->version == kLoomGlobalVersion) return;
    functions = nullptr;
    why = module.string() + " is of another version of Gradloom";
  }
};

constexpr int kGuided = 8;            // draws of a trial that dlib leads; then chance finds what fits
constexpr std::size_t kRefused = 64;  // of the candidates that were refused, the newest: dlib's work grows with all

// What the trials say, as dlib takes it: places from 0 to 1, more is better. A trial without a score, and a candidate
// that was refused, counts as worse than all others by a tenth of what lies between them; one that goes on as the worst
// that has a score, so that the next does not go to the same place.
struct Evaluations {
  std::vector<double> x, y;
  int scored = 0;
};

Evaluations evaluationsOf(const SoFar& soFar) {
  Evaluations all;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Trial& each : soFar.trials) {
    if (!each.ended() || std::isnan(each.score())) continue;
    low = std::min(low, each.score());
    high = std::max(high, each.score());
    ++all.scored;
  }
  const double worse = low - (high > low ? (high - low) / 10 : 1);
  std::vector<const Trial*> ordered;
  for (const Trial& each : soFar.trials) ordered.push_back(&each);
  std::sort(ordered.begin(), ordered.end(), [](const Trial* a, const Trial* b) { return a->number < b->number; });
  for (const Trial* each : ordered) {
    for (std::size_t i = 0; i < soFar.space.size(); ++i) all.x.push_back(placeOf(soFar.space[i], each->point[i]));
    all.y.push_back(!each->ended() ? low : std::isnan(each->score()) ? worse : each->score());
  }
  for (const Point& each : soFar.refused.last(std::min(kRefused, soFar.refused.size()))) {
    for (std::size_t i = 0; i < soFar.space.size(); ++i) all.x.push_back(placeOf(soFar.space[i], each[i]));
    all.y.push_back(worse);
  }
  return all;
}

// The free point that is nearest to a place. Lists and whole numbers are few, and what lies around the best is often
// taken: then its neighbours are, at most two values away in each dimension.
std::optional<Point> nearestFree(const SoFar& soFar, const std::vector<double>& places) {
  const std::size_t count = soFar.space.size();
  std::optional<Point> nearest;
  double least = 0;
  std::vector<int> away(count, 0);
  const int most = count > 4 ? 1 : 2;
  const auto consider = [&] {
    Point point;
    double distance = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t values = countOf(soFar.space[i]);
      double place = placeOf(soFar.space[i], valueAt(soFar.space[i], places[i]));
      if (values > 1) place += away[i] / static_cast<double>(values - 1);
      if (place < -1e-9 || place > 1 + 1e-9) return;
      point.push_back(valueAt(soFar.space[i], place));
      const double gap = placeOf(soFar.space[i], point.back()) - places[i];
      distance += gap * gap;
    }
    if ((!nearest || distance < least) && !isTaken(soFar, point)) nearest = point, least = distance;
  };
  const std::function<void(std::size_t)> walk = [&](std::size_t i) {
    if (i == count) return consider();
    const int reach = countOf(soFar.space[i]) > 1 ? most : 0;
    for (away[i] = -reach; away[i] <= reach; ++away[i]) walk(i + 1);
    away[i] = 0;
  };
  if (count <= 6) walk(0);
  return nearest;
}

std::optional<Point> nextGlobal(const SoFar& soFar) {
  static const GlobalLibrary library;
  if (!library.functions)
    throwError(
        ErrorCode::missingFile,
        "the strategy 'global' is dlib's, which cannot be opened ({}): install it (Debian: libdlib-dev) and build "
        "Gradloom again, or choose the strategy 'random'",
        library.why);
  if (soFar.redraw >= kGuided) return randomPoint(soFar);
  const Evaluations known = evaluationsOf(soFar);
  if (known.scored == 0) return randomPoint(soFar);
  const auto count = static_cast<int>(soFar.space.size());
  const int number = nextNumber(soFar.trials);
  std::vector<double> refined(soFar.space.size()), explored(soFar.space.size());
  char why[256] = "";
  if (library.functions->next(count, static_cast<int>(known.y.size()), known.x.data(), known.y.data(),
                              soFar.seed * 1000003 + static_cast<std::uint64_t>(number), refined.data(),
                              explored.data(), why, sizeof why) != 0)
    throwError(ErrorCode::internal, "dlib's search: {}", why);
  // By turns around the best one so far and where the most may be gained; what is left of the second half goes to the
  // best alone, since what is found far away so late can no longer be followed up.
  if (number % 2 == 0 && number <= (soFar.planned + 1) / 2) std::swap(refined, explored);
  for (const std::vector<double>& places : {refined, explored})
    if (std::optional<Point> point = nearestFree(soFar, places)) return point;
  return randomPoint(soFar);
}

}  // namespace

const SearchStrategy& defineGlobalStrategy() {
  static const SearchStrategy row{
      .id = "global",
      .label = "Global, with a trust region",
      .help =
          "dlib's global search: by turns where the most may be gained (an upper bound from how steep the results "
          "are, Malherbe and Vayatis 2017) and around the best so far (a quadratic in a trust region, Powell 2004). "
          "For one to about six settings; of a list the place in its order is what it sees, so put what is alike side "
          "by side.",
      .next = &nextGlobal};
  return row;
}

}  // namespace loom

// dlib's global search behind one C function: the only file that is linked with it.
#include <dlib/global_optimization/global_function_search.h>

#include <cstdio>
#include <exception>

#include "engine/search/global/global_functions.h"

namespace {

using Column = dlib::matrix<double, 0, 1>;

Column columnOf(const double* values, int count) {
  Column column(count);
  for (int i = 0; i < count; ++i) column(i) = values[i];
  return column;
}

int next(int dimensions, int known, const double* x, const double* y, std::uint64_t seed, double* refined,
         double* explored, char* why, std::size_t room) {
  try {
    Column low(dimensions), high(dimensions);
    for (int i = 0; i < dimensions; ++i) {
      low(i) = 0;
      high(i) = 1;
    }
    std::vector<dlib::function_evaluation> evaluations;
    for (int i = 0; i < known; ++i) evaluations.emplace_back(columnOf(x + i * dimensions, dimensions), y[i]);
    dlib::global_function_search search({dlib::function_spec(low, high)}, {evaluations});
    search.set_seed(static_cast<time_t>(seed));
    // The first request is around the best where that promises anything; while it is open the second is a global one.
    const dlib::function_evaluation_request first = search.get_next_x(), second = search.get_next_x();
    for (int i = 0; i < dimensions; ++i) {
      refined[i] = first.x()(i);
      explored[i] = second.x()(i);
    }
    return 0;
  } catch (const std::exception& fault) {
    std::snprintf(why, room, "%s", fault.what());
    return 1;
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const LoomGlobalFunctions* loomGlobalFunctions() {
  static const LoomGlobalFunctions functions{kLoomGlobalVersion, &next};
  return &functions;
}

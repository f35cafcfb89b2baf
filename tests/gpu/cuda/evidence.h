#pragma once
// What is needed to mend an op case that failed on a machine that is not here any more: its inputs, what it gave beside
// what was wanted, and the stages that computed it.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/json.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda {

inline std::string inputsOf(const cases::OpCase& opCase) {
  constexpr const char* kKinds[] = {"values",      "state",    "given", "labels",      "bytes",
                                    "samples",     "squares",  "step",  "firstSample", "learningRate",
                                    "updateCount", "clipNorm", "absent"};
  std::string text = fmt::format("case {}, op {}{}", opCase.name, opCase.op, opCase.inside ? ", inside" : "");
  for (std::size_t k = 0; k < opCase.inputs.size(); ++k) {
    const cases::InputCase& input = opCase.inputs[k];
    const std::vector<double> first = cases::valuesOf(opCase, k, std::min<std::int64_t>(input.shape.elements(), 4));
    text += fmt::format("\n  in{}: {} {} in [{}, {}), by the case's name: {}", k,
                        kKinds[static_cast<std::size_t>(input.kind)], input.shape.toString(), input.low, input.high,
                        fmt::join(first, ", "));
  }
  return text;
}

// The places that are furthest off.
inline std::string differencesOf(const std::string& name, const std::vector<float>& found,
                                 const std::vector<float>& wanted) {
  constexpr std::size_t kMost = 6;
  std::string text = fmt::format("\n  {}: {} of {} numbers", name, found.size(), wanted.size());
  if (found.size() != wanted.size()) return text;
  const auto distance = [&](std::size_t k) {
    const double by = std::abs(double{found[k]} - wanted[k]);
    return found[k] == wanted[k] || (std::isnan(found[k]) && std::isnan(wanted[k])) ? 0
           : std::isfinite(by)                                                      ? by
                                                                                    : HUGE_VAL;
  };
  std::vector<std::size_t> places(found.size());
  std::iota(places.begin(), places.end(), 0);
  const auto count = static_cast<std::ptrdiff_t>(std::min(kMost, places.size()));
  std::partial_sort(places.begin(), places.begin() + count, places.end(),
                    [&](std::size_t a, std::size_t b) { return distance(a) > distance(b); });
  const auto differ = std::count_if(places.begin(), places.end(), [&](std::size_t k) { return distance(k) > 0; });
  text += fmt::format(", {} differ, distance {:.3g}", differ, cases::relativeDistance(found, wanted));
  for (std::ptrdiff_t k = 0; k < std::min<std::ptrdiff_t>(count, differ); ++k) {
    const std::size_t at = places[static_cast<std::size_t>(k)];
    text += fmt::format("; [{}] got {:.9g} wanted {:.9g}", at, found[at], wanted[at]);
  }
  return text;
}

inline std::string stagesOf(const Json& described) {
  std::string text = "\n  stages:";
  for (const Json& one : described.at("operations"))
    text += fmt::format(" {} by {};", one.at("kernel").get<std::string>(), one.at("implementation").get<std::string>());
  return text;
}

inline std::string evidenceOf(const cases::OpCase& opCase, const cases::Outcome& found, const cases::Outcome& wanted,
                              Backend& backend, const CompileOptions& options) {
  std::string text = inputsOf(opCase);
  for (const auto& [name, values] : wanted)
    text += found.contains(name) ? differencesOf(name, found.at(name), values) : fmt::format("\n  {} is missing", name);
  try {
    ParameterStore store(1, backend.makeMemory());
    const Program program = cases::programOf(opCase, true);
    store.ensure(program.parameters);
    text += stagesOf(backend.compile(program, store, options)->describe());
  } catch (const std::exception& error) {
    text += fmt::format("\n  stages cannot be told: {}", error.what());
  }
  return text;
}

}  // namespace loom::cuda

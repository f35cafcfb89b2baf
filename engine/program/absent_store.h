#pragma once
// The store of a program that is only laid out, to be measured.
#include <memory>

#include "engine/program/parameter_store.h"

namespace loom {

// Every parameter has its place, which leads nowhere, and none its numbers: nobody could read them, and for a large
// network they take seconds to draw.
inline std::unique_ptr<ParameterStore> absentStoreOf(const Program& program) {
  auto store = std::make_unique<ParameterStore>(program.seed, makeAbsentMemory());
  std::vector<Parameter> places = program.parameters;
  for (Parameter& place : places) place.initializer.kind = InitializerKind::zeros;
  store->ensure(places);
  return store;
}

}  // namespace loom

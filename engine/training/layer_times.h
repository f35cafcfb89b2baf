#pragma once
// How long each layer takes, measured in the run itself: in some steps after the first ones, which warm up, the stages
// of compute are recorded, and never again. Of a machine that records its stages (the processor); of others nothing is
// told.
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "engine/base/json_fwd.h"
#include "engine/program/trace.h"

namespace loom {

class LayerTimes {
 public:
  // Where stages are to be recorded. Null once `wanted` is false: somebody else records them.
  explicit LayerTimes(bool wanted);
  Trace* trace() { return m_wanted ? &m_trace : nullptr; }

  void stepBegins();
  // After each step: once, when enough were measured, the fields of the event: "steps", "ms" by layer, and "other_ms"
  // of what belongs to none.
  std::optional<Json> stepEnded();

 private:
  Trace m_trace;
  bool m_wanted;
  int m_step = 0, m_measured = 0;
  std::size_t m_from = 0;
  double m_other = 0;
  std::map<std::string, double> m_seconds;  // by layer, of all measured steps
};

}  // namespace loom

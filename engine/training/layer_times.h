#pragma once
// How long each layer takes, measured in the run itself: in some steps after the first ones, which warm up, the stages
// of compute are recorded, and never again. Of a machine that records its stages (the processor); of others nothing is
// told.
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/program/backend.h"
#include "engine/program/trace.h"

namespace loom {

class LayerTimes {
 public:
  // Where stages are to be recorded. Null once `wanted` is false: somebody else records them.
  explicit LayerTimes(bool wanted);
  Trace* trace() { return m_wanted ? &m_trace : nullptr; }

  void stepBegins();
  // After each step: once, when enough were measured, the fields of the event: "steps", "ms" by layer, "other_ms" of
  // what belongs to none, "kernels_ms" by kernel, and "step_ms", the whole of a step.
  std::optional<Json> stepEnded();

 private:
  Trace m_trace;
  bool m_wanted;
  int m_step = 0, m_measured = 0;
  std::size_t m_from = 0;
  double m_other = 0;
  std::map<std::string, double> m_seconds;  // by layer, of all measured steps
  std::map<std::string, double> m_kernels;
  Trace::Clock::time_point m_began;
  double m_whole = 0;
};

// An executable and how often it runs in a mean step.
struct StepPart {
  const Executable& executable;
  double times = 1;
};
// Completes the event's fields: "ops_ms" by operation in place of "kernels_ms", and where `seconds` knows how long a
// stage takes, the same of a prediction: "predicted": {"ms", "other_ms", "ops_ms", "from"}.
void completeLayerTimes(Json& fields, const std::vector<StepPart>& parts,
                        const std::function<double(const StageCost&)>& seconds, const std::string& from);

}  // namespace loom

#include "engine/cuda/lowerings/ways.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/cuda/engine_choice.h"

namespace loom::cuda {
namespace {

class TimedWays final : public Engines {
 public:
  TimedWays(Plan& plan, const std::vector<Way>& ways, const Device::Timing& timing)
      : m_plan(plan), m_ways(ways), m_timing(timing) {}
  std::vector<Engine> offered(int first, int most) override {
    std::vector<Engine> some;
    const int last = std::min(first + most, static_cast<int>(m_ways.size()));
    for (int k = first; k < last; ++k) some.push_back({k, m_ways[static_cast<std::size_t>(k)].name});
    return some;
  }
  double seconds(const Engine& engine) override {
    return m_plan.secondsOf(m_ways[static_cast<std::size_t>(engine.place)].emit, m_timing);
  }
  void expectDevice() override { m_plan.device().synchronise(Stream::compute); }

 private:
  Plan& m_plan;
  const std::vector<Way>& m_ways;
  const Device::Timing& m_timing;
};

}  // namespace

void emitFastest(Plan& plan, const std::string& what, const std::vector<Way>& ways) {
  if (ways.empty()) throwError(ErrorCode::internal, "there is no way to compute {}", what);
  std::size_t taken = 0;
  const Device::Timing* const timing = plan.device().timing();
  if (timing != nullptr && ways.size() > 1) {
    TimedWays timed(plan, ways, *timing);
    taken = static_cast<std::size_t>(timing->choice.choose("ways of " + what, timed).place);
  }
  ways[taken].emit(plan);
}

}  // namespace loom::cuda

// Delayed gradients: a step applies those of the step before, so that ranks exchange them while this one is computed.
#include "engine/training/methods/delayed.h"

#include "engine/training/methods/method.h"

namespace loom {
namespace {

// What waits in the slots is exchanged and brought there by whoever computes the steps (StepExchange); here is known
// whether there is anything to apply.
class Delayed final : public UpdateMethod {
 public:
  Delayed(const Values&, const MethodWeights&) {}

  void gradientsDone() override {
    m_applies = m_waiting;
    m_waiting = true;
  }
  bool applies() const override { return m_applies; }
  Json state() const override { return m_waiting ? Json{{"waiting", true}} : Json(); }
  void restore(const Json& state) override { m_waiting = state.at("waiting").get<bool>(); }

 private:
  bool m_waiting = false, m_applies = false;  // a step's gradients
};

}  // namespace

const MethodDefinition& defineDelayedMethod() {
  static const MethodDefinition definition{
      .entry = {.id = "delayed",
                .label = "Those of the step before",
                .summary = "The exchange has a whole step's time (double buffering): pays where ranks wait for each "
                           "other longer than a backward pass hides; wants a lower rate or a longer warm-up.",
                .help = "w ← rule(w, g of the step before). Akiba et al. 2017 call it double buffering. The first step "
                        "applies none, and the last step's gradients are left. Deterministic runs compute the same "
                        "and overlap nothing.",
                .fields = {}},
      .place = MethodPlace::gradients,
      .slots = {kDelayedSlot},
      .keeps = "the gradients of the step before",
      .delays = true,
      .cost = [](const Json&) { return MethodCost{.slots = 1}; },
      .make = [](const Values& values, const MethodWeights& weights) -> std::unique_ptr<UpdateMethod> {
        return std::make_unique<Delayed>(values, weights);
      }};
  return definition;
}

}  // namespace loom

// Gradients leave for other ranks: a thread of the trainer's does the work, this one goes on with the backward part.
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/program/collectives.h"

namespace loom::cpu {

void lowerAllReduce(Plan& plan, const Operation& operation) {
  const auto done = plan.write(operation.outputs[0]);
  Collectives* collectives = plan.collectives();
  const int bucket = static_cast<int>(operation.attributes.integer("bucket", 0));
  plan.stage("all_reduce", "posted", {}, [=](const Worker& worker) {
    if (worker.index != 0) return;
    *done.get() = 1;
    if (collectives && worker.step->options.exchange) collectives->post(bucket);
  });
}

}  // namespace loom::cpu

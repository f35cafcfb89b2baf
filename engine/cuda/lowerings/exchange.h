#pragma once
// Exchanges between ranks in the midst of a step.
#include "engine/cuda/plan.h"

namespace loom::cuda {

// Appends one from `from` (empty: receive) to `to` (empty: send); what follows it in the program waits for it. On the
// device's streams where the group's ranks have some, else through the host, which then takes part in every step.
// `partner` and `tag` as in RankExchange.
void exchange(Plan& plan, RankGroup& group, RankExchange::Kind kind, int partner, const Operand& from,
              const Operand& to, int tag = 0);

}  // namespace loom::cuda

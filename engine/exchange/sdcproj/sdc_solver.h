#pragma once
// An [Optimizer_i] of Console as an update of ours: rule, decay, schedule and warm-up, with nnabla's conventions said
// in ours.
#include <cstdint>
#include <string>

#include "engine/exchange/importer.h"
#include "engine/exchange/sdcproj/sdc_file.h"

namespace loom::sdc {

struct SolverPlace {
  std::int64_t samples = 0;  // of the training set; 0 = the file does not say
  std::int64_t batch = 1;    // BatchSize: of one of UpdateInterval passes
  std::string place;         // for the report
  ImportReport& report;
};

void readSolver(const Section& section, const SolverPlace& where, UpdateSpec& update);

}  // namespace loom::sdc

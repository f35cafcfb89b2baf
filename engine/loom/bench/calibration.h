#pragma once
// A processor measured: what its stages take in a few networks (probes.h), each run for a few steps through the same
// path as a training, in f32 and bf16. Some seconds.
#include <functional>
#include <string>
#include <vector>

#include "engine/loom/bench/probes.h"
#include "engine/planner/processor_times.h"

namespace loom {

class Backend;

// "AMD EPYC, avx512, 2 threads, oneDNN 2.6.3", or "... 2 threads without a common cache, ..." (coresAreApart()): what
// the times of this machine's processor hold for. `threads` 0 = all that this process may use.
std::string processorWords(int threads);

// `backend`: the processor's, with that many threads; `probes`: on which networks. Times are of processor time, so
// other work beside it lengthens them little. All are of the same cores, near or apart: what others got is measured
// again. `tell`: which network comes now, "3 of 16, tokens in f32"; null: nobody asks.
ProcessorTimes measureProcessor(Backend& backend, int threads, const std::function<void(const std::string&)>& tell,
                                const std::vector<Workload>& probes = processorProbes());

// knownProcessor(); where nothing is kept, measured now and kept. `anew`: measured whatever is kept.
// `tell` hears what is measured. Throws Error(badData) for a file that cannot be read, before anything is measured.
ProcessorTimes measuredProcessor(int threads, const std::function<void(const std::string&)>& tell, bool anew = false);

// Those that are kept for this machine and how near its cores are now, else for it with other cores, else assumed ones.
// Throws Error(badData) for a file that cannot be read.
ProcessorTimes knownProcessor(int threads);

}  // namespace loom

#pragma once
// How far apart the cores are that a step's threads run on: as long as a line of memory takes from one to another.

namespace loom::cpu {

// Seconds for a line from the first core that this process may use to another and back: of up to eight among the first
// `threads` the farthest, the last one always; for each the least of a few tries, in which two threads of their own do
// nothing else: a few milliseconds in all. 0: there is no other, or it had no time to answer.
double coreDistance(int threads);

}  // namespace loom::cpu

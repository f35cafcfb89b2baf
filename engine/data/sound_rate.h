#pragma once
// Sounds at another number of samples a second: scipy.signal.resample_poly() with its usual filter (a sinc up to the
// lower of both halves of a rate, 10 zero crossings on each side under a Kaiser window of beta 5; zeros beyond both
// ends), in double. Pure functions, any thread.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/data/decode.h"

namespace loom {

inline constexpr int kLowestRate = 100, kHighestRate = 768'000;  // samples a second

// frames · to / from, rounded up.
std::int64_t framesAtRate(std::int64_t frames, int from, int to);
// `in`: frames x channels; `out`: framesAtRate() x channels, all of it written.
void resampleSound(std::span<const float> in, std::int64_t channels, int from, int to, std::vector<float>& out);
// The sample as that rate has it, where it is a sound of another; anything else stays. Throws DecodeError where it
// would be larger than a sample may be.
void bringToRate(Sample& sample, int rate);

// The rate to which the steps at the beginning of `prepare` bring the sounds of a variable before they are stored; 0:
// none does.
int rateBeforePacking(const std::string& variable, const std::vector<Json>& prepare);

}  // namespace loom

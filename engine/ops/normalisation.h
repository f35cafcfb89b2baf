#pragma once
// What an operation takes where the attribute is absent; and layers by default.
namespace loom::ops {

inline constexpr double kNormalisationEpsilon = 1e-5;
inline constexpr double kStatisticsMomentum = 0.9;  // the share of the running statistics that is kept

}  // namespace loom::ops

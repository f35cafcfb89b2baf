#pragma once
// How much of a drawing is drawn at which zoom (1 = 100 %): below kBare no words, from kFull on everything, from kRich
// on figures too.

namespace loom {

constexpr double kBare = 0.18, kBlock = 0.4, kFull = 0.7, kRich = 1.4;

}  // namespace loom

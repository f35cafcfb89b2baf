#pragma once
// What a run recorded of the layers of a drawing at one of its steps, as the cards show it: found by whoever reads the
// run, by the ids of the drawing; a unit's and a group's is of all that stands inside.
#include <QString>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "widgets/canvas/card_content.h"

namespace loom {

inline constexpr CostKind kRecordedKinds[] = {CostKind::gradientNorm, CostKind::updateRatio, CostKind::deadUnits,
                                              CostKind::activationRange};
inline constexpr std::size_t kRecorded = std::size(kRecordedKinds);
inline bool isRecorded(CostKind kind) {
  return kind >= CostKind::gradientNorm;
}
inline std::size_t recordedIndex(CostKind kind) {
  return static_cast<std::size_t>(kind) - static_cast<std::size_t>(CostKind::gradientNorm);
}

struct RecordedFigures {
  struct Node {
    std::array<double, kRecorded> values;  // NaN: the layer has none
    std::array<QString, kRecorded> cards;  // as they stand on a card: "0.013", "12 %", "−1.2 to 3.4"
    QString words;                         // all that was recorded, a line each
  };
  std::map<std::string, Node> nodes;
  std::array<double, kRecorded> largest{};  // over all steps and layers, so that a colour means the same at each step
  QString run;                              // who recorded; empty: nobody did
  std::int64_t step = 0;                    // that is shown
  std::vector<std::int64_t> steps;          // that were recorded, ascending
};

}  // namespace loom

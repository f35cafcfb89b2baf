#pragma once
// Five steps of colour over a cost of the cards, with bounds that can be read: of times and activations from the
// largest down, each a 1, 2 or 5 with its power of ten; of gradient norms powers of ten; of update ratios and dead
// units the same for every network. Colours: Palette::scale, which grow darker (or lighter) step by step, so no hue has
// to be told.
#include <QColor>
#include <QString>
#include <array>

#include "widgets/canvas/card_content.h"

namespace loom {

class Theme;

class CostScale {
 public:
  static constexpr int kSteps = 5;
  // What a card of no step is: it has no cost, or none is known.
  static constexpr int kNone = -1;
  // Kinds that colour the cards; the others have bars.
  static bool colours(CostKind kind) { return kind >= CostKind::measuredTime; }

  CostScale() = default;
  explicit CostScale(double largest);        // seconds; not above 0: no steps
  CostScale(CostKind kind, double largest);  // of a recorded kind: 0 is in the first step, NaN in none

  bool isEmpty() const { return m_bounds[0] <= 0; }
  int stepOf(double seconds) const;                                          // 0, the least, to 4
  const std::array<double, kSteps - 1>& bounds() const { return m_bounds; }  // a step begins at its bound
  QString unit() const;                                                      // of all bounds: "ms"; empty: none
  QString rangeText(int step) const;      // "1 – 2", without the unit; "< 0.5" and "≥ 5" at the ends
  QString rangeSentence(int step) const;  // "from 1 to 2 ms"
  bool operator==(const CostScale&) const = default;

 private:
  QString numberText(double seconds) const;
  std::array<double, kSteps - 1> m_bounds{};
  CostKind m_kind = CostKind::measuredTime;
};

// The ground of a step, and what is written or drawn on it. kNone: quiet.
QColor stepColour(const Theme& theme, int step);
QColor inkOnStep(const Theme& theme, int step);

}  // namespace loom

#pragma once
// Above a drawing: which figure of what runs recorded of their layers gives the nodes their colours, what the colours
// mean, and at which of the recorded steps.
#include <QWidget>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "widgets/canvas/cost_scale.h"

class QLabel;
class QSlider;

namespace loom {

class ChoiceField;
class LegendStep;

class RecordedTools : public QWidget {
  Q_OBJECT

 public:
  using Cards = std::array<int, CostScale::kSteps>;  // how many have a colour
  // `name` begins the names of the parts: "drawing-colour", "drawing-step". `without`: the words of a first choice in
  // which nothing is coloured; empty: there is none.
  explicit RecordedTools(const QString& name, const QString& without = {}, QWidget* parent = nullptr);
  std::optional<CostKind> kind() const;
  void setScale(const CostScale& scale, const Cards& cards);                  // of none there is no legend
  void setSteps(const std::vector<std::int64_t>& steps, std::int64_t shown);  // ascending

 Q_SIGNALS:
  void kindChosen();
  void stepChosen(std::int64_t step);

 private:
  ChoiceField* m_kind;
  std::vector<LegendStep*> m_legend;
  QSlider* m_slider;
  QLabel* m_at;
  std::vector<std::int64_t> m_steps;
};

}  // namespace loom

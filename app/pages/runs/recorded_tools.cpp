#include "app/pages/runs/recorded_tools.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>
#include <algorithm>

#include "widgets/canvas/cost_legend.h"
#include "widgets/canvas/recorded_figures.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

constexpr int kSliderWidth = 160;

}  // namespace

RecordedTools::RecordedTools(const QString& name, const QString& without, QWidget* parent) : QWidget(parent) {
  auto* const row = new FlowLayout(this, 12);
  m_kind = new ChoiceField;
  m_kind->setObjectName(name + "-colour");
  m_kind->setPrefix(tr("Colour by"));
  m_kind->setAccessibleName(tr("What the colours of the nodes are of"));
  if (!without.isEmpty()) m_kind->addItem(without);
  for (const CostKind each : kRecordedKinds) m_kind->addItem(costName(each), static_cast<int>(each));
  row->addWidget(m_kind);
  auto* const legend = new QWidget;
  auto* const beside = new QHBoxLayout(legend);
  beside->setContentsMargins(0, 0, 0, 0);
  beside->setSpacing(2);
  for (int step = 0; step < CostScale::kSteps; ++step) {
    m_legend.push_back(new LegendStep(step, legend));
    m_legend.back()->setFocusPolicy(Qt::NoFocus);
    m_legend.back()->setAttribute(Qt::WA_TransparentForMouseEvents);
    beside->addWidget(m_legend.back());
  }
  row->addWidget(legend);
  auto* const cursor = new QWidget;
  auto* const at = new QHBoxLayout(cursor);
  at->setContentsMargins(0, 0, 0, 0);
  at->setSpacing(8);
  m_slider = new QSlider(Qt::Horizontal);
  m_slider->setObjectName(name + "-step");
  m_slider->setAccessibleName(tr("Step of the run that the colours are of"));
  m_slider->setPageStep(10);
  m_slider->setFixedWidth(kSliderWidth);
  m_at = makeLabel("hint");
  at->addWidget(m_slider);
  at->addWidget(m_at);
  row->addWidget(cursor);
  setScale({}, {});
  setSteps({}, 0);
  connect(m_kind, &QComboBox::activated, this, &RecordedTools::kindChosen);
  connect(m_slider, &QSlider::valueChanged, this, [this](int index) {
    if (index >= 0 && index < static_cast<int>(m_steps.size()))
      Q_EMIT stepChosen(m_steps[static_cast<std::size_t>(index)]);
  });
}

std::optional<CostKind> RecordedTools::kind() const {
  const QVariant chosen = m_kind->currentData();
  return chosen.isValid() ? std::optional(static_cast<CostKind>(chosen.toInt())) : std::nullopt;
}

void RecordedTools::setScale(const CostScale& scale, const Cards& cards) {
  for (int step = 0; step < CostScale::kSteps; ++step) {
    LegendStep& each = *m_legend[static_cast<std::size_t>(step)];
    each.setVisible(!scale.isEmpty());
    if (!scale.isEmpty()) each.setScale(scale, cards[static_cast<std::size_t>(step)]);
  }
}

void RecordedTools::setSteps(const std::vector<std::int64_t>& steps, std::int64_t shown) {
  m_steps = steps;
  m_slider->setVisible(steps.size() > 1);
  const QSignalBlocker quiet(m_slider);
  m_slider->setRange(0, std::max(0, static_cast<int>(steps.size()) - 1));
  m_slider->setValue(static_cast<int>(std::lower_bound(steps.begin(), steps.end(), shown) - steps.begin()));
  m_at->setText(steps.empty() ? QString() : tr("step %L1 of %L2").arg(shown).arg(steps.back()));
}

}  // namespace loom

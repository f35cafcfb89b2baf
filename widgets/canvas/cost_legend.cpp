#include "widgets/canvas/cost_legend.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QSlider>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "widgets/canvas/network_view.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kPadding = 10, kSwatch = 12, kUnder = 5, kAcross = 12;

}  // namespace

LegendStep::LegendStep(int step, QWidget* parent) : QAbstractButton(parent), m_step(step) {
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  setAttribute(Qt::WA_Hover);
}

void LegendStep::setScale(const CostScale& scale, int cards) {
  const bool last = m_step == CostScale::kSteps - 1;
  setText(scale.rangeText(m_step) + (last && !scale.unit().isEmpty() ? QStringLiteral(" ") + scale.unit() : QString()));
  setAccessibleName(QObject::tr("%1: %2").arg(scale.rangeSentence(m_step), counted(cards, QObject::tr("cards"))));
  setToolTip(cards > 0 ? QObject::tr("%1; a click selects them").arg(accessibleName()) : accessibleName());
  updateGeometry();
  update();
}

QSize LegendStep::sizeHint() const {
  const QFontMetrics metrics(Theme::of(this).numberFont(FontRole::wireLabel));
  return {std::max(44, metrics.horizontalAdvance(text()) + kAcross), kSwatch + kUnder + metrics.height() + 4};
}

void LegendStep::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  if (underMouse()) painter.fillRect(rect(), theme.colour(Colour::hover));
  const QRectF swatch(1, 2, width() - 2, kSwatch);
  painter.fillRect(swatch, stepColour(theme, m_step));
  painter.setPen(theme.hairline(Colour::control));
  painter.drawRect(swatch.adjusted(0.5, 0.5, -0.5, -0.5));
  painter.setFont(theme.numberFont(FontRole::wireLabel));
  painter.setPen(theme.colour(Colour::text2));
  painter.drawText(QRectF(0, kSwatch + kUnder, width(), height() - kSwatch - kUnder), Qt::AlignHCenter | Qt::AlignTop,
                   text());
}

// A button would look for its neighbours by itself, also outside of the legend.
void LegendStep::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right) return event->ignore();
  QAbstractButton::keyPressEvent(event);
}

CostLegend::CostLegend(NetworkView& view) : QWidget(view.viewport()), m_view(view) {
  setAttribute(Qt::WA_NoMousePropagation);
  const int margin = shadowMargin(Elevation::menu) + kPadding;
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(margin, margin - 3, margin, margin - 3);
  column->setSpacing(5);
  m_title = new QLabel(this);
  setStyleProperty(m_title, "kind", QStringLiteral("hint"));
  column->addWidget(m_title);
  auto* row = new QHBoxLayout;
  row->setSpacing(2);
  for (int step = 0; step < CostScale::kSteps; ++step) {
    m_steps.push_back(new LegendStep(step, this));
    row->addWidget(m_steps.back());
    connect(m_steps.back(), &QAbstractButton::clicked, this, [this, step] { choose(step); });
  }
  column->addLayout(row);
  auto* cursor = new QHBoxLayout;
  cursor->setSpacing(8);
  m_slider = new QSlider(Qt::Horizontal, this);
  m_slider->setObjectName("recorded-step");
  m_slider->setAccessibleName(tr("Step of the run that the colours are of"));
  m_slider->setPageStep(10);
  m_at = new QLabel(this);
  setStyleProperty(m_at, "kind", QStringLiteral("hint"));
  cursor->addWidget(m_slider, 1);
  cursor->addWidget(m_at);
  column->addLayout(cursor);
  m_remedy = new Button(tr("Record layers..."), ButtonKind::link, this);
  m_remedy->setObjectName("record-layers");
  column->addWidget(m_remedy, 0, Qt::AlignLeft);
  connect(m_slider, &QSlider::valueChanged, this, [this](int index) {
    const std::vector<std::int64_t>& steps = m_view.networkScene().recorded().steps;
    if (index >= 0 && index < static_cast<int>(steps.size()))
      Q_EMIT m_view.networkScene().recordedStepWanted(steps[static_cast<std::size_t>(index)]);
  });
  connect(m_remedy, &Button::clicked, this, [this] { Q_EMIT m_view.networkScene().recordingWanted(); });
  NetworkScene& scene = view.networkScene();
  for (const auto signal : {&NetworkScene::costKindChanged, &NetworkScene::costsChanged, &NetworkScene::refreshed})
    connect(&scene, signal, this, &CostLegend::place);
  connect(&Theme::of(this), &Theme::changed, this, &CostLegend::place);
  hide();
}

void CostLegend::refresh() {
  const NetworkScene& scene = m_view.networkScene();
  const CostScale& scale = scene.costScale();
  std::array<int, CostScale::kSteps> cards{};
  scene.eachCard([&](const CardItem& card) {
    if (const int step = card.content().step.value_or(CostScale::kNone); step >= 0)
      ++cards[static_cast<std::size_t>(step)];
  });
  const QString run = QString::fromStdString(scene.costs().measuredBy);
  if (isRecorded(scene.costKind()))
    m_title->setText(scene.recorded().nodes.empty() ? tr("No run has recorded its layers: set Record layers, and train")
                     : scale.isEmpty()
                         ? tr("No layer of this drawing has any %1").arg(costName(scene.costKind()))
                         : tr("%1 at step %L2, %3")
                               .arg(costName(scene.costKind()).left(1).toUpper() + costName(scene.costKind()).mid(1))
                               .arg(scene.recorded().step)
                               .arg(scene.recorded().run));
  else
    m_title->setText(scale.isEmpty() ? tr("No run has measured this network: train it once")
                     : run.isEmpty() ? tr("Measured time of a step")
                                     : tr("Measured time of a step, %1").arg(run));
  setAccessibleName(m_title->text());
  for (int step = 0; step < CostScale::kSteps; ++step) {
    LegendStep& each = *m_steps[static_cast<std::size_t>(step)];
    each.setVisible(!scale.isEmpty());
    if (!scale.isEmpty()) each.setScale(scale, cards[static_cast<std::size_t>(step)]);
  }
}

void CostLegend::refreshRecorded() {
  const NetworkScene& scene = m_view.networkScene();
  const RecordedFigures& recorded = scene.recorded();
  const bool shown = isRecorded(scene.costKind());
  m_remedy->setVisible(shown && recorded.nodes.empty());
  const bool several = shown && recorded.steps.size() > 1;
  m_slider->setVisible(several);
  m_at->setVisible(several);
  if (!several) return;
  const QSignalBlocker quiet(m_slider);
  m_slider->setRange(0, static_cast<int>(recorded.steps.size()) - 1);
  const auto at = std::lower_bound(recorded.steps.begin(), recorded.steps.end(), recorded.step);
  m_slider->setValue(static_cast<int>(at - recorded.steps.begin()));
  m_at->setText(tr("step %L1 of %L2").arg(recorded.step).arg(recorded.steps.back()));
  // As wide for each of them.
  m_at->setMinimumWidth(m_at->fontMetrics().horizontalAdvance(
      tr("step %L1 of %L2").arg(recorded.steps.back()).arg(recorded.steps.back())));
}

void CostLegend::place() {
  const NetworkScene& scene = m_view.networkScene();
  const bool wanted = CostScale::colours(scene.costKind()) && !m_view.embedded() && !scene.network().nodes.empty();
  if (!wanted) return hide();
  refresh();
  refreshRecorded();
  layout()->activate();
  resize(sizeHint());
  const QRect room = m_view.viewport()->rect();
  const int margin = shadowMargin(Elevation::menu);
  move(12 - margin, room.bottom() - height() - 11 + margin);
  show();
  raise();
}

QRect CostLegend::card() const {
  const int margin = shadowMargin(Elevation::menu);
  return geometry().adjusted(margin, margin, -margin, -margin);
}

bool CostLegend::coversCards() const {
  return isVisible() && m_view.coversCards(card());
}

void CostLegend::choose(int step) {
  Picked picked;
  m_view.networkScene().eachCard([&](const CardItem& card) {
    if (card.content().step == step && m_view.networkScene().node(card.id()) != nullptr) picked.nodes.insert(card.id());
  });
  m_view.networkScene().pick(std::move(picked));
}

void CostLegend::keyPressEvent(QKeyEvent* event) {
  const int way = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (event->key() == Qt::Key_Escape) return m_view.setFocus(Qt::ShortcutFocusReason);
  constexpr int kAll = CostScale::kSteps;
  for (int i = 0; way != 0 && i < kAll; ++i)
    if (m_steps[static_cast<std::size_t>(i)]->hasFocus())
      return m_steps[static_cast<std::size_t>((i + way + kAll) % kAll)]->setFocus(Qt::TabFocusReason);
  QWidget::keyPressEvent(event);
}

void CostLegend::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const int margin = shadowMargin(Elevation::menu);
  const QRectF card = QRectF(rect()).adjusted(margin, margin, -margin, -margin);
  paintShadow(painter, card, theme.radius(Radius::card), Elevation::menu);
  painter.setPen(theme.hairline(Colour::lineStrong));
  painter.setBrush(theme.colour(Colour::raised));
  painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), theme.radius(Radius::card), theme.radius(Radius::card));
}

}  // namespace loom

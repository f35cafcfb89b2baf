#include "app/pages/network/inspector_parts.h"

#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/canvas/card_content.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/focus_keeper.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/wrapping_button.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr int kCostRow = 29, kShareWidth = 52;

void clearLayout(QLayout* layout) {
  while (QLayoutItem* item = layout->takeAt(0)) {
    if (item->layout() != nullptr) clearLayout(item->layout());
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();  // it may be the button that was just clicked
    }
    delete item;
  }
}

}  // namespace

LayerTile::LayerTile(QWidget* parent) : QWidget(parent) {
  setFixedSize(32, 32);
}

void LayerTile::setLayer(const QString& icon, const QString& category) {
  m_icon = icon;
  m_category = category;
  update();
}

void LayerTile::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor colour = theme.layerColour(m_category);
  QColor tint = colour;
  tint.setAlphaF(static_cast<float>(theme.categoryTint()));
  painter.setPen(Qt::NoPen);
  painter.setBrush(tint);
  painter.drawRoundedRect(rect(), 6, 6);
  paintIcon(painter, layerIcon(m_icon, m_category), QRectF(8, 8, 16, 16), colour);
}

bool costsKnown(const Network& network, const Analysis& analysis) {
  return std::all_of(network.nodes.begin(), network.nodes.end(), [&](const Node& node) {
    const auto facts = analysis.nodes.find(node.id);
    return facts != analysis.nodes.end() && facts->second.known;
  });
}

std::vector<CostRow> stepCostRows(const NetworkCosts& costs, const NodeCost& cost, bool shares) {
  if (costs.batch == 0) return {};
  const auto share = [&](double part, double whole) { return !shares ? -1 : whole > 0 ? part / whole : 0; };
  // What is kept by a neighbour, or in its place, takes no memory of its own.
  const auto bytes = [](double value) { return value > 0 ? formatBytes(value) : QStringLiteral("–"); };
  std::vector<CostRow> rows{
      {QObject::tr("Of a step at %L1").arg(costs.batch), {}, -1, {}, true},
      {QObject::tr("Activations"), bytes(cost.activations), share(cost.activations, costs.total.activations),
       QObject::tr("What the forward part keeps for the backward part. – where a neighbour keeps it, or it is computed "
                   "in the place of another.")},
      {shares ? QObject::tr("Memory") : QObject::tr("Memory of the layers"), bytes(cost.memory),
       share(cost.memory, costs.total.memory),
       QObject::tr("Activations, weights, gradients, slots of the optimizer and statistics. The strip below the canvas "
                   "has all that a step takes: working space and data besides.")},
      {QObject::tr("Time, predicted"), formatDuration(cost.seconds), share(cost.seconds, costs.total.seconds),
       QObject::tr("Of a step: forward, backward and the update of the weights.")}};
  if (costs.total.measured > 0)
    rows.push_back({QObject::tr("Time, measured"), formatDuration(cost.measured),
                    share(cost.measured, costs.total.measured), QObject::tr("The same, as a run measured it.")});
  return rows;
}

CostTable::CostTable(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void CostTable::setRows(std::vector<CostRow> rows) {
  const bool taller = rows.size() != m_rows.size();
  m_rows = std::move(rows);
  QStringList words;
  for (const CostRow& row : m_rows) words += row.label + QLatin1Char(' ') + row.value;
  setAccessibleName(words.join(QStringLiteral(", ")));
  if (taller) updateGeometry();
  update();
}

bool CostTable::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  const int row = help->pos().y() / kCostRow;
  const bool has = row >= 0 && row < static_cast<int>(m_rows.size());
  QToolTip::showText(help->globalPos(), has ? m_rows[static_cast<std::size_t>(row)].help : QString(), this,
                     QRect(0, row * kCostRow, width(), kCostRow));
  return true;
}

QSize CostTable::sizeHint() const {
  return {200, static_cast<int>(m_rows.size()) * kCostRow};
}

void CostTable::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  double y = 0;
  for (const CostRow& row : m_rows) {
    const QRectF line(0, y, width(), 20);
    if (row.heading) {
      painter.setFont(theme.font(FontRole::label));
      painter.setPen(theme.colour(Colour::text2));
      painter.drawText(line.adjusted(0, 4, 0, 4), Qt::AlignVCenter | Qt::AlignLeft, row.label);
      y += kCostRow;
      continue;
    }
    painter.setFont(theme.font(FontRole::body));
    painter.setPen(theme.colour(Colour::text2));
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, row.label);
    painter.setFont(Theme::withWeight(theme.numberFont(FontRole::body), 500));
    painter.setPen(theme.colour(row.value == QLatin1String("?") ? Colour::error : Colour::text));
    painter.drawText(line.adjusted(0, 0, row.share >= 0 ? -kShareWidth - 8 : 0, 0), Qt::AlignVCenter | Qt::AlignRight,
                     row.value);
    if (row.share >= 0) {
      painter.setFont(theme.numberFont(FontRole::label));
      painter.setPen(theme.colour(Colour::text3));
      painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, percentText(row.share));
      const QRectF track(0, y + 22, width(), 3);
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.colour(Colour::hover));
      painter.drawRoundedRect(track, 1.5, 1.5);
      painter.setBrush(theme.colour(Colour::text3));
      if (row.share > 0)
        painter.drawRoundedRect(
            QRectF(track.left(), track.top(), std::max(3.0, track.width() * std::min(1.0, row.share)), 3), 1.5, 1.5);
    }
    y += kCostRow;
  }
}

LinkRows::LinkRows(QWidget* parent) : QWidget(parent), m_column(new QVBoxLayout(this)) {
  m_column->setContentsMargins(0, 0, 0, 0);
  m_column->setSpacing(4);
}

void LinkRows::setRows(const std::vector<Row>& rows) {
  if (rows == m_rows) return;
  m_rows = rows;
  clearLayout(m_column);
  for (const Row& row : rows) {
    auto* line = new QHBoxLayout;
    line->setSpacing(8);
    auto* label = new QLabel(row.label, this);
    setStyleProperty(label, "kind", QStringLiteral("label"));
    keepWidth(label, 72);
    keepHeight(label, 20);
    line->addWidget(label, 0, Qt::AlignTop);
    auto* names = new QWidget(this);
    auto* flow = new FlowLayout(names, 4);
    if (row.nodes.empty()) {
      auto* none = new QLabel(QStringLiteral("–"), names);
      setStyleProperty(none, "kind", QStringLiteral("hint"));
      keepHeight(none, 20);
      flow->addWidget(none);
    }
    for (const std::string& node : row.nodes) {
      const QString id = QString::fromStdString(node);
      auto* link = new Button(id, ButtonKind::link, names);
      link->setAccessibleName(tr("Go to %1").arg(id));
      connect(link, &Button::clicked, this, [this, id] { Q_EMIT chosen(id); });
      keepHeight(link, 20);
      flow->addWidget(link);
    }
    line->addWidget(names, 1);
    m_column->addLayout(line);
  }
}

ProblemLines::ProblemLines(QWidget* parent) : QWidget(parent), m_column(new QVBoxLayout(this)) {
  m_column->setContentsMargins(16, 10, 16, 10);
  m_column->setSpacing(6);
}

void ProblemLines::setProblems(const std::vector<Problem>& problems) {
  const auto same = [](const Problem& a, const Problem& b) {
    return a.message == b.message && a.remedy.label == b.remedy.label && a.severity == b.severity;
  };
  const FocusKeeper keeper(*this, m_otherwise);
  setVisible(!problems.empty());
  if (std::equal(problems.begin(), problems.end(), m_problems.begin(), m_problems.end(), same)) return;
  m_problems = problems;
  clearLayout(m_column);
  for (const Problem& problem : problems) {
    const bool error = problem.severity == Severity::error;
    auto* line = new QHBoxLayout;
    line->setSpacing(8);
    line->addWidget(new IconLabel(error ? QStringLiteral("status-failed") : QStringLiteral("status-warning"),
                                  error ? Colour::error : Colour::warning, 14, this),
                    0, Qt::AlignTop);
    auto* words = new QLabel(QString::fromStdString(problem.message), this);
    words->setWordWrap(true);
    setStyleProperty(words, "kind", error ? QStringLiteral("error") : QStringLiteral("warning"));
    line->addWidget(words, 1);
    m_column->addLayout(line);
    if (problem.remedy.kind == Remedy::Kind::none) continue;
    auto* mend = new WrappingButton(QString::fromStdString(problem.remedy.label), ButtonKind::tinted, this);
    connect(mend, &Button::clicked, this, [this, problem] { Q_EMIT remedyChosen(problem); });
    m_column->addWidget(mend, 0, Qt::AlignLeft);
    mend->show();
  }
}

}  // namespace loom

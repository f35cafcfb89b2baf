#include "app/pages/training/run_time.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/run_hosts.h"
#include "app/workspace.h"
#include "engine/network/project.h"
#include "launcher/store/run_store.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

enum Column { kName, kBar, kMeasured, kShare, kPredicted, kColumns };
constexpr int kShareRole = Qt::UserRole, kPredictedRole = Qt::UserRole + 1, kLayerRole = Qt::UserRole + 2;
constexpr int kComputeCurve = 8;  // teal: what time of computing has in every chart
constexpr double kBarHeight = 8;

// The measured time as a bar from the left, the predicted one as a stroke across it; both as parts of the longest.
class BarDelegate : public QStyledItemDelegate {
 public:
  BarDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), m_theme(theme) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    const QRectF room = QRectF(option.rect).adjusted(8, 0, -8, 0);
    const double top = room.center().y() - kBarHeight / 2;
    const auto at = [&](int role) { return std::clamp(index.data(role).toDouble(), 0.0, 1.0) * room.width(); };
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(m_theme.curveColour(kComputeCurve));
    painter->drawRoundedRect(QRectF(room.left(), top, std::max(1.0, at(kShareRole)), kBarHeight), 2, 2);
    if (index.data(kPredictedRole).toDouble() >= 0) {
      painter->setBrush(m_theme.colour(Colour::text));
      painter->drawRect(QRectF(room.left() + at(kPredictedRole) - 1, top - 4, 2, kBarHeight + 8));
    }
    painter->restore();
  }

 private:
  const Theme& m_theme;
};

double predictedOf(const std::optional<MeasuredStep::Predicted>& predicted,
                   const MeasuredStep::Seconds MeasuredStep::Predicted::*all, const std::string& name) {
  if (!predicted) return -1;
  const auto found = ((*predicted).*all).find(name);
  return found == ((*predicted).*all).end() ? -1 : found->second;
}

}  // namespace

RunTime::RunTime(AppContext& context, QWidget* parent) : QStackedWidget(parent), m_context(context) {
  const Theme& theme = *context.theme;
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(20, 14, 20, 12);
  column->setSpacing(8);
  auto* row = new QHBoxLayout;
  row->setSpacing(12);
  m_title = makeLabel("heading");
  m_title->setObjectName("time-title");
  m_by = new SegmentedControl({tr("Layers"), tr("Operations")});
  m_by->setObjectName("time-by");
  m_by->setAccessibleName(tr("What the step's time is divided by"));
  m_canvas = new Button("network", tr("Show on canvas"), ButtonKind::outlined);
  m_canvas->setObjectName("time-on-canvas");
  m_canvas->setToolTip(tr("Measured time on the cards of the network"));
  row->addWidget(m_title, 1);
  row->addWidget(m_by);
  row->addWidget(m_canvas);
  column->addLayout(row);
  m_detail = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_detail->setObjectName("time-detail");
  column->addWidget(m_detail);
  m_table = new QTableWidget(0, kColumns);
  m_table->setObjectName("time-table");
  m_table->setHorizontalHeaderLabels({{}, {}, tr("Measured"), tr("Share"), tr("Predicted")});
  m_table->verticalHeader()->hide();
  m_table->verticalHeader()->setDefaultSectionSize(26);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  m_table->horizontalHeader()->setSectionResizeMode(kBar, QHeaderView::Stretch);
  m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
  m_table->setItemDelegateForColumn(kBar, new BarDelegate(theme, m_table));
  m_table->setShowGrid(false);
  m_table->setFrameShape(QFrame::NoFrame);
  m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  column->addWidget(m_table, 1);
  addWidget(page);
  m_empty = new EmptyState(Figure::table, {});
  m_empty->setObjectName("time-empty");
  addWidget(m_empty);
  connect(m_by, &SegmentedControl::currentChanged, this, &RunTime::fill);
  connect(m_canvas, &Button::clicked, this, &RunTime::showOnCanvas);
  connect(m_table, &QTableWidget::cellActivated, this, &RunTime::open);
  connect(context.theme, &Theme::changed, this, &RunTime::fill);
  setRun({});
}

void RunTime::setRun(const QString& id) {
  m_run = id;
  display(m_context.store->find(m_run) ? measuredStep(*m_context.store, m_run) : std::nullopt);
}

void RunTime::setByOperation(bool byOperation) {
  m_by->setCurrent(byOperation ? 1 : 0);
}
bool RunTime::byOperation() const {
  return m_by->current() == 1;
}
bool RunTime::dividedByOperation() const {
  return byOperation() && !m_step->operations.empty();
}

void RunTime::refresh() {
  if (!m_context.store->find(m_run)) return display({});
  auto newest = measuredStep(*m_context.store, m_run, EventsRead::newest);
  display(newest ? std::move(newest) : m_step);
}

void RunTime::display(std::optional<MeasuredStep> step) {
  m_step = std::move(step);
  const RunRecord* const run = m_context.store->find(m_run);
  setCurrentIndex(m_step ? 0 : 1);
  if (m_step) return fill();
  m_empty->setSentence(
      !run ? tr("No run yet. Train starts one, and shows here where the time of its steps goes.")
      : isLive(run->state) || run->state == RunState::queued
          ? tr("The time of each layer is measured in steps 4 to 8, and stands here then. A GPU tells none.")
          : tr("This run measured no layers: it had fewer than 4 steps, ran on a GPU, or is of an older version."));
}

QList<RunTime::Row> RunTime::rows() const {
  QList<Row> rows;
  const auto& predicted = m_step->predicted;
  if (dividedByOperation()) {
    for (const auto& [name, seconds] : m_step->operations)
      rows.append({QString::fromStdString(name), seconds,
                   predictedOf(predicted, &MeasuredStep::Predicted::operations, name), false});
  } else {
    for (const auto& [name, seconds] : m_step->layers)
      rows.append({QString::fromStdString(name), seconds,
                   predictedOf(predicted, &MeasuredStep::Predicted::layers, name), true});
    if (m_step->update > 0)
      rows.append({tr("Update of the weights"), m_step->update, predicted ? predicted->update : -1, false});
  }
  // Between stages: waiting for the other threads and for data, packing weights.
  if (m_step->step > m_step->computed())
    rows.append({tr("Between stages"), m_step->step - m_step->computed(), -1, false});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.measured > b.measured; });
  return rows;
}

void RunTime::fill() {
  if (!m_step) return;
  const Theme& theme = *m_context.theme;
  m_by->setEnabled(!m_step->operations.empty());
  const QList<Row> all = rows();
  const double whole = std::max(m_step->step, m_step->computed());
  double longest = 0;
  for (const Row& each : all) longest = std::max({longest, each.measured, each.predicted});
  double predicted = m_step->predicted ? m_step->predicted->update : 0;
  if (m_step->predicted)
    for (const auto& [layer, seconds] : m_step->predicted->layers) predicted += seconds;
  m_title->setText(predicted > 0
                       ? tr("A step takes %1, predicted %2").arg(formatDuration(whole), formatDuration(predicted))
                       : tr("A step takes %1").arg(formatDuration(whole)));
  const RunRecord* const run = m_context.store->find(m_run);
  const QString host = run ? m_context.runHosts->hostOf(*run) : QString();
  QString detail = tr("Mean of %1 up to step %2, on %3")
                       .arg(counted(m_step->steps, tr("steps")))
                       .arg(m_step->lastStep)
                       .arg(host.isEmpty() ? tr("this machine") : m_context.workspace->hostName(host));
  if (m_step->predicted && !m_step->predicted->from.isEmpty())
    detail += tr("; predicted %1").arg(m_step->predicted->from);
  m_detail->setText(detail);
  const QString chosen = m_table->currentRow() >= 0 ? m_table->item(m_table->currentRow(), kName)->text() : QString();
  m_table->setAccessibleName(dividedByOperation() ? tr("Time of a step by operation") : tr("Time of a step by layer"));
  m_table->setHorizontalHeaderItem(kName, new QTableWidgetItem(dividedByOperation() ? tr("Operation") : tr("Layer")));
  m_table->horizontalHeaderItem(kName)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  m_table->setColumnHidden(kPredicted, !m_step->predicted);
  m_table->setRowCount(static_cast<int>(all.size()));
  for (int i = 0; i < all.size(); ++i) {
    const Row& each = all[i];
    const QString texts[] = {each.name,
                             {},
                             formatDuration(each.measured),
                             formatPercent(each.measured / whole, 1),
                             each.predicted < 0 ? QStringLiteral("–") : formatDuration(each.predicted)};
    for (int c = 0; c < kColumns; ++c) {
      auto* item = new QTableWidgetItem(texts[c]);
      if (c > kBar) {
        item->setFont(theme.numberFont(FontRole::label));
        item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        if (c == kPredicted) item->setForeground(theme.colour(Colour::text3));
      }
      m_table->setItem(i, c, item);
    }
    m_table->item(i, kName)->setData(kLayerRole, each.isLayer);
    if (each.isLayer) m_table->item(i, kName)->setToolTip(tr("Enter shows it on the canvas"));
    m_table->item(i, kBar)->setData(kShareRole, each.measured / longest);
    m_table->item(i, kBar)->setData(kPredictedRole, each.predicted < 0 ? -1.0 : each.predicted / longest);
    if (each.name == chosen) m_table->setCurrentCell(i, kName);
  }
  m_canvas->setEnabled(m_context.document != nullptr);
}

void RunTime::showOnCanvas() {
  if (!m_step || m_context.document == nullptr) return;
  m_context.workspace->setCurrentRun(m_run);
  m_context.go({.page = "network"});
  if (QAction* measured = m_context.commands->find("network.measured-time")) measured->trigger();
}

// The card of a layer; of one inside of a unit that of the unit's node.
void RunTime::open(int row) {
  const QTableWidgetItem* item = m_table->item(row, kName);
  if (!item || !item->data(kLayerRole).toBool() || m_context.document == nullptr) return;
  const std::string node = item->text().section('/', 0, 0).toStdString();
  for (const Network& network : m_context.document->project().networks)
    if (network.find(node)) {
      showOnCanvas();
      m_context.go(
          {.page = "network", .network = QString::fromStdString(network.name), .node = QString::fromStdString(node)});
      return;
    }
}

}  // namespace loom

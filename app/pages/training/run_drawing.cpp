#include "app/pages/training/run_drawing.h"

#include <QDir>
#include <QSaveFile>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/layer_records.h"
#include "app/pages/network/recorded_colours.h"
#include "app/pages/network/step_forecast.h"
#include "app/pages/runs/overlay_view.h"
#include "app/pages/runs/recorded_tools.h"
#include "launcher/store/run_store.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

QString capital(const QString& words) {
  return words.left(1).toUpper() + words.mid(1);
}

std::string trainedName(const Project& project) {
  return project.training.updates.empty() ? "main" : project.training.updates.front().network;
}

}  // namespace

RunDrawing::RunDrawing(AppContext& context, LayerRecords& records, QWidget* parent)
    : QWidget(parent), m_context(context), m_records(records) {
  setObjectName("run-drawing");
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  m_tools = new RecordedTools("drawing");
  column->addWidget(m_tools);
  m_view = new OverlayView;
  m_view->setObjectName("drawing-view");
  column->addWidget(m_view, 1);
  connect(m_tools, &RecordedTools::kindChosen, this, &RunDrawing::colour);
  connect(m_tools, &RecordedTools::stepChosen, &m_records, &LayerRecords::setStep);
  connect(&m_records, &LayerRecords::changed, this, &RunDrawing::colour);
  connect(&m_records, &LayerRecords::stepChanged, this, &RunDrawing::colour);
}

void RunDrawing::setRun(const QString& id) {
  m_run = id;
  if (isVisible()) read();
}

void RunDrawing::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  read();
}

CostKind RunDrawing::kind() const {
  return m_tools->kind().value_or(kRecordedKinds[0]);
}

void RunDrawing::read() {
  if (m_read == m_run) return colour();
  m_read = m_run;
  m_project.reset();
  m_view->setFigures({}, {});
  const RunRecord* const run = m_context.store->find(m_run);
  if (!run) return;
  m_view->setMessage(tr("Reading the drawing of %1").arg(run->name));
  m_reading.ask([this, folder = run->folder](const std::atomic<bool>&) -> NewestTask::Answer {
    std::shared_ptr<const Project> project;
    DrawingOverlay overlay;
    QString fault;
    try {
      project = std::make_shared<const Project>(projectOfRun(folder));
      overlay = overlayOf(*project, *project);
    } catch (const std::exception& error) {
      fault = QString::fromUtf8(error.what());
    }
    return [this, project, overlay = std::move(overlay), fault] {
      if (!fault.isEmpty()) return m_view->setMessage(tr("The run's drawing cannot be shown: %1").arg(fault));
      m_project = project;
      m_view->setOverlay(overlay);
      colour();
    };
  });
}

void RunDrawing::colour() {
  const RunRecord* const run = m_context.store->find(m_run);
  if (!m_project || !run || m_records.run() != m_run || !isVisible()) return;
  m_figures = recordedFiguresOf(*m_project, {.drawing = trainedName(*m_project), .through = {}}, m_records, run->name);
  const std::size_t of = recordedIndex(kind());
  const CostScale scale(kind(), m_figures.largest[of]);
  RecordedTools::Cards cards{};
  QHash<QString, NodeFigure> figures;
  for (const auto& [id, node] : m_figures.nodes) {
    const int step = scale.stepOf(node.values[of]);
    if (step >= 0) ++cards[static_cast<std::size_t>(step)];
    figures[QString::fromStdString(id)] = {step, node.cards[of], node.words};
  }
  m_view->setFigures(std::move(figures),
                     scale.isEmpty()
                         ? tr("No layer of this run has any %1").arg(costName(kind()))
                         : tr("%1 at step %L2, %3").arg(capital(costName(kind()))).arg(m_figures.step).arg(run->name));
  m_tools->setScale(scale, cards);
  m_tools->setSteps(m_figures.steps, m_figures.step);
}

QString RunDrawing::fileName() const {
  return QStringLiteral("drawing-%1-step-%2").arg(costName(kind()).replace(' ', '-')).arg(m_figures.step);
}

bool RunDrawing::saveTo(const QString& folder) const {
  QByteArray text = "node";
  for (const CostKind each : kRecordedKinds) text += ',' + costName(each).replace(' ', '_').toUtf8();
  text += '\n';
  for (const auto& [id, node] : m_figures.nodes) {
    text += QByteArray::fromStdString(id);
    for (const double value : node.values)
      text += ',' + (std::isnan(value) ? QByteArray() : QByteArray::number(value, 'g', 9));
    text += '\n';
  }
  QSaveFile table(QDir(folder).filePath(fileName() + ".csv"));
  if (!table.open(QIODevice::WriteOnly) || table.write(text) != text.size() || !table.commit()) return false;
  const Theme::LightColours light(Theme::of(this));
  return m_view->grab().save(QDir(folder).filePath(fileName() + ".png"));
}

}  // namespace loom

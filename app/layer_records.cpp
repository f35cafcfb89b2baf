#include "app/layer_records.h"

#include <algorithm>
#include <limits>

#include "app/workspace.h"

namespace loom {
namespace {

constexpr int kReadAgainMs = 500;

}  // namespace

const RecordedStep* recordedAt(const std::vector<RecordedStep>& steps, std::int64_t step) {
  if (steps.empty()) return nullptr;
  const auto behind = std::upper_bound(steps.begin(), steps.end(), step,
                                       [](std::int64_t at, const RecordedStep& each) { return at < each.step; });
  return behind == steps.begin() ? &*behind : &*std::prev(behind);
}

LayerRecords& LayerRecords::of(Workspace& workspace) {
  if (auto* const known = workspace.findChild<LayerRecords*>(QString(), Qt::FindDirectChildrenOnly)) return *known;
  return *new LayerRecords(workspace);
}

LayerRecords::LayerRecords(Workspace& workspace) : QObject(&workspace), m_workspace(workspace) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(kReadAgainMs);
  connect(&m_soon, &QTimer::timeout, this, &LayerRecords::read);
  connect(&workspace.store(), &RunStore::pointsAdded, this, [this](const QString& id) {
    if (id == m_run && !m_soon.isActive()) m_soon.start();
  });
  connect(&workspace, &Workspace::projectClosing, this, [this] { watch({}); });
}

bool LayerRecords::records(const RunRecord& run) {
  const auto every = run.settings.find("record_layers");
  return every != run.settings.end() && every->is_number() && every->get<double>() > 0;
}

QString LayerRecords::runToShow() const {
  const QString current = m_workspace.currentRun();
  if (const RunRecord* const run = m_workspace.store().find(current); run && records(*run)) return current;
  QString newest;
  m_workspace.forEachRun([&](const RunRecord& run) {
    if (records(run)) newest = run.id;
  });
  return newest;
}

void LayerRecords::watch(const QString& run) {
  if (run == m_run) return;
  m_run = run;
  m_step = -1;
  m_task.forget();
  m_reader.reset();
  const bool had = !m_steps->empty();
  m_steps = std::make_shared<std::vector<RecordedStep>>();
  if (const RunRecord* const record = m_workspace.store().find(run)) {
    m_reader = std::make_shared<RecordedSteps>(RunFolder{record->folder.toStdString()}.eventsFile());
    read();
  }
  if (had) Q_EMIT changed();
}

void LayerRecords::read() {
  if (!m_reader) return;
  m_task.ask([this, reader = m_reader](const std::atomic<bool>&) -> NewestTask::Answer {
    if (!reader->read()) return {};
    auto steps = std::make_shared<const std::vector<RecordedStep>>(reader->steps());
    return [this, reader, steps = std::move(steps)] {
      if (reader != m_reader) return;
      m_steps = steps;
      Q_EMIT changed();
    };
  });
}

const RecordedStep* LayerRecords::shown() const {
  return recordedAt(*m_steps, m_step < 0 ? std::numeric_limits<std::int64_t>::max() : m_step);
}

void LayerRecords::setStep(std::int64_t step) {
  const RecordedStep* const before = shown();
  m_step = !m_steps->empty() && step >= m_steps->back().step ? -1 : std::max<std::int64_t>(step, 0);
  if (shown() != before) Q_EMIT stepChanged();
}

}  // namespace loom

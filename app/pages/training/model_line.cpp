#include "app/pages/training/model_line.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLabel>
#include <QMenu>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "app/attempt.h"
#include "app/run_hosts.h"
#include "app/trained_runs.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "launcher/launcher.h"
#include "launcher/remote/models.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kGap = 10;

// "step-00000128.safetensors" -> 128; -1 where the name says none.
std::int64_t stepOfCheckpoint(const QString& path) {
  static const QRegularExpression kStep("step-(\\d+)\\.");
  const auto found = kStep.match(QFileInfo(path).fileName());
  return found.hasMatch() ? found.captured(1).toLongLong() : -1;
}

}  // namespace

ModelLine::ModelLine(AppContext& context, QWidget* parent) : QWidget(parent), m_context(context) {
  setObjectName("model-line");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(19, 0, 20, 0);
  column->setSpacing(3);
  // All that may be done with the model of a stopped run on a host is wider than the column.
  auto* head = new QWidget;
  auto* row = new FlowLayout(head, kGap);
  m_title = new QLabel;
  m_title->setProperty("kind", "section");
  m_fetch = new Button(tr("Fetch"), ButtonKind::link);
  m_fetch->setObjectName("fetch-model");
  // Where there is nothing to choose, it says where.
  m_resumeHere = new Button(tr("Resume here"), ButtonKind::link);
  m_resumeHere->setObjectName("resume-here");
  m_resumeHere->setToolTip(
      tr("Brings its newest checkpoint and goes on from it on this machine; the run is this machine's from then on"));
  m_resumeOn = new Button(tr("Resume on…"), ButtonKind::link);
  m_resumeOn->setObjectName("resume-on");
  m_resumeOn->setToolTip(
      tr("Brings its newest checkpoint to another machine and goes on from it there; the run is that machine's from "
         "then on"));
  m_copy = new Button(tr("Copy path"), ButtonKind::link);
  m_copy->setObjectName("copy-model-path");
  m_show = new Button(tr("Show folder"), ButtonKind::link);
  m_title->setMinimumHeight(m_copy->sizeHint().height());  // of the row, whichever of these are shown
  row->addWidget(m_title);
  for (Button* each : {m_fetch, m_resumeHere, m_resumeOn, m_copy, m_show}) row->addWidget(each);
  column->addWidget(head);
  m_place = new QLabel;
  m_place->setProperty("kind", "hint");
  m_place->setObjectName("model-place");
  m_place->setTextFormat(Qt::PlainText);
  m_place->setWordWrap(true);
  column->addWidget(m_place);
  connect(m_fetch, &Button::clicked, this, [this] {
    m_fault.clear();
    try {
      m_context.models->fetch(m_run);
    } catch (const Error& error) {
      m_fault = QString::fromStdString(error.message());
    }
    refresh(m_run);
  });
  connect(m_resumeHere, &Button::clicked, this, [this] { resumeOn({}); });
  connect(m_resumeOn, &Button::clicked, this, &ModelLine::chooseWhere);
  connect(context.models, &Models::fetched, this, [this](const QString& id) {
    if (id != m_resumes) return;
    m_resumes.clear();
    const QString fault = attempt([&] { m_context.launcher->resumeOn(id, m_goesTo); });
    if (id != m_run) return;
    m_fault = fault;
    refresh(id);
  });
  // A better checkpoint may have taken the place of the shown one since: what is copied is what is there now.
  connect(m_copy, &Button::clicked, this, [this] {
    refresh(m_run);
    QGuiApplication::clipboard()->setText(m_path);
  });
  connect(m_show, &Button::clicked, this, [this] {
    refresh(m_run);
    QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(m_path).absolutePath()));
  });
  connect(context.models, &Models::changed, this, [this](const QString& id) {
    if (id == m_run && isVisible()) refresh(id);
  });
  connect(context.models, &Models::failed, this, [this](const QString& id, const QString& sentence) {
    if (id == m_resumes) m_resumes.clear();
    if (id != m_run) return;
    m_fault = sentence;
    refresh(id);
  });
}

void ModelLine::chooseWhere() {
  const RunRecord* const run = m_context.store->find(m_run);
  if (!run) return;
  const QString ran = m_context.runHosts->hostOf(*run);
  auto* menu = new QMenu(this);
  menu->setObjectName("resume-places");
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const auto offer = [&](const QString& host) {
    if (host != ran)
      menu->addAction(m_context.workspace->hostName(host), this, [this, host, id = m_run] {
        if (id == m_run) resumeOn(host);
      });
  };
  offer({});
  for (const Host& each : m_context.hosts->store().hosts()) offer(each.id);
  menu->popup(m_resumeOn->mapToGlobal(QPoint(0, m_resumeOn->height())));
}

void ModelLine::resumeOn(const QString& host) {
  m_fault = attempt([&] {
    const RunRecord* const run = m_context.store->find(m_run);
    const bool isHere = run && m_context.runHosts->hostOf(*run).isEmpty();
    if (isHere || m_context.models->newestIsHere(m_run)) return m_context.launcher->resumeOn(m_run, host);
    m_context.models->fetch(m_run, Models::Which::newest);
    m_resumes = m_run;
    m_goesTo = host;
  });
  refresh(m_run);
}

void ModelLine::refresh(const QString& run) {
  if (run != m_run) m_fault.clear();
  m_run = run;
  const Models& models = *m_context.models;
  const ModelPlace place = models.place(run);
  const bool here = !place.here.isEmpty();
  m_path = here ? place.here : place.there;
  m_bestStep = place.best && !place.isNowhere() ? stepOfCheckpoint(m_path) : -1;
  const RunRecord* const record = m_context.store->find(run);
  // What a run will have keeps its room from the start: nothing moves under the pointer when it comes.
  const bool comes = place.isNowhere() && record && (isLive(record->state) || record->state == RunState::queued);
  setVisible(comes || !place.isNowhere());
  if (isHidden()) return;
  // While the weights of a better value are still to be written, these are those of an earlier step.
  const bool behind =
      m_bestStep >= 0 && record && isLive(record->state) && record->metricOfValidation && record->bestStep > m_bestStep;
  m_title->setText(place.best ? tr("Best model") : tr("Model"));
  QString text =
      comes    ? tr("Comes with the first checkpoint")
      : behind ? tr("still of step %1, %2").arg(formatCount(static_cast<double>(m_bestStep)), models.sentence(run))
               : models.sentence(run);
  const bool fetching = models.isFetching(run);
  if (fetching)
    text = models.share(run) < 0 ? tr("Is being fetched")
                                 : tr("Is being fetched: %1 %").arg(std::floor(models.share(run) * 100));
  else if (!m_fault.isEmpty())
    text = m_fault;
  // A path may break behind each of its parts.
  m_place->setText(text.replace('/', QStringLiteral("/\u200b")));
  m_place->setToolTip(m_path);
  m_place->setProperty("kind", m_fault.isEmpty() || fetching ? "hint" : "error");
  setStyleProperty(m_place, "kind", m_place->property("kind"));
  m_fetch->setVisible(!fetching && models.mayFetch(run));
  const bool mayGoOn = !fetching && record && mayResume(*record, models);
  const QString ran = record ? m_context.runHosts->hostOf(*record) : QString();
  const auto& hosts = m_context.hosts->store().hosts();
  const bool chooses = std::any_of(hosts.begin(), hosts.end(), [&](const Host& each) { return each.id != ran; });
  m_resumeHere->setVisible(mayGoOn && !chooses && !ran.isEmpty());
  m_resumeOn->setVisible(mayGoOn && chooses);
  m_copy->setVisible(!fetching && !comes);
  m_show->setVisible(here && !fetching);
}

}  // namespace loom

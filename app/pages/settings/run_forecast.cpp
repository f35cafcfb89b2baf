#include "app/pages/settings/run_forecast.h"

#include <QCryptographicHash>
#include <algorithm>
#include <cmath>

#include "app/measured_sums.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "engine/comm/reductions/reduction.h"
#include "launcher/hosts/host_store.h"
#include "widgets/chart/format.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

constexpr int kSoonMs = 300;         // behind the last keystroke
constexpr qsizetype kAnswers = 64;   // kept
constexpr std::size_t kPoints = 64;  // of a curve

double numberAt(const Json& point, const char* key) {
  const auto found = point.is_object() ? point.find(key) : point.end();
  if (!point.is_object() || found == point.end() || !found->is_number()) return 0;
  const double value = found->get<double>();
  return std::isfinite(value) && value > 0 ? value : 0;
}

std::optional<ForecastPoint> pointOf(const Json& told) {
  ForecastPoint point{.ranks = static_cast<int>(std::clamp(numberAt(told, "ranks"), 1.0, 1e6)),
                      .batch = numberAt(told, "batch"),
                      .step = numberAt(told, "step"),
                      .samplesPerSecond = numberAt(told, "samples_per_second"),
                      .efficiency = std::min(numberAt(told, "efficiency"), 1.0),
                      .reduction = {}};
  if (!(point.step > 0)) return {};
  const auto by = told.find("reduction");
  if (by != told.end() && by->is_string())
    if (const ReductionDefinition* row = findReduction(by->get<std::string>()))
      point.reduction = QString::fromStdString(row->entry.label);
  return point;
}

// What changes neither a step nor an exchange: a keystroke there asks nothing anew.
constexpr const char* kBesides[] = {"epochs",           "max_steps", "seed",     "validate_every",
                                    "checkpoint_every", "monitor",   "patience", "base_batch",
                                    "rate_scaling",     "shuffle",   "batch_at", "batch_then"};

}  // namespace

QStringList hostArguments(Workspace& workspace) {
  const Host* host = workspace.hosts().find(workspace.host());
  const int ranks = std::max(1, workspace.mostRanks(workspace.host()));
  int perHost = 0;
  if (host && host->kind == HostKind::slurm)
    perHost = host->slurm.ranksPerNode;
  else if (host && host->places.size() > 1)
    perHost = std::max(1, host->places.front().ranks);
  return QStringList{QStringLiteral("--host"),     host ? host->name : QStringLiteral("local"),
                     QStringLiteral("--ranks"),    QString::number(ranks),
                     QStringLiteral("--per-host"), QString::number(perHost)} +
         linkArguments(workspace.preferences(), workspace.host(), host);
}

RunForecast::RunForecast(ProjectDocument& document, Workspace& workspace, QObject* parent)
    : QObject(parent), m_document(document), m_workspace(workspace) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(kSoonMs);
  connect(&m_soon, &QTimer::timeout, this, &RunForecast::ask);
  connect(&m_call, &ProjectCall::answered, this, &RunForecast::take);
  connect(&m_call, &ProjectCall::refused, this, [this](const QString& sentence) {
    m_refusals[m_asked] = sentence;
    if (m_asked == m_key) m_refusal = sentence;
    Q_EMIT changed();
  });
}

QStringList RunForecast::arguments() const {
  // Steps of an epoch are the page's to count: what is asked does not depend on them, and no table is read for it.
  return hostArguments(m_workspace) + QStringList{QStringLiteral("--scaling"),
                                                  QStringLiteral("--samples"),
                                                  QStringLiteral("1"),
                                                  QStringLiteral("--now"),
                                                  QString::number(m_ranks),
                                                  QStringLiteral("--trained-on"),
                                                  QString::number(std::min<qint64>(m_ranks, m_workspace.ranks()))};
}

QByteArray RunForecast::keyOf() const {
  Project project = m_document.project();
  for (auto* drawings : {&project.networks, &project.units})
    for (Network& drawing : *drawings)
      for (Node& node : drawing.nodes) node.x = node.y = 0, node.placed = false;
  project.notes.clear();
  project.datasets.clear();
  for (UpdateSpec& update : project.training.updates) {
    update.schedule = update.warmup = nullptr;
    if (update.optimizer.is_object()) update.optimizer.erase("learning_rate");
  }
  if (project.training.settings.is_object())
    for (const char* key : kBesides) project.training.settings.erase(key);
  QCryptographicHash hash(QCryptographicHash::Sha1);
  hash.addData(QByteArray::fromStdString(writeProject(project)));
  hash.addData(arguments().join('\n').toUtf8());
  return hash.result().toHex();
}

void RunForecast::refresh(qint64 ranks, qint64 steps) {
  m_ranks = std::max<qint64>(1, ranks);
  m_steps = std::max<qint64>(0, steps);
  m_virtual = m_ranks > m_workspace.ranks();
  if (m_document.isBlank()) {
    m_soon.stop();
    m_call.cancel();
    m_known = {};
    m_key.clear();
    m_refusal.clear();
    Q_EMIT changed();
    return;
  }
  m_key = keyOf();
  m_refusal = m_refusals.value(m_key);
  if (const auto known = m_answers.constFind(m_key); known != m_answers.constEnd()) {
    m_soon.stop();
    m_call.cancel();
    if (m_known.key != m_key) m_known = answerOf(m_key, *known);
  } else if (m_refusal.isEmpty() && !(m_call.runs() && m_asked == m_key)) {
    m_soon.start();
  }
  Q_EMIT changed();
}

void RunForecast::ask() {
  m_asked = m_key;
  m_call.start(QStringLiteral("advise"), m_document.project(), m_document.folder(), arguments());
  Q_EMIT changed();
}

void RunForecast::take(const Json& last) {
  Answer answer = answerOf(m_asked, last);
  if (!answer.curve.empty()) {
    m_answers[m_asked] = last;
    m_order.removeAll(m_asked);
    m_order.append(m_asked);
    while (m_order.size() > kAnswers) m_answers.remove(m_order.takeFirst());
  }
  if (m_asked == m_key) m_known = std::move(answer);
  Q_EMIT changed();
}

RunForecast::Answer RunForecast::answerOf(const QByteArray& key, const Json& last) {
  Answer answer{.key = key, .curve = {}, .run = {}};
  if (!last.is_object()) return answer;
  if (const auto told = last.find("scaling"); told != last.end() && told->is_array())
    for (const Json& each : *told)
      if (const auto point = pointOf(each); point && answer.curve.size() < kPoints) answer.curve.push_back(*point);
  if (const auto told = last.find("run"); told != last.end()) answer.run = pointOf(*told);
  return answer;
}

const ForecastPoint* RunForecast::atRanks() const {
  const auto at =
      std::find_if(curve().begin(), curve().end(), [this](const ForecastPoint& each) { return each.ranks == m_ranks; });
  return at == curve().end() ? nullptr : &*at;
}

double RunForecast::runSeconds() const {
  return run() ? static_cast<double>(m_steps) * run()->step : 0;
}

QString RunForecast::host() const {
  return m_workspace.hostName(m_workspace.host());
}

bool RunForecast::linksMeasured() const {
  return !linkArguments(m_workspace.preferences(), m_workspace.host(), m_workspace.hosts().find(m_workspace.host()))
              .isEmpty();
}

QString RunForecast::sentenceOf(const ForecastPoint& point) const {
  QString text = tr("%1, batch %2: step %3, %4, efficiency %5")
                     .arg(counted(point.ranks, tr("ranks")), formatCount(point.batch), formatDuration(point.step),
                          formatThroughput(point.samplesPerSecond, tr("samples")), formatFixed(point.efficiency, 2));
  if (!point.reduction.isEmpty()) text += tr(", summed by %1").arg(point.reduction);
  return text + '.';
}

QJsonObject RunForecast::saved() const {
  const auto known = m_answers.constFind(m_known.key);
  if (known == m_answers.constEnd()) return {};
  return {{"key", QString::fromLatin1(m_known.key)}, {"answer", QString::fromStdString(known->dump())}};
}

void RunForecast::restore(const QJsonObject& saved) {
  const QByteArray key = saved["key"].toString().toLatin1();
  const Json answer = Json::parse(saved["answer"].toString().toStdString(), nullptr, false);
  if (key.isEmpty() || answerOf(key, answer).curve.empty()) return;
  m_answers[key] = answer;
  m_order.append(key);
  if (!m_key.isEmpty()) refresh(m_ranks, m_steps);
}

}  // namespace loom

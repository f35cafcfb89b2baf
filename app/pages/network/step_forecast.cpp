#include "app/pages/network/step_forecast.h"

#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/planner/plan.h"
#include "launcher/local_process.h"

namespace loom {
namespace {

constexpr int kLookMs = 20, kPatienceMs = 60000;

// The project as the plan sees it: where its nodes stand is left out.
QByteArray questionOf(Project project) {
  for (auto* drawings : {&project.networks, &project.units})
    for (Network& drawing : *drawings)
      for (Node& node : drawing.nodes) node.x = node.y = 0;
  return QByteArray::fromStdString(writeProject(project));
}

Json askPlan(const QByteArray& question, const std::atomic<bool>& outdated) {
  const QString program = findLoom();
  if (program.isEmpty()) throwError(ErrorCode::missingFile, "there is no program `loom`");
  const QTemporaryDir folder;
  QFile file(folder.filePath(QStringLiteral("project.loom")));
  if (!file.open(QIODevice::WriteOnly) || file.write(question) != question.size())
    throwError(ErrorCode::inputOutput, "{} cannot be written", file.fileName().toStdString());
  file.close();
  QProcess process;
  process.start(program, {QStringLiteral("plan"), file.fileName(), QStringLiteral("--json")}, QIODevice::ReadOnly);
  QElapsedTimer since;
  since.start();
  while (!process.waitForFinished(kLookMs) && process.state() != QProcess::NotRunning)
    if (outdated || since.elapsed() > kPatienceMs) {
      process.kill();
      process.waitForFinished(1000);
      throwError(ErrorCode::stopped, "nobody waits for the plan");
    }
  if (process.error() == QProcess::FailedToStart || process.exitStatus() != QProcess::NormalExit ||
      process.exitCode() != 0)
    throwError(ErrorCode::internal, "loom plan: {}", process.readAllStandardError().left(500).toStdString());
  return parseJson(process.readAllStandardOutput().toStdString(), "loom plan");
}

// What the plan answered, put into `forecast`.
std::vector<NodeTimes> takeAnswer(const Json& answer, StepForecast& forecast) {
  const Json& step = answer.at("step");
  std::vector<NodeTimes> times = nodeTimes(step);
  forecast.memory = answer.at("total").at("total_bytes").get<double>();
  forecast.from = QString::fromStdString(step.at("source").get<std::string>());
  forecast.source = step.at("measured").get<bool>() ? StepForecast::Source::measured : StepForecast::Source::assumed;
  forecast.day = QDate::fromString(QString::fromStdString(step.at("measured_on").get<std::string>()), Qt::ISODate);
  return times;
}

void planDrawings(const Project& project, const std::vector<AskedDrawing>& asked, const MeasuredLayers& measured,
                  const std::vector<NodeTimes>& times, StepForecast& forecast) {
  const Network* outer = asked.empty() ? nullptr : project.drawing(asked.front().drawing);
  if (outer == nullptr) return;
  const StepPlan step(project, *outer, thisProcessor(threadsOf(project)), measured.seconds, times);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Network* drawn = project.drawing(asked[i].drawing);
    if (drawn == nullptr) continue;
    NetworkCosts& costs = forecast.costs[i] = step.of(*drawn, asked[i].through);
    costs.measuredBy = measured.run;
    costs.stepMemory = forecast.memory;
    costs.largestMeasured = forecast.costs.front().largestMeasured;  // one scale for all that is in sight
  }
}

}  // namespace

int threadsOf(const Project& project) {
  const Json& settings = project.training.settings;
  if (!settings.is_object() || !settings.contains("threads") || !settings["threads"].is_number_integer()) return 0;
  return std::max(0, settings["threads"].get<int>());
}

StepForecast forecastStep(const Project& project, const std::vector<AskedDrawing>& asked,
                          const MeasuredLayers& measured, PlanAnswer& last, const std::atomic<bool>& outdated) {
  StepForecast forecast;
  forecast.costs.resize(asked.size());
  std::vector<NodeTimes> times;
  try {
    const QByteArray question = questionOf(project);
    if (question != last.question) last = {question, askPlan(question, outdated)};
    times = takeAnswer(last.answer, forecast);
  } catch (const std::exception& error) {
    last = {};
    times.clear();
    forecast.source = StepForecast::Source::rough;
    forecast.from = QString::fromUtf8(error.what());
  }
  if (outdated) return forecast;
  try {
    const ProjectPlan plan = planTraining(project);
    if (forecast.memory == 0) forecast.memory = static_cast<double>(plan.total.totalBytes());
    if (!plan.updates.empty()) forecast.batch = plan.updates.front().batch;
    planDrawings(project, asked, measured, times, forecast);
  } catch (const std::exception&) {
    // What is wrong stands at its node and in the list of problems; a forecast ends no window.
  }
  return forecast;
}

}  // namespace loom

#include "launcher/candidate_plan.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>

#include "engine/base/error.h"
#include "launcher/local_process.h"

namespace loom {
namespace {

constexpr int kPlanPatienceMs = 60000;

Json planned(const Json& project, const QString& device) {
  const QString program = findLoom();
  if (program.isEmpty()) throwError(ErrorCode::missingFile, "there is no program `loom`");
  const QTemporaryDir folder;
  QFile file(folder.filePath(QStringLiteral("candidate.loom")));
  const QByteArray text = QByteArray::fromStdString(project.dump());
  if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
    throwError(ErrorCode::inputOutput, "{} cannot be written", file.fileName().toStdString());
  file.close();
  QStringList words{QStringLiteral("plan"), file.fileName(), QStringLiteral("--json")};
  if (!device.isEmpty()) words << QStringLiteral("--device") << device;
  QProcess process;
  process.start(program, words, QIODevice::ReadOnly);
  if (!process.waitForFinished(kPlanPatienceMs)) {
    process.kill();
    process.waitForFinished(1000);
    throwError(ErrorCode::internal, "loom plan did not answer");
  }
  if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0)
    throwError(ErrorCode::internal, "loom plan: {}", process.readAllStandardError().left(500).toStdString());
  return parseJson(process.readAllStandardOutput().toStdString(), "loom plan");
}

}  // namespace

CandidateScreen::Planner askedPlanner(const std::string& device) {
  return [device = QString::fromStdString(device)](const Json& project, TrialCost& cost) {
    const Json answer = planned(project, device);
    try {
      cost.step = answer.at("step").at("step_seconds").get<double>();
      cost.memory = answer.at("total").at("total_bytes").get<double>();
    } catch (const Json::exception& fault) {
      throwError(ErrorCode::internal, "loom plan: {}", fault.what());
    }
  };
}

}  // namespace loom

#include "app/pages/settings/project_call.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>
#include <utility>

#include "engine/network/project.h"
#include "launcher/local_process.h"

namespace loom {

static constexpr int kPatienceMs = 3000;  // until a process that was asked to end is ended

ProjectCall::~ProjectCall() {
  blockSignals(true);
  cancel();
}

void ProjectCall::start(const QString& verb, const Project& project, const QString& folder,
                        const QStringList& arguments) {
  cancel();
  m_rest.clear();
  m_last = Json();
  const QString program = findLoom();
  if (program.isEmpty()) return refuse(tr("there is no program `loom` beside this one or in PATH"));
  m_folder = std::make_shared<QTemporaryDir>();
  QFile file(m_folder->filePath(QStringLiteral("project.loom")));
  const QByteArray text = QByteArray::fromStdString(writeProject(project));
  if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
    return refuse(tr("%1 cannot be written").arg(file.fileName()));
  file.close();
  m_process = new QProcess(this);
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("TMPDIR"), m_folder->path());
  m_process->setProcessEnvironment(environment);
  connect(m_process, &QProcess::readyReadStandardOutput, this, &ProjectCall::read);
  connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) refuse(tr("loom cannot be started: %1").arg(m_process->errorString()));
  });
  connect(m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus how) {
    read();
    QString said = QString::fromUtf8(m_process->readAllStandardError()).trimmed().left(500);
    // "loom: bad data: row 7 ..." tells a person from its third word on.
    if (const QString told = said.section(QStringLiteral(": "), 2); said.startsWith("loom: ") && !told.isEmpty())
      said = told;
    if (how != QProcess::NormalExit || code != 0 || m_last.is_null())
      return refuse(said.isEmpty() ? tr("loom ended without an answer") : said);
    std::exchange(m_process, nullptr)->deleteLater();
    m_folder.reset();
    Q_EMIT answered(m_last);
  });
  m_process->start(
      program,
      QStringList{verb, file.fileName(), QStringLiteral("--folder"), folder, QStringLiteral("--json")} + arguments,
      QIODevice::ReadOnly);
}

void ProjectCall::read() {
  m_rest += m_process->readAllStandardOutput();
  for (qsizetype end; (end = m_rest.indexOf('\n')) >= 0;) {
    const Json line = Json::parse(m_rest.left(end).toStdString(), nullptr, false);
    m_rest.remove(0, end + 1);
    if (!line.is_object()) continue;
    m_last = line;
    Q_EMIT told(line);
    if (!m_process) return;  // whoever listens has cancelled it
  }
}

// Its folder goes when it has ended.
void ProjectCall::cancel() {
  if (!m_process) return;
  QProcess* const process = std::exchange(m_process, nullptr);
  process->disconnect(this);
  process->setParent(nullptr);
  connect(process, &QProcess::finished, process,
          [process, folder = std::exchange(m_folder, nullptr)] { process->deleteLater(); });
  process->terminate();
  QTimer::singleShot(kPatienceMs, process, &QProcess::kill);
}

void ProjectCall::refuse(const QString& sentence) {
  if (m_process) std::exchange(m_process, nullptr)->deleteLater();
  m_folder.reset();
  Q_EMIT refused(sentence);
}

}  // namespace loom

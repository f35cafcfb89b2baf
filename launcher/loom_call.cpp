#include "launcher/loom_call.h"

#include <QProcess>
#include <utility>

#include "launcher/local_process.h"

namespace loom {

LoomCall::LoomCall(const QString& program, QObject* parent) : QObject(parent), m_program(program) {}

LoomCall::~LoomCall() {
  cancel();
}

void LoomCall::start(const QStringList& arguments) {
  cancel();
  const QString program = m_program.isEmpty() ? findLoom() : m_program;
  auto* const process = new QProcess(this);
  m_process = process;
  m_output.clear();
  m_told = 0;
  process->setProcessChannelMode(QProcess::SeparateChannels);
  connect(process, &QProcess::readyReadStandardOutput, this, [this, process] {
    if (process == m_process) read(*process);
  });
  connect(process, &QProcess::errorOccurred, this, [this, process](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart || process != m_process) return;
    m_process = nullptr;
    process->deleteLater();
    Q_EMIT refused(tr("loom could not be started: %1").arg(process->errorString()));
  });
  connect(process, &QProcess::finished, this, [this, process](int code, QProcess::ExitStatus status) {
    if (process != m_process) return;
    read(*process);
    m_process = nullptr;
    process->deleteLater();
    if (status == QProcess::NormalExit && code == 0) {
      Q_EMIT answered(std::exchange(m_output, {}));
      return;
    }
    QString said = QString::fromUtf8(process->readAllStandardError()).trimmed();
    // "loom: bad data: row 7 ..." tells a person from its third word on.
    if (const QString told = said.section(QStringLiteral(": "), 2); said.startsWith("loom: ") && !told.isEmpty())
      said = told;
    Q_EMIT refused(!said.isEmpty()                  ? said
                   : status == QProcess::NormalExit ? tr("loom ended with exit code %1").arg(code)
                                                    : tr("loom was ended by signal %1").arg(code));
  });
  process->start(program, arguments);
}

void LoomCall::read(QProcess& process) {
  m_output += process.readAllStandardOutput();
  for (qsizetype end; (end = m_output.indexOf('\n', m_told)) >= 0;) {
    const QByteArray line = m_output.mid(m_told, end - m_told);
    m_told = end + 1;
    Q_EMIT told(line);
    if (m_process != &process) return;  // whoever listens has cancelled it
  }
}

void LoomCall::cancel() {
  QProcess* const process = std::exchange(m_process, nullptr);
  if (!process) return;
  process->disconnect(this);
  // It has nothing to tidy up: what it writes takes its name when it is whole.
  connect(process, &QProcess::finished, process, &QObject::deleteLater);
  process->setParent(nullptr);
  process->kill();
}

}  // namespace loom

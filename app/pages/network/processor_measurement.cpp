#include "app/pages/network/processor_measurement.h"

#include <QProcess>
#include <QRegularExpression>
#include <utility>

#include "launcher/local_process.h"

namespace loom {

ProcessorMeasurement::~ProcessorMeasurement() {
  blockSignals(true);  // whoever listened may be half gone
  cancel();
}

void ProcessorMeasurement::start(int threads) {
  if (runs()) return;
  m_done = m_total = 0;
  m_said.clear();
  const QString program = findLoom();
  if (program.isEmpty()) return finish(false, tr("there is no program `loom` beside this one or in PATH"));
  m_process = new QProcess(this);
  connect(m_process, &QProcess::readyReadStandardError, this, &ProcessorMeasurement::listen);
  connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) finish(false, tr("loom cannot be started: %1").arg(m_process->errorString()));
  });
  connect(m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus how) {
    listen();
    const bool kept = how == QProcess::NormalExit && code == 0;
    finish(kept, kept ? QString() : m_said.isEmpty() ? tr("loom ended with exit code %1").arg(code) : m_said);
  });
  m_process->start(
      program,
      {QStringLiteral("plan"), QStringLiteral("--calibrate"), QStringLiteral("--threads"), QString::number(threads)},
      QIODevice::ReadOnly);
  Q_EMIT progressed();
}

void ProcessorMeasurement::listen() {
  static const QRegularExpression counted(QStringLiteral("^measuring this processor: (\\d+) of (\\d+),"));
  m_process->setReadChannel(QProcess::StandardError);
  while (m_process->canReadLine() || (m_process->state() == QProcess::NotRunning && m_process->bytesAvailable() > 0)) {
    const QString line = QString::fromUtf8(m_process->readLine()).trimmed();
    if (const auto found = counted.match(line); found.hasMatch()) {
      m_done = found.captured(1).toInt();
      m_total = found.captured(2).toInt();
    } else if (!line.isEmpty()) {
      m_said = line.left(500);
    }
  }
  Q_EMIT progressed();
}

// It writes what it found at its end alone, in one step: to end it sooner leaves nothing behind.
void ProcessorMeasurement::cancel() {
  if (!runs()) return;
  QProcess* const process = std::exchange(m_process, nullptr);
  process->disconnect(this);
  connect(process, &QProcess::finished, process, &QObject::deleteLater);
  process->kill();
  Q_EMIT progressed();
}

void ProcessorMeasurement::finish(bool kept, const QString& sentence) {
  if (m_process != nullptr) std::exchange(m_process, nullptr)->deleteLater();
  Q_EMIT ended(kept, sentence);
}

}  // namespace loom

#include "app/run_scan.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>

#include "engine/base/error.h"
#include "launcher/launcher.h"

namespace loom {
namespace {

constexpr int kAtOnceMs = 8;  // half a frame
constexpr int kMostReading = 16, kWaitMs = 4;

}  // namespace

RunScan::RunScan(Launcher& launcher, const QString& folder, const QString& project)
    : m_launcher(launcher), m_project(project) {
  m_soon.setInterval(0);
  connect(&m_soon, &QTimer::timeout, this, &RunScan::takeSome);
  m_look.ask([this, folder](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    QStringList found;
    for (const QFileInfo& each : QDir(folder).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot)) {
      if (outdated) return {};
      if (QFileInfo::exists(each.filePath() + "/events.jsonl")) found << each.canonicalFilePath();
    }
    return [this, found] {
      m_found = found;
      m_soon.start();
    };
  });
}

// No more at once than are read meanwhile: hundreds of logs that are read and wait for the window would hold it up.
void RunScan::takeSome() {
  m_reading.removeIf([this](const QString& id) { return !m_launcher.isReading(id); });
  QElapsedTimer clock;
  clock.start();
  while (!m_found.isEmpty() && m_reading.size() < kMostReading && clock.elapsed() < kAtOnceMs) {
    const QString folder = m_found.takeFirst();
    try {
      if (m_launcher.takeIn(folder, m_project)) m_reading << m_launcher.openFolder(folder, m_project);  // by now known
    } catch (const Error&) {
      // The folder went meanwhile: nothing to show.
    }
  }
  m_soon.setInterval(m_reading.size() < kMostReading ? 0 : kWaitMs);
  if (m_found.isEmpty()) m_soon.stop();
}

}  // namespace loom

#include "app/run_scan.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>

#include "engine/base/error.h"
#include "launcher/launcher.h"

namespace loom {
namespace {

constexpr int kAtOnceMs = 8;  // half a frame

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

void RunScan::takeSome() {
  QElapsedTimer clock;
  clock.start();
  while (!m_found.isEmpty() && clock.elapsed() < kAtOnceMs) {
    try {
      m_launcher.takeIn(m_found.takeFirst(), m_project);
    } catch (const Error&) {
      // The folder went meanwhile: nothing to show.
    }
  }
  if (m_found.isEmpty()) m_soon.stop();
}

}  // namespace loom

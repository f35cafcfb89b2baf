#pragma once
// What is known of each host besides what a person typed: its newest check, line by line as it comes, and the one sign
// under which it stands in lists. The last check is remembered, so that a host that is not reached keeps what was known
// of it. Window's thread.
#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QSet>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>

#include "launcher/remote/host_lines.h"
#include "widgets/document/newest_task.h"
#include "widgets/theme/status.h"

namespace loom {

class Preferences;

struct HostReport {
  QVector<CheckLine> lines;   // of the newest check, as they became known
  QVector<CheckLine> before;  // of the check before: what is still to come, or what was known while it is not reached
  bool checking = false;
  bool connected = false;       // before the newest check began
  double at = 0, beforeAt = 0;  // when it ended, seconds since 1970; 0 = never
  double took = 0;              // seconds, without those in which a person looked for an answer
  QString engine, base;         // "loom 0.1.0", its folder there

  int count(CheckLine::Status status) const;
  bool reached() const;  // anything beyond the connection was seen
};

struct HostSign {
  Status status = Status::queued;
  QString words;  // "Ready", "1 check failed", "Reconnecting in 8 s"
};

class HostChecks : public QObject {
  Q_OBJECT

 public:
  // `here`: how this machine is checked, by a line to itself.
  HostChecks(HostLines& lines, LineOptions here, Preferences& preferences, QObject* parent = nullptr);
  ~HostChecks() override;

  // An empty id is this machine.
  const HostReport& report(const QString& host) const;
  HostSign sign(const QString& host) const;
  // Why the line waits or needs a person; empty while all is well.
  QString sentence(const QString& host) const;
  // `bytesNeeded`: what a run needs room for there; asked beside the window's thread. Empty = nothing.
  void check(const QString& host, const std::function<qint64()>& bytesNeeded = {});
  // The line to it, made where there is none yet; null for a host that is gone.
  HostLine* lineOf(const QString& host) { return line(host); }
  // Names of the lines that a check of this host tells, in order: shown grey until they are known.
  static QVector<CheckLine> expected(const Host* host);

 Q_SIGNALS:
  void changed(const QString& host);

 private:
  HostLine* touched(const QString& host) const;  // its line, where it has one already
  HostLine* line(const QString& host);
  void take(const QString& host, const CheckLine& line);
  void finish(const QString& host);
  void load(const QString& host);
  void keep(const QString& host) const;

  HostLines& m_lines;
  LineOptions m_hereOptions;
  Preferences& m_preferences;
  std::unique_ptr<HostLine> m_here;
  QHash<QString, HostReport> m_reports;
  QHash<QString, QElapsedTimer> m_clocks;
  QSet<QString> m_touched;
  std::map<QString, NewestTask> m_counts;  // of the bytes that a host needs room for
  QTimer m_second;
};

}  // namespace loom

#pragma once
// The hosts of this person: hosts.json in the data folder. Several windows, of other versions too, may have it open: a
// change begins with what the file says now, and what is not understood is kept as it stands there. Window's thread.
#include <QList>
#include <QObject>
#include <functional>

#include "launcher/hosts/host.h"

namespace loom {

class HostStore : public QObject {
  Q_OBJECT

 public:
  // A file that is no JSON is set aside with its cause in notice(), never overwritten; so is told which host cannot be
  // used.
  explicit HostStore(const QString& folder, QObject* parent = nullptr);

  const QList<Host>& hosts() const { return m_hosts; }
  const Host* find(const QString& id) const;
  QString notice() const { return m_notice; }

  // Gives it an id of its own where that is taken; answers the id. Throws Error when it cannot be written.
  QString add(Host host);
  void change(const Host& host);  // by id
  void remove(const QString& id);

 Q_SIGNALS:
  void hostAdded(const QString& id);
  void hostChanged(const QString& id);
  void hostRemoved(const QString& id);

 private:
  struct Contents;
  Contents read() const;  // throws Error(badData)
  void take(const Contents& contents);
  void setAside(const QString& why);
  void alter(const std::function<void(QList<Host>&)>& change);

  QString m_folder, m_file, m_notice;
  QList<Host> m_hosts;
};

}  // namespace loom

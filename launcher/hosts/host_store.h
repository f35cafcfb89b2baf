#pragma once
// The hosts of this person: hosts.json in the data folder, and what it knows of each besides (the last check). Window's
// thread.
#include <QList>
#include <QObject>

#include "launcher/hosts/host.h"

namespace loom {

class HostStore : public QObject {
  Q_OBJECT

 public:
  // A file that cannot be understood is set aside with its cause in notice(), never overwritten.
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
  void save() const;
  QString m_file, m_notice;
  QList<Host> m_hosts;
};

}  // namespace loom

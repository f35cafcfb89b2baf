#pragma once
// The lines to all hosts of the list, each made when it is first needed. Window's thread.
#include <QHash>
#include <QObject>

#include "launcher/hosts/host_store.h"
#include "launcher/remote/host_line.h"

namespace loom {

class HostLines : public QObject {
  Q_OBJECT

 public:
  explicit HostLines(HostStore& store, LineOptions options = {}, QObject* parent = nullptr);
  ~HostLines() override;

  // Null for a host that is not in the list.
  HostLine* line(const QString& host);
  HostLine* known(const QString& host) const { return m_lines.value(host); }  // null where none was needed so far
  HostStore& store() { return m_store; }

 Q_SIGNALS:
  // Of any line, so that one dialog serves all; answer by line(host)->answer(id, ...).
  void question(const QString& host, int id, const loom::SshQuestion& question);
  void stateChanged(const QString& host);
  // Its host was taken from the list: nothing may be asked of it any more; it goes when the caller's work is done.
  void removed(const QString& host, loom::HostLine* line);

 private:
  HostStore& m_store;
  LineOptions m_options;
  QHash<QString, HostLine*> m_lines;
};

}  // namespace loom

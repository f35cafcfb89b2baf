#pragma once
// A real sshd of this machine on a port of its own, with keys made for the test alone; gone with the object.
#include <QProcess>
#include <QString>
#include <QTemporaryDir>
#include <memory>

namespace loom {

class Sshd {
 public:
  // Empty where there is none that can be started; why() tells.
  static QString why();

  // `options`: further lines of its configuration.
  explicit Sshd(const QByteArray& options = {});
  ~Sshd();

  bool start();        // on the same port again after stop()
  void stop();         // the listener and every connection: a cable that is cut
  void makeHostKey();  // another one
  quint16 port() const { return m_port; }
  QString path(const QString& name) const { return m_folder.filePath(name); }
  // ~/.ssh/config for the client: host "there" by its key, a known_hosts file of its own.
  QString clientConfig(const QByteArray& more = {}) const;

 private:
  QTemporaryDir m_folder;
  QByteArray m_options;
  quint16 m_port = 0;
  QProcess m_process;
};

}  // namespace loom

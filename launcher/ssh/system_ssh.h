#pragma once
// The system's own ssh in the place of the library, for hosts that ask for it: ProxyCommand, Match exec, ControlMaster,
// certificates, FIDO keys and whatever else ~/.ssh/config says. It signs in once; what it asks comes through its
// askpass. Used on one thread, not the window's.
#include <QTemporaryDir>
#include <atomic>

#include "launcher/ssh/ssh_connection.h"

namespace loom {

class SystemSsh : public HostTransport {
 public:
  struct Place {
    QString address, user;
    int port = 0;
    QString config;  // empty = ~/.ssh/config
    QString key;     // file of a private key, tried before those of the configuration; empty = those alone
  };
  SystemSsh(Place place, SshAsk ask) : m_place(std::move(place)), m_ask(std::move(ask)) {}
  ~SystemSsh() override;

  void open() override;  // throws SshError
  void abort() override { m_aborted = true; }
  std::unique_ptr<ByteChannel> execute(const QByteArray& command) override;
  QString fingerprint() const override { return m_fingerprint; }  // where it was asked about
  QString method() const override { return QStringLiteral("by the system's ssh"); }
  QString jumps() const override { return {}; }

 private:
  QByteArrayList words(const QByteArrayList& options) const;
  void makeAskpass();
  void answerQuestion();
  SshQuestion questionOf(const QByteArray& hint, const QString& prompt);
  [[noreturn]] void fail(const QString& complaint) const;

  Place m_place;
  SshAsk m_ask;
  QTemporaryDir
      m_folder;  // for the owner alone: the socket of the connection, askpass, its question and the way of the answer
  std::unique_ptr<ByteChannel> m_master;
  std::atomic<bool> m_aborted{false};
  QString m_fingerprint;
  QStringList m_asked;  // what it asked so far
};

// A prompt for what is good more than once: "Password:", "(mara@head) Password for mara:", "mara's password:". Anything
// else may hold a code, as "Password + OTP" does, and is never answered from memory.
bool isPlainPassword(const QString& prompt);

}  // namespace loom

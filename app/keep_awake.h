#pragma once
// While a run computes on this machine, the machine does not fall asleep: an inhibitor of logind is held (as every
// desktop under systemd honours it), and given back with the last run. Without logind nothing happens. Window's thread.
#include <QDBusConnection>
#include <QDBusUnixFileDescriptor>
#include <QObject>

namespace loom {

class Launcher;

class KeepAwake : public QObject {
  Q_OBJECT

 public:
  explicit KeepAwake(Launcher& launcher, const QDBusConnection& bus = QDBusConnection::systemBus(),
                     QObject* parent = nullptr);
  bool holds() const { return m_held.isValid(); }

 Q_SIGNALS:
  void changed();

 private:
  void refresh();
  Launcher& m_launcher;
  QDBusConnection m_bus;
  QDBusUnixFileDescriptor m_held;  // open = the machine stays awake
  bool m_asking = false;
};

}  // namespace loom

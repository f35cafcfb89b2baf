#include "app/keep_awake.h"

#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>

#include "launcher/launcher.h"

namespace loom {

KeepAwake::KeepAwake(Launcher& launcher, const QDBusConnection& bus, QObject* parent)
    : QObject(parent), m_launcher(launcher), m_bus(bus) {
  connect(&m_launcher, &Launcher::countsChanged, this, &KeepAwake::refresh);
  refresh();
}

void KeepAwake::refresh() {
  if (m_launcher.runningHere() == 0) {
    if (!holds()) return;
    m_held = {};
    Q_EMIT changed();
    return;
  }
  if (holds() || m_asking || !m_bus.isConnected()) return;
  QDBusMessage call = QDBusMessage::createMethodCall("org.freedesktop.login1", "/org/freedesktop/login1",
                                                     "org.freedesktop.login1.Manager", "Inhibit");
  call << QStringLiteral("sleep:idle") << QStringLiteral("Gradloom") << tr("A run trains on this machine.")
       << QStringLiteral("block");
  m_asking = true;
  auto* answer = new QDBusPendingCallWatcher(m_bus.asyncCall(call), this);
  connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer] {
    answer->deleteLater();
    m_asking = false;
    const QDBusPendingReply<QDBusUnixFileDescriptor> reply = *answer;
    if (reply.isError()) return;  // no logind, or not ours to ask: the machine does as its owner set it
    m_held = reply.value();
    Q_EMIT changed();
    refresh();  // the run may have ended meanwhile
  });
}

}  // namespace loom

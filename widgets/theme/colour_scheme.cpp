#include "widgets/theme/colour_scheme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QPalette>

namespace loom {
namespace {

const QString kService = QStringLiteral("org.freedesktop.portal.Desktop");
const QString kPath = QStringLiteral("/org/freedesktop/portal/desktop");
const QString kInterface = QStringLiteral("org.freedesktop.portal.Settings");
const QString kAppearance = QStringLiteral("org.freedesktop.appearance");
const QString kColourScheme = QStringLiteral("color-scheme");
const QString kDesktop = QStringLiteral("org.gnome.desktop.interface");
const QString kAnimations = QStringLiteral("enable-animations");
constexpr int kTimeoutMs = 300;

// `Read` answers with a variant inside a variant on every portal in use.
QVariant unwrapped(QVariant value) {
  while (value.metaType() == QMetaType::fromType<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
  return value;
}

}  // namespace

ColourScheme::ColourScheme(const QPalette& desktop)
    : m_paletteDark(desktop.color(QPalette::WindowText).lightnessF() > desktop.color(QPalette::Window).lightnessF()),
      m_dark(m_paletteDark) {}

void ColourScheme::listen() {
  if (m_listening) return;
  m_listening = true;
  QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) return;
  bus.connect(kService, kPath, kInterface, QStringLiteral("SettingChanged"), this,
              SLOT(settingChanged(QString, QString, QDBusVariant)));
  ask(kAppearance, kColourScheme);
  ask(kDesktop, kAnimations);
}

void ColourScheme::ask(const QString& group, const QString& key) {
  QDBusMessage message = QDBusMessage::createMethodCall(kService, kPath, kInterface, QStringLiteral("Read"));
  message << group << key;
  auto* watcher = new QDBusPendingCallWatcher(QDBusConnection::sessionBus().asyncCall(message, kTimeoutMs), this);
  connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, group, key](QDBusPendingCallWatcher* call) {
    const QDBusPendingReply<QVariant> reply = *call;
    if (!reply.isError()) take(group, key, unwrapped(reply.value()));
    call->deleteLater();
  });
}

void ColourScheme::settingChanged(const QString& group, const QString& key, const QDBusVariant& value) {
  take(group, key, unwrapped(value.variant()));
}

void ColourScheme::take(const QString& group, const QString& key, const QVariant& value) {
  const bool wasDark = m_dark;
  const bool wasAnimated = m_animations;
  if (group == kAppearance && key == kColourScheme) {
    const uint preference = value.toUInt();
    m_dark = preference == 1 || (preference != 2 && m_paletteDark);
  } else if (group == kDesktop && key == kAnimations) {
    m_animations = value.toBool();
  }
  if (m_dark != wasDark || m_animations != wasAnimated) Q_EMIT changed();
}

}  // namespace loom

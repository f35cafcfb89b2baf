#pragma once
// What the desktop prefers: light or dark, and whether things may move. Asked from the settings portal over D-Bus
// without ever blocking (an answer within 300 ms counts; later ones arrive as a change), from the desktop's palette
// where there is no portal.
#include <QObject>

class QDBusVariant;
class QPalette;

namespace loom {

class ColourScheme : public QObject {
  Q_OBJECT

 public:
  // `desktop` is the palette before ours is set. The bus is left alone until listen().
  explicit ColourScheme(const QPalette& desktop);

  void listen();
  bool dark() const { return m_dark; }
  bool animations() const { return m_animations; }

  // What the portal says: 1 dark, 2 light, everything else no preference.
  void take(const QString& group, const QString& key, const QVariant& value);

 Q_SIGNALS:
  void changed();

 private Q_SLOTS:
  void settingChanged(const QString& group, const QString& key, const QDBusVariant& value);

 private:
  void ask(const QString& group, const QString& key);

  bool m_paletteDark;
  bool m_dark;
  bool m_animations = true;
  bool m_listening = false;
};

}  // namespace loom

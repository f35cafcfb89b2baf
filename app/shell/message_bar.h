#pragma once
// What a person must know about the whole window: a file that cannot be saved, changes that a crash left behind, a list
// of runs that was built anew. A bar under the top bar, with its remedies; it stays until it is dealt with. Several
// stand below each other.
#include <QFrame>
#include <functional>

namespace loom {

class MessageBars : public QFrame {
  Q_OBJECT

 public:
  enum class Kind { information, warning, error };
  struct Remedy {
    QString text;
    std::function<void()> act;
  };
  explicit MessageBars(QWidget* parent = nullptr);
  // A message with the same key replaces the one that stands. Of several the worst and newest stands there and says how
  // many more there are: a page is not pushed down by what it can read later.
  void show(const QString& key, Kind kind, const QString& text, const QList<Remedy>& remedies = {});
  void hide(const QString& key);
  QString text(const QString& key) const;

 Q_SIGNALS:
  void closed(const QString& key);  // by a person, with its cross
  void leftWithKeyboard();          // a bar went away with what had the focus

 private:
  QWidget* find(const QString& key) const;
  void arrange();
  bool m_all = false;  // all bars stand there, not the first alone
};

}  // namespace loom

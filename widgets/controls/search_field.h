#pragma once
// A field with a magnifier and, while empty, the key that leads to it at its right end. Esc clears, then gives the
// focus back.
#include <QLineEdit>

namespace loom {

class SearchField : public QLineEdit {
  Q_OBJECT

 public:
  SearchField(const QString& placeholder, const QString& shortcutHint = {}, QWidget* parent = nullptr);

  // "11 of 23", quiet at the right end.
  void setCount(const QString& count);
  const QString& count() const { return m_count; }
  void setIconName(const QString& name);
  QSize sizeHint() const override;

 Q_SIGNALS:
  void escaped();  // Esc in an empty field

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void reserve();
  QString m_hint;
  QString m_count;
  QString m_icon = QStringLiteral("search");
};

// A key as a small cap: "Ctrl K". Returns its width; paints with its right edge at `right`.
int paintKeyCap(QPainter& painter, const QString& key, double right, double middle);

}  // namespace loom

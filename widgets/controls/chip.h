#pragma once
// A short word in a frame: an argument, a tag, a filter. With a cross it can be taken away, by click, Delete or
// Backspace.
#include <QWidget>

namespace loom {

class Chip : public QWidget {
  Q_OBJECT

 public:
  enum class Kind { outlined, tinted, plain, code };
  explicit Chip(const QString& text, Kind kind = Kind::outlined, QWidget* parent = nullptr);

  QString text() const { return m_text; }
  void setText(const QString& text);
  void setRemovable(bool removable);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 Q_SIGNALS:
  void removed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QFont textFont() const;
  QRectF cross() const;
  QString m_text;
  Kind m_kind;
  bool m_removable = false;
  bool m_crossHovered = false;
};

}  // namespace loom

#pragma once
// A button with a second part that opens a menu: Train, and its variants.
#include <QMenu>
#include <QWidget>

#include "widgets/controls/button.h"

namespace loom {

class SplitButton : public QWidget {
  Q_OBJECT

 public:
  SplitButton(const QString& iconName, const QString& text, ButtonKind kind, QWidget* parent = nullptr);

  void setKind(ButtonKind kind);
  void setText(const QString& text);
  void setIconName(const QString& name);
  QMenu* menu() { return &m_menu; }
  Button* mainPart() { return m_main; }
  Button* menuPart() { return m_arrow; }

 Q_SIGNALS:
  void clicked();

 private:
  void applyKind(ButtonKind kind);
  Button* m_main;
  Button* m_arrow;
  QMenu m_menu;
};

}  // namespace loom

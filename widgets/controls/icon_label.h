#pragma once
// An icon alone, in a colour of the theme, at a fixed size.
#include <QWidget>

#include "widgets/theme/tokens.h"

namespace loom {

class IconLabel : public QWidget {
  Q_OBJECT

 public:
  IconLabel(const QString& name, Colour colour, int size = 16, QWidget* parent = nullptr);
  void setIcon(const QString& name, Colour colour);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_name;
  Colour m_colour;
};

}  // namespace loom

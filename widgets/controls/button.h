#pragma once
// Push buttons in the kinds of the design, with an icon that takes the kind's colour. Only Train is `filled`; a page
// has one `tinted` action; everything else is outlined or plain.
#include <QPushButton>
#include <optional>

#include "widgets/theme/tokens.h"

namespace loom {

enum class ButtonKind {
  filled,  // Train
  tinted,  // the one action of a page
  outlined,
  plain,   // tool bars: no frame until hovered
  danger,  // outlined, red words: Stop now
  fault,   // outlined red on a red ground: "1 error"
  link,    // a word inside a sentence or a row
};

class Button : public QPushButton {
  Q_OBJECT

 public:
  Button(const QString& text, ButtonKind kind, QWidget* parent = nullptr);
  Button(const QString& iconName, const QString& text, ButtonKind kind, QWidget* parent = nullptr);

  ButtonKind kind() const { return m_kind; }
  void setKind(ButtonKind kind);
  void setIconName(const QString& name);
  void setIconColour(std::optional<Colour> colour);  // other than the kind's
  // Narrower than its words where there is no room: they end in "…" and stand whole in the tooltip.
  void setShrinks(bool shrinks);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void refreshIcon();
  ButtonKind m_kind;
  QString m_icon;
  std::optional<Colour> m_iconColour;
  bool m_shrinks = false;
};

// A square button with an icon alone. `name` is what it does: the tooltip and the name for screen readers.
Button* iconButton(const QString& iconName, const QString& name, QWidget* parent = nullptr);

}  // namespace loom

#pragma once
// The arguments of a unit as chips: "channels = 16". In its tab they are the defaults and may be added, renamed and
// removed; of one use, as in the unit opened in place, they are the values there. A click on a chip opens its fields.
#include <QAbstractButton>
#include <string>
#include <vector>

#include "widgets/document/project_document.h"

namespace loom {

class FlowLayout;
class Popover;

class ArgumentChip : public QAbstractButton {
  Q_OBJECT
 public:
  ArgumentChip(const QString& text, bool own, QWidget* parent);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  bool m_own;  // given here, no default
};

class ArgumentChips : public QWidget {
  Q_OBJECT
 public:
  explicit ArgumentChips(ProjectDocument& document, QWidget* parent = nullptr);

  void setUnit(const std::string& unit);                             // its defaults; empty: none
  void setUse(const std::string& drawing, const std::string& node);  // the values that this use gives
  const std::string& unit() const { return m_unit; }
  const std::vector<ArgumentChip*>& chips() const { return m_chips; }
  QAbstractButton* addButton() const { return m_add; }
  QWidget* card() const;  // what a click opened; null when nothing is open

 private:
  void refresh();
  void openArgument(const Argument& argument, QWidget* anchor);
  void openValue(const Argument& argument, QWidget* anchor);
  void openNew();
  Popover* newCard(const QString& title);

  ProjectDocument& m_document;
  std::string m_unit, m_drawing, m_node;
  FlowLayout* m_flow;
  std::vector<ArgumentChip*> m_chips;
  QAbstractButton* m_add;
  QPointer<QWidget> m_card;
};

}  // namespace loom

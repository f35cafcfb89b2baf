#pragma once
// A part of a page that shows one thing: its name, what a person may do about it at the right, a quiet line below, and
// then what it shows.
#include <QWidget>

#include "widgets/controls/button.h"

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace loom {

class HeadedCard : public QWidget {
  Q_OBJECT

 public:
  explicit HeadedCard(const QString& title, QWidget* parent = nullptr);
  // At the right of the name, after those that are there.
  Button* addButton(const char* name, const QString& text, ButtonKind kind = ButtonKind::outlined);
  void addToHead(QWidget* widget);
  void setHint(const QString& text);
  QVBoxLayout& column() { return *m_column; }  // what stands below the hint goes to its end

 private:
  QVBoxLayout* m_column;
  QHBoxLayout* m_head;
  QLabel* m_hint;
};

}  // namespace loom

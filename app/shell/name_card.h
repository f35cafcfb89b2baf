#pragma once
// What a project is called: asked once when a draft is saved, and whenever a person wants another name.
#include <functional>

#include "widgets/controls/popover.h"

class QLabel;
class QLineEdit;

namespace loom {

class Button;

class NameCard : public Popover {
  Q_OBJECT

 public:
  struct Question {
    QString title, name;
    QString place;                                 // the folder that it goes to or stays in, as a person writes it
    QString action;                                // of the button
    bool elsewhere = false;                        // whether another place may be chosen
    std::function<QString(const QString&)> fault;  // of a name; empty = none
  };
  NameCard(const Question& question, QWidget* window);
  void refuse(const QString& sentence);

 Q_SIGNALS:
  void wanted(const QString& name);
  void elsewhereWanted();

 private:
  void look();
  Question m_question;
  QLineEdit* m_name;
  QLabel *m_place, *m_fault;
  Button* m_take;
};

}  // namespace loom

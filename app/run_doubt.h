#pragma once
// A run of which it cannot be told how it goes: why, and what a person may do about it, count it as ended or submit it
// anew. Both give something up, which is said before it is done. Hidden while all is known.
#include <QWidget>

#include "app/page.h"

class QLabel;

namespace loom {

class Button;

class RunDoubt : public QWidget {
  Q_OBJECT

 public:
  explicit RunDoubt(AppContext& context, QWidget* parent = nullptr);
  void setRun(const QString& run);

 Q_SIGNALS:
  void submittedAnew(const QString& run);  // the new one; whoever hears it may delete this

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  enum class Wish { none, end, anew };
  void refresh();
  void ask(Wish wish);
  void carryOut();

  AppContext& m_context;
  QString m_run;
  Wish m_wish = Wish::none;
  QLabel *m_sentence, *m_loss, *m_fault;
  Button *m_end, *m_anew, *m_sure, *m_wait;
  QWidget *m_choice, *m_confirm;
};

}  // namespace loom

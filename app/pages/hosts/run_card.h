#pragma once
// A run that goes (progress, time left, curves, stop) or waits (its place in the order).
#include <QFrame>

#include "app/page.h"
#include "launcher/store/run_record.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace loom {

class Button;
class RunDoubt;
class StatusLabel;

class RunCard : public QFrame {
  Q_OBJECT

 public:
  // `place`: from 1 in the queue; 0 = it goes.
  RunCard(AppContext& context, const QString& run, int place, QWidget* parent = nullptr);
  void refresh(const RunRecord& run);

 Q_SIGNALS:
  void moved();  // in the queue; the card is made anew

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void tell(const QString& fault);
  void stop();
  void move(int by);
  void choosePriority();
  AppContext& m_context;
  QString m_run;
  int m_place;
  StatusLabel* m_state;
  QLabel *m_name, *m_host, *m_words, *m_left, *m_fault;
  QProgressBar* m_bar;
  Button *m_curves, *m_stop, *m_priority;
  RunDoubt* m_doubt = nullptr;                     // of one that goes
  QPushButton *m_up = nullptr, *m_down = nullptr;  // of one that waits
};

// Opens the run's project where it is not open, and leads to its curves.
void showCurvesOf(AppContext& context, const QString& run);

}  // namespace loom

#pragma once
// A run that goes (progress, time left, curves, stop) or waits (its place in the order).
#include <QFrame>

#include "app/page.h"
#include "launcher/run_record.h"

class QLabel;
class QProgressBar;

namespace loom {

class Button;
class StatusLabel;

class RunCard : public QFrame {
  Q_OBJECT

 public:
  // `place`: from 1 in the queue; 0 = it goes.
  RunCard(AppContext& context, const QString& run, int place, QWidget* parent = nullptr);
  void refresh(const RunRecord& run);

 private:
  void stop();
  AppContext& m_context;
  QString m_run;
  int m_place;
  StatusLabel* m_state;
  QLabel *m_name, *m_host, *m_words, *m_left, *m_fault;
  QProgressBar* m_bar;
  Button *m_curves, *m_stop;
};

// Opens the run's project where it is not open, and leads to its curves.
void showCurvesOf(AppContext& context, const QString& run);

}  // namespace loom

#pragma once
// What the run is at: best metric, step, epoch, time, rate, and what happened last. A column at the right, or a strip
// of four figures above the charts where the window is narrow.
#include <QFrame>

#include "app/page.h"
#include "launcher/store/run_record.h"

class QGridLayout;
class QLabel;
class QProgressBar;
class QVBoxLayout;

namespace loom {

class ModelLine;
class RankCard;

class RunFacts : public QFrame {
  Q_OBJECT

 public:
  enum class Form { column, strip };
  explicit RunFacts(AppContext& context, QWidget* parent = nullptr);
  void setForm(Form form);
  Form form() const { return m_form; }
  void refresh(const RunRecord* run);
  void refreshEvents(const QString& id);

 private:
  QLabel* fact(QGridLayout* grid, int row, const QString& name);
  AppContext& m_context;
  Form m_form = Form::column;
  QWidget *m_column, *m_strip;
  QLabel *m_bestName, *m_bestValue, *m_bestUnit, *m_bestWhen;
  QLabel *m_step, *m_epoch, *m_soFar, *m_left, *m_rate, *m_batch, *m_device, *m_parameters;
  QProgressBar* m_bar;
  QVBoxLayout *m_events, *m_sections;
  ModelLine* m_model;
  RankCard* m_ranks;
  QLabel* m_figures[4];
  QLabel* m_figureNames[4];
};

}  // namespace loom

#pragma once
// The figures of an evaluation beside its matrix: the one that matters large, the others as rows, what the shares are
// worth, and what became better or worse than in another run.
#include <QWidget>
#include <optional>

#include "engine/evaluation/report.h"

class QGridLayout;
class QLabel;
class QVBoxLayout;

namespace loom {

class Button;
class ChoiceField;
class PlotView;

class EvaluationSide : public QWidget {
  Q_OBJECT

 public:
  explicit EvaluationSide(QWidget* parent = nullptr);
  void setOutput(const EvaluatedOutput& output);
  // Runs that it may be compared with: name and id. The first line is none.
  void setRuns(const QList<std::pair<QString, QString>>& runs, const QString& chosen);
  // Empty words = none to say; `difference` of the run that is chosen.
  void setDifference(const std::optional<EvaluationReport::Other>& difference, const QString& words);
  // How many samples are right and were wrong in the other run, and the other way round; links lead to them.
  void setChanges(std::size_t nowRight, std::size_t nowWrong);
  PlotView& reliability() { return *m_reliability; }
  void setAbove(bool above);  // above the matrix it is lower, and within the margins around it

 Q_SIGNALS:
  void againstChosen(const QString& run);  // empty = none
  void changesWanted(bool nowRight);

 private:
  void showTrial();
  void fillRows(const QList<std::pair<QString, QString>>& rows, QGridLayout* into);
  QLabel *m_title, *m_figure, *m_count, *m_advice, *m_fittedWords, *m_differenceWords;
  QGridLayout *m_rows, *m_fitted, *m_difference;
  PlotView* m_reliability;
  ChoiceField* m_against;
  Button *m_fit, *m_nowRight, *m_nowWrong;
  std::optional<TemperatureTrial> m_trial;
  double m_accuracy = 0;
};

}  // namespace loom

#pragma once
// A model for another tool: the weights of which run, which of them, in which form. It stands with the best run and its
// best weights, whatever is looked at elsewhere.
#include <QList>

#include "app/trained_runs.h"
#include "launcher/store/run_record.h"
#include "widgets/controls/popover.h"

namespace loom {

class ChoiceField;
class RunMetrics;
class SegmentedControl;

struct ExportWish {
  QString run;  // id; empty = the project with the weights that its training would begin with
  RunWeights weights = RunWeights::best;
  QString file;  // its ending says the form: .py, .onnx, .safetensors
};

class ExportCard : public Popover {
  Q_OBJECT

 public:
  struct Choices {
    QList<RunRecord> runs;  // of the project; those without weights here are left out
    QString chosen;         // id of the run that is meant; empty = the best one
    QString folder, name;   // where the file dialogue begins
    bool project = true;    // whether the project as it would begin may be chosen
  };
  ExportCard(const Choices& choices, const RunMetrics& metrics, QWidget* window);

  ExportWish wish(const QString& file) const;
  QString run() const;

 Q_SIGNALS:
  void wanted(const loom::ExportWish& wish);

 private:
  void runChosen();
  void chooseFile();

  QList<RunRecord> m_runs;
  QString m_folder, m_name;
  ChoiceField *m_run, *m_weights;
  SegmentedControl* m_form;
};

}  // namespace loom

#pragma once
// What a trained run says of pictures, sounds, the rows of a CSV, or a row that is typed in: a table of samples, beside
// it the chosen one with its classes and shares, or its numbers. the resident engine computes it, beside the window.
#include <QStackedWidget>
#include <QTemporaryDir>
#include <memory>

#include "app/page.h"
#include "app/row_form.h"
#include "app/trained_runs.h"
#include "engine/run/predictions.h"
#include "launcher/preview/run_line.h"

class QLabel;
class QScrollArea;
class QTableWidget;
class QVBoxLayout;

namespace loom {

class Button;
class EmptyState;
class SegmentedControl;
class ShareBars;

class RunPrediction : public QStackedWidget {
  Q_OBJECT

 public:
  RunPrediction(AppContext& context, RunLine& engine, QWidget* parent = nullptr);
  void setRun(const QString& id);
  void refresh();  // weights may have come since
  void predict(const QStringList& files);
  void saveTo(const QString& csv);
  const std::optional<Predictions>& predictions() const { return m_predictions; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void chooseFiles();
  void typeRow();
  void predictRow();
  QStringList asked(const RunRecord& run) const;  // what the engine is asked: of m_files, with the chosen weights
  void ask();
  void saveDialog();
  void take(const QByteArray& output);
  void say(const char* kind, const QString& sentence);
  void fill();
  void showSample(int row);
  void showRefused(int row);
  void clearOutputs();
  void fitForm();  // scrolls where it would leave no room for the answer
  QString chosenWeights() const;

  AppContext& m_context;
  QString m_run;
  QStringList m_files;
  bool m_typed = false;  // the file is the row that was typed
  RunInput::Takes m_takes = RunInput::Takes::anything;
  std::unique_ptr<QTemporaryDir> m_folder;
  std::optional<Predictions> m_predictions;
  RunLine& m_engine;
  RunCall m_ask, m_save;
  QString m_saved;
  EmptyState* m_empty;
  QWidget* m_body;
  QLabel *m_words, *m_title, *m_picture, *m_truth;
  Button *m_choose, *m_type, *m_keep;
  SegmentedControl* m_weights;
  RowForm* m_form;
  QScrollArea* m_formArea;
  QTableWidget* m_table;
  QWidget *m_result, *m_detail;
  QVBoxLayout* m_outputs;
};

}  // namespace loom

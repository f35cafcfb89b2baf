#pragma once
// The tab Evaluation of a run: what it gets wrong on samples whose truth is known, and how far its shares can be
// trusted. The resident engine computes it beside the window, into the run's folder (`evaluations`), where it is found
// again; the report is read beside the window, too. What it is compared with is another run's report of the same kind.
// Of a run on a host the host's engine computes it there, where weights and data are, and the report comes back.
#include <QWidget>
#include <memory>

#include "app/page.h"
#include "app/pages/training/sample_faces.h"
#include "engine/evaluation/report.h"
#include "launcher/preview/run_line.h"
#include "launcher/remote/host_answers.h"
#include "widgets/document/background.h"

class QLabel;
class QProgressBar;
class QStackedWidget;
class QTemporaryDir;

namespace loom {

class Button;
class ChoiceField;
class EmptyState;
class EvaluationBoard;
struct EvaluationPart;
class SegmentedControl;

class RunEvaluation : public QWidget {
  Q_OBJECT

 public:
  // `engine`: of this machine; outlives this.
  RunEvaluation(AppContext& context, RunLine& engine, QWidget* parent = nullptr);
  ~RunEvaluation() override;
  void setRun(const QString& id);
  void refresh();  // weights may have come since
  void evaluate();
  void evaluateFile(const QString& csv);
  void compareWith(const QString& run);  // empty = with none
  void saveTo(const QString& folder);    // tables as CSV, charts as PNG
  const EvaluationReport* report() const { return m_report.get(); }
  EvaluationBoard& board() { return *m_board; }

 private:
  enum class Part { validation, training, file };
  struct Wish {
    QString run, part, weights, file;  // as `loom evaluate` is told
    bool there = false;                // on the run's host
    QString name() const;              // of its folder
  };
  Wish wish() const;
  Wish wishOf(const QString& other) const;   // another run on the same samples
  QString hostOf(const QString& run) const;  // that can be asked; empty = none
  bool isThere() const;
  // Who answers about the run of a wish; `kept` holds the one of a host.
  RunAnswers& answersFor(const Wish& wish, std::unique_ptr<HostAnswers>& kept);
  QStringList samplesOf(const Wish& wish) const;  // as evaluate and look are told
  QString folderOf(const Wish& wish, bool make);
  QStringList argumentsFor(const Wish& wish, const QString& folder) const;
  void partChosen(int index);
  void whereChosen();
  void look();  // for a report that was made before
  void wantFaces(const QList<qint64>& samples);
  void nextFace();
  void takeFace(const QByteArray& output);
  void askAboutSample();
  void takeSample(const QByteArray& output);
  void openInData();
  void bring(const Wish& wish, const QString& folder, HostAnswers& from, int& question);
  void load(const QString& folder, bool wanted);
  void show(std::shared_ptr<const EvaluationReport> report);
  void fail(const QString& sentence);
  void stop();
  void listRuns();
  void take(std::shared_ptr<const EvaluationReport> other);
  void loadOther(const QString& folder, bool wanted);
  void exportMenu();
  void exportDialog(const EvaluationPart& part, const QString& kind);
  void exportPart(const EvaluationPart& part, const QString& kind, const QString& file);
  void tellWritten(const QString& place, const QString& fault);
  void saveDialog();
  void fileDialog();

  AppContext& m_context;
  QString m_run, m_file, m_against, m_otherFolder;
  Part m_part = Part::validation;
  QString m_fault, m_folder;  // why there is none; where the report lies
  std::shared_ptr<const EvaluationReport> m_report;
  std::unique_ptr<QTemporaryDir> m_temporary;  // where the run's folder cannot be written
  std::optional<Background<RunEvaluation>> m_reading, m_readingOther;
  RunLine& m_engine;
  std::unique_ptr<HostAnswers> m_there, m_otherThere;
  QString m_thereRun, m_otherThereRun;  // whose they are
  RunCall m_call, m_otherCall, m_sampleCall, m_faceCall;
  int m_bringing = 0, m_bringingOther = 0;  // questions of m_there and m_otherThere; 0: none
  SampleFaces m_faces;
  QList<qint64> m_facesWanted;  // of a host, the last ones first

  QWidget* m_bar;
  ChoiceField *m_where, *m_parts;
  SegmentedControl* m_weights;
  Button *m_evaluate, *m_stop, *m_save;
  QLabel *m_words, *m_progressWords;
  QStackedWidget* m_stack;
  EmptyState* m_empty;
  QWidget* m_working;
  QProgressBar* m_progress;
  EvaluationBoard* m_board;
};

}  // namespace loom

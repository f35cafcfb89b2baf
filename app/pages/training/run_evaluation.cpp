#include "app/pages/training/run_evaluation.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QStackedWidget>
#include <QTemporaryDir>
#include <QVBoxLayout>

#include "app/pages/training/evaluation_board.h"
#include "app/pages/training/evaluation_side.h"
#include "app/trained_runs.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "launcher/store/run_store.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/evaluation/sample_cards.h"

namespace loom {
namespace {

constexpr std::size_t kLargestReport = std::size_t{512} << 20;
constexpr const char* kReport = "report.json";

// Null where there is none; throws Error where it cannot be understood.
std::shared_ptr<const EvaluationReport> readReport(const QString& folder) {
  const std::filesystem::path file = QDir(folder).filePath(QString::fromLatin1(kReport)).toStdString();
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return nullptr;
  return std::make_shared<EvaluationReport>(
      evaluationReportFromJson(parseJson(readFile(file, kLargestReport), file.string())));
}

}  // namespace

RunEvaluation::RunEvaluation(AppContext& context, QWidget* parent) : QWidget(parent), m_context(context) {
  setObjectName("run-evaluation");
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  m_bar = new QWidget;
  auto* const edge = new QVBoxLayout(m_bar);
  edge->setContentsMargins(20, 8, 20, 8);
  auto* const tools = new QWidget;
  edge->addWidget(tools);
  auto* const row = new FlowLayout(tools, 8);
  m_parts = new ChoiceField;
  m_parts->setObjectName("evaluation-part");
  m_parts->setPrefix(tr("Evaluate on"));
  m_parts->addItems({tr("validation samples"), tr("training samples"), tr("another file...")});
  m_weights = new SegmentedControl;
  m_weights->setObjectName("evaluation-weights");
  m_weights->setAccessibleName(tr("Which weights are evaluated"));
  m_evaluate = new Button("play", tr("Evaluate"), ButtonKind::outlined);
  m_evaluate->setObjectName("evaluation-again");
  m_save = new Button("export", tr("Save..."), ButtonKind::outlined);
  m_save->setObjectName("evaluation-save");
  m_words = makeLabel("hint");
  m_words->setObjectName("evaluation-words");
  for (QWidget* each : std::initializer_list<QWidget*>{m_parts, m_weights, m_evaluate, m_save, m_words})
    row->addWidget(each);
  column->addWidget(m_bar);
  column->addWidget(hairline());

  m_stack = new QStackedWidget;
  m_empty = new EmptyState(Figure::samples, {});
  m_empty->actionButton()->setObjectName("evaluation-start");
  m_empty->linkButton()->setObjectName("evaluation-other");
  m_working = new QWidget;
  auto* const working = new QVBoxLayout(m_working);
  working->setAlignment(Qt::AlignCenter);
  working->setSpacing(10);
  m_progressWords = makeLabel("label");
  m_progressWords->setObjectName("evaluation-progress-words");
  m_progressWords->setAlignment(Qt::AlignCenter);
  m_progress = new QProgressBar;
  m_progress->setObjectName("evaluation-progress");
  m_progress->setTextVisible(false);
  m_progress->setFixedWidth(320);
  m_stop = new Button(tr("Stop"), ButtonKind::outlined);
  m_stop->setObjectName("evaluation-stop");
  working->addWidget(m_progressWords);
  working->addWidget(m_progress, 0, Qt::AlignCenter);
  working->addWidget(m_stop, 0, Qt::AlignCenter);
  m_board = new EvaluationBoard;
  for (QWidget* each : std::initializer_list<QWidget*>{m_empty, m_working, m_board}) m_stack->addWidget(each);
  column->addWidget(m_stack, 1);

  connect(m_parts, &QComboBox::activated, this, &RunEvaluation::partChosen);
  connect(m_weights, &SegmentedControl::currentChanged, this, &RunEvaluation::look);
  connect(m_evaluate, &Button::clicked, this, &RunEvaluation::evaluate);
  connect(m_empty, &EmptyState::actionTriggered, this, &RunEvaluation::evaluate);
  connect(m_empty, &EmptyState::linkTriggered, this, &RunEvaluation::fileDialog);
  connect(m_stop, &Button::clicked, this, &RunEvaluation::stop);
  connect(m_save, &Button::clicked, this, &RunEvaluation::saveDialog);
  connect(&m_call, &LoomCall::told, this, [this](const QByteArray& line) {
    const Json told = Json::parse(line.toStdString(), nullptr, false);
    if (told.is_discarded() || !told.is_object() || !told.contains("done") || !told.contains("all")) return;
    const auto done = told["done"].get<double>(), all = told["all"].get<double>();
    m_progress->setRange(0, 1000);
    m_progress->setValue(all > 0 ? static_cast<int>(1000 * done / all) : 0);
    m_progressWords->setText(tr("%1 of %2 samples").arg(formatCount(done), formatCount(all)));
  });
  connect(&m_call, &LoomCall::answered, this, [this] { load(m_folder, true); });
  connect(&m_call, &LoomCall::refused, this, &RunEvaluation::fail);
  connect(&m_otherCall, &LoomCall::answered, this, [this] { loadOther(m_otherFolder, true); });
  connect(&m_otherCall, &LoomCall::refused, this,
          [this](const QString& sentence) { m_board->side().setDifference({}, sentence); });
  connect(&m_board->side(), &EvaluationSide::againstChosen, this, &RunEvaluation::compareWith);
  connect(&m_board->cards(), &SampleCards::facesWanted, &m_faces, &SampleFaces::ask);
  connect(&m_faces, &SampleFaces::known, &m_board->cards(), &SampleCards::setFace);
}

RunEvaluation::~RunEvaluation() {
  for (auto* each : {&m_reading, &m_readingOther})
    if (*each) (*each)->cancel();
}

QString RunEvaluation::Wish::name() const {
  if (file.isEmpty()) return part + '-' + weights;
  const QByteArray hash = QCryptographicHash::hash(file.toUtf8(), QCryptographicHash::Sha1).toHex().left(12);
  return QStringLiteral("file-%1-%2").arg(QString::fromLatin1(hash), weights);
}

RunEvaluation::Wish RunEvaluation::wish() const {
  const RunRecord* const run = m_context.store->find(m_run);
  const bool best = run && hasBest(*run) && m_weights->current() == 0;
  return {.run = m_run,
          .part = m_part == Part::training ? QStringLiteral("training") : QStringLiteral("validation"),
          .weights = QString::fromLatin1(toKey(best ? RunWeights::best : RunWeights::last)),
          .file = m_part == Part::file ? m_file : QString()};
}

// Beside the run's checkpoints; where that cannot be written, until the window is closed.
QString RunEvaluation::folderOf(const Wish& wish, bool make) {
  const RunRecord* const run = m_context.store->find(wish.run);
  if (!run) return {};
  const QString here = run->folder + QStringLiteral("/evaluations/") + wish.name();
  const QString apart = m_temporary ? m_temporary->filePath(wish.run + '/' + wish.name()) : QString();
  if (!make) return !apart.isEmpty() && QFileInfo::exists(apart) ? apart : here;
  if (QDir().mkpath(here) && QFileInfo(here).isWritable()) return here;
  if (!m_temporary) m_temporary = std::make_unique<QTemporaryDir>();
  return m_temporary->filePath(wish.run + '/' + wish.name());
}

QStringList RunEvaluation::argumentsFor(const Wish& wish, const QString& folder) const {
  const RunRecord* const run = m_context.store->find(wish.run);
  QStringList arguments{"evaluate", run->folder, "--checkpoint", wish.weights,
                        "--report", folder,      "--json",       "--progress"};
  if (!wish.file.isEmpty())
    arguments << "--data" << wish.file;
  else
    arguments << "--part" << wish.part;
  return arguments;
}

void RunEvaluation::setRun(const QString& id) {
  if (id != m_run) {
    m_call.cancel();
    m_otherCall.cancel();
    m_run = id;
    m_against.clear();
    m_part = Part::validation;
    m_parts->setCurrentIndex(0);
    m_fault.clear();
    m_report.reset();
    refresh();
    look();
  }
  refresh();
}

void RunEvaluation::refresh() {
  const RunRecord* const run = m_context.store->find(m_run);
  const bool trained = run && hasWeightsHere(*run);
  if (trained) {
    QStringList weights;
    if (hasBest(*run)) weights << wordsOf(*run, RunWeights::best);
    weights << wordsOf(*run, RunWeights::last);
    m_weights->setLabels(weights);
    m_weights->setVisible(weights.size() > 1);
  }
  const bool works = m_call.runs();
  m_bar->setVisible(trained);
  m_parts->setEnabled(!works);
  m_weights->setEnabled(!works);
  m_evaluate->setVisible(m_report && !works);
  m_evaluate->setText(tr("Evaluate again"));
  m_save->setVisible(m_report && !works);
  m_words->setVisible(m_report && !works);
  const bool failed = trained && !m_fault.isEmpty();
  m_empty->setSentence(!run ? tr("No run yet: Train starts one, and what it gets wrong stands here")
                       : !trained
                           ? tr("%1 has no weights on this machine: they come with its first checkpoint, or with "
                                "Fetch beside its model")
                                 .arg(run->name)
                       : failed ? m_fault
                                : tr("See what %1 gets wrong, class by class and sample by sample").arg(run->name));
  m_empty->setAction("play", !trained ? QString() : failed ? tr("Try again") : tr("Evaluate"));
  m_empty->setLink(trained ? tr("Another file...") : QString());
  m_stack->setCurrentWidget(works ? m_working : m_report && trained ? static_cast<QWidget*>(m_board) : m_empty);
}

void RunEvaluation::partChosen(int index) {
  if (index == 2) return fileDialog();
  m_part = index == 1 ? Part::training : Part::validation;
  look();
}

void RunEvaluation::fileDialog() {
  auto* const dialog =
      new QFileDialog(window(), tr("Evaluate on"), {}, tr("Tables (*.csv)") + ";;" + tr("All files (*)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, &RunEvaluation::evaluateFile);
  connect(dialog, &QDialog::rejected, this, [this] { m_parts->setCurrentIndex(static_cast<int>(m_part)); });
  dialog->open();
}

void RunEvaluation::evaluateFile(const QString& csv) {
  m_part = Part::file;
  m_file = csv;
  m_parts->setItemText(2, QFileInfo(csv).fileName());
  m_parts->setCurrentIndex(2);
  evaluate();
}

void RunEvaluation::evaluate() {
  const RunRecord* const run = m_context.store->find(m_run);
  if (!run || !hasWeightsHere(*run)) return;
  m_fault.clear();
  m_folder = folderOf(wish(), true);
  m_progress->setRange(0, 0);
  m_progressWords->setText(tr("Reading weights and samples"));
  m_call.start(argumentsFor(wish(), m_folder));
  refresh();
  m_stop->setFocus(Qt::OtherFocusReason);
}

void RunEvaluation::stop() {
  m_call.cancel();
  refresh();
}

void RunEvaluation::look() {
  m_report.reset();
  m_fault.clear();
  m_faces.close();
  refresh();
  if (m_context.store->find(m_run)) load(folderOf(wish(), false), false);
}

// `wanted`: it was just made, so that it is a fault where it cannot be read.
void RunEvaluation::load(const QString& folder, bool wanted) {
  if (m_reading) m_reading->cancel();
  m_reading.emplace(this);
  m_folder = folder;
  m_reading->start([folder, wanted](const Background<RunEvaluation>& here) {
    try {
      here.post([report = readReport(folder), wanted](RunEvaluation& tab) {
        if (report)
          tab.show(report);
        else if (wanted)
          tab.fail(tr("The report is not where loom should have written it"));
      });
    } catch (const std::exception& error) {
      if (!wanted) return;  // of another version, or damaged: it is made again
      here.post([sentence = QString::fromUtf8(error.what())](RunEvaluation& tab) { tab.fail(sentence); });
    }
  });
}

void RunEvaluation::fail(const QString& sentence) {
  m_report.reset();
  m_fault = sentence;
  refresh();
}

void RunEvaluation::show(std::shared_ptr<const EvaluationReport> report) {
  if (report->outputs.empty()) return fail(tr("Nothing of what the network says is compared with anything"));
  m_report = std::move(report);
  m_board->setReport(m_report);
  const RunRecord* const run = m_context.store->find(m_run);
  if (run) m_faces.open(*m_report, *run);
  const bool gone = !QFileInfo::exists(QString::fromStdString(m_report->checkpoint));
  m_words->setText(tr("%1 in %2, weights of step %3%4")
                       .arg(counted(m_report->samples, tr("samples")), formatDuration(m_report->seconds),
                            formatCount(static_cast<double>(m_report->step)),
                            gone ? tr("; the run has newer weights") : QString()));
  listRuns();
  compareWith(m_against);
  refresh();
}

// The other runs of the project that have weights here, the newest first.
void RunEvaluation::listRuns() {
  QList<std::pair<QString, QString>> others;
  for (const RunRecord& each : m_context.workspace->runs())
    if (each.id != m_run && hasWeightsHere(each)) others.prepend({each.name, each.id});
  m_board->side().setRuns(others, m_against);
}

void RunEvaluation::compareWith(const QString& run) {
  m_against = run;
  m_otherCall.cancel();
  m_board->side().setDifference({}, {});
  const RunRecord* const other = m_context.store->find(run);
  if (!other || !m_report) return;
  Wish same = wish();
  same.run = run;
  if (!hasBest(*other)) same.weights = QString::fromLatin1(toKey(RunWeights::last));
  m_otherFolder = folderOf(same, false);
  loadOther(m_otherFolder, false);
}

void RunEvaluation::loadOther(const QString& folder, bool wanted) {
  if (m_readingOther) m_readingOther->cancel();
  m_readingOther.emplace(this);
  m_readingOther->start([folder, wanted](const Background<RunEvaluation>& here) {
    std::shared_ptr<const EvaluationReport> report;
    QString fault;
    try {
      report = readReport(folder);
    } catch (const std::exception& error) {
      fault = QString::fromUtf8(error.what());
    }
    here.post([report, fault, wanted](RunEvaluation& tab) {
      if (report || wanted) {
        report ? tab.take(report) : tab.m_board->side().setDifference({}, fault);
        return;
      }
      // It was not evaluated on these samples yet.
      Wish same = tab.wish();
      same.run = tab.m_against;
      const RunRecord* const other = tab.m_context.store->find(same.run);
      if (!other) return;
      if (!hasBest(*other)) same.weights = QString::fromLatin1(toKey(RunWeights::last));
      tab.m_otherFolder = tab.folderOf(same, true);
      tab.m_board->side().setDifference({}, tr("Evaluating %1 on the same samples").arg(other->name));
      tab.m_otherCall.start(tab.argumentsFor(same, tab.m_otherFolder));
    });
  });
}

void RunEvaluation::take(std::shared_ptr<const EvaluationReport> other) {
  if (!m_report || other->outputs.empty()) return;
  if (other->content != m_report->content || other->samples != m_report->samples)
    return m_board->side().setDifference(
        {}, tr("It was evaluated on other samples: %1 of %2")
                .arg(formatCount(static_cast<double>(other->samples)), QString::fromStdString(other->csv)));
  const EvaluatedOutput &one = other->outputs.front(), &now = m_report->outputs.front();
  if (now.kind == EvaluatedOutput::numbers)
    return m_board->side().setDifference(
        {}, tr("R² there %1, mean error %2").arg(formatFixed(one.regression.r2, 4), formatShort(one.regression.mae)));
  m_board->side().setDifference(EvaluationReport::Other{other->run, one.accuracy.share, compare(one.worst, now.worst)},
                                {});
}

void RunEvaluation::saveDialog() {
  auto* const dialog = new QFileDialog(window(), tr("A folder for tables and pictures"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::Directory);
  dialog->setOption(QFileDialog::ShowDirsOnly);
  dialog->setAcceptMode(QFileDialog::AcceptOpen);
  connect(dialog, &QFileDialog::fileSelected, this, &RunEvaluation::saveTo);
  dialog->open();
}

// The pictures are drawn here, everything is written beside the window.
void RunEvaluation::saveTo(const QString& folder) {
  if (!m_report) return;
  const auto pictures = m_board->pictures();
  Background<RunEvaluation>(this).start([folder, report = m_report, pictures](const Background<RunEvaluation>& here) {
    QString fault;
    try {
      writeReport(folder.toStdString(), *report);
      for (const auto& [name, picture] : pictures)
        if (!picture.save(folder + '/' + name + QStringLiteral(".png")))
          fault = tr("%1.png cannot be written to %2").arg(name, folder);
    } catch (const std::exception& error) {
      fault = QString::fromUtf8(error.what());
    }
    here.post([folder, fault](RunEvaluation& tab) {
      if (!fault.isEmpty()) return tab.m_words->setText(fault);
      if (tab.m_context.notify) tab.m_context.notify({tr("The evaluation is written to %1").arg(folder), {}, {}});
    });
  });
}

}  // namespace loom

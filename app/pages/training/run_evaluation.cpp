#include "app/pages/training/run_evaluation.h"

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
#include "app/pages/training/sample_panel.h"
#include "app/trained_runs.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "launcher/remote/host_lines.h"
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

RunEvaluation::RunEvaluation(AppContext& context, RunLine& engine, QWidget* parent)
    : QWidget(parent), m_context(context), m_engine(engine) {
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
  m_where = new ChoiceField;
  m_where->setObjectName("evaluation-where");
  m_where->setPrefix(tr("On"));
  m_where->setAccessibleName(tr("The machine that evaluates"));
  m_parts = new ChoiceField;
  m_parts->setObjectName("evaluation-part");
  m_parts->setPrefix(tr("Evaluate on"));
  m_parts->addItems({tr("validation samples"), tr("training samples"), tr("another file...")});
  m_weights = new SegmentedControl;
  m_weights->setObjectName("evaluation-weights");
  m_weights->setAccessibleName(tr("Which weights are evaluated"));
  m_evaluate = new Button("play", tr("Evaluate"), ButtonKind::outlined);
  m_evaluate->setObjectName("evaluation-again");
  m_save = new Button("export", tr("Export"), ButtonKind::outlined);
  m_save->setObjectName("evaluation-save");
  m_words = makeLabel("hint");
  m_words->setObjectName("evaluation-words");
  for (QWidget* each : std::initializer_list<QWidget*>{m_where, m_parts, m_weights, m_evaluate, m_save, m_words})
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

  connect(m_where, &QComboBox::activated, this, &RunEvaluation::whereChosen);
  connect(m_parts, &QComboBox::activated, this, &RunEvaluation::partChosen);
  connect(m_weights, &SegmentedControl::currentChanged, this, &RunEvaluation::look);
  connect(m_evaluate, &Button::clicked, this, &RunEvaluation::evaluate);
  connect(m_empty, &EmptyState::actionTriggered, this, &RunEvaluation::evaluate);
  connect(m_empty, &EmptyState::linkTriggered, this, &RunEvaluation::fileDialog);
  connect(m_stop, &Button::clicked, this, &RunEvaluation::stop);
  connect(m_save, &Button::clicked, this, &RunEvaluation::exportMenu);
  connect(&m_call, &RunCall::told, this, [this](const QByteArray& line) {
    const Json told = Json::parse(line.toStdString(), nullptr, false);
    if (told.is_discarded() || !told.is_object() || !told.contains("done") || !told.contains("all")) return;
    const auto done = told["done"].get<double>(), all = told["all"].get<double>();
    m_progress->setRange(0, 1000);
    m_progress->setValue(all > 0 ? static_cast<int>(1000 * done / all) : 0);
    m_progressWords->setText(tr("%1 of %2 samples").arg(formatCount(done), formatCount(all)));
  });
  connect(&m_call, &RunCall::answered, this, [this] {
    const Wish done = wish();
    done.there&& m_there ? bring(done, m_folder, *m_there, m_bringing) : load(m_folder, true);
  });
  connect(&m_call, &RunCall::refused, this, &RunEvaluation::fail);
  connect(&m_otherCall, &RunCall::answered, this, [this] {
    const Wish done = wishOf(m_against);
    done.there&& m_otherThere ? bring(done, m_otherFolder, *m_otherThere, m_bringingOther)
                              : loadOther(m_otherFolder, true);
  });
  connect(&m_otherCall, &RunCall::refused, this,
          [this](const QString& sentence) { m_board->side().setDifference({}, sentence); });
  connect(&m_sampleCall, &RunCall::answered, this, &RunEvaluation::takeSample);
  connect(&m_sampleCall, &RunCall::refused, &m_board->panel(), &SamplePanel::setFault);
  connect(&m_board->panel(), &SamplePanel::wanted, this, &RunEvaluation::askAboutSample);
  connect(&m_board->panel(), &SamplePanel::dataWanted, this, &RunEvaluation::openInData);
  connect(&m_board->panel(), &SamplePanel::closed, &m_sampleCall, &RunCall::cancel);
  connect(&m_board->panel(), &SamplePanel::faceWanted, this, [this](qint64 sample) { wantFaces({sample}); });
  connect(&m_faces, &SampleFaces::known, &m_board->panel(), &SamplePanel::setFace);
  connect(&m_board->side(), &EvaluationSide::againstChosen, this, &RunEvaluation::compareWith);
  connect(&m_board->cards(), &SampleCards::facesWanted, this, &RunEvaluation::wantFaces);
  connect(&m_faceCall, &RunCall::answered, this, &RunEvaluation::takeFace);
  connect(&m_faceCall, &RunCall::refused, this, [this] { m_facesWanted.clear(); });  // the cards say what was said
  connect(&m_faces, &SampleFaces::known, &m_board->cards(), &SampleCards::setFace);
}

RunEvaluation::~RunEvaluation() {
  for (auto* each : {&m_reading, &m_readingOther})
    if (*each) (*each)->cancel();
}

void RunEvaluation::setRun(const QString& id) {
  if (id != m_run) {
    for (RunCall* const each : {&m_call, &m_otherCall, &m_sampleCall, &m_faceCall}) each->cancel();
    m_bringing = m_bringingOther = 0;
    m_run = id;
    m_against.clear();
    m_part = Part::validation;
    m_parts->setCurrentIndex(0);
    m_fault.clear();
    m_report.reset();
    m_where->clear();
    m_where->addItem(tr("this machine"));
    if (const QString host = hostOf(id); !host.isEmpty()) {
      m_where->addItem(m_context.hosts->store().find(host)->name);
      const RunRecord* const run = m_context.store->find(id);
      m_where->setCurrentIndex(run && !hasWeightsHere(*run) ? 1 : 0);
    }
    refresh();
    look();
  }
  refresh();
}

void RunEvaluation::whereChosen() {
  m_call.cancel();
  m_sampleCall.cancel();
  look();
}

void RunEvaluation::refresh() {
  const RunRecord* const run = m_context.store->find(m_run);
  const bool there = run && isThere(), trained = run && (hasWeightsHere(*run) || there);
  m_where->setVisible(m_where->count() > 1);
  if (trained) {
    QStringList weights;
    if (hasBest(*run) || there) weights << wordsOf(*run, RunWeights::best);
    weights << wordsOf(*run, RunWeights::last);
    m_weights->setLabels(weights);
    m_weights->setVisible(weights.size() > 1);
  }
  const bool works = m_call.runs() || m_bringing != 0;
  m_bar->setVisible(trained);
  m_parts->setEnabled(!works);
  m_where->setEnabled(!works && run && hasWeightsHere(*run));
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
                       : there  ? tr("See what %1 gets wrong: %2, which has its weights and data, evaluates it")
                                     .arg(run->name, m_where->itemText(1))
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
  const Wish wanted = wish();
  if (!run || (!hasWeightsHere(*run) && !wanted.there)) return;
  if (wanted.there && !wanted.file.isEmpty())
    return fail(tr("%1 lies on this machine, and %2 evaluates on what it has: choose this machine, after Fetch beside "
                   "the model")
                    .arg(QFileInfo(wanted.file).fileName(), m_where->itemText(1)));
  m_fault.clear();
  m_folder = folderOf(wanted, true);
  m_progress->setRange(0, 0);
  m_progressWords->setText(wanted.there ? tr("Asking %1").arg(m_where->itemText(1))
                                        : tr("Reading weights and samples"));
  m_call.start(answersFor(wanted, m_there), argumentsFor(wanted, m_folder));
  refresh();
  m_stop->setFocus(Qt::OtherFocusReason);
}

void RunEvaluation::stop() {
  m_call.cancel();
  if (m_bringing != 0 && m_there) m_there->unask(m_bringing);
  m_bringing = 0;
  refresh();
}

void RunEvaluation::look() {
  m_report.reset();
  m_fault.clear();
  m_faces.close();
  m_faceCall.cancel();
  m_facesWanted.clear();
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
  // What a host evaluated names a file there.
  const bool here = run && QString::fromStdString(m_report->run) == run->folder;
  const bool gone = here && !QFileInfo::exists(QString::fromStdString(m_report->checkpoint));
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
    if (each.id != m_run && (hasWeightsHere(each) || !hostOf(each.id).isEmpty())) others.prepend({each.name, each.id});
  m_board->side().setRuns(others, m_against);
}

void RunEvaluation::compareWith(const QString& run) {
  m_against = run;
  m_otherCall.cancel();
  m_board->side().setDifference({}, {});
  m_board->setOther(nullptr);
  if (!m_context.store->find(run) || !m_report) return;
  m_otherFolder = folderOf(wishOf(run), false);
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
      const Wish same = tab.wishOf(tab.m_against);
      const RunRecord* const other = tab.m_context.store->find(same.run);
      if (!other) return;
      tab.m_otherFolder = tab.folderOf(same, true);
      tab.m_board->side().setDifference({}, tr("Evaluating %1 on the same samples").arg(other->name));
      tab.m_otherCall.start(tab.answersFor(same, tab.m_otherThere), tab.argumentsFor(same, tab.m_otherFolder));
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
  m_board->setOther(other);
  m_board->side().setDifference(EvaluationReport::Other{other->run, one.accuracy.share, compare(one.worst, now.worst)},
                                {});
}

}  // namespace loom

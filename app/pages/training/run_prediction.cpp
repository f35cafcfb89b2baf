#include "app/pages/training/run_prediction.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/training/roomy_delegate.h"
#include "engine/data/sample_files.h"
#include "launcher/store/run_store.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kRowsShown = 1000, kDetailWidth = 300, kIconSide = 24;

QString takenWords(RunInput::Takes takes) {
  switch (takes) {
    case RunInput::Takes::rows:
      return RunPrediction::tr("a CSV");
    case RunInput::Takes::pictures:
      return RunPrediction::tr("pictures or a CSV");
    case RunInput::Takes::sounds:
      return RunPrediction::tr("sounds or a CSV");
    case RunInput::Takes::anything:
      break;
  }
  return RunPrediction::tr("pictures, sounds or a CSV");
}

bool reads(RunInput::Takes takes, SampleFileKind kind) {
  return takes == RunInput::Takes::anything || (takes == RunInput::Takes::pictures && kind != SampleFileKind::sound) ||
         (takes == RunInput::Takes::sounds && kind != SampleFileKind::picture);
}

}  // namespace

RunPrediction::RunPrediction(AppContext& context, RunLine& engine, QWidget* parent)
    : QStackedWidget(parent), m_context(context), m_engine(engine) {
  setObjectName("run-prediction");
  m_empty = new EmptyState(Figure::samples, {});
  m_empty->linkButton()->setObjectName("predict-type-empty");
  addWidget(m_empty);
  m_body = new QWidget;
  auto* const column = new QVBoxLayout(m_body);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* const bar = new QWidget;
  auto* const row = new FlowLayout(bar, 8);
  row->setContentsMargins(20, 10, 20, 6);
  m_choose = new Button(tr("Choose files..."), ButtonKind::outlined);
  m_choose->setObjectName("predict-choose");
  m_type = new Button(tr("Type a row..."), ButtonKind::outlined);
  m_type->setObjectName("predict-type");
  m_weights = new SegmentedControl;
  m_weights->setObjectName("predict-weights");
  m_weights->setAccessibleName(tr("Which weights predict"));
  m_keep = new Button(tr("Save as CSV..."), ButtonKind::outlined);
  m_keep->setObjectName("predict-save");
  for (QWidget* each : std::initializer_list<QWidget*>{m_choose, m_type, m_weights, m_keep}) row->addWidget(each);
  column->addWidget(bar);
  m_form = new RowForm;
  m_formArea = new QScrollArea;
  m_formArea->setObjectName("predict-form");
  m_formArea->setWidgetResizable(true);
  m_formArea->setFrameShape(QFrame::NoFrame);
  m_formArea->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_formArea->setWidget(m_form);
  m_formArea->hide();
  column->addWidget(m_formArea);
  m_words = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_words->setObjectName("predict-words");
  m_words->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_words->setContentsMargins(20, 0, 20, 6);
  column->addWidget(m_words);

  m_result = new QWidget;
  auto* const result = new QHBoxLayout(m_result);
  result->setContentsMargins(0, 0, 0, 0);
  result->setSpacing(0);
  m_table = new QTableWidget;
  m_table->setObjectName("predict-table");
  m_table->setAccessibleName(tr("Predicted samples"));
  m_table->verticalHeader()->hide();
  const auto restyle = [this] {
    const Theme& theme = Theme::of(this);
    m_table->verticalHeader()->setDefaultSectionSize(theme.size(Size::tableRow));
    for (int row = 0; row < m_table->rowCount(); ++row)
      for (int column = 0; column < m_table->columnCount(); ++column)
        if (QTableWidgetItem* const item = m_table->item(row, column); item && item->textAlignment() & Qt::AlignRight)
          item->setFont(theme.numberFont(FontRole::label));
  };
  restyle();
  connect(context.theme, &Theme::changed, m_table, restyle);
  m_table->setItemDelegate(new RoomyDelegate(m_table));
  m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->setShowGrid(false);
  m_table->setFrameShape(QFrame::NoFrame);
  m_table->setIconSize({kIconSide, kIconSide});
  m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  result->addWidget(m_table, 1);
  result->addWidget(hairline(Qt::Vertical));
  auto* const scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  keepWidth(scroll, kDetailWidth);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_detail = new QWidget;
  m_detail->setObjectName("predict-detail");
  auto* const detail = new QVBoxLayout(m_detail);
  detail->setContentsMargins(20, 12, 20, 16);
  detail->setSpacing(10);
  m_title = makeLabel("heading");
  m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_picture = new QLabel;
  m_truth = makeLabel("hint", {}, nullptr, Wrap::yes);
  detail->addWidget(m_title);
  detail->addWidget(m_picture);
  m_outputs = new QVBoxLayout;
  m_outputs->setSpacing(6);
  detail->addLayout(m_outputs);
  detail->addWidget(m_truth);
  detail->addStretch();
  scroll->setWidget(m_detail);
  result->addWidget(scroll);
  column->addWidget(m_result, 1);
  column->addStretch(0);
  addWidget(m_body);

  connect(m_empty, &EmptyState::actionTriggered, this, &RunPrediction::chooseFiles);
  connect(m_empty, &EmptyState::linkTriggered, this, &RunPrediction::typeRow);
  connect(m_choose, &Button::clicked, this, &RunPrediction::chooseFiles);
  connect(m_type, &Button::clicked, this, &RunPrediction::typeRow);
  connect(m_keep, &Button::clicked, this, &RunPrediction::saveDialog);
  connect(m_form, &RowForm::wanted, this, &RunPrediction::predictRow);
  connect(m_form, &RowForm::arranged, this, &RunPrediction::fitForm, Qt::QueuedConnection);
  connect(context.theme, &Theme::changed, this, &RunPrediction::fitForm, Qt::QueuedConnection);
  connect(m_weights, &SegmentedControl::currentChanged, this, &RunPrediction::ask);
  connect(m_table, &QTableWidget::currentCellChanged, this, [this](int now) { showSample(now); });
  connect(&m_ask, &RunCall::answered, this, &RunPrediction::take);
  connect(&m_ask, &RunCall::refused, this, [this](const QString& sentence) { say("error", sentence); });
  connect(&m_save, &RunCall::answered, this, [this] {
    const QString left =
        m_predictions && !m_predictions->refused.empty()
            ? tr(" without %1").arg(counted(static_cast<qint64>(m_predictions->refused.size()), tr("files")))
            : QString();
    if (m_context.notify) m_context.notify({tr("%1 written").arg(QFileInfo(m_saved).fileName()) + left, {}, {}});
  });
  connect(&m_save, &RunCall::refused, this,
          [this](const QString& sentence) { say("error", tr("%1 was not written: %2").arg(m_saved, sentence)); });
}

void RunPrediction::setRun(const QString& id) {
  if (id != m_run) {
    m_run = id;
    m_ask.cancel();
    m_files.clear();
    m_predictions.reset();
    m_formArea->hide();
    const RunRecord* const run = m_context.store->find(id);
    const RunInput input = run ? runInputOf(*run) : RunInput();
    m_takes = input.takes;
    m_form->setColumns(input.columns);
    m_words->hide();
  }
  refresh();
}

void RunPrediction::refresh() {
  const RunRecord* const run = m_context.store->find(m_run);
  const bool trained = run && hasWeightsHere(*run), types = !m_form->isEmpty();
  const bool shows = trained && (!m_files.isEmpty() || !m_formArea->isHidden());
  m_empty->setSentence(!run ? tr("No run yet: Train starts one, and it predicts here")
                       : !trained
                           ? tr("%1 has no weights on this machine: they come with its first checkpoint, or with "
                                "Fetch beside its model")
                                 .arg(run->name)
                           : tr("Drop %1 here, and see what %2 says").arg(takenWords(m_takes), run->name));
  m_empty->setAction("import", trained ? tr("Choose files...") : QString());
  m_empty->setLink(trained && types ? tr("Type a row") : QString());
  m_type->setVisible(types);
  if (trained) {
    QStringList weights;
    if (hasBest(*run)) weights << wordsOf(*run, RunWeights::best);
    weights << wordsOf(*run, RunWeights::last);
    m_weights->setLabels(weights);
    m_weights->setVisible(weights.size() > 1);
  }
  m_keep->setEnabled(m_predictions && !m_ask.runs());
  m_result->setVisible(m_predictions.has_value());
  setCurrentWidget(shows ? m_body : static_cast<QWidget*>(m_empty));
}

QString RunPrediction::chosenWeights() const {
  const RunRecord* const run = m_context.store->find(m_run);
  const bool best = run && hasBest(*run) && m_weights->current() == 0;
  return QString::fromLatin1(toKey(best ? RunWeights::best : RunWeights::last));
}

void RunPrediction::chooseFiles() {
  QStringList patterns{QStringLiteral("*.csv")};
  for (const SampleEnding& known : sampleEndings())
    if (reads(m_takes, known.kind))
      patterns += "*" + QString::fromUtf8(known.ending.data(), static_cast<int>(known.ending.size()));
  const QStringList files = QFileDialog::getOpenFileNames(
      this, tr("Predict"), {}, tr("What it predicts (%1)").arg(patterns.join(' ')) + ";;" + tr("All files (*)"));
  if (!files.isEmpty()) predict(files);
}

void RunPrediction::typeRow() {
  m_formArea->setVisible(m_formArea->isHidden());
  if (!m_predictions && !m_ask.runs()) m_words->hide();  // what was wrong with another file
  refresh();
  fitForm();
  if (!m_formArea->isHidden()) m_form->focusFirst();
}

void RunPrediction::resizeEvent(QResizeEvent* event) {
  QStackedWidget::resizeEvent(event);
  fitForm();
}

void RunPrediction::fitForm() {
  constexpr int kShare = 45, kLeast = 120;  // percent of the page; px
  const int wanted = m_form->layout()->sizeHint().height();
  m_formArea->setFixedHeight(std::min(wanted, std::max(kLeast, height() * kShare / 100)));
}

void RunPrediction::predictRow() {
  const QByteArray csv = m_form->csv();
  if (csv.isEmpty()) {
    if (QWidget* const first = m_form->focusWidget()) m_formArea->ensureWidgetVisible(first);
    return say("error", m_form->wrong());
  }
  if (!m_folder) m_folder = std::make_unique<QTemporaryDir>();
  QFile file(m_folder->filePath("row.csv"));
  if (!file.open(QIODevice::WriteOnly) || file.write(csv) != csv.size())
    return say("error", tr("The row cannot be written to %1: %2").arg(file.fileName(), file.errorString()));
  file.close();
  m_typed = true;
  m_files = {file.fileName()};
  ask();
}

void RunPrediction::predict(const QStringList& files) {
  m_typed = false;
  m_files = files;
  ask();
}

QStringList RunPrediction::asked(const RunRecord& run) const {
  QStringList words = QStringList{"predict", run.folder} + m_files + QStringList{"--checkpoint", chosenWeights()};
  if (m_typed) words << "--recognised";  // RowForm writes it
  return words;
}

void RunPrediction::ask() {
  const RunRecord* const run = m_context.store->find(m_run);
  if (!run || m_files.isEmpty()) return;
  say("hint", m_typed               ? tr("Predicting the row")
              : m_files.size() == 1 ? tr("Predicting %1").arg(QFileInfo(m_files.first()).fileName())
                                    : tr("Predicting %1").arg(counted(m_files.size(), tr("files"))));
  m_ask.start(m_engine, asked(*run) + QStringList{"--json", "--rows", QString::number(kRowsShown)});
  refresh();
}

void RunPrediction::saveDialog() {
  const QString stem = m_typed ? QStringLiteral("row") : QFileInfo(m_files.first()).completeBaseName();
  const QString folder = m_typed ? QString() : QFileInfo(m_files.first()).absolutePath() + '/';
  const QString file = QFileDialog::getSaveFileName(this, tr("Save the predictions"), folder + stem + "_predicted.csv",
                                                    tr("Table (*.csv)"));
  if (!file.isEmpty()) saveTo(file);
}

void RunPrediction::saveTo(const QString& csv) {
  const RunRecord* const run = m_context.store->find(m_run);
  if (!run || m_files.isEmpty()) return;
  m_saved = csv;
  m_save.start(m_engine, asked(*run) + QStringList{"--out", csv});
}

void RunPrediction::say(const char* kind, const QString& sentence) {
  m_words->setText(sentence);
  setStyleProperty(m_words, "kind", QString::fromLatin1(kind));
  m_words->setMinimumHeight(m_words->heightForWidth(std::max(200, m_words->width())));  // all of its lines
  m_words->setVisible(!sentence.isEmpty());
  if (QString::fromLatin1(kind) == "error") {
    m_predictions.reset();
    refresh();
  }
}

}  // namespace loom

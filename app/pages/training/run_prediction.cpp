#include "app/pages/training/run_prediction.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/pages/training/roomy_delegate.h"
#include "app/row_form.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/data/sample_files.h"
#include "launcher/store/run_store.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/preview/share_bars.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kRowsShown = 1000, kClassesShown = 10, kNumbersShown = 8;
constexpr int kDetailWidth = 300, kThumbnail = 24, kPictureSide = 168;

QString wordOf(const std::string& text) {
  return QString::fromStdString(text);
}

// A small picture is shown with its pixels as they are.
QPixmap pictureOf(const QString& file, int side) {
  const QImage image(file);
  if (image.isNull()) return {};
  const bool grows = image.width() < side && image.height() < side;
  return QPixmap::fromImage(
      image.scaled(side, side, Qt::KeepAspectRatio, grows ? Qt::FastTransformation : Qt::SmoothTransformation));
}

QTableWidgetItem* cellOf(const QString& text, const Theme* numbers = nullptr) {
  auto* const item = new QTableWidgetItem(text);
  item->setFlags(Qt::ItemIsSelectable | Qt::ItemIsEnabled);
  if (numbers) {
    item->setFont(numbers->numberFont(FontRole::label));
    item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
  }
  return item;
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
  m_form->hide();
  column->addWidget(m_form);
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
  m_table->setIconSize({kThumbnail, kThumbnail});
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
  connect(m_weights, &SegmentedControl::currentChanged, this, &RunPrediction::ask);
  connect(m_table, &QTableWidget::currentCellChanged, this, [this](int now) { showSample(now); });
  connect(&m_ask, &RunCall::answered, this, &RunPrediction::take);
  connect(&m_ask, &RunCall::refused, this, [this](const QString& sentence) { say("error", sentence); });
  connect(&m_save, &RunCall::answered, this, [this] {
    if (m_context.notify) m_context.notify({tr("%1 written").arg(QFileInfo(m_saved).fileName()), {}, {}});
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
    m_form->hide();
    const RunRecord* const run = m_context.store->find(id);
    m_form->setColumns(run ? rowColumnsOf(*run) : QList<RowColumn>());
    m_words->hide();
  }
  refresh();
}

void RunPrediction::refresh() {
  const RunRecord* const run = m_context.store->find(m_run);
  const bool trained = run && hasWeightsHere(*run), types = !m_form->isEmpty();
  const bool shows = trained && (!m_files.isEmpty() || !m_form->isHidden());
  m_empty->setSentence(!run ? tr("No run yet: Train starts one, and it predicts here")
                       : !trained
                           ? tr("%1 has no weights on this machine: they come with its first checkpoint, or with "
                                "Fetch beside its model")
                                 .arg(run->name)
                           : tr("Drop a picture, a sound or a CSV here, and see what %1 says").arg(run->name));
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
    patterns += "*" + QString::fromUtf8(known.ending.data(), static_cast<int>(known.ending.size()));
  const QStringList files = QFileDialog::getOpenFileNames(
      this, tr("Predict"), {},
      tr("Pictures, sounds, tables (%1)").arg(patterns.join(' ')) + ";;" + tr("All files (*)"));
  if (!files.isEmpty()) predict(files);
}

void RunPrediction::typeRow() {
  m_form->setVisible(m_form->isHidden());
  refresh();
  if (!m_form->isHidden()) m_form->focusFirst();
}

void RunPrediction::predictRow() {
  const QByteArray csv = m_form->csv();
  if (csv.isEmpty()) return say("error", tr("Each field takes a number"));
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

void RunPrediction::ask() {
  const RunRecord* const run = m_context.store->find(m_run);
  if (!run || m_files.isEmpty()) return;
  say("hint", m_typed               ? tr("Predicting the row")
              : m_files.size() == 1 ? tr("Predicting %1").arg(QFileInfo(m_files.first()).fileName())
                                    : tr("Predicting %1").arg(counted(m_files.size(), tr("files"))));
  m_ask.start(m_engine,
              QStringList{"predict", run->folder} + m_files +
                  QStringList{"--json", "--rows", QString::number(kRowsShown), "--checkpoint", chosenWeights()});
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
  m_save.start(m_engine, QStringList{"predict", run->folder} + m_files +
                             QStringList{"--out", csv, "--checkpoint", chosenWeights()});
}

void RunPrediction::say(const char* kind, const QString& sentence) {
  m_words->setText(sentence);
  setStyleProperty(m_words, "kind", QString::fromLatin1(kind));
  m_words->setVisible(!sentence.isEmpty());
  if (QString::fromLatin1(kind) == "error") {
    m_predictions.reset();
    refresh();
  }
}

void RunPrediction::take(const QByteArray& output) {
  try {
    m_predictions = predictionsFromJson(parseJson(output.toStdString(), "loom predict"));
  } catch (const Error& error) {
    return say("error", QString::fromUtf8(error.what()));
  }
  const auto kept = static_cast<qint64>(m_predictions->kept.size());
  const QString weights = tr("weights of step %1").arg(formatCount(static_cast<double>(m_predictions->step)));
  say("hint",
      kept < m_predictions->samples
          ? tr("The first %1 of %2, %3; a CSV holds all of them")
                .arg(formatCount(static_cast<double>(kept)), counted(m_predictions->samples, tr("samples")), weights)
          : tr("%1, %2").arg(counted(m_predictions->samples, tr("samples")), weights));
  fill();
  refresh();
}

void RunPrediction::fill() {
  const Theme& theme = *m_context.theme;
  const Predictions& all = *m_predictions;
  const bool truth = std::any_of(all.kept.begin(), all.kept.end(), [](const PredictedSample& each) {
    return std::any_of(each.outputs.begin(), each.outputs.end(),
                       [](const auto& output) { return !output.truth.empty(); });
  });
  const bool loss =
      std::any_of(all.kept.begin(), all.kept.end(), [](const auto& each) { return each.loss.has_value(); });
  QStringList heads{tr("Sample")};
  for (const PredictedOutput& output : all.outputs) {
    const QString name = wordOf(output.target.empty() ? output.name : output.target);
    heads << tr("%1 predicted").arg(name);
    if (output.kind != OutputKind::numbers) heads << tr("Share");
    if (truth) heads << tr("%1 true").arg(name);
  }
  if (loss) heads << tr("Loss");
  heads << QString();  // the rest of the room
  const QSignalBlocker quiet(m_table);
  m_table->clear();
  m_table->setColumnCount(static_cast<int>(heads.size()));
  m_table->setHorizontalHeaderLabels(heads);
  m_table->setRowCount(static_cast<int>(all.kept.size()));
  const auto numbersText = [](const std::vector<float>& values) {
    QStringList words;
    for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), kNumbersShown); ++i)
      words << formatShort(values[i]);
    return words.join(QStringLiteral("  ")) + (values.size() > kNumbersShown ? QStringLiteral("  …") : QString());
  };
  for (int row = 0; row < m_table->rowCount(); ++row) {
    const PredictedSample& sample = all.kept[static_cast<std::size_t>(row)];
    int column = 0;
    const QString file = wordOf(sample.source);
    auto* const name = cellOf(!file.isEmpty() ? QFileInfo(file).fileName()
                              : m_typed       ? tr("The typed row")
                                              : tr("Row %1").arg(formatCount(static_cast<double>(sample.sample + 1))));
    if (!file.isEmpty())
      if (const QPixmap picture = pictureOf(file, kThumbnail); !picture.isNull()) name->setIcon(QIcon(picture));
    m_table->setItem(row, column++, name);
    for (std::size_t i = 0; i < all.outputs.size(); ++i) {
      const PredictedOutput& output = all.outputs[i];
      const PredictedSample::Output& said = sample.outputs[i];
      const std::vector<ClassShare> shares = classShares(output, said.values);
      const QString best = shares.empty() ? QString() : wordOf(shares.front().name);
      if (output.kind == OutputKind::numbers) {
        m_table->setItem(row, column++, cellOf(numbersText(said.values), &theme));
      } else {
        m_table->setItem(row, column++, cellOf(best));
        m_table->setItem(row, column++,
                         cellOf(shares.empty() ? QString() : formatPercent(shares.front().share), &theme));
      }
      if (!truth) continue;
      const QString right = said.truth.empty() ? QString()
                            : output.kind == OutputKind::numbers
                                ? numbersText(said.truth)
                                : wordOf(className(output, static_cast<std::int64_t>(said.truth.front())));
      auto* const cell = cellOf(right, output.kind == OutputKind::numbers ? &theme : nullptr);
      if (output.kind != OutputKind::numbers && !right.isEmpty() && right != best) {
        cell->setForeground(theme.colour(Colour::error));
        cell->setToolTip(tr("Another class is true"));
      }
      m_table->setItem(row, column++, cell);
    }
    if (loss) m_table->setItem(row, column++, cellOf(sample.loss ? formatLoss(*sample.loss) : QString(), &theme));
  }
  // Over numbers, which end at the right, their heading does too.
  for (int column = 0; column < m_table->columnCount(); ++column)
    if (const QTableWidgetItem* const first = m_table->item(0, column);
        first && first->textAlignment() & Qt::AlignRight)
      m_table->horizontalHeaderItem(column)->setTextAlignment(Qt::Alignment(first->textAlignment()));
  m_table->resizeColumnsToContents();
  for (int column = 0; column + 1 < m_table->columnCount(); ++column)
    m_table->setColumnWidth(column, std::clamp(m_table->columnWidth(column) + 12, 64, 260));
  m_table->setCurrentCell(0, 0);
  showSample(0);
}

void RunPrediction::showSample(int row) {
  if (!m_predictions || row < 0 || row >= static_cast<int>(m_predictions->kept.size())) return;
  const PredictedSample& sample = m_predictions->kept[static_cast<std::size_t>(row)];
  m_title->setText(m_table->item(row, 0)->text());
  m_title->setToolTip(wordOf(sample.source));
  const QPixmap picture = sample.source.empty() ? QPixmap() : pictureOf(wordOf(sample.source), kPictureSide);
  m_picture->setPixmap(picture);
  m_picture->setVisible(!picture.isNull());
  while (QLayoutItem* const item = m_outputs->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (std::size_t i = 0; i < sample.outputs.size(); ++i) {
    const PredictedOutput& output = m_predictions->outputs[i];
    const PredictedSample::Output& said = sample.outputs[i];
    m_outputs->addWidget(makeLabel("section", wordOf(output.target.empty() ? output.name : output.target)));
    std::vector<ClassShare> shares = classShares(output, said.values);
    if (!shares.empty()) {
      const std::string right =
          said.truth.empty() ? std::string() : className(output, static_cast<std::int64_t>(said.truth.front()));
      QList<ShareBars::Share> bars;
      for (std::size_t k = 0; k < std::min<std::size_t>(shares.size(), kClassesShown); ++k)
        bars << ShareBars::Share{wordOf(shares[k].name), shares[k].share, !right.empty() && shares[k].name == right};
      auto* const view = new ShareBars;
      view->setObjectName("predict-shares");
      view->setShares(bars, tr("true"));
      m_outputs->addWidget(view);
      if (shares.size() > kClassesShown)
        m_outputs->addWidget(makeLabel("hint", tr("and %1 more").arg(shares.size() - kClassesShown)));
      continue;
    }
    const std::size_t shown = std::min<std::size_t>(said.values.size(), 64);
    for (std::size_t k = 0; k < shown; ++k) {
      const QString index = said.values.size() > 1 ? QStringLiteral("%1  ").arg(k) : QString();
      const QString right = k < said.truth.size() ? tr(", true %1").arg(formatShort(said.truth[k])) : QString();
      m_outputs->addWidget(makeLabel("number", index + formatShort(said.values[k]) + right));
    }
    if (shown < said.values.size())
      m_outputs->addWidget(makeLabel("hint", tr("and %1 more values").arg(said.values.size() - shown)));
  }
  m_truth->setText(sample.loss ? tr("Loss of this sample %1").arg(formatLoss(*sample.loss)) : QString());
  m_truth->setVisible(sample.loss.has_value());
}

}  // namespace loom

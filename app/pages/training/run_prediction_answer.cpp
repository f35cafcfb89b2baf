// The answer of a prediction in its table, and the chosen sample beside it.
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/training/run_prediction.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "widgets/chart/format.h"
#include "widgets/controls/text.h"
#include "widgets/preview/share_bars.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kClassesShown = 10, kNumbersShown = 8, kThumbnail = 24, kPictureSide = 168;

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

QStringList marksOf(const PredictedSample& sample) {
  QStringList marks;
  for (const std::string& mark : sample.marks) marks << wordOf(mark);
  return marks;
}

// The columns of the file that stand beside the answer: without those that are told as what is true, and of a row that
// is typed none.
QList<std::size_t> ownCells(const Predictions& all, bool truth, bool typed) {
  QList<std::size_t> own;
  for (std::size_t cell = 0; cell < all.heads.size() && !typed; ++cell)
    if (!truth || std::none_of(all.outputs.begin(), all.outputs.end(),
                               [&](const PredictedOutput& output) { return output.target == all.heads[cell]; }))
      own << cell;
  return own;
}

}  // namespace

void RunPrediction::take(const QByteArray& output) {
  try {
    m_predictions = predictionsFromJson(parseJson(output.toStdString(), "loom predict"));
  } catch (const Error& error) {
    return say("error", QString::fromUtf8(error.what()));
  }
  const auto kept = static_cast<qint64>(m_predictions->kept.size());
  QStringList sentences;
  const QString weights = tr("weights of step %1").arg(formatCount(static_cast<double>(m_predictions->step)));
  sentences << (kept < m_predictions->samples
                    ? tr("The first %1 of %2, %3; a CSV holds all of them")
                          .arg(formatCount(static_cast<double>(kept)), counted(m_predictions->samples, tr("samples")),
                               weights)
                    : tr("%1, %2").arg(counted(m_predictions->samples, tr("samples")), weights));
  if (!m_predictions->refused.empty())
    sentences << tr("%1 not predicted, told below with the reason")
                     .arg(counted(static_cast<qint64>(m_predictions->refused.size()), tr("files")));
  for (const std::string& note : m_predictions->notes) sentences << wordOf(note);
  say("hint", sentences.join(QStringLiteral(". ")));
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
  const bool marked =
      std::any_of(all.kept.begin(), all.kept.end(), [](const auto& each) { return !each.marks.empty(); });
  QStringList heads{tr("Sample")};
  const QList<std::size_t> own = ownCells(all, truth, m_typed);
  for (const std::size_t cell : own) heads << wordOf(all.heads[cell]);
  for (const PredictedOutput& output : all.outputs) {
    const QString name = wordOf(output.target.empty() ? output.name : output.target);
    heads << tr("%1 predicted").arg(name);
    if (output.kind != OutputKind::numbers) heads << tr("Share");
    if (truth) heads << tr("%1 true").arg(name);
  }
  if (loss) heads << tr("Loss");
  if (marked) heads << tr("Note");
  heads << QString();  // the rest of the room
  const QSignalBlocker quiet(m_table);
  m_table->clear();
  m_table->setColumnCount(static_cast<int>(heads.size()));
  m_table->setHorizontalHeaderLabels(heads);
  m_table->setRowCount(static_cast<int>(all.kept.size() + all.refused.size()));
  m_table->clearSpans();
  const auto numbersText = [](const std::vector<float>& values) {
    QStringList words;
    for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), kNumbersShown); ++i)
      words << formatShort(values[i]);
    return words.join(QStringLiteral("  ")) + (values.size() > kNumbersShown ? QStringLiteral("  …") : QString());
  };
  for (int row = 0; row < static_cast<int>(all.kept.size()); ++row) {
    const PredictedSample& sample = all.kept[static_cast<std::size_t>(row)];
    int column = 0;
    const QString file = wordOf(sample.source);
    auto* const name = cellOf(!file.isEmpty() ? QFileInfo(file).fileName()
                              : m_typed       ? tr("The typed row")
                                              : tr("Row %1").arg(formatCount(static_cast<double>(sample.sample + 1))));
    if (!file.isEmpty())
      if (const QPixmap picture = pictureOf(file, kThumbnail); !picture.isNull()) name->setIcon(QIcon(picture));
    if (!sample.marks.empty()) name->setForeground(theme.colour(Colour::warning));
    m_table->setItem(row, column++, name);
    for (const std::size_t cell : own)
      m_table->setItem(row, column++, cellOf(cell < sample.cells.size() ? wordOf(sample.cells[cell]) : QString()));
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
    if (marked) m_table->setItem(row, column++, cellOf(marksOf(sample).join(QStringLiteral("; "))));
  }
  for (std::size_t i = 0; i < all.refused.size(); ++i) {
    const int row = static_cast<int>(all.kept.size() + i);
    auto* const name = cellOf(QFileInfo(wordOf(all.refused[i].source)).fileName());
    name->setForeground(theme.colour(Colour::error));
    m_table->setItem(row, 0, name);
    auto* const reason = cellOf(wordOf(all.refused[i].reason));
    reason->setToolTip(reason->text());
    m_table->setItem(row, 1, reason);
    m_table->setSpan(row, 1, 1, m_table->columnCount() - 1);
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
  if (!m_predictions || row < 0 || row >= m_table->rowCount()) return;
  if (row >= static_cast<int>(m_predictions->kept.size())) return showRefused(row);
  const PredictedSample& sample = m_predictions->kept[static_cast<std::size_t>(row)];
  m_title->setText(m_table->item(row, 0)->text());
  m_title->setToolTip(wordOf(sample.source));
  const QPixmap picture = sample.source.empty() ? QPixmap() : pictureOf(wordOf(sample.source), kPictureSide);
  m_picture->setPixmap(picture);
  m_picture->setVisible(!picture.isNull());
  clearOutputs();
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
  QStringList words = marksOf(sample);
  if (sample.loss) words << tr("Loss of this sample %1").arg(formatLoss(*sample.loss));
  m_truth->setText(words.join('\n'));
  m_truth->setVisible(!words.isEmpty());
}

void RunPrediction::showRefused(int row) {
  m_title->setText(m_table->item(row, 0)->text());
  m_title->setToolTip(
      wordOf(m_predictions->refused[static_cast<std::size_t>(row) - m_predictions->kept.size()].source));
  m_picture->hide();
  clearOutputs();
  m_truth->setText(m_table->item(row, 1)->text());
  m_truth->show();
}

void RunPrediction::clearOutputs() {
  while (QLayoutItem* const item = m_outputs->takeAt(0)) {
    delete item->widget();
    delete item;
  }
}

}  // namespace loom

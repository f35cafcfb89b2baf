#include "app/pages/training/evaluation_side.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <cmath>

#include "app/pages/training/evaluation_plots.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

// From here on a temperature is worth telling.
constexpr double kNoticeable = 0.05;

using Rows = QList<std::pair<QString, QString>>;

}  // namespace

EvaluationSide::EvaluationSide(QWidget* parent) : QWidget(parent) {
  setObjectName("evaluation-side");
  auto* const column = new QVBoxLayout(this);
  column->setSpacing(8);
  m_title = makeLabel("label");
  column->addWidget(m_title);
  auto* const top = new QHBoxLayout;
  m_figure = new QLabel;
  m_figure->setObjectName("evaluation-figure");
  keepFont(m_figure, FontRole::display, Face::numbers);
  m_count = makeLabel("hint");
  m_count->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  top->addWidget(m_figure);
  top->addStretch();
  top->addWidget(m_count);
  column->addLayout(top);
  m_rows = new QGridLayout;
  m_rows->setHorizontalSpacing(10);
  m_rows->setVerticalSpacing(6);
  m_rows->setColumnStretch(0, 1);
  column->addLayout(m_rows);
  m_reliability = new PlotView;
  m_reliability->setObjectName("evaluation-reliability");
  column->addSpacing(6);
  column->addWidget(m_reliability);
  m_advice = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_advice->setObjectName("evaluation-advice");
  column->addWidget(m_advice);
  m_fit = new Button(tr("Fit the temperature"), ButtonKind::outlined);
  m_fit->setObjectName("evaluation-fit");
  m_fit->setToolTip(tr("On one half of these samples, tried on the other"));
  column->addWidget(m_fit, 0, Qt::AlignLeft);
  m_fitted = new QGridLayout;
  m_fitted->setHorizontalSpacing(10);
  m_fitted->setVerticalSpacing(6);
  m_fitted->setColumnStretch(0, 1);
  column->addLayout(m_fitted);
  m_fittedWords = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_fittedWords->setObjectName("evaluation-fitted");
  column->addWidget(m_fittedWords);
  connect(m_fit, &Button::clicked, this, &EvaluationSide::showTrial);
  column->addWidget(hairline());
  m_against = new ChoiceField;
  m_against->setObjectName("evaluation-against");
  m_against->setPrefix(tr("Against"));
  m_against->setAccessibleName(tr("The run that it is compared with"));
  column->addWidget(m_against);
  m_difference = new QGridLayout;
  m_difference->setHorizontalSpacing(10);
  m_difference->setVerticalSpacing(6);
  m_difference->setColumnStretch(0, 1);
  column->addLayout(m_difference);
  m_nowRight = new Button(QString(), ButtonKind::link);
  m_nowRight->setObjectName("evaluation-now-right");
  m_nowWrong = new Button(QString(), ButtonKind::link);
  m_nowWrong->setObjectName("evaluation-now-wrong");
  auto* const changes = new QHBoxLayout;
  changes->setSpacing(16);
  changes->addWidget(m_nowRight);
  changes->addWidget(m_nowWrong);
  changes->addStretch();
  column->addLayout(changes);
  connect(m_nowRight, &Button::clicked, this, [this] { Q_EMIT changesWanted(true); });
  connect(m_nowWrong, &Button::clicked, this, [this] { Q_EMIT changesWanted(false); });
  setChanges(0, 0);
  m_differenceWords = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_differenceWords->setObjectName("evaluation-difference");
  column->addWidget(m_differenceWords);
  column->addStretch();
  setAbove(false);
  connect(m_against, &QComboBox::activated, this,
          [this](int index) { Q_EMIT againstChosen(m_against->itemData(index).toString()); });
}

void EvaluationSide::setAbove(bool above) {
  layout()->setContentsMargins(above ? QMargins() : QMargins(20, 14, 20, 16));
  m_reliability->setFixedHeight(above ? 170 : 220);
}

void EvaluationSide::fillRows(const Rows& rows, QGridLayout* into) {
  while (QLayoutItem* const item = into->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (int i = 0; i < rows.size(); ++i) {
    auto* const value = makeLabel("number", rows[i].second);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    into->addWidget(makeLabel("hint", rows[i].first), i, 0);
    into->addWidget(value, i, 1, Qt::AlignRight);
  }
}

void EvaluationSide::setOutput(const EvaluatedOutput& output) {
  const bool numbers = output.kind == EvaluatedOutput::numbers;
  Rows rows;
  QString advice;
  m_accuracy = output.accuracy.share;
  if (numbers) {
    m_title->setText(tr("R², share of the variance that is explained"));
    m_figure->setText(formatFixed(output.regression.r2, 4));
    m_count->setText(tr("of %1").arg(counted(output.samples, tr("samples"))));
    rows << std::pair{tr("Mean error (MAE)"), formatShort(output.regression.mae)}
         << std::pair{tr("Root mean square (RMSE)"), formatShort(output.regression.rmse)}
         << std::pair{tr("Bias, true − predicted"), formatShort(output.regression.bias)}
         << std::pair{tr("The truth goes from"), formatShort(output.regression.least)}
         << std::pair{tr("to"), formatShort(output.regression.most)};
  } else {
    m_title->setText(output.isMap()             ? tr("Accuracy of a pixel")
                     : output.positions.empty() ? tr("Accuracy")
                                                : tr("Accuracy of a position"));
    m_figure->setText(formatPercent(output.accuracy.share));
    m_count->setText(
        tr("%1\nof %2 right")
            .arg(formatCount(static_cast<double>(output.right)), formatCount(static_cast<double>(output.items))));
    for (const TopK::Share& each : output.top)
      if (each.k == 5 || (each.k == 3 && output.words.size() <= 5))
        rows << std::pair{tr("Top-%1 accuracy").arg(each.k), formatPercent(each.interval.share)};
    rows << std::pair{tr("Loss"), formatLoss(output.loss)}
         << std::pair{tr("F1, mean over classes"), formatPercent(output.table.macro.f1)};
    if (output.isMap())
      rows << std::pair{tr("Mean IoU, over classes"), formatPercent(meanIntersectionOverUnion(output.table))};
    else if (!output.positions.empty())
      rows << std::pair{tr("Perplexity, of a position"), formatSignificant(std::exp(output.loss), 4)};
    if (std::isfinite(output.macroAuc)) rows << std::pair{tr("AUC"), formatFixed(output.macroAuc, 4)};
    rows << std::pair{tr("Calibration error (ECE)"), formatPercent(output.calibration.expectedError)}
         << std::pair{
                tr("95 % interval"),
                tr("%1 to %2").arg(formatFixed(100 * output.accuracy.low, 2), formatPercent(output.accuracy.high))};
    if (output.temperature && std::abs(output.temperature->value - 1) > kNoticeable) {
      const Temperature& fitted = *output.temperature;
      const QString of = fitted.samples < output.samples
                             ? tr(", fitted on %1").arg(counted(fitted.samples, tr("samples")))
                             : QString();
      advice = (fitted.value > 1 ? tr("Too sure: logits divided by a temperature of %1 would bring the loss to %2%3.")
                                 : tr("Not sure enough: logits divided by a temperature of %1 would bring the loss to "
                                      "%2%3."))
                   .arg(formatFixed(fitted.value, 2), formatLoss(fitted.lossAfter), of);
    }
  }
  if (output.notFinite > 0)
    rows << std::pair{tr("NaN, left out of all figures"), counted(output.notFinite, tr("samples"))};
  fillRows(rows, m_rows);
  m_reliability->setVisible(!numbers);
  if (!numbers) m_reliability->setPlot(reliabilityPlot(output));
  m_advice->setText(advice);
  m_advice->setVisible(!advice.isEmpty());
  m_trial = numbers ? std::nullopt : output.temperatureTrial;
  m_fit->setVisible(m_trial.has_value());
  fillRows({}, m_fitted);
  m_fittedWords->hide();
}

// What the evaluation found, said when it is asked for: nothing is changed by it.
void EvaluationSide::showTrial() {
  if (!m_trial) return;
  m_fit->hide();
  fillRows({{tr("Temperature"), formatFixed(m_trial->value, 3)},
            {tr("ECE before"), formatPercent(m_trial->errorBefore)},
            {tr("ECE after"), formatPercent(m_trial->errorAfter)},
            {tr("Loss before"), formatLoss(m_trial->lossBefore)},
            {tr("Loss after"), formatLoss(m_trial->lossAfter)}},
           m_fitted);
  m_fittedWords->setText(
      tr("Fitted on %1, a half of these; before and after are of the other %2. The model stays as it "
         "is: whoever wants it divides the logits by the temperature.")
          .arg(counted(m_trial->fitted, tr("samples")), formatCount(static_cast<double>(m_trial->tried))));
  m_fittedWords->show();
}

void EvaluationSide::setRuns(const Rows& runs, const QString& chosen) {
  m_against->clear();
  m_against->addItem(tr("no other run"), QString());
  for (const auto& [name, id] : runs) {
    m_against->addItem(name, id);
    if (id == chosen) m_against->setCurrentIndex(m_against->count() - 1);
  }
  m_against->setEnabled(!runs.isEmpty());
}

void EvaluationSide::setChanges(std::size_t nowRight, std::size_t nowWrong) {
  m_nowRight->setVisible(nowRight > 0);
  m_nowRight->setText(tr("Show the %1 now right").arg(formatCount(static_cast<double>(nowRight))));
  m_nowWrong->setVisible(nowWrong > 0);
  m_nowWrong->setText(tr("Show the %1 now wrong").arg(formatCount(static_cast<double>(nowWrong))));
}

void EvaluationSide::setDifference(const std::optional<EvaluationReport::Other>& difference, const QString& words) {
  Rows rows;
  QString sentence = words;
  if (difference) {
    const McNemar& mcNemar = difference->difference;
    const double points = 100 * (m_accuracy - difference->accuracy);
    rows << std::pair{tr("Accuracy"),
                      (points > 0 ? QStringLiteral("+") : QString()) + tr("%1 points").arg(formatFixed(points, 2))}
         << std::pair{tr("Now right, now wrong"),
                      QStringLiteral("%1, %2").arg(formatCount(static_cast<double>(mcNemar.nowRight)),
                                                   formatCount(static_cast<double>(mcNemar.nowWrong)))};
    sentence = mcNemar.pValue < 0.05 ? tr("By chance alone so great a difference has a probability of %1 (McNemar).")
                                           .arg(formatSignificant(mcNemar.pValue, 2))
                                     : tr("It may be chance: so great a difference has a probability of %1 (McNemar).")
                                           .arg(formatSignificant(mcNemar.pValue, 2));
  }
  fillRows(rows, m_difference);
  m_differenceWords->setText(sentence);
  m_differenceWords->setVisible(!sentence.isEmpty());
}

}  // namespace loom

#include "app/pages/data/split_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/number_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"

namespace loom {

SplitCard::SplitCard(std::int64_t rows, const QStringList& classes, QWidget* window)
    : Popover(window),
      m_rows(rows),
      m_share(new NumberField(NumberField::Kind::real)),
      m_seed(new NumberField(NumberField::Kind::integer)),
      m_order(new SegmentedControl({tr("Shuffled"), tr("The last rows")})),
      m_by(new ChoiceField),
      m_seedLabel(new QLabel(tr("Seed"))),
      m_result(new QLabel),
      m_split(new Button(tr("Split"), ButtonKind::tinted)) {
  setObjectName("split-card");
  setTitle(tr("Split off a validation set"));
  m_share->setObjectName("split-share");
  m_share->setUnit(QStringLiteral("%"));
  m_share->setLimits(1, 90);
  m_share->setAccessibleName(tr("Share held out, in percent"));
  m_share->setValue(10);
  m_seed->setObjectName("split-seed");
  m_seed->setAccessibleName(tr("Seed of the split"));
  m_seed->setLimits(0, 1e9);
  m_seed->setValue(1);
  m_order->setObjectName("split-order");
  m_by->setObjectName("split-by");
  m_by->setAccessibleName(tr("Same share of each class of"));
  for (const QString& column : classes) m_by->addItem(column, column);
  m_by->addItem(tr("no column"), QString());
  m_by->setEnabled(!classes.isEmpty());
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(8);
  int line = 0;
  const auto row = [&](QLabel* label, QWidget* field) {
    label->setProperty("kind", "label");
    label->setBuddy(field);
    grid->addWidget(label, line, 0);
    grid->addWidget(field, line++, 1, Qt::AlignLeft);
  };
  row(new QLabel(tr("Held out")), m_share);
  row(new QLabel(tr("Rows")), m_order);
  row(new QLabel(tr("Same share of each class of")), m_by);
  row(m_seedLabel, m_seed);
  m_result->setProperty("kind", "hint");
  m_result->setWordWrap(true);
  m_result->setMinimumWidth(360);
  m_split->setObjectName("split-now");
  auto* file = new Button(tr("A file of your own…"), ButtonKind::link);
  file->setObjectName("split-file");
  auto* foot = new QHBoxLayout;
  foot->addWidget(file);
  foot->addStretch();
  foot->addWidget(m_split);
  contentLayout()->addLayout(grid);
  contentLayout()->addWidget(m_result);
  contentLayout()->addLayout(foot);
  connect(m_share, &NumberField::valueChanged, this, &SplitCard::showResult);
  connect(m_share, &NumberField::emptied, this, &SplitCard::showResult);
  connect(m_share, &NumberField::invalid, this, &SplitCard::showResult);
  connect(m_order, &SegmentedControl::currentChanged, this, &SplitCard::showResult);
  connect(m_by, &QComboBox::currentIndexChanged, this, &SplitCard::showResult);
  connect(m_split, &QPushButton::clicked, this, [this] {
    close();
    Q_EMIT wanted();
  });
  connect(file, &QPushButton::clicked, this, [this] {
    close();
    Q_EMIT fileWanted();
  });
  showResult();
}

HoldOut SplitCard::holdOut() const {
  return {.share = m_share->value().value_or(0) / 100,
          .held = true,
          .shuffled = m_order->current() == 0,
          .by = m_by->currentData().toString().toStdString(),
          .seed = static_cast<std::uint64_t>(std::max(0.0, m_seed->value().value_or(1)))};
}

void SplitCard::showResult() {
  const HoldOut how = holdOut();
  const bool possible = how.share > 0 && how.share < 1 && m_rows >= 2;
  const auto held = std::clamp<std::int64_t>(std::llround(static_cast<double>(m_rows) * how.share), 1,
                                             std::max<std::int64_t>(1, m_rows - 1));
  m_seed->setEnabled(how.shuffled);
  m_seedLabel->setEnabled(how.shuffled);
  m_split->setEnabled(possible);
  m_result->setText(
      !possible ? tr("A share between 0 and 100 % is possible.")
      : !how.by.empty()
          ? tr("About %1 to train on and %L2 to validate on, of each class alike. The file stays as it is.")
                .arg(counted(m_rows - held, tr("rows")))
                .arg(held)
      : how.shuffled ? tr("%1 to train on, %L2 to validate on. The file stays as it is.")
                           .arg(counted(m_rows - held, tr("rows")))
                           .arg(held)
                     : tr("%1 to train on, the last %L2 to validate on. Where the file is sorted by class, they are "
                          "all of one class.")
                           .arg(counted(m_rows - held, tr("rows")))
                           .arg(held));
}

}  // namespace loom

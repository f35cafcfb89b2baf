#include "app/pages/network/target_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>

#include "engine/base/error.h"
#include "widgets/controls/button.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/document/texts.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kTargetWidth = 440, kColumnRow = 30, kColumnsShown = 9, kDetailRole = Qt::UserRole + 1;

// The name at the left, what it is at the right.
class ColumnRows : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {kTargetWidth, kColumnRow}; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& theme = Theme::of(option.widget);
    const bool enabled = index.flags() & Qt::ItemIsEnabled;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRect row = option.rect.adjusted(2, 1, -2, -1);
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver) && enabled) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(theme.colour(option.state & QStyle::State_Selected ? Colour::selected : Colour::hover));
      painter->drawRoundedRect(row, theme.radius(Radius::chip), theme.radius(Radius::chip));
    }
    const QRect words = row.adjusted(8, 0, -8, 0);
    painter->setFont(theme.font(FontRole::label));
    painter->setPen(theme.colour(enabled ? Colour::text2 : Colour::text3));
    const QString detail = index.data(kDetailRole).toString();
    const int wide = std::min(painter->fontMetrics().horizontalAdvance(detail) + 1, words.width() * 2 / 3);
    painter->drawText(words, Qt::AlignVCenter | Qt::AlignRight,
                      painter->fontMetrics().elidedText(detail, Qt::ElideRight, wide));
    painter->setFont(theme.font(FontRole::body));
    painter->setPen(theme.colour(enabled ? Colour::text : Colour::text3));
    const int rest = words.width() - wide - 12;
    painter->drawText(words, Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideMiddle, rest));
    painter->restore();
  }
};

QString kindOf(const ColumnFacts& column, const StartFacts& facts) {
  if (const auto media = facts.media.find(column.name); media != facts.media.end())
    return media->second.kind == VariableKind::image  ? TargetCard::tr("pictures")
           : media->second.kind == VariableKind::wave ? TargetCard::tr("sounds")
                                                      : TargetCard::tr("arrays");
  switch (column.type) {
    case ColumnType::empty:
      return TargetCard::tr("empty");
    case ColumnType::date:
      return TargetCard::tr("dates");
    case ColumnType::text:
      return TargetCard::tr("text, another in nearly every row");
    default:
      break;
  }
  if (neverChanges(column)) return TargetCard::tr("never changes: nothing to predict");
  const TargetChoice choice = targetChoice(column);
  if (choice.kind == TargetKind::classes) return counted(choice.classes, TargetCard::tr("classes"));
  return choice.kind == TargetKind::picture ? TargetCard::tr("pictures") : TargetCard::tr("number");
}

// Whole numbers of few values are both.
bool isBoth(const ColumnFacts& column) {
  return column.type == ColumnType::number && column.likelyClasses();
}

}  // namespace

TargetCard::TargetCard(const QString& file, QWidget* window)
    : Popover(window, Closes::byHand),
      m_words(makeLabel("hint", tr("Looking at %1").arg(file), this, Wrap::yes)),
      m_fault(makeLabel("error", {}, this, Wrap::yes)),
      m_result(makeLabel("hint", {}, this, Wrap::yes)),
      m_columns(new QListWidget(this)),
      m_kindRow(new QWidget(this)),
      m_kind(new SegmentedControl({}, m_kindRow)),
      m_dateRows(new QWidget(this)),
      m_make(new Button(tr("Make the network"), ButtonKind::tinted, this)) {
  setObjectName("target-card");
  setTitle(tr("What shall be predicted?"));
  build();
}

void TargetCard::build() {
  m_words->setFixedWidth(kTargetWidth);
  m_words->setObjectName("target-words");
  m_fault->setFixedWidth(kTargetWidth);
  m_fault->setObjectName("target-fault");
  m_fault->hide();
  m_result->setFixedWidth(kTargetWidth);
  m_result->setObjectName("target-result");
  m_columns->setObjectName("target-columns");
  m_columns->setAccessibleName(tr("Columns"));
  m_columns->setItemDelegate(new ColumnRows(m_columns));
  m_columns->setFixedWidth(kTargetWidth);
  m_columns->setMouseTracking(true);
  m_columns->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_columns->setUniformItemSizes(true);
  auto* kind = new QHBoxLayout(m_kindRow);
  kind->setContentsMargins(0, 0, 0, 0);
  auto* question = makeLabel("field", {}, m_kindRow);
  question->setObjectName("target-kind-question");
  kind->addWidget(question, 1);
  m_kind->setObjectName("target-kind");
  kind->addWidget(m_kind);
  new QVBoxLayout(m_dateRows);
  m_dateRows->layout()->setContentsMargins(0, 0, 0, 0);
  m_make->setObjectName("target-make");
  auto* foot = new QHBoxLayout;
  foot->addStretch();
  foot->addWidget(m_make);
  for (QWidget* part : {static_cast<QWidget*>(m_words), static_cast<QWidget*>(m_columns), m_kindRow, m_dateRows,
                        static_cast<QWidget*>(m_result), static_cast<QWidget*>(m_fault)})
    contentLayout()->addWidget(part);
  contentLayout()->addLayout(foot);
  for (QWidget* part : {static_cast<QWidget*>(m_columns), m_kindRow, m_dateRows, static_cast<QWidget*>(m_result),
                        static_cast<QWidget*>(m_make)})
    part->hide();
  connect(m_columns, &QListWidget::currentRowChanged, this, &TargetCard::choose);
  connect(m_kind, &SegmentedControl::currentChanged, this, [this] { m_fault->hide(); });
  const auto make = [this] {
    if (m_make->isEnabled() && m_make->isVisible()) Q_EMIT wanted(choice());
  };
  connect(m_make, &QAbstractButton::clicked, this, make);
  connect(m_columns, &QListWidget::itemActivated, this, make);
}

void TargetCard::showFacts(const StartFacts& facts) {
  m_facts = facts;
  const TableFacts& table = facts.table;
  m_words->setText(tr("%1, %2").arg(q(facts.csv.filename().string()), counted(table.rows, tr("rows"))));
  std::string likely = facts.target;
  try {
    if (!table.find(likely)) likely = stepsToStart({}, facts, {}).target.column;
  } catch (const Error& error) {
    return showFault(q(error.what()));
  }
  for (auto column = table.columns.rbegin(); column != table.columns.rend(); ++column) {
    if (column->header.empty() || column->header[0] == '#' || isElement(column->name)) continue;
    auto* item = new QListWidgetItem(q(column->name), m_columns);
    const QString kind = kindOf(*column, facts);
    item->setData(kDetailRole, kind);
    item->setData(Qt::AccessibleTextRole, item->text() + ", " + kind);
    if (!canBeTarget(*column)) item->setFlags(Qt::NoItemFlags);
    if (column->name == likely) m_columns->setCurrentItem(item);
  }
  addDates();
  const int rows = std::clamp(m_columns->count(), 1, kColumnsShown);
  m_columns->setFixedHeight(rows * kColumnRow + 2 * m_columns->frameWidth());
  for (QWidget* part :
       {static_cast<QWidget*>(m_columns), static_cast<QWidget*>(m_result), static_cast<QWidget*>(m_make)})
    part->show();
  m_dateRows->setVisible(!m_orders.isEmpty());
  if (likely.empty()) {
    m_columns->clear();
    m_result->setText(tr("There is one column alone: the network is made to give its samples back (an autoencoder)."));
    m_make->setEnabled(true);
  }
  m_columns->setVisible(m_columns->count() > 0);
  choose();
  const QSize room = parentWidget()->size() - size();
  move(std::max(0, room.width() / 2), std::max(40, room.height() / 3));
  m_columns->setFocus(Qt::OtherFocusReason);
}

// Of dates that can be read in both ways: which one, said of a date that shows it.
void TargetCard::addDates() {
  for (const ColumnFacts& column : m_facts.table.columns) {
    if (column.type != ColumnType::date || !column.orders.doubtful() || column.orders.yearFirst) continue;
    auto* row = new QWidget(m_dateRows);
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->addWidget(makeLabel("field", tr("In %1 there stands first").arg(q(column.name)), row), 1);
    auto* order = new SegmentedControl({tr("The day"), tr("The month")}, row);
    order->setObjectName("target-order-" + q(column.name));
    order->setAccessibleName(tr("What stands first in %1").arg(q(column.name)));
    line->addWidget(order);
    m_dateRows->layout()->addWidget(row);
    m_orders.append({column.name, order});
  }
}

void TargetCard::choose() {
  const QListWidgetItem* item = m_columns->currentItem();
  if (!item) return;
  m_make->setEnabled(item->flags() & Qt::ItemIsEnabled);
  m_fault->hide();
  const ColumnFacts* column = m_facts.table.find(item->text().toStdString());
  const bool both = column && isBoth(*column);
  if (both) {
    m_kindRow->findChild<QLabel*>("target-kind-question")->setText(tr("%1 is").arg(item->text()));
    m_kind->setLabels({counted(column->distinct, tr("classes")), tr("a number")});
    m_kind->setCurrent(0);
    m_kind->setAccessibleName(tr("What %1 is").arg(item->text()));
  }
  m_kindRow->setVisible(both);
  QStringList left;
  try {
    for (const std::string& each : stepsToStart({}, m_facts, choice()).leftOut) left << q(each);
  } catch (const Error& error) {
    m_make->setEnabled(false);
    return showFault(q(error.what()));
  }
  QString result = tr("All other columns go into the network; a fifth of the rows is held out.");
  if (!left.isEmpty()) result += ' ' + tr("Left out: %1.").arg(left.join("; "));
  m_result->setText(result);
  adjustSize();
}

StartChoice TargetCard::choice() const {
  StartChoice choice;
  const QListWidgetItem* item = m_columns->currentItem();
  choice.target = item ? item->text().toStdString() : std::string();
  if (!m_kindRow->isHidden()) choice.as = m_kind->current() == 0 ? TargetKind::classes : TargetKind::number;
  for (const auto& [column, order] : m_orders) choice.dateOrders[column] = order->current() == 0 ? "dmy" : "mdy";
  return choice;
}

void TargetCard::showFault(const QString& sentence) {
  m_fault->setText(sentence);
  m_fault->show();
  setBusy(false);
  adjustSize();
}

void TargetCard::setBusy(bool busy) {
  m_make->setEnabled(!busy);
  m_make->setText(busy ? tr("Measuring the columns") : tr("Make the network"));
  m_columns->setEnabled(!busy);
}

}  // namespace loom

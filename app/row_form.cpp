#include "app/row_form.h"

#include <QGridLayout>
#include <QLineEdit>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "engine/data/import_images.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kCellWidth = 148, kAround = 20, kGap = 12;

struct TypedNumber {
  QString text;            // with a point and without marks of thousands; empty where it is no number
  bool isUnclear = false;  // a comma before three digits alone: of decimals or of thousands
};

// However a person writes it: 1234.5, 1234,5, 1,234.5, 1.234,5, 1 234.5, 1'234.5; of percents with the sign or without.
TypedNumber numberOf(const QString& typed, const RowColumn& column) {
  static const QRegularExpression blanks(
      QStringLiteral(R"((?<=\d)[ '\x{2019}\x{00a0}\x{2009}\x{202f}](?=\d{3}(\D|$)))"));
  static const QRegularExpression either(QStringLiteral(R"(^[+-]?[1-9]\d{0,2},\d{3}$)"));
  static const QRegularExpression commas(QStringLiteral(R"(^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$)"));
  static const QRegularExpression points(QStringLiteral(R"(^[+-]?[1-9]\d{0,2}((\.\d{3}){2,}|(\.\d{3})+,\d*)$)"));
  QString text = typed;
  if (column.percents && text.endsWith('%')) text = text.chopped(1).trimmed();
  text.remove(blanks);
  if (either.match(text).hasMatch()) {
    if (column.comma == RowColumn::Comma::either) return {{}, true};
    if (column.comma == RowColumn::Comma::ofDecimals) text.replace(',', '.');
  }
  if (commas.match(text).hasMatch()) text.remove(',');
  if (points.match(text).hasMatch()) text.remove('.');
  text.replace(',', '.');
  bool isNumber = false;
  const double value = text.toDouble(&isNumber);
  if (!isNumber || !std::isfinite(value)) return {};
  return {column.percents ? text + QStringLiteral(" %") : text};
}

QString textOf(const QWidget* field) {
  if (const auto* const choice = qobject_cast<const ChoiceField*>(field)) return choice->currentData().toString();
  return static_cast<const QLineEdit*>(field)->text().trimmed();
}

QString helpOf(const RowColumn& column) {
  const QString kind = column.percents                          ? RowForm::tr("%1: a percent").arg(column.label)
                       : column.kind == RowColumn::Kind::number ? RowForm::tr("%1: a number").arg(column.label)
                       : column.kind == RowColumn::Kind::date   ? RowForm::tr("%1: a date").arg(column.label)
                                                                : RowForm::tr("%1: one of its words").arg(column.label);
  const QString usual = column.hint.isEmpty() ? QString() : RowForm::tr(", such as %1").arg(column.hint);
  return kind + usual + (column.mayBeEmpty ? RowForm::tr("; it may be left empty") : QString());
}

}  // namespace

RowForm::RowForm(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  setObjectName("row-form");
  m_grid->setContentsMargins(kAround, 4, kAround, 10);
  m_grid->setHorizontalSpacing(kGap);
  m_grid->setVerticalSpacing(8);
  m_predict = new Button(tr("Predict"), ButtonKind::outlined, this);
  m_predict->setObjectName("predict-row");
  connect(m_predict, &Button::clicked, this, &RowForm::wanted);
}

void RowForm::setColumns(const QList<RowColumn>& columns) {
  qDeleteAll(m_cells);
  m_cells.clear();
  m_fields.clear();
  m_columns = columns;
  for (const RowColumn& each : columns) {
    auto* const cell = new QWidget(this);
    keepWidth(cell, kCellWidth);
    auto* const column = new QVBoxLayout(cell);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* const label = makeLabel("caption", each.percents ? tr("%1, %").arg(each.label) : each.label);
    label->setToolTip(each.header);
    QWidget* const field = fieldOf(each);
    field->setObjectName("row-" + each.header);
    field->setAccessibleName(each.label);
    field->setToolTip(helpOf(each));
    column->addWidget(label);
    column->addWidget(field);
    m_cells << cell;
    m_fields << field;
  }
  m_across = 0;
  arrange();
}

QWidget* RowForm::fieldOf(const RowColumn& column) {
  if (column.kind == RowColumn::Kind::words) {
    auto* const choice = new ChoiceField;
    choice->addItem(column.mayBeEmpty ? tr("Empty") : tr("Choose"), QString());
    for (const QString& word : column.words) choice->addItem(word, word);
    connect(choice, &QComboBox::activated, choice, [choice] { setStyleProperty(choice, "problem", QString()); });
    return choice;
  }
  auto* const field = new QLineEdit;
  field->setPlaceholderText(column.hint);
  connect(field, &QLineEdit::returnPressed, this, &RowForm::wanted);
  connect(field, &QLineEdit::textEdited, field, [field] { setStyleProperty(field, "problem", QString()); });
  return field;
}

void RowForm::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

bool RowForm::event(QEvent* event) {
  const bool taken = QWidget::event(event);
  if (event->type() == QEvent::LayoutRequest) arrange();
  return taken;
}

void RowForm::arrange() {
  const int cell = m_cells.isEmpty() ? kCellWidth : m_cells.first()->minimumWidth();
  const int across = std::max(1, (width() - 2 * kAround + kGap) / (cell + kGap));
  if (across == m_across) return;
  m_across = across;
  while (m_grid->count() > 0) delete m_grid->takeAt(0);
  for (int column = 0; column < m_grid->columnCount(); ++column) m_grid->setColumnStretch(column, 0);
  for (int i = 0; i < m_cells.size(); ++i) {
    m_grid->addWidget(m_cells[i], i / across, i % across);
    m_cells[i]->show();
  }
  const auto place = static_cast<int>(m_cells.size());
  m_grid->addWidget(m_predict, place / across, place % across, Qt::AlignLeft | Qt::AlignBottom);
  m_grid->setColumnStretch(across, 1);
  Q_EMIT arranged();
}

QByteArray RowForm::csv() {
  std::string head, row;
  QWidget* wrong = nullptr;
  for (int i = 0; i < m_fields.size(); ++i) {
    const RowColumn& column = m_columns[i];
    const QString typed = textOf(m_fields[i]);
    const TypedNumber number = column.kind == RowColumn::Kind::number ? numberOf(typed, column) : TypedNumber{typed};
    const bool good = !number.text.isEmpty() || (column.mayBeEmpty && typed.isEmpty());
    setStyleProperty(m_fields[i], "problem", good ? QString() : QStringLiteral("error"));
    if (!good && !wrong) {
      wrong = m_fields[i];
      m_wrong = number.isUnclear ? tr("%1 may be %2 or %3: type the one that is meant")
                                       .arg(typed, QString(typed).replace(',', '.'), QString(typed).remove(','))
                                 : tr("The marked fields take a value: a number, a word of the list, a date");
    }
    head += (i ? "," : "") + csvCell(column.header.toStdString());
    row += (i ? "," : "") + (number.text.isEmpty() ? std::string("\"\"") : csvCell(number.text.toStdString()));
  }
  if (wrong) {
    wrong->setFocus(Qt::OtherFocusReason);
    return {};
  }
  return QByteArray::fromStdString(head + "\n" + row + "\n");
}

void RowForm::focusFirst() {
  if (!m_fields.isEmpty()) m_fields.first()->setFocus(Qt::TabFocusReason);
}

}  // namespace loom

#include "widgets/form/text_editors.h"

#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QRegularExpression>
#include <cmath>
#include <utility>

#include "widgets/controls/button.h"
#include "widgets/controls/expression.h"
#include "widgets/form/form_row.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

bool isList(const Field& field) {
  return field.type == FieldType::shape || field.type == FieldType::integers || field.type == FieldType::reals;
}

}  // namespace

ListText readNumberList(const QString& text, bool whole, int count, const Symbols& symbols) {
  QString bare = text.trimmed();
  if (bare.startsWith('[') && bare.endsWith(']')) bare = bare.mid(1, bare.size() - 2);
  // Whole numbers may stand between times signs; among reals an x or * belongs to what is typed.
  static const QRegularExpression betweenWhole(QStringLiteral("[\\s,;×x*]+")), betweenReal(QStringLiteral("[\\s,;]+")),
      betweenNames(QStringLiteral("[,;×]+"));
  // Where names may stand, an x or * belongs to them too.
  const bool words =
      symbols && std::any_of(bare.begin(), bare.end(), [](QChar c) { return c.isLetter() && c != QLatin1Char('x'); });
  const QRegularExpression& between = words ? betweenNames : whole ? betweenWhole : betweenReal;
  Json values = Json::array();
  for (const QString& part : bare.split(between, Qt::SkipEmptyParts)) {
    const ExpressionResult number = evaluateExpression(part);
    if (!number.value && symbols) {
      QString expression = part.trimmed();
      if (expression.startsWith(QLatin1Char('='))) expression = expression.mid(1).trimmed();
      const SymbolValue named = symbols.evaluate(expression);
      if (named.named && named.problem.isEmpty()) {
        values.push_back("=" + expression.toStdString());
        continue;
      }
      if (!named.problem.isEmpty()) return {std::nullopt, named.problem};
    }
    if (!number.value) return {std::nullopt, number.problem};
    if (whole && (*number.value != std::trunc(*number.value) || std::abs(*number.value) > 9e15)) {
      return {std::nullopt, QObject::tr("%1 is not a whole number").arg(part)};
    }
    if (whole)
      values.push_back(static_cast<std::int64_t>(*number.value));
    else
      values.push_back(*number.value);
  }
  if (count > 0 && static_cast<int>(values.size()) != count) {
    return {std::nullopt, QObject::tr("%1 numbers are wanted, %2 stand there").arg(count).arg(values.size())};
  }
  return {values, {}};
}

QString writeNumberList(const Json& values, const QString& between) {
  if (values.is_number()) return shortestNumber(values.get<double>());
  QStringList parts;
  if (values.is_array()) {
    for (const Json& value : values) {
      if (value.is_number()) parts << shortestNumber(value.get<double>());
      if (value.is_string())
        parts << QString::fromStdString(value.get<std::string>()).remove(0, 1);  // an expression, without its '='
    }
  }
  return parts.join(between);
}

TextEditor::TextEditor(const Field& field, const EditorOptions& options, QWidget* parent)
    : FieldEditor(parent), m_field(field), m_options(options), m_line(new QLineEdit(this)) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addWidget(m_line, 1);
  m_line->setAccessibleName(QString::fromStdString(field.label));
  m_line->setMinimumWidth(60);
  if (isList(field)) m_line->setProperty("number", true);
  if (field.type == FieldType::shape)
    m_line->setPlaceholderText(QStringLiteral("3×32×32"));
  else if (field.optional && field.defaultValue.is_null())
    m_line->setPlaceholderText(readable(field, nullptr));
  m_absent = m_line->placeholderText();
  if (field.type == FieldType::file) {
    Button* choose =
        iconButton(QStringLiteral("folder"), tr("Choose a file for %1").arg(QString::fromStdString(field.label)), this);
    layout->addWidget(choose);
    connect(choose, &QPushButton::clicked, this, &TextEditor::browse);
  }
  connect(m_line, &QLineEdit::textChanged, this, &TextEditor::read);
}

void TextEditor::showMixed() {
  m_showing = true;
  m_line->clear();
  m_line->setPlaceholderText(mixedWord());
  m_problem.clear();
  m_showing = false;
  m_mixed = true;
}

void TextEditor::showValue(const Json& value) {
  if (std::exchange(m_mixed, false)) m_line->setPlaceholderText(m_absent);
  QString text;
  if (value.is_string())
    text = QString::fromStdString(value.get<std::string>());
  else if (isList(m_field))
    text = writeNumberList(value, m_field.type == FieldType::shape ? QStringLiteral("×") : QStringLiteral(", "));
  if (isList(m_field)) {
    // "3,32,32" already means it: what was typed stays.
    const ListText now = readNumberList(m_line->text(), m_field.type != FieldType::reals, 0, m_options.symbols);
    if (now.value && !m_line->text().isEmpty() && sameFieldValue(m_field, *now.value, value)) return;
  }
  if (m_line->text() == text && m_problem.isEmpty()) return;
  m_showing = true;
  m_line->setText(text);
  m_problem.clear();
  m_showing = false;
}

void TextEditor::read() {
  if (m_showing) return;
  m_problem.clear();
  const QString text = m_line->text();
  if (text.isEmpty() && m_mixed) return Q_EMIT invalid({});  // what was typed is gone again: each keeps its own
  if (std::exchange(m_mixed, false)) m_line->setPlaceholderText(m_absent);
  if (text.isEmpty() && (m_field.optional || isList(m_field))) {
    if (m_field.optional) {
      Q_EMIT edited(Json());
    } else {
      m_problem = tr("a number is missing");
      Q_EMIT invalid(m_problem);
    }
    return;
  }
  if (!isList(m_field)) {
    Q_EMIT edited(Json(text.toStdString()));
    return;
  }
  const ListText list = readNumberList(text, m_field.type != FieldType::reals, m_field.count, m_options.symbols);
  m_problem = list.problem;
  if (list.value && list.value->empty()) m_problem = tr("a number is missing");
  if (m_problem.isEmpty())
    Q_EMIT edited(*list.value);
  else
    Q_EMIT invalid(m_problem);
}

void TextEditor::browse() {
  const QString folder = m_options.baseFolder.isEmpty() ? QDir::currentPath() : m_options.baseFolder;
  auto* dialog = new QFileDialog(window(), QString::fromStdString(m_field.label), folder);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, m_line, [this, folder](const QString& chosen) {
    const QString relative = QDir(folder).relativeFilePath(chosen);
    m_line->setText(relative.startsWith(QStringLiteral("../../..")) ? chosen : relative);
  });
  dialog->open();
}

QStringList TextEditor::draft() const {
  return m_problem.isEmpty() ? QStringList() : QStringList{m_line->text()};
}

void TextEditor::restoreDraft(const QStringList& texts) {
  m_line->setText(texts.value(0));
}

void TextEditor::setMark(FieldMark mark) {
  setStyleProperty(m_line, "problem", mark == FieldMark::error ? "error" : mark == FieldMark::warning ? "warning" : "");
}

}  // namespace loom

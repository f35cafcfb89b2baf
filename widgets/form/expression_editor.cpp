#include "widgets/form/expression_editor.h"

#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QMenu>

#include "widgets/theme/theme.h"

namespace loom {

SwitchingEditor::SwitchingEditor(const Field& field, const Symbols& symbols, FieldEditor* plain, QWidget* parent)
    : FieldEditor(parent),
      m_field(field),
      m_symbols(symbols),
      m_plain(plain),
      m_line(new NumberField(NumberField::Kind::real, this)) {
  plain->setParent(this);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(plain, 1);
  layout->addWidget(m_line, 1);
  m_line->setAccessibleName(QString::fromStdString(field.label));
  m_line->setSymbols(symbols);
  m_line->hide();
  m_line->installEventFilter(this);
  plain->focusTarget()->installEventFilter(this);
  connect(plain, &FieldEditor::edited, this, &FieldEditor::edited);
  connect(plain, &FieldEditor::invalid, this, &FieldEditor::invalid);
  connect(m_line, &NumberField::expressionChanged, this, [this](const QString& expression) {
    if (m_line->problem().isEmpty())
      Q_EMIT edited(Json("=" + expression.toStdString()));
    else
      Q_EMIT invalid(m_line->problem());
  });
  connect(m_line, &NumberField::invalid, this, &FieldEditor::invalid);
  connect(m_line, &NumberField::valueChanged, this,
          [this] { Q_EMIT invalid(tr("a name of an argument is wanted here")); });
  connect(m_line, &NumberField::emptied, this, [this] {
    show(false);
    m_plain->focusTarget()->setFocus(Qt::OtherFocusReason);
    Q_EMIT edited(Json());
  });
}

void SwitchingEditor::showValue(const Json& value) {
  const bool expression = value.is_string() && value.get_ref<const std::string&>().starts_with('=');
  show(expression);
  if (expression)
    m_line->setExpression(QString::fromStdString(value.get<std::string>()).mid(1));
  else
    m_plain->showValue(value);
}

void SwitchingEditor::show(bool expression) {
  m_line->setVisible(expression);
  m_plain->setVisible(!expression);
}

void SwitchingEditor::setMark(FieldMark mark) {
  m_plain->setMark(mark);
  setStyleProperty(m_line, "problem", mark == FieldMark::error ? "error" : mark == FieldMark::warning ? "warning" : "");
}

void SwitchingEditor::setSymbols(const Symbols& symbols) {
  m_symbols = symbols;
  m_plain->setSymbols(symbols);
  m_line->setSymbols(symbols);
}

bool SwitchingEditor::eventFilter(QObject*, QEvent* event) {
  if (event->type() != QEvent::ContextMenu || m_symbols.names.isEmpty()) return false;
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setObjectName(QStringLiteral("argumentsMenu"));
  for (const QString& name : m_symbols.names)
    menu->addAction(tr("Follow %1").arg(name), this, [this, name] {
      show(true);
      m_line->setText(name);
      m_line->setFocus(Qt::OtherFocusReason);
    });
  if (showsExpression()) menu->addAction(tr("A value of its own"), m_line, &QLineEdit::clear);
  menu->popup(static_cast<QContextMenuEvent*>(event)->globalPos());
  return true;
}

}  // namespace loom

#include "widgets/form/form_row.h"

#include <QAbstractButton>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <cmath>

#include "widgets/controls/button.h"
#include "widgets/controls/expression.h"
#include "widgets/controls/icon_label.h"
#include "widgets/form/text_editors.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kDotColumn = 11;

// A dot of 5 px with a hit area of a row's height: "differs from the default; click to go back".
class Dot : public QAbstractButton {
 public:
  explicit Dot(QWidget* parent) : QAbstractButton(parent) {
    setFixedWidth(kDotColumn);
    setFocusPolicy(Qt::NoFocus);
    setAttribute(Qt::WA_Hover);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& theme = Theme::of(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(underMouse() ? Colour::accentHover : Colour::accentText));
    const double radius = underMouse() ? 3.5 : 2.5;
    painter.drawEllipse(QPointF(3.5, height() / 2.0), radius, radius);
  }
};

QString helpOf(const Field& field) {
  QStringList parts;
  if (!field.help.empty()) parts << QString::fromStdString(field.help);
  if (!field.defaultValue.is_null())
    parts << QObject::tr("Default %1.").arg(readable(field, field.defaultValue));
  else if (!field.optional)
    parts << QObject::tr("Has no default.");
  if (field.hard) {
    const bool low = std::isfinite(field.hard->low);
    const bool high = std::isfinite(field.hard->high);
    if (low && high)
      parts << QObject::tr("From %1 to %2.").arg(shortestNumber(field.hard->low), shortestNumber(field.hard->high));
    else if (low)
      parts << QObject::tr("At least %1.").arg(shortestNumber(field.hard->low));
    else if (high)
      parts << QObject::tr("At most %1.").arg(shortestNumber(field.hard->high));
  }
  return parts.join(' ');
}

// A long word of large text still fits, and the field, where it takes what is left, keeps most of its room.
int labelRoom(const RowLayout& layout, const QWidget* of) {
  const int growth = layout.fieldWidth > 0 ? 0 : (Theme::of(of).textSize() - 100) * 3 / 5;
  return layout.labelWidth * (100 + growth) / 100;
}

}  // namespace

QString readable(const Field& field, const Json& value) {
  if (value.is_null()) return field.absent.empty() ? QObject::tr("none") : QString::fromStdString(field.absent);
  if (value.is_boolean()) return value.get<bool>() ? QObject::tr("on") : QObject::tr("off");
  if (value.is_number()) return shortestNumber(value.get<double>());
  if (value.is_string()) {
    const std::string& id = value.get_ref<const std::string&>();
    if (field.type != FieldType::text && id.starts_with('=')) return QString::fromStdString(id.substr(1));
    for (const Choice& choice : field.choices) {
      if (choice.id == id) return QString::fromStdString(choice.label);
    }
    return id.empty() ? QObject::tr("none") : QString::fromStdString(id);
  }
  if (field.type == FieldType::texts && value.is_array()) {
    QStringList texts;
    for (const Json& item : value) texts << readable(field, item);
    return texts.isEmpty() ? QObject::tr("none") : texts.join(QStringLiteral(", "));
  }
  return writeNumberList(value, field.type == FieldType::reals ? QStringLiteral(", ") : QStringLiteral("×"));
}

FormRow::FormRow(const Field& field, const RowLayout& layout, QWidget* parent)
    : QWidget(parent), m_field(field), m_layout(layout), m_column(new QVBoxLayout(this)) {
  m_column->setContentsMargins(0, 0, 0, 0);
  m_column->setSpacing(4);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(0);
  m_column->addLayout(line);

  m_dot = new Dot(this);
  auto* dotSpace = new QWidget(this);
  dotSpace->setFixedWidth(kDotColumn);
  auto* dotLayout = new QHBoxLayout(dotSpace);
  dotLayout->setContentsMargins(0, 0, 0, 0);
  dotLayout->addWidget(m_dot);
  line->addWidget(dotSpace, 0, Qt::AlignTop);

  auto* labelSpace = new QWidget(this);
  auto* labelLayout = new QHBoxLayout(labelSpace);
  labelLayout->setContentsMargins(0, 0, 4, 0);
  labelLayout->setSpacing(2);
  auto* label = new QLabel(QString::fromStdString(field.label), labelSpace);
  label->setProperty("kind", "field");
  label->setToolTip(QString::fromStdString(field.help));
  label->setMinimumWidth(0);
  label->setWordWrap(true);
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  labelLayout->addWidget(label, 1);
  m_help = iconButton(QStringLiteral("help"), tr("Help on %1").arg(label->text()), labelSpace);
  m_help->setIconSize(QSize(14, 14));
  m_help->setFixedSize(22, 22);
  m_help->setFocusPolicy(Qt::NoFocus);
  labelLayout->addWidget(m_help);
  line->addWidget(labelSpace, 0, Qt::AlignTop);

  m_editor = makeFieldEditor(
      field, {.segments = layout.segments, .baseFolder = layout.baseFolder, .symbols = layout.symbols}, this);
  label->setBuddy(m_editor->focusTarget());
  if (layout.fieldWidth > 0 && !m_editor->wantsWholeWidth()) m_editor->setFixedWidth(layout.fieldWidth);
  line->addWidget(m_editor, layout.fieldWidth > 0 && !m_editor->wantsWholeWidth() ? 0 : 1);

  m_default = new QLabel(this);
  m_default->setProperty("kind", "hint");
  m_hint = new QLabel(this);
  m_hint->setProperty("kind", "hint");
  m_hintAction = new Button(QString(), ButtonKind::link, this);
  line->addSpacing(layout.fieldWidth > 0 ? 14 : 0);
  line->addWidget(m_default);
  line->addWidget(m_hint);
  line->addWidget(m_hintAction);
  if (layout.fieldWidth > 0) line->addStretch(m_editor->wantsWholeWidth() ? 0 : 1);
  m_default->hide();
  m_hint->hide();
  m_hintAction->hide();
  m_dot->hide();
  m_help->hide();

  static_cast<QAbstractButton*>(m_dot)->setAccessibleName(tr("Reset %1").arg(label->text()));
  m_dot->setToolTip(
      tr("Differs from the default, %1. Click to go back to it.").arg(readable(field, field.defaultValue)));
  connect(static_cast<QAbstractButton*>(m_dot), &QAbstractButton::clicked, this, &FormRow::resetRequested);
  connect(m_help, &QPushButton::clicked, this, [this] { setHelpShown(!helpShown()); });
  connect(m_hintAction, &QPushButton::clicked, this, &FormRow::hintActionTriggered);
  m_editor->focusTarget()->installEventFilter(this);
  const auto fit = [this, labelSpace] {
    const int field = Theme::of(this).size(Size::field);
    labelSpace->setMinimumHeight(field);
    labelSpace->setFixedWidth(labelRoom(m_layout, this));
    m_dot->setFixedHeight(field);
  };
  connect(&Theme::of(this), &Theme::changed, this, fit);
  fit();
}

void FormRow::setChanged(bool changed) {
  m_changed = changed;
  m_dot->setVisible(changed);
  setShowDefault(m_showDefault);
}

void FormRow::setShowDefault(bool show) {
  m_showDefault = show;
  const bool visible = show && m_changed;
  if (visible)
    m_default->setText(
        QStringLiteral("<s>%1</s>&nbsp;&nbsp;").arg(readable(m_field, m_field.defaultValue).toHtmlEscaped()));
  m_default->setVisible(visible);
}

void FormRow::setHint(const QString& hint, const QString& action) {
  m_hint->setText(hint);
  m_hint->setVisible(!hint.isEmpty());
  m_hintAction->setText(action);
  m_hintAction->setVisible(!action.isEmpty());
}

QWidget* FormRow::problemLine(const FieldProblem& problem) {
  const bool error = problem.severity == FieldProblem::Severity::error;
  auto* line = new QWidget(m_problems);
  auto* layout = new QHBoxLayout(line);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(6);
  auto* sign = new IconLabel(error ? QStringLiteral("status-failed") : QStringLiteral("status-warning"),
                             error ? Colour::error : Colour::warning, 14, line);
  layout->addWidget(sign, 0, Qt::AlignTop);
  auto* text = new QLabel(QString::fromStdString(problem.message), line);
  text->setProperty("kind", error ? "error" : "warning");
  text->setTextFormat(Qt::PlainText);
  text->setWordWrap(true);
  text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  text->setFocusPolicy(Qt::NoFocus);
  auto* column = new QVBoxLayout;
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(text);
  if (problem.remedy) {
    auto* remedy = new Button(tr("Use %1").arg(readable(m_field, *problem.remedy)), ButtonKind::link, line);
    remedy->setObjectName(QStringLiteral("remedy"));
    column->addWidget(remedy, 0, Qt::AlignLeft);
    connect(remedy, &QPushButton::clicked, this, [this, value = *problem.remedy] {
      m_editor->focusTarget()->setFocus(Qt::OtherFocusReason);  // the button goes with the fault
      Q_EMIT remedyChosen(value);
    });
  }
  layout->addLayout(column, 1);
  return line;
}

void FormRow::setProblems(const std::vector<FieldProblem>& problems) {
  if (m_problems) {
    m_problems->hide();
    m_problems->deleteLater();
    m_problems = nullptr;
  }
  FieldMark mark = FieldMark::none;
  for (const FieldProblem& problem : problems) {
    if (problem.severity == FieldProblem::Severity::error)
      mark = FieldMark::error;
    else if (mark == FieldMark::none)
      mark = FieldMark::warning;
  }
  m_editor->setMark(mark);
  if (problems.empty()) return;
  m_problems = new QWidget(this);
  auto* column = new QVBoxLayout(m_problems);
  column->setContentsMargins(kDotColumn + labelRoom(m_layout, this), 0, 0, 0);
  column->setSpacing(4);
  for (const FieldProblem& problem : problems) column->addWidget(problemLine(problem));
  m_column->insertWidget(1, m_problems);
  m_problems->show();
}

bool FormRow::helpShown() const {
  return m_helpText && !m_helpText->isHidden();
}

void FormRow::setHelpShown(bool shown) {
  if (shown && !m_helpText) {
    m_helpText = new QLabel(helpOf(m_field), this);
    m_helpText->setProperty("kind", "hint");
    m_helpText->setTextFormat(Qt::PlainText);
    m_helpText->setWordWrap(true);
    m_helpText->setContentsMargins(kDotColumn, 0, 0, 6);
    m_helpText->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_column->addWidget(m_helpText);
  }
  if (m_helpText) m_helpText->setVisible(shown);
  refreshHelpButton();
}

void FormRow::refreshHelpButton() {
  m_help->setVisible(m_hovered || helpShown());
}

void FormRow::enterEvent(QEnterEvent*) {
  m_hovered = true;
  refreshHelpButton();
}

void FormRow::leaveEvent(QEvent*) {
  m_hovered = false;
  refreshHelpButton();
}

void FormRow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_F1)
    setHelpShown(!helpShown());
  else if (event->key() == Qt::Key_R && event->modifiers() == Qt::ControlModifier && m_changed)
    Q_EMIT resetRequested();
  else
    QWidget::keyPressEvent(event);
}

bool FormRow::eventFilter(QObject* watched, QEvent* event) {
  // A field eats the keys that mean the whole row.
  if (event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    const bool reset = key->key() == Qt::Key_R && key->modifiers() == Qt::ControlModifier;
    if (reset || key->key() == Qt::Key_F1) {
      keyPressEvent(key);
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace loom

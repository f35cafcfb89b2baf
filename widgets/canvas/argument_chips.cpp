#include "widgets/canvas/argument_chips.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QVBoxLayout>
#include <functional>

#include "widgets/controls/button.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/popover.h"
#include "widgets/controls/text.h"
#include "widgets/document/argument_text.h"
#include "widgets/document/texts.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr int kChipPadding = 10, kChipHeight = 22, kLineWidth = 150, kWordsWidth = 74;

// "name [        ]" in a card; `leave` is called for each finished edit.
QLineEdit* addLine(QVBoxLayout* column, const QString& label, const QString& value, bool number) {
  QWidget* card = column->parentWidget();
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  QLabel* words = makeLabel("field", label, card);
  words->setFixedWidth(kWordsWidth);
  auto* line = new QLineEdit(value, card);
  line->setAccessibleName(label);
  line->setFixedWidth(kLineWidth);
  if (number) line->setProperty("number", true);
  words->setBuddy(line);
  row->addWidget(words);
  row->addWidget(line);
  column->addLayout(row);
  return line;
}

}  // namespace

ArgumentChip::ArgumentChip(const QString& text, bool own, QWidget* parent) : QAbstractButton(parent), m_own(own) {
  setText(text);
  setAccessibleName(text);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_Hover);
  setProperty("focusRadius", Theme::of(this).radius(Radius::chip));
}

QSize ArgumentChip::sizeHint() const {
  const QFontMetrics metrics(Theme::of(this).numberFont(FontRole::caption));
  return {metrics.horizontalAdvance(text()) + 2 * kChipPadding, std::max(kChipHeight, metrics.height() + 6)};
}

void ArgumentChip::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.colour(isDown() || underMouse() ? Colour::pressed : Colour::hover));
  painter.drawRoundedRect(rect(), theme.radius(Radius::chip), theme.radius(Radius::chip));
  painter.setFont(theme.numberFont(FontRole::caption));
  painter.setPen(theme.colour(m_own ? Colour::text : Colour::text2));
  painter.drawText(rect(), Qt::AlignCenter, text());
}

ArgumentChips::ArgumentChips(ProjectDocument& document, QWidget* parent)
    : QWidget(parent),
      m_document(document),
      m_flow(new FlowLayout(this)),
      m_add(new Button(QStringLiteral("plus"), tr("Argument"), ButtonKind::plain, this)) {
  setAccessibleName(tr("Arguments"));
  m_flow->setContentsMargins(0, 0, 0, 0);
  m_flow->addWidget(m_add);
  m_add->setToolTip(tr("Add an argument: a value that each use of the unit may choose"));
  connect(m_add, &QAbstractButton::clicked, this, &ArgumentChips::openNew);
  connect(&document, &ProjectDocument::changed, this, &ArgumentChips::refresh);
  connect(&document, &ProjectDocument::opened, this, &ArgumentChips::refresh);
  connect(&Theme::of(this), &Theme::changed, this, &ArgumentChips::refresh);
}

void ArgumentChips::setUnit(const std::string& unit) {
  m_unit = unit;
  m_drawing.clear();
  m_node.clear();
  refresh();
}

void ArgumentChips::setUse(const std::string& drawing, const std::string& node) {
  m_drawing = drawing;
  m_node = node;
  const Network* drawn = m_document.drawing(drawing);
  const Node* use = drawn == nullptr ? nullptr : drawn->find(node);
  m_unit = use == nullptr ? std::string() : use->unit;
  refresh();
}

QWidget* ArgumentChips::card() const {
  return m_card != nullptr && m_card->isVisible() ? m_card.data() : nullptr;
}

void ArgumentChips::refresh() {
  const Network* unit = m_document.project().unit(m_unit);
  const Network* drawn = m_node.empty() ? nullptr : m_document.drawing(m_drawing);
  const Node* use = drawn == nullptr ? nullptr : drawn->find(m_node);
  struct Wanted {
    QString text;
    bool own;
    Argument argument;
  };
  std::vector<Wanted> wanted;
  if (unit != nullptr && (m_node.empty() || use != nullptr))
    for (const Argument& argument : unit->arguments) {
      const auto given = use == nullptr ? Json::const_iterator() : use->values.find(argument.name);
      const bool own = use != nullptr && given != use->values.end();
      const QString value = argumentText(own ? *given : argument.defaultValue);
      wanted.push_back({value.isEmpty() ? q(argument.name) : QStringLiteral("%1 = %2").arg(q(argument.name), value),
                        own || use == nullptr, argument});
    }
  m_add->setVisible(unit != nullptr && m_node.empty());
  // Chips that say the same stay: one of them may have the keyboard.
  bool same = wanted.size() == m_chips.size();
  for (std::size_t i = 0; same && i < wanted.size(); ++i) same = m_chips[i]->text() == wanted[i].text;
  if (same) return;
  for (ArgumentChip* chip : m_chips) {
    m_flow->removeWidget(chip);
    chip->hide();
    chip->deleteLater();
  }
  m_chips.clear();
  for (const Wanted& each : wanted) {
    auto* chip = new ArgumentChip(each.text, each.own, this);
    if (!each.argument.help.empty()) chip->setToolTip(q(each.argument.help));
    m_flow->insertWidget(static_cast<int>(m_chips.size()), chip);
    chip->show();
    m_chips.push_back(chip);
    connect(chip, &QAbstractButton::clicked, this, [this, chip, name = each.argument.name] {
      const Network* now = m_document.project().unit(m_unit);
      const Argument* argument = now == nullptr ? nullptr : now->argument(name);
      if (argument == nullptr) return;
      if (m_node.empty())
        openArgument(*argument, chip);
      else
        openValue(*argument, chip);
    });
  }
  updateGeometry();
}

Popover* ArgumentChips::newCard(const QString& title) {
  delete m_card;
  auto* card = new Popover(window());
  card->setTitle(title);
  connect(card, &Popover::closed, card, &QObject::deleteLater);
  m_card = card;
  return card;
}

void ArgumentChips::openArgument(const Argument& argument, QWidget* anchor) {
  Popover* card = newCard(tr("Argument of %1").arg(q(m_unit)));
  QVBoxLayout* column = card->contentLayout();
  QLineEdit* name = addLine(column, tr("Name"), q(argument.name), true);
  QLineEdit* value = addLine(column, tr("Default"), argumentText(argument.defaultValue), true);
  QLineEdit* help = addLine(column, tr("Help"), q(argument.help), false);
  QLabel* problem = makeLabel("error", {}, card, Wrap::yes);
  problem->hide();
  column->addWidget(problem);
  auto* remove = new Button(tr("Remove"), ButtonKind::danger, card);
  column->addWidget(remove, 0, Qt::AlignLeft);
  const auto known = std::make_shared<std::string>(argument.name);
  const auto tell = [problem](const Outcome& outcome) {
    problem->setText(outcome.reason);
    problem->setVisible(!outcome);
  };
  const auto change = [this, known, tell](const std::function<void(Argument&)>& set) {
    const Network* unit = m_document.project().unit(m_unit);
    const Argument* now = unit == nullptr ? nullptr : unit->argument(*known);
    if (now == nullptr) return;
    Argument wanted = *now;
    set(wanted);
    if (wanted == *now) return;
    const Outcome outcome = m_document.setArgument(m_unit, *known, wanted);
    if (outcome) *known = wanted.name;
    tell(outcome);
  };
  connect(name, &QLineEdit::editingFinished, card,
          [=] { change([&](Argument& each) { each.name = name->text().trimmed().toStdString(); }); });
  connect(value, &QLineEdit::editingFinished, card, [=, this] {
    change([&](Argument& each) {
      std::set<std::string> names;  // an expression may use those before it
      for (const Argument& other : m_document.project().unit(m_unit)->arguments) {
        if (other.name == each.name) break;
        names.insert(other.name);
      }
      each.defaultValue = readArgument(value->text(), names);
    });
  });
  connect(help, &QLineEdit::editingFinished, card,
          [=] { change([&](Argument& each) { each.help = help->text().trimmed().toStdString(); }); });
  connect(remove, &QAbstractButton::clicked, card, [=, this] {
    const Outcome outcome = m_document.removeArgument(m_unit, *known);
    if (outcome)
      card->close();
    else
      tell(outcome);
  });
  for (QLineEdit* line : {name, value, help})
    connect(line, &QLineEdit::returnPressed, card, [=] {
      if (problem->isHidden()) card->close();
    });
  card->openAt(anchor);
  value->setFocus(Qt::ShortcutFocusReason);
  value->selectAll();
}

void ArgumentChips::openValue(const Argument& argument, QWidget* anchor) {
  Popover* card = newCard(tr("%1 in %2").arg(q(argument.name), q(m_node)));
  QVBoxLayout* column = card->contentLayout();
  const Network* drawn = m_document.drawing(m_drawing);
  const Node* use = drawn == nullptr ? nullptr : drawn->find(m_node);
  if (use == nullptr) return;
  const auto given = use->values.find(argument.name);
  QLineEdit* value =
      addLine(column, tr("Value"), argumentText(given == use->values.end() ? argument.defaultValue : *given), true);
  value->setPlaceholderText(argumentText(argument.defaultValue));
  column->addWidget(makeLabel(
      "hint",
      tr("Everywhere else %1")
          .arg(argument.defaultValue.is_null() ? tr("it must be given") : argumentText(argument.defaultValue)),
      card));
  connect(value, &QLineEdit::editingFinished, card, [=, this, name = argument.name, unset = argument.defaultValue] {
    std::set<std::string> names{"i"};
    for (const Argument& outer : m_document.drawing(m_drawing)->arguments) names.insert(outer.name);
    Json typed = readArgument(value->text(), names);
    if (typed == unset) typed = nullptr;
    m_document.setField(m_drawing, m_node, name, typed);
  });
  connect(value, &QLineEdit::returnPressed, card, &QWidget::close);
  card->openAt(anchor);
  value->setFocus(Qt::ShortcutFocusReason);
  value->selectAll();
}

void ArgumentChips::openNew() {
  Popover* card = newCard(tr("New argument of %1").arg(q(m_unit)));
  QVBoxLayout* column = card->contentLayout();
  QLineEdit* name = addLine(column, tr("Name"), {}, true);
  QLineEdit* value = addLine(column, tr("Default"), QStringLiteral("1"), true);
  QLabel* problem = makeLabel("error", {}, card, Wrap::yes);
  problem->hide();
  column->addWidget(problem);
  column->addWidget(makeLabel("hint", tr("Type its name in a field inside to use it."), card));
  auto* add = new Button(tr("Add"), ButtonKind::outlined, card);
  column->addWidget(add, 0, Qt::AlignLeft);
  const auto accept = [=, this] {
    std::set<std::string> names;
    for (const Argument& other : m_document.project().unit(m_unit)->arguments) names.insert(other.name);
    const Outcome outcome = m_document.addArgument(
        m_unit, {.name = name->text().trimmed().toStdString(), .defaultValue = readArgument(value->text(), names)});
    problem->setText(outcome.reason);
    problem->setVisible(!outcome);
    if (outcome) card->close();
  };
  connect(add, &QAbstractButton::clicked, card, accept);
  connect(name, &QLineEdit::returnPressed, card, accept);
  connect(value, &QLineEdit::returnPressed, card, accept);
  card->openAt(m_add);
  name->setFocus(Qt::ShortcutFocusReason);
}

}  // namespace loom

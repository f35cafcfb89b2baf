#include "app/pages/network/save_layer_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "engine/network/unit_values.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/text.h"
#include "widgets/document/argument_text.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"
#include "widgets/theme/icon.h"

namespace loom {

namespace {

constexpr int kLabelColumn = 56, kValueColumn = 76, kBoundColumn = 62, kHelpColumn = 210, kHelpHeight = 62,
              kRowsSeen = 5;

// Signs that tell kinds of layers apart; the first is that of every unit.
const char* const kLayerIcons[] = {"unit",    "convolution", "linear",    "normalisation",      "activation",
                                   "pooling", "shape",       "attention", "recurrentAttention", "function",
                                   "sum",     "embedding",   "dropout"};

QLineEdit* numberLine(const QString& name, const QString& text, int width, QWidget* parent) {
  auto* line = new QLineEdit(text, parent);
  line->setAccessibleName(name);
  line->setProperty("number", true);
  line->setFixedWidth(width);
  return line;
}

QString boundText(const Json& range, std::size_t at) {
  return range.is_array() && range[at].is_number() ? q(range[at].dump()) : QString();
}

bool holdsNumbers(const Json& value) {
  return value.is_null() || value.is_number() || isExpression(value) ||
         (value.is_array() &&
          std::all_of(value.begin(), value.end(), [](const Json& each) { return each.is_number(); }));
}

}  // namespace

SaveLayerCard::SaveLayerCard(const Project& project, const Network& unit, const OwnLayers& library, QWidget* window)
    : Popover(window), m_project(project), m_unit(unit), m_library(library) {
  setObjectName("save-layer");
  setTitle(tr("Save to my layers"));
  contentLayout()->setSpacing(8);
  auto* head = new QGridLayout;
  head->setHorizontalSpacing(8);
  head->setVerticalSpacing(8);
  const auto label = [&](const QString& words) {
    QLabel* const made = makeLabel("field", words, this);
    made->setFixedWidth(kLabelColumn);
    return made;
  };
  m_name = new QLineEdit(q(unit.name), this);
  m_name->setObjectName("save-layer-name");
  m_name->setAccessibleName(tr("Name"));
  m_icon = new ChoiceField(this);
  m_icon->setAccessibleName(tr("Icon"));
  for (const char* each : kLayerIcons)
    m_icon->addItem(icon(QString::fromLatin1(each)), QString::fromLatin1(each), QString::fromLatin1(each));
  m_icon->setCurrentIndex(std::max(0, m_icon->findData(q(unit.words.icon))));
  m_help = new QPlainTextEdit(q(unit.words.help), this);
  m_help->setProperty("kind", "framed");  // a scroll area has no frame of its own
  m_help->setObjectName("save-layer-help");
  m_help->setAccessibleName(tr("Help"));
  m_help->setTabChangesFocus(true);
  m_help->setFixedHeight(kHelpHeight);
  m_help->setPlaceholderText(tr("What it computes. The first sentence stands in the palette."));
  head->addWidget(label(tr("Name")), 0, 0);
  head->addWidget(m_name, 0, 1);
  head->addWidget(makeLabel("field", tr("Icon"), this), 0, 2);
  head->addWidget(m_icon, 0, 3);
  head->addWidget(label(tr("Help")), 1, 0, Qt::AlignTop);
  head->addWidget(m_help, 1, 1, 1, 3);
  head->setColumnStretch(1, 1);
  contentLayout()->addLayout(head);

  if (unit.arguments.empty()) {
    contentLayout()->addWidget(
        makeLabel("hint", tr("The unit has no arguments: the layer will have no fields."), this));
  } else {
    contentLayout()->addWidget(hairline(Qt::Horizontal, this));
    auto* table = new QWidget(this);
    auto* grid = new QGridLayout(table);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(6);
    const QString heads[] = {tr("Field"), tr("Default"), tr("From"), tr("To"), tr("Help")};
    for (int column = 0; column < 5; ++column) grid->addWidget(makeLabel("caption", heads[column], table), 0, column);
    for (const Argument& argument : unit.arguments) {
      const QString name = q(argument.name);
      const int row = static_cast<int>(m_rows.size()) + 1;
      Row made{numberLine(tr("Default of %1").arg(name), argumentText(argument.defaultValue), kValueColumn, table),
               numberLine(tr("Lowest %1").arg(name), boundText(argument.range, 0), kBoundColumn, table),
               numberLine(tr("Highest %1").arg(name), boundText(argument.range, 1), kBoundColumn, table),
               new QLineEdit(q(argument.help), table)};
      made.help->setAccessibleName(tr("Help of %1").arg(name));
      made.help->setMinimumWidth(kHelpColumn);
      made.low->setPlaceholderText(tr("any"));
      made.high->setPlaceholderText(tr("any"));
      const bool numbers = holdsNumbers(argument.defaultValue);
      made.low->setEnabled(numbers);
      made.high->setEnabled(numbers);
      QWidget* const cells[] = {makeLabel("number", name, table), made.value, made.low, made.high, made.help};
      for (int column = 0; column < 5; ++column) grid->addWidget(cells[column], row, column);
      m_rows.push_back(made);
    }
    grid->setColumnStretch(4, 1);
    if (m_rows.size() <= kRowsSeen) {
      contentLayout()->addWidget(table);
    } else {
      auto* scroll = new QScrollArea(this);
      scroll->setFrameShape(QFrame::NoFrame);
      scroll->setWidgetResizable(true);
      scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
      table->setAutoFillBackground(false);
      scroll->viewport()->setAutoFillBackground(false);
      scroll->setWidget(table);
      scroll->setFixedHeight(table->sizeHint().height() * (kRowsSeen + 1) / static_cast<int>(m_rows.size() + 1));
      scroll->setMinimumWidth(table->sizeHint().width() + 16);
      contentLayout()->addWidget(scroll);
    }
  }
  m_fault = makeLabel("error", {}, this, Wrap::yes);
  m_fault->setObjectName("save-layer-fault");
  m_fault->hide();
  contentLayout()->addWidget(m_fault);
  auto* foot = new QHBoxLayout;
  m_words = makeLabel("hint", {}, this, Wrap::yes);
  m_save = new Button(tr("Save"), ButtonKind::tinted, this);
  m_save->setObjectName("save-layer-save");
  foot->addWidget(m_words, 1);
  foot->addWidget(m_save);
  contentLayout()->addLayout(foot);
  connect(m_name, &QLineEdit::textChanged, this, &SaveLayerCard::refresh);
  const auto save = [this] {
    Network unit = m_unit;
    QString reason;
    if (read(unit, reason))
      Q_EMIT wanted(unit);
    else
      refuse(reason);
  };
  connect(m_save, &QAbstractButton::clicked, this, save);
  connect(m_name, &QLineEdit::returnPressed, this, save);
  refresh();
  setFocusProxy(m_name);
}

void SaveLayerCard::refuse(const QString& reason) {
  m_fault->setText(reason);
  m_fault->setVisible(!reason.isEmpty());
}

// Whether it is new, takes the place of another, or cannot be called so.
void SaveLayerCard::refresh() {
  const std::string name = m_name->text().trimmed().toStdString();
  const bool there = m_library.find(name) != nullptr;
  m_save->setText(there ? tr("Replace") : tr("Save"));
  m_words->setText(
      there ? tr("Takes the place of the %1 among your layers. Projects that use it are told and stay as they are.")
                  .arg(q(name))
            : tr("Stands in the palette of every project then."));
  refuse({});
}

bool SaveLayerCard::read(Network& unit, QString& reason) const {
  unit.name = m_name->text().trimmed().toStdString();
  if (!validId(unit.name))
    reason = tr("'%1' is no name: letters, digits, '_' and '-', beginning with a letter").arg(q(unit.name));
  else if (isLayerName(unit.name))
    reason = tr("'%1' is a layer: yours needs a name of its own").arg(q(unit.name));
  else if (unit.name != m_unit.name && m_project.drawing(unit.name) != nullptr)
    reason = tr("There is a network or unit '%1' already").arg(q(unit.name));
  unit.words.icon = m_icon->currentIndex() > 0 ? m_icon->currentData().toString().toStdString() : std::string();
  unit.words.help = m_help->toPlainText().trimmed().toStdString();
  std::set<std::string> before;  // an expression may use the arguments before it
  for (std::size_t i = 0; i < m_rows.size() && reason.isEmpty(); ++i) {
    Argument& argument = unit.arguments[i];
    argument.defaultValue = readArgument(m_rows[i].value->text(), before);
    argument.help = m_rows[i].help->text().trimmed().toStdString();
    Json range = Json::array({nullptr, nullptr});
    for (std::size_t end = 0; end < 2; ++end) {
      const QString text = (end == 0 ? m_rows[i].low : m_rows[i].high)->text().trimmed();
      if (text.isEmpty()) continue;
      const Json bound = readArgument(text, {});
      if (bound.is_number())
        range[end] = bound;
      else
        reason = tr("%1: '%2' is no number").arg(q(argument.name), text);
    }
    argument.range = range[0].is_null() && range[1].is_null() ? Json() : range;
    if (reason.isEmpty() && !isArgumentRange(argument.range))
      reason = tr("%1: the range ends before it begins").arg(q(argument.name));
    if (reason.isEmpty() && !outOfRange(argument.defaultValue, argument.range).is_null())
      reason = tr("%1: the default, %2, lies outside %3")
                   .arg(q(argument.name), argumentText(argument.defaultValue), q(rangeWords(argument.range)));
    before.insert(argument.name);
  }
  return reason.isEmpty();
}

}  // namespace loom

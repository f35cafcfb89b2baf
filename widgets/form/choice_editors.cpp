#include "widgets/form/choice_editors.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <functional>

#include "widgets/controls/chip.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/focus_keeper.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

const char* markName(FieldMark mark) {
  return mark == FieldMark::error ? "error" : mark == FieldMark::warning ? "warning" : "";
}

QHBoxLayout* bareLayout(QWidget* widget) {
  auto* layout = new QHBoxLayout(widget);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(6);
  return layout;
}

// A line that can take a chip away with Backspace while it is empty.
class TagLine : public QLineEdit {
 public:
  using QLineEdit::QLineEdit;
  std::function<void()> onBackspace;

 protected:
  void keyPressEvent(QKeyEvent* event) override {
    if (event->key() == Qt::Key_Backspace && text().isEmpty() && onBackspace)
      onBackspace();
    else
      QLineEdit::keyPressEvent(event);
  }
};

}  // namespace

BooleanEditor::BooleanEditor(const Field& field, QWidget* parent)
    : FieldEditor(parent), m_switch(new Switch(Switch::Words::onOff, this)) {
  bareLayout(this)->addWidget(m_switch);
  static_cast<QHBoxLayout*>(layout())->addStretch();
  m_switch->setAccessibleName(QString::fromStdString(field.label));
  m_switch->setMinimumHeight(Theme::of(this).size(Size::field));
  connect(m_switch, &QAbstractButton::clicked, this, [this](bool on) { Q_EMIT edited(Json(on)); });
}

void BooleanEditor::showValue(const Json& value) {
  m_switch->setMixed(false);
  m_switch->setChecked(value.is_boolean() && value.get<bool>());
}

ChoiceEditor::ChoiceEditor(const Field& field, bool segments, QWidget* parent) : FieldEditor(parent), m_field(field) {
  auto* row = bareLayout(this);
  const QString label = QString::fromStdString(field.label);
  if (segments) {
    QStringList labels;
    for (const Choice& choice : field.choices) labels << QString::fromStdString(choice.label);
    m_segments = new SegmentedControl(labels, this);
    m_segments->setAccessibleName(label);
    row->addWidget(m_segments);
    row->addStretch();
    connect(m_segments, &SegmentedControl::currentChanged, this, [this](int index) {
      if (!m_showing) Q_EMIT edited(Json(m_field.choices[static_cast<std::size_t>(index)].id));
    });
    return;
  }
  m_list = new ChoiceField(this);
  m_list->setAccessibleName(label);
  for (const Choice& choice : field.choices) {
    m_list->addItem(QString::fromStdString(choice.label), QString::fromStdString(choice.id));
    m_list->setItemData(m_list->count() - 1, QString::fromStdString(choice.help), Qt::ToolTipRole);
  }
  row->addWidget(m_list, 1);
  connect(m_list, &QComboBox::currentIndexChanged, this, [this](int index) {
    if (!m_showing && index >= 0) Q_EMIT edited(Json(m_list->itemData(index).toString().toStdString()));
  });
}

void ChoiceEditor::showMixed() {
  m_showing = true;
  if (m_segments)
    m_segments->setCurrent(-1);
  else
    m_list->setCurrentIndex(-1);
  if (m_list) m_list->setPlaceholderText(mixedWord());
  m_showing = false;
}

int ChoiceEditor::indexOf(const std::string& id) const {
  for (std::size_t i = 0; i < m_field.choices.size(); ++i) {
    if (m_field.choices[i].id == id) return static_cast<int>(i);
  }
  return -1;
}

void ChoiceEditor::showValue(const Json& value) {
  m_showing = true;
  const std::string id = value.is_string() ? value.get<std::string>() : std::string();
  const int index = indexOf(id);
  if (m_segments) {
    m_segments->setCurrent(index);
  } else {
    // An id that the catalogue does not know (a newer file, a slip) is shown as it stands rather than replaced.
    while (m_list->count() > static_cast<int>(m_field.choices.size())) m_list->removeItem(m_list->count() - 1);
    if (index < 0 && !id.empty()) m_list->addItem(QString::fromStdString(id), QString::fromStdString(id));
    m_list->setCurrentIndex(index < 0 && !id.empty() ? m_list->count() - 1 : index);
  }
  m_showing = false;
}

void ChoiceEditor::setMark(FieldMark mark) {
  if (m_list) setStyleProperty(m_list, "problem", markName(mark));
}

QWidget* ChoiceEditor::focusTarget() {
  return m_list ? static_cast<QWidget*>(m_list) : m_segments;
}

TextsEditor::TextsEditor(const Field& field, QWidget* parent) : FieldEditor(parent), m_flow(new FlowLayout(this)) {
  auto* line = new TagLine(this);
  m_line = line;
  m_line->setPlaceholderText(tr("Add"));
  m_line->setAccessibleName(tr("Add to %1").arg(QString::fromStdString(field.label)));
  m_line->setFixedWidth(96);
  m_flow->addWidget(m_line);
  line->onBackspace = [this] {
    if (m_texts.isEmpty()) return;
    m_texts.removeLast();
    rebuild();
    send();
  };
  connect(m_line, &QLineEdit::returnPressed, this, [this] { add(m_line->text()); });
  connect(m_line, &QLineEdit::editingFinished, this, [this] { add(m_line->text()); });
  connect(m_line, &QLineEdit::textEdited, this, [this](const QString& text) {
    if (text.endsWith(',')) add(text.chopped(1));
  });
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void TextsEditor::add(const QString& text) {
  const QString word = text.trimmed();
  m_line->clear();
  if (word.isEmpty() || m_texts.contains(word)) return;
  m_texts << word;
  rebuild();
  send();
}

void TextsEditor::rebuild() {
  for (Chip* chip : m_chips) {
    m_flow->removeWidget(chip);
    chip->hide();
    chip->deleteLater();
  }
  m_chips.clear();
  for (int i = 0; i < m_texts.size(); ++i) {
    auto* chip = new Chip(m_texts[i], Chip::Kind::outlined, this);
    chip->setRemovable(true);
    m_flow->insertWidget(i, chip);
    chip->show();
    const QString text = m_texts[i];
    connect(chip, &Chip::removed, this, [this, text] {
      m_texts.removeAll(text);
      rebuild();
      send();
      m_line->setFocus();
    });
    m_chips.push_back(chip);
  }
  tabBefore(*m_line, QList<QWidget*>(m_chips.begin(), m_chips.end()));
  updateGeometry();
}

void TextsEditor::send() {
  Json values = Json::array();
  for (const QString& text : m_texts) values.push_back(text.toStdString());
  Q_EMIT edited(values);
}

void TextsEditor::showMixed() {
  showValue(nullptr);
  m_line->setPlaceholderText(mixedWord());
}

void TextsEditor::showValue(const Json& value) {
  m_line->setPlaceholderText(tr("Add"));
  QStringList texts;
  if (value.is_string()) texts << QString::fromStdString(value.get<std::string>());
  if (value.is_array()) {
    for (const Json& item : value) {
      if (item.is_string()) texts << QString::fromStdString(item.get<std::string>());
    }
  }
  if (texts == m_texts) return;
  m_texts = texts;
  rebuild();
}

QStringList TextsEditor::draft() const {
  return m_line->text().isEmpty() ? QStringList() : QStringList{m_line->text()};
}

void TextsEditor::setMark(FieldMark mark) {
  setStyleProperty(m_line, "problem", markName(mark));
}

}  // namespace loom

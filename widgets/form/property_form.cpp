#include "widgets/form/property_form.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

namespace loom {

PropertyForm::PropertyForm(FormStyle style, QWidget* parent)
    : QWidget(parent), m_style(style), m_given(Json::object()), m_column(new QVBoxLayout(this)) {
  m_column->setContentsMargins(0, 0, 0, 0);
  m_column->setSpacing(8);
  m_headingRow = new QWidget(this);
  auto* layout = new QHBoxLayout(m_headingRow);
  layout->setContentsMargins(style == FormStyle::page ? 11 : 0, 0, 0, 2);
  m_heading = new QLabel(m_headingRow);
  m_heading->setProperty("kind", style == FormStyle::page ? "heading" : "section");
  m_count = new QLabel(m_headingRow);
  m_count->setProperty("kind", "hint");
  layout->addWidget(m_heading);
  layout->addStretch();
  layout->addWidget(m_count);
  m_headingRow->hide();
  m_column->addWidget(m_headingRow);
  // A page's form has room of its own; in the inspector what is left over stands below everything.
  if (style == FormStyle::page)
    m_column->addStretch();
  else
    m_column->addSpacing(0);
}

PropertyForm::~PropertyForm() = default;

void PropertyForm::clear() {
  keepDrafts();
  for (FormRow* row : m_rows) {
    row->hide();
    row->deleteLater();
  }
  m_rows.clear();
  m_invalid.clear();
  tellUnread();
  m_problems.clear();
  m_mixed.clear();
  m_entry = nullptr;
  m_computed.reset();
  m_given = Json::object();
  m_identity.clear();
}

void PropertyForm::keepDrafts() {
  if (m_identity.isEmpty()) return;
  std::map<std::string, QStringList> drafts;
  for (const FormRow* row : m_rows) {
    if (const QStringList texts = row->editor()->draft(); !texts.isEmpty()) drafts[row->field().key] = texts;
  }
  if (drafts.empty())
    m_drafts.remove(m_identity);
  else
    m_drafts.insert(m_identity, drafts);
  if (std::vector<Unread> left = unread(); left.empty())
    m_left.remove(m_identity);
  else
    m_left.insert(m_identity, std::move(left));
}

void PropertyForm::setEntry(const Entry& entry, const Json& given, const QString& identity) {
  if (m_entry == &entry && m_identity == identity && !identity.isEmpty()) {
    setGiven(given);
    return;
  }
  clear();
  m_entry = &entry;
  m_identity = identity;
  m_given = given.is_object() ? given : Json::object();
  const RowLayout layout =
      m_style == FormStyle::page
          ? RowLayout{.labelWidth = 130, .fieldWidth = 142, .segments = true, .baseFolder = m_baseFolder}
          : RowLayout{.labelWidth = 94, .baseFolder = m_baseFolder, .symbols = m_symbols};
  for (const Field& field : entry.fields) {
    if (std::find(m_hidden.begin(), m_hidden.end(), field.key) != m_hidden.end()) continue;
    auto* row = new FormRow(field, layout, this);
    row->setObjectName(QString::fromStdString(field.key));
    row->showValue(valueOf(field));
    m_column->insertWidget(m_column->count() - 1, row);
    m_rows.push_back(row);
    connect(row->editor(), &FieldEditor::edited, this, [this, row](const Json& value) { take(*row, value); });
    connect(row->editor(), &FieldEditor::invalid, this, [this, row](const QString& problem) {
      if (problem.isEmpty())
        m_invalid.erase(row->field().key);
      else
        m_invalid[row->field().key] = problem;
      refreshProblems();
    });
    connect(row, &FormRow::resetRequested, this, [this, row] { reset(row->field().key); });
    connect(row, &FormRow::remedyChosen, this, [this, row](const Json& value) {
      row->showValue(value);
      take(*row, value);
    });
    connect(row, &FormRow::hintActionTriggered, this,
            [this, row] { Q_EMIT hintTriggered(QString::fromStdString(row->field().key)); });
  }
  if (const auto drafts = m_drafts.constFind(identity); !identity.isEmpty() && drafts != m_drafts.constEnd()) {
    for (const auto& [key, texts] : *drafts) {
      if (FormRow* found = row(key)) found->editor()->restoreDraft(texts);
    }
  }
  m_left.remove(identity);
  m_changed = -1;
  refresh();
}

void PropertyForm::tabBehind(QWidget* field) {
  for (const FormRow* row : m_rows)
    for (QWidget* each : row->findChildren<QWidget*>()) {
      if (!(each->focusPolicy() & Qt::TabFocus) || each->focusProxy()) continue;
      setTabOrder(field, each);
      field = each;
    }
}

Json PropertyForm::valueOf(const Field& field) const {
  const auto found = m_given.find(field.key);
  return found != m_given.end() ? *found : field.defaultValue;
}

void PropertyForm::setGiven(const Json& given) {
  if (!m_entry) return;
  const Json before = m_given;
  m_given = given.is_object() ? given : Json::object();
  for (FormRow* row : m_rows) {
    const std::string& key = row->field().key;
    const auto old = before.find(key);
    if (valueOf(row->field()) == (old != before.end() ? *old : row->field().defaultValue)) continue;
    row->showValue(valueOf(row->field()));
    m_invalid.erase(key);
  }
  refresh();
}

void PropertyForm::setMixed(const std::vector<std::string>& keys) {
  const std::set<std::string> before = std::exchange(m_mixed, std::set<std::string>(keys.begin(), keys.end()));
  for (FormRow* row : m_rows) {
    const std::string& key = row->field().key;
    // Half-typed text in a row that is mixed still stays.
    if (m_mixed.contains(key) == before.contains(key)) continue;
    if (m_mixed.contains(key))
      row->editor()->showMixed();
    else
      row->showValue(valueOf(row->field()));
    m_invalid.erase(key);
  }
  refresh();
}

void PropertyForm::take(FormRow& row, const Json& value) {
  const Field& field = row.field();
  const bool wasMixed = m_mixed.erase(field.key) > 0;
  m_invalid.erase(field.key);
  const bool isDefault = value.is_null() || sameFieldValue(field, value, field.defaultValue);
  const Json before = valueOf(field);
  // Absent is a value of its own where the default is not: it is kept as null.
  const bool absent = value.is_null() && !field.defaultValue.is_null();
  if (isDefault && !absent)
    m_given.erase(field.key);
  else
    m_given[field.key] = value;
  refresh();
  if (wasMixed || !sameFieldValue(field, before, value))
    Q_EMIT edited(QString::fromStdString(field.key), isDefault && !absent ? Json() : value);
}

void PropertyForm::reset(const std::string& key) {
  FormRow* found = row(key);
  if (!found) return;
  m_given.erase(key);
  m_invalid.erase(key);
  m_mixed.erase(key);
  found->showValue(found->field().defaultValue);
  refresh();
  Q_EMIT edited(QString::fromStdString(key), Json());
}

void PropertyForm::refresh() {
  if (!m_entry) return;
  int changed = 0;
  for (FormRow* row : m_rows) {
    const Field& field = row->field();
    const bool differs = m_given.contains(field.key) && !sameFieldValue(field, m_given[field.key], field.defaultValue);
    const bool shown = isRead(*m_entry, field, m_given);
    if (differs && shown) ++changed;
    row->setChanged(differs || m_mixed.contains(field.key));
    row->setShowDefault(m_changedOnly);
    const bool matches = !m_wanted || m_wanted(field);
    row->setVisible(shown && matches && (differs || !m_changedOnly));
  }
  m_count->setText(changed == 0 ? QString() : tr("%1 changed from default").arg(changed));
  refreshProblems();
  if (changed != m_changed) {
    m_changed = changed;
    Q_EMIT changedCountChanged(changed);
  }
}

void PropertyForm::setProblems(const std::vector<FieldProblem>& problems) {
  m_problems = problems;
  refreshProblems();
}

void PropertyForm::refreshProblems() {
  if (!m_entry) return;
  std::vector<std::string> others;  // keys that are not the entry's own: "id", "layer", "at"
  for (const auto& [key, value] : m_given.items()) {
    if (!m_entry->field(key)) others.push_back(key);
  }
  std::vector<FieldProblem> own = validate(*m_entry, m_computed.value_or(m_given), others);
  // An expression without a value is told of by whoever computes it.
  if (m_computed)
    std::erase_if(own, [&](const FieldProblem& problem) {
      return m_given.contains(problem.key) && !m_computed->contains(problem.key);
    });
  std::erase_if(own, [&](const FieldProblem& problem) { return m_mixed.contains(problem.key); });
  for (FieldProblem& problem : own) problem.message = inLabels(std::move(problem.message), m_entry->fields);
  for (FormRow* row : m_rows) {
    const std::string& key = row->field().key;
    std::vector<FieldProblem> problems;
    // A text that is no value hides what is said of the value that it has replaced in the field.
    if (const auto invalid = m_invalid.find(key); invalid != m_invalid.end()) {
      problems.push_back({FieldProblem::Severity::error, key, invalid->second.toStdString(), std::nullopt});
    } else {
      const auto add = [&](const std::vector<FieldProblem>& source) {
        for (const FieldProblem& problem : source) {
          const bool known = std::any_of(problems.begin(), problems.end(),
                                         [&](const FieldProblem& other) { return other.message == problem.message; });
          if (problem.key == key && !known) problems.push_back(problem);
        }
      };
      // What was told from outside says the same in the words of its page.
      std::vector<FieldProblem> unsaid = own;
      std::erase_if(unsaid, [&](const FieldProblem& each) {
        return std::any_of(m_problems.begin(), m_problems.end(), [&](const FieldProblem& told) {
          return told.key == each.key && told.severity == each.severity && told.remedy == each.remedy;
        });
      });
      add(unsaid);
      add(m_problems);
    }
    row->setProblems(problems);
  }
  tellUnread();
}

void PropertyForm::tellUnread() {
  if (m_told == m_invalid) return;
  m_told = m_invalid;
  Q_EMIT unreadChanged();
}

std::vector<PropertyForm::Unread> PropertyForm::unread() const {
  std::vector<Unread> unread;
  for (const FormRow* each : m_rows) {
    const Field& field = each->field();
    const auto found = m_invalid.find(field.key);
    if (found == m_invalid.end() || !isRead(*m_entry, field, m_given)) continue;
    unread.push_back({field.key, QString::fromStdString(field.label), found->second, readable(field, valueOf(field))});
  }
  return unread;
}

QHash<QString, std::vector<PropertyForm::Unread>> PropertyForm::unreadOfAll() const {
  QHash<QString, std::vector<Unread>> all = m_left;
  if (std::vector<Unread> own = unread(); !own.empty()) all.insert(m_identity, std::move(own));
  return all;
}

void PropertyForm::takeBack(const QString& identity, const std::string& key) {
  if (m_entry && identity == m_identity) return takeBack(key);
  if (m_drafts.contains(identity)) m_drafts[identity].erase(key);
  if (m_left.contains(identity)) std::erase_if(m_left[identity], [&](const Unread& each) { return each.key == key; });
  Q_EMIT unreadChanged();
}

void PropertyForm::takeBack(const std::string& key) {
  FormRow* const found = row(key);
  if (!found) return;
  found->showValue(valueOf(found->field()));
  m_invalid.erase(key);
  refresh();
}

void PropertyForm::setHeading(const QString& heading) {
  m_heading->setText(heading);
  m_headingRow->setVisible(!heading.isEmpty());
}

void PropertyForm::setBaseFolder(const QString& folder) {
  m_baseFolder = folder;
}

void PropertyForm::setSymbols(const Symbols& symbols) {
  m_symbols = symbols;
  for (FormRow* row : m_rows) row->editor()->setSymbols(symbols);
}

void PropertyForm::setComputed(const Json& computed) {
  m_computed = computed;
  refreshProblems();
}

void PropertyForm::setHidden(const std::vector<std::string>& keys) {
  m_hidden = keys;
}

void PropertyForm::setHint(const std::string& key, const QString& hint, const QString& action) {
  if (FormRow* found = row(key)) found->setHint(hint, action);
}

void PropertyForm::setFilter(Wanted wanted, bool changedOnly) {
  m_wanted = std::move(wanted);
  m_changedOnly = changedOnly;
  refresh();
}

int PropertyForm::changedCount() const {
  return std::max(m_changed, 0);
}

int PropertyForm::visibleCount() const {
  return static_cast<int>(
      std::count_if(m_rows.begin(), m_rows.end(), [](const FormRow* row) { return !row->isHidden(); }));
}

bool PropertyForm::focusField(const std::string& key) {
  FormRow* found = row(key);
  if (!found || found->isHidden()) return false;
  found->editor()->focusTarget()->setFocus(Qt::ShortcutFocusReason);
  return true;
}

FormRow* PropertyForm::row(const std::string& key) const {
  const auto found =
      std::find_if(m_rows.begin(), m_rows.end(), [&](const FormRow* row) { return row->field().key == key; });
  return found == m_rows.end() ? nullptr : *found;
}

}  // namespace loom

#include "app/pages/settings/update_form.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "app/setting_list.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"
#include "widgets/controls/choice_field.h"
#include "widgets/document/project_document.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

// The object without its name, for a form over the fields of the named entry.
Json fieldsOf(const Json& named) {
  Json fields = named.is_object() ? named : Json::object();
  fields.erase("name");
  return fields;
}

std::string nameOf(const Json& named) {
  return named.is_object() && named.contains("name") && named["name"].is_string() ? named["name"].get<std::string>()
                                                                                  : std::string();
}

Json withField(Json object, const QString& key, const Json& value) {
  if (!object.is_object()) object = Json::object();
  if (value.is_null())
    object.erase(key.toStdString());
  else
    object[key.toStdString()] = value;
  return object;
}

QWidget* chooserRow(const QString& text, ChoiceField* field) {
  auto* widget = new QWidget;
  auto* row = new QHBoxLayout(widget);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  auto* label = new QLabel(text);
  label->setProperty("kind", "field");
  keepWidth(label, 130);
  label->setBuddy(field);
  row->addSpacing(11);  // where the rows of a form have their dot
  row->addWidget(label);
  field->setMinimumWidth(142);
  field->setAccessibleName(text);
  row->addWidget(field);
  auto* standard = new QLabel;
  standard->setProperty("kind", "hint");
  standard->setObjectName("standard");
  row->addSpacing(14);
  row->addWidget(standard);
  row->addStretch();
  return widget;
}

// Beside a choice that differs: what it is by default.
void showStandard(QWidget* chooser, const QString& standard) {
  auto* label = chooser->findChild<QLabel*>("standard");
  label->setVisible(!standard.isEmpty());
  label->setText(standard.isEmpty() ? QString() : QStringLiteral("default <s>%1</s>").arg(standard));
}

QWidget* section(const QString& title, std::initializer_list<QWidget*> rows) {
  auto* widget = new QWidget;
  auto* column = new QVBoxLayout(widget);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  auto* heading = new QLabel(title);
  heading->setProperty("kind", "heading");
  column->addWidget(heading);
  for (QWidget* row : rows) column->addWidget(row);
  return widget;
}

// Problems under training.PREFIX.key become those of the form's fields.
std::vector<FieldProblem> fieldProblems(const std::vector<Problem>& problems, const std::string& prefix) {
  std::vector<FieldProblem> found;
  for (const Problem& problem : problems) {
    if (problem.field.rfind(prefix, 0) != 0) continue;
    FieldProblem field{
        problem.severity == Severity::error ? FieldProblem::Severity::error : FieldProblem::Severity::warning,
        problem.field.substr(prefix.size()),
        problem.message,
        {}};
    if (problem.remedy.kind == Remedy::Kind::setField) field.remedy = problem.remedy.value;
    found.push_back(std::move(field));
  }
  return found;
}

}  // namespace

UpdateForm::UpdateForm(ProjectDocument& document, QWidget* parent)
    : QWidget(parent),
      m_document(document),
      m_rule(new ChoiceField),
      m_schedule(new ChoiceField),
      m_optimizerForm(new PropertyForm(FormStyle::page)),
      m_scheduleForm(new PropertyForm(FormStyle::page)),
      m_warmupForm(new PropertyForm(FormStyle::page)) {
  for (const auto& [field, list] : {std::pair{&ruleField(), m_rule}, std::pair{&scheduleField(), m_schedule}})
    for (const Choice& choice : field->choices)
      list->addItem(QString::fromStdString(choice.label), QString::fromStdString(choice.id));
  m_optimizerSection =
      section(QStringLiteral("Optimizer"),
              {m_ruleRow = chooserRow(QString::fromStdString(ruleField().label), m_rule), m_optimizerForm});
  m_scheduleSection =
      section(QStringLiteral("Schedule"),
              {m_warmupForm, m_scheduleRow = chooserRow(QString::fromStdString(scheduleField().label), m_schedule),
               m_scheduleForm});
  m_warmupForm->setHeading(QStringLiteral("Warm-up"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(20);
  column->addWidget(m_optimizerSection);
  column->addWidget(m_scheduleSection);

  connect(m_rule, &QComboBox::activated, this, [this](int at) {
    m_document.setOptimizer(m_index, withRule(m_document.project().training.updates[m_index].optimizer,
                                              m_rule->itemData(at).toString().toStdString()));
    Q_EMIT changedCountChanged();
  });
  connect(m_schedule, &QComboBox::activated, this, [this](int at) {
    m_document.setSchedule(m_index, Json{{"name", m_schedule->itemData(at).toString().toStdString()}});
    Q_EMIT changedCountChanged();
  });
  connect(m_optimizerForm, &PropertyForm::edited, this, &UpdateForm::setOptimizerField);
  connect(m_scheduleForm, &PropertyForm::edited, this, &UpdateForm::setScheduleField);
  connect(m_warmupForm, &PropertyForm::edited, this, &UpdateForm::setWarmupField);
  for (PropertyForm* form : {m_optimizerForm, m_scheduleForm, m_warmupForm}) {
    connect(form, &PropertyForm::changedCountChanged, this, [this] { Q_EMIT changedCountChanged(); });
    connect(form, &PropertyForm::unreadChanged, this, &UpdateForm::unreadChanged);
  }
}

void UpdateForm::setUpdate(std::size_t index) {
  m_index = index;
  refresh();
}

void UpdateForm::refresh() {
  const auto& updates = m_document.project().training.updates;
  setEnabled(m_index < updates.size());
  if (m_index >= updates.size()) return;
  const UpdateSpec& update = updates[m_index];
  const OptimizerDefinition* optimizer = findOptimizer(nameOf(update.optimizer));
  const ScheduleDefinition* schedule = findSchedule(nameOf(update.schedule));
  m_rule->setCurrentIndex(optimizer ? m_rule->findData(QString::fromStdString(optimizer->entry.id)) : -1);
  m_schedule->setCurrentIndex(schedule ? m_schedule->findData(QString::fromStdString(schedule->entry.id)) : -1);
  const auto show = [this](PropertyForm* form, const Entry* entry, const Json& given, const char* what) {
    if (!entry)
      form->clear();
    else if (form->entry() != entry)
      form->setEntry(*entry, given, QStringLiteral("%1/%2").arg(what).arg(m_index));
    else
      form->setGiven(given);
  };
  const Entry *rule = m_optimizerForm->entry(), *length = m_scheduleForm->entry();
  show(m_optimizerForm, optimizer ? &optimizer->entry : nullptr, fieldsOf(update.optimizer), "optimizer");
  show(m_scheduleForm, schedule ? &schedule->entry : nullptr, fieldsOf(update.schedule), "schedule");
  show(m_warmupForm, &warmupEntry(), update.warmup.is_object() ? update.warmup : Json::object(), "warmup");
  if (m_optimizerForm->entry() != rule) m_optimizerForm->tabBehind(m_rule);
  if (m_scheduleForm->entry() != length) m_scheduleForm->tabBehind(m_schedule);
}

void UpdateForm::setFilter(const QString& words, bool changedOnly) {
  const QString optimizing = QStringLiteral("Optimizer"), scheduling = QStringLiteral("Schedule");
  const auto filter = [&](PropertyForm* form, const QString& section, const std::string& group) {
    form->setFilter([=](const Field& field) { return isCalled(section, group + field.key, field, words); },
                    changedOnly);
  };
  filter(m_optimizerForm, optimizing, "optimizer.");
  filter(m_scheduleForm, scheduling, "schedule.");
  filter(m_warmupForm, scheduling, "warmup.");
  const bool rule = isCalled(optimizing, "optimizer.name", ruleField(), words) && (ruleDiffers() || !changedOnly);
  const bool schedule =
      isCalled(scheduling, "schedule.name", scheduleField(), words) && (scheduleDiffers() || !changedOnly);
  m_warmupForm->setVisible(m_warmupForm->visibleCount() > 0);  // else its heading stands over the next row
  m_ruleRow->setVisible(rule);
  m_scheduleRow->setVisible(schedule);
  showStandard(m_ruleRow,
               changedOnly && ruleDiffers() ? QString::fromStdString(nameOf(defaultUpdate().optimizer)) : QString());
  showStandard(m_scheduleRow,
               changedOnly && scheduleDiffers() ? QString::fromStdString(nameOf(defaultUpdate().schedule)) : QString());
  const bool optimizer = rule || m_optimizerForm->visibleCount() > 0;
  const bool length = schedule || m_scheduleForm->visibleCount() + m_warmupForm->visibleCount() > 0;
  m_optimizerSection->setVisible(optimizer);
  m_scheduleSection->setVisible(length);
  setVisible(optimizer || length);  // an empty form would leave its gap
  m_visible =
      rule + schedule + m_optimizerForm->visibleCount() + m_scheduleForm->visibleCount() + m_warmupForm->visibleCount();
}

bool UpdateForm::ruleDiffers() const {
  const auto& updates = m_document.project().training.updates;
  const OptimizerDefinition* chosen =
      m_index < updates.size() ? findOptimizer(nameOf(updates[m_index].optimizer)) : nullptr;
  return chosen && chosen != findOptimizer(nameOf(defaultUpdate().optimizer));
}

bool UpdateForm::scheduleDiffers() const {
  const auto& updates = m_document.project().training.updates;
  const ScheduleDefinition* chosen =
      m_index < updates.size() ? findSchedule(nameOf(updates[m_index].schedule)) : nullptr;
  return chosen && chosen != findSchedule(nameOf(defaultUpdate().schedule));
}

void UpdateForm::setProblems(const std::vector<Problem>& problems) {
  const std::string prefix =
      m_document.project().training.updates.size() == 1 ? "training." : "training[" + std::to_string(m_index) + "].";
  m_optimizerForm->setProblems(fieldProblems(problems, prefix + "optimizer."));
  m_scheduleForm->setProblems(fieldProblems(problems, prefix + "schedule."));
  m_warmupForm->setProblems(fieldProblems(problems, prefix + "warmup."));
}

std::vector<std::pair<std::string, PropertyForm*>> UpdateForm::forms() const {
  return {{"optimizer.", m_optimizerForm}, {"schedule.", m_scheduleForm}, {"warmup.", m_warmupForm}};
}

std::vector<PropertyForm::Unread> UpdateForm::unread() const {
  std::vector<PropertyForm::Unread> all;
  for (const auto& [group, form] : forms())
    for (PropertyForm::Unread& each : form->unread()) {
      each.key = group + each.key;
      all.push_back(std::move(each));
    }
  return all;
}

void UpdateForm::takeBack(const std::string& path) {
  for (const auto& [group, form] : forms())
    if (path.starts_with(group)) form->takeBack(path.substr(group.size()));
}

void UpdateForm::setWarmupHint(const QString& hint) {
  m_warmupForm->setHint("epochs", hint);
  m_warmupForm->setHint("steps", hint);
}

bool UpdateForm::focusField(const std::string& path) {
  const auto dot = path.find('.');
  const std::string group = path.substr(0, dot), key = dot == std::string::npos ? "" : path.substr(dot + 1);
  if (group == "optimizer")
    return key == "name" || key.empty() ? (m_rule->setFocus(Qt::ShortcutFocusReason), true)
                                        : m_optimizerForm->focusField(key);
  if (group == "schedule")
    return key == "name" || key.empty() ? (m_schedule->setFocus(Qt::ShortcutFocusReason), true)
                                        : m_scheduleForm->focusField(key);
  if (group == "warmup") return m_warmupForm->focusField(key.empty() ? "epochs" : key);
  return false;
}

int UpdateForm::optimizerChanged() const {
  return m_optimizerForm->changedCount() + (ruleDiffers() ? 1 : 0);
}

int UpdateForm::scheduleChanged() const {
  return m_scheduleForm->changedCount() + m_warmupForm->changedCount() + (scheduleDiffers() ? 1 : 0);
}

void UpdateForm::setOptimizerField(const QString& key, const Json& value) {
  m_document.setOptimizer(m_index, withField(m_document.project().training.updates[m_index].optimizer, key, value));
}

void UpdateForm::setScheduleField(const QString& key, const Json& value) {
  m_document.setSchedule(m_index, withField(m_document.project().training.updates[m_index].schedule, key, value));
}

void UpdateForm::setWarmupField(const QString& key, const Json& value) {
  m_document.setWarmup(m_index,
                       withWarmup(m_document.project().training.updates[m_index].warmup, key.toStdString(), value));
}

}  // namespace loom

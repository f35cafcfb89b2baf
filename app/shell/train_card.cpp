#include "app/shell/train_card.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/run_settings.h"
#include "engine/network/project_settings.h"
#include "widgets/controls/button.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/text.h"
#include "widgets/form/form_row.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kCardWidth = 440, kMostRows = 220, kListRow = 26, kListHeight = 5 * kListRow + 2;
constexpr int kRingRoom = 3;
constexpr int kPath = Qt::UserRole, kSection = Qt::UserRole + 1;

// The setting's name, and quiet at the right where it stands on the Settings page.
class SettingDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& theme = Theme::of(option.widget);
    const bool selected = option.state & QStyle::State_Selected;
    if (selected || option.state & QStyle::State_MouseOver)
      painter->fillRect(option.rect, theme.colour(selected ? Colour::selected : Colour::hover));
    const QRect room = option.rect.adjusted(10, 0, -10, 0);
    painter->setFont(theme.font(FontRole::body));
    painter->setPen(theme.colour(Colour::text));
    painter->drawText(room, Qt::AlignLeft | Qt::AlignVCenter, index.data().toString());
    painter->setFont(theme.font(FontRole::caption));
    painter->setPen(theme.colour(selected ? Colour::text2 : Colour::text3));
    painter->drawText(room, Qt::AlignRight | Qt::AlignVCenter, index.data(kSection).toString());
  }
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {0, kListRow}; }
};

// A rule or a schedule takes its own fields with it, so that all of it is set at once.
std::string groupOf(const std::string& key) {
  return key == "optimizer.name" || key == "schedule.name" ? key.substr(0, key.find('.')) : std::string();
}

UpdateSpec* updateOf(Project& project, const std::string& path) {
  const std::size_t at = path.find('.') + 1;
  const std::size_t index = std::isdigit(static_cast<unsigned char>(path[at])) ? std::stoul(path.substr(at)) : 0;
  return index < project.training.updates.size() ? &project.training.updates[index] : nullptr;
}

void put(Json& object, const std::string& key, const Json& value) {
  if (!object.is_object()) object = Json::object();
  if (value.is_null())
    object.erase(key);
  else
    object[key] = value;
}

}  // namespace

TrainCard::TrainCard(const Project& project, Check check, QWidget* window)
    : Popover(window),
      m_project(project),
      m_check(std::move(check)),
      m_name(new QLineEdit),
      m_rows(new QWidget),
      m_rowColumn(new QVBoxLayout(m_rows)),
      m_scroll(new QScrollArea),
      m_search(new SearchField(tr("Add a setting"))),
      m_list(new QListWidget),
      m_fault(new QLabel) {
  setObjectName("train-card");
  setTitle(tr("Train with changes"));
  m_name->setPlaceholderText(tr("Name of the run"));
  m_name->setAccessibleName(tr("Name of the run"));
  m_name->setObjectName("train-name");
  m_rowColumn->setContentsMargins(kRingRoom, kRingRoom, kRingRoom, kRingRoom);  // for the ring around a field
  m_rowColumn->setSpacing(6);
  m_rowColumn->setAlignment(Qt::AlignTop);
  m_rows->setBackgroundRole(QPalette::NoRole);
  m_scroll->setWidget(m_rows);
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_scroll->viewport()->setAutoFillBackground(false);
  m_rows->setAutoFillBackground(false);
  m_scroll->hide();
  m_search->setObjectName("train-search");
  m_search->setAccessibleName(tr("Add a setting to change"));
  m_search->installEventFilter(this);
  m_list->setObjectName("train-settings");
  m_list->setAccessibleName(tr("Settings"));
  m_list->setFixedSize(kCardWidth, kListHeight);
  m_list->setItemDelegate(new SettingDelegate(m_list));
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_list->setMouseTracking(true);
  m_list->installEventFilter(this);
  m_fault->setProperty("kind", "error");
  m_fault->setObjectName("train-fault");
  m_fault->setTextFormat(Qt::PlainText);
  m_fault->setWordWrap(true);
  m_fault->setFixedWidth(kCardWidth);
  m_fault->hide();
  auto* foot = new QHBoxLayout;
  auto* train = new Button("play", tr("Train"), ButtonKind::tinted);
  train->setObjectName("train-start");
  foot->addWidget(makeLabel("hint", tr("The project stays as it is.")));
  foot->addStretch();
  foot->addWidget(train);
  for (QWidget* each : std::initializer_list<QWidget*>{m_name, m_scroll, m_search, m_list, m_fault})
    contentLayout()->addWidget(each);
  contentLayout()->addLayout(foot);
  connect(train, &Button::clicked, this, &TrainCard::start);
  connect(m_name, &QLineEdit::returnPressed, this, &TrainCard::start);
  connect(m_search, &QLineEdit::textChanged, this, &TrainCard::offer);
  connect(m_list, &QListWidget::itemClicked, this,
          [this](QListWidgetItem* item) { choose(item->data(kPath).toString().toStdString()); });
  offer();
}

TrainCard::~TrainCard() = default;

std::vector<Setting> TrainCard::settings(const Project& project) const {
  std::vector<Setting> all = settingsOf(project, 0);
  for (std::size_t update = 1; update < project.training.updates.size(); ++update)
    for (Setting& each : settingsOf(project, update)) {
      const bool known =
          std::any_of(all.begin(), all.end(), [&](const Setting& other) { return other.path == each.path; });
      if (known) continue;  // of the run
      each.section = tr("%1 of update %2").arg(each.section).arg(update + 1);
      all.push_back(std::move(each));
    }
  return all;
}

Project TrainCard::changed() const {
  Project project = m_project;
  for (const bool groups : {true, false})  // a rule first, what is set of it on top
    for (const auto& change : m_changes) {
      const std::string& key = change->setting.key;
      if (groupOf(key).empty() == groups || !change->valid) continue;
      UpdateSpec* update = updateOf(project, change->setting.path);
      const std::string name = change->value.is_string() ? change->value.get<std::string>() : std::string(),
                        last = key.substr(key.rfind('.') + 1);
      if (!update) continue;
      if (key == "optimizer.name")
        update->optimizer = withRule(update->optimizer, name);
      else if (key == "schedule.name")
        update->schedule = Json{{"name", name}};
      else if (key.rfind("optimizer.", 0) == 0)
        put(update->optimizer, last, change->value);
      else if (key.rfind("schedule.", 0) == 0)
        put(update->schedule, last, change->value);
      else if (key.rfind("warmup.", 0) == 0)
        update->warmup = withWarmup(update->warmup, last, change->value);
      else
        put(project.training.settings, key, change->value);
    }
  return project;
}

QStringList TrainCard::overrides() const {
  QStringList all;
  Project project = changed();
  QStringList whole;  // groups that are set at once
  const auto add = [&all](const std::string& path, Json value) {
    if (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()) &&
        std::abs(value.get<double>()) < 1e15)
      value = static_cast<std::int64_t>(value.get<double>());
    all << QString::fromStdString(path + '=' + value.dump());
  };
  for (const auto& change : m_changes) {
    const std::string& key = change->setting.key;
    const std::string group = key.substr(0, key.find('.')), path = change->setting.path;
    if (key.find('.') == std::string::npos) {
      add(path, change->value);
      continue;
    }
    const std::string place = path.substr(0, path.rfind('.'));
    if (whole.contains(QString::fromStdString(place))) continue;
    whole << QString::fromStdString(place);
    const UpdateSpec& update = *updateOf(project, path);
    add(place, group == "optimizer" ? update.optimizer : group == "schedule" ? update.schedule : update.warmup);
  }
  return all;
}

TrainCard::Change* TrainCard::find(const std::string& path) {
  for (const auto& change : m_changes)
    if (change->setting.path == path) return change.get();
  return nullptr;
}

void TrainCard::choose(const std::string& path) {
  const std::vector<Setting> known = settings(changed());
  const auto found = std::find_if(known.begin(), known.end(), [&](const Setting& each) { return each.path == path; });
  if (found == known.end() || find(path)) return;
  auto owned = std::make_unique<Change>();
  Change& change = *owned;
  change.setting = *found;
  change.value = found->value;
  Field field = *found->field;
  field.label = found->label.toStdString();
  field.onlyWhen.clear();  // it is read, or it would not be offered
  change.entry = {.id = field.label, .label = field.label, .fields = {field}};
  m_changes.push_back(std::move(owned));
  change.line = new QWidget(m_rows);
  auto* line = new QHBoxLayout(change.line);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(4);
  change.row = new FormRow(change.entry.fields.front(), {.labelWidth = 136, .fieldWidth = 142}, change.line);
  change.row->setObjectName(QString::fromStdString(path));
  change.row->showValue(change.value);
  const std::vector<Setting> project = settings(m_project);
  const auto was = std::find_if(project.begin(), project.end(), [&](const Setting& each) { return each.path == path; });
  if (was != project.end())
    change.row->setHint(tr("now %1").arg(textOfSetting(QString::fromStdString(was->key), was->value)), {});
  line->addWidget(change.row, 1);
  auto* away = iconButton(QStringLiteral("close"), tr("Leave %1 as it is").arg(found->label), change.line);
  line->addWidget(away, 0, Qt::AlignTop);
  m_rowColumn->addWidget(change.line);
  change.line->show();
  connect(change.row->editor(), &FieldEditor::edited, this, [this, path](const Json& value) { take(path, value); });
  connect(change.row->editor(), &FieldEditor::invalid, this, [this, path](const QString& problem) {
    if (Change* const at = find(path)) showProblems(*at, problem);
  });
  connect(change.row, &FormRow::remedyChosen, this, [this, path](const Json& value) {
    if (Change* const at = find(path))
      at->row->showValue(value), take(path, value), at->row->editor()->focusTarget()->setFocus();
  });
  connect(
      away, &QPushButton::clicked, this, [this, path] { remove(path); }, Qt::QueuedConnection);
  m_search->clear();
  offer();
  showProblems(change);
  grow();
  // Only what is laid out can be scrolled to: the new row is the last.
  QMetaObject::invokeMethod(
      this,
      [this, path] {
        if (find(path)) m_scroll->verticalScrollBar()->setValue(m_scroll->verticalScrollBar()->maximum());
      },
      Qt::QueuedConnection);
  change.row->editor()->focusTarget()->setFocus(Qt::TabFocusReason);
}

void TrainCard::take(const std::string& path, const Json& value) {
  Change* const change = find(path);
  if (!change) return;
  change->value = value;
  m_fault->hide();
  showProblems(*change);
  dropUnread();
  offer();
}

void TrainCard::showProblems(Change& change, const QString& invalid) {
  const Field& field = change.entry.fields.front();
  std::vector<FieldProblem> problems;
  if (!invalid.isEmpty())
    problems.push_back({FieldProblem::Severity::error, field.key, invalid.toStdString(), std::nullopt});
  else if (!(change.value.is_null() && field.optional))
    problems = validate(change.entry, Json{{field.key, change.value}});
  for (FieldProblem& problem : problems) problem.message = inLabels(std::move(problem.message), change.entry.fields);
  change.valid = std::none_of(problems.begin(), problems.end(),
                              [](const FieldProblem& each) { return each.severity == FieldProblem::Severity::error; });
  change.row->setProblems(problems);
  grow();
}

void TrainCard::dropUnread() {
  const std::vector<Setting> known = settings(changed());
  std::vector<std::string> gone;
  for (const auto& change : m_changes)
    if (std::none_of(known.begin(), known.end(),
                     [&](const Setting& each) { return each.path == change->setting.path; }))
      gone.push_back(change->setting.path);
  for (const std::string& path : gone) remove(path);
}

void TrainCard::remove(const std::string& path) {
  const auto at =
      std::find_if(m_changes.begin(), m_changes.end(), [&](const auto& each) { return each->setting.path == path; });
  if (at == m_changes.end()) return;
  // The row speaks of a field that goes with it.
  const bool held = (*at)->line->isAncestorOf(focusWidget());
  delete (*at)->line;
  m_changes.erase(at);
  m_fault->hide();
  dropUnread();
  offer();
  grow();
  if (held) m_search->setFocus(Qt::OtherFocusReason);
}

void TrainCard::offer() {
  m_list->clear();
  const QString words = m_search->text();
  for (const Setting& each : settings(changed())) {
    if (!isCalled(each, words) || find(each.path)) continue;
    auto* item = new QListWidgetItem(each.label, m_list);
    item->setData(kPath, QString::fromStdString(each.path));
    item->setData(kSection, each.section);
    item->setToolTip(QString::fromStdString(each.field->help));
  }
  // What begins with the words comes first: "batch" is Batch before Base batch.
  for (int row = 0; row < m_list->count() && !words.isEmpty(); ++row)
    if (m_list->item(row)->text().startsWith(words, Qt::CaseInsensitive)) {
      m_list->insertItem(0, m_list->takeItem(row));
      break;
    }
  m_list->setCurrentRow(0);
  m_search->setCount(m_list->count() == 0 ? tr("none is called that") : QString());
}

// As high as its rows, which know their height when they are laid out.
void TrainCard::grow() {
  m_scroll->setVisible(!m_changes.empty());
  QMetaObject::invokeMethod(
      this,
      [this] {
        const int rows = m_rowColumn->hasHeightForWidth() ? m_rowColumn->heightForWidth(kCardWidth)
                                                          : m_rowColumn->sizeHint().height();
        m_scroll->setFixedSize(kCardWidth, std::clamp(rows, 1, kMostRows));
        contentLayout()->activate();
        m_rowColumn->activate();
        // Whole rows, as they are laid out now: none of them is cut where the list scrolls.
        int whole = 0;
        for (auto change = m_changes.rbegin(); change != m_changes.rend() && rows > kMostRows; ++change) {
          const int high = m_rows->height() - (*change)->line->y() + m_rowColumn->spacing();
          if (high > kMostRows) break;
          whole = high;
        }
        if (whole > 0) m_scroll->setFixedHeight(whole);
        contentLayout()->activate();
        adjustSize();
      },
      Qt::QueuedConnection);
}

bool TrainCard::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return Popover::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (watched == m_search && (key == Qt::Key_Down || key == Qt::Key_Up)) {
    const int count = m_list->count();
    if (count > 0) m_list->setCurrentRow((m_list->currentRow() + (key == Qt::Key_Down ? 1 : count - 1)) % count);
    return true;
  }
  if (key == Qt::Key_Return || key == Qt::Key_Enter) {
    if (const QListWidgetItem* item = m_list->currentItem()) choose(item->data(kPath).toString().toStdString());
    return true;
  }
  return Popover::eventFilter(watched, event);
}

void TrainCard::tell(const QString& fault) {
  m_fault->setText(fault);
  m_fault->show();
  adjustSize();
}

void TrainCard::start() {
  for (const auto& change : m_changes)
    if (!change->valid) {
      change->row->editor()->focusTarget()->setFocus(Qt::TabFocusReason);
      return m_scroll->ensureWidgetVisible(change->line, 0, kRingRoom);
    }
  const QStringList changes = overrides();
  if (const QString fault = m_check(changes); !fault.isEmpty()) return tell(fault);
  close();
  Q_EMIT wanted(m_name->text().trimmed(), changes);
}

}  // namespace loom

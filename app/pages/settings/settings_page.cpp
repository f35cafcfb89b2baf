#include "app/pages/settings/settings_page.h"

#include <QAction>
#include <QJsonArray>
#include <QLabel>
#include <QListWidget>
#include <QPointer>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/pages/settings/batch_equation.h"
#include "app/pages/settings/forecast_strip.h"
#include "app/pages/settings/run_advice.h"
#include "app/pages/settings/run_cockpit.h"
#include "app/pages/settings/run_forecast.h"
#include "app/pages/settings/schedule_preview.h"
#include "app/pages/settings/train_advice.h"
#include "app/pages/settings/update_form.h"
#include "app/run_settings.h"
#include "app/setting_list.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"
#include "widgets/form/property_form.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

Values settingsOf(const Project& project) {
  return Values(settingsEntry(), project.training.settings);
}

// "batch" of "training.batch", and of "training[0].batch" or "training.0.batch" where the training is a list.
std::string settingOf(const std::string& path) {
  if (path.rfind("training", 0) != 0) return path;
  auto dot = path.find('.');
  if (dot != std::string::npos && dot + 1 < path.size() && std::isdigit(static_cast<unsigned char>(path[dot + 1])))
    dot = path.find('.', dot + 1);
  return dot == std::string::npos ? std::string() : path.substr(dot + 1);
}

}  // namespace

SettingsPage::SettingsPage(AppContext& context, QWidget* parent) : Page(context, parent) {
  makeActions();
  makeLayout();
  ProjectDocument* document = context.document;
  connect(document, &ProjectDocument::changed, this, [this](const ProjectChange& change) {
    if (!change.training && !change.datasets) return;
    if (isVisible())
      refresh();
    else
      m_stale = true;  // a hidden page does no work
  });
  connect(document, &ProjectDocument::opened, this, &SettingsPage::refresh);
  connect(context.workspace, &Workspace::hostChosen, this, &SettingsPage::refresh);
  connect(document, &ProjectDocument::analysisChanged, this, [this] {
    if (isVisible()) refreshProblems();
  });
  connect(m_equation, &BatchEquation::edited, this, [document](qint64 batch, qint64 accumulation) {
    // One gesture: typing a digit is one undo step with what it solves.
    document->edit(
        QStringLiteral("change batch"),
        [batch, accumulation](ProjectEdit& edit) {
          Json& settings = edit.training().settings;
          if (!settings.is_object()) settings = Json::object();
          settings["batch"] = batch;
          settings["accumulate"] = accumulation;
          settings = withoutDefaults(settingsEntry(), settings);
        },
        QStringLiteral("batch"));
  });
  connect(m_equation, &BatchEquation::ranksEdited, this, &SettingsPage::chooseRanks);
  connect(m_search, &QLineEdit::textChanged, this, &SettingsPage::applyFilter);
  connect(m_differs, &QPushButton::toggled, this, &SettingsPage::applyFilter);
  connect(m_list, &QListWidget::currentRowChanged, this, &SettingsPage::scrollTo);
  connect(m_update, &UpdateForm::changedCountChanged, this, [this] { refreshPlan(); });
  connect(m_update, &UpdateForm::unreadChanged, this, &SettingsPage::tellUnread);
  connect(m_equation, &BatchEquation::unreadChanged, this, &SettingsPage::tellUnread);
  for (const Section& section : m_sections)
    if (section.form) connect(section.form, &PropertyForm::unreadChanged, this, &SettingsPage::tellUnread);
  connect(m_updateChoice, &QComboBox::currentIndexChanged, this, [this](int index) {
    if (index < 0) return;
    m_index = static_cast<std::size_t>(index);
    m_update->setUpdate(m_index);
    refreshPlan();
    refreshProblems();
  });
  refresh();
}

SettingsPage::~SettingsPage() = default;

void SettingsPage::makeActions() {
  addCommand("settings.search", tr("Search settings"), "/", [this] { m_search->setFocus(Qt::ShortcutFocusReason); });
  addCommand("settings.next-section", tr("Next section"), "Ctrl+Down",
             [this] { m_list->setCurrentRow(std::min(m_list->currentRow() + 1, m_list->count() - 1)); });
  addCommand("settings.previous-section", tr("Previous section"), "Ctrl+Up",
             [this] { m_list->setCurrentRow(std::max(m_list->currentRow() - 1, 0)); });
  addCommand("settings.differing", tr("Only what differs from the default"), "Ctrl+D", [this] { m_differs->toggle(); });
}

std::int64_t SettingsPage::hostRanks() const {
  return context().workspace->ranks();
}

std::int64_t SettingsPage::ranks() const {
  try {
    return std::max(hostRanks(), settingsOf(context().document->project()).integer("virtual_ranks"));
  } catch (const Error&) {
    return hostRanks();
  }
}

// More than the host has are virtual ones. Samples of a rank stay, so the global batch grows with the ranks.
void SettingsPage::chooseRanks(qint64 ranks, qint64 globalBatch) {
  Workspace& workspace = *context().workspace;
  const int most = workspace.mostRanks(workspace.host());
  const QString host = workspace.host();
  const int before = workspace.ranks(), after = static_cast<int>(std::min<qint64>(ranks, most));
  // A step back restores the ranks of the host too, unless another was chosen meanwhile.
  const auto choose = [&workspace, host](int count) {
    return [&workspace, host, count] {
      if (workspace.host() == host) workspace.chooseHost(host, count);
    };
  };
  context().document->edit(QStringLiteral("change ranks"),
                           [ranks, globalBatch, most](ProjectEdit& edit) {
                             Json& settings = edit.training().settings;
                             if (!settings.is_object()) settings = Json::object();
                             settings["virtual_ranks"] = ranks > most ? ranks : 0;
                             settings["batch"] = globalBatch;
                             settings = withoutDefaults(settingsEntry(), settings);
                           },
                           QStringLiteral("ranks"), {choose(after), choose(before)});
}

std::int64_t SettingsPage::batch() const {
  try {
    return std::max<std::int64_t>(1, settingsOf(context().document->project()).integer("batch"));
  } catch (const Error&) {
    return 1;
  }
}

void SettingsPage::refresh() {
  const Project& project = context().document->project();
  const auto& updates = project.training.updates;
  {
    const QSignalBlocker quiet(m_updateChoice);
    m_updateChoice->clear();
    for (std::size_t i = 0; i < updates.size(); ++i)
      m_updateChoice->addItem(
          QStringLiteral("%1. %2 on %3")
              .arg(i + 1)
              .arg(QString::fromStdString(updates[i].network), QString::fromStdString(updates[i].dataset)));
    m_index = std::min(m_index, updates.empty() ? 0 : updates.size() - 1);
    m_updateChoice->setCurrentIndex(static_cast<int>(m_index));
  }
  m_updateChoice->setVisible(updates.size() > 1);
  m_update->setUpdate(m_index);
  const Json given = project.training.settings.is_object() ? project.training.settings : Json::object();
  for (Section& section : m_sections)
    if (section.form) section.form->setGiven(given);
  try {
    const Values settings = settingsOf(project);
    m_equation->setValues(settings.integer("batch"), settings.integer("accumulate"), ranks());
    const QString where = context().workspace->hostName(context().workspace->host());
    m_equation->setRanksNote(
        ranks() > hostRanks()
            ? QStringLiteral("virtual, on %1")
                  .arg(hostRanks() == 1 ? QStringLiteral("one rank") : QStringLiteral("%1 ranks").arg(hostRanks()))
            : QStringLiteral("of ") + where);
  } catch (const Error&) {
    // Not numbers: the problems list names the place; the equation keeps what it had.
  }
  countRows();
  refreshPlan();
  refreshProblems();
}

void SettingsPage::refreshPlan() {
  const Project& project = context().document->project();
  double epochs = 0;
  std::int64_t& perEpoch = m_stepsPerEpoch;
  perEpoch = 0;
  try {
    epochs = settingsOf(project).real("epochs");
    perEpoch = stepsPerEpoch(m_rows, batch(), settingsOf(project).boolean("drop_last"));
  } catch (const Error&) {
  }
  m_cockpit->setUpdate(m_index);
  m_cockpit->refresh(perEpoch, ranks());
  const SchedulePreview& preview = *m_cockpit->preview();
  m_update->setWarmupHint(perEpoch > 0 && preview.warmupSteps() > 0
                              ? QStringLiteral("= ") + counted(preview.warmupSteps(), QStringLiteral("steps"))
                              : QString());
  const QString unknown(QChar(0x2013));
  const auto number = [&](std::int64_t value) {
    return value > 0 ? QLocale(QLocale::English).toString(static_cast<qlonglong>(value)) : unknown;
  };
  m_facts->setText(
      factTable(Theme::of(this), {{QStringLiteral("Samples"), number(m_rows)},
                                  {QStringLiteral("Steps per epoch"), number(perEpoch)},
                                  {QStringLiteral("Epochs"), formatShort(epochs)},
                                  {QStringLiteral("Steps in all"), perEpoch > 0 ? number(preview.steps()) : unknown}}));
  int changed = 0;
  for (std::size_t i = 0; i < m_sections.size(); ++i) {
    const Section& section = m_sections[i];
    const int own = section.form                                     ? section.form->changedCount()
                    : section.widget == m_update->optimizerSection() ? m_update->optimizerChanged()
                                                                     : m_update->scheduleChanged();
    changed += own;
    if (QListWidgetItem* item = m_list->item(static_cast<int>(i))) item->setData(kCountRole, own);
  }
  m_differs->setText(QStringLiteral("Differs from default  %1").arg(changed));
  Q_EMIT statusChanged(
      counted(changed, QStringLiteral("settings")) +
      (changed == 1 ? QStringLiteral(" differs from the default") : QStringLiteral(" differ from the default")));
}

void SettingsPage::refreshProblems() {
  ProjectDocument& document = *context().document;
  std::vector<Problem> mine;
  for (const Problem& problem : document.problems())
    if (problem.node.empty() && problem.field.rfind("training", 0) == 0) mine.push_back(problem);
  m_update->setProblems(mine);
  std::vector<FieldProblem> settings;
  for (const Problem& problem : mine) {
    const std::string key = settingOf(problem.field);
    if (!settingsEntry().field(key)) continue;
    FieldProblem field{
        problem.severity == Severity::error ? FieldProblem::Severity::error : FieldProblem::Severity::warning,
        key,
        problem.message,
        {}};
    if (problem.remedy.kind == Remedy::Kind::setField) field.remedy = problem.remedy.value;
    settings.push_back(std::move(field));
  }
  for (Section& section : m_sections)
    if (section.form) {
      std::vector<FieldProblem> own;
      for (const FieldProblem& problem : settings)
        if (section.form->row(problem.key)) own.push_back(problem);
      section.form->setProblems(own);
    }

  std::vector<Advice> advice;
  for (const Problem& problem : document.problems()) {
    if (advice.size() >= 6 || document.isBlank()) break;
    Advice one{problem.severity == Severity::error ? Advice::Kind::error : Advice::Kind::warning,
               QString::fromStdString(problem.message),
               {},
               {}};
    if (problem.remedy.kind != Remedy::Kind::none) {
      one.action = QString::fromStdString(problem.remedy.label);
      one.act = [&document, problem] { document.applyRemedy(problem); };
    }
    advice.push_back(std::move(one));
  }
  if (document.isBlank())
    advice.push_back({Advice::Kind::warning, QStringLiteral("Draw a network to see steps and costs."),
                      QStringLiteral("Open Network"), [this] { context().go({.page = QStringLiteral("network")}); }});
  else if (document.problems().empty())
    advice.push_back(
        {Advice::Kind::fine, QStringLiteral("The network, the data and the settings fit together."), {}, {}});
  if (m_index < document.project().training.updates.size()) {
    try {
      for (Advice& one : adviceInWords(document, m_index,
                                       {.samples = m_rows,
                                       .steps = m_stepsPerEpoch > 0 ? m_cockpit->preview()->steps() : 0,
                                       .warmupSteps = m_cockpit->preview()->warmupSteps(),
                                       .ranks = ranks(),
                                       .virtualRanks = ranks() > hostRanks()}))
        advice.push_back(std::move(one));
    } catch (const Error&) {
      // Not numbers: the problems above say where.
    }
  }
  if (document.project().training.validation.empty() && !document.isBlank())
    advice.push_back(
        {Advice::Kind::warning,
         QStringLiteral("There is no validation set: how well the network does on new samples will not be seen."),
         QStringLiteral("Open Data"), [this] { context().go({.page = QStringLiteral("data")}); }});
  m_cockpit->advice()->setAdvice(advice);
}

void SettingsPage::tellUnread() {
  std::vector<PageProblem> problems;
  const auto add = [&](const std::string& path, const QString& label, const QString& problem, const QString& kept,
                       std::function<void()> takeBack) {
    PageProblem each;
    each.place.page = QStringLiteral("settings");
    each.place.field = QStringLiteral("training.") + QString::fromStdString(path);
    each.placeText = tr("settings");
    each.message = tr("%1: %2").arg(label, problem);
    each.remedyText = tr("Back to %1").arg(kept);
    each.remedy = std::move(takeBack);
    problems.push_back(std::move(each));
  };
  for (const BatchEquation::Unread& each : m_equation->unread())
    add("batch", each.label, each.problem, tr("the value before"), [this] { m_equation->takeBack(); });
  for (const PropertyForm::Unread& each : m_update->unread())
    add(each.key, each.label, each.problem, each.kept, [this, key = each.key] { m_update->takeBack(key); });
  for (const Section& section : m_sections) {
    if (!section.form) continue;
    for (const PropertyForm::Unread& each : section.form->unread())
      add(each.key, each.label, each.problem, each.kept,
          [form = section.form, key = each.key] { form->takeBack(key); });
  }
  if (problems.empty() && !std::exchange(m_toldUnread, false)) return;
  m_toldUnread = !problems.empty();
  Q_EMIT problemsChanged(problems);
}

void SettingsPage::activated() {
  if (std::exchange(m_stale, false)) refresh();
  countRows();
  refreshPlan();
  refreshProblems();
}

bool SettingsPage::show(const Place& place) {
  std::string field = place.field.toStdString();
  // "training[1].optimizer..." and "training.1.optimizer..." name the second update of a list.
  if (field.size() > 9 && field.rfind("training", 0) == 0 && std::isdigit(static_cast<unsigned char>(field[9])))
    m_updateChoice->setCurrentIndex(std::atoi(field.c_str() + 9));
  field = settingOf(field);
  m_search->clear();
  m_differs->setChecked(false);
  if (!m_equation->unread().empty() && m_equation->focusField(field)) return true;  // what is wrong stands there
  if (m_update->focusField(field)) {
    // A page that was just made is laid out when this event is over.
    QMetaObject::invokeMethod(
        this,
        [this, focused = QPointer<QWidget>(focusWidget())] {
          if (focused) m_scroll->ensureWidgetVisible(focused);
        },
        Qt::QueuedConnection);
    return true;
  }
  for (Section& section : m_sections)
    if (section.form && section.form->focusField(field)) {
      m_scroll->ensureWidgetVisible(section.form->row(field));
      return true;
    }
  return field.empty();
}

QList<SearchHit> SettingsPage::search(const QString& query) {
  QList<SearchHit> hits;
  for (const Setting& setting : settingsOf(context().document->project(), m_index)) {
    if (!isCalled(setting, query)) continue;
    const QString value =
        setting.value.is_null() ? QString() : textOfSetting(QString::fromStdString(setting.key), setting.value);
    hits += {QStringLiteral("Settings"), setting.label, value, icon(QStringLiteral("settings")),
             [this, path = QString::fromStdString(setting.path)] {
               context().go({.page = QStringLiteral("settings"), .field = path});
             }};
  }
  return hits;
}

void SettingsPage::applyFilter() {
  const QString words = m_search->text();
  const bool only = m_differs->isChecked();
  m_update->setFilter(words, only);
  int found = m_update->visibleCount();
  for (Section& section : m_sections) {
    if (!section.form) continue;
    section.form->setFilter(
        [title = section.title, words](const Field& field) { return isCalled(title, field.key, field, words); }, only);
    section.widget->setVisible(section.form->visibleCount() > 0);
    found += section.form->visibleCount();
  }
  m_search->setCount(words.isEmpty() ? QString() : QString::number(found));
  m_none->setVisible(found == 0);
  m_noneWords->setText(words.isEmpty() ? QStringLiteral("Nothing differs from the default")
                       : only ? QStringLiteral("Nothing that differs from the default is called “%1”").arg(words)
                              : QStringLiteral("Nothing is called “%1”").arg(words));
}

void SettingsPage::scrollTo(int section) {
  if (section < 0 || section >= static_cast<int>(m_sections.size())) return;
  const QWidget* widget = m_sections[section].widget;
  const int top = widget->mapTo(m_scroll->widget(), QPoint(0, 0)).y();
  m_scroll->verticalScrollBar()->setValue(std::max(0, top - 12));
}

QList<QWidget*> SettingsPage::areas() const {
  return {m_list, m_scroll, m_cockpit};
}

QJsonObject SettingsPage::saveLayout() const {
  QJsonArray sizes;
  for (const int size : m_beside) sizes.append(size);
  return {{"splitter", sizes}, {"forecast", m_cockpit->forecast()->saved()}};
}

void SettingsPage::restoreLayout(const QJsonObject& layout) {
  m_cockpit->forecast()->restore(layout["forecast"].toObject());
  QList<int> sizes;
  for (const auto& size : layout["splitter"].toArray()) sizes += size.toInt();
  if (sizes.size() != m_splitter->count()) return;
  m_beside = sizes;
  if (m_splitter->orientation() == Qt::Horizontal) m_splitter->setSizes(m_beside);
}

}  // namespace loom

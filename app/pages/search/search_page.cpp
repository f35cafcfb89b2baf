#include "app/pages/search/search_page.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QProgressBar>
#include <QScrollArea>
#include <QScrollBar>
#include <algorithm>

#include "app/attempt.h"
#include "app/pages/search/front_picture.h"
#include "app/pages/search/space_form.h"
#include "app/pages/search/structure_chooser.h"
#include "app/pages/search/trial_model.h"
#include "app/workspace.h"
#include "engine/base/files.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/number_field.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"
#include "widgets/table/data_table.h"
#include "widgets/table/table_sort_model.h"

namespace loom {
namespace {

constexpr char kEnding[] = ".search.json";

// As a person in the window reads it: without the words of the command line.
QString forTheWindow(QString sentence) {
  return sentence.remove("--over ")
      .remove("--limit ")
      .section("; a range is KEY=", 0, 0)
      .section("; a limit is written as", 0, 0);
}

}  // namespace

SearchPage::SearchPage(AppContext& context, QWidget* parent)
    : Page(context, parent), m_runner(*context.launcher, *context.store) {
  m_model = new TrialModel(this);
  m_sorted = new TableSortModel(this);
  m_sorted->setSourceModel(m_model);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(makeForm());
  row->addWidget(hairline(Qt::Vertical));
  row->addWidget(makeTrials(), 1);

  connect(m_start, &Button::clicked, this, &SearchPage::start);
  connect(m_goOn, &Button::clicked, this, &SearchPage::goOn);
  connect(m_stop, &Button::clicked, this, &SearchPage::stop);
  connect(m_train, &Button::clicked, this, &SearchPage::trainBest);
  connect(m_space, &SpaceForm::edited, this, [this] { tell({}), refreshButtons(); });
  connect(m_space, &SpaceForm::removed, this, [this](const QString& text, int place) {
    Page::context().notify({tr("%1 was left out.").arg(text.section('=', 0, 0)), tr("Undo"),
                            [form = QPointer<SpaceForm>(m_space), text, place] {
                              if (form) form->addRow(text, place);
                            }});
  });
  connect(m_structure, &StructureChooser::chosen, this, [this](const QString& text) { m_space->addRow(text); });
  connect(m_structure, &StructureChooser::closed, m_addStructure, [this] { m_addStructure->setChecked(false); });
  for (const auto& [kind, field] : m_limits) connect(field, &QLineEdit::textChanged, this, [this] { tell({}); });
  connect(m_against, &QComboBox::currentIndexChanged, this, &SearchPage::refreshFront);
  connect(m_front, &FrontPicture::trialHovered, this, [this](int number) {
    for (int row = 0; row < m_sorted->rowCount(); ++row)
      if (m_sorted->index(row, 0).data().toInt() == number) return m_table->setHoveredRow(row);
    m_table->setHoveredRow(-1);
  });
  connect(m_front, &FrontPicture::trialClicked, this, [this](int number) {
    for (const ShownTrial& each : m_model->search().trials)
      if (each.number == number) openFolder(QString::fromStdString(each.run));
  });
  for (ChoiceField* each : {m_strategy, m_stopWeak})
    connect(each, &QComboBox::currentIndexChanged, this, &SearchPage::refreshForm);
  connect(m_searches, &QComboBox::activated, this, [this] { showSearch(m_searches->currentText()); });
  connect(m_table, &DataTable::rowActivated, this, &SearchPage::openTrial);
  connect(&m_runner, &SearchRunner::changed, this, &SearchPage::refreshTrials);
  connect(&m_runner, &SearchRunner::ended, this, [this](const QString& fault) {
    tell(forTheWindow(fault));
    readSearches();
    refreshButtons();
  });
  connect(context.workspace, &Workspace::hostChosen, this, &SearchPage::refreshForm);
  connect(context.document, &ProjectDocument::changed, this, [this] {
    if (isVisible()) refreshForm();
  });
  makeActions();
  refreshColumns();
  refreshForm();
  if (m_space->rows() == 0) m_space->setSpace({"optimizer.learning_rate=log:0.0001..1"});
}

SearchPage::~SearchPage() = default;

void SearchPage::makeActions() {
  addCommand(
      "trials.start", tr("Start the search"), {}, [this] { start(); }, "search");
  addCommand(
      "trials.stop", tr("Stop the search"), {}, [this] { stop(); }, "stop");
  addCommand(
      "trials.go-on", tr("Go on with the search"), {}, [this] { goOn(); }, "resume");
  addCommand("trials.export-front", tr("Export the front of the search"), {}, [this] { exportFront(); });
  // Of the table alone: elsewhere Return ends what is typed.
  list(context().commands->add({.id = "trials.open",
                                .group = tr("This page"),
                                .text = tr("Open the run of this trial"),
                                .keys = {Qt::Key_Return, Qt::Key_Enter},
                                .scope = "trials/table"},
                               this, [this] { openTrial(m_table->currentIndex().row()); }));
  m_table->setCommands(*context().commands, QStringLiteral("trials/table"));
}

void SearchPage::activated() {
  refreshForm();
  if (!m_runner.active()) readSearches();
}

QWidget* SearchPage::keyboardHome() {
  return m_table;
}

QList<QWidget*> SearchPage::areas() const {
  return {m_scroll, m_front, m_table};
}

QString SearchPage::runsFolder() const {
  return QFileInfo(context().document->path()).absolutePath() + "/runs";
}

void SearchPage::refreshForm() {
  try {
    const Json project = parseJson(context().document->text(), "the project");
    m_space->setProject(project);
    m_structure->setProject(project, m_space->known());
  } catch (const Error&) {
    // A project that cannot be written cannot be searched either; its problems say why.
  }
  m_strategyHelp->setText(
      QString::fromStdString(strategyNamed(m_strategy->currentData().toString().toStdString()).help));
  m_stopHelp->setText(QString::fromStdString(stopRuleNamed(m_stopWeak->currentData().toString().toStdString()).help));
  const Workspace& workspace = *context().workspace;
  m_place->setText(tr("Trains on: %1, as chosen beside Train.").arg(workspace.hostName(workspace.host())));
  refreshButtons();
}

void SearchPage::refreshButtons() {
  const bool active = m_runner.active();
  const ShownSearch& shown = m_model->search();
  const auto open = std::count_if(shown.trials.begin(), shown.trials.end(),
                                  [](const ShownTrial& each) { return each.state == TrialState::interrupted; });
  m_start->setEnabled(!active && m_space->rows() > 0);
  m_goOn->setVisible(!active && !shown.trials.empty() &&
                     (open > 0 || static_cast<int>(shown.trials.size()) < shown.plan.trials));
  m_goOn->setToolTip(tr("Goes on with %1").arg(m_shown));
  m_stop->setVisible(active);
  m_stop->setEnabled(!m_runner.stopping());
  m_stop->setToolTip(tr("No further trial; those that train write a checkpoint and end. Go on takes them up again."));
  m_train->setVisible(shown.best > 0);
  m_train->setEnabled(!active);
  m_searches->setEnabled(!active);
}

void SearchPage::tell(const QString& fault) {
  m_fault->setText(fault);
  m_fault->setVisible(!fault.isEmpty());
}

void SearchPage::start() {
  if (m_runner.active()) return;
  if (const Outcome saved = context().workspace->save(); !saved) return tell(saved.reason);
  if (const int count = context().workspace->errors())
    return tell(count == 1 ? tr("The project has an error; it is in the list of problems.")
                           : tr("The project has %1 errors; they are in the list of problems.").arg(count));
  if (!m_trials->value() || !m_atOnce->value() || *m_trials->value() < 1 || *m_atOnce->value() < 1)
    return tell(tr("Trials and At once are whole numbers from 1."));
  const std::filesystem::path runs = runsFolder().toStdString();
  tell(forTheWindow(attempt([&] {
    SearchPlan plan{.name = freeSearchName(runs), .space = m_space->space()};
    plan.strategy = m_strategy->currentData().toString().toStdString();
    plan.stopWeak = m_stopWeak->currentData().toString().toStdString();
    plan.trials = static_cast<int>(*m_trials->value());
    plan.limits = limits();
    plan.planFor = m_planFor->currentData().toString().toStdString();
    plan = checkedPlan(parseJson(context().document->text(), "the project"), std::move(plan));
    beginStudy({.plan = std::move(plan), .runs = runs, .trials = {}});
  })));
}

void SearchPage::beginStudy(Study study) {
  const Workspace& workspace = *context().workspace;
  const Job job{.project = context().document->path(),
                .snapshot = QByteArray::fromStdString(context().document->text()),
                .dataFolder = context().document->folder(),
                .host = workspace.host(),
                .ranks = workspace.host().isEmpty() ? 0 : workspace.ranks(),
                .runsFolder = runsFolder()};
  m_shown = QString::fromStdString(study.plan.name);
  QDir().mkpath(runsFolder());
  m_runner.begin(std::move(study), job, static_cast<int>(m_atOnce->value().value_or(1)));
  readSearches();
}

// The trials' logs are read beside the window's thread.
void SearchPage::goOn() {
  if (m_runner.active() || m_shown.isEmpty() || m_reading.busy()) return;
  if (const Outcome saved = context().workspace->save(); !saved) return tell(saved.reason);
  const std::filesystem::path runs = runsFolder().toStdString();
  m_reading.ask([this, runs, name = m_shown.toStdString()](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    auto study = std::make_shared<std::optional<Study>>();
    const QString fault = attempt([&] {
      *study = readStudy(runs, name);
      if (*study)
        for (const auto& each : (*study)->trials)
          if (!outdated) each->look(true);
    });
    return [this, study, fault] {
      if (!fault.isEmpty()) return tell(fault);
      if (!*study) return tell(tr("The runs of this search are gone from the project's folder."));
      if ((*study)->plan.project != hashOf(Json::parse(context().document->text(), nullptr, false)))
        return tell(
            tr("The project was changed since this search began, so further trials could not be compared with "
               "those that there are. Start another search, or undo the changes."));
      tell(attempt([&] {
        if (m_trials->value())
          (*study)->plan.trials = std::max((*study)->plan.trials, static_cast<int>(*m_trials->value()));
        beginStudy(std::move(**study));
      }));
    };
  });
}

void SearchPage::stop() {
  m_runner.stop();
}

void SearchPage::openTrial(int row) {
  openFolder(m_sorted->index(row, 0).data(TrialModel::folderRole).toString());
}

void SearchPage::openFolder(const QString& folder) {
  context().workspace->forEachRun([&](const RunRecord& run) {
    if (QFileInfo(run.folder).fileName() == folder)
      QMetaObject::invokeMethod(
          this, [this, id = run.id] { context().go({.page = "training", .run = id}); }, Qt::QueuedConnection);
  });
}

QString SearchPage::chosenRun() const {
  const QString folder = m_table->currentIndex().data(TrialModel::folderRole).toString();
  QString id;
  if (!folder.isEmpty())
    context().workspace->forEachRun([&](const RunRecord& run) {
      if (QFileInfo(run.folder).fileName() == folder) id = run.id;
    });
  return id;
}

void SearchPage::trainBest() {
  const ShownSearch& shown = m_model->search();
  const std::filesystem::path runs = runsFolder().toStdString();
  for (const ShownTrial& each : shown.trials) {
    if (each.number != shown.best) continue;
    const std::optional<TrialFile> file = readTrialFile(runs / each.run);
    if (!file) return tell(tr("The run of the best trial is gone from the project's folder."));
    QStringList overrides;
    for (const std::string& setting : settingsOf(file->plan.space, file->point))
      overrides << QString::fromStdString(setting);
    if (const Outcome started = context().workspace->train({.name = m_shown + "-best", .overrides = overrides});
        !started)
      return tell(started.reason);
    return context().go({.page = "training"});
  }
}

// Searches of the project by their files, which are written with every trial that begins or ends.
void SearchPage::readSearches() {
  QStringList names;
  for (const QFileInfo& each :
       QDir(runsFolder()).entryInfoList({QStringLiteral("*") + kEnding}, QDir::Files, QDir::Time))
    names << each.fileName().chopped(static_cast<qsizetype>(sizeof kEnding) - 1);
  // One that draws its first trial still has no file.
  if (m_runner.active() && !names.contains(m_shown)) names.prepend(m_shown);
  m_searches->clear();
  m_searches->addItems(names);
  m_searches->setVisible(!names.isEmpty());
  if (!names.contains(m_shown)) m_shown = names.isEmpty() ? QString() : names.first();
  m_searches->setCurrentText(m_shown);
  showSearch(m_shown);
}

void SearchPage::showSearch(const QString& name) {
  m_shown = name;
  if (!m_runner.active() && !name.isEmpty()) {
    const std::filesystem::path file = (runsFolder() + '/' + name + kEnding).toStdString();
    attempt([&] {
      if (std::optional<ShownSearch> shown = shownSearch(parseJson(readFile(file), name.toStdString())))
        if (m_model->setSearch(std::move(*shown))) refreshColumns();
    });
  }
  refreshTrials();
}

void SearchPage::refreshColumns() {
  m_table->setColumns(m_model->columns());
}

void SearchPage::refreshTrials() {
  if (const Study* const study = m_runner.study())
    if (m_model->setSearch(shownSearch(*study))) refreshColumns();
  const ShownSearch& shown = m_model->search();
  double spent = 0;
  int ended = 0;
  for (const ShownTrial& each : shown.trials) {
    spent += each.spent;
    ended += each.state != TrialState::running && each.state != TrialState::interrupted;
  }
  const bool any = !shown.trials.empty();
  QString words = any ? tr("%1 of %2 ended").arg(ended).arg(shown.plan.trials) : QString();
  for (const ShownTrial& each : shown.trials)
    if (each.number == shown.best)
      words += tr("; best %1 %2, trial %3")
                   .arg(QString::fromStdString(shown.plan.metric))
                   .arg(QString::fromStdString(resultText(shown.plan, each.result)))
                   .arg(each.number);
  if (any)
    words += tr("; %1 % of the steps of %2 trained")
                 .arg(qRound(spent / static_cast<double>(shown.trials.size()) * 100))
                 .arg(counted(static_cast<qint64>(shown.trials.size()), tr("trials")));
  if (shown.refused > 0) words += tr("; %1 refused before training").arg(counted(shown.refused, tr("candidates")));
  if (!any && m_runner.active()) words = tr("Draws the first candidate …");
  m_progress->setRange(0, std::max(shown.plan.trials, 1));
  m_progress->setValue(ended);
  m_progress->setVisible(any);
  m_words->setText(words);
  m_words->setToolTip(words);
  refreshFront();
  refreshButtons();
}

QJsonObject SearchPage::saveLayout() const {
  QJsonObject limits;
  for (const auto& [kind, field] : m_limits) limits[kind->key] = field->text();
  return {{"over", QJsonArray::fromStringList(m_space->texts())},
          {"strategy", m_strategy->currentData().toString()},
          {"stop_weak", m_stopWeak->currentData().toString()},
          {"trials", m_trials->value().value_or(30)},
          {"at_once", m_atOnce->value().value_or(1)},
          {"limits", limits},
          {"plan_for", m_planFor->currentData().toString()},
          {"against", m_against->currentData().toString()},
          {"shown", m_shown}};
}

void SearchPage::restoreLayout(const QJsonObject& layout) {
  if (!layout.contains("over")) return;
  QStringList over;
  for (const QJsonValue each : layout["over"].toArray()) over << each.toString();
  m_space->setSpace(over);
  for (const auto& [kind, field] : m_limits) field->setText(layout["limits"].toObject()[kind->key].toString());
  for (const auto& [field, key] : {std::pair{m_strategy, "strategy"}, std::pair{m_stopWeak, "stop_weak"},
                                   std::pair{m_planFor, "plan_for"}, std::pair{m_against, "against"}})
    if (const int place = field->findData(layout[key].toString()); place >= 0) field->setCurrentIndex(place);
  m_trials->setValue(layout["trials"].toDouble(30));
  m_atOnce->setValue(layout["at_once"].toDouble(1));
  m_shown = layout["shown"].toString();
  refreshForm();
}

}  // namespace loom

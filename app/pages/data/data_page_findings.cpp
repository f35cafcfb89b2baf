// What the doctor says of the columns, what they are used for, and what the steps make of them: all of it computed
// beside the window's thread from what the session knows.
#include <QFileInfo>
#include <QLabel>
#include <QPointer>
#include <algorithm>

#include "app/pages/data/data_page.h"
#include "app/pages/data/known_columns.h"
#include "app/pages/data/preparation_panel.h"
#include "app/pages/data/samples_model.h"
#include "app/pages/data/samples_view.h"
#include "app/pages/data/step_edits.h"
#include "app/pages/data/step_words.h"
#include "engine/data/columns/column_step.h"
#include "engine/network/class_losses.h"
#include "engine/network/dataset_rows.h"
#include "widgets/chart/format.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

constexpr int kChangeRows = 12;
constexpr std::size_t kProposals = 6, kMostProblems = 1000;

ColumnState stateOf(const PreviewColumn& column) {
  return {.name = QString::fromStdString(column.name),
          .number = column.number,
          .low = column.low,
          .mean = column.mean,
          .high = column.high,
          .deviation = column.deviation,
          .histogram = column.histogram,
          .cells = {}};
}

// The cells of rows, which stand in `preview.rows` where they are left.
void addCells(ColumnState& state, const PreviewColumn& column, const TablePreview& preview, std::size_t rows) {
  for (std::size_t row = 0, at = 0; row < rows; ++row) {
    const bool there = at < preview.rows.size() && preview.rows[at] == static_cast<std::int64_t>(row);
    QString text;
    if (there) {
      if (column.number && at < column.numbers.size() && column.numbers[at] == column.numbers[at])
        text = formatShort(column.numbers[at]);
      else if (!column.number && at < column.texts.size())
        text = QString::fromStdString(column.texts[at]);
      ++at;
    }
    state.cells << text;
  }
}

struct ChangeRequest {
  std::shared_ptr<const TableFacts> facts;
  std::vector<Json> before, after;
  std::string column;
  TableSample rows;
};

// Histograms of the sample, cells of the rows in sight: these are given what was measured on the sample.
ColumnChangeShown changeOf(const ChangeRequest& request) {
  ColumnChangeShown shown;
  const CsvFormat& format = request.facts->format;
  const TableSample& sample = *request.facts->sample;
  const TablePreview before = previewTable(sample, format, request.before);
  const TablePreview after = previewTable(sample, format, request.after);
  for (const Fault& fault : after.faults)
    if (fault.kind == FaultKind::header && shown.fault.isEmpty()) shown.fault = QString::fromStdString(fault.found);
  const TablePreview rowsBefore = previewTable(request.rows, format, before.resolved);
  const TablePreview rowsAfter = previewTable(request.rows, format, after.resolved);
  const std::size_t rows = request.rows.cells.size();
  const auto add = [&](const TablePreview& whole, const TablePreview& some, std::vector<ColumnState>& states) {
    for (const PreviewColumn* column : whole.of(request.column)) {
      ColumnState state = stateOf(*column);
      for (const PreviewColumn& same : some.after)
        if (same.name == column->name) addCells(state, same, some, rows);
      states.push_back(std::move(state));
    }
  };
  add(before, rowsBefore, shown.before);
  add(after, rowsAfter, shown.after);
  // Cells as the file writes them where nothing was done yet.
  if (request.before.empty() && !shown.before.empty()) {
    const ColumnFacts* const facts = request.facts->find(request.column);
    const auto at = static_cast<std::size_t>(facts - request.facts->columns.data());
    shown.before.front().cells.clear();
    for (const auto& cells : request.rows.cells)
      shown.before.front().cells << (at < cells.size() ? QString::fromStdString(cells[at]) : QString());
  }
  shown.lines = request.rows.lines;
  shown.left.assign(rows, true);
  for (const std::int64_t row : rowsAfter.rows) shown.left[static_cast<std::size_t>(row)] = false;
  return shown;
}

// What is seen of findings, and what their buttons do.
QString signatureOf(const std::vector<DataFinding>& findings) {
  QString all;
  for (const DataFinding& each : findings) {
    all += QStringLiteral("%1|%2|%3|%4")
               .arg(int(each.shown.kind))
               .arg(each.shown.title, each.shown.place, each.shown.detail);
    for (const TableRemedy& remedy : each.remedies)
      all += '|' + QString::fromStdString(remedy.label + Json(remedy.steps).dump() + remedy.settings.dump() +
                                          remedy.writing.dump());
    all += '\n';
  }
  return all;
}

bool isDrawn(const Project& project) {
  return std::any_of(project.networks.begin(), project.networks.end(),
                     [](const Network& each) { return !each.nodes.empty(); });
}

// The columns that a step names.
std::vector<std::string> namedBy(const Json& step) {
  std::vector<std::string> names;
  if (const auto found = step.find("variable"); found != step.end()) {
    if (found->is_string()) names.push_back(*found);
    if (found->is_array())
      for (const Json& each : *found)
        if (each.is_string()) names.push_back(each);
  }
  if (const auto found = step.find("missing"); found != step.end() && found->is_array())
    for (const Json& each : *found)
      if (each.is_string()) names.push_back(each);
  return names;
}

}  // namespace

void DataPage::refreshAll() {
  showState();
  showRange();
  refreshPreview();
  refreshRoles();
  refreshFindings();
  refreshChange();
}

void DataPage::refreshFindings() {
  const Project& project = context().document->project();
  const DatasetSpec* const dataset = project.dataset(currentName());
  if (!dataset || (!m_session->facts() && !m_session->unreadable())) {
    m_diagnosis.forget();
    return takeFindings({});
  }
  FindingsRequest request{.facts = m_session->facts(),
                          .context = {.prepare = prepareOf(project, *dataset),
                                      .targets = m_roles.targets,
                                      .hasValidation = !project.training.validation.empty() || !takesPart(),
                                      .settings = project.training.settings,
                                      .learnsClasses = !isDrawn(project) || hasClassLoss(project)},
                          .report = m_session->report(),
                          .partFaults = m_session->partFaults(),
                          .error = m_session->unreadable() ? m_session->unreadable() : m_session->error(),
                          .ownSteps = prepared()->csv == dataset->csv};
  if (const auto& why = m_session->unreadable(); why && why->code() == ErrorCode::missingFile)
    request.gone = QFileInfo(m_session->request().csv).fileName();  // the list of problems tells it without this page
  for (const FeedLine& feed : m_roles.feeds)
    for (const auto* columns : {&feed.columns, &feed.offered})
      if (columns->size() == 1) request.wanted.emplace(columns->front(), feed.wanted);
  m_diagnosis.ask([this, request = std::move(request)](const std::atomic<bool>&) -> NewestTask::Answer {
    return [this, found = dataFindings(request)] { takeFindings(found); };
  });
  showDoctor();
}

void DataPage::takeFindings(std::vector<DataFinding> findings) {
  std::erase_if(findings, [this](const DataFinding& each) { return m_accepted.contains(each.key()); });
  m_findings = std::move(findings);
  std::vector<ShownFinding> shown;
  std::vector<ProposedStep> proposals;
  for (const DataFinding& each : m_findings) {
    shown.push_back(each.shown);
    shown.back().actions = actionsFor(each);
    const bool proposes = each.shown.kind == ShownFinding::Kind::error && !each.remedies.empty() &&
                          each.remedies.front().steps.size() == 1 && proposals.size() < kProposals;
    if (proposes && !shown.back().actions.empty())
      proposals.push_back({stepWords(each.remedies.front().steps.front()), shown.back().actions.front().act});
  }
  // A button may be under a finger: what is the same stays.
  if (QString signature = signatureOf(m_findings); signature != m_listed) {
    m_listed = std::move(signature);
    m_list->setFindings(std::move(shown));
  }
  m_preparation->setProposals(std::move(proposals));
  showDoctor();
  reportProblems();
}

std::vector<FindingAction> DataPage::actionsFor(const DataFinding& finding) {
  std::vector<FindingAction> actions;
  for (const TableRemedy& remedy : finding.remedies) {
    const QString label = QString::fromStdString(remedy.label);
    if (remedy.find != FindAgain::nothing)
      actions.push_back({label, [this, find = remedy.find] { findAgain(find); }});
    else if (remedy.split)
      actions.push_back({label, [this] { offerSplit(); }});
    else if (remedy.writing.is_object())
      actions.push_back(
          {label, [this, writing = remedy.writing] {
             changeWriting(writing);
             context().notify({tr("How the CSV is written: the file stays as it is"), tr("Undo"), stepBack()});
           }});
    else if (remedy.settings.is_object())
      actions.push_back({label, [this, label, settings = remedy.settings] { changeSettings(label, settings); }});
    else if (remedy.steps.empty())
      actions.push_back({label, [this, key = finding.key(), title = finding.shown.title] {
                           m_accepted.insert(key);
                           refreshFindings();
                           context().notify(
                               {tr("%1: kept as it is").arg(title), tr("Undo"), [page = QPointer<DataPage>(this), key] {
                                  if (!page) return;
                                  page->m_accepted.erase(key);
                                  page->refreshFindings();
                                }});
                         }});
    else if (const Json& step = remedy.steps.front(); step.value("step", "") == "LeaveOut")
      actions.push_back({label, [this, names = namedBy(step)] {
                           if (!names.empty()) setRole(names.front(), 2);
                         }});
    else
      actions.push_back({label, [this, label, steps = remedy.steps] { addSteps(label, steps); }});
  }
  return actions;
}

// A set that no update trains on and that validates nothing stands in nobody's way.
bool DataPage::takesPart() const {
  const TrainingSpec& training = context().document->project().training;
  return training.validation == currentName() ||
         std::any_of(training.updates.begin(), training.updates.end(),
                     [this](const UpdateSpec& update) { return update.dataset == currentName(); });
}

void DataPage::reportProblems() {
  std::vector<PageProblem> problems;
  const Severity error = takesPart() ? Severity::error : Severity::warning;
  const QString dataset = QString::fromStdString(currentName());
  const QString file = QFileInfo(m_session->request().csv).fileName();
  for (const DataFinding& each : m_findings) {
    const bool bad = each.shown.kind == ShownFinding::Kind::error;
    if ((!bad && each.shown.kind != ShownFinding::Kind::warning) || !each.aboutFile) continue;
    if (problems.size() >= kMostProblems) break;
    const std::vector<FindingAction> actions = actionsFor(each);
    problems.push_back({bad ? error : Severity::warning,
                        {.page = "data", .dataset = dataset, .row = each.shown.line, .column = each.shown.column},
                        each.shown.line > 0 ? QStringLiteral("%1 line %L2").arg(file).arg(each.shown.line) : file,
                        each.shown.detail.isEmpty() ? each.shown.title
                                                    : QStringLiteral("%1. %2").arg(each.shown.title, each.shown.detail),
                        actions.empty() ? QString() : actions.front().text,
                        actions.empty() ? std::function<void()>() : actions.front().act});
  }
  Q_EMIT problemsChanged(problems);
}

// Every step on the sample: which columns there are behind them, and whether they are numbers.
void DataPage::refreshPreview() {
  const auto facts = m_session->facts();
  if (!facts || !facts->sample) {
    m_previewing.forget();
    m_preview.reset();
    return;
  }
  m_previewing.ask([this, facts, steps = columnStepsOf(steps())](const std::atomic<bool>&) -> NewestTask::Answer {
    return [this, preview = std::make_shared<const TablePreview>(previewTable(*facts->sample, facts->format, steps))] {
      m_preview = preview;
      refreshRoles();
    };
  });
}

void DataPage::refreshRoles() {
  const Project& project = context().document->project();
  const DatasetSpec* const owner = prepared();
  const auto facts = m_session->facts();
  const std::vector<std::string> targets = m_roles.targets;
  if (!owner || !facts) {
    m_roles = {};
  } else {
    std::map<std::string, Shape> shapes;
    for (const KnownColumns& each : context().document->knownColumns())
      if (each.dataset == owner->name) shapes = each.shapes;
    m_roles =
        columnRoles({project, *owner, owner->prepare, *facts, m_preview.get(), shapes.empty() ? nullptr : &shapes});
  }
  std::set<std::int64_t> skipped;
  std::set<std::string> leftOut;
  bool strays = false;
  for (const Json& step : steps()) {
    const ColumnStepDefinition* const kind = findColumnStep(step);
    if (!kind || kind->entry.id != "SkipRows") continue;
    if (step.contains("lines") && owner->csv == context().document->project().dataset(currentName())->csv)
      for (const Json& line : step["lines"])
        if (line.is_number_integer()) skipped.insert(line.get<std::int64_t>());
    strays |= step.contains("faulty") && step["faulty"] == true;
  }
  for (const auto& [column, mark] : m_roles.marks)
    if (mark.leftOut) leftOut.insert(column);
  m_model->setSkipped(std::move(skipped), strays, std::move(leftOut));
  m_columns->setMarks(m_roles.marks);
  m_preparation->setFeeds(m_roles.feeds, isDrawn(project));
  bool files = false;
  for (int column = 1; facts && column < m_model->columnCount() && !files; ++column) {
    const ColumnType type = facts->columns[static_cast<std::size_t>(column - 1)].type;
    files = type == ColumnType::picture || type == ColumnType::sound || type == ColumnType::matrix;
  }
  m_preparation->setTable(!files);
  if (files) m_copyBar->hide();  // a copy would not find the files that it names
  showColumns();
  if (m_roles.targets != targets) refreshFindings();
}

// The chosen column before and after the chosen step, or all of them; of a step that means others the first of these.
void DataPage::refreshChange() {
  const auto facts = m_session->facts();
  std::string column = m_columns->chosen();
  const std::vector<Json>& all = steps();
  const int selected = m_preparation->selected();
  if (!m_preparation->showsColumns()) return;
  ChangeRequest request{.facts = facts, .before = {}, .after = columnStepsOf(all), .column = {}, .rows = {}};
  if (selected >= 0 && selected < static_cast<int>(all.size())) {
    const auto at = all.begin() + selected;
    request.before = columnStepsOf({all.begin(), at});
    request.after = columnStepsOf({all.begin(), at + 1});
    const std::vector<std::string> named = namedBy(*at);
    if (!named.empty() && std::find(named.begin(), named.end(), column) == named.end()) column = named.front();
  }
  if (!facts || !facts->sample || !facts->find(column)) {
    m_changing.forget();
    return m_preparation->setChange({.before = {},
                                     .after = {},
                                     .lines = {},
                                     .left = {},
                                     .fault = {},
                                     .note = facts ? tr("Choose a column to see it before and after.") : QString()});
  }
  request.column = column;
  request.rows = m_model->rowsAt(m_samples->firstRow(), kChangeRows);
  m_changing.ask([this, request = std::move(request)](const std::atomic<bool>&) -> NewestTask::Answer {
    return [this, change = changeOf(request)] { m_preparation->setChange(change); };
  });
}

}  // namespace loom

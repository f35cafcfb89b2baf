// The widgets of the Data page and what they show; what happens stands in data_page.cpp.
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPointer>
#include <QProgressBar>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/data/column_card.h"
#include "app/pages/data/data_empty.h"
#include "app/pages/data/data_page.h"
#include "app/pages/data/element_table.h"
#include "app/pages/data/findings_list.h"
#include "app/pages/data/import_menu.h"
#include "app/pages/data/known_columns.h"
#include "app/pages/data/preparation_panel.h"
#include "app/pages/data/samples_model.h"
#include "app/pages/data/samples_view.h"
#include "engine/data/loader.h"
#include "engine/network/dataset_rows.h"
#include "engine/network/flatten.h"
#include "widgets/controls/button.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kTableColumns = 400, kRoomy = 1200;

QFrame* panel() {
  auto* frame = new QFrame;
  frame->setProperty("kind", "panel");
  return frame;
}

}  // namespace

QWidget* DataPage::makeBar() {
  auto* bar = panel();
  bar->setFixedHeight(Theme::of(this).size(Size::pageBar));
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(20, 0, 20, 0);
  row->setSpacing(8);
  m_tabs = new QTabBar;
  m_tabs->setObjectName("datasets");
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  m_tabs->setAccessibleName(QStringLiteral("Datasets"));
  m_path = makeLabel("hint");
  m_importMenu = new ImportMenu(*m_import, this);
  m_importButton = new Button(QStringLiteral("import"), QStringLiteral("Import…"), ButtonKind::outlined);
  m_importButton->setObjectName("import-data");
  m_importButton->setMenu(m_importMenu);
  m_splitButton = new Button(QStringLiteral("Split…"), ButtonKind::outlined);
  m_splitButton->setObjectName("split-data");
  m_checkButton = new Button(QStringLiteral("check"), QStringLiteral("Check all"), ButtonKind::outlined);
  m_checkButton->setObjectName("check-data");
  m_removeButton = new Button(QStringLiteral("Remove"), ButtonKind::plain);
  m_removeButton->setObjectName("remove-data");
  m_form = new SegmentedControl({QStringLiteral("Rows"), QStringLiteral("Grid")});
  row->addWidget(m_tabs);
  row->addSpacing(8);
  row->addWidget(m_path, 1);
  row->addWidget(m_form);
  row->addWidget(m_removeButton);
  row->addWidget(m_importButton);
  row->addWidget(m_splitButton);
  row->addWidget(m_checkButton);
  connect(m_splitButton, &QPushButton::clicked, this, &DataPage::offerSplit);
  connect(m_checkButton, &QPushButton::clicked, this, [this] { m_session->checkAgain(), showDoctor(); });
  connect(m_removeButton, &QPushButton::clicked, this, [this] {
    ProjectDocument& document = *context().document;
    const QString name = QString::fromStdString(currentName());
    document.removeDataset(currentName());
    context().notify({QStringLiteral("%1 is no longer part of the project; its files stay").arg(name),
                      QStringLiteral("Undo"), [kept = QPointer<ProjectDocument>(&document)] {
                        if (kept) kept->undoStack().undo();
                      }});
  });
  return bar;
}

QWidget* DataPage::makeBody() {
  m_columnsPanel = panel();
  auto* columnsLayout = new QVBoxLayout(m_columnsPanel);
  columnsLayout->setContentsMargins(0, 0, 0, 0);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* inside = new QWidget;
  m_columns = new QVBoxLayout(inside);
  m_columns->setContentsMargins(12, 12, 12, 12);
  m_columns->setSpacing(8);
  m_columns->addStretch();
  scroll->setWidget(inside);
  columnsLayout->addWidget(scroll);

  m_model = new SamplesModel(this);
  m_samples = new SamplesView(m_model);
  auto* waiting = new QWidget;
  auto* waitingLayout = new QVBoxLayout(waiting);
  m_status = makeLabel("hint");
  m_status->setObjectName("data-status");
  m_status->setAlignment(Qt::AlignCenter);
  m_progress = new QProgressBar;
  m_progress->setTextVisible(false);
  m_progress->setFixedWidth(280);
  m_progress->setFixedHeight(6);
  waitingLayout->addStretch();
  waitingLayout->addWidget(m_status);
  waitingLayout->addWidget(m_progress, 0, Qt::AlignHCenter);
  waitingLayout->addStretch();
  m_centre = new QStackedWidget;
  m_centre->addWidget(m_samples);
  m_centre->addWidget(waiting);

  m_doctorPanel = panel();
  auto* doctor = new QVBoxLayout(m_doctorPanel);
  doctor->setContentsMargins(0, 12, 0, 0);
  doctor->setSpacing(8);
  m_doctorTitle = makeLabel("heading", QStringLiteral("Doctor"));
  m_doctorTitle->setObjectName("doctor");
  m_doctorTitle->setContentsMargins(12, 0, 12, 0);
  m_doctorTitle->setWordWrap(true);
  m_findings = new FindingsList;
  doctor->addWidget(m_doctorTitle);
  doctor->addWidget(m_findings, 1);

  m_splitter = new QSplitter(Qt::Horizontal);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->addWidget(m_columnsPanel);
  m_splitter->addWidget(m_centre);
  m_splitter->addWidget(m_doctorPanel);
  m_splitter->setStretchFactor(1, 1);
  m_splitter->setSizes({240, 700, 300});
  m_columnsPanel->setMinimumWidth(170);
  m_doctorPanel->setMinimumWidth(190);
  m_preparation = new PreparationPanel;
  m_vertical = new QSplitter(Qt::Vertical);
  m_vertical->setChildrenCollapsible(false);
  m_vertical->addWidget(m_splitter);
  m_vertical->addWidget(m_preparation);
  m_vertical->setStretchFactor(0, 1);
  m_vertical->setSizes({520, 220});
  return m_vertical;
}

void DataPage::makeLayout() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  m_error = makeLabel("error");
  m_error->setObjectName("data-error");
  m_error->setContentsMargins(20, 8, 20, 8);
  m_error->setWordWrap(true);
  m_error->hide();
  column->addWidget(m_error);
  auto* emptyImport = new Button(QStringLiteral("import"), QStringLiteral("Import…"), ButtonKind::tinted);
  emptyImport->setMenu(m_importMenu);
  m_stack = new QStackedWidget;
  m_stack->addWidget(makeBody());
  m_stack->addWidget(new DataEmpty(emptyImport));
  column->addWidget(m_stack, 1);
}

void DataPage::showState() {
  const bool any = m_tabs->count() > 0;
  const auto state = m_session->state();
  const bool importing = m_import->running();
  m_stack->setCurrentIndex(any || importing ? 0 : 1);
  const bool asText = state == DatasetSession::State::failed && m_model->rowCount() > 0;
  m_centre->setCurrentIndex((state == DatasetSession::State::ready || asText) && !importing ? 0 : 1);
  m_progress->setVisible(state == DatasetSession::State::opening || importing);
  if (state == DatasetSession::State::failed && !importing && m_session->error()) {
    const DatasetSpec* const dataset = context().document->project().dataset(currentName());
    const std::string origin =
        dataset && !QFileInfo::exists(m_session->request().csv) ? originOf(*dataset) : std::string();
    m_status->setText(QString::fromStdString(origin.empty() ? m_session->error()->what()
                                                            : m_session->error()->what() + ("\n\n" + origin)));
  }
  m_status->setWordWrap(true);
  m_tabs->setVisible(any);
  m_path->setVisible(any);
  m_removeButton->setVisible(any);
  m_form->setVisible(any);
  m_importButton->setVisible(any);
  m_checkButton->setVisible(any);
  const bool noValidation = context().document->project().training.validation.empty();
  m_splitButton->setVisible(any && noValidation && state == DatasetSession::State::ready);
  m_splitButton->setKind(noValidation ? ButtonKind::tinted : ButtonKind::outlined);
  m_checkButton->setKind(noValidation ? ButtonKind::outlined : ButtonKind::tinted);
  if (const auto dataset = m_session->dataset()) {
    std::int64_t columns = 0;  // of the file: a vector is as many as it has numbers
    for (const Variable& variable : dataset->schema().variables)
      columns += variable.kind == VariableKind::vector ? variable.shape.elements() : 1;
    m_path->setText(QStringLiteral("%1    %2, %3")
                        .arg(QFileInfo(m_session->request().csv).fileName(),
                             counted(dataset->size(), QStringLiteral("rows")),
                             counted(columns, QStringLiteral("columns"))));
  } else {
    m_path->setText(QFileInfo(m_session->request().csv).fileName());
  }
  m_path->setToolTip(m_session->request().csv);
}

void DataPage::showColumns() {
  for (ColumnCard* card : m_cards) card->deleteLater();
  m_cards.clear();
  const auto& names = m_session->classNames();
  for (const Variable& variable : m_session->schema().variables) {
    auto* card = new ColumnCard(variable);
    if (const auto found = names.find(variable.name); found != names.end()) card->setClassNames(found->second);
    for (const VariableStats& stats : m_session->stats())
      if (stats.variable == variable.name) card->setStats(stats);
    connect(card, &ColumnCard::elementChosen, this, [this, name = variable.name](int element) {
      const int column = m_model->columnOf(name, element);
      m_samples->setChosenColumn(column);
      showChosen(column);
    });
    m_columns->insertWidget(m_columns->count() - 1, card);
    m_cards.push_back(card);
  }
  showFeeds();
}

void DataPage::showChosen(int column) {
  for (ColumnCard* card : m_cards)
    if (ElementTable* elements = card->elements())
      elements->setChosen(QString::fromStdString(card->variable().name) == m_model->variableOf(column)
                              ? m_model->elementOf(column)
                              : -1);
}

// The columns of a table want their figures side by side; what a person has set stays.
void DataPage::makeRoomForTable() {
  const bool table =
      std::any_of(m_cards.begin(), m_cards.end(), [](const ColumnCard* card) { return card->elements(); });
  QList<int> sizes = m_splitter->sizes();
  if (!table || m_sizesChosen || width() < kRoomy || sizes.size() != 3 || sizes[0] >= kTableColumns) return;
  sizes[1] -= kTableColumns - sizes[0];
  sizes[0] = kTableColumns;
  m_splitter->setSizes(sizes);
}

void DataPage::showFeeds() {
  const Project& project = context().document->project();
  const DatasetSpec* dataset = project.dataset(currentName());
  if (!dataset) return;
  const auto steps = effectivePrepare(project, *dataset);
  const KnownColumns known = knownColumns(*dataset, steps, m_session->schema());
  // As they run: the shape of an Input may be an expression.
  std::vector<std::vector<DatasetInput>> feeds;
  for (const Network& network : project.networks) feeds.push_back(datasetInputs(flatten(project, network).network));
  for (ColumnCard* card : m_cards) {
    QStringList inputs;
    QString fault;
    for (const std::vector<DatasetInput>& network : feeds) {
      for (const DatasetInput& input : network) {
        if (input.variable != card->variable().name) continue;
        inputs += QString::fromStdString(input.node);
        const auto shape = known.shapes.find(input.variable);
        if (shape != known.shapes.end() && input.shape.elements() != shape->second.elements())
          fault = QStringLiteral("%1 wants %2, the column gives %3")
                      .arg(QString::fromStdString(input.node), QString::fromStdString(input.shape.toString()),
                           QString::fromStdString(shape->second.toString()));
      }
    }
    inputs.removeDuplicates();
    card->setFeeds(inputs.isEmpty() ? QStringLiteral("no Input") : inputs.join(", "), fault);
  }
}

void DataPage::showDoctor() {
  QString text = QStringLiteral("Doctor");
  if (m_session->checking()) {
    text = QStringLiteral("Doctor: %1 checked").arg(counted(m_session->rowsChecked(), QStringLiteral("rows")));
  } else if (const auto& report = m_session->report()) {
    text = report->errors + report->warnings == 0
               ? QStringLiteral("Doctor: no fault in ") + counted(report->rows, QStringLiteral("rows"))
               : QStringLiteral("Doctor: %1, %2")
                     .arg(counted(report->errors, QStringLiteral("errors")),
                          counted(report->warnings, QStringLiteral("warnings")));
  }
  m_doctorTitle->setText(text);
}

// What the preparation mends is no finding.
std::vector<Fault> DataPage::findings() const {
  const Project& project = context().document->project();
  const DatasetSpec* dataset = project.dataset(currentName());
  const auto& report = m_session->report();
  if (!report) return {};
  const std::vector<Json> steps = dataset ? effectivePrepare(project, *dataset) : std::vector<Json>();
  const auto normalised = [&](const std::string& name) {
    const Variable* variable = m_session->schema().find(name);
    return variable &&
           std::any_of(steps.begin(), steps.end(), [&](const Json& step) { return normalises(step, *variable); });
  };
  std::vector<Fault> left = report->faults;
  std::erase_if(left, [&](const Fault& fault) {
    if (fault.kind != FaultKind::unlikeScales) return false;
    return fault.variables.empty() ? normalised(fault.column)
                                   : std::all_of(fault.variables.begin(), fault.variables.end(), normalised);
  });
  return left;
}

void DataPage::showFindings() {
  const auto& report = m_session->report();
  if (!report) return m_findings->setReport(nullptr);
  CheckReport shown = *report;
  shown.faults = findings();
  m_listed = shown.faults.size();
  m_findings->setReport(&shown);
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
  const auto& report = m_session->report();
  // What opening failed at first is among what the doctor finds.
  if (m_session->state() == DatasetSession::State::failed && m_session->error() && (!report || report->ok())) {
    problems.push_back(
        {error, {.page = "data", .dataset = dataset}, file, QString::fromUtf8(m_session->error()->what()), {}, {}});
  } else if (report) {
    constexpr std::size_t kMost = 50;  // the list beside the samples has them all
    for (const Fault& fault : findings()) {
      if (fault.severity == FaultSeverity::info || problems.size() >= kMost) continue;
      problems.push_back(
          {fault.severity == FaultSeverity::error ? error : Severity::warning,
           {.page = "data", .dataset = dataset, .row = fault.line, .column = QString::fromStdString(fault.column)},
           fault.line > 0 ? QStringLiteral("%1 line %2").arg(file).arg(fault.line) : file,
           QString::fromStdString(fault.message()),
           {},
           {}});
    }
  }
  Q_EMIT problemsChanged(problems);
}

}  // namespace loom

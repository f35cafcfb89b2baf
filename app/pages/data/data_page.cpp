#include "app/pages/data/data_page.h"

#include <QAction>
#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QLabel>
#include <QProgressBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <algorithm>
#include <cmath>

#include "app/pages/data/findings_list.h"
#include "app/pages/data/import_menu.h"
#include "app/pages/data/known_columns.h"
#include "app/pages/data/preparation_panel.h"
#include "app/pages/data/prepare_measure.h"
#include "app/pages/data/samples_model.h"
#include "app/pages/data/samples_view.h"
#include "app/samples.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "engine/network/dataset_rows.h"
#include "widgets/controls/button.h"
#include "widgets/controls/number_field.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"

namespace loom {

DataPage::DataPage(AppContext& context, QWidget* parent)
    : Page(context, parent),
      m_session(new DatasetSession(this)),
      m_import(new ImportTask(this)),
      m_measure(new PrepareMeasure(this)) {
  makeLayout();
  makeActions();
  connectParts();
  connect(context.document, &ProjectDocument::changed, this, [this](const ProjectChange& change) {
    if (change.datasets || change.training)
      followDocument();
    else if (!change.networks.empty() || change.networkList)
      refreshRoles();
  });
  if (context.knownColumns)
    connect(context.knownColumns, &KnownColumnsKeeper::fileChanged, this, [this](const QString& dataset) {
      if (dataset.toStdString() == currentName()) m_session->lookAgain(), refreshAll();
    });
  // What the canvas knows of the columns came later than what changed them.
  connect(context.document, &ProjectDocument::analysisChanged, this, &DataPage::refreshRoles);
  connect(context.document, &ProjectDocument::opened, this, &DataPage::followDocument);
  followDocument();
}

DataPage::~DataPage() = default;

void DataPage::connectParts() {
  connect(m_import, &ImportTask::progressed, this, [this](qint64 done, qint64 total) {
    m_progress->setRange(0, static_cast<int>(std::max<qint64>(1, total / 100)));
    m_progress->setValue(static_cast<int>(done / 100));
    m_status->setText(QStringLiteral("Importing %1: %L2 of %L3").arg(m_import->what()).arg(done).arg(total));
    showState();
  });
  connect(m_import, &ImportTask::finished, this, [this](const QString& csv, qint64 rows, const QString& left) {
    addCsv(csv);
    const QString sentence = counted(rows, QStringLiteral("samples")) + QStringLiteral(" imported");
    context().notify({left.isEmpty() ? sentence : sentence + QStringLiteral("; ") + left, {}, {}});
  });
  connect(m_import, &ImportTask::failed, this, [this](const QString& message) {
    m_error->setText(message);
    m_error->show();
    showState();
  });
  connect(m_session, &DatasetSession::looked, this, [this] {
    m_model->setRows({m_session->request().csv, m_session->facts(), m_session->rows(), m_session->classNames()});
    refreshAll();
  });
  connect(m_session, &DatasetSession::checked, this, [this] { refreshAll(); });
  connect(m_session, &DatasetSession::progressed, this, [this] { showState(); });
  connect(m_session, &DatasetSession::opened, this, [this] {
    showSample(std::max(0, m_samples->currentRow()));
    refreshFindings();
    showState();
  });
  connect(m_model, &SamplesModel::modelReset, this, &DataPage::goToAwaited);
  connect(m_session, &DatasetSession::failed, this, [this] {
    m_preparation->setSample({});
    refreshFindings();
    showState();
  });
  connect(m_session, &DatasetSession::measured, this, [this] {
    std::map<std::string, std::int64_t> classes;
    for (const VariableStats& stats : m_session->stats())
      if (!stats.classes.empty()) classes[stats.variable] = static_cast<std::int64_t>(stats.classes.size());
    if (context().knownColumns && m_session->dataset())
      context().knownColumns->learn(currentName(), m_session->dataset()->schema(), classes);
  });
  connect(m_list, &FindingsList::chosen, this, [this](const ShownFinding& finding) {
    const int column = finding.column.isEmpty() ? -1 : m_model->columnOf(finding.column.toStdString());
    const int row = finding.row >= 0   ? m_model->rowOfFile(finding.row)
                    : finding.line > 0 ? m_model->rowOfLine(finding.line)
                                       : -1;
    if (row >= 0) m_samples->goToCell(row, column);
    if (!finding.column.isEmpty()) chooseColumn(finding.column.toStdString());
  });
  connect(m_samples, &SamplesView::rowChosen, this, [this](int row) {
    showSample(row);
    showRange();
  });
  connect(m_samples, &SamplesView::columnChosen, this,
          [this](int column) { chooseColumn(m_model->columnName(column)); });
  connect(m_samples, &SamplesView::moved, this, [this] { showRange(), refreshChange(); });
  connect(m_model, &SamplesModel::dataChanged, this, [this](const QModelIndex& from, const QModelIndex& to) {
    const int first = m_samples->firstRow();
    if (from.column() == 0 && from.row() <= first && to.row() >= first) showRange(), refreshChange();
    const int chosen = std::max(0, m_samples->currentRow());
    if (from.column() == 0 && from.row() <= chosen && to.row() >= chosen) showSample(chosen);
  });
  connect(m_splitter, &QSplitter::splitterMoved, this, [this] { m_sizesChosen = true; });
  connect(m_samples, &SamplesView::formChanged, this,
          [this] { m_form->setCurrent(m_samples->form() == SamplesView::Form::grid); });
  connect(m_form, &SegmentedControl::currentChanged, this,
          [this](int index) { m_samples->setForm(index == 1 ? SamplesView::Form::grid : SamplesView::Form::rows); });
  connect(m_line, &QLineEdit::returnPressed, this, [this] {
    if (const auto line = m_line->value())
      if (const int row = m_model->rowOfLine(static_cast<std::int64_t>(*line)); row >= 0) m_samples->goToRow(row);
  });
  connect(m_search, &QLineEdit::textChanged, m_columns, &ColumnList::setFilter);
  connect(m_columns, &ColumnList::columnChosen, this,
          [this](const QString& column) { chooseColumn(column.toStdString()); });
  connect(m_columns, &ColumnList::renamed, this,
          [this](const QString& column, const QString& to) { rename(column.toStdString(), to); });
  connect(m_columns, &ColumnList::leaveOutWanted, this,
          [this](const QString& column) { setRole(column.toStdString(), 2); });
  connect(m_columns, &ColumnList::menuWanted, this, &DataPage::openColumnMenu);
  connect(m_role, &SegmentedControl::currentChanged, this, [this](int role) {
    if (!m_showingRole) setRole(m_columns->chosen(), role);
  });
  connect(m_rename, &QPushButton::clicked, this, [this] {
    if (const int row = m_columns->rowOf(m_columns->chosen()); row >= 0)
      m_columns->view().edit(m_columns->view().model()->index(row, 0));
  });
  connect(m_preparation, &PreparationPanel::measureWanted, this, &DataPage::measure);
  connect(m_measure, &PrepareMeasure::known, m_preparation, &PreparationPanel::setMeasured);
  // What the measuring cannot do, the steps as they are say with the place.
  connect(m_measure, &PrepareMeasure::failed, this,
          [this](const std::vector<Json>& asked) { m_preparation->setMeasured(asked, asked); });
  connect(m_preparation, &PreparationPanel::edited, this, [this](const std::vector<Json>& steps) {
    if (const DatasetSpec* const owner = prepared()) context().document->setPrepare(owner->name, steps);
  });
  connect(m_preparation, &PreparationPanel::selectedChanged, this, &DataPage::refreshChange);
  connect(&m_preparation->feeds(), &FeedsBar::remedyWanted, this, &DataPage::mendFeed);
  connect(&m_preparation->feeds(), &FeedsBar::inputChosen, this, [this](const FeedLine& feed) {
    context().go({.page = QStringLiteral("network"),
                  .network = QString::fromStdString(feed.network),
                  .node = QString::fromStdString(feed.node)});
  });
  connect(&m_preparation->feeds(), &FeedsBar::drawingWanted, this, [this] {
    context().go({.page = QStringLiteral("network"), .dataset = QString::fromStdString(currentName())});
  });
  connect(m_tabs, &QTabBar::currentChanged, this, [this] { openCurrent(); });
  connect(m_importMenu, &ImportMenu::csvChosen, this, &DataPage::addCsv);
  m_importMenu->setPlaces([this] { return context().document->folder(); },
                          [this](const QString& name) { return projectFolder(name); });
  connect(m_importMenu, &ImportMenu::refused, this,
          [this](const QString& why) { m_error->setText(why), m_error->show(); });
}

// What is made of other files, or copied, lies in the project's folder, which it has from then on.
QString DataPage::projectFolder(const QString& name) {
  ProjectDocument& document = *context().document;
  if (!document.path().isEmpty()) return document.folder();
  const QString folder = newProjectFolder(document.name() == ProjectDocument::tr("Untitled") ? name : document.name());
  const Outcome kept = context().workspace->saveAs(folder + '/' + QFileInfo(folder).fileName() + ".loom");
  m_error->setText(kept.reason);
  m_error->setVisible(!kept);
  return kept ? folder : QString();
}

void DataPage::makeActions() {
  addCommand("data.check", tr("Check all data"), "Ctrl+R", [this] { m_session->lookAgain(), refreshAll(); });
  addCommand("data.next-finding", tr("Next finding"), "Alt+Down", [this] { m_list->selectNext(1); });
  addCommand("data.previous-finding", tr("Previous finding"), "Alt+Up", [this] { m_list->selectNext(-1); });
  addCommand("data.search-columns", tr("Search columns"), "/",
             [this] { m_search->setFocus(Qt::ShortcutFocusReason), m_search->selectAll(); });
  const auto ofSamples = [this](const char* id, const QString& text, const QString& keys, const char* icon, auto run) {
    context().commands->add({.id = QString::fromLatin1(id),
                             .group = tr("This page"),
                             .text = text,
                             .keys = QKeySequence::listFromString(keys),
                             .scope = "data/samples",
                             .icon = QString::fromLatin1(icon),
                             .family = {},
                             .possible = [this] { return m_samples->hasPictures(); }},
                            this, run);
  };
  ofSamples("data.pictures", tr("Samples as pictures, or as rows"), "G", "grid", [this] {
    m_samples->setForm(m_samples->form() == SamplesView::Form::rows ? SamplesView::Form::grid
                                                                    : SamplesView::Form::rows);
  });
  ofSamples("data.larger", tr("Larger pictures"), "+; =", "plus",
            [this] { m_samples->setPictureSize(m_samples->pictureSize() + SamplesView::kPictureStep); });
  ofSamples("data.smaller", tr("Smaller pictures"), "-", "minus",
            [this] { m_samples->setPictureSize(m_samples->pictureSize() - SamplesView::kPictureStep); });
  m_samples->setCommands(*context().commands);
}

std::string DataPage::currentName() const {
  return m_tabs->currentIndex() < 0 ? std::string() : m_tabs->tabData(m_tabs->currentIndex()).toString().toStdString();
}

const DatasetSpec* DataPage::prepared() const {
  const Project& project = context().document->project();
  const DatasetSpec* const dataset = project.dataset(currentName());
  if (!dataset || dataset->ownPrepare || project.training.updates.empty()) return dataset;
  const DatasetSpec* const trained = project.dataset(project.training.updates.front().dataset);
  return trained ? trained : dataset;
}

const std::vector<Json>& DataPage::steps() const {
  static const std::vector<Json> none;
  const DatasetSpec* const dataset = prepared();
  return dataset ? dataset->prepare : none;
}

void DataPage::followDocument() {
  const Project& project = context().document->project();
  const std::string before = currentName();
  {
    const QSignalBlocker quiet(m_tabs);
    while (m_tabs->count() > 0) m_tabs->removeTab(0);
    for (const DatasetSpec& dataset : project.datasets) {
      QString label = QString::fromStdString(dataset.name);
      if (!label.isEmpty()) label[0] = label[0].toUpper();
      const int index = m_tabs->addTab(label);
      m_tabs->setTabData(index, QString::fromStdString(dataset.name));
      if (dataset.name == before) m_tabs->setCurrentIndex(index);
    }
  }
  m_tabs->updateGeometry();  // a hidden bar of tabs does not tell that it grew
  openCurrent();
}

void DataPage::openCurrent() {
  const Project& project = context().document->project();
  const DatasetSpec* const dataset = project.dataset(currentName());
  if (!dataset) {
    m_openedKey.clear();
    m_session->close();
    m_model->setRows({});
    m_preparation->setSample({});
    refreshAll();
    return;
  }
  const auto pathOf = [this](const DatasetSpec& of) { return datasetPath(*context().document, of); };
  const DatasetSpec& owner = *prepared();
  SessionRequest request{.csv = pathOf(*dataset),
                         .spec = *dataset,
                         .prepare = prepareOf(project, *dataset),
                         .measuredOn = {},
                         .otherPart = {},
                         .check = {}};
  if (&owner != dataset) request.measuredOn = {pathOf(owner), owner, owner.prepare};
  for (const DatasetSpec& other : project.datasets) {
    if (other.name == dataset->name) continue;
    if (pathOf(other) == request.csv)
      request.otherPart = {request.csv, other, {}};
    else
      request.check.other = pathOf(other).toStdString(), request.check.otherFormat = openingOf(other, {}).format;
    break;
  }
  request.check.targets = targetVariables(project);
  m_preparation->setSteps(owner.prepare, &owner == dataset
                                             ? QString()
                                             : tr("of %1, without its random steps: what is measured is measured there")
                                                   .arg(QString::fromStdString(owner.name)));
  if (const QString key = request.csv + '|' + QString::fromStdString(dataset->name); key != m_openedKey) {
    m_openedKey = key;
    m_preview.reset();
    m_findings.clear();
    m_columns->setChosen({});
    m_status->setText(QStringLiteral("Reading %1").arg(QFileInfo(request.csv).fileName()));
    m_progress->setRange(0, 0);
  }
  m_session->open(std::move(request));
  m_model->setRows({m_session->request().csv, m_session->facts(), m_session->rows(), m_session->classNames()});
  refreshAll();
}

void DataPage::select(const std::string& name) {
  for (int index = 0; index < m_tabs->count(); ++index)
    if (m_tabs->tabData(index).toString().toStdString() == name) m_tabs->setCurrentIndex(index);
}

void DataPage::addCsv(const QString& path) {
  ProjectDocument& document = *context().document;
  m_error->hide();
  DatasetSpec dataset;
  dataset.csv = QFileInfo(path).absoluteFilePath().toStdString();
  const Project& project = document.project();
  dataset.name = !project.dataset("training") ? "training" : !project.dataset("validation") ? "validation" : "";
  for (int number = 3; dataset.name.empty(); ++number)
    if (const std::string name = "data" + std::to_string(number); !project.dataset(name)) dataset.name = name;
  const Outcome outcome = document.addDataset(dataset);
  if (!outcome) {
    m_error->setText(outcome.reason);
    m_error->show();
    return;
  }
  if (dataset.name == "validation" && document.project().training.validation.empty())
    document.setValidation("validation");
  select(dataset.name);
  offerCopy(QString::fromStdString(dataset.csv));
}

void DataPage::activated() {
  m_shown = true;
  refreshRoles();
  if (m_session->state() != DatasetSession::State::closed) reportProblems();
}

bool DataPage::show(const Place& place) {
  if (!place.dataset.isEmpty()) {
    if (!context().document->project().dataset(place.dataset.toStdString())) return false;
    select(place.dataset.toStdString());
  }
  const int column = m_model->columnOf(place.column.section(':', 0, 0).toStdString());
  if (column >= 0) chooseColumn(m_model->columnName(column));
  m_awaited = place;
  goToAwaited();
  return true;
}

// A table that is still being read is asked again when it stands.
void DataPage::goToAwaited() {
  if (!m_awaited || m_model->rowCount() == 0) return;
  const Place place = *std::exchange(m_awaited, std::nullopt);
  const int row = place.sample >= 0 ? m_model->rowOfFile(place.sample)
                  : place.row > 0   ? m_model->rowOfLine(place.row)
                                    : -1;
  if (row >= 0) m_samples->goToCell(row, m_model->columnOf(place.column.section(':', 0, 0).toStdString()));
}

bool DataPage::filesDropped(const QList<QUrl>& urls) {
  QStringList paths;
  for (const QUrl& url : urls)
    if (url.isLocalFile()) paths += url.toLocalFile();
  return m_importMenu->take(paths);
}

QList<QWidget*> DataPage::areas() const {
  return {m_tabs, &m_columns->view(), m_samples->currentWidget(), m_list};
}

QJsonObject DataPage::saveLayout() const {
  QJsonObject layout;
  layout["kept"] = QJsonArray::fromStringList(QStringList(m_accepted.begin(), m_accepted.end()));
  if (!m_shown) {  // sizes of what was never in sight are nobody's choice
    QJsonObject all = m_restored;
    all["kept"] = layout["kept"];
    return all;
  }
  const auto sizes = [](const QSplitter* splitter) {
    QJsonArray array;
    for (int size : splitter->sizes()) array.append(size);
    return array;
  };
  if (m_sizesChosen) layout["columns"] = sizes(m_splitter);
  layout["preparation"] = sizes(m_vertical);
  layout["form"] = m_samples->form() == SamplesView::Form::grid ? "grid" : "rows";
  layout["picture"] = m_samples->pictureSize();
  layout["dataset"] = QString::fromStdString(currentName());
  return layout;
}

void DataPage::restoreLayout(const QJsonObject& layout) {
  m_restored = layout;
  const auto restore = [&layout](QSplitter* splitter, const char* key) {
    QList<int> sizes;
    for (const auto& size : layout[QLatin1String(key)].toArray()) sizes += size.toInt();
    if (sizes.size() == splitter->count()) splitter->setSizes(sizes);
  };
  restore(m_splitter, "columns");
  m_sizesChosen = layout.contains("columns");
  restore(m_vertical, "preparation");
  if (layout.contains("picture")) m_samples->setPictureSize(layout["picture"].toInt());
  for (const auto& each : layout["kept"].toArray()) m_accepted.insert(each.toString());
  select(layout["dataset"].toString().toStdString());
  if (layout["form"].toString() == QLatin1String("grid")) m_samples->setForm(SamplesView::Form::grid);
  refreshFindings();
}

bool DataPage::settled() const {
  return m_session->state() != DatasetSession::State::opening && !m_session->looking() && !m_import->running() &&
         !m_measure->busy() && !m_model->busy() && m_preparation->settled() && !m_diagnosis.busy() &&
         !m_previewing.busy() && !m_changing.busy();
}

void DataPage::toggleLeftPanel() {
  m_columnsPanel->setVisible(!m_columnsPanel->isVisible());
}
void DataPage::toggleInspector() {
  m_doctorPanel->setVisible(!m_doctorPanel->isVisible());
}

}  // namespace loom

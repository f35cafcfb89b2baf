#include "app/pages/data/data_page.h"

#include <QAction>
#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QLabel>
#include <QProgressBar>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <algorithm>
#include <cmath>

#include "app/pages/data/column_card.h"
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
#include "engine/data/loader.h"
#include "widgets/controls/button.h"
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
  connect(m_import, &ImportTask::progressed, this, [this](qint64 done, qint64 total) {
    m_progress->setRange(0, static_cast<int>(std::max<qint64>(1, total / 100)));
    m_progress->setValue(static_cast<int>(done / 100));
    m_status->setText(QStringLiteral("Importing %1: %L2 of %L3").arg(m_import->what()).arg(done).arg(total));
    showState();
  });
  connect(m_import, &ImportTask::finished, this, [this](const QString& csv, qint64 rows) {
    addCsv(csv);
    this->context().notify({counted(rows, QStringLiteral("samples")) + QStringLiteral(" imported"), {}, {}});
  });
  connect(m_import, &ImportTask::failed, this, [this](const QString& message) {
    m_error->setText(message);
    m_error->show();
    showState();
  });
  connect(m_session, &DatasetSession::schemaKnown, this, [this] { showColumns(), showState(); });
  connect(m_session, &DatasetSession::progressed, this, [this] {
    const CacheProgress& progress = m_session->progress();
    m_progress->setRange(0, static_cast<int>(std::max<std::int64_t>(1, progress.rowsTotal / 100)));
    m_progress->setValue(static_cast<int>(progress.rowsDone / 100));
    m_status->setText(QStringLiteral("Reading: %1, %L2 rows/s")
                          .arg(counted(progress.rowsDone, QStringLiteral("rows")))
                          .arg(std::llround(progress.rowsPerSecond)));
    showState();
  });
  connect(m_session, &DatasetSession::opened, this, [this] {
    m_model->setDataset(m_session->dataset());
    m_model->setClassNames(m_session->classNames());
    m_preparation->setSample(m_session->dataset(), 0);
    Q_EMIT statusChanged(counted(m_model->rowCount(), QStringLiteral("rows")));  // of the file before nothing holds
    showColumns();
    showState();
  });
  connect(m_session, &DatasetSession::failed, this, [this] {
    m_model->setText(m_session->text());
    showState();
    reportProblems();
  });
  connect(m_session, &DatasetSession::measured, this, [this] {
    std::map<std::string, std::int64_t> classes;
    for (const VariableStats& stats : m_session->stats()) {
      for (ColumnCard* card : m_cards)
        if (card->variable().name == stats.variable) card->setStats(stats);
      if (!stats.classes.empty()) classes[stats.variable] = static_cast<std::int64_t>(stats.classes.size());
    }
    if (this->context().knownColumns) this->context().knownColumns->learn(currentName(), m_session->schema(), classes);
    makeRoomForTable();
    showFeeds();
  });
  connect(m_session, &DatasetSession::checkProgressed, this, [this] { showDoctor(); });
  connect(m_session, &DatasetSession::checked, this, [this] {
    const auto& report = m_session->report();
    showFindings();
    m_model->setReport(report ? &*report : nullptr);
    showDoctor();
    reportProblems();
  });
  connect(m_findings, &FindingsList::lineChosen, this, [this](qint64 line) {
    if (const int row = m_model->rowOfLine(line); row >= 0) m_samples->goToRow(row);
  });
  connect(m_samples, &SamplesView::rowChosen, this, [this](int row) {
    m_preparation->setSample(m_session->dataset(), row);
    Q_EMIT statusChanged(QStringLiteral("Row %L1 of %L2").arg(row + 1).arg(m_model->rowCount()));
  });
  connect(m_samples, &SamplesView::columnChosen, this, &DataPage::showChosen);
  connect(m_splitter, &QSplitter::splitterMoved, this, [this] { m_sizesChosen = true; });
  connect(m_samples, &SamplesView::formChanged, this,
          [this] { m_form->setCurrent(m_samples->form() == SamplesView::Form::grid); });
  connect(m_form, &SegmentedControl::currentChanged, this,
          [this](int index) { m_samples->setForm(index == 1 ? SamplesView::Form::grid : SamplesView::Form::rows); });
  m_findings->setActions([this](const Fault& fault) { return actionsFor(fault); });
  connect(m_preparation, &PreparationPanel::measureWanted, this, &DataPage::measure);
  connect(m_measure, &PrepareMeasure::known, m_preparation, &PreparationPanel::setMeasured);
  // What the measuring cannot do, the steps as they are say with the place.
  connect(m_measure, &PrepareMeasure::failed, this,
          [this](const std::vector<Json>& asked) { m_preparation->setMeasured(asked, asked); });
  connect(m_preparation, &PreparationPanel::edited, this,
          [this](const std::vector<Json>& steps) { this->context().document->setPrepare(currentName(), steps); });
  connect(m_tabs, &QTabBar::currentChanged, this, [this] { openCurrent(); });
  connect(m_importMenu, &ImportMenu::csvChosen, this, &DataPage::addCsv);
  m_importMenu->setPlaces(
      [this] { return this->context().document->folder(); },
      // What is made of other files lies in the project's folder, which it has from then on.
      [this](const QString& name) {
        ProjectDocument& document = *this->context().document;
        if (!document.path().isEmpty()) return document.folder();
        const QString folder =
            newProjectFolder(document.name() == ProjectDocument::tr("Untitled") ? name : document.name());
        const Outcome kept = this->context().workspace->saveAs(folder + '/' + QFileInfo(folder).fileName() + ".loom");
        m_error->setText(kept.reason);
        m_error->setVisible(!kept);
        return kept ? folder : QString();
      });
  connect(m_importMenu, &ImportMenu::refused, this,
          [this](const QString& why) { m_error->setText(why), m_error->show(); });
  connect(context.document, &ProjectDocument::changed, this, [this](const ProjectChange& change) {
    if (change.datasets || change.training) followDocument();
    if (!change.networks.empty() || change.networkList) showFeeds();
  });
  connect(context.document, &ProjectDocument::opened, this, &DataPage::followDocument);
  followDocument();
}

DataPage::~DataPage() = default;

void DataPage::makeActions() {
  addCommand("data.check", tr("Check all data"), "Ctrl+R", [this] { m_session->checkAgain(), showDoctor(); });
  addCommand("data.next-finding", tr("Next finding"), "Alt+Down", [this] { m_findings->selectNext(1); });
  addCommand("data.previous-finding", tr("Previous finding"), "Alt+Up", [this] { m_findings->selectNext(-1); });
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
  openCurrent();
}

void DataPage::openCurrent() {
  const Project& project = context().document->project();
  const DatasetSpec* dataset = project.dataset(currentName());
  if (!dataset) {
    m_openedKey.clear();
    m_session->close();
    m_model->setDataset(nullptr);
    showColumns();
    showState();
    reportProblems();
    return;
  }
  const QString path = datasetPath(*context().document, *dataset);
  SessionRequest request;
  request.csv = path;
  request.spec = *dataset;
  for (const DatasetSpec& other : project.datasets) {
    if (other.name == dataset->name) continue;
    if (datasetPath(*context().document, other) == path)
      request.otherPart = other;
    else
      request.check.other = datasetPath(*context().document, other).toStdString();
    break;
  }
  request.check.targets = targetVariables(project);
  request.prepare = effectivePrepare(project, *dataset);
  const bool own = dataset->ownPrepare || project.training.updates.empty() ||
                   project.training.updates.front().dataset == dataset->name;
  m_preparation->setSteps(
      effectivePrepare(project, *dataset),
      own ? QString() : QStringLiteral("As the training set, without its random steps. Editing makes them its own."));
  const QString key = QStringLiteral("%1|%2").arg(path, QString::fromStdString(dataset->extra.dump()));
  if (key == m_openedKey) {
    if (findings().size() != m_listed) showFindings();
    showFeeds();
    showState();
    reportProblems();
    return;
  }
  m_openedKey = key;
  m_model->setDataset(nullptr);
  m_findings->setReport(nullptr);
  m_status->setText(QStringLiteral("Reading %1").arg(QFileInfo(path).fileName()));
  m_progress->setRange(0, 0);
  m_session->open(std::move(request));
  showColumns();
  showDoctor();
  showState();
  reportProblems();  // of the one before nothing holds
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
}

void DataPage::activated() {
  showFeeds();
  if (m_session->state() != DatasetSession::State::closed) reportProblems();
}

bool DataPage::show(const Place& place) {
  if (!place.dataset.isEmpty()) {
    if (!context().document->project().dataset(place.dataset.toStdString())) return false;
    select(place.dataset.toStdString());
  }
  if (place.row > 0)
    if (const int row = m_model->rowOfLine(place.row); row >= 0) m_samples->goToRow(row);
  return true;
}

bool DataPage::filesDropped(const QList<QUrl>& urls) {
  QStringList paths;
  for (const QUrl& url : urls)
    if (url.isLocalFile()) paths += url.toLocalFile();
  return m_importMenu->take(paths);
}

QList<QWidget*> DataPage::areas() const {
  return {m_tabs, m_samples->currentWidget(), m_findings};
}

QJsonObject DataPage::saveLayout() const {
  QJsonObject layout;
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
  const auto restore = [&layout](QSplitter* splitter, const char* key) {
    QList<int> sizes;
    for (const auto& size : layout[QLatin1String(key)].toArray()) sizes += size.toInt();
    if (sizes.size() == splitter->count()) splitter->setSizes(sizes);
  };
  restore(m_splitter, "columns");
  m_sizesChosen = layout.contains("columns");
  restore(m_vertical, "preparation");
  if (layout.contains("picture")) m_samples->setPictureSize(layout["picture"].toInt());
  select(layout["dataset"].toString().toStdString());
  if (layout["form"].toString() == QLatin1String("grid")) m_samples->setForm(SamplesView::Form::grid);
}

bool DataPage::settled() const {
  return m_session->state() != DatasetSession::State::opening && !m_session->checking() && !m_import->running() &&
         !m_measure->busy() && !m_model->busy() && m_preparation->settled();
}

void DataPage::toggleLeftPanel() {
  m_columnsPanel->setVisible(!m_columnsPanel->isVisible());
}
void DataPage::toggleInspector() {
  m_doctorPanel->setVisible(!m_doctorPanel->isVisible());
}

}  // namespace loom

// The widgets of the Data page and what they show.
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPointer>
#include <QProgressBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/pages/data/data_empty.h"
#include "app/pages/data/data_page.h"
#include "app/pages/data/findings_list.h"
#include "app/pages/data/import_menu.h"
#include "app/pages/data/known_columns.h"
#include "app/pages/data/preparation_panel.h"
#include "app/pages/data/samples_model.h"
#include "app/pages/data/samples_view.h"
#include "engine/network/dataset_rows.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/elided_label.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/number_field.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kRoomy = 1200, kColumnsWide = 420, kColumnsNarrow = 250, kDoctor = 300;

// As wide as the text is large.
int grown(int pixels, const QWidget* of) {
  return pixels * Theme::of(of).textSize() / 100;
}

QFrame* panel() {
  auto* frame = new QFrame;
  frame->setProperty("kind", "panel");
  return frame;
}

// The line over a part of the page, and the part below it.
QHBoxLayout* headOf(QVBoxLayout* column) {
  auto* head = new QHBoxLayout;
  head->setContentsMargins(12, 6, 12, 6);
  head->setSpacing(8);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  return head;
}

}  // namespace

QWidget* DataPage::makeBar() {
  auto* bar = panel();
  bar->setFixedHeight(Theme::of(this).size(Size::pageBar));
  connect(&Theme::of(this), &Theme::changed, bar, [bar] { bar->setFixedHeight(Theme::of(bar).size(Size::pageBar)); });
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(20, 0, 20, 0);
  row->setSpacing(8);
  m_tabs = new QTabBar;
  m_tabs->setObjectName("datasets");
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  m_tabs->setAccessibleName(QStringLiteral("Datasets"));
  m_path = new ElidedLabel("hint");
  m_path->setObjectName("data-path");
  m_path->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_format = new Button(QString(), ButtonKind::link);
  m_format->setObjectName("csv-format");
  m_format->setToolTip(tr("How the CSV is written: separator, decimal mark, encoding. A click chooses otherwise."));
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
  row->addWidget(m_tabs);
  row->addSpacing(8);
  row->addWidget(m_path, 1);
  row->addWidget(m_format);
  row->addSpacing(8);
  row->addWidget(m_removeButton);
  row->addWidget(m_importButton);
  row->addWidget(m_checkButton);
  row->addWidget(m_splitButton);
  connect(m_format, &QPushButton::clicked, this, &DataPage::openFormat);
  connect(m_splitButton, &QPushButton::clicked, this, &DataPage::offerSplit);
  connect(m_checkButton, &QPushButton::clicked, this, [this] { m_session->lookAgain(), refreshAll(); });
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

QWidget* DataPage::makeColumns() {
  m_columnsPanel = panel();
  auto* column = new QVBoxLayout(m_columnsPanel);
  auto* head = headOf(column);
  head->addWidget(makeLabel("heading", tr("Columns")));
  m_columnCount = makeLabel("hint");
  head->addWidget(m_columnCount);
  head->addStretch();
  m_search = new SearchField(tr("Search columns"), QStringLiteral("/"));
  m_search->setObjectName("search-columns");
  m_search->setMinimumWidth(90);
  m_search->setMaximumWidth(200);
  head->addWidget(m_search, 3);
  m_columns = new ColumnList;
  column->addWidget(m_columns, 1);
  m_roleBar = new QWidget;
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  m_roleBar->setSizePolicy(policy);
  auto* foot = new FlowLayout(m_roleBar, 6);
  foot->setContentsMargins(12, 6, 12, 6);
  m_role = new SegmentedControl({tr("Learn from"), tr("Predict"), tr("Leave out")});
  m_role->setObjectName("column-role");
  m_role->setAccessibleName(tr("What the column is for"));
  m_rename = new Button(tr("Rename"), ButtonKind::plain);
  m_rename->setObjectName("rename-column");
  foot->addWidget(m_role);
  foot->addWidget(m_rename);
  m_roleBar->hide();
  column->addWidget(hairline());
  column->addWidget(m_roleBar);
  const auto keepRoom = [this] { m_columnsPanel->setMinimumWidth(grown(kColumnsNarrow, this)); };
  keepRoom();
  connect(&Theme::of(this), &Theme::changed, this, keepRoom);
  return m_columnsPanel;
}

QWidget* DataPage::makeRows() {
  auto* rows = panel();
  auto* column = new QVBoxLayout(rows);
  auto* head = headOf(column);
  head->addWidget(makeLabel("heading", tr("Rows")));
  m_rowCount = makeLabel("hint");
  m_rowCount->setObjectName("row-range");
  head->addWidget(m_rowCount);
  m_progress = new QProgressBar;
  m_progress->setTextVisible(false);
  m_progress->setFixedHeight(6);
  m_progress->setMaximumWidth(160);
  m_stop = new Button(tr("Stop"), ButtonKind::link);
  m_stop->setObjectName("stop-looking");
  connect(m_stop, &QPushButton::clicked, this, [this] {
    if (m_import->running()) return m_import->cancel(), showState();
    m_session->stopLooking();
  });
  head->addWidget(m_progress);
  head->addWidget(m_stop);
  head->addStretch();
  m_line = new NumberField(NumberField::Kind::integer);
  m_line->setObjectName("go-to-line");
  m_line->setPlaceholderText(tr("Line"));
  m_line->setAccessibleName(tr("Go to the line of the file"));
  m_line->setFixedWidth(90);  // its words fit at any text size, and the room is needed
  head->addWidget(m_line);
  m_form = new SegmentedControl({QStringLiteral("Rows"), QStringLiteral("Grid")});
  head->addWidget(m_form);
  m_model = new SamplesModel(this);
  m_samples = new SamplesView(m_model);
  auto* waiting = new QWidget;
  auto* waitingLayout = new QVBoxLayout(waiting);
  m_status = makeLabel("hint");
  m_status->setObjectName("data-status");
  m_status->setAlignment(Qt::AlignCenter);
  m_status->setWordWrap(true);
  waitingLayout->addWidget(m_status);
  m_centre = new QStackedWidget;
  m_centre->addWidget(m_samples);
  m_centre->addWidget(waiting);
  column->addWidget(hairline());
  column->addWidget(m_centre, 1);
  return rows;
}

QWidget* DataPage::makeDoctor() {
  m_doctorPanel = panel();
  auto* column = new QVBoxLayout(m_doctorPanel);
  auto* head = headOf(column);
  m_doctorTitle = makeLabel("heading", QStringLiteral("Doctor"));
  m_doctorTitle->setObjectName("doctor");
  m_doctorTitle->setWordWrap(true);
  const auto keepRoom = [this] { m_doctorTitle->setMinimumHeight(Theme::of(this).size(Size::field)); };
  keepRoom();
  connect(&Theme::of(this), &Theme::changed, m_doctorTitle, keepRoom);
  head->addWidget(m_doctorTitle, 1);
  m_list = new FindingsList;
  column->addWidget(hairline());
  column->addWidget(m_list, 1);
  m_doctorPanel->setMinimumWidth(230);
  return m_doctorPanel;
}

void DataPage::makeLayout() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  m_error = makeLabel("error", {}, nullptr, Wrap::yes);
  m_error->setObjectName("data-error");
  m_error->setContentsMargins(20, 8, 20, 8);
  m_error->hide();
  column->addWidget(m_error);
  m_copyBar = panel();
  auto* copyRow = new QHBoxLayout(m_copyBar);
  copyRow->setContentsMargins(20, 4, 20, 4);
  m_copyText = makeLabel("hint", {}, nullptr, Wrap::yes);
  auto* copy = new Button(tr("Copy into the project"), ButtonKind::link);
  copy->setObjectName("copy-into-project");
  auto* leave = new Button(tr("Leave it there"), ButtonKind::link);
  leave->setObjectName("leave-csv-there");
  copyRow->addWidget(m_copyText, 1);
  copyRow->addWidget(copy);
  copyRow->addWidget(leave);
  m_copyBar->hide();
  connect(copy, &QPushButton::clicked, this, &DataPage::copyIntoProject);
  connect(leave, &QPushButton::clicked, m_copyBar, &QWidget::hide);
  column->addWidget(m_copyBar);
  m_splitter = new QSplitter(Qt::Horizontal);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->addWidget(makeColumns());
  m_splitter->addWidget(makeRows());
  m_splitter->addWidget(makeDoctor());
  m_splitter->setStretchFactor(1, 1);
  m_splitter->setSizes({kColumnsWide, 600, kDoctor});
  m_preparation = new PreparationPanel;
  m_vertical = new QSplitter(Qt::Vertical);
  m_vertical->setChildrenCollapsible(false);
  m_vertical->addWidget(m_splitter);
  m_vertical->addWidget(m_preparation);
  m_vertical->setStretchFactor(0, 1);
  m_vertical->setSizes({520, 230});
  auto* emptyImport = new Button(QStringLiteral("import"), QStringLiteral("Import…"), ButtonKind::tinted);
  emptyImport->setMenu(m_importMenu);
  m_stack = new QStackedWidget;
  m_stack->addWidget(m_vertical);
  m_stack->addWidget(new DataEmpty(emptyImport));
  column->addWidget(m_stack, 1);
}

void DataPage::showState() {
  const bool any = m_tabs->count() > 0, importing = m_import->running();
  const auto& facts = m_session->facts();
  m_stack->setCurrentIndex(any || importing ? 0 : 1);
  m_centre->setCurrentIndex(facts && !importing ? 0 : 1);
  const bool making = m_session->state() == DatasetSession::State::opening;
  m_progress->setVisible(importing || (any && (m_session->looking() || making)));
  m_stop->setVisible(importing || m_session->looking());
  if (!importing && m_session->looking() && facts) {
    m_progress->setRange(0, 1000);
    m_progress->setValue(static_cast<int>(1000 * facts->bytesDone / std::max<std::int64_t>(1, facts->bytesTotal)));
  } else if (!importing && making) {
    const CacheProgress& progress = m_session->progress();
    m_progress->setRange(0, static_cast<int>(progress.rowsTotal / 100));
    m_progress->setValue(static_cast<int>(progress.rowsDone / 100));
  }
  if (const auto& error = m_session->unreadable(); error && !importing) {
    const DatasetSpec* const dataset = context().document->project().dataset(currentName());
    const std::string origin =
        dataset && !QFileInfo::exists(m_session->request().csv) ? originOf(*dataset) : std::string();
    m_status->setText(QString::fromStdString(origin.empty() ? error->what() : error->what() + ("\n\n" + origin)));
  }
  if (const auto dataset = m_session->dataset(); dataset && !facts && !m_session->looking())
    m_status->setText(
        tr("%1 are packed in %2; it was made without its CSV, so there are no columns to look at")
            .arg(counted(dataset->size(), tr("samples")), QFileInfo(m_session->request().csv).fileName()));
  for (QWidget* each :
       {static_cast<QWidget*>(m_tabs), static_cast<QWidget*>(m_path), static_cast<QWidget*>(m_removeButton),
        static_cast<QWidget*>(m_importButton), static_cast<QWidget*>(m_checkButton)})
    each->setVisible(any);
  m_form->setVisible(m_samples->hasPictures());
  const bool noValidation = context().document->project().training.validation.empty();
  m_splitButton->setVisible(any && noValidation && facts && facts->rows > 1);
  m_splitButton->setKind(noValidation ? ButtonKind::tinted : ButtonKind::outlined);
  m_checkButton->setKind(noValidation ? ButtonKind::outlined : ButtonKind::tinted);
  const QString file = QFileInfo(m_session->request().csv).fileName();
  m_path->setToolTip(m_session->request().csv);
  m_format->setVisible(facts != nullptr);
  if (!facts) return m_path->setText(file);
  QString read = QStringLiteral("%1    %2, %3, %4")
                     .arg(file, counted(m_model->rowCount(), tr("rows")),
                          counted(static_cast<qint64>(facts->columns.size()), tr("columns")),
                          formatBytes(static_cast<double>(facts->bytesTotal)));
  if (const auto dataset = m_session->dataset();
      dataset && m_session->state() == DatasetSession::State::ready && dataset->size() != m_model->rowCount())
    read += tr(", %1 used").arg(counted(dataset->size(), tr("rows")));
  if (facts->whole) read += tr(", read in %1").arg(formatDuration(facts->seconds));
  m_path->setText(read);
  m_format->setText(QString::fromStdString(facts->format.text()));
}

void DataPage::showColumns() {
  const auto& facts = m_session->facts();
  m_columns->setFacts(facts);
  m_columnCount->setText(facts ? QStringLiteral("%L1").arg(facts->columns.size()) : QString());
  const std::string& chosen = m_columns->chosen();
  m_roleBar->setVisible(facts && facts->find(chosen));
  if (!m_roleBar->isHidden()) {
    const ColumnMark mark = m_roles.marks.contains(chosen) ? m_roles.marks.at(chosen) : ColumnMark{};
    m_showingRole = true;
    m_role->setCurrent(mark.leftOut ? 2 : mark.target ? 1 : 0);
    m_showingRole = false;
  }
  // The figures of a table want their room; what a person has set stays.
  QList<int> sizes = m_splitter->sizes();
  const int wanted = grown(width() < grown(kRoomy, this) ? kColumnsNarrow : kColumnsWide, this);
  if (m_sizesChosen || sizes.size() != 3 || sizes[0] == wanted || width() < 400) return;
  sizes[1] += sizes[0] - wanted;
  sizes[0] = wanted;
  m_splitter->setSizes(sizes);
}

void DataPage::showSample(int row) {
  const auto dataset = m_session->dataset();
  const int sample = m_model->sampleOf(row);
  if (!dataset || sample >= dataset->size()) return;
  std::filesystem::path file = m_model->fileOf(row, ColumnType::picture);
  if (file.empty()) file = m_model->fileOf(row, ColumnType::sound);
  m_preparation->setSample({dataset, sample, std::move(file)});
}

void DataPage::showRange() {
  const int first = m_samples->firstRow(), rows = m_model->rowCount();
  const std::int64_t line = rows > 0 ? m_model->lineOf(first) : 0;
  m_rowCount->setText(line > 0 ? tr("from line %L1").arg(line) : QString());
  const int row = m_samples->currentRow();
  const std::int64_t chosen = row >= 0 && row < rows ? m_model->lineOf(row) : 0;
  const QString all = counted(rows, tr("rows"));
  Q_EMIT statusChanged(chosen > 0 ? tr("Line %L1, %2").arg(chosen).arg(all) : all);
}

void DataPage::chooseColumn(const std::string& column) {
  if (m_columns->chosen() != column) m_columns->setChosen(column);
  const int shown = m_model->columnOf(column);
  if (m_samples->chosenColumn() != shown) m_samples->setChosenColumn(shown);
  showColumns();
  refreshChange();
}

void DataPage::showDoctor() {
  const auto& facts = m_session->facts();
  int errors = 0, warnings = 0;
  for (const DataFinding& each : m_findings) {
    errors += each.shown.kind == ShownFinding::Kind::error;
    warnings += each.shown.kind == ShownFinding::Kind::warning;
  }
  QString text = QStringLiteral("Doctor");
  if (facts && (m_session->looking() || m_session->stopped()) && !facts->whole)
    text = tr("Doctor: of the first %1").arg(counted(facts->rows, tr("rows")));
  else if (facts && errors + warnings == 0 && !m_diagnosis.busy())
    text = QStringLiteral("Doctor: no fault in ") + counted(facts->rows, QStringLiteral("rows"));
  else if (facts || errors > 0)
    text = QStringLiteral("Doctor: %1, %2")
               .arg(counted(errors, QStringLiteral("errors")), counted(warnings, QStringLiteral("warnings")));
  m_doctorTitle->setText(text);
}

}  // namespace loom

// What leaves the Runs page: the table, all points of its charts, pictures of them, curves for TensorBoard.
#include <QDesktopServices>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QMenu>
#include <QSaveFile>
#include <QUrl>
#include <algorithm>

#include "app/pages/runs/run_board.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/runs_page.h"
#include "app/pages/runs/table_csv.h"
#include "app/workspace.h"
#include "engine/exchange/tensorboard/run_scalars.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/document/background.h"
#include "widgets/table/data_table.h"

namespace loom {
namespace {

struct ExportedRun {
  QString folder, name;
};

// Two runs of one name have a folder each.
std::vector<ExportedRun> withOwnNames(std::vector<ExportedRun> runs) {
  QSet<QString> taken;
  for (ExportedRun& each : runs) {
    const QString wanted = each.name;
    for (int number = 2; taken.contains(each.name.toLower()); ++number)
      each.name = QStringLiteral("%1-%2").arg(wanted).arg(number);
    taken.insert(each.name.toLower());
  }
  return runs;
}

}  // namespace

void RunsPage::exportMenu() {
  QMenu menu;
  const auto command = [&](const char* id) {
    QAction* const line = context().commands->addTo(menu, QString::fromLatin1(id), this);
    line->setEnabled(m_rows->rowCount() > 0);
    return line;
  };
  command("runs.export-table");
  command("runs.export-series");
  command("runs.export-tensorboard")
      ->setText(tr("%1 for TensorBoard…").arg(counted(exportedRuns().size(), tr("runs"))));
  menu.addSeparator();
  for (const RunBoard::Chart& each : m_board->charts()) {
    if (each.panel->isHidden()) continue;
    QMenu* const chart = menu.addMenu(m_board->titleOf(each));
    for (const char* kind : {"png", "svg", "csv"})
      connect(chart->addAction(tr("As %1…").arg(QString::fromLatin1(kind).toUpper())), &QAction::triggered, this,
              [panel = each.panel, kind] { panel->exportTo(QString::fromLatin1(kind)); });
  }
  menu.exec(m_export->mapToGlobal(QPoint(0, m_export->height() + 2)));
}

// Those that are selected where several are; else all that the filter leaves.
QStringList RunsPage::exportedRuns() const {
  if (m_table->selectionModel()->selectedRows().size() > 1) return selected();
  QStringList ids;
  for (int row = 0; row < m_rows->rowCount(); ++row) ids << m_rows->runsOf(row);
  ids.removeDuplicates();
  return ids;
}

// Asks where to; the dialog goes by itself.
void RunsPage::askFile(const QString& title, const QString& name, std::function<void(const QString&)> write) {
  auto* dialog = new QFileDialog(window(), title);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  if (name.isEmpty()) {
    dialog->setFileMode(QFileDialog::Directory);
  } else {
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QFileInfo(name).suffix());
    dialog->selectFile(name);
  }
  connect(dialog, &QFileDialog::fileSelected, this, std::move(write));
  dialog->open();
}

void RunsPage::exportTable() {
  askFile(tr("Export the table"), "runs.csv", [this](const QString& file) { writeTable(file); });
}

void RunsPage::writeTable(const QString& file) {
  std::vector<int> columns;
  const QHeaderView* const head = m_table->horizontalHeader();
  for (int place = 0; place < head->count(); ++place)
    if (const int column = head->logicalIndex(place); !m_table->isColumnHidden(column)) columns.push_back(column);
  QSaveFile out(file);
  const QByteArray text = tableCsv(*m_rows, *m_model, columns);
  Q_EMIT m_charts->exported(file, out.open(QIODevice::WriteOnly) && out.write(text) == text.size() && out.commit());
}

void RunsPage::exportSeries() {
  askFile(tr("Export the series"), "series.csv", [this](const QString& file) { writeSeries(file); });
}

// Every point of every line that the charts show, read and written beside the window's thread.
void RunsPage::writeSeries(const QString& file) {
  std::vector<std::function<bool(QIODevice&)>> writers;
  for (const RunBoard::Chart& each : m_board->charts())
    writers.push_back(each.panel->csvWriter(m_board->titleOf(each)));
  const QByteArray head = "chart," + LineChart::csvHead(m_charts->axis()->unit());
  Background<RunsPage>(this).start([file, head, writers = std::move(writers)](const Background<RunsPage>& here) {
    bool written = false;
    try {
      QSaveFile out(file);
      written = out.open(QIODevice::WriteOnly) && out.write(head) == head.size() &&
                std::all_of(writers.begin(), writers.end(), [&](const auto& write) { return write(out); }) &&
                out.commit();
    } catch (const std::exception&) {
      // Not written: that is told.
    }
    here.post([file, written](RunsPage& page) { Q_EMIT page.m_charts->exported(file, written); });
  });
}

void RunsPage::exportTensorBoardDialog() {
  askFile(tr("Folder for TensorBoard"), {}, [this](const QString& folder) { writeTensorBoard(folder); });
}

void RunsPage::writeTensorBoard(const QString& folder) {
  std::vector<ExportedRun> runs;
  for (const QString& id : exportedRuns())
    if (const RunRecord* const run = context().store->find(id); run && run->step > 0)
      runs.push_back({run->folder, run->name});
  if (runs.empty()) return report(tr("None of these runs has a curve yet: nothing was exported"));
  Background<RunsPage>(this).start([folder, runs = withOwnNames(std::move(runs))](const Background<RunsPage>& here) {
    std::int64_t points = 0;
    QString fault;
    try {
      for (const ExportedRun& each : runs)
        points += exportTensorBoard({.run = {each.folder.toStdString()},
                                     .folder = folder.toStdString(),
                                     .name = each.name.toStdString(),
                                     .stop = nullptr})
                      .points;
    } catch (const std::exception& error) {
      fault = QString::fromStdString(error.what());
    }
    const auto count = static_cast<qsizetype>(runs.size());
    here.post([folder, fault, count, points](RunsPage& page) {
      page.report(fault);
      if (fault.isEmpty())
        page.context().notify({tr("%1, %2: tensorboard --logdir %3")
                                   .arg(counted(count, tr("runs")), counted(points, tr("points")), folder),
                               tr("Show"), [folder] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); }});
    });
  });
}

void RunsPage::makeExportCommands() {
  addCommand("runs.export-menu", tr("Export from this page..."), "E", [this] { exportMenu(); });
  addCommand("runs.export-table", tr("Table as CSV..."), {}, [this] { exportTable(); });
  addCommand("runs.export-series", tr("Series of the charts as CSV..."), {}, [this] { exportSeries(); });
  addCommand("runs.export-tensorboard", tr("Runs for TensorBoard..."), {}, [this] { exportTensorBoardDialog(); });
}

}  // namespace loom

// What the window does about other tools: importing their projects and weights, exporting networks and drawings.
#include <QFileDialog>
#include <QFileInfo>
#include <QStandardPaths>
#include <algorithm>

#include "app/main_window.h"
#include "app/pages/data/import_menu.h"
#include "app/pages/network/network_page.h"
#include "app/planned_run.h"
#include "app/project_import.h"
#include "app/shell/export_card.h"
#include "app/shell/import_card.h"
#include "launcher/loom_call.h"
#include "widgets/canvas/drawing_export.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

// What `loom export` says of the file's inputs and outputs, behind the lines of what was written.
QString meaningOfExport(const QByteArray& printed) {
  QStringList sentences;
  for (const QByteArray& line : printed.trimmed().split('\n'))
    if (line.startsWith("input ") || line.startsWith("output ")) sentences << QString::fromUtf8(line);
  return sentences.isEmpty() ? QString() : sentences.join("; ") + ".";
}

constexpr const char* kKey = "import";

QString documents(const ProjectDocument* document) {
  return document && !document->path().isEmpty() ? document->folder()
                                                 : QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
}

}  // namespace

void MainWindow::connectImport() {
  m_import = new ProjectImport(this);
  connect(m_import, &ProjectImport::progressed, this, [this](double share) {
    if (m_import->running())
      m_messages->show(kKey, MessageBars::Kind::information, tr("Importing, %1 %").arg(static_cast<int>(100 * share)),
                       {{tr("Cancel"), [this] {
                           m_import->cancel();
                           m_messages->hide(kKey);
                         }}});
  });
  connect(m_import, &ProjectImport::finished, this, &MainWindow::showImport);
  connect(m_import, &ProjectImport::failed, this, [this](const QString& file, const QString& sentence) {
    m_messages->hide(kKey);
    reportError(kKey, tr("%1 cannot be imported: %2").arg(QFileInfo(file).fileName(), sentence));
  });
  connect(m_import, &ProjectImport::laidOver, this, [this](const LaidOver& result) {
    const auto show = [this, result] {
      delete m_card;
      auto* card = new ImportCard(result, this);
      connect(card, &ImportCard::startWanted, this, [this](const QString& file) {
        m_workspace.document()->setSetting("start_from", file.toStdString());
        m_messages->hide(kKey);
        notify({tr("Training begins with %1.").arg(QFileInfo(file).fileName()), tr("Undo"),
                [this] { m_workspace.document()->undoStack().undo(); }});
      });
      m_card = card;
      card->open(this);
    };
    keepReport(MessageBars::Kind::information,
               tr("%1 was compared with this network.").arg(QFileInfo(result.file).fileName()), show);
  });
}

// Shows the report and leaves a bar that brings it back until the project closes.
void MainWindow::keepReport(MessageBars::Kind kind, const QString& sentence, const std::function<void()>& show) {
  m_messages->show(kKey, kind, sentence, {{tr("Show the report"), show}});
  disconnect(m_importReport);
  m_importReport = connect(&m_workspace, &Workspace::projectClosing, this, [this] {
    m_messages->hide(kKey);
    delete m_card;
  });
  show();
}

void MainWindow::importDialog() {
  const QStringList files =
      QFileDialog::getOpenFileNames(this, tr("Import a model, weights or data"), documents(m_workspace.document()),
                                    tr("All files (*)") + ";;" + ProjectImport::filter() + ";;" +
                                        tr("Weights (*.safetensors)") + ";;" + ImportMenu::tableFilter());
  QList<QUrl> urls;
  for (const QString& file : files) urls << QUrl::fromLocalFile(file);
  if (!urls.isEmpty()) takeFiles(urls);
}

void MainWindow::importProject(const QString& file) {
  m_messages->hide(kKey);
  if (ProjectImport::holdsWeights(file)) {
    ProjectDocument* const document = m_workspace.document();
    if (!document || document->project().training.updates.empty())
      return reportError(kKey, tr("%1 holds weights: open the project whose network they are for, then drop it again.")
                                   .arg(QFileInfo(file).fileName()));
    m_import->layOver(file, document->project(), document->project().training.updates.front().network);
  } else {
    m_import->start(file);
  }
  m_messages->show(kKey, MessageBars::Kind::information, tr("Importing %1").arg(QFileInfo(file).fileName()),
                   {{tr("Cancel"), [this] {
                       m_import->cancel();
                       m_messages->hide(kKey);
                     }}});
}

// The project is opened as unsaved work; what became of the file stands on a card.
void MainWindow::showImport(const QString& file, const std::shared_ptr<const Imported>& imported) {
  m_messages->hide(kKey);
  const QString name = QFileInfo(file).completeBaseName();
  if (const Outcome opened = m_workspace.openImported(*imported, name); !opened)
    return report("open", opened, [this, file] { importProject(file); });
  showPage("network");
  const auto show = [this, imported, name = QFileInfo(file).fileName()] {
    delete m_card;
    auto* card = new ImportCard(name, imported->report, imported->project, this);
    connect(card, &ImportCard::wanted, this, [this](const Place& place) { go(place); });
    m_card = card;
    card->open(this);
  };
  const std::size_t open = imported->report.count(ReportItem::Kind::untranslatable);
  keepReport(open ? MessageBars::Kind::warning : MessageBars::Kind::information,
             open ? tr("Imported from %1: %2 to be done by hand.")
                        .arg(QFileInfo(file).fileName(), counted(static_cast<qint64>(open), tr("things")))
                  : tr("Imported from %1: all of it is here.").arg(QFileInfo(file).fileName()),
             show);
}

void MainWindow::exportDialog() {
  exportModel({});
}

// `run`: whose weights are meant; empty = the best run of the project.
void MainWindow::exportModel(const QString& run) {
  ProjectDocument* const document = m_workspace.document();
  const RunRecord* const meant = m_workspace.store().find(run);
  if (!document && !meant) return;
  QList<RunRecord> runs = m_workspace.runs();
  const bool isOurs =
      std::any_of(runs.begin(), runs.end(), [&](const RunRecord& each) { return meant && each.id == meant->id; });
  if (meant && !isOurs) runs = {*meant};
  delete m_card;
  auto* const card = new ExportCard({.runs = runs,
                                     .chosen = run,
                                     .folder = documents(document),
                                     .name = meant ? meant->name : document->name(),
                                     .project = document != nullptr},
                                    *m_workspace.context().runMetrics, this);
  connect(card, &ExportCard::wanted, this, &MainWindow::exportTo);
  m_card = card;
  card->openOver(this);
}

// By `loom`, which has the weights of a run, or makes those that training would begin with.
void MainWindow::exportTo(const ExportWish& wish) {
  const QString ending = QFileInfo(wish.file).suffix().toLower();
  const QString option = ending == "py"            ? "--pytorch"
                         : ending == "onnx"        ? "--onnx"
                         : ending == "safetensors" ? "--safetensors"
                                                   : QString();
  const QString name = QFileInfo(wish.file).fileName();
  if (option.isEmpty())
    return reportError("export",
                       tr("%1: a PyTorch script ends in .py, ONNX in .onnx, weights in .safetensors.").arg(name));
  const RunRecord* const run = m_workspace.store().find(wish.run);
  if (!run && !save()) return;
  auto* const call = new LoomCall({}, this);
  connect(call, &LoomCall::answered, this,
          [this, call, name, words = run ? tr("%1: %2").arg(run->name, wordsOf(*run, wish.weights)) : QString()](
              const QByteArray& printed) {
            call->deleteLater();
            m_messages->hide("export");
            notify({words.isEmpty() ? tr("%1 written, with the weights that training would begin with").arg(name)
                                    : tr("%1 written, with the weights of %2").arg(name, words),
                    {},
                    {}});
            if (const QString meaning = meaningOfExport(printed); !meaning.isEmpty())
              m_messages->show("export", MessageBars::Kind::information, name + ": " + meaning);
          });
  connect(call, &LoomCall::refused, this, [this, call, name](const QString& sentence) {
    reportError("export", tr("%1 was not written: %2").arg(name, sentence));
    call->deleteLater();
  });
  QStringList arguments{"export", run ? run->folder : m_workspace.document()->path(), option, wish.file};
  if (run) arguments << "--checkpoint" << QString::fromLatin1(toKey(wish.weights));
  call->start(arguments);
}

// The project as the run was started, as new work: what is open is closed as for any other project.
void MainWindow::openDrawing(const QString& id) {
  const RunRecord* const run = m_workspace.store().find(id);
  if (!run) return;
  Outcome opened = Outcome::done();
  try {
    ReadProject read = readProject(projectOf(plannedAs(*run)).dump(), run->name.toStdString());
    if (!read.readable)
      throwError(ErrorCode::badProject, "{}",
                 read.problems.empty() ? std::string("it is empty") : read.problems.front().message);
    Imported drawing;
    drawing.project = std::move(read.project);
    opened = m_workspace.openImported(drawing, run->name);
  } catch (const Error& error) {
    opened =
        Outcome::refused(tr("The drawing of %1 cannot be opened: %2").arg(run->name, QString::fromUtf8(error.what())));
  }
  if (!opened) return report("open", opened, [this, id] { openDrawing(id); });
  showPage("network");
}

// What pages ask for by name: "export-model" and "open-drawing" take {"run": id}.
void MainWindow::addRunCommands() {
  const auto add = [this](const char* name, const QString& text, auto act) {
    m_commands->add(
        {.id = QString::fromLatin1(name), .group = tr("Train"), .text = text, .keys = {}, .scope = {}, .icon = {}},
        this, Commands::Run([this, act](const QJsonObject& arguments) {
          const QString named = arguments.value(QStringLiteral("run")).toString();
          act(named.isEmpty() ? m_workspace.currentRun() : named);
        }));
  };
  add("export-model", tr("Export the model of a run..."), [this](const QString& run) { exportModel(run); });
  add("open-drawing", tr("Open the drawing of a run"), [this](const QString& run) { openDrawing(run); });
}

void MainWindow::exportDrawingDialog() {
  ProjectDocument* const document = m_workspace.document();
  if (!document) return;
  QString chosen;
  QString file = QFileDialog::getSaveFileName(
      this, tr("Export the drawing"), documents(document) + '/' + document->name() + ".svg",
      QStringList{tr("Drawing (*.svg)"), tr("Paper (*.pdf)"), tr("Picture (*.png)")}.join(";;"), &chosen);
  if (file.isEmpty()) return;
  if (QFileInfo(file).suffix().isEmpty()) file += chosen.section("*", 1).chopped(1);
  exportDrawing(file);
}

void MainWindow::exportDrawing(const QString& file) {
  ProjectDocument* const document = m_workspace.document();
  if (!document) return;
  const auto* const network = qobject_cast<NetworkPage*>(page("network"));
  const std::string name = network ? network->scene().networkName()
                           : document->project().training.updates.empty()
                               ? "main"
                               : document->project().training.updates.front().network;
  // Twice as many pixels as the canvas has: sharp on every screen and on paper.
  if (const Outcome written = loom::exportDrawing(*document, {.network = name, .file = file, .scale = 2}); !written)
    return reportError("export", written.reason);
  m_messages->hide("export");
  notify({tr("%1 written").arg(QFileInfo(file).fileName()), {}, {}});
}

}  // namespace loom

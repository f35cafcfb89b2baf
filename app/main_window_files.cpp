// What the window does about files: projects that are opened, saved, changed by others, left behind by a crash; folders
// of runs.
#include <QDesktopServices>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>
#include <QUrl>

#include "app/main_window.h"
#include "app/project_import.h"
#include "app/samples.h"
#include "app/shell/message_bar.h"
#include "app/shell/name_card.h"
#include "app/shell/top_bar.h"
#include "engine/base/error.h"
#include "widgets/controls/button.h"
#include "widgets/controls/notice.h"

namespace loom {
namespace {

// As a person writes it: "~/Documents/Gradloom/digits".
QString shortPath(const QString& path) {
  const QString home = QDir::homePath();
  return path.startsWith(home + '/') ? "~" + path.mid(home.size()) : path;
}

void showFolder(const QString& folder) {
  QDesktopServices::openUrl(QUrl::fromLocalFile(folder));
}

}  // namespace

// Also what another tool wrote, by whatever way it was named: the command line, the dialogue, a file dropped.
void MainWindow::openProject(const QString& path, Workspace::Copy copy) {
  if (!path.endsWith(".loom", Qt::CaseInsensitive) && (ProjectImport::takes(path) || ProjectImport::holdsWeights(path)))
    return importProject(path);
  if (const Outcome opened = m_workspace.openProject(path, copy); !opened)
    report("open", opened, [this, path, copy] { openProject(path, copy); });
  else
    m_messages->hide("open");
}

void MainWindow::openDialog() {
  const QString start = m_workspace.document() ? m_workspace.document()->folder() : QString();
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Open a project"), start,
      tr("Projects (*.loom)") + ";;" + ProjectImport::filter() + ";;" + tr("All files (*)"));
  if (!path.isEmpty()) openProject(path);
}

bool MainWindow::newProject() {
  const Outcome made = m_workspace.newProject();
  if (!made) report("open", made, [this] { newProject(); });
  return bool(made);
}

void MainWindow::closeProject() {
  if (const Outcome closed = m_workspace.closeProject(); !closed) report("save", closed, [this] { closeProject(); });
}

bool MainWindow::save(ProjectDocument::Overwrite foreignChanges) {
  if (m_workspace.isDraft()) {
    askName();
    return false;
  }
  const Outcome saved = m_workspace.save(foreignChanges);
  if (!saved)
    report("save", saved);
  else
    for (const char* key : {"save", "outside"}) m_messages->hide(key);
  return static_cast<bool>(saved);
}

void MainWindow::reload() {
  if (!m_workspace.document()) return;
  if (const Outcome read = m_workspace.document()->reload(); !read) return reportError("save", read.reason);
  for (const char* key : {"save", "outside"}) m_messages->hide(key);
  notify({tr("%1 is what the file holds now.").arg(m_workspace.document()->name()), tr("Undo"),
          [this] { m_workspace.document()->undoStack().undo(); }});
}

void MainWindow::saveAsDialog() {
  ProjectDocument* const document = m_workspace.document();
  if (!document) return;
  const QString start = document->path().isEmpty() ? document->name() + ".loom" : document->path();
  QString path = QFileDialog::getSaveFileName(this, tr("Save the project as"), start, tr("Projects (*.loom)"));
  if (path.isEmpty()) return;
  if (!path.endsWith(".loom")) path += ".loom";
  saveTo(path);
}

bool MainWindow::saveTo(const QString& path) {
  const Outcome saved = m_workspace.saveAs(path);
  if (!saved)
    report("save", saved, [this, path] { saveTo(path); });
  else
    for (const char* key : {"save", "outside"}) m_messages->hide(key);
  return static_cast<bool>(saved);
}

void MainWindow::renameProject() {
  askName();
}

// Beside the name in the top bar, which it is about.
void MainWindow::askName(const std::function<void()>& then) {
  ProjectDocument* const document = m_workspace.document();
  if (!document) return;
  const bool draft = m_workspace.isDraft();
  NameCard::Question question{
      .title = draft ? tr("What is the project called?") : tr("Rename the project"),
      .name = draft ? m_workspace.suggestedName() : document->name(),
      .place = draft ? tr("It gets a folder of this name in %1.").arg(shortPath(projectsFolder()))
                     : tr("Its file stays in %1; its data and runs stay with it.").arg(shortPath(document->folder())),
      .action = then    ? tr("Save and go on")
                : draft ? tr("Save")
                        : tr("Rename"),
      .elsewhere = draft,
      .fault = [this](const QString& name) { return m_workspace.faultOfName(name); }};
  delete m_card;
  auto* card = new NameCard(question, this);
  connect(card, &NameCard::wanted, this, [this, card, then](const QString& name) {
    const Outcome named = m_workspace.nameProject(name);
    // A file that could not be written is told in the bar, with what can be done.
    const bool told = m_workspace.document()->saveState() == ProjectDocument::SaveState::failed;
    if (!named && !told) return card->refuse(named.reason);
    card->close();
    if (!named) return;
    for (const char* key : {"save", "outside"}) m_messages->hide(key);
    if (then) then();
  });
  connect(card, &NameCard::elsewhereWanted, this, [this, card] {
    card->close();
    saveAsDialog();
  });
  m_card = card;
  card->openAt(&m_topBar->projectButton());
}

void MainWindow::report(const QString& key, const Outcome& refused, const std::function<void()>& then) {
  ProjectDocument* const document = m_workspace.document();
  if (!document || document->saveProblem().isEmpty() || refused.reason != document->saveProblem())
    return reportError(key, refused.reason);
  QList<MessageBars::Remedy> remedies;
  if (const QString folder = document->missingFolder(); !folder.isEmpty())
    remedies << MessageBars::Remedy{tr("Create it"), [this, folder, key, then] {
                                      if (!QDir().mkpath(folder))
                                        return reportError("save", tr("%1 cannot be created").arg(folder));
                                      if (key == "save" && then)
                                        then();
                                      else if (save() && then)
                                        then();
                                    }};
  if (document->changedOutside()) {
    remedies << MessageBars::Remedy{tr("Overwrite it"), [this, then] {
                                      if (save(ProjectDocument::Overwrite::allow) && then) then();
                                    }};
    remedies << MessageBars::Remedy{tr("Reload it"), [this] { reload(); }};
  }
  remedies << MessageBars::Remedy{tr("Save elsewhere..."), [this] { saveAsDialog(); }};
  m_messages->hide("outside");
  m_messages->show(
      "save", MessageBars::Kind::error,
      document->changedOutside() ? refused.reason : tr("%1 is not saved: %2").arg(document->name(), refused.reason),
      remedies);
}

void MainWindow::tellForeignChange() {
  if (!m_messages->text("save").isEmpty()) return;  // said already, where it could not be saved
  ProjectDocument& document = *m_workspace.document();
  QList<MessageBars::Remedy> remedies{{tr("Reload it"), [this] { reload(); }}};
  if (document.isModified())
    remedies << MessageBars::Remedy{tr("Overwrite it"), [this] { save(ProjectDocument::Overwrite::allow); }};
  m_messages->hide("elsewhere");
  m_messages->show("outside", MessageBars::Kind::warning,
                   document.isModified()
                       ? tr("%1 was changed by another program, and here. Reloading is a step that Undo takes back.")
                             .arg(QFileInfo(document.path()).fileName())
                       : tr("%1 was changed by another program.").arg(QFileInfo(document.path()).fileName()),
                   remedies);
}

void MainWindow::tellCopy(const QString& original, bool made) {
  const QString folder = m_workspace.document()->folder(), name = QFileInfo(original).completeBaseName();
  if (made) {
    m_messages->show(
        "copy", MessageBars::Kind::information,
        tr("This is your own copy of %1, in %2. The original stays as it is.").arg(name, shortPath(folder)),
        {{tr("Show folder"), [folder] { showFolder(folder); }}});
  } else {
    notify({tr("Your copy of %1, in %2").arg(name, shortPath(folder)), tr("Fresh copy"),
            [this, original] { openProject(original, Workspace::Copy::fresh); }});
  }
}

void MainWindow::tellKept() {
  m_notice->show(
      tr("Kept among the drafts: the start page lists them"), tr("Show"), [this] { showPage("start"); }, this);
}

void MainWindow::offerRecovery(const QDateTime& time) {
  m_messages->show(
      "recovery", MessageBars::Kind::warning,
      tr("Changes of %1 were not saved when Gradloom ended.").arg(QLocale().toString(time, "yyyy-MM-dd HH:mm")),
      {{tr("Recover them"),
        [this] {
          ProjectDocument* const document = m_workspace.document();
          if (!document) return;
          if (const Outcome recovered = document->recover(); !recovered) return report("recovery", recovered);
          offerFurtherRecovery();
        }},
       {tr("Discard them"), [this] { discardRecovery(); }}});
}

// More than one crash may have left something.
void MainWindow::offerFurtherRecovery() {
  ProjectDocument* const document = m_workspace.document();
  if (const auto time = document ? document->recoverable() : std::nullopt) offerRecovery(*time);
}

void MainWindow::discardRecovery() {
  ProjectDocument* const document = m_workspace.document();
  if (!document) return;
  const auto kept = document->recovery();
  document->discardOffered();
  offerFurtherRecovery();
  if (!kept) return;
  notify({tr("The changes of %1 are discarded").arg(QLocale().toString(kept->time, "yyyy-MM-dd HH:mm")), tr("Undo"),
          [document = QPointer<ProjectDocument>(document), kept] {
            if (document) document->restoreRecovery(*kept);
          }});
}

// Autosave, say, of a disk that is full.
void MainWindow::tellSaveState() {
  const ProjectDocument* const document = m_workspace.document();
  if (!document) return;
  if (document->saveState() == ProjectDocument::SaveState::failed) {
    if (m_messages->text("save").isEmpty()) report("save", Outcome::refused(document->saveProblem()));
  } else if (document->saveState() == ProjectDocument::SaveState::saved) {
    m_messages->hide("save");
  }
}

void MainWindow::offerUnsaved() {
  for (const Orphan& each : RecoveryFile::orphans()) {
    const QString key = "unsaved-" + QFileInfo(each.file).completeBaseName();
    m_messages->show(key, MessageBars::Kind::warning,
                     tr("%1 of %2 was never saved when Gradloom ended.")
                         .arg(each.name, QLocale().toString(each.time, "yyyy-MM-dd HH:mm")),
                     {{tr("Open it"),
                       [this, each] {
                         if (const Outcome opened = m_workspace.openUnsaved(each); !opened) report("open", opened);
                       }},
                      {tr("Discard it"), [this, each] { discardUnsaved(each); }}});
  }
}

void MainWindow::discardUnsaved(const Orphan& orphan) {
  std::string text;
  try {
    text = RecoveryFile::read(orphan);
  } catch (const Error&) {
    return RecoveryFile::remove(orphan);  // nothing that could come back
  }
  RecoveryFile::remove(orphan);
  // Not of the project that is open, so it does not end with it.
  m_notice->show(
      tr("%1 is discarded").arg(orphan.name), tr("Undo"),
      [this, orphan, text] {
        RecoveryFile::restore(orphan, text);
        offerUnsaved();
      },
      this);
}

bool MainWindow::leave() {
  keepLayout();
  ProjectDocument* const document = m_workspace.document();
  if (!document || !document->isModified()) return true;
  const Outcome saved = m_workspace.save();
  if (saved) return true;
  // One of the three questions that stop everything: work would be lost.
  QMessageBox question(QMessageBox::Warning, "Gradloom",
                       tr("%1 cannot be saved: %2").arg(document->name(), saved.reason), QMessageBox::NoButton, this);
  QPushButton* const overwrite =
      document->changedOutside() ? question.addButton(tr("Overwrite it"), QMessageBox::AcceptRole) : nullptr;
  QPushButton* const elsewhere = question.addButton(tr("Save elsewhere..."), QMessageBox::AcceptRole);
  QPushButton* const discard = question.addButton(tr("Close without saving"), QMessageBox::DestructiveRole);
  question.addButton(QMessageBox::Cancel);
  question.exec();
  if (overwrite && question.clickedButton() == overwrite) return save(ProjectDocument::Overwrite::allow);
  if (question.clickedButton() == elsewhere) {
    saveAsDialog();
    return !document->isModified();
  }
  if (question.clickedButton() != discard) return false;
  m_workspace.closeWithoutSaving();
  return true;
}

void MainWindow::openRunFolder(const QString& folder) {
  try {
    const QString project = m_workspace.document() ? m_workspace.document()->path() : QString();
    const QString id = m_workspace.launcher().openFolder(folder, project);
    m_workspace.setCurrentRun(id);
    showPage(m_workspace.document() ? "runs" : "start");
    if (m_workspace.document()) page("runs")->show({.page = "runs", .run = id});
    if (!m_workspace.document())
      if (const RunRecord* run = m_workspace.store().find(id); run && QFileInfo::exists(run->project))
        openProject(run->project);
  } catch (const Error& error) {
    reportError("run-folder", QString::fromStdString(error.what()));
  }
}

void MainWindow::openRunFolderDialog() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a run folder"));
  if (!folder.isEmpty()) openRunFolder(folder);
}

}  // namespace loom

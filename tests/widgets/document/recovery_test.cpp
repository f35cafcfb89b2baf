// What a crash, a full disk and another program leave: nothing that was saved or drawn is lost. The crash is a real
// one: this program starts itself, edits, and is killed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "engine/base/files.h"
#include "tests/patience.h"
#include "tests/widgets/document/drawings.h"
#include "widgets/document/project_document.h"

namespace loom {

class RecoveryTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_path = m_folder->filePath("net.loom");
    writeFileAtomically(m_path.toStdString(), drawings::kSmall);
  }

  void aKilledEditorLosesNothing();
  void savingAndUndoingLeaveNoRecoveryFile();
  void openingChangesNothing();
  void recoveringIsOneStep();
  void whatACrashLeftStaysUntilItIsAnswered();
  void asecondWindowIsNoCrash();
  void whatAnotherProgramWroteIsKept();
  void aFailedSaveSaysWhyAndKeepsTheFile();
  void partsThatCannotBeReadAreKept();
  void aFileThatIsNoProjectLeavesTheDocumentAlone();
  void neverSavedProjectsAreFound();
  void whatAnotherProgramWroteIsToldAndReloaded();
  void aSlowDiskStopsNobody();

 private:
  QString recovery() const { return m_folder->filePath(".net.loom.recovery"); }
  std::unique_ptr<QTemporaryDir> m_folder;
  QString m_path;
};

void RecoveryTest::aKilledEditorLosesNothing() {
  QProcess editor;
  editor.start(QCoreApplication::applicationFilePath(), {"--edit-and-die", m_path});
  QVERIFY(editor.waitForFinished(20000));
  QCOMPARE(editor.exitStatus(), QProcess::CrashExit);
  QVERIFY(QFile::exists(recovery()));
  QCOMPARE(readFile(m_path.toStdString()), std::string(drawings::kSmall));  // the project itself was not touched

  ProjectDocument document;
  QSignalSpy offered(&document, &ProjectDocument::recoveryOffered);
  QVERIFY(document.open(m_path));
  QCOMPARE(offered.count(), 1);
  QVERIFY(document.network("main")->find("dropout") == nullptr);
  QVERIFY(document.recover());
  QVERIFY(document.network("main")->find("dropout") != nullptr);
  QVERIFY(document.saveStateText().startsWith("Recovered "));
  QVERIFY(document.save());
  QVERIFY(!QFile::exists(recovery()));
}

void RecoveryTest::savingAndUndoingLeaveNoRecoveryFile() {
  ProjectDocument document;
  document.setAutosaveDelay(1);
  QVERIFY(document.open(m_path));
  QCOMPARE(document.saveStateText(), QStringLiteral("Saved"));
  document.setField("main", "conv", "channels", 9);
  QCOMPARE(document.saveStateText(), QStringLiteral("Edited"));
  QTRY_VERIFY(QFile::exists(recovery()));
  document.undoStack().undo();
  QCOMPARE(document.saveStateText(), QStringLiteral("Saved"));
  QTRY_VERIFY(!QFile::exists(recovery()));
  document.undoStack().redo();
  QTRY_VERIFY(QFile::exists(recovery()));
  QVERIFY(document.save());
  QVERIFY(!QFile::exists(recovery()));
  QVERIFY(!document.isModified());
  ProjectDocument again;
  QVERIFY(again.open(m_path));
  QVERIFY(again.network("main")->find("conv")->values["channels"] == Json(9));
}

void RecoveryTest::openingChangesNothing() {
  writeFileAtomically(m_path.toStdString(), drawings::residual(2));  // names no places
  ProjectDocument document;
  QVERIFY(document.open(m_path));
  QVERIFY(!document.isModified());
  QVERIFY(document.text().find("\"at\"") == std::string::npos);
  // The first move keeps all the places that were chosen.
  document.moveNodes("main", {{"y", {900, 900}}});
  const Project written = readProject(document.text(), "written").project;
  for (const Node& node : written.networks.front().nodes) QVERIFY2(node.placed, node.id.c_str());
}

void RecoveryTest::recoveringIsOneStep() {
  {
    ProjectDocument document;
    QVERIFY(document.open(m_path));
    document.setField("main", "conv", "channels", 9);
  }  // closed while modified: kept
  QVERIFY(QFile::exists(recovery()));
  ProjectDocument document;
  QVERIFY(document.open(m_path));
  QVERIFY(document.recoverable().has_value());
  QVERIFY(document.recover());
  QCOMPARE(document.undoStack().count(), 1);
  QVERIFY(document.network("main")->find("conv")->values["channels"] == Json(9));
  document.undoStack().undo();
  QVERIFY(document.network("main")->find("conv")->values["channels"] == Json(4));
  document.undoStack().redo();
  document.discardRecovery();
  QVERIFY(!QFile::exists(recovery()));
}

// Somebody edits and saves before they look at the banner, and loses the program once more.
void RecoveryTest::whatACrashLeftStaysUntilItIsAnswered() {
  const auto crashWith = [this](int channels) {
    ProjectDocument document;
    QVERIFY(document.open(m_path));
    document.setField("main", "conv", "channels", channels);
  };  // closed while modified: kept
  crashWith(9);
  crashWith(11);
  ProjectDocument document;
  document.setAutosaveDelay(1);
  QVERIFY(document.open(m_path));
  document.setField("main", "conv", "channels", 7);
  QTRY_VERIFY(QFile::exists(recovery()));
  QVERIFY(document.save());
  QVERIFY(document.renameFile("renamed"));  // it goes along
  const auto channels = [&document] { return document.network("main")->find("conv")->values["channels"]; };
  QVERIFY(document.recover());
  QVERIFY(channels() == Json(11));
  QVERIFY(document.recoverable());
  const Recovered older = *document.recovery();
  document.discardOffered();
  QVERIFY(!document.recoverable());
  QSignalSpy offered(&document, &ProjectDocument::recoveryOffered);
  document.restoreRecovery(older);
  QCOMPARE(offered.count(), 1);
  QVERIFY(document.recover());
  QVERIFY(channels() == Json(9));
  QVERIFY(!document.recoverable());
  document.undoStack().undo();
  document.undoStack().undo();
  QVERIFY(channels() == Json(7));
  document.discardRecovery();
}

void RecoveryTest::asecondWindowIsNoCrash() {
  ProjectDocument first, second;
  first.setAutosaveDelay(1);
  QVERIFY(first.open(m_path));
  first.setField("main", "conv", "channels", 9);
  QTRY_VERIFY(QFile::exists(recovery()));
  QSignalSpy offered(&second, &ProjectDocument::recoveryOffered);
  QVERIFY(second.open(m_path));
  QCOMPARE(offered.count(), 0);
  second.setField("main", "conv", "channels", 3);
  second.discardRecovery();
  QVERIFY(QFile::exists(recovery()));  // that of the first window
  first.discardRecovery();
}

void RecoveryTest::whatAnotherProgramWroteIsKept() {
  ProjectDocument document;
  QVERIFY(document.open(m_path));
  document.setField("main", "conv", "channels", 9);
  writeFileAtomically(m_path.toStdString(), drawings::residual(1));
  const Outcome outcome = document.save();
  QVERIFY(!outcome);
  QVERIFY(outcome.reason.contains("changed by another program"));
  QCOMPARE(document.saveState(), ProjectDocument::SaveState::failed);
  QCOMPARE(readFile(m_path.toStdString()), drawings::residual(1));
  QVERIFY(document.save(ProjectDocument::Overwrite::allow));
  QCOMPARE(readFile(m_path.toStdString()), document.text());
}

void RecoveryTest::aFailedSaveSaysWhyAndKeepsTheFile() {
  ProjectDocument document;
  QVERIFY(document.open(m_path));
  document.setField("main", "conv", "channels", 9);
  const Outcome outcome = document.saveAs(m_folder->filePath("no/such/folder/net.loom"));
  QVERIFY(!outcome);
  QCOMPARE(document.saveStateText(), QStringLiteral("Cannot save"));
  QVERIFY(document.saveProblem().contains("no/such/folder"));
  QCOMPARE(document.missingFolder(), m_folder->filePath("no/such/folder"));
  QCOMPARE(document.path(), m_path);
  QVERIFY(document.isModified());
  QCOMPARE(readFile(m_path.toStdString()), std::string(drawings::kSmall));
  QVERIFY(document.save());
  QCOMPARE(document.saveStateText(), QStringLiteral("Saved"));
}

void RecoveryTest::partsThatCannotBeReadAreKept() {
  const std::string odd =
      R"({"loom": 1, "networks": {"main": {"nodes": [{"id": "x", "layer": "Input", "shape": [4]}], "edges": []}}, "colour": "blue"})";
  writeFileAtomically(m_path.toStdString(), odd);
  ProjectDocument document;
  QVERIFY(document.open(m_path));
  QVERIFY(!document.openProblems().empty());
  document.setField("main", "x", "shape", Json::array({5}));
  QVERIFY(document.save());
  QCOMPARE(readFile((m_path + ".bak").toStdString()), odd);
}

void RecoveryTest::aFileThatIsNoProjectLeavesTheDocumentAlone() {
  ProjectDocument document;
  QVERIFY(document.open(m_path));
  const QString other = m_folder->filePath("other.loom");
  for (const char* text : {"", "{", "[1, 2]", "{\"loom\": 99, \"networks\": {}}"}) {
    writeFileAtomically(other.toStdString(), text);
    const Outcome outcome = document.open(other);
    QVERIFY2(!outcome, text);
    QVERIFY(!outcome.reason.isEmpty());
    QCOMPARE(document.path(), m_path);
    QVERIFY(document.network("main")->find("conv") != nullptr);
  }
  QVERIFY(!document.open(m_folder->filePath("missing.loom")));
}

void RecoveryTest::neverSavedProjectsAreFound() {
  for (const Orphan& left : RecoveryFile::orphans()) RecoveryFile::remove(left);
  QProcess editor;
  editor.start(QCoreApplication::applicationFilePath(), {"--edit-and-die"});
  QVERIFY(editor.waitForFinished(20000));
  const std::vector<Orphan> left = RecoveryFile::orphans();
  QCOMPARE(left.size(), std::size_t{1});
  QCOMPARE(left.front().name, QStringLiteral("Untitled"));
  QVERIFY(RecoveryFile::read(left.front()).find("\"relu\"") != std::string::npos);
  // It stands as unsaved work again: what a second crash would leave is written before the first is forgotten.
  {
    ProjectDocument document;
    QVERIFY(document.recoverUnsaved(left.front()));
    QVERIFY(document.network("main")->find("relu") != nullptr);
    QVERIFY(document.isModified());
    QVERIFY(document.saveStateText().startsWith("Recovered "));
    QVERIFY(RecoveryFile::orphans().empty());  // its own is in use
  }
  QCOMPARE(RecoveryFile::orphans().size(), std::size_t{1});
  RecoveryFile::remove(RecoveryFile::orphans().front());
  QVERIFY(RecoveryFile::orphans().empty());
}

void RecoveryTest::whatAnotherProgramWroteIsToldAndReloaded() {
  ProjectDocument document;
  QSignalSpy told(&document, &ProjectDocument::foreignChange);
  QVERIFY(document.open(m_path));
  document.setField("main", "conv", "channels", 9);
  const std::string mine = document.text();
  writeFileAtomically(m_path.toStdString(), drawings::residual(1));
  QTRY_COMPARE(told.count(), 1);
  document.lookOutside();
  QCOMPARE(told.count(), 1);  // once each time
  QVERIFY(document.changedOutside());
  QVERIFY(document.reload());
  QVERIFY(!document.changedOutside());
  QVERIFY(!document.isModified());
  QVERIFY(document.network("main")->find("conv") == nullptr);
  QVERIFY(!QFile::exists(recovery()));
  document.undoStack().undo();  // what was drawn here is one step away
  QCOMPARE(document.text(), mine);
  QVERIFY(document.save());
  QCOMPARE(readFile(m_path.toStdString()), mine);
  QTest::qWait(400);
  QCOMPARE(told.count(), 1);  // its own writing is no news
}

// A disk that hangs: a pipe stands where the recovery file is written first, and opening it waits for who reads it.
void RecoveryTest::aSlowDiskStopsNobody() {
  const QString pipe = recovery() + QStringLiteral(".partial-%1").arg(QCoreApplication::applicationPid());
  QCOMPARE(::mkfifo(pipe.toLocal8Bit().constData(), 0600), 0);
  std::atomic<bool> goneOn = false, gaveUp = false;
  std::thread reader([&] {
    for (int i = 0; i < 400 && !goneOn; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gaveUp = !goneOn;
    const int file = ::open(pipe.toLocal8Bit().constData(), O_RDONLY);
    char text[4096];
    while (::read(file, text, sizeof text) > 0) {
    }
    ::close(file);
  });
  {
    ProjectDocument document;
    document.setAutosaveDelay(1);
    QVERIFY(document.open(m_path));
    document.setField("main", "conv", "channels", 9);
    QTest::qWait(100);
    document.setField("main", "conv", "channels", 10);
    QVERIFY(document.network("main")->find("conv")->values["channels"] == Json(10));
    goneOn = true;
    document.discardRecovery();
  }
  reader.join();
  QVERIFY(!gaveUp);
}

// Edits until the recovery file stands, then dies without a word.
int editAndDie(const QString& path) {
  QStandardPaths::setTestModeEnabled(true);
  ProjectDocument document;
  document.setAutosaveDelay(1);
  if (path.isEmpty()) {
    document.addNode({.layer = "ReLU"});
  } else {
    if (!document.open(path)) return 1;
    document.addNode({.layer = "Dropout", .after = "fc"});
  }
  QTest::qWait(300);
  ::kill(::getpid(), SIGKILL);
  return 2;
}

}  // namespace loom

int main(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  const QStringList arguments = application.arguments();
  if (arguments.size() > 1 && arguments[1] == "--edit-and-die") return loom::editAndDie(arguments.value(2));
  loom::RecoveryTest test;
  return QTest::qExec(&test, argc, argv);
}

#include "recovery_test.moc"

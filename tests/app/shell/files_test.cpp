// What the window does about files: those that others change, work that was never saved, names, drafts, folders that
// are not there, the Start page.
#include <QLabel>
#include <QMessageBox>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTimer>
#include <algorithm>

#include "app/pages/start/project_row.h"
#include "app/shell/top_bar.h"
#include "tests/app/shell/shell_fixture.h"
#include "tests/patience.h"
#include "widgets/controls/button.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/search_field.h"

namespace loom {

class FilesTest : public QObject, private ShellFixture {
  Q_OBJECT

  // Where GRADLOOM_PICTURES names a folder.
  void picture(const char* name, QWidget* of = nullptr) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (!folder.isEmpty())
      (of ? of : &window())->grab().save(QDir(folder).filePath(QString::fromLatin1(name) + ".png"));
  }
  QWidget* nameCard() { return window().findChild<QWidget*>("name-card"); }
  void typeName(const QString& name) {
    QTRY_VERIFY(nameCard() && nameCard()->isVisible());
    auto* field = nameCard()->findChild<QLineEdit*>("project-name");
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, name);
    QTest::keyClick(field, Qt::Key_Return);
    QCoreApplication::processEvents();
  }
  QList<ProjectRow*> rows(const char* kind) {
    QList<ProjectRow*> shown;
    for (ProjectRow* each : window().findChildren<ProjectRow*>(kind))
      if (each->isVisible()) shown << each;
    return shown;
  }

 private Q_SLOTS:
  void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  void aFileThatChangedOutsideIsOverwrittenOrReloaded() {
    const QString path = write("outside", 1);
    open(path);
    m_open->document().setSetting("epochs", 7);
    write("outside", 3);
    QVERIFY(!window().save());
    QVERIFY2(message("save").contains("changed by another program"), qPrintable(message("save")));
    press("Overwrite it");
    QVERIFY(read(path).contains("\"epochs\": 7"));
    QVERIFY(message("save").isEmpty());

    write("outside", 5);
    QTRY_VERIFY(!message("outside").isEmpty());  // told without a save
    press("Reload it");
    QCOMPARE(epochs(), 5);
    QVERIFY(!m_open->document().isModified());
    keys("Ctrl+Z");
    QCOMPARE(epochs(), 7);
    QVERIFY(window().save());
  }

  void aRunStartsOverAFileThatChangedOutside() {
    const QString path = write("train", 1);
    open(path);
    m_open->document().setSetting("epochs", 2);
    write("train", 3);
    window().train();
    QVERIFY(workspace().runs().isEmpty());
    press("Overwrite it");
    QCOMPARE(workspace().runs().size(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().front().state, RunState::finished, kPatience);
    QVERIFY(read(path).contains("\"epochs\": 2"));
  }

  void whatWasClosedWithoutSavingIsNotOfferedAgain() {
    const QString path = write("discard", 1);
    open(path);
    m_open->document().setAutosaveDelay(1);
    m_open->document().setSetting("epochs", 7);
    QTRY_VERIFY(QFile::exists(m_open->path("discard/.discard.loom.recovery")));
    write("discard", 3);
    bool asked = false;
    QTimer::singleShot(0, this, [&] {
      auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      QVERIFY(question);
      for (QAbstractButton* each : question->buttons())
        if (each->text() == "Close without saving") asked = true, each->click();
      if (!asked) question->reject();
    });
    QVERIFY(window().close());
    QVERIFY(asked);
    QVERIFY(!workspace().document());
    QVERIFY(read(path).contains("\"epochs\": 3"));
    window().show();
    open(path);
    QVERIFY2(message("recovery").isEmpty(), qPrintable(message("recovery")));
  }

  void aSecondWindowIsToldAndOffersToReload() {
    const QString path = write("second", 1);
    ProjectDocument first;
    QVERIFY(first.open(path));
    open(path);
    QVERIFY(message("elsewhere").contains("another window"));
    // Closed by a click it leaves the keys to the page: no field takes them.
    window().showPage("training");
    QTRY_VERIFY(window().settled());
    for (auto* button : window().messages().findChildren<QAbstractButton*>())
      if (button->isVisible() && button->accessibleName() == "Close this message")
        QTest::mouseClick(button, Qt::LeftButton);
    QCoreApplication::processEvents();
    QVERIFY(message("elsewhere").isEmpty());
    QVERIFY(!qobject_cast<QLineEdit*>(QApplication::focusWidget()));
    first.setSetting("epochs", 9);
    QVERIFY(first.save());
    QTRY_VERIFY(!message("outside").isEmpty());
    press("Reload it");
    QCOMPARE(epochs(), 9);
    QVERIFY(message("outside").isEmpty());
  }

  void workThatWasNeverSavedIsOfferedAtTheStart() {
    forgetOrphans();
    for (const char* layer : {"ReLU", "Dropout"}) {
      ProjectDocument lost;  // ends without a word
      lost.addNode({.layer = layer});
    }
    QCOMPARE(RecoveryFile::orphans().size(), std::size_t{2});
    window().offerUnsaved();
    press("Open it");
    QVERIFY(workspace().document());
    QCOMPARE(m_open->project().networks.front().nodes.size(), std::size_t{1});
    QVERIFY(m_open->document().isModified());
    QCOMPARE(RecoveryFile::orphans().size(), std::size_t{1});
    press("Discard it");
    QVERIFY(RecoveryFile::orphans().empty());
  }

  void samplesOpenAsACopyOfOnesOwn() {
    const QString original = m_open->write("samples/digits/digits.loom", projectOf(1));
    m_open->write("samples/digits/train.csv", "x__0,x__1,y:label\n1,0,1\n-1,0,0\n1,1,1\n-1,1,0\n");
    qputenv("GRADLOOM_SAMPLES", m_open->path("samples").toUtf8());
    const QStringList before =
        QDir(m_open->path("samples/digits")).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
    open(original);
    const QString own = m_open->document().path();
    QVERIFY2(own.startsWith(QFileInfo(m_open->path("own")).canonicalFilePath()), qPrintable(own));
    QVERIFY2(message("copy").contains("copy of digits"), qPrintable(message("copy")));
    m_open->document().setSetting("epochs", 2);
    window().train();
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().front().state, RunState::finished, kPatience);
    QCOMPARE(QDir(m_open->path("samples/digits")).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
             before);
    QCOMPARE(read(original), projectOf(1));
    // The next time it is that copy, with its runs; a fresh one where it is asked for.
    QVERIFY(workspace().closeProject());
    open(original);
    QCOMPARE(m_open->document().path(), own);
    QCOMPARE(workspace().runs().size(), 1);
    QVERIFY(window().notice().offers("Fresh copy"));
    window().notice().actionButton()->click();
    QVERIFY(m_open->document().path() != own);
    QCOMPARE(epochs(), 1);
  }

  // A sample of a clone, opened by a program of another folder.
  void aSampleOfElsewhereIsKnownByItsMarker() {
    const QString original = m_open->write("clone/samples/digits/digits.loom", projectOf(1));
    m_open->write("clone/samples/digits/train.csv", "x__0,x__1,y:label\n1,0,1\n-1,0,0\n1,1,1\n-1,1,0\n");
    m_open->write("clone/samples/.gradloom-samples", "");
    qputenv("GRADLOOM_SAMPLES", m_open->path("nowhere").toUtf8());
    open(original);
    const QString own = m_open->document().path();
    QVERIFY2(own.startsWith(QFileInfo(m_open->path("own")).canonicalFilePath()), qPrintable(own));
    QVERIFY(!QFileInfo::exists(QFileInfo(own).absolutePath() + "/.gradloom-samples"));  // one's own is no sample
  }

  // U8: what a crash left is gone at once, and comes back by the notice or by Ctrl+Z.
  void discardedChangesComeBackByUndo() {
    const QString path = write("left", 1);
    {
      ProjectDocument lost;
      QVERIFY(lost.open(path));
      lost.setAutosaveDelay(1);
      lost.setSetting("epochs", 7);
      QTRY_VERIFY(QFile::exists(m_open->path("left/.left.loom.recovery")));
    }
    open(path);
    const QString offered = message("recovery");
    QVERIFY(offered.contains("were not saved"));
    press("Discard them");
    QVERIFY(message("recovery").isEmpty());
    QVERIFY(!QFile::exists(m_open->path("left/.left.loom.recovery")));
    QVERIFY(window().notice().offers("Undo"));
    m_open->undo();
    QCOMPARE(message("recovery"), offered);  // of the same minute
    press("Discard them");
    QTest::mouseClick(window().notice().actionButton(), Qt::LeftButton);
    QCOMPARE(message("recovery"), offered);
    press("Recover them");
    QCOMPARE(epochs(), 7);
  }

  void discardedWorkThatWasNeverSavedComesBackByUndo() {
    forgetOrphans();
    {
      ProjectDocument lost;
      lost.addNode({.layer = "ReLU"});
    }
    window().offerUnsaved();
    press("Discard it");
    QVERIFY(RecoveryFile::orphans().empty());
    m_open->undo();
    QCOMPARE(RecoveryFile::orphans().size(), std::size_t{1});
    press("Open it");
    QCOMPARE(m_open->project().networks.front().nodes.size(), std::size_t{1});
  }

  // U24: why it could not be saved stands once, and the search keeps its place.
  void aSaveThatFailsIsSaidOnceAndCreatesItsFolder() {
    const QString path = write("gone", 1);
    open(path);
    const QRect search = window().topBar().search().geometry();
    QVERIFY(QDir(m_open->path("gone")).removeRecursively());
    m_open->document().setSetting("epochs", 7);
    QVERIFY(!window().save());
    QVERIFY2(message("save").contains("the folder " + m_open->path("gone") + " is not there"),
             qPrintable(message("save")));
    QVERIFY(!message("save").contains("partial"));
    QCOMPARE(m_open->part<QLabel>("save-state")->text(), QString("Cannot save"));
    QCOMPARE(window().topBar().search().width(), search.width());
    QVERIFY(window().topBar().search().isVisible());
    picture("save-failed");
    press("Create it");
    QVERIFY2(message("save").isEmpty(), qPrintable(message("save")));
    QVERIFY(read(path).contains("\"epochs\": 7"));
  }

  // An error of the disk names the file that was meant.
  void noTemporaryFileIsNamed() {
    const QString path = write("locked", 1);
    open(path);
    m_open->document().setSetting("epochs", 7);
    // A folder stands where the temporary file would: refused to root as well.
    QVERIFY(QDir().mkpath(path + ".partial-" + QString::number(QCoreApplication::applicationPid())));
    QVERIFY(!window().save());
    QVERIFY2(message("save").contains("locked.loom"), qPrintable(message("save")));
    QVERIFY2(!message("save").contains("partial"), qPrintable(message("save")));
  }

  // U21: another name, and everything that is known of the project goes along.
  void aProjectIsRenamed() {
    const QString path = write("before", 1);
    open(path);
    window().train();
    QCOMPARE(workspace().runs().size(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().front().state, RunState::finished, kPatience);
    window().showPage("data");
    m_open->document().setSetting("epochs", 2);
    window().renameProject();
    typeName("a/b");
    QVERIFY(nameCard()->findChild<QLabel*>("name-fault")->isVisible());
    picture("name-card", nameCard());
    typeName("House prices");
    QTRY_VERIFY(!nameCard() || !nameCard()->isVisible());
    const QString now = m_open->path("before/House prices.loom");
    QCOMPARE(m_open->document().path(), now);
    QCOMPARE(m_open->document().name(), QString("House prices"));
    QVERIFY(!QFile::exists(path));
    QVERIFY(QFile::exists(now));
    QVERIFY(m_open->document().isModified());
    QCOMPARE(workspace().runs().size(), 1);
    QCOMPARE(workspace().preferences().recentProjects().size(), 1);
    QCOMPARE(workspace().preferences().recentProjects().front().path, now);
    QCOMPARE(workspace().preferences().lastPageOf(now), QString("data"));
    QVERIFY(window().save());
    QVERIFY(read(now).contains("\"csv\": \"train.csv\""));
    window().train();
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().size(), 2, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().back().state, RunState::finished, kPatience);
    // A name that is taken is refused while it is typed.
    m_open->write("before/taken.loom", projectOf(1));
    window().renameProject();
    typeName("taken");
    QVERIFY(nameCard()->findChild<QLabel*>("name-fault")->text().contains("taken.loom"));
    QCOMPARE(m_open->document().path(), now);
  }

  // Drawings that nobody saved stand in one place, in no list of projects, and can be thrown away.
  void draftsAreListedAndDiscarded() {
    for (const char* layer : {"ReLU", "Dropout"}) {
      window().newProject();
      m_open->document().addNode({.layer = layer});
    }
    QVERIFY(workspace().closeProject());
    QTRY_VERIFY2(window().notice().sentence().contains("drafts"), qPrintable(window().notice().sentence()));
    QVERIFY(!QDir(m_open->path("own")).exists("untitled"));
    QVERIFY(workspace().preferences().recentProjects().isEmpty());
    QTRY_COMPARE(window().currentPage(), QString("start"));
    QTRY_COMPARE(rows("draft").size(), 2);
    const QString last = rows("draft").front()->text();
    picture("drafts");
    for (Button* each : window().findChildren<Button*>("discard-draft"))
      if (each->isVisible() && each->parentWidget() == rows("draft").front()->parentWidget()) {
        QTest::mouseClick(each, Qt::LeftButton);
        break;
      }
    QTRY_COMPARE(rows("draft").size(), 1);
    QVERIFY(rows("draft").front()->text() != last);
    m_open->undo();
    QTRY_COMPARE(rows("draft").size(), 2);
    QTest::mouseClick(rows("draft").front(), Qt::LeftButton);
    QTRY_VERIFY(workspace().document());
    QVERIFY(workspace().isDraft());
    QCOMPARE(m_open->project().networks.front().nodes.size(), std::size_t{1});
  }

  // The first time that it is saved it is asked for its name, and is a draft no more.
  void aDraftIsNamedWhenItIsSaved() {
    window().newProject();
    m_open->document().addNode({.layer = "ReLU"});
    QVERIFY(workspace().save());  // as leaving it does
    const QString draft = m_open->document().path();
    QVERIFY(workspace().drafts().holds(draft));
    m_open->activate();
    keys("Ctrl+S");
    typeName("houses");
    QCOMPARE(m_open->document().path(), m_open->path("own/houses/houses.loom"));
    QVERIFY(QFile::exists(m_open->path("own/houses/houses.loom")));
    QVERIFY(!QFile::exists(draft));
    QVERIFY(workspace().drafts().all().isEmpty());
    QCOMPARE(workspace().preferences().recentProjects().size(), 1);
    window().newProject();
    m_open->document().addNode({.layer = "ReLU"});
    m_open->activate();
    keys("Ctrl+S");
    typeName("houses");  // there is one
    QVERIFY(nameCard()->findChild<QLabel*>("name-fault")->text().contains("houses already"));
    QVERIFY(m_open->document().path().isEmpty());
  }

  // What each project is, found beside the window's thread and again when the file is another.
  void theStartTellsWhatProjectsAre() {
    const QString path = write("told", 1);
    open(path);
    QVERIFY(workspace().closeProject());
    QTRY_COMPARE(window().currentPage(), QString("start"));
    const auto lines = [&] { return rows("recent").isEmpty() ? QStringList() : rows("recent").front()->lines(); };
    QTRY_COMPARE(lines().value(0), QString::fromUtf8("x 2 → y, 2 classes"));
    QVERIFY2(lines().value(1).contains("training 8 rows"), qPrintable(lines().value(1)));
    QVERIFY2(lines().value(1).contains("1 layer, 6 parameters"), qPrintable(lines().value(1)));
    for (const ProjectRow* row : window().findChildren<ProjectRow*>())
      if (row->isVisible()) QTRY_VERIFY2(row->height() >= row->heightForWidth(row->width()), qPrintable(row->text()));
    picture("start-told");
    window().resize(1024, 700);
    QCoreApplication::processEvents();
    picture("start-told-small");
    QTest::qWait(20);
    m_open->write("told/told.loom", projectOf(1).replace(R"("outputs": 2)", R"("outputs": 3)"));
    window().showPage("hosts");
    window().showPage("start");
    QTRY_COMPARE(lines().value(0), QString::fromUtf8("x 2 → y, 3 classes"));
  }
};

int testFiles(int argc, char** argv) {
  FilesTest files;
  return QTest::qExec(&files, argc, argv);
}

}  // namespace loom

#include "files_test.moc"

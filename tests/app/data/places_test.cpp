// Where a project's files lie: data of anywhere, a project that is saved, saved elsewhere, moved, lost in a crash.
#include <QSignalSpy>
#include <QStandardPaths>

#include "tests/app/opened_window.h"
#include "widgets/document/recovery_file.h"

namespace loom {
namespace {

constexpr int kPatience = 60000;

const char* const kRows = "x__0,x__1,y:label\n1,0,1\n-1,0,0\n1,1,1\n-1,1,0\n1,2,1\n-1,2,0\n1,3,1\n-1,3,0\n";
const char* const kDrawing = R"({ "loom": 1, "networks": { "main": {
  "nodes": [ {"id": "x", "layer": "Input", "shape": [2]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
             {"id": "out", "layer": "Linear", "outputs": 2}, {"id": "loss", "layer": "SoftmaxCrossEntropy"} ],
  "edges": [ ["x", "out"], ["out", "loss"], ["y", "loss.target"] ] } } })";

}  // namespace

class PlacesTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  void draw() {
    const std::vector<Network> drawn = readProject(kDrawing, "drawing").project.networks;
    m_open->document().edit("draw", [&](Project& project) {
      project.networks = drawn;
      project.training.settings["epochs"] = 1;
    });
  }
  // As the button does, to its end.
  void train() {
    const auto before = m_open->workspace().runs().size();
    m_open->click("train");
    // Work without a name gets one first.
    if (auto* name = m_open->part<QLineEdit>("project-name"); name && name->isVisible())
      QTest::keyClick(name, Qt::Key_Return);
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().runs().size(), before + 1, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().runs().back().state, RunState::finished, kPatience);
  }
  QByteArray file() {
    QFile read(m_open->document().path());
    return read.open(QIODevice::ReadOnly) ? read.readAll() : QByteArray();
  }
  void import(const QString& csv) {
    m_open->window().showPage("data");
    m_open->drop({csv});
    QCOMPARE(m_open->project().datasets.size(), std::size_t{1});
  }
  std::string csv() { return m_open->project().datasets.at(0).csv; }

 private Q_SLOTS:
  void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    qputenv("GRADLOOM_PROJECTS", m_open->path("home/own").toUtf8());
  }
  void cleanup() {
    if (m_open->workspace().document()) m_open->document().discardRecovery();
    m_open.reset();
  }

  // Imported before anything was saved, trained at once, saved elsewhere, trained again.
  void dataOfAnotherFolderTrainFromWhereverTheProjectLies() {
    const QString data = m_open->write("downloads/of/today/houses.csv", kRows);
    m_open->click("new-network");
    import(data);
    draw();
    train();
    QCOMPARE(m_open->document().path(), m_open->path("home/own/houses/houses.loom"));
    QVERIFY2(file().contains(data.toUtf8()), file());
    QDir().mkpath(m_open->path("other/place"));
    QVERIFY(m_open->workspace().saveAs(m_open->path("other/place/copy.loom")));
    QVERIFY2(file().contains(data.toUtf8()), file());
    m_open->document().setSetting("epochs", 2);
    train();
    QCOMPARE(m_open->workspace().errors(), 0);
  }

  // What lies in the project's folder goes with it; every step back still means the same file.
  void dataBesideTheProjectMoveWithIt() {
    m_open->write("flat/data/rows.csv", kRows);
    m_open->write("flat/data/other.csv", kRows);
    const QByteArray text = QByteArray(kDrawing).replace(
        R"("loom": 1,)", R"("loom": 1, "datasets": {"training": {"csv": "data/rows.csv"}},)");
    m_open->window().openProject(m_open->write("flat/p.loom", text));
    QCOMPARE(csv(), m_open->path("flat/data/rows.csv").toStdString());
    QVERIFY(m_open->document().setPath("datasets.training.csv", "data/other.csv"));
    QVERIFY(m_open->document().save());
    QVERIFY2(file().contains(R"("csv": "data/other.csv")"), file());
    QDir().mkpath(m_open->path("flat/deep"));
    QVERIFY(m_open->workspace().saveAs(m_open->path("flat/deep/q.loom")));
    QVERIFY2(file().contains(R"("csv": "../data/other.csv")"), file());
    m_open->undo();
    QCOMPARE(csv(), m_open->path("flat/data/rows.csv").toStdString());
    QVERIFY(m_open->document().save());
    QVERIFY2(file().contains(R"("csv": "../data/rows.csv")"), file());
    QVERIFY(m_open->workspace().closeProject());
    QVERIFY(QDir().rename(m_open->path("flat"), m_open->path("moved")));
    m_open->window().openProject(m_open->path("moved/deep/q.loom"));
    QCOMPARE(csv(), m_open->path("moved/data/rows.csv").toStdString());
    train();
  }

  // A path that a person wrote with several steps up stays one, for whoever has the same folders elsewhere.
  void aRelativePathStaysRelative() {
    m_open->write("all/data/rows.csv", kRows);
    const QByteArray text = QByteArray(kDrawing).replace(
        R"("loom": 1,)", R"("loom": 1, "datasets": {"training": {"csv": "../../data/rows.csv"}},)");
    m_open->window().openProject(m_open->write("all/projects/one/p.loom", text));
    m_open->document().setSetting("epochs", 1);
    QVERIFY(m_open->document().save());
    QVERIFY2(file().contains(R"("csv": "../../data/rows.csv")"), file());
  }

  void aRecoveredProjectFindsItsData() {
    const QString data = m_open->write("downloads/of/today/houses.csv", kRows);
    for (const Orphan& each : RecoveryFile::orphans()) RecoveryFile::remove(each);
    {
      ProjectDocument lost;  // ends without a word
      QVERIFY(lost.addDataset({.name = "training", .csv = data.toStdString(), .prepare = {}}));
    }
    QCOMPARE(RecoveryFile::orphans().size(), std::size_t{1});
    QVERIFY(m_open->workspace().openUnsaved(RecoveryFile::orphans().front()));
    draw();
    QCOMPARE(csv(), data.toStdString());
    train();
  }
};

}  // namespace loom

QTEST_MAIN(loom::PlacesTest)
#include "places_test.moc"

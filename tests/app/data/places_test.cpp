// Where a project's files lie: data of anywhere, a project that is saved, saved elsewhere, moved, lost in a crash.
#include <QImage>
#include <QListView>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>

#include "app/pages/data/data_findings.h"
#include "app/problem_list.h"
#include "tests/app/menu_and_dialogue.h"
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
  FindingsList& list() { return *m_open->window().findChild<FindingsList*>(); }
  // Where a person would press it.
  void press(const QString& title, const QString& text) {
    const auto button = [&]() -> QPushButton* {
      for (int row = 0; row < list().findings().rowCount(); ++row)
        if (QWidget* const place = list().indexWidget(list().model()->index(row, 0));
            place && list().findings().finding(row).title.contains(title))
          for (QPushButton* each : place->findChildren<QPushButton*>())
            if (each->text() == text) return each;
      return nullptr;
    };
    QTRY_VERIFY2(button() && m_open->window().settled(), qPrintable(title + ": " + text + " of " + said().join(" | ")));
    QTest::mouseClick(button(), Qt::LeftButton);
    QCoreApplication::processEvents();
  }
  QStringList said() {
    QStringList all;
    for (const PageProblem& each : m_open->workspace().problems().all()) all << each.message;
    return all;
  }
  bool says(const QString& words) { return !said().filter(words).isEmpty(); }
  // A project of these rows, opened anew on its network.
  void openOf(const QString& csv, const QByteArray& drawing) {
    const QByteArray text = QByteArray(drawing).replace(
        R"("loom": 1,)", R"("loom": 1, "datasets": {"training": {"csv": ")" + csv.toUtf8() + R"("}},)");
    m_open->window().openProject(m_open->write("p/p.loom", text));
    QCOMPARE(m_open->window().currentPage(), QString("network"));
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

  // What is wrong with the data is told as soon as the project is open, and once the file is mended no more.
  void dataAreLookedAtBeforeAPersonDoes() {
    const QByteArray flat = "x__0,x__1,y:label\n1,7,1\n-1,7,0\n2,7,1\n-2,7,0\n";
    const QString data = m_open->write("p/rows.csv", flat);
    openOf("rows.csv", kDrawing);
    QTRY_VERIFY2(says("x__1 never changes"), qPrintable(said().join(" | ")));
    QVERIFY(!m_open->window().page("data")->isVisible());
    QCOMPARE(m_open->workspace().errors(), 0);
    m_open->write("p/rows.csv", QByteArray(kRows) + "3,x,1\n");
    Q_EMIT qApp->applicationStateChanged(Qt::ApplicationActive);
    QTRY_VERIFY2(m_open->workspace().errors() > 0, qPrintable(said().join(" | ")));
    m_open->write("p/rows.csv", kRows);
    Q_EMIT qApp->applicationStateChanged(Qt::ApplicationActive);
    QTRY_VERIFY2(m_open->workspace().errors() == 0 && !says("never changes"), qPrintable(said().join(" | ")));
  }

  // A CSV that was renamed is shown once, and what lay beside it goes along.
  void aFileThatWasMovedIsFoundAgain() {
    m_open->write("old/rows.csv", kRows);
    m_open->write("old/more/held.csv", kRows);
    const QByteArray text = QByteArray(kDrawing).replace(
        R"("loom": 1,)",
        R"("loom": 1, "datasets": {"training": {"csv": "../old/rows.csv"}, "validation": {"csv": "../old/more/held.csv"}},)");
    QVERIFY(QDir(m_open->path("")).rename("old", "new"));
    QVERIFY(QFile::rename(m_open->path("new/rows.csv"), m_open->path("new/lines.csv")));
    m_open->window().openProject(m_open->write("p/p.loom", text));
    QTRY_VERIFY2(says("rows.csv is not there"), qPrintable(said().join(" | ")));
    m_open->window().showPage("data");
    nameTheFile(m_open->path("new/lines.csv"));
    press("rows.csv is not there", "Find file…");
    QTRY_COMPARE(csv(), m_open->path("new/lines.csv").toStdString());
    QCOMPARE(m_open->project().dataset("validation")->csv, m_open->path("new/more/held.csv").toStdString());
    QTRY_VERIFY2(m_open->workspace().errors() == 0, qPrintable(said().join(" | ")));
    m_open->undo();
    QCOMPARE(csv(), m_open->path("old/rows.csv").toStdString());
    QCOMPARE(m_open->project().dataset("validation")->csv, m_open->path("old/more/held.csv").toStdString());
  }

  // Pictures are named anew in a CSV of the project; the person's own stays as it is.
  void picturesThatWereMovedAreFoundAgain() {
    QByteArray index = "file:image,y:label\n";
    QDir().mkpath(m_open->path("roll/deep"));
    for (int i = 0; i < 4; ++i) {
      QImage image(8, 8, QImage::Format_Grayscale8);
      image.fill(40 * i);
      const QString name = QStringLiteral("roll/%1%2.png").arg(i % 2 ? "deep/" : "").arg(i);
      QVERIFY(image.save(m_open->path(name)));
      index += "../" + name.toUtf8() + ',' + QByteArray::number(i % 2) + '\n';
    }
    m_open->write("p/index.csv", index);
    QVERIFY(QDir(m_open->path("")).rename("roll", "album"));
    openOf("index.csv", QByteArray(kDrawing)
                            .replace(R"("id": "x", "layer": "Input", "shape": [2])",
                                     R"("id": "file", "layer": "Input", "shape": [1, 8, 8])")
                            .replace(R"(["x", "out"])", R"(["file", "out"])"));
    QTRY_VERIFY2(says("file: all 4 pictures are not there"), qPrintable(said().join(" | ")));
    QVERIFY2(!says("has no variable"), qPrintable(said().join(" | ")));
    m_open->window().showPage("data");
    nameTheFile(m_open->path("album"));
    press("file: all 4 pictures", "Find the folder…");
    QTRY_COMPARE(csv(), m_open->path("p/data/index.csv").toStdString());
    QTRY_VERIFY2(m_open->workspace().errors() == 0, qPrintable(said().join(" | ")));
    QFile named(m_open->path("p/data/index.csv")), own(m_open->path("p/index.csv"));
    QVERIFY(named.open(QIODevice::ReadOnly) && own.open(QIODevice::ReadOnly));
    QVERIFY(named.readAll().contains(m_open->path("album/deep/3.png").toUtf8()));
    QCOMPARE(own.readAll(), index);
    QVERIFY(!m_open->part<QWidget>("copy-into-project")->isVisible());
  }

  // Runs of a project that lay here and was moved away are not those of the one that is begun here.
  void aNewProjectInAnOldPlaceBeginsWithoutRuns() {
    const QString path = m_open->path("home/own/shapes/shapes.loom");
    m_open->workspace().store().add(
        {.id = "ghost", .folder = m_open->path("home/own/shapes/runs/ghost"), .project = path, .name = "shapes-1"});
    QCOMPARE(m_open->workspace().store().runs(path).size(), 1);
    m_open->click("new-network");
    QDir().mkpath(QFileInfo(path).absolutePath());
    QVERIFY(m_open->workspace().saveAs(path));
    QCOMPARE(m_open->workspace().runs().size(), 0);
    QVERIFY(m_open->workspace().store().find("ghost"));
  }

  // A remedy that makes a vector narrower takes the Input along, back and forth.
  void anInputGoesAlongWithItsVector() {
    m_open->write("p/t.csv", "a,b,c,y\n1,2,5,0\n2,4,5,1\n3,1,5,0\n4,2,5,1\n");
    const QByteArray text =
        QByteArray(kDrawing)
            .replace(
                R"("loom": 1,)",
                R"("loom": 1, "datasets": {"training": {"csv": "t.csv", "prepare": [{"step": "Join", "variable": ["a", "b", "c"], "into": "x"}]}},)")
            .replace(R"("shape": [2])", R"("shape": [3])");
    m_open->window().openProject(m_open->write("p/p.loom", text));
    m_open->window().showPage("data");
    press("c never changes", "Leave out");
    const auto shape = [&] { return m_open->project().networks[0].find("x")->values.at("shape"); };
    QTRY_VERIFY(shape() == Json::array({2}));
    QTRY_VERIFY2(m_open->workspace().errors() == 0, qPrintable(said().join(" | ")));
    m_open->undo();
    QVERIFY(shape() == Json::array({3}));
    QCOMPARE(m_open->project().datasets[0].prepare.size(), std::size_t{1});
  }

  // Nobody sees that weights of another program get the bytes of pictures.
  void picturesForForeignWeightsAreAskedFor() {
    TableFacts facts;
    facts.columns.push_back({.name = "file", .header = "file:image", .type = ColumnType::picture, .count = 9});
    facts.rows = 9;
    FindingsRequest request{.facts = std::make_shared<TableFacts>(facts), .context = {}};
    request.wanted["file"] = Shape{3, 8, 8};
    const auto found = [&] {
      for (const DataFinding& each : dataFindings(request))
        if (each.shown.title.contains("another program")) return std::optional(each);
      return std::optional<DataFinding>();
    };
    QVERIFY(!found());
    request.context.settings = {{"start_from", "/imported/net.safetensors"}};
    QVERIFY(found());
    QCOMPARE(found()->remedies.at(0).label, std::string("Scale to 0..1"));
    QCOMPARE(found()->remedies.at(0).steps.at(0).at("by").get<double>(), 1.0 / 255);
    QCOMPARE(found()->remedies.at(1).steps.at(0).at("mean").size(), std::size_t{3});
    request.context.prepare = found()->remedies.at(1).steps;
    QVERIFY(!found());
    request.context.prepare = std::vector<Json>{Json{{"step", "Scale"}, {"variable", Json::array({"other"})}}};
    QVERIFY(found());
    request.context = {.settings = {{"start_from", "/my/runs/digits-1"}}};  // its own: what stands there holds
    QVERIFY(!found());
  }
};

}  // namespace loom

QTEST_MAIN(loom::PlacesTest)
#include "places_test.moc"

// A person searches over settings: by fields and buttons, with trials that really train.
#include "app/pages/search/search_page.h"

#include <QLabel>
#include <QListWidget>
#include <QScrollArea>

#include "app/pages/search/front_picture.h"
#include "app/pages/search/space_form.h"
#include "app/pages/search/trial_model.h"
#include "app/shell/search_panel.h"
#include "tests/app/opened_window.h"
#include "widgets/controls/choice_field.h"
#include "widgets/table/data_table.h"

namespace loom {
namespace {

constexpr int kPatience = 60000;

const char* const kProject = R"({
  "loom": 1,
  "networks": { "main": {
    "nodes": [ {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]},
               {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [260, 120]},
               {"id": "hidden", "layer": "Linear", "outputs": 4, "at": [0, 60]},
               {"id": "act", "layer": "ReLU", "at": [0, 90]},
               {"id": "out", "layer": "Linear", "outputs": 2, "at": [0, 120]},
               {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 180]} ],
    "edges": [ ["x", "hidden"], ["hidden", "act"], ["act", "out"], ["out", "loss"], ["y", "loss.target"] ] } },
  "datasets": { "training": {"csv": "train.csv"}, "validation": {"csv": "train.csv"} },
  "training": { "network": "main", "dataset": "training", "validation": "validation", "epochs": EPOCHS, "batch": 4,
                "optimizer": {"name": "Momentum", "learning_rate": 0.05} } })";

}  // namespace

class SearchPageTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  SearchPage& page() { return *m_open->window().findChild<SearchPage*>(); }
  DataTable& table() { return *m_open->part<DataTable>("search-table"); }
  template <class T>
  T& field(const char* name, int row = 0) {
    return *page().findChild<SpaceForm*>()->findChildren<T*>(name).at(row);
  }
  void fill(QLineEdit& edit, const QString& text) {
    QTest::mouseClick(&edit, Qt::LeftButton);
    edit.selectAll();
    QTest::keyClick(&edit, Qt::Key_Delete);
    QTest::keyClicks(&edit, text);
    QCoreApplication::processEvents();
  }
  // Chosen by its first letter, as from the keyboard.
  void choose(const char* name, Qt::Key letter) {
    auto* choice = m_open->part<ChoiceField>(name);
    choice->setFocus();
    QTest::keyClick(choice, letter);
  }
  // Ticked as from the keyboard, behind a click.
  void tick(const char* list, const QString& words) {
    auto* items = m_open->part<QListWidget>(list);
    const QList<QListWidgetItem*> found = items->findItems(words, Qt::MatchStartsWith);
    QVERIFY2(!found.isEmpty(), qPrintable(words));
    items->scrollToItem(found.first());
    const QRect place = items->visualItemRect(found.first());
    QTest::mouseClick(items->viewport(), Qt::LeftButton, {}, {place.right() - 4, place.center().y()});
    const Qt::CheckState before = found.first()->checkState();
    QTest::keyClick(items, Qt::Key_Space);
    QVERIFY2(found.first()->checkState() != before, qPrintable(words));
  }
  QString fault() { return m_open->part<QLabel>("search-fault")->text(); }
  QString cell(int row, int column) { return table().model()->index(row, column).data().toString(); }
  int rows() { return table().model()->rowCount(); }
  int inState(const QString& words) {
    int count = 0;
    for (int row = 0; row < rows(); ++row) count += cell(row, 1) == words;
    return count;
  }
  void open(int epochs) {
    QByteArray rows = "x__0,x__1,y\n";
    for (int i = 0; i < 12; ++i)
      rows +=
          QByteArray::number(i % 2 * 2 - 1) + ',' + QByteArray::number(i % 3) + ',' + QByteArray::number(i % 2) + '\n';
    m_open->write("p/train.csv", rows);
    const QString path = m_open->write("p/p.loom", QByteArray(kProject).replace("EPOCHS", QByteArray::number(epochs)));
    QVERIFY(m_open->workspace().openProject(path));
    QTRY_COMPARE(m_open->workspace().errors(), 0);
    m_open->window().showPage("trials");
    QTRY_VERIFY(page().isVisible());
  }

 private Q_SLOTS:
  void init() { m_open = std::make_unique<OpenedWindow>(); }
  void cleanup() { m_open.reset(); }

  void isOpenedFromTheMenuOfTrainAndBySearching() {
    open(2);
    m_open->window().showPage("network");
    QTest::keySequence(&m_open->window(), QKeySequence("Ctrl+K"));
    QTRY_VERIFY(m_open->part<QLineEdit>("search")->hasFocus());
    QTest::keyClicks(m_open->part<QLineEdit>("search"), "search over");
    auto& panel = *m_open->window().findChild<SearchPanel*>();
    QTRY_VERIFY(!panel.hits().isEmpty());
    QCOMPARE(panel.hits().front().text, QString("Search over settings"));
    QTest::keyClick(m_open->part<QLineEdit>("search"), Qt::Key_Return);
    QTRY_VERIFY(page().isVisible());
  }

  void aMistypedKeyIsHelpedAndTrialsTrainAndTheBestStandsOut() {
    open(3);
    // What stands there first is a range that fits every project; the second row is a layer's argument.
    QCOMPARE(field<QLineEdit>("search-key").text(), QString("optimizer.learning_rate"));
    m_open->click("search-add");
    fill(field<QLineEdit>("search-key", 1), "hiden.outputs");
    auto& take = field<QAbstractButton>("search-take", 1);
    QTRY_VERIFY(take.isVisible());
    QCOMPARE(take.text(), QString("hidden.outputs"));
    QTest::mouseClick(&take, Qt::LeftButton);
    QCOMPARE(field<QLineEdit>("search-key", 1).text(), QString("hidden.outputs"));
    QCOMPARE(field<QLineEdit>("search-low", 1).text(), QString("1"));
    QCOMPARE(field<QLineEdit>("search-high", 1).text(), QString("16"));
    QVERIFY(field<QLabel>("search-hint", 1).text().contains("now 4"));
    choose("search-strategy", Qt::Key_R);
    fill(*m_open->part<QLineEdit>("search-trials"), "4");
    m_open->click("search-start");
    QVERIFY2(fault().isEmpty(), qPrintable(fault()));
    QTRY_COMPARE_WITH_TIMEOUT(inState("Finished"), 4, kPatience);
    QTRY_VERIFY(m_open->part<QAbstractButton>("search-train-best")->isVisible());
    int best = 0;
    for (int row = 0; row < rows(); ++row) best += table().model()->index(row, 4).data(kRemarkRole) == "best";
    QCOMPARE(best, 1);
    QCOMPARE(m_open->workspace().runs().size(), 4);
    for (const RunRecord& run : m_open->workspace().runs()) {
      QCOMPARE(run.tags, QStringList{"search-1"});
      QVERIFY(QFile::exists(run.folder + "/trial.json"));
    }
    QVERIFY(QFile::exists(m_open->path("p/runs/search-1.search.json")));
    // Its row leads to the run.
    const QString name = m_open->workspace().runs().at(2).name;
    const QRect place = table().visualRect(table().model()->index(2, 1));
    QTest::mouseClick(table().viewport(), Qt::LeftButton, {}, place.center());
    QTest::mouseDClick(table().viewport(), Qt::LeftButton, {}, place.center());
    QTRY_COMPARE(m_open->window().currentPage(), QString("training"));
    QCOMPARE(m_open->workspace().store().find(m_open->workspace().currentRun())->name, name);
    // By Return as well, but not where something is typed.
    m_open->window().showPage("trials");
    m_open->window().activateWindow();  // without a window system a completer's list stays the active window
    QTRY_VERIFY(m_open->window().isActiveWindow() && m_open->window().settled());
    QTest::keySequence(&m_open->window(), QKeySequence("Ctrl+K"));
    auto* const words = m_open->part<QLineEdit>("search");
    QTRY_VERIFY(words->hasFocus());
    QTest::keyClicks(words, "dark");
    const auto& hits = m_open->window().findChild<SearchPanel*>()->hits();
    QTRY_VERIFY(hits.size() == 1 && hits.first().text == "Dark colours");
    QTest::keyClick(words, Qt::Key_Return);
    QTRY_VERIFY(m_open->workspace().preferences().themeMode() == ThemeMode::dark);
    QVERIFY(page().isVisible());
    table().setFocus();
    QTest::keyClick(&table(), Qt::Key_Return);
    QTRY_COMPARE(m_open->window().currentPage(), QString("training"));
    // And the best is trained once more as a run of its own.
    m_open->window().showPage("trials");
    m_open->click("search-train-best");
    QTRY_COMPARE(m_open->workspace().runs().size(), 5);
    QCOMPARE(m_open->workspace().runs().last().name, QString("search-1-best"));
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().runs().last().state, RunState::finished, kPatience);
  }

  void aStructureIsChosenFromTheDrawingAndWeighedAgainstWhatItCosts() {
    open(2);
    m_open->click("search-add-structure");
    auto* add = m_open->part<QAbstractButton>("search-structure-add");
    QTRY_VERIFY(add->isVisible());
    QVERIFY2(!add->isEnabled(), "nothing is ticked yet");
    auto* kind = m_open->part<QWidget>("search-structure-kind");
    const auto show = [&](const char* name) {
      m_open->part<QScrollArea>("search-form")->ensureWidgetVisible(m_open->part<QWidget>(name));
    };
    show("search-structure-nodes");
    tick("search-structure-nodes", "hidden: Outputs");
    QCOMPARE(m_open->part<QLineEdit>("search-structure-high")->text(), QString("16"));
    show("search-structure-add");
    m_open->click("search-structure-add");
    QCOMPARE(field<QLineEdit>("search-key", 1).text(), QString("hidden.outputs"));
    kind->setFocus();
    QTest::keyClick(kind, Qt::Key_Right);
    tick("search-structure-nodes", "hidden, ");
    tick("search-structure-nodes", "act, ");
    m_open->click("search-structure-add");
    QCOMPARE(field<QLineEdit>("search-key", 2).text(), QString("hidden,act.repeat"));
    QVERIFY2(field<QLabel>("search-hint", 2).text().contains("hidden, act: the chain"),
             qPrintable(field<QLabel>("search-hint", 2).text()));
    QTest::keyClick(kind, Qt::Key_Right);
    tick("search-structure-nodes", "act: Layer");
    tick("search-structure-layers", "GELU");
    tick("search-structure-layers", "none");
    m_open->click("search-structure-add");
    QVERIFY(field<QLineEdit>("search-values", 3).text().startsWith("ReLU, "));
    m_open->click("search-structure-close");
    QTRY_VERIFY(!add->isVisible());
    // What is taken away comes back to its place.
    QTest::mouseClick(&field<QAbstractButton>("search-remove", 0), Qt::LeftButton);
    QTRY_COMPARE(page().findChild<SpaceForm*>()->rows(), 3);
    m_open->undo();
    QTRY_COMPARE(page().findChild<SpaceForm*>()->rows(), 4);
    QCOMPARE(page().findChild<SpaceForm*>()->texts().first().section('=', 0, 0), QString("optimizer.learning_rate"));
    // Of the row that went nothing is left that a new style would look for.
    for (const ThemeMode mode : {ThemeMode::dark, ThemeMode::light}) {
      QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
      Theme::of().setMode(mode);
    }
    // A limit that nothing keeps, then one that some keep.
    choose("search-strategy", Qt::Key_R);
    fill(*m_open->part<QLineEdit>("search-trials"), "5");
    auto& limit = *m_open->part<QLineEdit>("search-limit-multiply_adds");
    fill(limit, "few");
    m_open->click("search-start");
    QVERIFY2(fault().contains("'few' is no number") && !fault().contains("--"), qPrintable(fault()));
    fill(limit, "1");
    m_open->click("search-start");
    QTRY_VERIFY_WITH_TIMEOUT(fault().contains("above the limit of 1 multiply-adds"), kPatience);
    QVERIFY(m_open->workspace().runs().isEmpty());
    fill(limit, "150");
    m_open->click("search-start");
    QVERIFY2(fault().isEmpty(), qPrintable(fault()));
    QTRY_COMPARE_WITH_TIMEOUT(inState("Finished"), 5, kPatience);
    QTRY_VERIFY(m_open->part<QAbstractButton>("search-start")->isEnabled());
    const TrialModel& model = *page().findChild<TrialModel*>();
    for (const ShownTrial& each : model.search().trials) {
      const int outputs = each.point[1], repeats = each.point[2];
      const double adds = 2 * outputs + (repeats - 1) * outputs * outputs + 2 * outputs;
      QCOMPARE(each.cost.multiplyAdds, adds);
      QVERIFY(adds <= 150);
      QVERIFY2(each.cost.step > 0 && each.cost.memory > 0, "as loom plan says");
    }
    auto& front = *page().findChild<FrontPicture*>();
    QTRY_VERIFY(front.isVisible());
    QCOMPARE(front.trialsShown(), 5);
    QVERIFY(!front.front().empty());
    // By keys along the front, under the pointer by its words, by a click to its run.
    front.setFocus();
    QTest::keyClick(&front, Qt::Key_Right);
    QVERIFY(front.words().first() == QString("Trial %1").arg(front.front().front()));
    const int number = front.front().back();
    QTest::mouseMove(&front, front.place(number).toPoint());
    QTRY_COMPARE(front.words().value(0), QString("Trial %1").arg(number));
    QVERIFY2(front.words().join('\n').contains("hidden.outputs"), qPrintable(front.words().join('\n')));
    QTest::mouseClick(&front, Qt::LeftButton, {}, front.place(number).toPoint());
    QTRY_COMPARE(m_open->window().currentPage(), QString("training"));
    QVERIFY(m_open->workspace()
                .store()
                .find(m_open->workspace().currentRun())
                ->name.endsWith(QString("-%1").arg(number, 3, 10, QChar('0'))));
    // Against another cost, which is remembered with the project.
    m_open->window().showPage("trials");
    choose("search-against", Qt::Key_P);
    QTRY_COMPARE(front.title(), QString("Parameters"));
    QCOMPARE(page().saveLayout()["against"].toString(), QString("parameters"));
    QCOMPARE(page().saveLayout()["limits"].toObject()["multiply_adds"].toString(), QString("150"));
  }

  void whatCannotBeIsRefusedByName() {
    open(2);
    choose("search-strategy", Qt::Key_R);
    fill(field<QLineEdit>("search-low"), "1");
    fill(field<QLineEdit>("search-high"), "0.1");
    m_open->click("search-start");
    QVERIFY2(fault().contains("optimizer.learning_rate") && fault().contains("write 0.1..1") && !fault().contains("--"),
             qPrintable(fault()));
    fill(field<QLineEdit>("search-low"), "0");
    QVERIFY2(fault().isEmpty(), "what is typed anew is not refused yet");
    m_open->click("search-start");
    QVERIFY2(fault().contains("begins above 0"), qPrintable(fault()));
    fill(field<QLineEdit>("search-low"), "0.01");
    fill(field<QLineEdit>("search-high"), "1e9");
    m_open->click("search-start");
    QVERIFY2(fault().contains("cannot be"), qPrintable(fault()));
    fill(field<QLineEdit>("search-key"), "nonsense.key");
    m_open->click("search-start");
    QVERIFY2(fault().contains("no such setting"), qPrintable(fault()));
    QVERIFY(m_open->workspace().runs().isEmpty());
    QTest::mouseClick(&field<QAbstractButton>("search-remove"), Qt::LeftButton);
    QTRY_VERIFY(!m_open->part<QAbstractButton>("search-start")->isEnabled());
  }

  void stoppedWholeItGoesOnAndIsRemembered() {
    open(1000000);
    choose("search-strategy", Qt::Key_R);
    fill(*m_open->part<QLineEdit>("search-trials"), "2");
    m_open->click("search-start");
    QVERIFY2(fault().isEmpty(), qPrintable(fault()));
    const auto trains = [this] {
      const QList<RunRecord> runs = m_open->workspace().runs();
      return runs.size() == 1 && runs.first().state == RunState::running && runs.first().bestStep > 0;
    };
    QTRY_VERIFY_WITH_TIMEOUT(trains(), kPatience);
    m_open->click("search-stop");
    QTRY_COMPARE_WITH_TIMEOUT(inState("Waits"), 1, kPatience);
    QCOMPARE(rows(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().runs().first().state, RunState::stopped, kPatience);
    // Another day.
    const QString path = m_open->document().path();
    QVERIFY(m_open->workspace().closeProject());
    QVERIFY(m_open->workspace().openProject(path));
    m_open->window().showPage("trials");
    QTRY_COMPARE(rows(), 1);
    QCOMPARE(m_open->part<QLineEdit>("search-trials")->text(), QString("2"));
    QCOMPARE(field<QLineEdit>("search-high").text(), QString("1"));
    QTRY_COMPARE(m_open->workspace().errors(), 0);
    m_open->click("search-go-on");
    QTRY_VERIFY_WITH_TIMEOUT(trains() && m_open->workspace().runs().first().attempt == 2, kPatience);
    QVERIFY2(fault().isEmpty(), qPrintable(fault()));
    m_open->click("search-stop");
    QTRY_COMPARE_WITH_TIMEOUT(inState("Waits"), 1, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().runs().first().state, RunState::stopped, kPatience);
    QCOMPARE(rows(), 1);
  }
};

}  // namespace loom

QTEST_MAIN(loom::SearchPageTest)
#include "search_page_test.moc"

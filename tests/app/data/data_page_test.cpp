// A person at the Data page: files dropped, faults found with their place, a validation set split off, steps of
// preparation.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QComboBox>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTableView>

#include "app/pages/data/dataset_session.h"
#include "app/pages/data/findings_list.h"
#include "app/pages/data/preparation_panel.h"
#include "app/pages/data/preparation_preview.h"
#include "app/pages/data/samples_model.h"
#include "app/pages/data/samples_view.h"
#include "app/pages/data/step_edits.h"
#include "app/shell/status_strip.h"
#include "tests/app/opened_window.h"
#include "tests/widgets/window_hand.h"
#include "widgets/controls/button.h"
#include "widgets/controls/commands.h"
#include "widgets/controls/number_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/document/background_pool.h"
#include "widgets/table/column_list.h"

namespace loom {

class DataPageTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  QLabel& doctor() { return *m_open->part<QLabel>("doctor"); }
  QAbstractItemModel& findings() { return *m_open->window().findChild<FindingsList*>()->model(); }
  // What a cell says, once it is read.
  QString cell(int row, int column) {
    QString said;
    [&] {
      QTRY_VERIFY((said = samples().index(row, column).data().toString()) != QString::fromUtf8(SamplesModel::kNotYet));
    }();
    return said;
  }
  QAbstractItemModel& samples() {
    return *m_open->window().findChild<SamplesView*>()->findChild<QTableView*>()->model();
  }
  // Big-endian numbers of an IDX file, then its bytes.
  static QByteArray idx(std::initializer_list<quint32> head, int bytes) {
    QByteArray file;
    for (quint32 number : head)
      for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(number >> shift);
    for (int i = 0; i < bytes; ++i) file += static_cast<char>(i % 10);
    return file;
  }

  static SessionRequest requestOf(const QString& csv) {
    return {.csv = csv, .spec = {}, .prepare = {}, .measuredOn = {}, .otherPart = {}, .check = {}};
  }
  static void letReadersGo(const QString& pipe) {
    do {
      const int writer = ::open(pipe.toUtf8().constData(), O_WRONLY | O_NONBLOCK);
      if (writer >= 0) ::close(writer);
    } while (!nothingBesideTheWindow(20));
  }

 private Q_SLOTS:
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->click("new-network");
    QVERIFY(m_open->workspace().saveAs(m_open->path("project.loom")));
    m_open->window().showPage("data");
  }
  void cleanup() { m_open.reset(); }

  void droppedCsvsBecomeTrainingAndValidation() {
    QByteArray rows = "x__0,x__1,y:label\n";
    for (int i = 0; i < 50; ++i)
      rows += QByteArray::number(i * 0.25) + ',' + QByteArray::number(i * i) + ',' + QByteArray::number(i % 3) + '\n';
    m_open->drop({m_open->write("train.csv", rows)});
    m_open->drop({m_open->write("test.csv", "x__0,x__1,y:label\n9,9,2\n")});
    QCOMPARE(m_open->project().datasets.size(), std::size_t{2});
    QVERIFY(m_open->document().text().find("\"csv\": \"train.csv\"") !=
            std::string::npos);  // beside the project: relative
    QCOMPARE(m_open->project().training.validation, std::string("validation"));
    m_open->part<QTabBar>("datasets")->setCurrentIndex(0);
    QTRY_COMPARE(samples().rowCount(), 50);
    QTRY_COMPARE(doctor().text(), QString("Doctor: 0 errors, 1 warning"));  // x__1 spans two hundred times as much
    m_open->undo();
    m_open->undo();
    QCOMPARE(m_open->project().datasets.size(), std::size_t{1});
  }

  void samplesByKeysAndMenu() {
    QImage picture(8, 8, QImage::Format_Grayscale8);
    for (const char* name : {"a.png", "b.png"}) {
      picture.fill(name[0] == 'a' ? 40 : 200);
      QVERIFY(picture.save(m_open->path(name)));
    }
    m_open->drop({m_open->write("pictures.csv", "x:image,y:label\na.png,0\nb.png,1\n")});
    QTRY_COMPARE(samples().rowCount(), 2);
    auto& view = *m_open->window().findChild<SamplesView*>();
    QTRY_VERIFY(view.hasPictures());
    m_open->activate();
    view.currentWidget()->setFocus();
    const auto key = [&](Qt::Key which) { QTest::keyClick(QApplication::focusWidget(), which); };
    key(Qt::Key_G);
    QCOMPARE(view.form(), SamplesView::Form::grid);
    QVERIFY(view.currentWidget()->hasFocus());
    const int size = view.pictureSize();
    key(Qt::Key_Plus);
    QCOMPARE(view.pictureSize(), size + SamplesView::kPictureStep);
    key(Qt::Key_Minus);
    QCOMPARE(view.pictureSize(), size);
    QStringList lines;
    const QPoint middle = view.mapTo(&m_open->window(), view.rect().center());
    menuByHand(m_open->window().windowHandle(), middle, {"Show as rows"}, [&](const QMenu& menu) {
      for (const QAction* each : menu.actions())
        if (!each->isSeparator()) lines << each->property(kCommandProperty).toString();
    });
    QCOMPARE(view.form(), SamplesView::Form::rows);
    QCOMPARE(lines, (QStringList{"data.pictures", "data.larger", "data.smaller", "data.next-finding",
                                 "data.previous-finding", "data.check"}));
    // The keys are the registry's.
    m_open->window().commands().setKeys("data.pictures", {QKeySequence("P")});
    m_open->activate();
    view.currentWidget()->setFocus();
    key(Qt::Key_G);
    QCOMPARE(view.form(), SamplesView::Form::rows);
    key(Qt::Key_P);
    QCOMPARE(view.form(), SamplesView::Form::grid);
    m_open->window().commands().resetKeys("data.pictures");
  }

  void faultsStandWithLineColumnAndRemedy() {
    m_open->drop({m_open->write("faulty.csv", "x__0,x__1,y:label\n1,2,0\n1,two,1\n3,nan,1\n4,5\n6,7,-3\n")});
    QTRY_VERIFY(m_open->window().settled());
    QStringList found;
    for (int row = 0; row < findings().rowCount(); ++row)
      found << findings().index(row, 0).data().toString() + ", " +
                   findings().index(row, 0).data(FindingsModel::place).toString();
    for (const char* each : {"1 row is no data, line 5", "x__1: 1 empty, line 4", "x__1: 1 no numbers, line 3",
                             "y: 1 are no classes, line 6"})
      QVERIFY2(found.contains(each), qPrintable(found.join(" | ")));
    QVERIFY(remedy("Skip the row"));
    // What is said of them are sentences.
    QStringList told;
    for (int row = 0; row < findings().rowCount(); ++row)
      told << findings().index(row, 0).data(FindingsModel::detail).toString();
    QVERIFY2(told.filter("Line 6: the label is -3, but labels are whole numbers from 0.").size() == 1,
             qPrintable(told.join(" | ")));
    for (const QString& each : told)
      QVERIFY2(!each.contains("wanted") && (each.isEmpty() || each.endsWith('.')), qPrintable(each));
    QVERIFY(m_open->workspace().errors() > 0);  // training on this is refused
    // The strip counts what the doctor counts.
    QVERIFY2(doctor().text().startsWith(QString("Doctor: %1 errors").arg(m_open->workspace().errors())),
             qPrintable(doctor().text()));
  }

  // By its line, of as many rows as there are: also when another program has written the file anew.
  void theRowThatIsMeantIsOneOfTheFileAsItIs() {
    const auto table = [](int rows) {
      QByteArray text = "x,y:label\n";
      for (int i = 0; i < rows; ++i) text += QByteArray::number(i) + ',' + QByteArray::number(i % 2) + '\n';
      return text;
    };
    m_open->drop({m_open->write("many.csv", table(20))});
    QTRY_COMPARE(samples().rowCount(), 20);
    const auto* const strip = m_open->window().findChild<StatusStrip*>();
    QTRY_COMPARE(strip->pageWords(), QString("20 rows"));
    QTableView& rows = *m_open->window().findChild<SamplesView*>()->findChild<QTableView*>();
    QTest::mouseClick(rows.viewport(), Qt::LeftButton, {}, rows.visualRect(samples().index(10, 1)).center());
    QTRY_COMPARE(strip->pageWords(), QString("Line 12, 20 rows"));
    m_open->write("many.csv", table(5));
    m_open->click("check-data");
    QTRY_COMPARE(samples().rowCount(), 5);
    QTRY_COMPARE(strip->pageWords(), QString("5 rows"));
  }

  void aVanishedFileIsSaidAndTheWindowStays() {
    const QString csv = m_open->write("gone.csv", "x,y\n1,2\n");
    m_open->drop({csv});
    QTRY_COMPARE(samples().rowCount(), 1);
    QFile::remove(csv);
    m_open->click("check-data");
    QTRY_VERIFY2(findings().rowCount() > 0 || m_open->workspace().errors() > 0, qPrintable(doctor().text()));
    QVERIFY(m_open->window().isVisible());
  }

  // As with the sample whose pictures are for the person to fetch.
  void whereAMissingFileComesFromIsSaid() {
    const QString path = m_open->write("fetch.loom", R"({"loom": 1, "networks": {"main": {"nodes": [], "edges": []}},
      "datasets": {"training": {"csv": "data/index.csv", "origin": "Fetch it, then run: loom data import cifar"}}})");
    m_open->window().openProject(path);
    m_open->window().showPage("data");
    const auto said = [this] { return m_open->part<QLabel>("data-status")->text(); };
    QTRY_VERIFY2(said().contains("then run: loom data import cifar"), qPrintable(said()));
    QVERIFY2(said().contains("index.csv"), qPrintable(said()));
  }

  void theLastTenthIsSplitOffAndComesBackByUndo() {
    QByteArray rows = "x,y:label\n";
    for (int i = 0; i < 100; ++i) rows += QByteArray::number(i) + ',' + QByteArray::number(i % 2) + '\n';
    m_open->drop({m_open->write("all.csv", rows)});
    QTRY_COMPARE(samples().rowCount(), 100);
    m_open->click("split-data");
    m_open->part<SegmentedControl>("split-order")->setCurrent(1);
    m_open->part<QComboBox>("split-by")->setCurrentIndex(m_open->part<QComboBox>("split-by")->count() - 1);
    m_open->click("split-now");
    QCOMPARE(m_open->project().datasets.size(), std::size_t{2});
    QTRY_COMPARE(samples().rowCount(), 90);
    m_open->part<QTabBar>("datasets")->setCurrentIndex(1);
    QTRY_COMPARE(samples().rowCount(), 10);
    QCOMPARE(cell(0, 1), QString("90"));  // the first row that was held back
    QCOMPARE(cell(0, 0), QString("92"));  // with the line of the file
    m_open->undo();
    QTRY_COMPARE(m_open->project().datasets.size(), std::size_t{1});
    QTRY_COMPARE(samples().rowCount(), 100);
  }

  // What an import of class folders gives: sorted by class. As the card stands, both parts have all classes.
  void aSortedFileIsSplitWithTheSameShareOfEachClass() {
    QByteArray rows = "x,y:label\n";
    for (int i = 0; i < 100; ++i) rows += QByteArray::number(i) + ',' + QByteArray::number(i / 20) + '\n';
    m_open->drop({m_open->write("sorted.csv", rows)});
    QTRY_COMPARE(samples().rowCount(), 100);
    m_open->click("split-data");
    QCOMPARE(m_open->part<QComboBox>("split-by")->currentText(), QString("y"));
    m_open->click("split-now");
    m_open->part<QTabBar>("datasets")->setCurrentIndex(1);
    QTRY_COMPARE(samples().rowCount(), 10);
    std::map<QString, int> classes;
    for (int row = 0; row < 10; ++row) ++classes[cell(row, 2)];
    QCOMPARE(classes.size(), std::size_t{5});
    QTRY_VERIFY2(doctor().text().contains("no fault"), qPrintable(doctor().text()));
  }

  void theDoctorNamesClassesOfOnePartAlone() {
    QByteArray rows = "x,y:label\n";
    for (int i = 0; i < 100; ++i) rows += QByteArray::number(i) + ',' + QByteArray::number(i / 20) + '\n';
    m_open->drop({m_open->write("sorted.csv", rows)});
    QTRY_COMPARE(samples().rowCount(), 100);
    m_open->click("split-data");
    m_open->part<SegmentedControl>("split-order")->setCurrent(1);
    m_open->part<QComboBox>("split-by")->setCurrentIndex(m_open->part<QComboBox>("split-by")->count() - 1);
    m_open->part<NumberField>("split-share")->setFocus();
    m_open->type("20");
    m_open->click("split-now");
    QTRY_COMPARE(findings().index(0, 0).data().toString(), QString("Classes of one part alone"));
    const QString told = findings().index(0, 0).data(FindingsModel::detail).toString();
    QVERIFY2(told.contains("lasses of training is in validation: 0, 1, 2, 3"), qPrintable(told));
    QVERIFY(remedy("Split anew…"));
  }

  QPushButton* remedy(const QString& text) {
    for (QPushButton* button : m_open->window().findChild<FindingsList*>()->findChildren<QPushButton*>())
      if (button->text() == text) return button;
    return nullptr;
  }

  // What Normalise takes from the training set is measured, and grey stays grey.
  void normaliseIsSeenAndNothingIsBrightened() {
    for (int i = 0; i < 2; ++i) {
      QImage image(8, 8, QImage::Format_Grayscale8);
      image.fill(i == 0 ? 0x808080 : 0x404040);
      for (int x = 0; x < 8; ++x) image.scanLine(6)[x] = static_cast<uchar>(16 * x);
      QVERIFY(image.save(m_open->path(QString("grey%1.png").arg(i))));
    }
    m_open->drop({m_open->write("grey.csv", "x:image,y:label\ngrey0.png,0\ngrey1.png,1\n")});
    QTRY_COMPARE(samples().rowCount(), 2);
    auto* preview = m_open->window().findChild<PreparationPreview*>();
    QTRY_VERIFY(!preview->after().empty());
    QCOMPARE(qGray(preview->after()[0].pixel(3, 3)), 0x80);
    m_open->window().findChild<PreparationPanel*>()->addStep({{"step", "Normalise"}});
    QVERIFY(preview->after().empty());  // measured first
    QTRY_VERIFY2(!preview->after().empty() && preview->fault().isEmpty(), qPrintable(preview->fault()));
    QCOMPARE(qGray(preview->after()[0].pixel(3, 3)), 0x80);
    // One tells of all epochs where nothing is left to chance, else as many as have room.
    QCOMPARE(preview->after().size(), 1);
    m_open->window().findChild<PreparationPanel*>()->addStep({{"step", "Crop"}, {"size", {6, 3}}});
    QTRY_VERIFY2(preview->after().size() > 3, qPrintable(preview->fault()));
    const int all = static_cast<int>(preview->after().size());
    m_open->window().resize(1024, 700);
    QTRY_VERIFY(preview->shownEpochs() < all || preview->width() >= 34 + 96 + all * 102);
    preview->resize(34 + 96 + 3 * 102 + 50, preview->height());
    QVERIFY(preview->shownEpochs() >= 3 && preview->shownEpochs() < all);
  }

  void theNumbersOfAVectorStandInColumnsOfTheirOwn() {
    QByteArray rows = "x__0:rooms,x__1:metres,y\n";
    for (int i = 0; i < 40; ++i)
      rows += QByteArray::number(1 + i % 3) + ',' + QByteArray::number(1000 * i) + ',' +
              QByteArray::number(0.1 * (i % 7)) + '\n';
    m_open->drop({m_open->write("flats.csv", rows)});
    QTRY_COMPARE(samples().rowCount(), 40);
    QCOMPARE(samples().columnCount(), 4);
    QCOMPARE(samples().headerData(2, Qt::Horizontal).toString(), QString("metres"));
    QCOMPARE(cell(3, 2), QString("3000"));
    QTRY_VERIFY(remedy("Standardise columns"));  // one spans 2, the other 39,000
    QTRY_VERIFY(m_open->window().settled());
    remedy("Standardise columns")->click();
    QTRY_COMPARE(m_open->project().datasets[0].prepare.size(), std::size_t{1});
    QTRY_VERIFY(!remedy("Standardise columns"));  // what is mended is no finding
    m_open->document().undoStack().undo();
    QTRY_VERIFY(remedy("Standardise columns"));
  }

  // Minimum, mean, maximum and a histogram for each column of a table; a click leads to it in the rows, and its head
  // back.
  void eachColumnOfATableHasItsFigures() {
    QByteArray rows = "x__0:rooms,x__1:metres,x__2:same,y\n";
    for (int i = 0; i < 34; ++i)
      rows += QByteArray::number(1 + i % 3) + ',' + QByteArray::number(1000 * i) + ",4," +
              QByteArray::number(0.25 * i) + '\n';
    m_open->drop({m_open->write("flats.csv", rows)});
    auto& list = *m_open->window().findChild<ColumnList*>();
    QTRY_VERIFY(m_open->window().settled() && list.rowOf("x__1") == 1);
    QCOMPARE(list.facts(1), QString("metres: number, 0 to 33,000, mean 16,500, deviation 9,811"));
    QCOMPARE(list.facts(2), QString("same: always 4"));
    QVERIFY2(m_open->part<QLabel>("data-path")->text().contains("34 rows, 4 columns"),
             qPrintable(m_open->part<QLabel>("data-path")->text()));
    QListView& rows_ = list.view();
    const auto place = [&](int row) { return rows_.visualRect(rows_.model()->index(row, 0)); };
    // Every bin of the even column stands as high as the others: the row is not empty ground.
    const QImage picture = rows_.viewport()->grab(place(1)).toImage();
    int bars = 0;
    for (int x = 0; x < picture.width(); ++x)
      bars += picture.pixelColor(x, picture.height() / 2) == Theme::of().colour(Colour::control);
    QVERIFY2(bars >= 3 * 17, qPrintable(QString::number(bars)));
    auto* view = m_open->window().findChild<SamplesView*>();
    QTest::mouseClick(rows_.viewport(), Qt::LeftButton, {}, place(1).center());
    QCOMPARE(view->chosenColumn(), 2);
    QTest::keyClick(&rows_, Qt::Key_Down);
    QCOMPARE(view->chosenColumn(), 3);
    auto* head = view->findChild<QTableView*>()->horizontalHeader();
    QTest::mouseClick(head->viewport(), Qt::LeftButton, {},
                      QPoint(head->sectionViewportPosition(1) + 10, head->height() / 2));
    QCOMPARE(list.chosen(), std::string("x__0"));
    // A text leaves those that contain it.
    m_open->activate();
    m_open->part<QLineEdit>("search-columns")->setFocus();
    QTest::keyClicks(m_open->part<QLineEdit>("search-columns"), "met");
    QCOMPARE(rows_.model()->rowCount(), 1);
    QCOMPARE(list.rowOf("x__1"), 0);
  }

  // As on a disk that went away: a pipe into which nobody writes.
  void aFileThatDoesNotAnswerHoldsNothingUp() {
    const QString pipe = m_open->path("pipe.csv"), good = m_open->write("good.csv", "x,y\n1,2\n");
    QCOMPARE(::mkfifo(pipe.toUtf8().constData(), 0600), 0);
    QElapsedTimer timer;
    timer.start();
    {
      DatasetSession session;
      session.open(requestOf(pipe));
      session.open(requestOf(good));
      QVERIFY2(timer.elapsed() < 1000, "opening another file waited for the first");
      QTRY_COMPARE(session.state(), DatasetSession::State::ready);
      session.open(requestOf(pipe));
      timer.start();
    }
    QVERIFY2(timer.elapsed() < 1000, "the end of the session waited for its file");
    letReadersGo(pipe);
  }

  void aCellIsReadBesideTheWindow() {
    const QString pipe = m_open->path("pipe.csv");
    QCOMPARE(::mkfifo(pipe.toUtf8().constData(), 0600), 0);
    auto facts = std::make_shared<TableFacts>();
    facts->columns.push_back({.name = "x", .header = "x", .type = ColumnType::number});
    facts->rows = 3;
    SamplesModel model;
    model.setRows({pipe, facts, {}, {}});
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(model.index(0, 1).data().toString(), QString::fromUtf8(SamplesModel::kNotYet));
    QTRY_VERIFY(model.busy());
    QVERIFY2(timer.elapsed() < 1000, "the window waited for a cell");
    // Another file is not held up by it.
    model.setRows({m_open->write("good.csv", "x\n5\n6\n7\n"), facts, {}, {}});
    QSignalSpy changed(&model, &SamplesModel::dataChanged);
    QCOMPARE(model.index(2, 1).data().toString(), QString::fromUtf8(SamplesModel::kNotYet));
    QTRY_COMPARE(changed.count(), 1);
    QCOMPARE(model.index(2, 1).data().toString(), QString("7"));
    QCOMPARE(model.index(2, 0).data().toString(), QString("4"));
    QVERIFY2(timer.elapsed() < 4000, "another file's disk was waited for");
    letReadersGo(pipe);
  }

  void picturesAreKeptByTheirBytes() {
    for (int i = 0; i < 8; ++i) {
      QImage image(64, 64, QImage::Format_RGB888);
      image.fill(QColor(i * 20, 0, 0));
      QVERIFY(image.save(m_open->path(QString("p%1.png").arg(i))));
    }
    QByteArray rows = "x:image\n";
    for (int i = 0; i < 8; ++i) rows += "p" + QByteArray::number(i) + ".png\n";
    m_open->drop({m_open->write("pictures.csv", rows)});
    QTRY_COMPARE(samples().rowCount(), 8);
    auto& model = static_cast<SamplesModel&>(samples());
    model.setMostPictureBytes(3 * 64 * 64 * 3);
    for (int row = 0; row < 8; ++row)
      QTRY_VERIFY(!model.index(row, 1).data(SamplesModel::picture).value<QImage>().isNull());
    QVERIFY(model.pictureBytes() > 0 && model.pictureBytes() <= 3 * 64 * 64 * 3);
  }

  void aFolderOfIdxPairsBecomesTwoDatasets() {
    m_open->write("raw/train-images-idx3-ubyte", idx({0x803, 40, 4, 4}, 40 * 16));
    m_open->write("raw/train-labels-idx1-ubyte", idx({0x801, 40}, 40));
    m_open->write("raw/t10k-images-idx3-ubyte", idx({0x803, 10, 4, 4}, 10 * 16));
    m_open->write("raw/t10k-labels-idx1-ubyte", idx({0x801, 10}, 10));
    m_open->drop({m_open->path("raw")});
    QTRY_COMPARE(m_open->project().datasets.size(), std::size_t{2});
    QVERIFY(QFile::exists(m_open->path("data/train/index.csv")) && QFile::exists(m_open->path("data/t10k/index.csv")));
    QTRY_VERIFY(samples().rowCount() == 40 || samples().rowCount() == 10);
  }

  void halfAPairIsRefusedWithWhatToDo() {
    m_open->drop({m_open->write("lonely-images-idx3-ubyte", idx({0x803, 1, 2, 2}, 4))});
    auto* error = m_open->part<QLabel>("data-error");
    QTRY_VERIFY(error->isVisible());
    QVERIFY2(error->text().contains("a pair"), qPrintable(error->text()));
    QVERIFY(m_open->project().datasets.empty());
  }

  void stepsComeToStandWhereTheyBelong() {
    const auto on = [](const char* step, const char* column) {
      return Json{{"step", step}, {"variable", Json::array({column})}};
    };
    std::vector<Json> steps = {{{"step", "Scale"}}};
    for (const Json& each :
         {Json{{"step", "Join"}, {"variable", {"a", "b"}}, {"into", "v"}}, on("Standardise", "a"), on("Encode", "b"),
          on("Fill", "a"), Json{{"step", "SkipRows"}, {"lines", {7}}}, on("Fill", "c"), on("LeaveOut", "d"),
          Json{{"step", "SkipRows"}, {"lines", {3}}, {"faulty", true}}, Json{{"step", "Resize"}, {"size", {8, 8}}}})
      steps = withSteps(steps, {each});
    std::string order;
    for (const Json& each : steps) order += each.at("step").get<std::string>() + " ";
    QVERIFY2(order == "SkipRows LeaveOut Fill Encode Standardise Join Resize Scale ", order.c_str());
    QCOMPARE(steps[0], (Json{{"step", "SkipRows"}, {"lines", {3, 7}}, {"faulty", true}}));
    QCOMPARE(steps[2].at("variable"), Json::array({"a", "c"}));
    QCOMPARE(joinOf(steps, "b"), std::string("v"));
    // What is left out is out of all that means it; a step that then means nothing goes.
    const std::vector<Json> without = withoutColumn(steps, "b");
    QVERIFY(isLeftOut(without, "b") && joinOf(without, "b").empty() && joinOf(without, "a") == "v");
    QVERIFY(std::none_of(without.begin(), without.end(), [](const Json& each) { return each.at("step") == "Encode"; }));
    QVERIFY(!isLeftOut(withColumn(without, "b"), "b"));
    const std::vector<Json> renamed = renamedColumn(renamedColumn(steps, "a", "height"), "a", "width");
    QCOMPARE(nameAfter(renamed, "a"), std::string("width"));
    QCOMPARE(renamedColumn(renamed, "a", "a"), steps);
  }

  void aNetworkIsMadeOfTheDataByOneClick() {
    QByteArray rows = "x,y\n";
    for (int i = 0; i < 40; ++i) rows += QByteArray::number(i) + ',' + QByteArray::number(3 * i % 17) + '\n';
    m_open->drop({m_open->write("a.csv", rows)});
    QTRY_VERIFY(m_open->window().findChild<QAbstractButton*>("feeds-draw"));
    m_open->click("feeds-draw");
    QTRY_COMPARE(m_open->window().currentPage(), QString("network"));
    QTRY_VERIFY(m_open->window().findChild<QListWidget*>("target-columns"));
    QTRY_VERIFY(m_open->part<QListWidget>("target-columns")->isVisible());
  }

  void aSetIsRemovedByAClick() {
    m_open->drop({m_open->write("a.csv", "x,y\n1,2\n")});
    m_open->click("remove-data");
    QVERIFY(m_open->project().datasets.empty());
    m_open->undo();
    QCOMPARE(m_open->project().datasets.size(), std::size_t{1});
  }
};

}  // namespace loom

QTEST_MAIN(loom::DataPageTest)
#include "data_page_test.moc"

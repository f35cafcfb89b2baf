// A stranger's own data at the Data page, by mouse and keys: what the doctor offers, what columns are used for, and a
// journey to a prediction. Every remedy is a step of the project; no file of a person's is touched. Pictures are
// written where GRADLOOM_PICTURES names a folder.
#include <QLabel>
#include <QListView>
#include <QPainter>
#include <QPushButton>
#include <QTabBar>
#include <QTableView>
#include <QTableWidget>
#include <random>

#include "app/pages/data/feeds_bar.h"
#include "app/pages/data/findings_list.h"
#include "app/pages/data/preparation_preview.h"
#include "app/pages/data/samples_model.h"
#include "app/pages/data/samples_view.h"
#include "app/pages/training/run_prediction.h"
#include "app/pages/training/training_page.h"
#include "tests/app/opened_window.h"
#include "widgets/controls/button.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/preview/column_change.h"
#include "widgets/table/column_list.h"

namespace loom {

constexpr int kPatience = 90000;

class RemediesTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  template <class T>
  T& only() {
    return *m_open->window().findChild<T*>();
  }
  FindingsList& list() { return only<FindingsList>(); }
  ColumnList& columns() { return only<ColumnList>(); }
  SamplesModel& samples() { return static_cast<SamplesModel&>(*only<SamplesView>().findChild<QTableView*>()->model()); }
  QString doctor() { return m_open->part<QLabel>("doctor")->text(); }
  const std::vector<Json>& steps() { return m_open->project().datasets.at(0).prepare; }
  QStringList titles() {
    QStringList all;
    for (int row = 0; row < list().findings().rowCount(); ++row)
      if (list().findings().finding(row).kind != ShownFinding::Kind::fine) all << list().findings().finding(row).title;
    return all;
  }
  int rowOf(const QString& title) {
    for (int row = 0; row < list().findings().rowCount(); ++row)
      if (list().findings().finding(row).title.contains(title)) return row;
    return -1;
  }
  QPushButton* remedy(const QString& title, const QString& text) {
    const int row = rowOf(title);
    QWidget* const place = row < 0 ? nullptr : list().indexWidget(list().model()->index(row, 0));
    for (QPushButton* button : place ? place->findChildren<QPushButton*>() : QList<QPushButton*>())
      if (button->text() == text) return button;
    return nullptr;
  }
  // Where a person would press it: in sight, with nothing over it.
  void press(const QString& title, const QString& text) {
    QTRY_VERIFY2(remedy(title, text), qPrintable(title + ": " + text + " of " + titles().join(" | ")));
    QTRY_VERIFY2(m_open->window().settled(), "the page settles");
    list().scrollTo(list().model()->index(rowOf(title), 0));
    QTRY_VERIFY2(remedy(title, text) && !remedy(title, text)->visibleRegion().isEmpty(), qPrintable(text));
    QPushButton* const button = remedy(title, text);
    const QPoint at = button->mapTo(&m_open->window(), button->rect().center());
    QCOMPARE(m_open->window().childAt(at), static_cast<QWidget*>(button));
    QTest::mouseClick(button, Qt::LeftButton);
    QCoreApplication::processEvents();
  }
  void chooseColumn(const char* name) {
    QTRY_VERIFY2(columns().rowOf(name) >= 0, name);
    QListView& view = columns().view();
    const QModelIndex at = view.model()->index(columns().rowOf(name), 0);
    view.scrollTo(at);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(at).center());
    QTRY_COMPARE(columns().chosen(), std::string(name));
  }
  void setRole(const char* column, int role) {
    chooseColumn(column);
    auto* const roles = m_open->part<SegmentedControl>("column-role");
    QTRY_VERIFY(roles->isVisible());
    QTest::mouseClick(roles, Qt::LeftButton, {}, roles->segment(role).center());
    QCoreApplication::processEvents();
  }
  void picture(const char* name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (folder.isEmpty()) return;
    QTRY_VERIFY(m_open->window().settled());
    const auto grab = [&](const char* how) {
      QTRY_VERIFY(m_open->window().settled());
      m_open->window().grab().save(QDir(folder).filePath(QString::fromLatin1(name) + how + ".png"));
    };
    grab("");
    m_open->window().resize(1024, 700);
    Theme::of().setMode(ThemeMode::dark);
    QCoreApplication::processEvents();
    grab("-dark");
    m_open->window().resize(1440, 900);
    Theme::of().setMode(ThemeMode::light);
    QCoreApplication::processEvents();
  }
  static QByteArray words(int rows) {
    QByteArray all = "x,kind\n";
    for (int i = 0; i < rows; ++i) all += QByteArray::number(i % 2 ? i : -i) + (i % 2 ? ",ham\n" : ",spam\n");
    return all;
  }
  QByteArray content(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  void draw(const char* drawing) {
    const std::vector<Network> drawn = readProject(drawing, "drawing").project.networks;
    m_open->document().edit("draw", [&](Project& project) {
      project.networks = drawn;
      project.training.settings["epochs"] = 3;
      project.training.settings["batch"] = 32;
    });
  }
  void train() {
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().errors(), 0, kPatience);
    m_open->click("train");
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().runs().size(), 1, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(!isLive(m_open->workspace().runs().front().state) &&
                                 m_open->workspace().runs().front().state != RunState::queued,
                             kPatience);
    QCOMPARE(m_open->workspace().runs().front().state, RunState::finished);
    m_open->window().showPage("training");
    QTRY_VERIFY(m_open->window().settled());
  }
  const Predictions& predict(const QString& file) {
    static const Predictions none;
    m_open->drop({file});
    const auto& predicted = static_cast<TrainingPage*>(m_open->window().page("training"))->prediction().predictions();
    [&] { QTRY_VERIFY_WITH_TIMEOUT(predicted, kPatience); }();
    return predicted ? *predicted : none;
  }
  // 800 houses: a date, two columns of words, holes in two columns, and where the price is not known.
  static QByteArray houses() {
    std::mt19937 random(7);
    const auto number = [&](double low, double high) {
      return low + (high - low) * static_cast<double>(random()) / 4294967295.0;
    };
    const char* const towns[] = {"Ulm", "Bern", "Chur"};
    const char* const states[] = {"new", "old", "mended", "worn"};
    QByteArray rows = "id,sold,town,state,area,rooms,humidity,price\n";
    for (int i = 0; i < 800; ++i) {
      const double area = number(3000, 20000);  // square decimetres
      const int rooms = 1 + static_cast<int>(area / 3000), town = i % 3;
      rows += QByteArray::number(5000 + i) + ",2024-" + QByteArray::number(1 + i % 12).rightJustified(2, '0') + '-' +
              QByteArray::number(1 + i % 28).rightJustified(2, '0') + ',' + towns[town] + ',' +
              (i % 97 == 5 ? "" : states[i % 4]) + ',' + QByteArray::number(area, 'f', 1) + ',' +
              QByteArray::number(rooms) + ',' + (i % 26 == 3 ? "" : QByteArray::number(number(30, 70), 'f', 1)) + ',' +
              (i % 200 == 11 ? "" : QByteArray::number(0.03 * area + 50 * town + number(-10, 10), 'f', 1)) + '\n';
    }
    return rows;
  }

 private Q_SLOTS:
  void initTestCase() { qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM); }
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->click("new-network");
    QDir().mkpath(m_open->path("project"));
    QVERIFY(m_open->workspace().saveAs(m_open->path("project/project.loom")));
    m_open->window().showPage("data");
  }
  void cleanup() {
    if (m_open->workspace().document()) m_open->document().discardRecovery();
    m_open.reset();
  }

  // From a CSV of anywhere to numbers and a target.
  void aTableWithDatesWordsAndHolesIsMadeReadyByClicks() {
    const QString csv = m_open->write("downloads/houses.csv", houses());
    m_open->drop({csv});
    m_open->click("copy-into-project");
    QTRY_COMPARE(m_open->project().datasets.at(0).csv, m_open->path("project/data/houses.csv").toStdString());
    QTRY_VERIFY2(titles().contains("humidity: 31 empty"), qPrintable(titles().join(" | ")));
    QVERIFY2(m_open->part<QLabel>("data-path")->text().contains("800 rows, 8 columns"),
             qPrintable(m_open->part<QLabel>("data-path")->text()));
    QCOMPARE(m_open->part<QAbstractButton>("csv-format")->text(), QString("commas, UTF-8"));
    picture("data-houses-found");
    // One finding a column, and the cell is marked where it stands.
    QCOMPARE(titles().filter("humidity").size(), 1);
    const int humidity = samples().columnOf("humidity");
    QTRY_COMPARE(samples().index(3, humidity).data(SamplesModel::state).toInt(), int(SamplesModel::missing));
    QCOMPARE(samples().index(3, humidity).data().toString(), QString("missing"));
    QCOMPARE(samples().index(2, humidity).data(SamplesModel::state).toInt(), int(SamplesModel::fine));
    QVERIFY(samples().index(2, humidity).data(SamplesModel::number).toBool());

    setRole("price", 1);
    QCOMPARE(m_open->project().datasets.at(0).extra.value("target", ""), std::string("price"));
    QTRY_VERIFY2(titles().contains("price: 4 empty"), qPrintable(titles().join(" | ")));
    setRole("id", 2);
    press("humidity: 31 empty", "Fill with median");
    press("price: 4 empty", "Skip 4 rows");
    press("state: 9 empty", "Fill with the most frequent");
    press("sold is a date", "Day of the year");
    press("town is text", "One column a class");
    press("state is text", "One column a class");
    press("Ranges differ", "Standardise columns");
    QTRY_VERIFY2(titles().filter("humidity").isEmpty() && titles().filter("is text").isEmpty(),
                 qPrintable(titles().join(" | ")));
    QStringList kinds;
    for (const Json& step : steps()) kinds << QString::fromStdString(step.at("step"));
    QCOMPARE(kinds, (QStringList{"SkipRows", "LeaveOut", "Fill", "Fill", "DateParts", "Encode", "Standardise"}));
    QCOMPARE(steps()[5].at("variable"), Json::array({"town", "state"}));  // one step for both
    // What a step did is seen on the column that is chosen, for the rows in view.
    chooseColumn("humidity");
    auto& change = only<ColumnChange>();
    QTRY_VERIFY(!change.shown().after.empty() && change.shown().after[0].cells.size() > 3);
    picture("data-houses-mended");

    draw(R"({"loom": 1, "networks": {"main": {"nodes": [
      {"id": "x", "layer": "Input", "shape": [2]}, {"id": "fc1", "layer": "Linear", "outputs": 16},
      {"id": "relu", "layer": "ReLU"}, {"id": "fc2", "layer": "Linear", "outputs": 1},
      {"id": "y", "layer": "Input", "shape": [1]}, {"id": "loss", "layer": "MeanSquaredError"}],
      "edges": [["x", "fc1"], ["fc1", "relu"], ["relu", "fc2"], ["fc2", "loss"], ["y", "loss.target"]]}}})");
    QTRY_VERIFY(m_open->part<QWidget>("feed-x"));
    setRole("price", 0);
    setRole("price", 1);  // now there is an Input to take it
    QTRY_COMPARE(m_open->project().networks[0].find("y")->values.value("variable", ""), std::string("price"));
    // The person's file is as it was, and alone.
    QCOMPARE(content(csv), houses());
    QCOMPARE(QDir(m_open->path("downloads")).entryList(QDir::Files), QStringList{"houses.csv"});
    QCOMPARE(QDir(m_open->path("project/data")).entryList(QDir::Files), QStringList{"houses.csv"});
  }

  // As the best known tables are: the first row is no header, and a file to predict has none either.
  void aFileWithoutAHeaderIsReadFromItsFirstLine() {
    const QByteArray rows = words(60).mid(words(0).size());
    m_open->drop({m_open->write("project/bare.csv", rows)});
    QTRY_VERIFY(m_open->part<QLabel>("data-path")->text().contains("59 rows"));
    QTRY_COMPARE(titles().value(0), QString("The first line looks like a row"));
    picture("data-first-row");
    press("The first line looks like a row", "It is a row");
    QCOMPARE(m_open->project().datasets.at(0).extra.at("header"), Json(false));
    QTRY_VERIFY(m_open->part<QLabel>("data-path")->text().contains("60 rows"));
    QTRY_VERIFY2(!titles().contains("The first line looks like a row"), qPrintable(titles().join(" | ")));
    QCOMPARE(m_open->part<QAbstractButton>("csv-format")->text(), QString("commas, UTF-8, without a header"));
    press("c2 is text", "Encode as classes");
    draw(R"({"loom": 1, "networks": {"main": {"nodes": [
      {"id": "c1", "layer": "Input", "shape": [1]}, {"id": "fc", "layer": "Linear", "outputs": 2},
      {"id": "c2", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["c1", "fc"], ["fc", "loss"], ["c2", "loss.target"]]}}})");
    train();
    const Predictions& predicted = predict(m_open->write("new.csv", "-7\n40\n"));
    QCOMPARE(predicted.samples, 2);
    QCOMPARE(predicted.kept.at(0).cells, std::vector<std::string>{"-7"});
    QCOMPARE(predicted.heads, std::vector<std::string>{"c1"});
  }

  void picturesOfTwoSizesAreBroughtToOneAndTrain() {
    for (int i = 0; i < 300; ++i) {
      const bool bar = i % 2;
      QImage image(i % 3 == 0 ? QSize(36, 30) : QSize(28, 28), QImage::Format_Grayscale8);
      image.fill(Qt::black);
      QPainter painter(&image);
      painter.setPen(QPen(Qt::white, 3));
      const QPoint middle(image.width() / 2 + i % 5 - 2, image.height() / 2);
      if (bar)
        painter.drawLine(middle.x(), 3, middle.x(), image.height() - 4);
      else
        painter.drawEllipse(middle, 8, 8);
      painter.end();
      const QString name = QStringLiteral("shapes/%1/%2.png").arg(bar ? "bar" : "ring").arg(i, 3, 10, QLatin1Char('0'));
      QDir().mkpath(QFileInfo(m_open->path(name)).absolutePath());
      QVERIFY(image.save(m_open->path(name)));
    }
    m_open->drop({m_open->path("shapes")});
    QTRY_COMPARE_WITH_TIMEOUT(samples().rowCount(), 300, kPatience);
    QTRY_VERIFY2(titles().contains("x: of several sizes"), qPrintable(titles().join(" | ")));
    QVERIFY(m_open->workspace().errors() > 0);
    picture("data-shapes-found");
    press("x: of several sizes", "Bring all to 28×28");
    QTRY_VERIFY2(!titles().contains("x: of several sizes"), qPrintable(titles().join(" | ")));
    QCOMPARE(steps().size(), std::size_t{1});
    QCOMPARE(steps()[0].at("size"), Json::array({28, 28}));
    // The dataset holds them at one size; before it they are as in their files.
    m_open->window().findChild<SamplesView*>()->goToCell(1, 0);
    QTRY_VERIFY(m_open->window().settled());
    const auto& preview = only<PreparationPreview>();
    QTRY_COMPARE(preview.before().size(), QSize(36, 30));
    QTRY_VERIFY(!preview.after().empty() && preview.after()[0].size() == QSize(28, 28));
    draw(R"({"loom": 1, "networks": {"main": {"nodes": [
      {"id": "x", "layer": "Input", "shape": [1, 28, 28]}, {"id": "fc1", "layer": "Linear", "outputs": 8},
      {"id": "relu", "layer": "ReLU"}, {"id": "fc2", "layer": "Linear", "outputs": 2},
      {"id": "loss", "layer": "SoftmaxCrossEntropy"}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"}],
      "edges": [["x", "fc1"], ["fc1", "relu"], ["relu", "fc2"], ["fc2", "loss"], ["y", "loss.target"]]}}})");
    QTRY_VERIFY(only<FeedsBar>().feeds().size() == 2 && only<FeedsBar>().feeds()[0].fault.isEmpty());
    picture("data-shapes-mended");
    train();
    QImage other(50, 40, QImage::Format_Grayscale8);
    other.fill(Qt::black);
    QVERIFY(other.save(m_open->path("other.png")));
    const Predictions& answer = predict(m_open->path("other.png"));
    QCOMPARE(answer.kept.at(0).outputs.at(0).values.size(), std::size_t{2});
    QCOMPARE(answer.outputs[0].classes, (std::vector<std::string>{"bar", "ring"}));
  }

  void wordsBecomeClassesByAStepThatUndoTakesBack() {
    const QString csv = m_open->write("project/words.csv", words(60));
    m_open->drop({csv});
    QTRY_VERIFY2(titles().contains("kind is text"), qPrintable(titles().join(" | ")));
    QVERIFY(m_open->workspace().errors() > 0);
    press("kind is text", "Encode as classes");
    QTRY_COMPARE(steps(), (std::vector<Json>{{{"step", "Encode"}, {"variable", Json::array({"kind"})}}}));
    QTRY_COMPARE(m_open->workspace().errors(), 0);
    QTRY_VERIFY(!m_open->document().knownColumns().empty() &&
                m_open->document().knownColumns()[0].classes.contains("kind"));
    QCOMPARE(content(csv), words(60));
    // A target that is called otherwise takes the only classes there are.
    draw(R"({"loom": 1, "networks": {"main": {"nodes": [
      {"id": "x", "layer": "Input", "shape": [1]}, {"id": "fc", "layer": "Linear", "outputs": 2},
      {"id": "loss", "layer": "SoftmaxCrossEntropy"}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"}],
      "edges": [["x", "fc"], ["fc", "loss"], ["y", "loss.target"]]}}})");
    QTRY_VERIFY(m_open->part<QPushButton>("mend-y"));
    QCOMPARE(m_open->part<QPushButton>("mend-y")->text(), QString("Feed it with kind"));
    m_open->click("mend-y");
    QTRY_COMPARE(m_open->project().networks[0].find("y")->values.value("variable", ""), std::string("kind"));
    // Saved and opened again it is not said again.
    QVERIFY(m_open->document().save());
    m_open->window().openProject(m_open->path("project/project.loom"));
    m_open->window().showPage("data");
    QTRY_VERIFY(m_open->window().settled() && samples().rowCount() == 60);
    QVERIFY2(!titles().contains("kind is text"), qPrintable(titles().join(" | ")));
  }

  void aColumnIsLeftOutRenamedAndTakenBack() {
    m_open->drop({m_open->write("project/words.csv", words(60))});
    press("kind is text", "Leave out");
    QTRY_COMPARE(steps().size(), std::size_t{1});
    QTRY_VERIFY2(titles().filter("kind").isEmpty(), qPrintable(titles().join(" | ")));
    QCOMPARE(samples().columnCount(), 3);  // it stands there, crossed out
    QCOMPARE(samples().index(0, 2).data(SamplesModel::state).toInt(), int(SamplesModel::skipped));
    m_open->undo();
    QCOMPARE(steps().size(), std::size_t{0});
    QTRY_VERIFY2(titles().contains("kind is text"), qPrintable(titles().join(" | ")));
    // By keys: F2 renames, Delete leaves out.
    chooseColumn("x");
    columns().view().setFocus();
    QTest::keyClick(&columns().view(), Qt::Key_F2);
    QTRY_VERIFY(m_open->part<QLineEdit>("column-name"));
    m_open->part<QLineEdit>("column-name")->selectAll();
    QTest::keyClicks(m_open->part<QLineEdit>("column-name"), "height");
    QTest::keyClick(m_open->part<QLineEdit>("column-name"), Qt::Key_Return);
    QTRY_COMPARE(steps(),
                 (std::vector<Json>{{{"step", "Rename"}, {"variable", Json::array({"x"})}, {"to", "height"}}}));
    QTRY_VERIFY(columns().facts(columns().rowOf("x")).startsWith("height: x in the file"));
    m_open->undo();
    chooseColumn("x");
    columns().view().setFocus();
    QTest::keyClick(&columns().view(), Qt::Key_Delete);
    QTRY_COMPARE(steps(), (std::vector<Json>{{{"step", "LeaveOut"}, {"variable", Json::array({"x"})}}}));
    setRole("x", 0);
    QTRY_COMPARE(steps().size(), std::size_t{0});
  }

  void rowsThatAreNoDataAreMarkedAndSkipped() {
    QByteArray rows = "a,b,c\n";
    for (int i = 0; i < 40; ++i) {
      if (i == 20) rows += "# the logger began again\na,b,c\n";
      rows += QByteArray::number(i) + ',' + QByteArray::number(i * 0.5) + ',' + QByteArray::number(40 - i) + '\n';
    }
    m_open->drop({m_open->write("project/log.csv", rows)});
    QTRY_VERIFY2(titles().contains("2 rows are no data"), qPrintable(titles().join(" | ")));
    QTRY_COMPARE(samples().index(20, 0).data().toString(), QString("22"));  // the line of the file, as the finding says
    QCOMPARE(list().findings().finding(rowOf("2 rows")).line, qint64{22});
    QCOMPARE(samples().index(20, 1).data(SamplesModel::state).toInt(), int(SamplesModel::stray));
    // A click on the finding leads there.
    QTest::mouseClick(list().viewport(), Qt::LeftButton, {},
                      list().visualRect(list().model()->index(rowOf("2 rows"), 0)).topLeft() + QPoint(60, 14));
    QTRY_COMPARE(only<SamplesView>().currentRow(), 20);
    press("2 rows are no data", "Skip 2 rows");
    QTRY_COMPARE(steps(), (std::vector<Json>{{{"step", "SkipRows"}, {"lines", {22, 23}}}}));
    QTRY_COMPARE(samples().index(20, 1).data(SamplesModel::state).toInt(), int(SamplesModel::skipped));
    QTRY_COMPARE(m_open->workspace().errors(), 0);
    QTRY_VERIFY(m_open->window().notice().isShowing());
    QTest::mouseClick(m_open->window().notice().actionButton(), Qt::LeftButton);
    QCOMPARE(steps().size(), std::size_t{0});
  }

  // What it was recognised as is shown, and chosen otherwise by a click.
  void aCsvOfASemicolonCountryIsReadAsItIs() {
    QByteArray rows = "breite;preis\n";
    for (int i = 0; i < 30; ++i) rows += QByteArray::number(i) + ",5;1." + QByteArray::number(100 + i) + ",25\n";
    m_open->drop({m_open->write("project/preise.csv", rows)});
    auto* const format = m_open->part<QAbstractButton>("csv-format");
    QTRY_VERIFY2(format->text().contains("semicolons, decimal comma"), qPrintable(format->text()));
    QTRY_VERIFY2(columns().rowOf("preis") >= 0 && columns().facts(columns().rowOf("preis")).contains("1,100 to 1,129"),
                 qPrintable(columns().facts(1)));
    QTest::mouseClick(format, Qt::LeftButton);
    QTRY_VERIFY(m_open->part<QWidget>("format-card") && m_open->part<QWidget>("format-card")->isVisible());
  }

  // Two orders of a date are asked; the chip that is proposed does what the remedy does.
  void theOrderOfADateIsAskedAndAProposalIsAccepted() {
    QByteArray rows = "when,v\n";
    for (int i = 0; i < 30; ++i)
      rows += QByteArray::number(1 + i % 12) + '/' + QByteArray::number(1 + i % 11) + "/2024," +
              QByteArray::number(i * i) + '\n';
    m_open->drop({m_open->write("project/dates.csv", rows)});
    const QString asked = "when: does the day or the month stand first?";
    QTRY_VERIFY2(titles().contains(asked), qPrintable(titles().join(" | ")));
    QVERIFY(remedy(asked, "The day") && remedy(asked, "The month"));
    QTRY_VERIFY(m_open->window().settled() && m_open->part<QAbstractButton>("proposed-step"));
    m_open->click("proposed-step");
    QTRY_COMPARE(steps().size(), std::size_t{1});
    QCOMPARE(steps()[0].at("order"), Json("dmy"));
    QTRY_VERIFY2(!titles().contains(asked), qPrintable(titles().join(" | ")));
    QTRY_VERIFY(m_open->part<QLabel>("step-and-the-new")->text().contains("does not fit the order is refused"));
  }

  // What shall be predicted was said first, the network comes later: its Input takes the column, whatever it is called.
  void anInputThatIsDrawnLaterTakesTheTarget() {
    QByteArray rows = "area,price\n";
    for (int i = 0; i < 40; ++i) rows += QByteArray::number(i) + ',' + QByteArray::number(3.5 * i) + '\n';
    m_open->drop({m_open->write("project/flats.csv", rows)});
    setRole("price", 1);
    QTRY_COMPARE(m_open->project().datasets.at(0).extra.value("target", ""), std::string("price"));
    ProjectDocument& document = m_open->document();
    const std::string network = m_open->project().networks[0].name;
    const std::string loss = document.addNode({.network = network, .layer = "MeanSquaredError"});
    const std::string input = document.addNode({.network = network, .layer = "Input"});
    QVERIFY(document.addWire(network, {{input, "output"}, {loss, "target"}}));
    QCOMPARE(document.node(network, input)->values.value("variable", ""), std::string("price"));
    m_open->undo();  // the wire and the column together
    QVERIFY(!document.node(network, input)->values.contains("variable"));
    QVERIFY(document.network(network)->edges.empty());
    // One that names its column, or is called like one, is meant so.
    QVERIFY(document.setField(network, input, "variable", "area"));
    QVERIFY(document.addWire(network, {{input, "output"}, {loss, "target"}}));
    QCOMPARE(document.node(network, input)->values.value("variable", ""), std::string("area"));
    m_open->undo();
    m_open->undo();
    QVERIFY(document.renameNode(network, input, "area"));
    QTRY_VERIFY(!document.knownColumns().empty());
    QVERIFY(document.addWire(network, {{"area", "output"}, {loss, "target"}}));
    QVERIFY(!document.node(network, "area")->values.contains("variable"));
  }

  // What a column is for can be chosen, and its name be read, where there is little room; also in large text.
  void inASmallWindowRolesAndNamesAreWhole() {
    QByteArray rows = "area,price\n";
    for (int i = 0; i < 40; ++i) rows += QByteArray::number(i) + ',' + QByteArray::number(3.5 * i) + '\n';
    m_open->drop({m_open->write("project/flats.csv", rows)});
    m_open->window().resize(1024, 700);
    setRole("price", 0);
    auto* const roles = m_open->part<SegmentedControl>("column-role");
    const auto isWhole = [&] {
      const QRect last = roles->segment(2);
      return last.right() < roles->width() && roles->visibleRegion().contains(last.center()) &&
             roles->visibleRegion().contains(last.topRight()) &&
             !m_open->part<QWidget>("rename-column")->visibleRegion().isEmpty();
    };
    QTRY_VERIFY(m_open->window().settled());
    QTRY_VERIFY(isWhole());
    const auto name = [&] {
      QListView& view = columns().view();
      const QRect row = view.visualRect(view.model()->index(columns().rowOf("price"), 0));
      return view.viewport()->grab(QRect(row.left() + 38, row.top(), 30, row.height())).toImage();  // behind the chip
    };
    const QImage before = name();
    setRole("price", 1);
    QTRY_VERIFY(m_open->window().settled());
    QCOMPARE(name(), before);  // the tag of the target leaves it alone
    picture("data-small");
    m_open->window().resize(1024, 700);
    Theme::of().setTextSize(150);
    QTRY_VERIFY(m_open->window().settled());
    QTRY_VERIFY(isWhole());
    picture("data-small-large-text");
    Theme::of().setTextSize(100);
  }

  // Sounds at two rates: one finding, and one step that brings them together.
  void soundsOfTwoRatesAreBroughtToOne() {
    const auto wav = [this](const QString& name, quint32 rate, int frames) {
      QByteArray wave = "RIFF----WAVEfmt ";
      const auto put = [&](quint32 value, int bytes) {
        for (int b = 0; b < bytes; ++b) wave += static_cast<char>(value >> (8 * b));
      };
      put(16, 4), put(1, 2), put(1, 2), put(rate, 4), put(2 * rate, 4), put(2, 2), put(16, 2);
      wave += "data";
      put(static_cast<quint32>(2 * frames), 4);
      for (int i = 0; i < frames; ++i) put(static_cast<quint32>(i * 37 % 2000), 2);
      m_open->write("project/" + name, wave);
    };
    QByteArray rows = "x:sound,y:label\n";
    for (int i = 0; i < 12; ++i) {
      const QString name = QStringLiteral("%1.wav").arg(i);
      i % 3 ? wav(name, 16000, 1600) : wav(name, 8000, 800);
      rows += name.toUtf8() + (i % 2 ? ",1\n" : ",0\n");
    }
    m_open->drop({m_open->write("project/sounds.csv", rows)});
    const QString rates = "x: of several rates";
    QTRY_VERIFY2(titles().contains(rates), qPrintable(titles().join(" | ")));
    press(rates, "Bring all to 16,000 Hz");
    QTRY_COMPARE(steps(), (std::vector<Json>{{{"step", "Resample"}, {"rate", 16000}, {"variable", "x"}}}));
    QTRY_VERIFY2(!titles().contains(rates), qPrintable(titles().join(" | ")));
    QTRY_VERIFY(m_open->window().settled());
    // They are of one length now, which is not said at another.
    QVERIFY2(titles().filter("x:").isEmpty(), qPrintable(titles().join(" | ")));
    QTRY_VERIFY(!m_open->document().knownColumns().empty());
    QTRY_COMPARE(m_open->document().knownColumns()[0].shapes.at("x"), (Shape{1600, 1}));
    m_open->undo();
    QTRY_VERIFY2(titles().contains(rates), qPrintable(titles().join(" | ")));
  }

  // A class of 10 rows beside one of 190: to count more, or to be shown more often; either is said no more.
  void rareClassesAreWeighedOrShownMoreOftenByAClick() {
    QByteArray rows = "x,z,kind\n";
    for (int i = 0; i < 200; ++i)
      rows += QByteArray::number(i * 0.5) + ',' + QByteArray::number(i * 7 % 31) + (i % 20 ? ",fine\n" : ",fraud\n");
    m_open->drop({m_open->write("project/frauds.csv", rows)});
    press("kind is text", "Encode as classes");
    const QString rare = "kind: 1 class is rare";
    QTRY_VERIFY2(titles().contains(rare), qPrintable(titles().join(" | ")));
    QVERIFY2(list().findings().finding(rowOf(rare)).detail.contains("fraud (10): fine stands in 190 rows"),
             qPrintable(list().findings().finding(rowOf(rare)).detail));
    const auto settings = [this] { return m_open->project().training.settings; };
    press(rare, "Weigh classes");
    QTRY_COMPARE(settings().value("weigh_classes", ""), std::string("balanced"));
    QTRY_VERIFY2(!titles().contains(rare), qPrintable(titles().join(" | ")));
    QTRY_VERIFY(rowOf("Rare classes count as much as others") >= 0);
    m_open->undo();
    QTRY_VERIFY(!settings().contains("weigh_classes"));
    press(rare, "Oversample");
    QTRY_COMPARE(settings().value("oversample", ""), std::string("kind"));
    QTRY_VERIFY2(!titles().contains(rare), qPrintable(titles().join(" | ")));
    m_open->undo();
    press(rare, "Weigh classes");
    draw(R"({"loom": 1, "networks": {"main": {"nodes": [
      {"id": "x", "layer": "Input", "shape": [1]}, {"id": "fc", "layer": "Linear", "outputs": 2},
      {"id": "kind", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["x", "fc"], ["fc", "loss"], ["kind", "loss.target"]]}}})");
    train();
    QFile run(m_open->workspace().runs().front().folder + "/run.json");
    QVERIFY(run.open(QIODevice::ReadOnly));
    const Json weights = Json::parse(run.readAll().toStdString())["datasets"]["training"]["class_weights"]["kind"];
    QCOMPARE(weights.size(), std::size_t{2});
    QVERIFY(std::abs(weights[1].get<double>() - 200.0 / (2 * 10)) < 1e-9);
    // Where numbers are predicted classes are no matter.
    m_open->document().edit("draw", [&](Project& project) {
      project.training.settings.erase("weigh_classes");
      project.networks[0].nodes[3].layer = "MeanSquaredError";
    });
    QTRY_VERIFY(m_open->window().settled());
    QVERIFY2(!titles().contains(rare), qPrintable(titles().join(" | ")));
  }

  // A million rows are looked at beside the window; the first ones stand there at once, and it can be stopped.
  void aLongFileIsReadWhileOneWorks() {
    QByteArray rows = "a,b,c,d\n";
    for (int i = 0; i < 400'000; ++i)
      rows += QByteArray::number(i) + ',' + QByteArray::number(i % 1000) + ',' + QByteArray::number(i % 7) + ",0.5\n";
    m_open->drop({m_open->write("project/long.csv", rows)});
    QTRY_VERIFY(samples().rowCount() > 0);
    QTRY_COMPARE_WITH_TIMEOUT(samples().rowCount(), 400'000, kPatience);
    only<SamplesView>().goToRow(399'999);
    QTRY_COMPARE(samples().index(399'999, 1).data().toString(), QString("399999"));
    QCOMPARE(samples().index(399'999, 0).data().toString(), QString("400,001"));
  }
};

}  // namespace loom

QTEST_MAIN(loom::RemediesTest)
#include "remedies_test.moc"

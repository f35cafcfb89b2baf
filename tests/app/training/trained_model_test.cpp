// What a person does with a run that is trained: asks it about a picture or a row, takes its weights to another tool,
// takes its drawing back into the editor. Real events, the real loom. Pictures are written where GRADLOOM_PICTURES
// names a folder.
#include <QDir>
#include <QImage>
#include <QPainter>
#include <QTabBar>
#include <QTableWidget>
#include <cmath>

#include "app/pages/network/network_page.h"
#include "app/pages/training/run_curves.h"
#include "app/pages/training/run_prediction.h"
#include "app/pages/training/training_page.h"
#include "app/row_form.h"
#include "app/shell/export_card.h"
#include "engine/run/safetensors.h"
#include "launcher/remote/models.h"
#include "tests/app/opened_window.h"
#include "tests/app/training/journey_test.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/preview/share_bars.h"

namespace loom {
namespace {

constexpr int kPatience = 60000, kSide = 12;

constexpr const char* kPictures = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [1, 12, 12], "at": [0, 0]}, {"id": "fc1", "layer": "Linear", "outputs": 8, "at": [0, 60]},
    {"id": "relu", "layer": "ReLU", "at": [0, 120]}, {"id": "fc2", "layer": "Linear", "outputs": 2, "at": [0, 180]},
    {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 240]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [264, 180]},
    {"id": "accuracy", "layer": "Accuracy", "at": [264, 240]}],
    "edges": [["x", "fc1"], ["fc1", "relu"], ["relu", "fc2"], ["fc2", "loss"], ["y", "loss.target"], ["fc2", "accuracy"], ["y", "accuracy.target"]]}},
    "datasets": {"training": {"csv": "train.csv", "prepare": [{"step": "Scale"}]}},
    "training": {"network": "main", "dataset": "training", "validation": "training", "epochs": 20, "batch": 8,
                 "optimizer": {"name": "Adam", "learning_rate": 0.01}}})";

constexpr const char* kTable = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]}, {"id": "fc", "layer": "Linear", "outputs": 1, "at": [0, 60]},
    {"id": "price", "layer": "Input", "shape": [1], "at": [264, 60]}, {"id": "loss", "layer": "MeanSquaredError", "at": [0, 120]}],
    "edges": [["x", "fc"], ["fc", "loss"], ["price", "loss.target"]]}},
    "datasets": {"training": {"csv": "houses.csv", "prepare": [{"step": "Normalise", "variable": "price"}]}},
    "training": {"network": "main", "dataset": "training", "epochs": 60, "batch": 8,
                 "optimizer": {"name": "Adam", "learning_rate": 0.03}}})";

constexpr const char* kHomes = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [5], "at": [0, 0]}, {"id": "fc", "layer": "Linear", "outputs": 1, "at": [0, 60]},
    {"id": "price", "layer": "Input", "shape": [1], "at": [264, 60]}, {"id": "loss", "layer": "MeanSquaredError", "at": [0, 120]}],
    "edges": [["x", "fc"], ["fc", "loss"], ["price", "loss.target"]]}},
    "datasets": {"training": {"csv": "homes.csv", "prepare": [
      {"step": "LeaveOut", "variable": "id"}, {"step": "Fill", "variable": "area"}, {"step": "Standardise", "variable": "area"},
      {"step": "Encode", "variable": "city", "form": "one_hot", "unknown": "own"},
      {"step": "DateParts", "variable": "sold", "parts": ["year"]}, {"step": "Standardise", "variable": "sold"},
      {"step": "Standardise", "variable": "price"},
      {"step": "Join", "variable": ["city", "area", "sold"], "into": "x"}]}},
    "training": {"network": "main", "dataset": "training", "epochs": 60, "batch": 8,
                 "optimizer": {"name": "Adam", "learning_rate": 0.03}}})";

// A ring or a bar, a little elsewhere each time.
QImage drawn(bool bar, int number) {
  QImage image(kSide, kSide, QImage::Format_Grayscale8);
  image.fill(Qt::black);
  QPainter painter(&image);
  painter.setPen(QPen(Qt::white, 2));
  const int shift = number % 3 - 1;
  if (bar)
    painter.drawLine(6 + shift, 1, 6 + shift, 10);
  else
    painter.drawEllipse(QPoint(6 + shift, 6), 4, 4);
  return image;
}

}  // namespace

class TrainedModelTest : public QObject {
  Q_OBJECT

  std::unique_ptr<OpenedWindow> m_open;
  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  TrainingPage& page() { return *static_cast<TrainingPage*>(window().page("training")); }
  RunPrediction& prediction() { return page().prediction(); }
  RunRecord newest() { return workspace().runs().back(); }

  void picture(const char* name) {
    if (const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES"); !folder.isEmpty())
      window().grab().save(QDir(folder).filePath(QString::fromLatin1(name) + ".png"));
  }
  void open(const QByteArray& project, const char* name) {
    window().openProject(m_open->write(QStringLiteral("p/%1.loom").arg(name), project));
    QVERIFY(workspace().document());
  }
  void openPictures() {
    QByteArray rows = "x:image,y:label\n";
    QDir().mkpath(m_open->path("p"));
    for (int i = 0; i < 24; ++i) {
      const QString name = QStringLiteral("%1.png").arg(i);
      QVERIFY(drawn(i % 2, i / 2).save(m_open->path("p/" + name)));
      rows += name.toUtf8() + ',' + QByteArray::number(i % 2) + '\n';
    }
    m_open->write("p/train.csv", rows);
    m_open->write("p/train.y.classes.txt", "ring\nbar\n");
    open(kPictures, "shapes");
  }
  void openTable() {
    QByteArray rows = "x__0:rooms,x__1:age,price\n";
    for (int i = 0; i < 40; ++i)
      rows += QByteArray::number(i % 5) + ',' + QByteArray::number(i % 7) + ',' +
              QByteArray::number(200000 + 50000 * (i % 5) - 10000 * (i % 7)) + '\n';
    m_open->write("p/houses.csv", rows);
    open(kTable, "houses");
  }
  // As Start from data draws it: words as one-hot columns, a date as its parts, all joined into one vector.
  void openHomes() {
    QByteArray rows = "id,city,area,sold,price\n";
    const QByteArrayList cities{"Bergen", "Oslo", "Tromsø"};
    for (int i = 0; i < 60; ++i)
      rows += QByteArray::number(i) + ',' + cities[i % 3] + ',' +
              (i == 7 ? QByteArray() : QByteArray::number(40 + i * 7 % 40)) + ',' + QByteArray::number(2020 + i % 5) +
              "-01-15," + QByteArray::number(100 + 40 * (i % 3) + 2 * (i * 7 % 40)) + '\n';
    m_open->write("p/homes.csv", rows);
    open(kHomes, "homes");
  }
  void train(const TrainOptions& options = {}) {
    QVERIFY(workspace().train(options));
    QTRY_VERIFY_WITH_TIMEOUT(!isLive(newest().state) && newest().state != RunState::queued, kPatience);
    QCOMPARE(newest().state, RunState::finished);
    window().showPage("training");
    QTRY_VERIFY(window().settled());
  }
  QTableWidget& table() { return *m_open->part<QTableWidget>("predict-table"); }
  void waitForPrediction() { QTRY_VERIFY_WITH_TIMEOUT(prediction().predictions(), kPatience); }
  static std::map<std::string, std::vector<float>> weightsOf(const QString& file) {
    std::map<std::string, std::vector<float>> weights;
    const TensorFile read(file.toStdString());
    for (const TensorFile::Tensor& each : read.tensors())
      if (each.name.find('#') == std::string::npos) weights[each.name] = {each.values.begin(), each.values.end()};
    return weights;
  }

 private Q_SLOTS:
  void initTestCase() { qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM); }
  void init() { m_open = std::make_unique<OpenedWindow>(); }
  void cleanup() {
    if (workspace().document()) workspace().document()->discardRecovery();
    m_open.reset();
  }

  void aDroppedPictureIsToldItsClass() {
    openPictures();
    train();
    const QString file = m_open->path("unseen.png");
    QVERIFY(drawn(true, 2).save(file));
    m_open->drop({file});
    QCOMPARE(m_open->part<QTabBar>("training-tabs")->currentIndex(), 4);
    waitForPrediction();
    QCOMPARE(table().rowCount(), 1);
    QCOMPARE(table().item(0, 0)->text(), QString("unseen.png"));
    QCOMPARE(table().item(0, 1)->text(), QString("bar"));
    auto* const shares = m_open->part<ShareBars>("predict-shares");
    QVERIFY(shares && shares->isVisible());
    QCOMPARE(shares->shares().size(), 2);
    QCOMPARE(shares->shares().first().name, QString("bar"));
    QVERIFY(shares->shares().first().share > 0.5);
    picture("predict-picture");
    // Several at once, one beside the other; what cannot be read is told, and no old answer stands there.
    m_open->drop({m_open->path("p/0.png"), m_open->path("p/1.png")});
    QTRY_VERIFY_WITH_TIMEOUT(table().rowCount() == 2, kPatience);
    QCOMPARE(table().item(0, 1)->text(), QString("ring"));
    QTest::mouseClick(table().viewport(), Qt::LeftButton, {}, table().visualItemRect(table().item(1, 0)).center());
    QTRY_COMPARE(m_open->part<ShareBars>("predict-shares")->shares().first().name, QString("bar"));
    // One of several is no sample: the others are predicted, and it stands there under its own name.
    m_open->drop({m_open->path("p/0.png"), m_open->write("half.png", "no picture"), m_open->path("p/1.png")});
    QTRY_VERIFY_WITH_TIMEOUT(table().rowCount() == 3, kPatience);
    QCOMPARE(table().item(1, 1)->text(), QString("bar"));
    QCOMPARE(table().item(2, 0)->text(), QString("half.png"));
    QVERIFY(table().item(2, 1)->text().contains("its name ends in .png"));
    QVERIFY(m_open->part<QLabel>("predict-words")->text().contains("1 file not predicted"));
    QTest::mouseClick(table().viewport(), Qt::LeftButton, {}, table().visualItemRect(table().item(2, 1)).center());
    QTRY_COMPARE(table().currentRow(), 2);
    QVERIFY(!m_open->part<ShareBars>("predict-shares"));
    picture("predict-refused");
    m_open->drop({m_open->write("torn.png", "no picture")});
    QTRY_VERIFY(m_open->part<QLabel>("predict-words")->text().contains("torn.png"));
    QVERIFY(!m_open->part<QLabel>("predict-words")->text().startsWith("loom: "));
    QTRY_VERIFY(!prediction().predictions());
    picture("predict-fault");
  }

  void theRowsOfACsvHaveTruthAndAreSaved() {
    openPictures();
    train();
    m_open->drop({m_open->path("p/train.csv")});
    waitForPrediction();
    QCOMPARE(table().rowCount(), 24);
    int right = 0;
    QCOMPARE(table().horizontalHeaderItem(1)->text(), QString("x"));
    QCOMPARE(table().item(3, 1)->text(), QString("3.png"));
    for (int row = 0; row < 24; ++row) right += table().item(row, 2)->text() == table().item(row, 4)->text();
    QVERIFY2(right >= 20, qPrintable(QString::number(right)));
    picture("predict-csv");
    prediction().saveTo(m_open->path("out.csv"));
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(m_open->path("out.csv")), kPatience);
    QFile out(m_open->path("out.csv"));
    QVERIFY(out.open(QIODevice::ReadOnly));
    QCOMPARE(out.readLine().trimmed(), QByteArray("x:image,y:label,y'_ring,y'_bar,y'_class"));
    QVERIFY(QByteArrayList({"ring", "bar"}).contains(out.readLine().trimmed().split(',').last()));
    QTRY_VERIFY(window().notice().sentence().contains("out.csv"));
  }

  void aRowThatIsTypedIsPredictedInItsUnit() {
    openTable();
    train();
    m_open->part<QTabBar>("training-tabs")->setCurrentIndex(4);
    m_open->click("predict-type-empty");
    QTRY_VERIFY(m_open->part<QLineEdit>("row-x__0") && m_open->part<QLineEdit>("row-x__0")->isVisible());
    QTest::keyClicks(m_open->part<QLineEdit>("row-x__0"), "3");
    m_open->click("predict-row");
    QVERIFY2(m_open->part<QLineEdit>("row-x__1")->hasFocus(), "a field that is empty has the keyboard");
    QTest::keyClicks(m_open->part<QLineEdit>("row-x__1"), "2");
    QTest::keyClick(m_open->part<QLineEdit>("row-x__1"), Qt::Key_Return);
    waitForPrediction();
    const float price = prediction().predictions()->kept[0].outputs[0].values[0];
    QVERIFY2(std::abs(price - 330000) < 60000, qPrintable(QString::number(price)));
    picture("predict-row");
    // Marks of decimals and thousands as people write them; what may be either is asked for.
    auto* const field = m_open->part<QLineEdit>("row-x__0");
    const auto retype = [&](const char* text) {
      field->selectAll();
      QTest::keyClicks(field, text);
    };
    const auto said = [&] { return m_open->part<QLabel>("predict-words")->text(); };
    retype("3,000");
    m_open->click("predict-row");
    QVERIFY2(said().startsWith("3,000 may be 3.000 or 3000"), qPrintable(said()));
    QVERIFY(field->hasFocus());
    retype("nan");
    m_open->click("predict-row");
    QVERIFY2(said().startsWith("The marked fields"), qPrintable(said()));
    for (const auto& [text, read] :
         {std::pair("3,5", "3.5"), std::pair("0,125", "0.125"), std::pair("1,234.5", "1234.5"),
          std::pair("1.234,5", "1234.5"), std::pair("1,234,567", "1234567"), std::pair("1 234", "1234"),
          std::pair("26.746", "26.746")}) {
      retype(text);
      QCOMPARE(m_open->part<RowForm>("row-form")->csv(), QByteArray("x__0,x__1\n") + read + ",2\n");
    }
    // Where the file itself has such numbers, nothing is asked.
    using Comma = RowColumn::Comma;
    for (const auto& [row, comma, read] : {std::tuple("\"12,500\",3,\"1,250,000\"\n", Comma::ofThousands, "3000"),
                                           std::tuple("1,5;3,25;200,5\n", Comma::ofDecimals, "3.000")}) {
      const bool semicolons = comma == Comma::ofDecimals;
      m_open->write("p/houses.csv", (semicolons ? QByteArray("x__0;x__1;price\n") : QByteArray("x__0,x__1,price\n")) +
                                        QByteArray(row).repeated(9));
      const QList<RowColumn> columns = runInputOf(newest()).columns;
      QCOMPARE(columns.size(), 2);
      QVERIFY(columns[0].comma == comma);
      RowForm form;
      form.setColumns(columns.first(1));
      form.findChild<QLineEdit*>()->setText("3,000");
      QCOMPARE(form.csv(), QByteArray("x__0\n") + read + "\n");
    }
  }

  // The form has the columns of the person's own file, not the numbers that its preparation makes of them; a red
  // sentence of another file is gone, and in a low window the fields keep their height.
  void aRowWithWordsAndDatesIsTypedAsTheFileHasIt() {
    openHomes();
    train();
    m_open->part<QTabBar>("training-tabs")->setCurrentIndex(4);
    QVERIFY(prediction().findChild<EmptyState*>()->findChild<QLabel*>()->text().startsWith("Drop a CSV here"));
    m_open->drop({m_open->write("other.csv", "colour,size\nred,3\n")});
    QTRY_VERIFY(m_open->part<QLabel>("predict-words")->text().contains("lacks the columns"));
    m_open->click("predict-type");
    QTRY_VERIFY(m_open->part<QLineEdit>("row-area") && m_open->part<QLineEdit>("row-area")->isVisible());
    QVERIFY(!m_open->part<QLabel>("predict-words")->isVisible());
    QVERIFY(!m_open->part<QLineEdit>("row-x__0"));
    QCOMPARE(m_open->part<QLineEdit>("row-area")->placeholderText(), QString("40 … 79"));
    QCOMPARE(m_open->part<QLineEdit>("row-sold")->placeholderText(), QString("2020-01-15"));
    QTest::keyClicks(m_open->part<QLineEdit>("row-sold"), "2024-06-15");
    m_open->click("predict-row");
    auto* const city = m_open->part<ChoiceField>("row-city");
    QVERIFY2(city->hasFocus(), "a word has to be chosen, the area may be left empty");
    QTest::keyClicks(city, "Oslo");
    QCOMPARE(city->currentText(), QString("Oslo"));
    m_open->click("predict-row");
    waitForPrediction();
    const float price = prediction().predictions()->kept[0].outputs[0].values[0];
    QVERIFY2(std::abs(price - 178) < 30, qPrintable(QString::number(price)));
    const int field = m_open->part<QLineEdit>("row-area")->height();
    QVERIFY(field >= m_open->part<QLineEdit>("row-area")->sizeHint().height());
    picture("predict-typed");
    window().resize(1024, 700);
    QTRY_VERIFY(window().settled());
    QCOMPARE(m_open->part<QLineEdit>("row-area")->height(), field);
    QVERIFY(table().height() >= 60);
    picture("predict-typed-low");
    // Beside the answer stand the row's own cells, and what was put in place of one.
    m_open->drop({m_open->write(
        "new.csv", "id,city,sold,area\n7,Oslo,2024-06-15,60\n8,Stavanger,2024-06-15,60\n9,Oslo,2024-06-15,\n")});
    QTRY_VERIFY_WITH_TIMEOUT(table().rowCount() == 3, kPatience);
    QCOMPARE(table().item(1, 1)->text(), QString("8"));
    QCOMPARE(table().item(1, 2)->text(), QString("Stavanger"));
    const int note = table().columnCount() - 2;
    QCOMPARE(table().horizontalHeaderItem(note)->text(), QString("Note"));
    QVERIFY(table().item(0, note)->text().isEmpty());
    QVERIFY(table().item(1, note)->text().contains("'Stavanger' is none of the 3 words"));
    QVERIFY(table().item(2, note)->text().startsWith("area is empty"));
    picture("predict-marked");
  }

  // Also where a run that learned nothing is looked at.
  void theBestRunIsExportedUnlessAnotherIsChosen() {
    openPictures();
    train();
    const RunRecord good = newest();
    train({.name = "bad", .overrides = {"training.optimizer.learning_rate=1e-9", "training.epochs=1"}});
    const RunRecord bad = newest();
    QCOMPARE(page().run(), bad.id);
    window().exportDialog();
    auto* card = m_open->part<ExportCard>("export-card");
    QTRY_VERIFY(card && card->isVisible());
    picture("export-card");
    QCOMPARE(card->run(), good.id);
    QVERIFY(m_open->part<ChoiceField>("export-weights")->currentText().startsWith("Best"));
    window().exportTo(card->wish(m_open->path("model.safetensors")));
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(m_open->path("model.safetensors")), kPatience);
    const auto best = workspace().context().models->place(good.id).here;
    QCOMPARE(weightsOf(m_open->path("model.safetensors")), weightsOf(best));
    QTRY_VERIFY(window().notice().sentence().contains(good.name));
    // Of the run that is meant, from its page and from the table.
    card->close();
    workspace().context().commands->run("export-model", {{"run", bad.id}});
    card = m_open->part<ExportCard>("export-card");
    QTRY_VERIFY(card && card->isVisible());
    QCOMPARE(card->run(), bad.id);
    QCOMPARE(window().findChildren<ExportCard*>().size(), 1);
  }

  void theDrawingOfARunIsOpenedAgain() {
    openPictures();
    train({.overrides = {"training.epochs=3"}});
    const QString name = newest().name, id = newest().id;
    m_open->document().setSetting("batch", 4);
    workspace().context().commands->run("open-drawing", {{"run", id}});
    QTRY_VERIFY(workspace().document() && m_open->document().name() == name);
    QVERIFY2(m_open->document().path().isEmpty(), "it is new work: the project stays as it is");
    QCOMPARE(m_open->project().training.settings.value("epochs", 0), 3);
    QCOMPARE(m_open->project().training.settings.value("batch", 0), 8);
    QVERIFY(QFileInfo::exists(QString::fromStdString(m_open->project().datasets[0].csv)));
    QCOMPARE(window().currentPage(), QString("network"));
    QCOMPARE(m_open->project().networks[0].nodes.size(), std::size_t{7});
  }

  // Whatever was looked at of the run before; and the axis may end where the run is.
  void aNewRunIsSeenInItsCurves() {
    openPictures();
    train({.overrides = {"training.epochs=2"}});
    auto* const tabs = m_open->part<QTabBar>("training-tabs");
    tabs->setCurrentIndex(3);
    QVERIFY(workspace().train({.overrides = {"training.epochs=100000"}}));
    QCOMPARE(tabs->currentIndex(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(newest().step > 20, kPatience);
    const XAxisModel& axis = *page().curves().stack().axis();
    QTRY_VERIFY(axis.full().high > 1000 && axis.liveEdge() && *axis.liveEdge() > 0);
    const auto places = [&] { return axis.place(*axis.liveEdge()); };
    QVERIFY(places() < 0.2);
    auto* const extent = m_open->part<SegmentedControl>("x-extent");
    QTest::mouseClick(extent, Qt::LeftButton, {}, extent->segment(1).center());
    QTRY_VERIFY2(places() > 0.8, qPrintable(QString::number(places())));
    QTest::mouseClick(extent, Qt::LeftButton, {}, extent->segment(0).center());
    QTRY_VERIFY(places() < 0.5);
    // Also where the page is made for it.
    QJsonObject layout = page().saveLayout();
    layout["tab"] = 5;
    page().restoreLayout(layout);
    QCOMPARE(tabs->currentIndex(), 0);
    // The rate that is to come stands there too.
    const auto planned = [&] {
      for (LineChart* chart : page().curves().stack().panels())
        for (const PanelLine& line : chart->lines())
          if (line.line.kind == LineKind::planned) return static_cast<int>(line.data.columns.columns.size());
      return 0;
    };
    QTRY_VERIFY(planned() > 10);
    picture("planned-rate");
    workspace().launcher().stop(newest().id);
    QTRY_VERIFY_WITH_TIMEOUT(!isLive(newest().state), kPatience);
  }

  void aRunWithoutACheckpointIsNotResumed() {
    openPictures();
    QDir().mkpath(m_open->path("p/runs/lost"));
    RunRecord run;
    run.id = run.name = "lost";
    run.folder = m_open->path("p/runs/lost");
    run.project = m_open->document().path();
    run.state = RunState::failed;
    run.message = "at step 4 the loss is NaN";
    workspace().store().add(run);
    window().showPage("training");
    QTRY_COMPARE(page().run(), QString("lost"));
    QTRY_VERIFY(m_open->part<QAbstractButton>("train-with-changes")->isVisible());
    QVERIFY(!m_open->part<QAbstractButton>("resume")->isVisible());
    picture("no-resume");
    QVERIFY(!workspace().resumeLast());
    m_open->click("train-with-changes");
    QTRY_VERIFY(m_open->part<QWidget>("train-card") && m_open->part<QWidget>("train-card")->isVisible());
  }
};

}  // namespace loom

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  loom::TrainedModelTest models;
  const int failed = QTest::qExec(&models, argc, argv);
  return failed + loom::testJourney(argc, argv) + loom::testModelJourney(argc, argv) + loom::testRunLayers(argc, argv);
}
#include "trained_model_test.moc"

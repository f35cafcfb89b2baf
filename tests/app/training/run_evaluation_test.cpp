// What a person learns of a trained run on its tab Evaluation: real events, the real loom. Pictures are written where
// GRADLOOM_PICTURES names a folder.
#include "app/pages/training/run_evaluation.h"

#include <QAbstractItemModelTester>
#include <QDir>
#include <QHeaderView>
#include <QImage>
#include <QPainter>
#include <QTabBar>

#include "app/pages/data/samples_view.h"
#include "app/pages/training/evaluation_board.h"
#include "app/pages/training/evaluation_side.h"
#include "app/pages/training/sample_panel.h"
#include "app/pages/training/training_page.h"
#include "app/workspace.h"
#include "tests/app/menu_and_dialogue.h"
#include "tests/app/opened_window.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/switch.h"
#include "widgets/evaluation/class_table_model.h"
#include "widgets/evaluation/confusion_view.h"
#include "widgets/evaluation/plot_view.h"
#include "widgets/evaluation/saliency_view.h"
#include "widgets/evaluation/sample_cards.h"
#include "widgets/preview/tensor_face.h"
#include "widgets/table/data_table.h"

namespace loom {
namespace {

constexpr int kPatience = 60000, kSide = 12, kTab = 5, kPerClass = 10;

constexpr const char* kPictures = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [1, 12, 12], "at": [0, 0]}, {"id": "fc1", "layer": "Linear", "outputs": 12, "at": [0, 60]},
    {"id": "relu", "layer": "ReLU", "at": [0, 120]}, {"id": "fc2", "layer": "Linear", "outputs": 3, "at": [0, 180]},
    {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 240]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [264, 180]},
    {"id": "accuracy", "layer": "Accuracy", "at": [264, 240]}],
    "edges": [["x", "fc1"], ["fc1", "relu"], ["relu", "fc2"], ["fc2", "loss"], ["y", "loss.target"], ["fc2", "accuracy"], ["y", "accuracy.target"]]}},
    "datasets": {"training": {"csv": "train.csv", "prepare": [{"step": "Scale"}]}, "validation": {"csv": "val.csv"}},
    "training": {"network": "main", "dataset": "training", "validation": "validation", "epochs": 30, "batch": 8,
                 "optimizer": {"name": "Adam", "learning_rate": 0.01}}})";

constexpr const char* kConvolved = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [1, 12, 12], "at": [0, 0]}, {"id": "conv", "layer": "Convolution", "channels": 6, "kernel": [5, 5], "at": [0, 60]},
    {"id": "relu", "layer": "ReLU", "at": [0, 120]}, {"id": "pool", "layer": "MaxPooling", "at": [0, 180]}, {"id": "fc", "layer": "Linear", "outputs": 3, "at": [0, 240]},
    {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 300]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [264, 240]},
    {"id": "accuracy", "layer": "Accuracy", "at": [264, 300]}],
    "edges": [["x", "conv"], ["conv", "relu"], ["relu", "pool"], ["pool", "fc"], ["fc", "loss"], ["y", "loss.target"], ["fc", "accuracy"], ["y", "accuracy.target"]]}},
    "datasets": {"training": {"csv": "train.csv", "prepare": [{"step": "Scale"}]}, "validation": {"csv": "val.csv"}},
    "training": {"network": "main", "dataset": "training", "validation": "validation", "epochs": 30, "batch": 8,
                 "optimizer": {"name": "Adam", "learning_rate": 0.01}}})";

constexpr const char* kTable = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]}, {"id": "fc", "layer": "Linear", "outputs": 1, "at": [0, 60]},
    {"id": "price", "layer": "Input", "shape": [1], "at": [264, 60]}, {"id": "loss", "layer": "MeanSquaredError", "at": [0, 120]}],
    "edges": [["x", "fc"], ["fc", "loss"], ["price", "loss.target"]]}},
    "datasets": {"training": {"csv": "houses.csv", "prepare": [{"step": "Normalise", "variable": "price"}]}},
    "training": {"network": "main", "dataset": "training", "epochs": 60, "batch": 8,
                 "optimizer": {"name": "Adam", "learning_rate": 0.03}}})";

// A ring, a bar or a beam, a little elsewhere each time.
QImage drawn(int kind, int number) {
  QImage image(kSide, kSide, QImage::Format_Grayscale8);
  image.fill(Qt::black);
  QPainter painter(&image);
  painter.setPen(QPen(Qt::white, 2));
  const int shift = number % 3 - 1;
  if (kind == 0) painter.drawEllipse(QPoint(6 + shift, 6), 4, 4);
  if (kind == 1) painter.drawLine(6 + shift, 1, 6 + shift, 10);
  if (kind == 2) painter.drawLine(1, 6 + shift, 10, 6 + shift);
  return image;
}

}  // namespace

class RunEvaluationTest : public QObject {
  Q_OBJECT

  std::unique_ptr<OpenedWindow> m_open;
  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  TrainingPage& page() { return *static_cast<TrainingPage*>(window().page("training")); }
  RunEvaluation& tab() { return page().evaluation(); }
  EvaluationBoard& board() { return tab().board(); }
  SampleCards& cards() { return board().cards(); }
  ConfusionView& matrix() { return board().matrix(); }
  SamplePanel& panel() { return board().panel(); }
  RunRecord newest() { return workspace().runs().back(); }
  QString words(const char* name) { return m_open->part<QLabel>(name)->text(); }

  void picture(const char* name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (!folder.isEmpty()) QTest::qWait(300);
    if (!folder.isEmpty()) window().grab().save(QDir(folder).filePath(QString::fromLatin1(name) + ".png"));
  }
  void open(const QByteArray& project, const char* name) {
    window().openProject(m_open->write(QStringLiteral("p/%1.loom").arg(name), project));
    QVERIFY(workspace().document());
  }
  // Of the samples that are held out two rings are said to be bars.
  void openPictures(const char* project = kPictures) {
    QDir().mkpath(m_open->path("p"));
    QByteArray train = "x:image,y:label\n", held = train;
    for (int i = 0; i < 3 * kPerClass; ++i) {
      const int kind = i % 3, number = i / 3;
      const QString name = QStringLiteral("%1.png").arg(i);
      QVERIFY(drawn(kind, number).save(m_open->path("p/" + name)));
      train += name.toUtf8() + ',' + QByteArray::number(kind) + '\n';
      held += name.toUtf8() + ',' + QByteArray::number(kind == 0 && number < 2 ? 1 : kind) + '\n';
    }
    m_open->write("p/train.csv", train);
    m_open->write("p/val.csv", held);
    m_open->write("p/train.y.classes.txt", "ring\nbar\nbeam\n");
    open(project, "shapes");
  }
  void train(const TrainOptions& options = {}) {
    QVERIFY(workspace().train(options));
    QTRY_VERIFY_WITH_TIMEOUT(!isLive(newest().state) && newest().state != RunState::queued, kPatience);
    QCOMPARE(newest().state, RunState::finished);
    window().showPage("training");
    QTRY_VERIFY(window().settled());
  }
  void showTab() {
    auto* const tabs = m_open->part<QTabBar>("training-tabs");
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(kTab).center());
    QCOMPARE(tabs->currentIndex(), kTab);
  }
  void evaluate() {
    showTab();
    m_open->click("evaluation-start");
    QTRY_VERIFY_WITH_TIMEOUT(tab().report(), kPatience);
    QTRY_VERIFY(board().isVisible());
  }
  void clickCell(int truth, int predicted) {
    const QRect cell = matrix().cellRect(truth, predicted);
    QVERIFY(!cell.isNull());
    QTest::mouseClick(&matrix(), Qt::LeftButton, {}, cell.center());
  }

 private Q_SLOTS:
  void initTestCase() { qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM); }
  void init() { m_open = std::make_unique<OpenedWindow>(); }
  void cleanup() {
    if (workspace().document()) workspace().document()->discardRecovery();
    m_open.reset();
  }

  void aClickOnACellShowsItsSamples() {
    openPictures();
    train();
    showTab();
    picture("evaluation-empty");
    evaluate();
    const EvaluatedOutput& output = *board().output();
    QCOMPARE(output.samples, std::int64_t{30});
    QCOMPARE(output.right, std::int64_t{28});
    QCOMPARE(words("evaluation-figure"), QString("93.33\u202f%"));
    QCOMPARE(cards().count(), 2);
    QCOMPARE(matrix().count({1, 0}), std::int64_t{2});
    clickCell(1, 0);
    QCOMPARE(cards().count(), 2);
    QVERIFY(words("matrix-words").startsWith("True bar, predicted ring: 2 samples"));
    QCOMPARE(cards().sample(0)->truth, 1);
    QCOMPARE(cards().sample(0)->predicted, 0);
    QVERIFY(cards().sample(0)->loss >= cards().sample(1)->loss);
    QTRY_VERIFY_WITH_TIMEOUT(cards().face(1) && !cards().face(1)->picture.isNull(), kPatience);
    QCOMPARE(cards().face(0)->picture.size(), QSize(kSide, kSide));
    picture("evaluation-cell");
    // A button tells what a temperature would do to samples that it has not seen.
    QVERIFY(words("evaluation-fitted").isEmpty());
    m_open->click("evaluation-fit");
    QVERIFY2(words("evaluation-fitted")
                 .startsWith("Fitted on 18 samples, a half of these; before and after are of the "
                             "other 12. The model stays as it is"),
             qPrintable(words("evaluation-fitted")));
    QVERIFY(!m_open->part<QWidget>("evaluation-fit")->isVisible());
    picture("evaluation-fitted");
    // The keys move the cell, Escape leaves it.
    QTest::keyClick(&matrix(), Qt::Key_Up);
    QVERIFY((matrix().chosen() == ConfusionView::Cell{0, 0}));
    QCOMPARE(cards().count(), 8);
    QTest::keyClick(&matrix(), Qt::Key_Escape);
    QVERIFY(!matrix().chosen());
    QCOMPARE(cards().count(), 2);
    // A name is its whole row.
    const QRect cell = matrix().cellRect(2, 0);
    QTest::mouseClick(&matrix(), Qt::LeftButton, {}, QPoint(6, cell.center().y()));
    QVERIFY((matrix().chosen() == ConfusionView::Cell{2, ConfusionView::kAll}));
    QCOMPARE(cards().count(), 10);
    auto* const filter = m_open->part<SegmentedControl>("sample-filter");
    QTest::mouseClick(filter, Qt::LeftButton, {}, filter->segment(2).center());
    QCOMPARE(cards().count(), 30);
    QVERIFY(words("sample-words").contains("least sure"));
    QVERIFY(cards().sample(0)->margin() <= cards().sample(29)->margin());
  }

  void theClassesAreSortedAndChooseTheirRow() {
    openPictures();
    train();
    evaluate();
    auto& table = *m_open->part<DataTable>("class-table");
    QCOMPARE(table.model()->rowCount(), 3);
    QCOMPARE(table.model()->index(0, 0).data().toString(), QString("bar"));  // the lowest recall stands first
    QCOMPARE(table.model()->index(0, 2).data().toString(), QString("83.3"));
    QHeaderView& head = *table.horizontalHeader();
    QTest::mouseClick(head.viewport(), Qt::LeftButton, {},
                      QPoint(head.sectionViewportPosition(4) + 20, head.height() / 2));
    QCOMPARE(table.model()->index(0, 4).data().toString(), QString("12"));
    const QModelIndex last = table.model()->index(2, 1);
    QCOMPARE(last.siblingAtColumn(0).data().toString(), QString("ring"));
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(last).center());
    QVERIFY((matrix().chosen() == ConfusionView::Cell{0, ConfusionView::kAll}));
    QCOMPARE(cards().count(), 8);
    // The curve of the class stands out.
    const Plot& roc = m_open->part<PlotView>("evaluation-first-chart")->plot();
    QCOMPARE(roc.lines.size(), 3);
    for (const Plot::Line& line : roc.lines) QCOMPARE(line.strong, line.name.startsWith("ring"));
    picture("evaluation-class");
  }

  void whatWasEvaluatedIsThereAgainAndIsSaved() {
    openPictures();
    train();
    evaluate();
    const QString id = newest().id, folder = newest().folder;
    QVERIFY(QFileInfo::exists(folder + "/evaluations/validation-best/report.json"));
    train({.overrides = {"training.epochs=1"}});
    showTab();
    QVERIFY2(!tab().report(), "another run was not evaluated yet");
    workspace().setCurrentRun(id);
    QTRY_VERIFY_WITH_TIMEOUT(tab().report(), kPatience);
    QCOMPARE(tab().report()->samples, std::int64_t{30});
    const QString saved = m_open->path("saved");
    QVERIFY(QDir().mkpath(saved));
    nameTheFile(saved);
    pickFromMenu(m_open->part<QAbstractButton>("evaluation-save"), {"All tables and pictures…"});
    for (const char* name : {"report.json", "confusion.csv", "classes.csv", "samples.csv", "curves.csv",
                             "reliability.csv", "confusion.png", "roc.png", "precision-recall.png", "reliability.png"})
      QTRY_VERIFY2_WITH_TIMEOUT(QFileInfo(saved + '/' + name).size() > 0, name, kPatience);
    QVERIFY(QImage(saved + "/confusion.png").width() > 200);
    QTRY_VERIFY(window().notice().sentence().contains("saved"));
    // And each by itself.
    const auto exported = [&](const char* title, const char* kind, const char* name) {
      const QString file = m_open->path(QString::fromLatin1(name));
      nameTheFile(file);
      pickFromMenu(m_open->part<QAbstractButton>("evaluation-save"), {title, kind});
      [&] { QTRY_VERIFY2_WITH_TIMEOUT(window().notice().sentence().contains(name), name, kPatience); }();
      QFile open(file);
      return open.open(QIODevice::ReadOnly) ? open.readAll() : QByteArray();
    };
    QVERIFY(exported("Confusion matrix", "As CSV…", "own.csv").startsWith("true \\ predicted,ring,bar,beam\nring,"));
    QVERIFY(exported("Per class", "As CSV…", "classes.csv").startsWith("class,precision"));
    QVERIFY(exported("ROC", "As CSV…", "roc.csv").startsWith("class,threshold,false positive rate"));
    QVERIFY(exported("Precision-recall", "As CSV…", "pr.csv").startsWith("class,threshold,recall,precision"));
    QCOMPARE(exported("Reliability", "As CSV…", "bins.csv").count('\n'), 16);
    QCOMPARE(exported("Samples, worst first", "As CSV…", "worst.csv").count('\n'), 31);
    for (const char* title : {"Confusion matrix", "ROC", "Precision-recall", "Reliability"}) {
      const QByteArray name = QByteArray(title).left(4) + ".png";
      QVERIFY(QImage::fromData(exported(title, "As PNG…", name)).width() > 200);
    }
  }

  // The other run learned nothing; it is evaluated when it is asked for.
  void anotherRunIsComparedOnTheSameSamples() {
    openPictures();
    train({.name = "bad", .overrides = {"training.optimizer.learning_rate=1e-9", "training.epochs=1"}});
    train({.name = "good"});
    evaluate();
    auto& against = *m_open->part<ChoiceField>("evaluation-against");
    QCOMPARE(against.count(), 2);
    against.setFocus();
    QTest::keyClick(&against, Qt::Key_Down);
    QTRY_VERIFY2_WITH_TIMEOUT(words("evaluation-difference").contains("McNemar"),
                              qPrintable(words("evaluation-difference")), kPatience);
    picture("evaluation-against");
    tab().compareWith({});
    QVERIFY(words("evaluation-difference").isEmpty());
  }

  void whatTheOtherRunGotWrongIsShown() {
    openPictures();
    train({.name = "bad", .overrides = {"training.optimizer.learning_rate=1e-9", "training.epochs=1"}});
    train({.name = "good"});
    evaluate();
    auto& against = *m_open->part<ChoiceField>("evaluation-against");
    against.setFocus();
    QTest::keyClick(&against, Qt::Key_Down);
    auto* const nowRight = m_open->part<QAbstractButton>("evaluation-now-right");
    QTRY_VERIFY_WITH_TIMEOUT(nowRight->isVisible(), kPatience);
    QTest::mouseClick(nowRight, Qt::LeftButton);
    QVERIFY(cards().count() > 2);
    QVERIFY(nowRight->text().contains(QString::number(cards().count())));
    for (int i = 0; i < cards().count(); ++i) QVERIFY(cards().sample(i)->right);
    // Without the other run there is nothing to show of it.
    tab().compareWith({});
    QVERIFY(!nowRight->isVisible());
    QCOMPARE(cards().count(), 2);
  }

  // A card is opened by a double click: where the network looks, for which class, and what its layers make of it.
  void aSampleIsOpenedAndSaysWhatTheNetworkLooksAt() {
    openPictures(kConvolved);
    train();
    evaluate();
    QVERIFY(!board().showsSample());
    QTest::mouseDClick(cards().viewport(), Qt::LeftButton, {}, cards().cardRect(0).center());
    QVERIFY(board().showsSample());
    QTRY_VERIFY2_WITH_TIMEOUT(panel().look(), qPrintable(words("look-meaning")), kPatience);
    const EvaluatedSample first = *cards().sample(0);
    QCOMPARE(panel().look()->sample, first.sample);
    QCOMPARE(panel().look()->method, std::string("grad-cam"));
    QCOMPARE(panel().look()->layer, std::string("pool"));
    QCOMPARE(panel().saliency().map().width, std::int64_t{6});
    QCOMPARE(panel().look()->value, std::int64_t{first.predicted});
    QTRY_VERIFY_WITH_TIMEOUT(panel().layer().tensor(), kPatience);
    QCOMPARE(panel().layer().tensor()->tiles, 6);
    QVERIFY(words("look-meaning").contains("pool"));
    picture("sample-grad-cam");
    // Another method, another class, another layer.
    auto* const method = m_open->part<SegmentedControl>("look-method");
    QTest::mouseClick(method, Qt::LeftButton, {}, method->segment(2).center());
    QTRY_COMPARE_WITH_TIMEOUT(panel().look()->method, std::string("occlusion"), kPatience);
    QCOMPARE(panel().saliency().map().width, std::int64_t{kSide});
    QVERIFY(!panel().saliency().wordsAt(panel().saliency().pictureRect().center()).isEmpty());
    picture("sample-occlusion");
    auto* const of = m_open->part<ChoiceField>("look-of");
    of->setFocus();
    QTest::keyClick(of, Qt::Key_Down);
    QTRY_COMPARE_WITH_TIMEOUT(panel().look()->value, std::int64_t{first.truth}, kPatience);
    auto* const layer = m_open->part<ChoiceField>("look-layer");
    QCOMPARE(layer->count(), 5);
    layer->setFocus();
    QTest::keyClick(layer, Qt::Key_Home);
    QTRY_COMPARE_WITH_TIMEOUT(panel().layer().tensor()->shape, (Shape{1, kSide, kSide}), kPatience);
    QTest::mouseClick(method, Qt::LeftButton, {}, method->segment(0).center());
    QTRY_COMPARE_WITH_TIMEOUT(panel().look()->method, std::string("gradient"), kPatience);
    picture("sample-gradient");
    // To the next card and back to all of them; the engine was started once for all of it.
    m_open->click("look-next");
    QTRY_COMPARE_WITH_TIMEOUT(panel().look() ? panel().look()->sample : -1, cards().sample(1)->sample, kPatience);
    QVERIFY(!m_open->part<QAbstractButton>("look-next")->isEnabled());
    QCOMPARE(page().engine().starts(), 1);
    const QString saved = m_open->path("saved");
    const QString name = QStringLiteral("/sample-%1-gradient.png").arg(cards().sample(1)->row + 1);
    tab().saveTo(saved);
    QTRY_VERIFY_WITH_TIMEOUT(QImage(saved + name).width() > 200, kPatience);
    panel().setFocus();
    QTest::keyClick(&panel(), Qt::Key_Escape);
    QVERIFY(!board().showsSample());
    QCOMPARE(cards().current(), 1);
    // Keys open one, too; its row is in Data.
    QTest::keyClick(&cards(), Qt::Key_Return);
    QVERIFY(board().showsSample());
    const qint64 wanted = cards().sample(1)->row;
    m_open->click("look-data");
    QTRY_VERIFY(window().page("data")->isVisible());
    // The very row, though the page is made and its table read just now.
    auto* const samples = window().page("data")->findChild<SamplesView*>();
    QTRY_COMPARE_WITH_TIMEOUT(samples->currentRow(), static_cast<int>(wanted), kPatience);
  }

  // Without a layer with places the gradient is taken, and what a person chooses in spite of it is told.
  void aNetworkWithoutPlacesIsLookedAtByItsGradient() {
    openPictures();
    train();
    evaluate();
    QTest::mouseDClick(cards().viewport(), Qt::LeftButton, {}, cards().cardRect(0).center());
    QTRY_VERIFY2_WITH_TIMEOUT(panel().look(), qPrintable(words("look-meaning")), kPatience);
    QCOMPARE(panel().look()->method, std::string("gradient"));
    auto* const method = m_open->part<SegmentedControl>("look-method");
    QTest::mouseClick(method, Qt::LeftButton, {}, method->segment(1).center());
    QTRY_VERIFY2_WITH_TIMEOUT(words("look-meaning").contains("take the gradient"), qPrintable(words("look-meaning")),
                              kPatience);
    picture("sample-fault");
  }

  void itIsStoppedAndFaultsSayWhatToDo() {
    openPictures();
    train();
    showTab();
    m_open->click("evaluation-start");
    m_open->click("evaluation-stop");
    QTRY_VERIFY(m_open->part<QAbstractButton>("evaluation-start")->isVisible());
    QVERIFY(!tab().report());
    // A file without truth can only be predicted.
    tab().evaluateFile(m_open->write("blind.csv", "x:image\n" + m_open->path("p/0.png").toUtf8() + '\n'));
    const auto said = [this] {
      for (const QLabel* each : tab().findChildren<QLabel*>())
        if (each->isVisible() && each->text().contains("no column 'y'")) return true;
      return false;
    };
    QTRY_VERIFY_WITH_TIMEOUT(said(), kPatience);
    picture("evaluation-fault");
    // The part is chosen again, and the fault is gone.
    auto& part = *m_open->part<ChoiceField>("evaluation-part");
    part.setFocus();
    QTest::keyClick(&part, Qt::Key_Up);
    QTRY_VERIFY(!said());
    m_open->click("evaluation-start");
    QTRY_VERIFY_WITH_TIMEOUT(tab().report(), kPatience);
    QCOMPARE(board().output()->right, std::int64_t{30});  // of the training samples: their labels are right
  }

  void numbersHaveTheirResiduals() {
    QByteArray rows = "x__0:rooms,x__1:age,price\n";
    for (int i = 0; i < 40; ++i)
      rows += QByteArray::number(i % 5) + ',' + QByteArray::number(i % 7) + ',' +
              QByteArray::number(200000 + 50000 * (i % 5) - 10000 * (i % 7)) + '\n';
    m_open->write("p/houses.csv", rows);
    open(kTable, "houses");
    train();
    showTab();
    auto& part = *m_open->part<ChoiceField>("evaluation-part");
    part.setFocus();
    QTest::keyClick(&part, Qt::Key_Down);
    m_open->click("evaluation-start");
    QTRY_VERIFY_WITH_TIMEOUT(tab().report(), kPatience);
    QCOMPARE(board().output()->kind, EvaluatedOutput::numbers);
    QVERIFY(!matrix().isVisible());
    auto& scatter = *m_open->part<PlotView>("evaluation-first-chart");
    QCOMPARE(scatter.plot().points.size(), 40);
    QVERIFY(scatter.plot().x.high >= 400000);
    QCOMPARE(cards().count(), 40);
    QTRY_VERIFY_WITH_TIMEOUT(cards().face(0) && cards().face(0)->lines.size() == 2, kPatience);
    QVERIFY(cards().face(0)->lines[0].startsWith("rooms "));
    picture("evaluation-numbers");
    // Of a row: how what is said changes with each column, by name.
    QTest::mouseDClick(cards().viewport(), Qt::LeftButton, {}, cards().cardRect(0).center());
    QTRY_VERIFY2_WITH_TIMEOUT(panel().look(), qPrintable(words("look-meaning")), kPatience);
    QVERIFY(panel().saliency().isTable());
    QCOMPARE(panel().look()->names, (std::vector<std::string>{"rooms", "age"}));
    QVERIFY(panel().look()->map.values[0] > 0 && panel().look()->map.values[1] < 0);
    picture("sample-numbers");
    QTest::keyClick(&panel(), Qt::Key_Escape);
    QTest::mouseClick(&scatter, Qt::LeftButton, {}, scatter.placeOf(scatter.plot().points[3]).toPoint());
    QCOMPARE(cards().count(), 1);
  }

  // Of the curves' tools none is cut, however many tabs there are; where figures stand beside, they stand there.
  void theTabLeavesRoomForWhatStandsBeside() {
    openPictures();
    train();
    auto* const tools = m_open->part<QWidget>("x-axis")->parentWidget();
    for (const QSize size : {QSize(1440, 900), QSize(1024, 700), QSize(1900, 900)}) {
      window().resize(size);
      m_open->part<QTabBar>("training-tabs")->setCurrentIndex(0);
      QTRY_VERIFY2(tools->isVisible() && tools->width() >= tools->sizeHint().width(),
                   qPrintable(QString::number(size.width())));
      picture(qPrintable(QStringLiteral("curves-%1").arg(size.width())));
      showTab();
      QVERIFY(!tools->isVisible());
      QVERIFY(!m_open->part<QWidget>("facts-scroll")->isVisible());
      if (!tab().report()) evaluate();
      QTRY_VERIFY(board().isVisible());
      QVERIFY2(board().side().isVisible(), "above the matrix, or beside the cards");
      picture(qPrintable(QStringLiteral("evaluation-%1").arg(size.width())));
    }
  }

  void manyClassesAreFoldedAndStillCounted() {
    constexpr int kClasses = 1000;
    QStringList names;
    std::vector<ConfusionMatrix::Cell> cells;
    for (int i = 0; i < kClasses; ++i) {
      names << QString::number(i);
      cells.push_back({i, i, 50});
      if (i % 10 == 0) cells.push_back({i, (i + 1) % kClasses, 1 + i / 10});
    }
    ConfusionView view;
    view.setMatrix(names, cells);
    view.resize(600, view.sizeHint().height());
    view.show();
    QVERIFY(view.foldsClasses());
    QVERIFY2(!view.cellRect(990, 991).isNull(), "those that are confused most stand there");
    QVERIFY(view.cellRect(3, 3).isNull());
    QTest::mouseClick(&view, Qt::LeftButton, {}, view.cellRect(990, 991).center());
    QVERIFY((view.chosen() == ConfusionView::Cell{990, 991}));
    QCOMPARE(view.count(*view.chosen()), std::int64_t{100});
    QVERIFY(!view.toImage(1).isNull());
    EvaluatedOutput output;
    output.table = classTable([&] {
      ConfusionMatrix matrix(kClasses);
      for (const auto& each : cells) matrix.add(each.truth, each.predicted, each.count);
      return matrix;
    }());
    for (const QString& each : names) output.words.push_back(each.toStdString());
    ClassTableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setOutput(output);
    QCOMPARE(model.rowCount(), kClasses);
    output.table.classes.resize(2);
    model.setOutput(output);
    QCOMPARE(model.rowCount(), 2);
  }
};

}  // namespace loom

QTEST_MAIN(loom::RunEvaluationTest)
#include "run_evaluation_test.moc"

// A person looks at what a network that says a class for each pixel gets wrong: masks over the pictures, worst first by
// loss or by IoU, one opened large. Real events, the real loom. Pictures are written where GRADLOOM_PICTURES names a
// folder.
#include "tests/app/training/segmentation_test.h"

#include <QDir>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QSlider>
#include <QTabBar>

#include "app/pages/training/evaluation_board.h"
#include "app/pages/training/run_evaluation.h"
#include "app/pages/training/sample_panel.h"
#include "app/pages/training/training_page.h"
#include "app/workspace.h"
#include "tests/app/opened_window.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/switch.h"
#include "widgets/evaluation/confusion_view.h"
#include "widgets/evaluation/mask_tools.h"
#include "widgets/evaluation/mask_view.h"
#include "widgets/evaluation/sample_cards.h"

namespace loom {
namespace {

constexpr int kPatience = 60000, kSide = 24, kTrained = 36, kHeldOut = 12, kEvaluationTab = 5;

constexpr const char* kProject = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [1, 24, 24], "at": [0, 0]},
    {"id": "conv1", "layer": "Convolution", "channels": 8, "kernel": [5, 5], "padding": "same", "at": [0, 60]},
    {"id": "relu", "layer": "ReLU", "at": [0, 120]},
    {"id": "conv2", "layer": "Convolution", "channels": 3, "kernel": [5, 5], "padding": "same", "at": [0, 180]},
    {"id": "last", "layer": "Transpose", "axes": [1, 2, 0], "at": [0, 240]},
    {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 300]},
    {"id": "y", "layer": "Input", "shape": [24, 24], "type": "label", "at": [264, 240]},
    {"id": "iou", "layer": "MeanIoU", "at": [264, 300]}],
    "edges": [["x", "conv1"], ["conv1", "relu"], ["relu", "conv2"], ["conv2", "last"], ["last", "loss"], ["y", "loss.target"],
              ["last", "iou"], ["y", "iou.target"]]}},
    "datasets": {"training": {"csv": "train.csv", "prepare": [{"step": "Scale", "variable": "x"}]}, "validation": {"csv": "val.csv"}},
    "training": {"network": "main", "dataset": "training", "validation": "validation", "epochs": 40, "batch": 6,
                 "optimizer": {"name": "Adam", "learning_rate": 0.01}}})";

struct Drawn {
  QImage picture, classes;
};

// A light disc and a dim bar on a noisy ground; of the bar every fifth picture has one that is as light as the disc.
Drawn drawn(int number) {
  Drawn one{QImage(kSide, kSide, QImage::Format_Grayscale8), QImage(kSide, kSide, QImage::Format_Grayscale8)};
  const int disc = 6 + number * 5 % 11, bar = 3 + number * 7 % 17, light = number % 5 == 4 ? 220 : 120;
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) {
      const int noise = (x * 31 + y * 17 + number * 13 + x * y) % 29;
      const bool inDisc =
          (x - disc) * (x - disc) + (y - 9) * (y - 9)<26, inBar = x> 2 && x < 21 && y >= bar && y < bar + 3;
      one.classes.scanLine(y)[x] = static_cast<uchar>(inDisc ? 1 : inBar ? 2 : 0);
      one.picture.scanLine(y)[x] = static_cast<uchar>(20 + noise + (inDisc ? 200 : inBar ? light : 0));
    }
  return one;
}

}  // namespace

class SegmentationTest : public QObject {
  Q_OBJECT

  std::unique_ptr<OpenedWindow> m_open;
  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  RunEvaluation& tab() { return static_cast<TrainingPage*>(window().page("training"))->evaluation(); }
  EvaluationBoard& board() { return tab().board(); }
  SampleCards& cards() { return board().cards(); }

  void picture(const char* name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (folder.isEmpty()) return;
    for (const ThemeMode mode : {ThemeMode::dark, ThemeMode::light}) {
      Theme::of().setMode(mode);
      QTest::qWait(300);
      window().grab().save(
          QDir(folder).filePath(QString::fromLatin1(name) + (mode == ThemeMode::dark ? "-dark.png" : "-light.png")));
    }
  }
  void evaluate() {
    QDir().mkpath(m_open->path("p"));
    for (const auto& [file, from, count] : {std::tuple{"train", 0, kTrained}, std::tuple{"val", 100, kHeldOut}}) {
      QByteArray rows = "x:image,y:mask\n";
      for (int i = from; i < from + count; ++i) {
        const Drawn one = drawn(i);
        const QByteArray number = QByteArray::number(i);
        QVERIFY(one.picture.save(m_open->path("p/" + number + ".png")));
        QVERIFY(one.classes.save(m_open->path("p/" + number + "-classes.png")));
        rows += number + ".png," + number + "-classes.png\n";
      }
      m_open->write(QStringLiteral("p/%1.csv").arg(file), rows);
    }
    m_open->write("p/train.y.classes.txt", "ground\ndisc\nbar\n");
    window().openProject(m_open->write("p/parts.loom", kProject));
    QVERIFY(workspace().document());
    QVERIFY(workspace().train({}));
    const auto newest = [this] { return workspace().runs().back(); };
    QTRY_VERIFY_WITH_TIMEOUT(!isLive(newest().state) && newest().state != RunState::queued, kPatience);
    QVERIFY2(newest().state == RunState::finished, qPrintable(newest().message));
    window().showPage("training");
    QTRY_VERIFY(window().settled());
    auto* const tabs = m_open->part<QTabBar>("training-tabs");
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(kEvaluationTab).center());
    m_open->click("evaluation-start");
    QTRY_VERIFY_WITH_TIMEOUT(tab().report(), kPatience);
    QTRY_VERIFY(board().isVisible());
  }
  // How many pixels of a card's picture have another colour than before.
  QImage cardImage() { return cards().viewport()->grab(cards().cardRect(0)).toImage(); }

 private Q_SLOTS:
  void initTestCase() { qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM); }
  void init() { m_open = std::make_unique<OpenedWindow>(); }
  void cleanup() {
    if (workspace().document()) workspace().document()->discardRecovery();
    m_open.reset();
  }

  void masksLieOverThePicturesWorstFirst() {
    evaluate();
    if (QTest::currentTestFailed()) return;
    const EvaluatedOutput& output = *board().output();
    QVERIFY(output.isMap());
    QCOMPARE(output.items, std::int64_t{kHeldOut * kSide * kSide});
    auto& tools = *m_open->part<MaskTools>("mask-tools");
    QVERIFY(tools.isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(cards().count() > 2 && cards().face(0) && !cards().face(0)->classes.isEmpty(), kPatience);
    // What is said and what is true of the first one is what the report says of it.
    const SampleFace face = *cards().face(0);
    QCOMPARE(face.picture.size(), QSize(kSide, kSide));
    QCOMPARE(face.classes.said.size(), std::size_t{kSide * kSide});
    const Drawn one = drawn(100 + static_cast<int>(cards().sample(0)->row));
    std::size_t right = 0;
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        const auto at = static_cast<std::size_t>(y * kSide + x);
        QCOMPARE(static_cast<int>(face.classes.truth[at]), static_cast<int>(one.classes.constScanLine(y)[x]));
        right += face.classes.said[at] == face.classes.truth[at];
      }
    QVERIFY(right < std::size_t{kSide * kSide});
    QVERIFY(std::abs(cards().sample(0)->rightShare - static_cast<double>(right) / (kSide * kSide)) < 1e-6);
    picture("segmentation-cards");
    // Worst by loss at first, then by IoU.
    for (int i = 1; i < cards().count(); ++i) QVERIFY(cards().sample(i - 1)->loss >= cards().sample(i)->loss);
    auto& worst = *m_open->part<ChoiceField>("sample-worst-by");
    QVERIFY(worst.isVisible());
    worst.setFocus();
    QTest::keyClick(&worst, Qt::Key_Down);
    QCOMPARE(worst.currentText(), QString("IoU"));
    for (int i = 1; i < cards().count(); ++i) QVERIFY(cards().sample(i - 1)->iou <= cards().sample(i)->iou);
    QVERIFY2(cards().words(0).contains("IoU"), qPrintable(cards().words(0)));
    QVERIFY(m_open->part<QLabel>("sample-words")->text().contains("by IoU"));
    // The switches change what is seen.
    QTRY_VERIFY_WITH_TIMEOUT(cards().face(0) && !cards().face(0)->classes.isEmpty(), kPatience);
    const QImage before = cardImage();
    m_open->click("mask-prediction");
    QVERIFY(!tools.look().said);
    const QImage without = cardImage();
    QVERIFY(without != before);
    m_open->click("mask-outline");
    const QImage plain = cardImage();
    QVERIFY(plain != without);
    m_open->click("mask-truth");
    const QImage truth = cardImage();
    QVERIFY(truth != plain);
    m_open->click("mask-class-1");
    QVERIFY(tools.look().hidden.contains(1));
    QVERIFY(cardImage() != truth);
    m_open->click("mask-class-1");
    QVERIFY(cardImage() == truth);
    m_open->click("mask-picture");
    QVERIFY(cardImage() != truth);
    auto* const opacity = m_open->part<QSlider>("mask-opacity");
    opacity->setFocus();
    const QImage half = cardImage();
    QTest::keyClick(opacity, Qt::Key_End);
    QCOMPARE(tools.look().opacity, 1.0);
    QVERIFY(cardImage() != half);
    for (const char* name : {"mask-picture", "mask-prediction", "mask-outline"}) m_open->click(name);
  }

  void aSampleIsOpenedAndTellsEachOfItsPlaces() {
    evaluate();
    if (QTest::currentTestFailed()) return;
    QTest::mouseDClick(cards().viewport(), Qt::LeftButton, {}, cards().cardRect(0).center());
    QVERIFY(board().showsSample());
    auto& mask = *m_open->part<MaskView>("look-mask");
    QTRY_VERIFY_WITH_TIMEOUT(!mask.classes().isEmpty(), kPatience);
    QVERIFY(mask.isVisible());
    // Of a place where both differ both are told, and it is one that the outline surrounds.
    const ClassMap& classes = mask.classes();
    std::size_t wrong = 0;
    while (wrong < classes.said.size() && classes.said[wrong] == classes.truth[wrong]) ++wrong;
    QVERIFY(wrong < classes.said.size());
    const QRectF where = mask.pictureRect();
    const QPointF at(where.left() + (static_cast<double>(wrong % kSide) + 0.5) / kSide * where.width(),
                     where.top() + (static_cast<double>(wrong / kSide) + 0.5) / kSide * where.height());
    const char* const words[] = {"ground", "disc", "bar"};
    QCOMPARE(mask.wordsAt(at), QStringLiteral("row %1, column %2: true %3, predicted %4")
                                   .arg(wrong / kSide + 1)
                                   .arg(wrong % kSide + 1)
                                   .arg(words[classes.truth[wrong]], words[classes.said[wrong]]));
    m_open->click("mask-truth");
    QVERIFY2(mask.look().truth, "the tools below are of the opened one, too");
    QTRY_VERIFY_WITH_TIMEOUT(board().panel().look(), kPatience);
    picture("segmentation-opened");
    window().resize(1024, 700);
    picture("segmentation-1024");
    const QString saved = m_open->path("saved"), name = QStringLiteral("/sample-%1-classes.png");
    tab().saveTo(saved);
    QTRY_VERIFY_WITH_TIMEOUT(QImage(saved + name.arg(cards().sample(cards().current())->row + 1)).width() > 200,
                             kPatience);
    QFile table(saved + "/samples.csv");
    QVERIFY(table.open(QIODevice::ReadOnly));
    QVERIFY(table.readLine().trimmed().endsWith(",iou,right share"));
  }

  // What is not known is not drawn: without a truth there is no outline.
  void aMaskWithoutTruthHasNoOutline() {
    const ClassMap both{.height = 2, .width = 2, .said = {0, 1, 1, 0}, .truth = {0, 1, 0, 0}};
    ClassMap said = both;
    said.truth.clear();
    MaskLook look{.said = false};
    const Theme& theme = Theme::of();
    const auto drawnPixels = [&](const ClassMap& classes) {
      const QImage image = maskImage(theme, classes, look, QSize(40, 40));
      int count = 0;
      for (int y = 0; y < 40; ++y)
        for (int x = 0; x < 40; ++x) count += qAlpha(image.pixel(x, y)) > 0;
      return count;
    };
    QCOMPARE(drawnPixels(said), 0);
    const int outline = drawnPixels(both);
    QVERIFY2(outline > 60 && outline < 120, qPrintable(QString::number(outline)));  // two pixels along two edges of 20
    look.said = true;
    QCOMPARE(drawnPixels(said), 1600);
    look.hidden = {0};
    QCOMPARE(drawnPixels(said), 800);
  }
};

int testSegmentation(int argc, char** argv) {
  SegmentationTest test;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace loom

#include "segmentation_test.moc"

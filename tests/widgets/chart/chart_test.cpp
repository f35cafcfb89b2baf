// Panels on the screen: what is drawn where, cursor, zoom, pin, keys, export, and that the cursor costs no redrawing.
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QWheelEvent>
#include <QtTest>
#include <chrono>
#include <cmath>
#include <future>

#include "tests/patience.h"
#include "tests/widgets/chart/chart_words_test.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/chart/chart_tooltip.h"
#include "widgets/controls/button.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

using namespace loom;

namespace {

// The event itself: QTest::mouseMove goes by the platform's cursor, which a double click before may have left held.
void moveTo(QWidget* widget, const QPoint& position) {
  QMouseEvent move(QEvent::MouseMove, QPointF(position), widget->mapToGlobal(QPointF(position)), Qt::NoButton,
                   Qt::NoButton, {});
  QApplication::sendEvent(widget, &move);
}

}  // namespace

class ChartTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<ChartStack> m_stack;
  std::shared_ptr<VectorSource> m_loss, m_accuracy;
  LineChart* m_first = nullptr;
  LineChart* m_second = nullptr;

  QPoint at(LineChart* chart, double x, double y) const {
    const Interval range = chart->yRange();
    const QRectF plot = chart->plot();
    return QPointF(plot.left() + m_stack->axis()->place(x) * plot.width(),
                   plot.top() + (1 - (y - range.low) / range.span()) * plot.height())
        .toPoint();
  }

 private Q_SLOTS:
  void initTestCase() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  }
  void cleanupTestCase() {
    m_stack.reset();
    m_theme.reset();
  }
  void init();
  void curveIsDrawnInItsColour();
  void themeChangesTheCurve();
  void cursorGoesThroughAllPanels();
  void cursorRedrawsNothing();
  void clickPinsAndCopies();
  void keysMoveTheCursor();
  void wheelZoomsAndFollowReturns();
  void dragSelectsARange();
  void axisUnitKeys();
  void pointsArriveWithTheNextFrame();
  void accuracyStaysWithinAHundred();
  void exportsLight();
  void csvHasEveryPoint();
  void csvIsWrittenBesideTheWindow();
  void emptyPanelSaysSo();
  void clickOnALineNamesIt();
  void whatCameWhileHiddenIsDrawnWhenShown();
  void tooltipLeavesTheCurveOfALogAxis();
  void fadedLinesHaveNoDarkJoints();
  void numbersOfTheAxisStandWhole();
  void theXAxisSaysWhatItCounts();
  void marksAtOnePlaceStandApart();
  void flagsLieOverTheCurves();
  void everyPanelOfALowStackHasAPlot();
  void aHiddenPanelLeavesItsRoomToTheOthers();
  void aLossThatDivergesSqueezesNoOther();
  void aPictureNamesItsLines();
  void aSingleValidationIsSeenAtTheEdge();
};

void ChartTest::aLossThatDivergesSqueezesNoOther() {
  auto diverging = std::make_shared<VectorSource>();
  for (int i = 0; i <= 100; ++i) diverging->append(i, i < 50 ? 2.1 : 2.1 * std::pow(10, (i - 50) / 4));
  m_first->setLines({{.id = "loss", .name = "good", .colour = 0, .source = m_loss, .value = ValueKind::loss},
                     {.id = "bad", .name = "bad", .colour = 1, .source = diverging, .value = ValueKind::loss}});
  m_stack->drawNow();
  QVERIFY2(m_first->yRange().high < 40, qPrintable(QString::number(m_first->yRange().high)));
  m_first->setShowsAll(true);
  m_first->drawNow();
  QVERIFY(m_first->yRange().high > 1e6);
  m_first->setShowsAll(false);
  // What is no loss may grow to any number of times of where it began.
  m_second->setLines({{.id = "rate", .name = "rate", .colour = 1, .source = diverging, .value = ValueKind::plain}});
  m_second->drawNow();
  QVERIFY(m_second->yRange().high > 1e6);
}

void ChartTest::aPictureNamesItsLines() {
  m_first->setLineEnds(LineEnds::none);
  m_first->setMargins({.left = 46, .right = 16, .top = 30, .bottom = 40});
  m_first->drawNow();
  QTemporaryDir folder;
  QVERIFY(m_first->toSvg(folder.filePath("loss.svg"), {500, 240}));
  QFile file(folder.filePath("loss.svg"));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QString text = QString::fromUtf8(file.readAll());
  QVERIFY2(text.contains(">training</text>"), "the line is named");
  QVERIFY2(text.contains(">0.500</text>"), "and its last value stands behind it");
  // Nothing stands at the very edge.
  const QImage picture = m_first->toImage({500, 240}, 1);
  for (int y = 0; y < picture.height(); ++y) QCOMPARE(picture.pixel(3, y), picture.pixel(0, 0));
}

void ChartTest::aSingleValidationIsSeenAtTheEdge() {
  auto one = std::make_shared<VectorSource>();
  one->append(100, 0.75);
  m_second->setLines({{.id = "v",
                       .name = "validation",
                       .kind = LineKind::validation,
                       .colour = 1,
                       .source = one,
                       .value = ValueKind::accuracy}});
  m_second->setYRange(Interval{0, 1});
  m_second->drawNow();
  const QImage shown = m_second->grab().toImage();
  const QPoint there = at(m_second, 100, 0.75);
  const QColor ink = m_theme->curveColour(1);
  int beyond = 0;  // of its circle, right of the frame
  for (int x = 1; x <= 4; ++x)
    for (int y = -4; y <= 4; ++y) {
      const QColor pixel = shown.pixelColor(there + QPoint(x, y));
      beyond += std::abs(pixel.red() - ink.red()) + std::abs(pixel.green() - ink.green()) +
                    std::abs(pixel.blue() - ink.blue()) <
                120;
    }
  QVERIFY2(beyond >= 3, qPrintable(QString::number(beyond)));
}

void ChartTest::init() {
  m_loss = std::make_shared<VectorSource>();
  m_accuracy = std::make_shared<VectorSource>();
  for (int i = 0; i <= 100; ++i) {
    m_loss->append(i, 2 - 0.015 * i);
    m_accuracy->append(i, 0.5 + 0.004 * i);
  }
  m_stack = std::make_unique<ChartStack>();
  m_first = m_stack->addPanel("Loss", "lower is better");
  m_second = m_stack->addPanel("Accuracy", "%");
  m_first->setLines({{.id = "loss", .name = "training", .colour = 0, .source = m_loss}});
  m_second->setValueKind(ValueKind::accuracy);
  m_second->setLines(
      {{.id = "accuracy", .name = "training", .colour = 2, .source = m_accuracy, .value = ValueKind::accuracy}});
  m_stack->axis()->setFull({0, 100});
  m_stack->resize(700, 440);
  m_stack->show();
  m_stack->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_stack.get()));
  m_stack->drawNow();
}

void ChartTest::aHiddenPanelLeavesItsRoomToTheOthers() {
  m_second->hide();
  m_stack->drawNow();
  QCOMPARE(m_first->height(), m_stack->height());
}

// As on the Training page of a window of 1024 × 700: the last panel carries the x axis of all.
void ChartTest::everyPanelOfALowStackHasAPlot() {
  m_stack->addPanel("Learning rate", {}, 1);
  m_stack->addPanel("Time per step", "ms", 1);
  m_stack->resize(700, 340);
  m_stack->drawNow();
  for (const LineChart* panel : m_stack->panels()) {
    const auto plot = [&] { return panel->height() - panel->margins().top - panel->margins().bottom; };
    QTRY_VERIFY2(panel->isVisible() && plot() >= 20, qPrintable(QString::number(plot())));
  }
}

void ChartTest::curveIsDrawnInItsColour() {
  const QImage image = m_first->grab().toImage();
  const QColor curve = m_theme->curveColour(0);
  for (const double x : {10.0, 50.0, 90.0}) {
    const QPoint point = at(m_first, x, 2 - 0.015 * x);
    bool found = false;
    for (int dy = -2; dy <= 2; ++dy)
      found |= std::abs(image.pixelColor(point.x(), point.y() + dy).blue() - curve.blue()) < 40 &&
               image.pixelColor(point.x(), point.y() + dy).red() < 80;
    QVERIFY2(found, qPrintable(QString::number(x)));
    // And not elsewhere.
    QVERIFY(image.pixelColor(point.x(), point.y() + 25).lightness() > 200);
  }
}

void ChartTest::themeChangesTheCurve() {
  const QImage light = m_first->grab().toImage();
  m_theme->setMode(ThemeMode::dark);
  m_stack->drawNow();
  const QImage dark = m_first->grab().toImage();
  m_theme->setMode(ThemeMode::light);
  const QPoint point = at(m_first, 50, 2 - 0.015 * 50);
  QVERIFY(light.pixelColor(point) != dark.pixelColor(point));
}

void ChartTest::cursorGoesThroughAllPanels() {
  moveTo(m_first, at(m_first, 40, 1));
  QVERIFY(m_stack->axis()->cursor());
  QVERIFY(std::abs(*m_stack->axis()->cursor() - 40) < 0.5);
  auto* tooltip = m_stack->findChild<ChartTooltip*>();
  QVERIFY(tooltip->isVisible());
  const QColor ink = m_theme->colour(Colour::text);
  const QImage image = m_second->grab().toImage();
  const int x = static_cast<int>(m_second->plot().left() +
                                 m_stack->axis()->place(*m_stack->axis()->cursor()) * m_second->plot().width());
  QCOMPARE(image.pixelColor(x, static_cast<int>(m_second->plot().bottom()) - 6), ink);
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(m_first, &leave);
  QVERIFY(!m_stack->axis()->cursor());
  QVERIFY(!tooltip->isVisible());
}

void ChartTest::cursorRedrawsNothing() {
  QTest::qWait(60);
  QSignalSpy drawn(m_first, &LineChart::drawn);
  for (int i = 0; i < 20; ++i) {
    m_stack->axis()->setCursor(i * 5);
    QApplication::processEvents();
  }
  QTest::qWait(60);
  QCOMPARE(drawn.count(), 0);
}

void ChartTest::clickPinsAndCopies() {
  QTest::mouseClick(m_first, Qt::LeftButton, {}, at(m_first, 20, 0.2));
  QVERIFY(m_stack->axis()->isPinned());
  const double pinned = *m_stack->axis()->cursor();
  moveTo(m_first, at(m_first, 70, 0.2));
  QCOMPARE(*m_stack->axis()->cursor(), pinned);
  m_first->setFocus();
  QTest::keyClick(m_first, Qt::Key_C, Qt::ControlModifier);
  QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("training\t20\t1.7"));
  QTest::keyClick(m_first, Qt::Key_Escape);
  QVERIFY(!m_stack->axis()->isPinned());
}

void ChartTest::keysMoveTheCursor() {
  m_first->setFocus();
  QTest::keyClick(m_first, Qt::Key_Home);
  QCOMPARE(*m_stack->axis()->cursor(), 0.0);
  QTest::keyClick(m_first, Qt::Key_Right);
  QCOMPARE(*m_stack->axis()->cursor(), 1.0);
  QTest::keyClick(m_first, Qt::Key_Right, Qt::ShiftModifier);
  QCOMPARE(*m_stack->axis()->cursor(), 11.0);
  QTest::keyClick(m_first, Qt::Key_End);
  QCOMPARE(*m_stack->axis()->cursor(), 100.0);
  QTest::keyClick(m_first, Qt::Key_Right);
  QCOMPARE(*m_stack->axis()->cursor(), 100.0);
  m_first->setBest(BestMark{"loss", 73, 0.9, "best"});
  QTest::keyClick(m_first, Qt::Key_B);
  QCOMPARE(*m_stack->axis()->cursor(), 73.0);
  QTest::keyClick(m_first, Qt::Key_L);
  QVERIFY(m_first->isLogarithmic());
}

void ChartTest::wheelZoomsAndFollowReturns() {
  const QPoint where = at(m_first, 50, 1);
  const auto turn = [&](int angle, Qt::KeyboardModifiers keys) {
    QWheelEvent wheel(where, m_first->mapToGlobal(where), QPoint(), QPoint(0, angle), Qt::NoButton, keys,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(m_first, &wheel);
  };
  turn(120, {});
  const Interval seen = m_stack->axis()->visible();
  QVERIFY(std::abs(seen.span() - 80) < 0.01);
  QVERIFY(std::abs((seen.low + seen.high) / 2 - 50) < 1);
  Button* follow = nullptr;
  for (Button* button : m_stack->findChildren<Button*>()) {
    if (button->isVisible()) follow = button;
  }
  QVERIFY(follow);
  m_stack->drawNow();
  const Interval before = m_first->yRange();
  turn(120, Qt::ShiftModifier);
  m_stack->drawNow();
  QVERIFY(m_first->yRange().span() < before.span());
  QCOMPARE(m_stack->axis()->visible(), seen);
  QTest::mouseClick(follow, Qt::LeftButton);
  QVERIFY(m_stack->axis()->isFollowing());
  QVERIFY(!follow->isVisible());
}

void ChartTest::dragSelectsARange() {
  const QPoint from = at(m_first, 20, 1), to = at(m_first, 60, 1);
  QTest::mousePress(m_first, Qt::LeftButton, {}, from);
  QMouseEvent move(QEvent::MouseMove, QPointF(to), m_first->mapToGlobal(QPointF(to)), Qt::NoButton, Qt::LeftButton, {});
  QApplication::sendEvent(m_first, &move);
  QTest::mouseRelease(m_first, Qt::LeftButton, {}, to);
  QVERIFY(std::abs(m_stack->axis()->visible().low - 20) < 0.5);
  QVERIFY(std::abs(m_stack->axis()->visible().high - 60) < 0.5);
  QTest::mouseDClick(m_first, Qt::LeftButton, {}, at(m_first, 40, 1));
  QVERIFY(m_stack->axis()->isFollowing());
}

void ChartTest::axisUnitKeys() {
  m_first->setFocus();
  QTest::keyClick(m_first, Qt::Key_2);
  QCOMPARE(m_stack->axis()->unit(), XUnit::epoch);
  QTest::keyClick(m_first, Qt::Key_1);
  QCOMPARE(m_stack->axis()->unit(), XUnit::step);
}

void ChartTest::pointsArriveWithTheNextFrame() {
  QTest::qWait(60);
  QSignalSpy drawn(m_first, &LineChart::drawn);
  for (int i = 101; i <= 200; ++i) {
    m_loss->append(i, 0.4);
    m_stack->refresh();
  }
  m_stack->axis()->setFull({0, 200});
  QTRY_VERIFY(drawn.count() >= 1);
  QVERIFY(drawn.count() <= 3);
  QCOMPARE(m_first->shownPoints(), 200 + 1);
  QVERIFY(m_first->everyPointShown());
}

void ChartTest::accuracyStaysWithinAHundred() {
  m_accuracy->append(101, 0.998);
  m_stack->axis()->setFull({0, 101});
  m_stack->drawNow();
  QCOMPARE(m_second->yRange().high, 1.0);
}

void ChartTest::exportsLight() {
  m_theme->setMode(ThemeMode::dark);
  const QImage image = m_first->toImage(QSize(600, 300), 2);
  QCOMPARE(image.size(), QSize(1248, 648));  // twelve points of paper around it
  QCOMPARE(image.pixelColor(1190, 4), Tokens::builtIn().light[Colour::surface]);
  QTemporaryDir folder;
  const QString file = folder.filePath("loss.svg");
  QVERIFY(m_first->toSvg(file, QSize(600, 300)));
  QFile svg(file);
  QVERIFY(svg.open(QIODevice::ReadOnly));
  const QByteArray text = svg.readAll();
  QVERIFY(text.contains("<svg") &&
          text.toLower().contains(Tokens::builtIn().light.curves[0].name().toUtf8().toLower()));
  m_theme->setMode(ThemeMode::light);
}

void ChartTest::csvHasEveryPoint() {
  for (int i = 101; i < 5000; ++i) m_loss->append(i, std::sin(i));
  m_loss->append(5000, std::nan(""));
  const QStringList lines = m_first->toCsv().split('\n', Qt::SkipEmptyParts);
  QCOMPARE(lines.size(), 1 + 5001);
  QCOMPARE(lines[0], QStringLiteral("line,step,value"));
  QCOMPARE(lines[1], QStringLiteral("training,0,2"));
  QCOMPARE(lines.back(), QStringLiteral("training,5000,nan"));
  QCOMPARE(lines[3001].split(',')[2].toDouble(), std::sin(3000));
}

// A source whose points come when they are told to, at the latest after five seconds.
class WaitingSource : public VectorSource {
 public:
  std::function<ChartColumns()> reader(XUnit unit) const override {
    return [all = VectorSource::reader(unit), answer = m_answer] {
      answer.wait_for(std::chrono::seconds(5));
      return all();
    };
  }
  void answer() { m_told.set_value(); }

 private:
  std::promise<void> m_told;
  std::shared_future<void> m_answer = m_told.get_future().share();
};

void ChartTest::csvIsWrittenBesideTheWindow() {
  const auto slow = std::make_shared<WaitingSource>();
  for (int i = 0; i < 300; ++i) slow->append(i, i);
  m_first->setLines({{.id = "slow", .name = "slow", .source = slow}});
  QTemporaryDir folder;
  const QString file = folder.filePath("slow.csv");
  QSignalSpy exported(m_first, &LineChart::exported);
  QElapsedTimer timer;
  timer.start();
  m_first->writeCsv(file);
  QCoreApplication::processEvents();
  QVERIFY2(timer.elapsed() < 1000, "the window waited for the points");
  QVERIFY(exported.isEmpty() && !QFile::exists(file));
  slow->answer();
  QTRY_COMPARE(exported.count(), 1);
  QCOMPARE(exported[0][1].toBool(), true);
  QFile written(file);
  QVERIFY(written.open(QIODevice::ReadOnly));
  QCOMPARE(QString::fromUtf8(written.readAll()), m_first->toCsv());
  m_first->writeCsv("/nowhere/slow.csv");
  QTRY_COMPARE(exported.count(), 2);
  QCOMPARE(exported[1][1].toBool(), false);
}

void ChartTest::emptyPanelSaysSo() {
  m_first->setLines({});
  m_stack->drawNow();
  const QImage without = m_first->grab().toImage();
  m_first->setEmptyText("No run yet. Train starts one here");
  m_stack->drawNow();
  QVERIFY(m_first->grab().toImage() != without);
}

void ChartTest::clickOnALineNamesIt() {
  auto other = std::make_shared<VectorSource>();
  for (int i = 0; i <= 100; ++i) other->append(i, 0.1);
  m_first->setLines({{.id = "a", .name = "a", .colour = 0, .source = m_loss},
                     {.id = "b", .name = "b", .colour = 1, .source = other}});
  m_stack->drawNow();
  QSignalSpy clicked(m_stack.get(), &ChartStack::lineClicked);
  QSignalSpy hovered(m_stack.get(), &ChartStack::lineHovered);
  moveTo(m_first, at(m_first, 50, 0.1));
  QVERIFY(!hovered.isEmpty());
  QCOMPARE(hovered.back()[0].toString(), QStringLiteral("b"));
  QTest::mouseClick(m_first, Qt::LeftButton, {}, at(m_first, 50, 0.1));
  QCOMPARE(clicked.count(), 1);
  QCOMPARE(clicked[0][0].toString(), QStringLiteral("b"));
  m_stack->setHighlighted("b");
  QCOMPARE(m_first->highlighted(), QStringLiteral("b"));
}

void ChartTest::whatCameWhileHiddenIsDrawnWhenShown() {
  QTest::qWait(60);
  m_stack->hide();
  for (int i = 101; i <= 200; ++i) m_loss->append(i, 0.4);
  m_stack->axis()->setFull({0, 200});
  m_stack->refresh();
  QTest::qWait(60);
  m_stack->show();
  QTRY_COMPARE(m_first->shownPoints(), std::int64_t{201});
}

// A curve in the upper half of a log axis by its decades, in the lower half by its numbers.
void ChartTest::tooltipLeavesTheCurveOfALogAxis() {
  auto falling = std::make_shared<VectorSource>();
  for (int i = 0; i <= 100; ++i) falling->append(i, std::pow(10.0, -0.06 * i));
  m_first->setLines({{.id = "loss", .name = "training", .source = falling}});
  m_first->setLogarithmic(true);
  m_stack->drawNow();
  for (const double x : {10.0, 30.0, 50.0}) {
    const double value = std::pow(10.0, -0.06 * x);
    const double share =
        std::log(value / m_first->yRange().low) / std::log(m_first->yRange().high / m_first->yRange().low);
    QVERIFY(std::abs(m_first->yPixel(value) - (m_first->plot().bottom() - share * m_first->plot().height())) < 0.5);
    moveTo(m_first, QPoint(static_cast<int>(m_first->plot().left() + x / 100 * m_first->plot().width()), 60));
    auto* tooltip = m_stack->findChild<ChartTooltip*>();
    QVERIFY(tooltip->isVisible());
    const int margin = shadowMargin(Elevation::menu);
    const QRect card = tooltip->geometry().adjusted(margin, margin, -margin, -margin);
    const int y = qRound(m_first->y() + m_first->yPixel(value));
    const bool roomBelow = y + 10 + card.height() < m_first->plot().bottom();
    QVERIFY2(!roomBelow || y < card.top() || y > card.bottom(), qPrintable(QString::number(x)));
  }
}

void ChartTest::fadedLinesHaveNoDarkJoints() {
  auto zigzag = std::make_shared<VectorSource>();
  for (int i = 0; i <= 100; ++i) zigzag->append(i, i % 2 ? 1.4 : 0.6);
  m_first->setLines({{.id = "a", .name = "a", .kind = LineKind::plain, .colour = 0, .source = zigzag},
                     {.id = "b", .name = "b", .kind = LineKind::plain, .colour = 1, .source = m_loss}});
  m_first->setHighlighted("b");
  m_stack->drawNow();
  const QImage image = m_first->grab().toImage();
  // The line is mixed with the ground, so nothing of it is further from the ground than that mixture.
  const QColor full = m_theme->curveColour(0), ground = m_theme->colour(Colour::surface);
  const double faded = ground.redF() + (full.redF() - ground.redF()) * 0.35;
  const QRect plot = m_first->plot().toRect().adjusted(6, 30, -2, -8);  // without the axis, whose grey is bluish too
  const QColor other = m_theme->curveColour(1);
  int seen = 0;
  for (int y = plot.top(); y < plot.bottom(); ++y)
    for (int x = plot.left(); x < plot.right(); ++x) {
      const QColor pixel = image.pixelColor(x, y);
      if (pixel.blue() < pixel.red() + 20 || pixel.blue() < other.blue())
        continue;  // of this line alone, which is blue
      ++seen;
      QVERIFY2(pixel.redF() >= faded - 0.03, qPrintable(QString("%1 %2").arg(x).arg(y)));
    }
  QVERIFY(seen > 100);
}

void ChartTest::numbersOfTheAxisStandWhole() {
  m_loss->clear();
  for (int i = 0; i <= 100; ++i) m_loss->append(i, 1234567.0 + 10 * i);
  m_stack->refresh();
  m_stack->drawNow();
  QVERIFY(m_first->roomForLabels() > 46);
  QTRY_VERIFY(m_first->margins().left >= m_first->roomForLabels());
  // Panels under each other keep their plots aligned.
  QTRY_COMPARE(m_second->margins().left, m_first->margins().left);
}

void ChartTest::theXAxisSaysWhatItCounts() {
  const auto below = [&](XUnit unit) {
    m_stack->axis()->setUnit(unit);
    const QImage image = m_first->toImage(QSize(600, 300), 1);
    return image.copy(200, 280, 300, 19);
  };
  const QImage step = below(XUnit::step), epoch = below(XUnit::epoch);
  QVERIFY(step != epoch);  // the title alone stands there: the numbers are the same
  QCOMPARE(m_stack->axis()->title(), QStringLiteral("Epoch"));
  QImage empty(step.size(), step.format());
  empty.fill(Tokens::builtIn().light[Colour::surface]);
  QVERIFY(step != empty);
}

void ChartTest::marksAtOnePlaceStandApart() {
  std::vector<ChartLine> lines;
  for (int line = 0; line < 2; ++line) {
    auto source = std::make_shared<VectorSource>();
    for (int i = 0; i <= 100; ++i) source->append(i, i == 50 ? std::nan("") : 1 + 0.1 * line);
    lines.push_back({.id = QString::number(line),
                     .name = QString::number(line),
                     .kind = LineKind::plain,
                     .colour = line,
                     .source = source});
  }
  m_first->setLines(std::move(lines));
  m_stack->drawNow();
  const QImage image = m_first->grab().toImage();
  const int x = static_cast<int>(m_first->plot().left() + m_stack->axis()->place(50) * m_first->plot().width());
  const auto near = [&](const QColor& wanted) {
    for (int y = static_cast<int>(m_first->plot().top()); y < m_first->plot().top() + 50; ++y)
      for (int dx = -8; dx <= 8; ++dx) {
        const QColor pixel = image.pixelColor(x + dx, y);
        if (std::abs(pixel.red() - wanted.red()) + std::abs(pixel.green() - wanted.green()) +
                std::abs(pixel.blue() - wanted.blue()) <
            40)
          return true;
      }
    return false;
  };
  QVERIFY(near(m_theme->curveColour(0)));
  QVERIFY(near(m_theme->curveColour(1)));
}

void ChartTest::flagsLieOverTheCurves() {
  auto high = std::make_shared<VectorSource>();
  for (int i = 0; i <= 100; ++i) high->append(i, i == 0 ? 0 : 2);
  m_first->setLines({{.id = "a", .name = "a", .kind = LineKind::plain, .colour = 1, .source = high}});
  m_first->setYRange(Interval{0, 2.05});
  m_first->setEvents({{50, "rate 0.01", "schedule"}}, true);
  m_stack->drawNow();
  const QImage image = m_first->grab().toImage();
  const int y = qRound(m_first->yPixel(2));
  QVERIFY(y > m_first->plot().top() + 2 && y < m_first->plot().top() + 20);
  // The curve goes behind the flag: on its ground, before the icon, no trace of it.
  const int x = static_cast<int>(m_first->plot().left() + m_stack->axis()->place(50) * m_first->plot().width()) + 3;
  QCOMPARE(image.pixelColor(x, y), m_theme->colour(Colour::surface));
}

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  ChartTest charts;
  const int failed = QTest::qExec(&charts, argc, argv);
  return failed + testChartWords(argc, argv);
}
#include "chart_test.moc"

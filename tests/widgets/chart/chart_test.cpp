// Panels on the screen: what is drawn where, cursor, zoom, pin, keys, export, and that the cursor costs no redrawing.
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QWheelEvent>
#include <QtTest>
#include <cmath>

#include "widgets/chart/chart_stack.h"
#include "widgets/chart/chart_tooltip.h"
#include "widgets/controls/button.h"
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
  void emptyPanelSaysSo();
  void clickOnALineNamesIt();
};

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
  QCOMPARE(image.size(), QSize(1200, 600));
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

QTEST_MAIN(ChartTest)
#include "chart_test.moc"

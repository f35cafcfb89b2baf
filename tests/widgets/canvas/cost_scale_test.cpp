// The cards in five colours: which step a cost is in, what is painted, and the legend that says so and selects.
#include "widgets/canvas/cost_scale.h"

#include <QImage>
#include <QTest>
#include <cmath>

#include "tests/widgets/document/drawings.h"
#include "widgets/canvas/cost_legend.h"
#include "widgets/canvas/network_view.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {

class CostScaleTest : public QObject {
  Q_OBJECT

  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<ProjectDocument> m_document;
  std::unique_ptr<NetworkScene> m_scene;
  std::unique_ptr<NetworkView> m_view;

  QImage seen() { return m_view->viewport()->grab().toImage().convertToFormat(QImage::Format_RGB32); }
  QColor pixel(const std::string& card, QPointF fromCorner) {
    return seen().pixelColor(m_view->mapFromScene(m_scene->card(card)->sceneCard().topLeft() + fromCorner));
  }
  CostLegend& legend() { return m_view->costLegend(); }
  // 6, 3, 1.5, 0.7 and 0.2 ms, and one that nobody measured.
  void measure() {
    NetworkCosts costs;
    costs.batch = 8;
    costs.measuredBy = "run-3";
    const std::pair<const char*, double> times[] = {
        {"b1_conv1", 6e-3}, {"b1_norm1", 3e-3}, {"b1_relu1", 1.5e-3}, {"b2_conv1", 0.7e-3}, {"b2_norm1", 0.2e-3}};
    for (const auto& [node, seconds] : times) costs.nodes[node].measured = seconds;
    costs.largestMeasured = 6e-3;
    m_scene->setCosts(costs);
  }

 private Q_SLOTS:
  void initTestCase() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  }
  void init() {
    m_document = std::make_unique<ProjectDocument>();
    QVERIFY(m_document->openText(drawings::residual(6), "drawn"));
    m_scene = std::make_unique<NetworkScene>(*m_document);
    m_view = std::make_unique<NetworkView>(*m_scene);
    m_view->resize(900, 640);
    m_view->setMapShown(false);
    m_view->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
  }
  void cleanup() {
    m_theme->setMode(ThemeMode::light);
    m_view.reset();
    m_scene.reset();
    m_document->discardRecovery();
    m_document.reset();
  }

  void boundsAreOneTwoFiveAndNoLastStepIsEmpty() {
    const std::pair<double, std::array<double, 4>> known[] = {{6e-3, {0.5e-3, 1e-3, 2e-3, 5e-3}},
                                                              {5e-3, {0.2e-3, 0.5e-3, 1e-3, 2e-3}},
                                                              {1e-3, {5e-5, 1e-4, 2e-4, 5e-4}},
                                                              {1.2, {0.1, 0.2, 0.5, 1}},
                                                              {3e-6, {2e-7, 5e-7, 1e-6, 2e-6}}};
    for (const auto& [largest, bounds] : known) {
      const CostScale scale(largest);
      for (std::size_t i = 0; i < 4; ++i)
        QVERIFY2(std::abs(scale.bounds()[i] / bounds[i] - 1) < 1e-9,
                 qPrintable(QString("%1: %2").arg(largest).arg(scale.bounds()[i])));
      QCOMPARE(scale.stepOf(largest), 4);
    }
    for (double largest = 1e-7; largest < 1e4; largest *= 1.37) {
      const CostScale scale(largest);
      QCOMPARE(scale.stepOf(largest), 4);
      for (std::size_t i = 0; i < 4; ++i) {
        QCOMPARE(scale.stepOf(scale.bounds()[i]), static_cast<int>(i) + 1);  // a step begins at its bound
        QCOMPARE(scale.stepOf(scale.bounds()[i] * 0.99), static_cast<int>(i));
      }
      QVERIFY(largest / scale.bounds()[3] <= 2.5 * (1 + 1e-9));
    }
    QCOMPARE(CostScale(6e-3).stepOf(0), CostScale::kNone);
    for (const double none : {0.0, -1.0, std::nan(""), HUGE_VAL}) QVERIFY(CostScale(none).isEmpty());
    QCOMPARE(CostScale().stepOf(1), CostScale::kNone);
  }

  // Of what a run recorded: powers of ten, fixed bounds, and 0 is a value.
  void recordedKindsHaveScalesOfTheirOwn() {
    const CostScale norms(CostKind::gradientNorm, 0.37);
    const std::array<double, 4> powers{1e-4, 1e-3, 1e-2, 0.1};
    for (std::size_t i = 0; i < 4; ++i) QVERIFY(std::abs(norms.bounds()[i] / powers[i] - 1) < 1e-9);
    QCOMPARE(norms.stepOf(0.37), 4);
    QCOMPARE(norms.stepOf(0), 0);
    QCOMPARE(norms.stepOf(HUGE_VAL), 4);
    QCOMPARE(norms.stepOf(std::nan("")), CostScale::kNone);
    QCOMPARE(norms.rangeText(2), QString("0.001–0.01"));
    QVERIFY(CostScale(CostKind::gradientNorm, 0).isEmpty());
    QCOMPARE(CostScale(CostKind::updateRatio, 0).rangeSentence(3), QString("from 0.001 to 0.01"));
    const CostScale dead(CostKind::deadUnits, 1);
    QCOMPARE(dead.rangeText(4), QString("≥ 50"));
    QCOMPARE(dead.rangeSentence(0), QString("less than 1 %"));
    QCOMPARE(dead.stepOf(0.3), 3);
    QCOMPARE(CostScale(CostKind::activationRange, 6).rangeText(1), QString("0.5–1"));
  }

  void boundsAreWrittenWithTheirUnit() {
    const CostScale scale(6e-3);
    QStringList texts;
    for (int step = 0; step < CostScale::kSteps; ++step) texts << scale.rangeText(step);
    QCOMPARE(texts, QStringList({"< 0.5", "0.5–1", "1–2", "2–5", "≥ 5"}));
    QCOMPARE(scale.unit(), QString("ms"));
    QCOMPARE(CostScale(6).unit(), QString("s"));
    QCOMPARE(CostScale(6e-5).unit(), QString("µs"));
    QCOMPARE(CostScale(6e-5).rangeText(4), QString("≥ 50"));
    QCOMPARE(scale.rangeSentence(2), QString("from 1 to 2 ms"));
  }

  void coloursAreInOrderAndReadable() {
    for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
      m_theme->setMode(mode);
      double last = 1;
      for (int step = 0; step < CostScale::kSteps; ++step) {
        const QColor colour = stepColour(*m_theme, step);
        const double away = contrast(colour, m_theme->colour(Colour::raised));
        QVERIFY2(away > 1.15 * last,
                 qPrintable(QString("step %1: %2").arg(step).arg(away)));  // away from the card's ground, step by step
        if (step > 0) QVERIFY(contrast(colour, stepColour(*m_theme, step - 1)) >= 1.4);
        last = away;
        QVERIFY2(contrast(inkOnStep(*m_theme, step), colour) >= 4.5, qPrintable(QString::number(step)));
      }
    }
  }

  void aMeasuredCardHasItsColourAndItsTimeInPlaceOfTheBar() {
    measure();
    m_scene->setCostKind(CostKind::measuredTime);
    m_view->setZoom(1);
    m_view->centerOn(m_scene->card("b1_conv1")->pos());
    for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
      m_theme->setMode(mode);
      QCOMPARE(pixel("b1_conv1", {3, 8}), stepColour(*m_theme, 4));
      QCOMPARE(pixel("b1_conv1", {28, 8}), stepColour(*m_theme, 4));
      QCOMPARE(pixel("b1_conv1", {150, 42}), stepColour(*m_theme, 4));
      QCOMPARE(pixel("b1_norm1", {28, 8}), stepColour(*m_theme, 3));
      QCOMPARE(pixel("b1_relu1", {28, 8}), stepColour(*m_theme, 2));
      QCOMPARE(m_scene->card("b2_conv1")->content().step, std::optional(1));
      QCOMPARE(m_scene->card("b2_norm1")->content().step, std::optional(0));
      QCOMPARE(m_scene->card("b2_relu1")->content().step, std::optional(CostScale::kNone));
    }
    const QString space(QChar(0x202F));
    QCOMPARE(m_scene->card("b1_conv1")->content().cost, "6.0" + space + "ms");
    QCOMPARE(m_scene->card("b2_relu1")->content().cost, QString());
    // The number is painted: on the card, from near and from afar, and another number looks otherwise.
    for (const double zoom : {1.0, 0.5}) {
      m_view->setZoom(zoom);
      m_view->centerOn(m_scene->card("b1_conv1")->pos());
      CardItem& card = *m_scene->card("b1_conv1");
      const QRect right =
          m_view->mapFromScene(card.sceneCard().adjusted(zoom < 0.7 ? -90 : 100, 4, -6, -5)).boundingRect();
      const QImage with = seen().copy(right);
      card.setCost(card.content().share, card.content().bar, 4, QString());
      const QImage without = seen().copy(right);
      card.setCost(card.content().share, card.content().bar, 4, "9.9 ms");
      QVERIFY(with != without && seen().copy(right) != without && seen().copy(right) != with);
      measure();
      m_scene->setCostKind(CostKind::measuredTime);
    }
    // From far away a card is a block of its colour.
    m_view->setZoom(0.15);
    m_view->centerOn(m_scene->card("b1_conv1")->pos());
    QCOMPARE(pixel("b1_conv1", {60, 22}), stepColour(*m_theme, 4));
    m_view->setZoom(0.3);
    QCOMPARE(pixel("b1_norm1", {40, 22}), stepColour(*m_theme, 3));
    // Another kind has bars and the categories' colours again.
    m_scene->setCostKind(CostKind::multiplyAdds);
    QVERIFY(!m_scene->card("b1_conv1")->content().step);
    m_view->setZoom(0.15);
    QCOMPARE(pixel("b1_conv1", {60, 22}), m_theme->layerColour("convolution"));
  }

  void theLegendSaysItAndSelects() {
    QVERIFY(!legend().isVisible());
    measure();
    m_scene->setCostKind(CostKind::measuredTime);
    QVERIFY(legend().isVisible());
    const int margin = shadowMargin(Elevation::menu);
    QVERIFY(m_view->viewport()->rect().contains(legend().geometry().marginsRemoved({margin, margin, margin, margin})));
    QCOMPARE(legend().title(), QString("Measured time of a step, run-3"));
    QCOMPARE(legend().steps()[4]->text(), QString("≥ 5 ms"));
    QCOMPARE(legend().steps()[1]->accessibleName(), QString("from 0.5 to 1 ms: 1 card"));
    QTest::mouseClick(legend().steps()[3], Qt::LeftButton);
    QCOMPARE(m_scene->picked().nodes, std::set<std::string>{"b1_norm1"});
    // By keys: Tab leads there from the canvas, arrows from step to step, Space selects, Escape leads back.
    m_view->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_view.get()));
    m_view->setFocus();
    for (int i = 0; i < 40 && QApplication::focusWidget() != legend().steps()[0]; ++i)
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(legend().steps()[0]));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Left);
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(legend().steps()[4]));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
    QCOMPARE(m_scene->picked().nodes, std::set<std::string>{"b1_conv1"});
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(m_view.get()));
    m_scene->setCosts({});
    QCOMPARE(legend().title(), QString("No run has measured this network: train it once"));
    QVERIFY(!legend().steps()[0]->isVisible());
    m_scene->setCostKind(CostKind::time);
    QVERIFY(!legend().isVisible());
  }

  void aDrawingThatIsShownWholeMakesRoomForTheLegend() {
    m_view->resize(420, 640);
    m_view->fit();
    const double before = m_view->zoom();
    m_scene->setCostKind(CostKind::measuredTime);
    QVERIFY(legend().isVisible() && !legend().coversCards());
    measure();  // with its steps it is higher
    QVERIFY(!legend().coversCards());
    QVERIFY(m_view->zoom() < before);
    const QRect seen = m_view->viewport()->rect();
    m_scene->eachCard(
        [&](const CardItem& card) { QVERIFY(seen.contains(m_view->mapFromScene(card.sceneCard()).boundingRect())); });
    m_view->resize(430, 600);
    QVERIFY(!legend().coversCards());
    m_scene->setCostKind(CostKind::time);
    m_view->resize(420, 640);
    QCOMPARE(m_view->zoom(), before);  // the room is the drawing's again
    // Who has zoomed stays where they are.
    m_view->setZoom(1);
    const QPoint there = m_view->mapFromScene(m_scene->card("b1_conv1")->pos());
    m_scene->setCostKind(CostKind::measuredTime);
    QCOMPARE(m_view->zoom(), 1.0);
    QCOMPARE(m_view->mapFromScene(m_scene->card("b1_conv1")->pos()), there);
  }

  void whatIsOfBeforeIsGrey() {
    measure();
    m_scene->setCostKind(CostKind::measuredTime);
    m_view->setZoom(1);
    m_view->centerOn(m_scene->card("b1_conv1")->pos());
    const QImage sure = seen();
    m_scene->setCostsFaint(true);
    QVERIFY(seen() != sure);
    m_scene->setCostsFaint(false);
    QCOMPARE(seen(), sure);
  }
};

}  // namespace loom

QTEST_MAIN(loom::CostScaleTest)
#include "cost_scale_test.moc"

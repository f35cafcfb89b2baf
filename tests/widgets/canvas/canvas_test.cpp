// The canvas by mouse and keys, without the page around it.
#include <QApplication>
#include <QElapsedTimer>
#include <QHelpEvent>
#include <QListWidget>
#include <QSignalSpy>
#include <QTest>
#include <QToolTip>
#include <QWheelEvent>

#include "tests/patience.h"
#include "tests/widgets/document/drawings.h"
#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/document/card_geometry.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {

class CanvasTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  }
  void init();
  void cleanup();

  void aClickSelectsAndABandSelectsMany();
  void draggingMovesAllThatIsSelectedInOneStep();
  void escapeTakesADragBack();
  void arrowsMoveAndWalk();
  void deleteAndBackspaceDiffer();
  void wiresAreSelectedAndRemoved();
  void wiresByKeys();
  void anEndIsTakenElsewhere();
  void aWireThatIsDroppedLeavesNoRing();
  void aLooseNodeIsPutIntoAWire();
  void zoomKeepsThePlaceUnderThePointer();
  void fitShowsAll();
  void alignAndInvert();
  void everyLevelPaints();
  void threeHundredNodesAreUsable();
  void wordsForScreenReaders();
  void aPinSaysWhatItIs();
  void emptyCanvasTeaches();
  void theAddMenuFindsByAlias();
  void theAddMenuKnowsWhatIsCommon();
  void undoBringsBackWhatWasPicked();
  void aFaultStandsWhereItCoversNoCard();
  void theMapCoversNoCardWhereAllIsSeen();
  void whatWasLedToStaysInSight();
  void aWireDroppedOnNothingOffersWhatFitsItsSource();
  void escapeEndsArranging();
  void aPinIsLegalWhereTheWireIsNotRefused();

 private:
  const Network& drawn() { return m_scene->network(); }
  QPoint card(const std::string& id) { return m_view->mapFromScene(m_scene->card(id)->pos()); }
  QPoint pin(const std::string& id, bool output, std::size_t index = 0) {
    const CardItem* item = m_scene->card(id);
    return m_view->mapFromScene(item->pos() + (output ? item->outputs() : item->inputs())[index].at);
  }
  void press(QPoint at, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mousePress(m_view->viewport(), Qt::LeftButton, modifiers, at);
  }
  void release(QPoint at) { QTest::mouseRelease(m_view->viewport(), Qt::LeftButton, {}, at); }
  void moveTo(QPoint at) { QTest::mouseMove(m_view->viewport(), at); }
  void click(QPoint at, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(m_view->viewport(), Qt::LeftButton, modifiers, at);
  }
  void drag(QPoint from, QPoint to) {
    press(from);
    moveTo((from + to) / 2);
    moveTo(to);
    release(to);
  }
  void key(Qt::Key which, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(m_view.get(), which, modifiers); }
  bool has(const Edge& edge) {
    return std::find(drawn().edges.begin(), drawn().edges.end(), edge) != drawn().edges.end();
  }
  void settle() {
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
  }

  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<ProjectDocument> m_document;
  std::unique_ptr<NetworkScene> m_scene;
  std::unique_ptr<NetworkView> m_view;
};

void CanvasTest::init() {
  m_document = std::make_unique<ProjectDocument>();
  QVERIFY(m_document->openText(drawings::kSmall, "small"));
  m_scene = std::make_unique<NetworkScene>(*m_document);
  m_view = std::make_unique<NetworkView>(*m_scene);
  m_view->resize(900, 760);
  m_view->show();
  m_view->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_view.get()));
  m_view->setFocus();
  m_view->fit();
  settle();
}

void CanvasTest::cleanup() {
  m_view.reset();
  m_scene.reset();
  m_document->discardRecovery();
  m_document.reset();
}

void CanvasTest::aClickSelectsAndABandSelectsMany() {
  click(card("conv"));
  QCOMPARE(m_scene->pickedNodes(), std::vector<std::string>{"conv"});
  click(card("pool"), Qt::ShiftModifier);
  QCOMPARE(m_scene->pickedNodes(), (std::vector<std::string>{"conv", "pool"}));
  click(card("conv"), Qt::ShiftModifier);
  QCOMPARE(m_scene->pickedNodes(), std::vector<std::string>{"pool"});
  const QPoint above = m_view->mapFromScene(m_scene->card("x")->sceneCard().topLeft()) - QPoint(40, 15);
  drag(above, card("relu") + QPoint(20, 0));
  QCOMPARE(m_scene->pickedNodes(), (std::vector<std::string>{"x", "conv", "relu"}));
  click(QPoint(8, 8));
  QVERIFY(m_scene->picked().empty());
  QCOMPARE(m_document->undoStack().count(), 0);
}

void CanvasTest::aPinSaysWhatItIs() {
  const auto rest = [&](QPoint at) {
    moveTo(at);
    QHelpEvent help(QEvent::ToolTip, at, m_view->viewport()->mapToGlobal(at));
    QApplication::sendEvent(m_view->viewport(), &help);
  };
  rest(pin("conv", false));
  const Port& input = findLayer(drawn().find("conv")->layer)->entry.inputs.front();
  QVERIFY(QToolTip::isVisible());
  QVERIFY2(QToolTip::text().startsWith(QString::fromStdString(input.label)), qPrintable(QToolTip::text()));
  rest(card("conv"));
  QTRY_VERIFY(!QToolTip::isVisible());
  QCOMPARE(m_scene->hoveredNode(), std::string("conv"));
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(m_view->viewport(), &leave);
  QCOMPARE(m_scene->hoveredNode(), std::string());
}

void CanvasTest::draggingMovesAllThatIsSelectedInOneStep() {
  const double zoom = m_view->zoom();
  click(card("fc"));
  click(card("y"), Qt::ShiftModifier);
  const double before = drawn().find("y")->x - drawn().find("fc")->x;
  const QPoint from = card("fc");
  drag(from, from + QPoint(static_cast<int>(120 * zoom), static_cast<int>(36 * zoom)));
  QCOMPARE(m_document->undoStack().count(), 1);
  QCOMPARE(drawn().find("fc")->x, 120.0);
  QCOMPARE(drawn().find("fc")->y, 276.0);
  QCOMPARE(drawn().find("y")->x - drawn().find("fc")->x, before);
  m_document->undoStack().undo();
  QCOMPARE(drawn().find("fc")->x, 0.0);
  QCOMPARE(m_scene->card("fc")->pos(), QPointF(0, 240));
}

void CanvasTest::escapeTakesADragBack() {
  press(card("y"));
  moveTo(card("y") + QPoint(60, 60));
  QVERIFY(m_scene->card("y")->pos() != QPointF(264, 240));
  key(Qt::Key_Escape);
  QCOMPARE(m_scene->card("y")->pos(), QPointF(264, 240));
  release(QPoint(10, 10));
  QCOMPARE(m_document->undoStack().count(), 0);
}

void CanvasTest::arrowsMoveAndWalk() {
  click(card("conv"));
  key(Qt::Key_Down, Qt::ControlModifier);
  QCOMPARE(m_scene->pickedNodes().front(), std::string("relu"));
  key(Qt::Key_Up, Qt::ControlModifier);
  key(Qt::Key_Up, Qt::ControlModifier);
  QCOMPARE(m_scene->pickedNodes().front(), std::string("x"));
  m_scene->pickNode("fc");
  key(Qt::Key_Right, Qt::ControlModifier);
  QCOMPARE(m_scene->pickedNodes().front(), std::string("y"));
  key(Qt::Key_Right);
  key(Qt::Key_Right);
  key(Qt::Key_Down, Qt::ShiftModifier);
  QCOMPARE(drawn().find("y")->x, 288.0);
  QCOMPARE(drawn().find("y")->y, 300.0);
  QCOMPARE(m_document->undoStack().count(), 1);
}

void CanvasTest::deleteAndBackspaceDiffer() {
  click(card("relu"));
  key(Qt::Key_Backspace);
  QVERIFY(drawn().find("relu") == nullptr);
  QVERIFY(has({{"conv", "output"}, {"pool", "input"}}));
  m_document->undoStack().undo();
  click(card("relu"));
  key(Qt::Key_Delete);
  QVERIFY(drawn().find("relu") == nullptr);
  QVERIFY(!has({{"conv", "output"}, {"pool", "input"}}));
}

void CanvasTest::wiresAreSelectedAndRemoved() {
  const QPoint middle = (pin("conv", true) + pin("relu", false)) / 2;
  m_view->setZoom(2);
  m_view->centerOn(m_scene->card("relu")->pos());
  settle();
  const QPoint on = (pin("conv", true) + pin("relu", false)) / 2;
  QVERIFY(on != middle);
  // Between two pins of 12 px reach a straight wire of 16 px leaves no room: the longer one is taken.
  const QPointF place = m_scene->wayOf(drawn().edges[5])[1];
  m_view->centerOn(place);
  settle();
  click(m_view->mapFromScene(place));
  QCOMPARE(m_scene->picked().wires.size(), std::size_t{1});
  const Edge edge = *m_scene->picked().wires.begin();
  QCOMPARE(edge.from.node, std::string("y"));
  key(Qt::Key_Delete);
  QVERIFY(!has(edge));
  QCOMPARE(drawn().nodes.size(), std::size_t{7});
}

void CanvasTest::wiresByKeys() {
  const std::string add = m_document->addNode({.layer = "Add", .at = {300, 60}});
  settle();
  m_scene->pickNode("conv");
  key(Qt::Key_W);
  // The nearest pin that may take it is offered first; arrows go through all of them.
  for (int i = 0; i < 20 && !m_view->hint().text().isEmpty(); ++i) {
    key(Qt::Key_Right);
    if (m_view->accessibleDescription().contains(QString::fromStdString(add))) break;
  }
  QVERIFY(m_view->accessibleDescription().contains(QString::fromStdString(add)));
  key(Qt::Key_Return);
  QVERIFY(has({{"conv", "output"}, {add, "input"}}));
  const int steps = m_document->undoStack().count();
  key(Qt::Key_W);
  key(Qt::Key_Escape);
  key(Qt::Key_Return);
  QCOMPARE(m_document->undoStack().count(), steps);
}

void CanvasTest::anEndIsTakenElsewhere() {
  drag(pin("pool", false), card("loss") + QPoint(0, 4));
  // loss.input is taken by fc and target by y: the first legal pin is taken over.
  QVERIFY(!has({{"relu", "output"}, {"pool", "input"}}));
  QVERIFY(has({{"relu", "output"}, {"loss", "input"}}));
  QCOMPARE(m_document->undoStack().count(), 1);
}

// The pin was meant while the wire was in the hand; it is no longer.
void CanvasTest::aWireThatIsDroppedLeavesNoRing() {
  m_document->removeWires("main", {{{"relu", "output"}, {"pool", "input"}}});
  m_view->setZoom(1);
  m_view->centerOn(m_scene->card("pool")->pos());
  settle();
  const QPoint from = pin("relu", true), to = pin("pool", false);
  const auto around = [&] {
    settle();
    return m_view->viewport()->grab(QRect(to - QPoint(12, 12), QSize(25, 25))).toImage();
  };
  press(from);
  moveTo(to + QPoint(40, 4));
  moveTo(to);
  const QImage meant = around();
  release(to);
  QVERIFY(has({{"relu", "output"}, {"pool", "input"}}));
  const QImage dropped = around();
  moveTo(QPoint(4, 4));
  QCOMPARE(dropped, around());
  // And there is a ring while the pin is pointed at.
  moveTo(to);
  QVERIFY(around() != dropped);
  QVERIFY(meant != dropped);
}

void CanvasTest::aLooseNodeIsPutIntoAWire() {
  const std::string loose = m_document->addNode({.layer = "Dropout", .at = {360, 90}});
  settle();
  const QPoint to = m_view->mapFromScene(QPointF(0, 90));
  drag(card(loose), to);
  QVERIFY(has({{"conv", "output"}, {loose, "input"}}));
  QVERIFY(has({{loose, "output"}, {"relu", "input"}}));
}

void CanvasTest::zoomKeepsThePlaceUnderThePointer() {
  const QPoint at(200, 300);
  const QPointF before = m_view->mapToScene(at);
  for (int i = 0; i < 5; ++i) {
    QWheelEvent wheel(at, m_view->viewport()->mapToGlobal(at), {}, {0, 120}, {}, {}, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(m_view->viewport(), &wheel);
  }
  QVERIFY(m_view->zoom() > 1.5);
  const QPointF after = m_view->mapToScene(at);
  QVERIFY2(QLineF(before, after).length() < 3, qPrintable(QStringLiteral("%1").arg(QLineF(before, after).length())));
  m_view->setZoom(1000);
  QCOMPARE(m_view->zoom(), 4.0);
  m_view->setZoom(0);
  QCOMPARE(m_view->zoom(), 0.1);
}

void CanvasTest::fitShowsAll() {
  m_document->openText(drawings::residual(4), "residual");
  settle();
  m_view->setZoom(3);
  key(Qt::Key_Exclam, Qt::ShiftModifier);
  const QRectF seen = m_view->mapToScene(m_view->viewport()->rect()).boundingRect();
  QVERIFY(seen.contains(m_scene->cardsRect()));
  m_view->previousView();
  QCOMPARE(m_view->zoom(), 3.0);
}

void CanvasTest::alignAndInvert() {
  m_scene->pick({{"conv", "y"}, {}});
  key(Qt::Key_Left, Qt::AltModifier);
  QCOMPARE(m_scene->card("y")->sceneCard().left(), m_scene->card("conv")->sceneCard().left());
  key(Qt::Key_I, Qt::ControlModifier | Qt::ShiftModifier);
  QCOMPARE(m_scene->picked().nodes.size(), std::size_t{5});
  key(Qt::Key_A, Qt::ControlModifier);
  QCOMPARE(m_scene->picked().nodes.size(), std::size_t{7});
}

void CanvasTest::everyLevelPaints() {
  m_document->setField("main", "conv", "kernel", Json::array({99, 99}));
  m_scene->pick({{"conv", "fc"}, {}});
  settle();
  for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
    m_theme->setMode(mode);
    for (const double zoom : {0.1, 0.25, 0.5, 1.0, 2.0, 4.0}) {
      m_view->setZoom(zoom);
      m_view->centerOn(m_scene->card("conv")->pos());
      const QImage image = m_view->grab().toImage();
      // The middle of a card is not canvas.
      QVERIFY(image.pixelColor(card("conv") * image.devicePixelRatio()) != m_theme->colour(Colour::canvas) ||
              zoom > 0.4);
      QVERIFY(!image.isNull());
    }
  }
  m_theme->setMode(ThemeMode::light);
}

void CanvasTest::threeHundredNodesAreUsable() {
  QVERIFY(m_document->openText(drawings::residual(42), "large"));
  settle();
  QCOMPARE(drawn().nodes.size(), std::size_t{300});
  m_view->fit();
  m_view->grab();
  QElapsedTimer clock;
  clock.start();
  m_view->setZoom(1);
  m_view->reveal("b20_conv2");
  m_view->grab();
  const qint64 painted = clock.restart();
  drag(card("b20_conv2"), card("b20_conv2") + QPoint(240, 0));
  const qint64 dragged = clock.restart();
  m_document->setField("main", "b20_conv2", "channels", 4);
  settle();
  m_view->arrange();
  settle();
  const qint64 arranged = clock.restart();
  qInfo("300 nodes: show and paint %lld ms, drag of two moves %lld ms, edit and arrange %lld ms", painted, dragged,
        arranged);
  QCOMPARE(m_document->undoStack().count(), 2);
}

void CanvasTest::wordsForScreenReaders() {
  QCOMPARE(keyParameters({.id = "fc", .layer = "Linear", .values = {{"outputs", 1}}}), QString("1 output"));
  QCOMPARE(keyParameters({.id = "fc", .layer = "Linear", .values = {{"outputs", 2}}}), QString("2 outputs"));
  QVERIFY(!m_view->accessibleName().isEmpty());
  m_scene->pickNode("conv");
  QVERIFY2(m_view->accessibleDescription().contains("conv, Convolution"), qPrintable(m_view->accessibleDescription()));
  QVERIFY(m_view->accessibleDescription().contains("4×8×8"));
  m_scene->pick({{"conv", "fc"}, {}});
  QCOMPARE(m_view->accessibleDescription(), QStringLiteral("2 of 7 nodes selected"));
}

void CanvasTest::emptyCanvasTeaches() {
  QSignalSpy start(m_view.get(), &NetworkView::startFromDataRequested);
  QVERIFY(!m_view->emptyCanvas().isVisible());
  m_document->newProject();
  settle();
  QVERIFY(m_view->emptyCanvas().isVisible());
  Q_EMIT m_view->emptyCanvas().startFromData();
  QCOMPARE(start.count(), 1);
  m_document->addNode({.layer = "Input", .at = {0, 0}});
  settle();
  QVERIFY(!m_view->emptyCanvas().isVisible());
}

void CanvasTest::theAddMenuFindsByAlias() {
  m_scene->pick({});
  key(Qt::Key_A, Qt::ShiftModifier);
  QVERIFY(m_view->addMenu().isOpen());
  QTest::keyClicks(QApplication::focusWidget(), "Dense");
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
  QVERIFY(!m_view->addMenu().isOpen());
  QCOMPARE(drawn().nodes.back().layer, std::string("Linear"));
  key(Qt::Key_A, Qt::ShiftModifier);
  QTest::keyClicks(QApplication::focusWidget(), "nothing like it");
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
  QVERIFY(m_view->addMenu().isOpen());
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
  QVERIFY(!m_view->addMenu().isOpen());
  QVERIFY(m_view->hasFocus());
}

void CanvasTest::theAddMenuKnowsWhatIsCommon() {
  const auto added = [&](const char* words) {
    m_scene->pick({});
    key(Qt::Key_A, Qt::ShiftModifier);
    QTest::keyClicks(QApplication::focusWidget(), words);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    return drawn().nodes.back().layer;
  };
  QCOMPARE(added("max"), std::string("MaxPooling"));
  QCOMPARE(added("reducemax"), std::string("ReduceMax"));
  QCOMPARE(added("add"), std::string("Add"));
}

void CanvasTest::undoBringsBackWhatWasPicked() {
  m_scene->pickNode("conv");
  key(Qt::Key_A, Qt::ShiftModifier);
  QTest::keyClicks(QApplication::focusWidget(), "Dropout");
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
  const std::vector<std::string> added = m_scene->pickedNodes();
  QCOMPARE(added.size(), std::size_t{1});
  QVERIFY(added.front() != "conv");
  m_document->undoStack().undo();
  settle();
  QCOMPARE(m_scene->pickedNodes(), std::vector<std::string>{"conv"});
  m_document->undoStack().redo();
  settle();
  QCOMPARE(m_scene->pickedNodes(), added);
  // So the next one is wired behind what stands there again.
  m_document->undoStack().undo();
  settle();
  key(Qt::Key_A, Qt::ShiftModifier);
  QTest::keyClicks(QApplication::focusWidget(), "Tanh");
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
  QVERIFY(has({{"conv", "output"}, {m_scene->pickedNodes().front(), "input"}}));
}

void CanvasTest::aFaultStandsWhereItCoversNoCard() {
  m_document->addNode({.layer = "Linear", .at = {320, 0}});
  const std::string lonely = drawn().nodes.back().id;
  // A neighbour at its right, where the sentence would stand.
  m_document->addNode({.layer = "ReLU", .at = {320 + 240, 0}});
  m_view->fit();
  settle();
  m_scene->pickNode(lonely);
  const FaultBubble& bubble = m_view->faultBubble();
  QTRY_VERIFY(bubble.isVisible());
  const int margin = shadowMargin(Elevation::menu);
  const QRect there = bubble.geometry().adjusted(margin, margin, -margin, -margin);
  m_scene->eachCard([&](const CardItem& each) {
    const QRect at = m_view->mapFromScene(each.sceneCard()).boundingRect();
    QVERIFY2(!at.intersects(there), each.id().c_str());
  });
  // While a wire is pulled it is not in the way.
  press(pin("x", true));
  moveTo(pin("x", true) + QPoint(60, 30));
  QVERIFY(!bubble.isVisible());
  key(Qt::Key_Escape);
}

void CanvasTest::theMapCoversNoCardWhereAllIsSeen() {
  MiniMap* const map = m_view->findChild<MiniMap*>();
  QVERIFY(map);
  // A card where the map stands.
  m_view->setZoom(1);
  m_document->addNode({.layer = "ReLU", .at = m_view->mapToScene(map->geometry().center())});
  m_view->fit();
  settle();
  const auto covered = [&] { return map->isVisible() && m_view->coversCards(map->geometry()); };
  QVERIFY(!covered());
}

void CanvasTest::whatWasLedToStaysInSight() {
  m_view->setZoom(1.4);
  m_view->reveal("fc");
  settle();
  const auto seen = [&] {
    return m_view->viewport()->rect().contains(m_view->mapFromScene(m_scene->card("fc")->sceneCard()).boundingRect());
  };
  QVERIFY(seen());
  m_view->resize(900, 260);
  settle();
  QVERIFY(seen());
}

// The wire comes from ten numbers, while a convolution is selected: what is offered goes by the wire.
void CanvasTest::aWireDroppedOnNothingOffersWhatFitsItsSource() {
  QVERIFY(m_document->openText(drawings::kSmall, "again"));
  settle();
  m_scene->pickNode("conv");
  const QPoint nothing(20, m_view->viewport()->height() - 20);
  QVERIFY(m_scene->nodeAt(m_view->mapToScene(nothing)).empty());
  drag(pin("fc", true), nothing);
  QVERIFY(m_view->addMenu().isOpen());
  const auto* list = m_view->addMenu().findChild<QListWidget*>();
  QStringList offered;
  for (int row = 0; row < list->count(); ++row) offered += list->item(row)->text();
  for (const char* spatial : {"Convolution", "MaxPooling", "AveragePooling"})
    QVERIFY2(!offered.contains(spatial), spatial);
  QCOMPARE(offered.front(), QString("ReLU"));  // what most often follows a linear layer
  QVERIFY(offered.contains("Linear") && offered.contains("SoftmaxCrossEntropy"));
}

void CanvasTest::escapeEndsArranging() {
  QVERIFY(m_document->openText(drawings::residual(200), "large"));
  settle();
  const QPointF before = m_scene->card("b7_add")->pos();
  m_document->moveNodes("main", {{"b7_add", {9000, 9000}}});
  const int steps = m_document->undoStack().count();
  QSignalSpy changes(m_document.get(), &ProjectDocument::arrangingChanged);
  m_view->arrange();
  QVERIFY(m_document->isArranging());
  key(Qt::Key_Escape);
  QVERIFY(!m_document->isArranging());
  QCOMPARE(changes.count(), 2);
  QTest::qWait(400);  // the answer, if it comes, is wanted no more
  QCOMPARE(m_document->undoStack().count(), steps);
  QCOMPARE(m_scene->card("b7_add")->pos(), QPointF(9000, 9000));
  m_view->arrange();
  QTRY_VERIFY(!m_document->isArranging());
  QCOMPARE(m_document->undoStack().count(), steps + 1);
  QVERIFY(QLineF(m_scene->card("b7_add")->pos(), before).length() < 9000);
  QVERIFY(!m_view->arrangingBar().isVisible());
}

// What a pin shows while a wire is drawn is what the document says to the same wire.
void CanvasTest::aPinIsLegalWhereTheWireIsNotRefused() {
  m_document->addNode({.layer = "Add", .at = {500, 60}});
  settle();
  for (const Node& node : drawn().nodes) {
    const CardItem* item = m_scene->card(node.id);
    if (item->outputs().empty()) continue;
    const PinHit from{item->outputs().front().end, true, {}};
    m_scene->markLegal(from);
    for (const Node& other : drawn().nodes) {
      bool any = other.id == node.id;
      for (const CardPin& pin : m_scene->card(other.id)->inputs())
        any = any || bool(m_document->mayWire("main", {from.end, pin.end}));
      QVERIFY2((m_scene->card(other.id)->legality() == Legality::illegal) != any,
               (node.id + " to " + other.id).c_str());
    }
  }
  m_scene->markLegal({});
  for (const Node& node : drawn().nodes) QVERIFY(m_scene->card(node.id)->legality() == Legality::none);
}

}  // namespace loom

QTEST_MAIN(loom::CanvasTest)
#include "canvas_test.moc"

// Every command of the canvas by its keys, and what mouse and wheel do beside the cards: view, map, menus. The events
// go the whole way that those of a person go, from the window on, where Qt does something with them before a widget
// sees them (drags, the menu of the right button, shortcuts).
#include <QScrollBar>
#include <QWheelEvent>

#include "tests/widgets/canvas/canvas_units_test.h"
#include "tests/widgets/window_hand.h"
#include "widgets/canvas/add_menu.h"
#include "widgets/controls/commands.h"

namespace loom {

namespace {

QPointF middleOf(const NetworkView& view) {
  return view.mapToScene(view.viewport()->rect().center());
}

void turnWheel(NetworkView& view, QPoint at, int turns, Qt::KeyboardModifiers modifiers = {}) {
  QWheelEvent wheel(at, view.viewport()->mapToGlobal(at), {}, {0, 120 * turns}, {}, modifiers, Qt::NoScrollPhase,
                    false);
  QCoreApplication::sendEvent(view.viewport(), &wheel);
}

}  // namespace

void CanvasUnitsTest::everyCommandIsReachedByItsKeys() {
  open(drawings::kUnits);
  QList<std::pair<QString, QKeySequence>> wanted;
  for (const QAction* action : m_view->commands().all())
    for (const QKeySequence& keys : action->shortcuts()) wanted.append({Commands::idOf(*action), keys});
  QVERIFY2(wanted.size() > 55, qPrintable(QString::number(wanted.size())));
  for (const auto& [id, keys] : wanted) {
    cleanup();
    open(drawings::kUnits);
    pick({"down2"});
    QSignalSpy ran(&m_view->commands(), &Commands::ran);
    QTest::keySequence(m_view.get(), keys);
    const QString pressed = id + ": " + keys.toString();
    QVERIFY2(ran.count() == 1, qPrintable(pressed));
    QVERIFY2(ran.front().front().toString() == id, qPrintable(pressed + " ran " + ran.front().front().toString()));
  }
}

void CanvasUnitsTest::whatSingleKeysDo() {
  open(drawings::kSmall);
  // Insert: a layer behind the one in hand.
  pick({"relu"});
  key(Qt::Key_Insert);
  QVERIFY(m_view->addMenu().isOpen());
  type("dropout");
  key(Qt::Key_Return);
  QVERIFY(std::find(drawn().edges.begin(), drawn().edges.end(), Edge{{"relu", "output"}, {"dropout", "input"}}) !=
          drawn().edges.end());
  QCOMPARE(steps(), 1);
  // Cut and paste: the same node again, elsewhere.
  m_view->setFocus();
  pick({"fc"});
  key(Qt::Key_X, Qt::ControlModifier);
  QVERIFY(drawn().find("fc") == nullptr);
  key(Qt::Key_V, Qt::ControlModifier);
  QVERIFY(drawn().find("fc") != nullptr);
  QCOMPARE(drawn().find("fc")->values["outputs"], Json(10));
  QCOMPARE(steps(), 3);
  // Duplicate: another of it.
  pick({"pool"});
  key(Qt::Key_D, Qt::ControlModifier);
  QVERIFY(drawn().find("pool2") != nullptr);
  QCOMPARE(steps(), 4);
  // Enter on a layer asks for its first field, F2 for its name, / for the palette.
  QSignalSpy edit(m_view.get(), &NetworkView::editRequested), rename(m_view.get(), &NetworkView::renameRequested),
      palette(m_view.get(), &NetworkView::paletteRequested);
  pick({"conv"});
  key(Qt::Key_Return);
  key(Qt::Key_F2);
  key(Qt::Key_Slash);
  QCOMPARE((QList<qsizetype>{edit.count(), rename.count(), palette.count()}), (QList<qsizetype>{1, 1, 1}));
  QTest::mouseDClick(m_view->viewport(), Qt::LeftButton, {}, card("conv"));
  QCOMPARE(edit.count(), 2);
  // Enter on a group names it, on a comment writes it.
  const std::string group = m_document->makeGroup("main", {"conv"}, "Front");
  m_document->addComment("main", {.text = "Why", .x = 300, .y = 60, .width = 120, .height = 60});
  settle();
  click(at(m_scene->groups().group(group)->head().center()));
  key(Qt::Key_Return);
  QVERIFY(m_view->nameField().isAsking());
  key(Qt::Key_Escape);
  m_view->setFocus();
  click(at(m_scene->groups().comment(drawn().comments.front().id)->rect().center()));
  key(Qt::Key_Return);
  QVERIFY(m_view->commentEditor().isEditing());
  key(Qt::Key_Escape);
  QCOMPARE(steps(), 6);
}

void CanvasUnitsTest::alignAndDistributeByKeys() {
  open(drawings::kSmall);
  m_document->moveNodes("main", {{"conv", {0, 60}}, {"relu", {240, 144}}, {"pool", {600, 180}}});
  m_view->fit();
  settle();
  pick({"conv", "relu", "pool"});
  const std::string before = m_document->text();
  const std::vector<std::pair<QKeyCombination, std::vector<QPointF>>> wanted{
      {Qt::ALT | Qt::Key_Left, {{0, 60}, {0, 144}, {0, 180}}},
      {Qt::ALT | Qt::Key_Right, {{600, 60}, {600, 144}, {600, 180}}},
      {Qt::ALT | Qt::Key_Up, {{0, 60}, {240, 60}, {600, 60}}},
      {Qt::ALT | Qt::Key_Down, {{0, 180}, {240, 180}, {600, 180}}},
      {Qt::ALT | Qt::SHIFT | Qt::Key_Right, {{0, 60}, {300, 144}, {600, 180}}},
      {Qt::ALT | Qt::SHIFT | Qt::Key_Down, {{0, 60}, {240, 120}, {600, 180}}}};
  for (const auto& [keys, places] : wanted) {
    QTest::keySequence(m_view.get(), QKeySequence(keys));
    const char* const ids[] = {"conv", "relu", "pool"};
    for (std::size_t i = 0; i < 3; ++i)
      QVERIFY2(QPointF(drawn().find(ids[i])->x, drawn().find(ids[i])->y) == places[i],
               qPrintable(QKeySequence(keys).toString() + ' ' + ids[i]));
    m_document->undoStack().undo();
    QCOMPARE(m_document->text(), before);
  }
}

void CanvasUnitsTest::theViewByKeys() {
  open(drawings::kUnits);
  key(Qt::Key_0);
  QCOMPARE(m_view->zoom(), 1.0);
  key(Qt::Key_Plus);
  QCOMPARE(m_view->zoom(), 1.25);
  key(Qt::Key_Minus);
  QCOMPARE(m_view->zoom(), 1.0);
  key(Qt::Key_Plus, Qt::ControlModifier);
  key(Qt::Key_Minus, Qt::ControlModifier);
  QCOMPARE(m_view->zoom(), 1.0);
  // Shift+2: what is selected fills the view; Alt+Left: the view before.
  pick({"y"});
  const QPointF before = middleOf(*m_view);
  key(Qt::Key_2, Qt::ShiftModifier);
  QVERIFY(QLineF(middleOf(*m_view), m_scene->card("y")->pos()).length() < 4);
  key(Qt::Key_Left, Qt::AltModifier);
  QVERIFY(QLineF(middleOf(*m_view), before).length() < 4);
  // Without a selection arrows move what is seen.
  m_view->setZoom(2);
  key(Qt::Key_Escape);
  QVERIFY(m_scene->picked().empty());
  const QPointF here = middleOf(*m_view);
  key(Qt::Key_Down);
  QVERIFY(middleOf(*m_view).y() > here.y() + 20);
  QCOMPARE(steps(), 0);
}

void CanvasUnitsTest::theMapByMouseAndKeys() {
  open(drawings::kUnits);
  m_view->setZoom(2);
  settle();
  auto* map = m_view->findChild<MiniMap*>();
  QVERIFY(map != nullptr && map->isVisible());
  const QPointF before = middleOf(*m_view);
  QTest::mouseClick(map, Qt::LeftButton, {}, QPoint(map->width() / 2, map->height() - 12));
  const QPointF below = middleOf(*m_view);
  QVERIFY(below.y() > before.y() + 40);
  QTest::mousePress(map, Qt::LeftButton, {}, QPoint(map->width() / 2, map->height() - 12));
  QTest::mouseMove(map, QPoint(map->width() / 2, 14));
  QTest::mouseRelease(map, Qt::LeftButton, {}, QPoint(map->width() / 2, 14));
  QVERIFY(middleOf(*m_view).y() < below.y() - 40);
  m_view->setFocus();
  key(Qt::Key_M);
  QVERIFY(!map->isVisible() && !m_view->mapShown());
  key(Qt::Key_M);
  QVERIFY(map->isVisible());
}

void CanvasUnitsTest::theViewIsMovedByHandAndWheel() {
  open(drawings::kUnits);
  m_view->setZoom(2);
  settle();
  const auto dragged = [&](Qt::MouseButton button) {
    const QPointF was = middleOf(*m_view);
    QTest::mousePress(m_view->viewport(), button, {}, QPoint(400, 400));
    QTest::mouseMove(m_view->viewport(), QPoint(380, 370));
    QTest::mouseMove(m_view->viewport(), QPoint(360, 340));
    QTest::mouseRelease(m_view->viewport(), button, {}, QPoint(360, 340));
    return middleOf(*m_view) - was;
  };
  QCOMPARE(dragged(Qt::MiddleButton), QPointF(20, 30));
  QTest::keyPress(m_view.get(), Qt::Key_Space);
  QCOMPARE(dragged(Qt::LeftButton), QPointF(20, 30));
  QTest::keyRelease(m_view.get(), Qt::Key_Space);
  QVERIFY(m_scene->picked().empty());
  // The wheel zooms; with Shift it goes sideways. Where a person wants it to scroll, Ctrl makes it zoom.
  const QPoint pointer(500, 400);
  const int across = m_view->horizontalScrollBar()->value(), down = m_view->verticalScrollBar()->value();
  turnWheel(*m_view, pointer, -1, Qt::ShiftModifier);
  QCOMPARE(m_view->horizontalScrollBar()->value(), across + 120);
  QCOMPARE(m_view->zoom(), 2.0);
  m_view->setWheelZooms(false);
  turnWheel(*m_view, pointer, -1);
  QCOMPARE(m_view->verticalScrollBar()->value(), down + 120);
  QCOMPARE(m_view->zoom(), 2.0);
  turnWheel(*m_view, pointer, 1, Qt::ControlModifier);
  QVERIFY(m_view->zoom() > 2.2);
  QCOMPARE(steps(), 0);
}

// The right button, as the window system tells of it: what is below it is selected, and a line of the menu is chosen by
// mouse.
void CanvasUnitsTest::theMenuOfTheRightButton() {
  open(drawings::kSmall);
  const std::string group = m_document->makeGroup("main", {"conv", "relu"}, "Front");
  settle();
  QStringList texts;
  const auto choose = [&](QPoint place, const QStringList& words) {
    menuByHand(m_view->windowHandle(), m_view->viewport()->mapTo(m_view.get(), place), words, [&](const QMenu& menu) {
      texts.clear();
      for (const QAction* each : menu.actions()) texts += each->text();
    });
    settle();
  };
  choose(card("pool"), {"Duplicate"});
  QVERIFY2(texts.contains("Duplicate") && texts.contains("Delete and heal"), qPrintable(texts.join(", ")));
  QVERIFY(drawn().find("pool2") != nullptr);
  choose(at(m_scene->groups().group(group)->head().center()), {"Colour", "Green"});
  QCOMPARE(m_scene->picked().groups, std::set<std::string>{group});
  QVERIFY2(texts.contains("Fold") && texts.contains("Ungroup"), qPrintable(texts.join(", ")));
  QCOMPARE(drawn().group(group)->colour, std::string("green"));
  choose(at(m_scene->groups().group(group)->head().center()), {"Fold"});
  QVERIFY(drawn().group(group)->folded);
}

// A frame stretches after a node of its own; it is taken out by keys.
void CanvasUnitsTest::aNodeOfAGroupIsDraggedAndTakenOut() {
  open(drawings::kSmall);
  const std::string group = m_document->makeGroup("main", {"conv", "relu", "pool"}, "Front");
  settle();
  m_view->fit();
  const int was = steps();
  drag(card("pool"), card("pool") + QPoint(static_cast<int>(420 * m_view->zoom()), 0));
  QCOMPARE(steps(), was + 1);
  QVERIFY(drawn().find("pool")->x > 300);
  QCOMPARE(drawn().find("pool")->group, group);
  QVERIFY(m_scene->groups().group(group)->frame().contains(m_scene->card("pool")->sceneCard()));
  key(Qt::Key_G, Qt::ControlModifier | Qt::AltModifier);
  QCOMPARE(drawn().find("pool")->group, std::string());
  QVERIFY(!m_scene->groups().group(group)->frame().contains(m_scene->card("pool")->sceneCard()));
}

}  // namespace loom

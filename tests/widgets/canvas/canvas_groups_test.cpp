// Groups and comments on the canvas, and the bar over several cards.
#include "tests/widgets/canvas/canvas_units_test.h"

namespace loom {

void CanvasUnitsTest::groupsByKeys() {
  open(drawings::kSmall);
  pick({"conv", "relu"});
  key(Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
  type("Front end");
  key(Qt::Key_Return);
  QCOMPARE(steps(), 1);
  QCOMPARE(drawn().groups.size(), std::size_t(1));
  const std::string id = drawn().groups.front().id;
  QCOMPARE(drawn().groups.front().title, std::string("Front end"));
  QCOMPARE(m_scene->picked().groups, std::set<std::string>{id});
  const GroupItem* frame = m_scene->groups().group(id);
  QVERIFY(frame->frame().contains(m_scene->card("conv")->sceneCard()));
  QVERIFY(frame->content().count.startsWith("2 layers"));
  key(Qt::Key_Space, Qt::ControlModifier | Qt::ShiftModifier);
  QVERIFY(drawn().group(id)->folded);
  QVERIFY(m_scene->card(id) != nullptr && m_scene->card("conv") == nullptr);
  QCOMPARE(m_scene->card(id)->inputs().size(), std::size_t(1));
  QCOMPARE(m_scene->card(id)->outputs().size(), std::size_t(1));
  QVERIFY(m_view->viewport()->grab().toImage().width() > 0);
  key(Qt::Key_Space, Qt::ControlModifier | Qt::ShiftModifier);
  QVERIFY(m_scene->card("conv") != nullptr);
}

void CanvasUnitsTest::theChevronFolds() {
  open(drawings::kSmall);
  const std::string id = m_document->makeGroup("main", {"conv", "relu", "pool"}, "Front");
  settle();
  click(at(m_scene->groups().group(id)->chevron().center()));
  QVERIFY(drawn().group(id)->folded);
  settle();
  const CardItem* folded = m_scene->card(id);
  QVERIFY(folded != nullptr);
  QTest::mouseDClick(m_view->viewport(), Qt::LeftButton, {}, card(id));
  QVERIFY(!drawn().group(id)->folded);
  QTest::mouseDClick(m_view->viewport(), Qt::LeftButton, {}, at(m_scene->groups().group(id)->head().center()));
  QVERIFY(drawn().group(id)->folded);
  QCOMPARE(steps(), 4);
}

void CanvasUnitsTest::theHeadMovesAllThatIsInside() {
  open(drawings::kSmall);
  const std::string id = m_document->makeGroup("main", {"conv", "relu", "pool"}, "Front");
  m_document->addComment("main", {.text = "inside", .x = 0, .y = 90, .width = 60, .height = 48});
  settle();
  const QPointF before(drawn().find("conv")->x, drawn().find("conv")->y);
  const int was = steps();
  const QPoint head = at(m_scene->groups().group(id)->head().center());
  drag(head, head + QPoint(static_cast<int>(240 * m_view->zoom()), 0));
  QCOMPARE(steps(), was + 1);
  const double moved = drawn().find("conv")->x - before.x();
  QVERIFY(moved > 200);
  QCOMPARE(drawn().find("pool")->x, moved);
  QCOMPARE(drawn().comments.front().x, moved);
  QCOMPARE(drawn().find("fc")->x, 0.0);
  m_document->undoStack().undo();
  QCOMPARE(drawn().find("conv")->x, before.x());
  QCOMPARE(drawn().comments.front().x, 0.0);
}

void CanvasUnitsTest::aFoldedGroupIsDraggedAsOne() {
  open(drawings::kSmall);
  const std::string id = m_document->makeGroup("main", {"conv", "relu", "pool"}, "Front");
  m_document->setFolded("main", id, true);
  settle();
  const int was = steps();
  const double relu = drawn().find("relu")->x;
  drag(card(id) + QPoint(30, 0), card(id) + QPoint(30 + static_cast<int>(120 * m_view->zoom()), 0));
  QCOMPARE(steps(), was + 1);
  QVERIFY(drawn().find("relu")->x > relu + 60);
  QVERIFY(drawn().group(id)->folded);
  QCOMPARE(m_scene->picked().groups, std::set<std::string>{id});
}

void CanvasUnitsTest::aNodeDroppedIntoAFrameJoinsIt() {
  open(drawings::kSmall);
  m_document->moveNodes("main", {{"pool", {300, 180}}});
  const std::string id = m_document->makeGroup("main", {"conv", "fc"}, "Wide");
  m_document->moveNodes("main", {{"relu", {300, 120}}});
  settle();
  m_view->fit();
  const int was = steps();
  drag(card("relu"), at(QPointF(0, 140)));
  QCOMPARE(steps(), was + 1);
  QCOMPARE(drawn().find("relu")->group, id);
  m_document->undoStack().undo();
  QCOMPARE(drawn().find("relu")->group, std::string());
  QCOMPARE(drawn().find("relu")->x, 300.0);
}

void CanvasUnitsTest::aGroupIsRenamedAndTakenApart() {
  open(drawings::kSmall);
  const std::string id = m_document->makeGroup("main", {"conv", "relu"}, "Front");
  settle();
  click(at(m_scene->groups().group(id)->head().center()));
  QCOMPARE(m_scene->picked().groups, std::set<std::string>{id});
  key(Qt::Key_F2);
  QVERIFY(m_view->nameField().isAsking());
  type("Stem");
  key(Qt::Key_Return);
  QCOMPARE(drawn().group(id)->title, std::string("Stem"));
  key(Qt::Key_G, Qt::ControlModifier | Qt::AltModifier);
  QVERIFY(drawn().groups.empty());
  QVERIFY(m_scene->groups().group(id) == nullptr);
  QCOMPARE(steps(), 3);
  // Delete takes the group with what is in it.
  m_document->undoStack().undo();
  settle();
  click(at(m_scene->groups().group(id)->head().center()));
  key(Qt::Key_Delete);
  QVERIFY(drawn().find("conv") == nullptr && drawn().groups.empty());
}

void CanvasUnitsTest::commentsAreWrittenMovedSizedAndRemoved() {
  open(drawings::kSmall);
  key(Qt::Key_C);
  QVERIFY(m_view->commentEditor().isEditing());
  type("Digits are thin strokes");
  key(Qt::Key_Escape);
  QCOMPARE(steps(), 1);
  QCOMPARE(drawn().comments.size(), std::size_t(1));
  const std::string id = drawn().comments.front().id;
  QCOMPARE(drawn().comments.front().text, std::string("Digits are thin strokes"));
  m_document->setComment("main", [&] {
    Comment far = drawn().comments.front();
    far.x = 320, far.y = 60;
    return far;
  }());
  m_view->fit();
  settle();
  const QRectF before = m_scene->groups().comment(id)->rect();
  drag(at(before.center()), at(before.center() + QPointF(60, 24)));
  const QPointF went = m_scene->groups().comment(id)->rect().topLeft() - before.topLeft();
  QVERIFY(std::abs(went.x() - 60) <= 6 && std::abs(went.y() - 24) <= 6);  // onto the grid
  const QRectF moved = m_scene->groups().comment(id)->rect();
  drag(at(moved.bottomRight() - QPointF(4, 4)), at(moved.bottomRight() + QPointF(56, 44)));
  QCOMPARE(m_scene->groups().comment(id)->rect().topLeft(), moved.topLeft());
  QVERIFY(m_scene->groups().comment(id)->rect().width() > moved.width() + 30);
  QCOMPARE(steps(), 4);
  QTest::mouseDClick(m_view->viewport(), Qt::LeftButton, {}, at(moved.center()));
  QVERIFY(m_view->commentEditor().isEditing());
  m_view->commentEditor().selectAll();
  type("Thin");
  key(Qt::Key_Return, Qt::ControlModifier);
  QCOMPARE(drawn().comments.front().text, std::string("Thin"));
  click(at(moved.center()));
  key(Qt::Key_Delete);
  QVERIFY(drawn().comments.empty());
  while (m_document->undoStack().canUndo()) m_document->undoStack().undo();
  QVERIFY(drawn().comments.empty());
}

void CanvasUnitsTest::anEmptyCommentDoesNotComeToBe() {
  open(drawings::kSmall);
  key(Qt::Key_C);
  QVERIFY(m_view->commentEditor().isEditing());
  key(Qt::Key_Escape);
  QCOMPARE(steps(), 0);
  QVERIFY(drawn().comments.empty());
}

void CanvasUnitsTest::alignAndDistributeByTheBar() {
  open(drawings::kSmall);
  m_document->moveNodes("main", {{"conv", {0, 60}}, {"relu", {240, 132}}, {"pool", {600, 180}}});
  m_view->fit();
  settle();
  pick({"conv", "relu", "pool"});
  SelectionBar& bar = m_view->selectionBar();
  QVERIFY(bar.isVisible());
  QCOMPARE(bar.buttons().size(), std::size_t(8));
  QTest::mouseClick(bar.buttons()[3], Qt::LeftButton);  // tops
  QCOMPARE(drawn().find("relu")->y, 60.0);
  QCOMPARE(drawn().find("pool")->y, 60.0);
  QTest::mouseClick(bar.buttons()[6], Qt::LeftButton);  // across
  QCOMPARE(drawn().find("relu")->x, 300.0);
  QCOMPARE(steps(), 3);
  key(Qt::Key_Right, Qt::AltModifier);
  QCOMPARE(drawn().find("conv")->x, 600.0);
  // The gesture ends with the selection.
  click(QPoint(4, 4));
  QVERIFY(!bar.isVisible());
  pick({"conv"});
  QVERIFY(!bar.isVisible());
}

void CanvasUnitsTest::everyButtonOfTheBar() {
  open(drawings::kSmall);
  m_document->moveNodes("main", {{"conv", {0, 60}}, {"relu", {240, 144}}, {"pool", {600, 180}}});
  m_view->fit();
  settle();
  pick({"conv", "relu", "pool"});
  const std::string before = m_document->text();
  const QPointF conv(0, 60), relu(240, 144), pool(600, 180);
  const std::vector<std::vector<QPointF>> wanted{
      {{0, 60}, {0, 144}, {0, 180}},        // left edges
      {{300, 60}, {300, 144}, {300, 180}},  // centres
      {{600, 60}, {600, 144}, {600, 180}},  // right edges
      {{0, 60}, {240, 60}, {600, 60}},      // tops
      {{0, 120}, {240, 120}, {600, 120}},   // middles
      {{0, 180}, {240, 180}, {600, 180}},   // bottoms
      {conv, {300, 144}, pool},             // across
      {conv, {240, 120}, pool},             // down
  };
  const auto& buttons = m_view->selectionBar().buttons();
  QCOMPARE(buttons.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    QVERIFY2(!buttons[i]->toolTip().isEmpty() || !buttons[i]->accessibleName().isEmpty(),
             qPrintable(QString::number(i)));
    QTest::mouseClick(buttons[i], Qt::LeftButton);
    const char* const ids[] = {"conv", "relu", "pool"};
    for (std::size_t node = 0; node < 3; ++node) {
      const Node* moved = drawn().find(ids[node]);
      QVERIFY2(QPointF(moved->x, moved->y) == wanted[i][node],
               qPrintable(QStringLiteral("button %1: %2 at %3, %4").arg(i).arg(ids[node]).arg(moved->x).arg(moved->y)));
    }
    m_document->undoStack().undo();
    QCOMPARE(m_document->text(), before);
  }
}

}  // namespace loom

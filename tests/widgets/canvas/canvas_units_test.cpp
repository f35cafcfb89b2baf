// Units, groups, repeats and comments on the canvas, by mouse and keys alone.
#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

#include "engine/network/flatten.h"
#include "tests/widgets/document/drawings.h"
#include "tests/widgets/document/unit_drawings.h"
#include "widgets/canvas/argument_chips.h"
#include "widgets/canvas/comment_editor.h"
#include "widgets/canvas/inline_name.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/canvas/selection_bar.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/controls/button.h"
#include "widgets/document/group_edits.h"
#include "widgets/theme/theme.h"

namespace loom {

class CanvasUnitsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  }
  void cleanup();

  void ctrlGMakesAUnitThatIsNamedAtOnce();
  void aNameThatCannotBeIsToldAndWaits();
  void escapeMakesNothing();
  void spaceOpensAUnitInPlaceAndEscapeCloses();
  void aDoubleClickOpensAUnitToo();
  void whatIsChangedInPlaceIsChangedInTheUnit();
  void chipsOfAUseChangeThatUse();
  void enterAsksForTheTab();
  void aUnitIsDissolvedIntoItsPlace();
  void aUnitIsAddedFromTheMenu();
  void ctrlRRepeatsAChainAndAUnit();
  void groupsByKeys();
  void theChevronFolds();
  void theHeadMovesAllThatIsInside();
  void aFoldedGroupIsDraggedAsOne();
  void aNodeDroppedIntoAFrameJoinsIt();
  void aGroupIsRenamedAndTakenApart();
  void commentsAreWrittenMovedSizedAndRemoved();
  void anEmptyCommentDoesNotComeToBe();
  void alignAndDistributeByTheBar();
  void everyButtonOfTheBar();
  void dimmingLeavesWhatIsReached();
  void aSelectionTravelsAsText();
  void unitsTravelAlong();

 private:
  void open(const char* text);
  const Network& drawn() { return m_scene->network(); }
  QPoint at(QPointF scene) { return m_view->mapFromScene(scene); }
  QPoint card(const std::string& id) { return at(m_scene->card(id)->pos()); }
  void click(QPoint place, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(m_view->viewport(), Qt::LeftButton, modifiers, place);
  }
  void drag(QPoint from, QPoint to) {
    QTest::mousePress(m_view->viewport(), Qt::LeftButton, {}, from);
    QTest::mouseMove(m_view->viewport(), (from + to) / 2);
    QTest::mouseMove(m_view->viewport(), to);
    QTest::mouseRelease(m_view->viewport(), Qt::LeftButton, {}, to);
  }
  void key(Qt::Key which, Qt::KeyboardModifiers modifiers = {}) {
    QTest::keyClick(QApplication::focusWidget(), which, modifiers);
  }
  void type(const QString& text) { QTest::keyClicks(QApplication::focusWidget(), text); }
  void pick(const std::vector<std::string>& ids) {
    for (std::size_t i = 0; i < ids.size(); ++i) click(card(ids[i]), i == 0 ? Qt::NoModifier : Qt::ShiftModifier);
    QCOMPARE(m_scene->pickedNodes().size(), ids.size());
  }
  Analysis flat() { return analyse(flatten(m_document->project(), "main").network); }
  int steps() { return m_document->undoStack().index(); }
  void settle() {
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
  }

  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<ProjectDocument> m_document;
  std::unique_ptr<NetworkScene> m_scene;
  std::unique_ptr<NetworkView> m_view;
};

void CanvasUnitsTest::open(const char* text) {
  m_document = std::make_unique<ProjectDocument>();
  QVERIFY(m_document->openText(text, "drawing"));
  m_scene = std::make_unique<NetworkScene>(*m_document);
  m_view = std::make_unique<NetworkView>(*m_scene);
  m_view->resize(1000, 800);
  m_view->show();
  m_view->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_view.get()));
  m_view->setFocus();
  m_view->fit();
  settle();
}

void CanvasUnitsTest::cleanup() {
  m_view.reset();
  m_scene.reset();
  if (m_document) m_document->discardRecovery();
  m_document.reset();
}

void CanvasUnitsTest::ctrlGMakesAUnitThatIsNamedAtOnce() {
  open(drawings::kSmall);
  const std::int64_t parameters = flat().parameters;
  pick({"conv", "relu", "pool"});
  key(Qt::Key_G, Qt::ControlModifier);
  QVERIFY(m_view->nameField().isAsking());
  QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&m_view->nameField()));
  QCOMPARE(steps(), 0);
  type("Front");
  key(Qt::Key_Return);
  QCOMPARE(steps(), 1);
  QVERIFY(m_document->project().unit("Front") != nullptr);
  QCOMPARE(m_scene->pickedNodes(), std::vector<std::string>{"front"});
  QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(m_view.get()));
  QCOMPARE(m_scene->card("front")->content().form, CardContent::Form::unit);
  QCOMPARE(m_scene->card("front")->inputs().size(), std::size_t(1));
  QCOMPARE(flat().parameters, parameters);
  m_document->undoStack().undo();
  QVERIFY(m_scene->card("conv") != nullptr && m_scene->card("front") == nullptr);
}

void CanvasUnitsTest::aNameThatCannotBeIsToldAndWaits() {
  open(drawings::kSmall);
  pick({"conv", "relu"});
  key(Qt::Key_G, Qt::ControlModifier);
  m_view->nameField().selectAll();
  type("Convolution");
  key(Qt::Key_Return);
  QVERIFY(m_view->nameField().isAsking());
  QVERIFY(m_view->hint().isVisible());
  QVERIFY(m_view->hint().text().contains("Convolution"));
  QCOMPARE(steps(), 0);
  m_view->nameField().selectAll();
  type("Block");
  key(Qt::Key_Return);
  QVERIFY(!m_view->nameField().isAsking());
  QCOMPARE(steps(), 1);
}

void CanvasUnitsTest::escapeMakesNothing() {
  open(drawings::kSmall);
  const std::string before = m_document->text();
  pick({"conv", "relu"});
  for (const auto modifiers : {Qt::KeyboardModifiers(Qt::ControlModifier), Qt::ControlModifier | Qt::ShiftModifier}) {
    key(Qt::Key_G, modifiers);
    QVERIFY(m_view->nameField().isAsking());
    key(Qt::Key_Escape);
    QVERIFY(!m_view->nameField().isAsking());
  }
  QCOMPARE(m_document->text(), before);
  QCOMPARE(steps(), 0);
  // What cannot be a unit says why at once.
  click(QPoint(4, 4));
  pick({"conv", "pool"});
  key(Qt::Key_G, Qt::ControlModifier);
  QVERIFY(!m_view->nameField().isAsking());
  QVERIFY(m_view->hint().text().contains("relu"));
}

void CanvasUnitsTest::spaceOpensAUnitInPlaceAndEscapeCloses() {
  open(drawings::kUnits);
  pick({"down2"});
  key(Qt::Key_Space);
  UnitView* unit = m_view->unitView();
  QVERIFY(unit != nullptr && unit->isOpen());
  QCOMPARE(unit->use(), std::string("down2"));
  QCOMPARE(unit->scene().networkName(), std::string("ResidualDown"));
  QVERIFY(unit->isAncestorOf(QApplication::focusWidget()));
  // Beside the use, not over it; as large as the canvas allows.
  QVERIFY(!unit->card().intersects(m_view->mapFromScene(m_scene->card("down2")->sceneCard()).boundingRect()));
  QVERIFY(m_view->viewport()->rect().contains(unit->card()));
  QStringList words;
  for (const QLabel* label : unit->findChildren<QLabel*>()) words += label->text();
  QVERIFY(words.join(' ').contains("used 2 times; shown for down2"));
  QCOMPARE(unit->chips().chips().size(), std::size_t(2));
  QCOMPARE(unit->chips().chips().front()->text(), QString("channels = 32"));
  key(Qt::Key_Escape);
  QVERIFY(!unit->isOpen());
  QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(m_view.get()));
  // Space with a drag moves the view and opens nothing.
  pick({"down3"});
  QTest::keyPress(m_view.get(), Qt::Key_Space);
  drag(QPoint(60, 60), QPoint(90, 90));
  QTest::keyRelease(m_view.get(), Qt::Key_Space);
  QVERIFY(!unit->isOpen());
  QCOMPARE(steps(), 0);
}

void CanvasUnitsTest::aDoubleClickOpensAUnitToo() {
  open(drawings::kUnits);
  QTest::mouseDClick(m_view->viewport(), Qt::LeftButton, {}, card("stage1"));
  QVERIFY(m_view->unitView() != nullptr && m_view->unitView()->isOpen());
  QCOMPARE(m_view->unitView()->scene().networkName(), std::string("Residual"));
  // Another network closes it.
  m_scene->setNetwork("ResidualDown");
  QVERIFY(!m_view->unitView()->isOpen());
}

void CanvasUnitsTest::whatIsChangedInPlaceIsChangedInTheUnit() {
  open(drawings::kUnits);
  pick({"stage1"});
  key(Qt::Key_Space);
  NetworkView& inner = m_view->unitView()->view();
  settle();
  QTest::mouseClick(inner.viewport(), Qt::LeftButton, {}, inner.mapFromScene(inner.networkScene().card("bn_b")->pos()));
  QCOMPARE(inner.networkScene().pickedNodes(), std::vector<std::string>{"bn_b"});
  QVERIFY(m_scene->picked().empty());  // what is in hand is inside
  QCOMPARE(&m_view->inHand(), &inner);
  QTest::keyClick(&inner, Qt::Key_Backspace);
  QCOMPARE(steps(), 1);
  QVERIFY(m_document->drawing("Residual")->find("bn_b") == nullptr);
  QVERIFY(flat().sound());
  click(QPoint(10, 10));
  QVERIFY(m_view->unitView()->isOpen());
  QTest::keyClick(&inner, Qt::Key_Z, Qt::ControlModifier);  // nothing of the canvas: the window's
  m_document->undoStack().undo();
  QVERIFY(inner.networkScene().card("bn_b") != nullptr);
}

void CanvasUnitsTest::chipsOfAUseChangeThatUse() {
  open(drawings::kUnits);
  pick({"down3"});
  key(Qt::Key_Space);
  ArgumentChips& chips = m_view->unitView()->chips();
  QTest::mouseClick(chips.chips().front(), Qt::LeftButton);
  QVERIFY(chips.card() != nullptr);
  auto* value = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  QVERIFY(value != nullptr);
  QCOMPARE(value->text(), QString("64"));
  value->selectAll();
  QTest::keyClicks(value, "48");
  QTest::keyClick(value, Qt::Key_Return);
  QCOMPARE(drawn().find("down3")->values["channels"], Json(48));
  QCOMPARE(m_document->project().unit("ResidualDown")->argument("channels")->defaultValue, Json(32));
  QCOMPARE(chips.chips().front()->text(), QString("channels = 48"));
  QCOMPARE(steps(), 1);
}

void CanvasUnitsTest::enterAsksForTheTab() {
  open(drawings::kUnits);
  QSignalSpy wanted(m_view.get(), &NetworkView::tabRequested);
  pick({"stage2"});
  key(Qt::Key_Return);
  QCOMPARE(wanted.count(), 1);
  QCOMPARE(wanted.front().front().toString(), QString("Residual"));
}

void CanvasUnitsTest::aUnitIsDissolvedIntoItsPlace() {
  open(drawings::kUnits);
  const std::int64_t parameters = flat().parameters;
  pick({"down2"});
  key(Qt::Key_G, Qt::ControlModifier | Qt::AltModifier);
  QCOMPARE(steps(), 1);
  QVERIFY(m_scene->card("down2") == nullptr && m_scene->card("conv_s") != nullptr);
  QCOMPARE(m_scene->pickedNodes().size(), std::size_t(9));
  QCOMPARE(flat().parameters, parameters);
}

void CanvasUnitsTest::aUnitIsAddedFromTheMenu() {
  open(drawings::kUnits);
  pick({"stage3"});
  key(Qt::Key_A, Qt::ShiftModifier);
  type("Residual");
  key(Qt::Key_Return);
  QCOMPARE(steps(), 1);
  const Node* added = drawn().find(m_scene->pickedNodes().front());
  QCOMPARE(added->unit, std::string("Residual"));
  const Edge before{{"stage3", "output"}, {added->id, "input"}}, behind{{added->id, "output"}, {"pool", "input"}};
  QVERIFY(std::find(drawn().edges.begin(), drawn().edges.end(), before) != drawn().edges.end());
  QVERIFY(std::find(drawn().edges.begin(), drawn().edges.end(), behind) != drawn().edges.end());
  // Not into itself.
  m_scene->setNetwork("Residual");
  QVERIFY(m_document->addNode({.network = "Residual", .layer = "Residual"}).empty());
}

void CanvasUnitsTest::ctrlRRepeatsAChainAndAUnit() {
  open(drawings::kUnits);
  pick({"bn1", "relu1"});
  key(Qt::Key_R, Qt::ControlModifier);
  QVERIFY(m_view->nameField().isAsking());
  m_view->nameField().selectAll();
  type("3");
  key(Qt::Key_Return);
  QCOMPARE(steps(), 1);
  QCOMPARE(drawn().groups.size(), std::size_t(1));
  QCOMPARE(drawn().groups.front().repeat, Json(3));
  const GroupItem* frame = m_scene->groups().group(drawn().groups.front().id);
  QVERIFY(frame != nullptr && frame->content().isRepeat);
  QCOMPARE(frame->content().repeat, QString::fromUtf8("×3"));
  pick({"down2"});
  key(Qt::Key_R, Qt::ControlModifier);
  m_view->nameField().selectAll();
  type("2");
  key(Qt::Key_Return);
  QCOMPARE(drawn().find("down2")->repeat, Json(2));
  QCOMPARE(m_scene->card("down2")->content().repeat, QString::fromUtf8("×2"));
  // What has two ways in is refused before anything is asked.
  pick({"fc", "loss"});
  key(Qt::Key_R, Qt::ControlModifier);
  QVERIFY(!m_view->nameField().isAsking());
  QVERIFY(m_view->hint().isVisible());
}

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
      {{0, 60}, {0, 144}, {0, 180}},          // left edges
      {{300, 60}, {300, 144}, {300, 180}},    // centres
      {{600, 60}, {600, 144}, {600, 180}},    // right edges
      {{0, 60}, {240, 60}, {600, 60}},        // tops
      {{0, 120}, {240, 120}, {600, 120}},     // middles
      {{0, 180}, {240, 180}, {600, 180}},     // bottoms
      {conv, {300, 144}, pool},               // across
      {conv, {240, 120}, pool},               // down
  };
  const auto& buttons = m_view->selectionBar().buttons();
  QCOMPARE(buttons.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    QVERIFY2(!buttons[i]->toolTip().isEmpty() || !buttons[i]->accessibleName().isEmpty(), qPrintable(QString::number(i)));
    QTest::mouseClick(buttons[i], Qt::LeftButton);
    const char* const ids[] = {"conv", "relu", "pool"};
    for (std::size_t node = 0; node < 3; ++node) {
      const Node* moved = drawn().find(ids[node]);
      QVERIFY2(QPointF(moved->x, moved->y) == wanted[i][node], qPrintable(QStringLiteral("button %1: %2 at %3, %4").arg(i).arg(ids[node]).arg(moved->x).arg(moved->y)));
    }
    m_document->undoStack().undo();
    QCOMPARE(m_document->text(), before);
  }
}

void CanvasUnitsTest::dimmingLeavesWhatIsReached() {
  open(drawings::kUnits);
  pick({"y"});
  QVERIFY(m_scene->card("conv1")->dimmed() == false);
  key(Qt::Key_D);
  QVERIFY(m_scene->dimming());
  QVERIFY(m_scene->card("conv1")->dimmed());
  QVERIFY(!m_scene->card("loss")->dimmed() && !m_scene->card("y")->dimmed());
  click(card("pool"));
  QVERIFY(!m_scene->card("conv1")->dimmed() && m_scene->card("y")->dimmed());
  key(Qt::Key_Escape);
  QVERIFY(!m_scene->card("y")->dimmed());  // nothing is selected: everything is bright
  key(Qt::Key_D);
  QVERIFY(!m_scene->dimming());
  QCOMPARE(steps(), 0);
}

void CanvasUnitsTest::aSelectionTravelsAsText() {
  open(drawings::kSmall);
  const std::string id = m_document->makeGroup("main", {"conv", "relu"}, "Front");
  m_document->addComment("main", {.text = "Why", .x = 300, .y = 60});
  settle();
  key(Qt::Key_A, Qt::ControlModifier);
  key(Qt::Key_C, Qt::ControlModifier);
  const QString text = QApplication::clipboard()->text();
  // What is on the clipboard is a project of its own, as a file has it.
  ProjectDocument other;
  QVERIFY(other.openText(text.toStdString(), "message"));
  QVERIFY(other.openProblems().empty());
  QCOMPARE(other.project().networks.front().nodes.size(), drawn().nodes.size());
  QCOMPARE(other.project().networks.front().groups.size(), std::size_t(1));
  QCOMPARE(other.project().networks.front().edges, drawn().edges);
  other.discardRecovery();
  const std::size_t nodes = drawn().nodes.size();
  const int was = steps();
  QApplication::clipboard()->setText("in a message:\n" + text);
  key(Qt::Key_V, Qt::ControlModifier);
  QCOMPARE(steps(), was);  // words before it: no drawing
  QApplication::clipboard()->setText("  " + text + "\n");
  key(Qt::Key_V, Qt::ControlModifier);
  QCOMPARE(steps(), was + 1);
  QCOMPARE(drawn().nodes.size(), 2 * nodes);
  QCOMPARE(drawn().groups.size(), std::size_t(2));
  QCOMPARE(drawn().find("conv2")->group, drawn().groups[1].id);
  QVERIFY(drawn().groups[1].id != id);
}

void CanvasUnitsTest::unitsTravelAlong() {
  open(drawings::kUnits);
  pick({"stage1"});
  key(Qt::Key_C, Qt::ControlModifier);
  const QString text = QApplication::clipboard()->text();
  key(Qt::Key_V, Qt::ControlModifier);
  QCOMPARE(m_document->project().units.size(), std::size_t(2));  // the same unit is there already
  cleanup();
  open(drawings::kSmall);
  QApplication::clipboard()->setText(text);
  key(Qt::Key_V, Qt::ControlModifier);
  QCOMPARE(steps(), 1);
  QVERIFY(m_document->project().unit("Residual") != nullptr);
  QCOMPARE(drawn().find("stage1")->unit, std::string("Residual"));
  m_document->undoStack().undo();
  QVERIFY(m_document->project().units.empty());
  m_document->undoStack().redo();
  // Another unit of that name: the one that comes gets a name of its own.
  m_document->setField("Residual", "conv_a", "kernel", Json::array({5, 5}));
  QApplication::clipboard()->setText(text);
  key(Qt::Key_V, Qt::ControlModifier);
  QCOMPARE(m_document->project().units.size(), std::size_t(2));
  QCOMPARE(drawn().find("stage2")->unit, std::string("Residual2"));
  // A unit is never put into itself.
  m_scene->setNetwork("Residual");
  key(Qt::Key_V, Qt::ControlModifier);
  QVERIFY(m_document->drawing("Residual")->find("stage1") == nullptr ||
          m_document->drawing("Residual")->find("stage1")->unit != "Residual");
}

}  // namespace loom

QTEST_MAIN(loom::CanvasUnitsTest)
#include "canvas_units_test.moc"

// Units, groups, repeats and comments on the canvas, by mouse and keys alone.
#include "tests/widgets/canvas/canvas_units_test.h"

namespace loom {

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
  QVERIFY(words.join(' ').contains("shown for down2, used 2 times"));
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

// Its own title, and the share of the cost of a card that it lies close to.
void CanvasUnitsTest::whatStandsBesideAnOpenUnitIsWhole() {
  open(drawings::kUnits);
  m_view->resize(1900, 800);
  m_view->setZoom(1);
  m_view->centerOn(m_scene->card("down2")->pos());
  settle();
  pick({"down2"});
  key(Qt::Key_Space);
  UnitView& unit = *m_view->unitView();
  const auto words = [&] {
    for (const QLabel* each : unit.findChildren<QLabel*>())
      if (each->text().startsWith("shown for")) return each;
    return static_cast<const QLabel*>(nullptr);
  };
  QVERIFY(words() != nullptr);
  const int wide = words()->fontMetrics().horizontalAdvance(words()->text());
  QVERIFY2(wide <= words()->width(), qPrintable(QString("%1 of %2").arg(wide).arg(words()->width())));
  // The shares beside its own cards too.
  const QRectF outermost = unit.scene().card("conv_s")->sceneCard();
  QVERIFY(unit.view().viewport()->rect().contains(unit.view().mapFromScene(outermost.topRight() + QPointF(64, 0))));
  const QRectF cover = m_view->mapToScene(unit.card()).boundingRect();
  CardItem& card = *m_scene->card("y");
  m_document->moveNodes("main", {{"y", {cover.right() + 30 + card.card().width() / 2, cover.center().y()}}});
  settle();
  const auto picture = [&](double share, const QRectF& area) {
    card.setCost(share, 0);
    return m_view->viewport()->grab(m_view->mapFromScene(area).boundingRect()).toImage();
  };
  const QRectF face = card.sceneCard(),
               between(QPointF(cover.right() + 4, face.top()), QPointF(face.left() - 8, face.bottom()));
  QCOMPARE(picture(0, between), picture(0.25, between));
  key(Qt::Key_Escape);
  QVERIFY(!unit.isOpen());
  QVERIFY(picture(0, between) != picture(0.25, between));  // it is free again
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

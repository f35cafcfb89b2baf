// Units, groups, repeats and the outline on the whole Network page, by mouse and keys.
#include "tests/app/network/units_page_test.h"

namespace loom {

void UnitsPageTest::aUnitHasATabWithItsArguments() {
  open(drawings::kUnits);
  QTabBar& tabs = m_page->bar().tabs();
  QCOMPARE(tabs.count(), 3);
  QVERIFY(!m_page->arguments().isVisible());
  click(card("down2"));
  key(Qt::Key_Return);
  settle();
  QCOMPARE(tabs.tabText(tabs.currentIndex()), QString("ResidualDown"));
  QVERIFY(m_page->arguments().isVisible());
  QCOMPARE(m_page->arguments().chips().size(), std::size_t(2));
  QCOMPARE(m_page->arguments().chips()[1]->text(), QString("stride = 2"));
  // Shapes are those of its first use.
  const Analysis& analysis = document().analysis("ResidualDown");
  QCOMPARE(shapeText(analysis.nodes.at("conv_a").outputs.front()), QString::fromUtf8("32×16×16"));
  QCOMPARE(m_page->scene().card("input")->content().form, CardContent::Form::port);
  QTest::mouseClick(&tabs, Qt::LeftButton, {}, tabs.tabRect(0).center());
  QCOMPARE(m_page->scene().networkName(), std::string("main"));
  QVERIFY(!m_page->arguments().isVisible());
}

void UnitsPageTest::argumentsAreAddedRenamedAndRemovedByTheirChips() {
  open(drawings::kUnits);
  m_page->scene().setNetwork("Residual");
  settle();
  ArgumentChips& chips = m_page->arguments();
  QTest::mouseClick(chips.addButton(), Qt::LeftButton);
  QVERIFY(chips.card() != nullptr);
  type("width");
  key(Qt::Key_Tab);
  if (auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget())) line->selectAll();
  type("2");
  key(Qt::Key_Return);
  settle();
  QCOMPARE(chips.chips().size(), std::size_t(2));
  QCOMPARE(chips.chips()[1]->text(), QString("width = 2"));
  QCOMPARE(document().undoStack().index(), 1);
  QTest::mouseClick(chips.chips()[0], Qt::LeftButton);
  const auto lines = chips.card()->findChildren<QLineEdit*>();
  QCOMPARE(lines.size(), 3);
  lines[0]->setFocus();
  lines[0]->selectAll();
  type("depth");
  key(Qt::Key_Return);
  settle();
  QCOMPARE(chips.chips()[0]->text(), QString("depth = 16"));
  QCOMPARE(document().network("main")->find("stage3")->values["depth"], Json(64));
  QCOMPARE(document().undoStack().index(), 2);
  QTest::mouseClick(chips.chips()[1], Qt::LeftButton);
  for (QAbstractButton* button : chips.card()->findChildren<QAbstractButton*>())
    if (button->text() == "Remove") QTest::mouseClick(button, Qt::LeftButton);
  settle();
  QCOMPARE(chips.chips().size(), std::size_t(1));
  QCOMPARE(document().undoStack().index(), 3);
}

void UnitsPageTest::aUseShowsItsArgumentsAsFields() {
  open(drawings::kUnits);
  click(card("stage2"));
  settle();
  PropertyForm& form = m_page->inspector().form();
  QVERIFY(form.row("channels") != nullptr && form.row("repeat") != nullptr);
  QVERIFY(m_page->inspector().focusField("channels"));
  auto* field = qobject_cast<NumberField*>(QApplication::focusWidget());
  QVERIFY(field != nullptr);
  QCOMPARE(field->text(), QString("32"));
  field->selectAll();
  type("48");
  QCOMPARE(drawn().find("stage2")->values["channels"], Json(48));
  QVERIFY(m_page->inspector().focusField("repeat"));
  qobject_cast<NumberField*>(QApplication::focusWidget())->selectAll();
  type("4");
  QCOMPARE(drawn().find("stage2")->repeat, Json(4));
  QCOMPARE(m_page->scene().card("stage2")->content().repeat, QString::fromUtf8("×4"));
  QCOMPARE(m_page->scene().card("stage2")->content().parameters, QString("channels 48"));
  // The cost of a use is that of all that it stands for.
  const Analysis& analysis = document().analysis("main");
  QVERIFY(analysis.nodes.at("stage1").parameters > 3 * 2 * 16 * 16 * 9);
}

void UnitsPageTest::anExpressionIsTypedAndComputed() {
  open(drawings::kUnits);
  m_page->scene().setNetwork("ResidualDown");
  settle();
  view().reveal("conv_b");
  settle();
  QVERIFY(m_page->inspector().focusField("channels"));
  auto* field = qobject_cast<NumberField*>(QApplication::focusWidget());
  QVERIFY(field != nullptr);
  QCOMPARE(field->text(), QString("channels"));
  QCOMPARE(field->expression(), QString("channels"));
  field->selectAll();
  type("channels*2");
  settle();
  QVERIFY2(drawn().find("conv_b")->values["channels"] == Json("=channels*2"),
           qPrintable(QString::fromStdString(drawn().find("conv_b")->values.dump()) + " " + field->text() + " " +
                      field->problem()));
  QVERIFY(m_page->inspector().form().row("channels")->findChildren<QLabel*>().size() > 0);
  field->selectAll();
  type("chanels");
  settle();
  QCOMPARE(drawn().find("conv_b")->values["channels"], Json("=channels*2"));  // no such name: what held holds on
  QVERIFY(field->problem().contains("chanels"));
  field->selectAll();
  type("24");
  QCOMPARE(drawn().find("conv_b")->values["channels"], Json(24));
}

void UnitsPageTest::aFieldFollowsAnArgumentFromItsMenu() {
  open(drawings::kUnits);
  document().addArgument("Residual", {.name = "biased", .defaultValue = true});
  m_page->scene().setNetwork("Residual");
  settle();
  view().reveal("conv_a");
  settle();
  FormRow* row = m_page->inspector().form().row("bias");
  QVERIFY(row != nullptr);
  auto* editor = qobject_cast<SwitchingEditor*>(row->editor());
  QVERIFY(editor != nullptr && !editor->showsExpression());
  QContextMenuEvent menu(QContextMenuEvent::Mouse, QPoint(4, 4), editor->focusTarget()->mapToGlobal(QPoint(4, 4)));
  QApplication::sendEvent(editor->focusTarget(), &menu);
  auto* offered = m_page->inspector().findChild<QMenu*>("argumentsMenu");
  QVERIFY(offered != nullptr);
  for (QAction* action : offered->actions())
    if (action->text().contains("biased")) action->trigger();
  offered->close();
  settle();
  QCOMPARE(drawn().find("conv_a")->values["bias"], Json("=biased"));
  QVERIFY(qobject_cast<SwitchingEditor*>(m_page->inspector().form().row("bias")->editor())->showsExpression());
  document().undoStack().undo();
  settle();
  QVERIFY(!qobject_cast<SwitchingEditor*>(m_page->inspector().form().row("bias")->editor())->showsExpression());
}

void UnitsPageTest::whatIsSelectedInPlaceIsInTheInspector() {
  open(drawings::kUnits);
  click(card("down2"));
  key(Qt::Key_Space);
  settle();
  NetworkView& inner = view().unitView()->view();
  QTest::mouseClick(inner.viewport(), Qt::LeftButton, {},
                    inner.mapFromScene(inner.networkScene().card("conv_a")->pos()));
  settle();
  QCOMPARE(m_page->inspector().name().text(), QString("conv_a"));
  QVERIFY(m_page->inspector().focusField("stride"));
  auto* stride = qobject_cast<NumberField*>(QApplication::focusWidget());
  QVERIFY2(stride != nullptr,
           QApplication::focusWidget() == nullptr ? "nothing" : QApplication::focusWidget()->metaObject()->className());
  QCOMPARE(stride->expression(), QString("stride"));
  // A layer from the palette goes to what is in hand.
  inner.setFocus();
  const std::size_t nodes = document().drawing("ResidualDown")->nodes.size(), outer = drawn().nodes.size();
  m_page->palette().search().setText("dropout");
  QTest::keyClick(&m_page->palette().search(), Qt::Key_Return);
  QCOMPARE(document().drawing("ResidualDown")->nodes.size(), nodes + 1);
  QCOMPARE(drawn().nodes.size(), outer);
  inner.setFocus();
  QTest::keyClick(&inner, Qt::Key_Escape);
  QTest::keyClick(&inner, Qt::Key_Escape);
  QVERIFY(!view().unitView()->isOpen());
  click(card("fc"));
  QCOMPARE(m_page->inspector().name().text(), QString("fc"));
}

void UnitsPageTest::faultsInsideShowOnTheUse() {
  open(drawings::kUnits);
  document().setField("ResidualDown", "conv_s", "stride", 1);
  settle();
  QVERIFY(!m_page->scene().card("down2")->content().errors.isEmpty());
  QTabBar& tabs = m_page->bar().tabs();
  QVERIFY(tabs.tabToolTip(2).contains("fault"));
  m_page->scene().setNetwork("ResidualDown");
  settle();
  QVERIFY(!m_page->scene().card("add")->content().errors.isEmpty());
}

void UnitsPageTest::thePaletteListsUnits() {
  open(drawings::kUnits);
  m_page->palette().search().setText("Residual");
  settle();
  QCOMPARE(m_page->palette().list().found() >= 2, true);
  QStringList rows;
  for (int i = 0; i < m_page->palette().list().count(); ++i) rows += m_page->palette().list().item(i)->text();
  QVERIFY(rows.contains("Residual") && rows.contains("ResidualDown"));
  // Dropped onto a wire it is put into it.
  QMimeData data;
  data.setData(QLatin1String(kLayerMime), "Residual");
  const QPointF between = (m_page->scene().card("pool")->pos() + m_page->scene().card("fc")->pos()) / 2;
  const QPoint place = view().mapFromScene(between);
  QDragEnterEvent enter(place, Qt::CopyAction, &data, Qt::LeftButton, {});
  QApplication::sendEvent(view().viewport(), &enter);
  QDragMoveEvent move(place, Qt::CopyAction, &data, Qt::LeftButton, {});
  QApplication::sendEvent(view().viewport(), &move);
  QDropEvent drop(place, Qt::CopyAction, &data, Qt::LeftButton, {});
  QApplication::sendEvent(view().viewport(), &drop);
  const std::string id = m_page->scene().pickedNodes().front();
  QCOMPARE(drawn().find(id)->unit, std::string("Residual"));
  const Edge in{{"pool", "output"}, {id, "input"}};
  QVERIFY(std::find(drawn().edges.begin(), drawn().edges.end(), in) != drawn().edges.end());
  QCOMPARE(document().undoStack().index(), 1);
}

void UnitsPageTest::groupsInTheInspector() {
  open(drawings::kSmall);
  const std::string id = document().makeGroup("main", {"relu", "pool"}, "Middle");
  m_page->scene().pickGroup(id);
  settle();
  QCOMPARE(m_page->inspector().name().text(), QString("Middle"));
  QVERIFY(m_page->inspector().focusField("repeat"));
  qobject_cast<NumberField*>(QApplication::focusWidget())->selectAll();
  type("3");
  settle();
  QCOMPARE(drawn().group(id)->repeat, Json(3));
  QVERIFY(m_page->scene().groups().group(id)->content().isRepeat);
  QVERIFY(m_page->inspector().form().row("counter") != nullptr);
  m_page->inspector().name().setFocus();
  m_page->inspector().name().selectAll();
  type("Thrice");
  key(Qt::Key_Return);
  QCOMPARE(drawn().group(id)->title, std::string("Thrice"));
}

void UnitsPageTest::unitsOfTheSelectionByItsButton() {
  open(drawings::kSmall);
  click(card("conv"));
  click(card("relu"), Qt::ShiftModifier);
  settle();
  for (QAbstractButton* button : m_page->inspector().findChildren<QAbstractButton*>())
    if (button->text() == "Make a unit" && button->isVisible()) QTest::mouseClick(button, Qt::LeftButton);
  QVERIFY(view().nameField().isAsking());
  type("Front");
  key(Qt::Key_Return);
  settle();
  QCOMPARE(m_page->bar().tabs().count(), 2);
  QCOMPARE(m_page->scene().pickedNodes(), std::vector<std::string>{"front"});
}

void UnitsPageTest::pictures() {
  if (qEnvironmentVariableIsEmpty("GRADLOOM_PICTURES")) QSKIP("GRADLOOM_PICTURES names no folder for pictures");
  for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
    m_theme->setMode(mode);
    const QString suffix = mode == ThemeMode::light ? "light" : "dark";
    m_page->resize(1364, 824);
    m_page->side().showOutline(false);
    open(drawings::kUnits);
    picture("units-" + suffix);
    m_page->scene().pickNode("down2");
    view().setFocus();
    key(Qt::Key_Space);
    settle();
    view().unitView()->scene().pickNode("conv_a");
    picture("in-place-" + suffix);
    document().setField("ResidualDown", "conv_s", "stride", 1);
    view().unitView()->scene().pickNode("conv_s");
    picture("fault-" + suffix);
    document().undoStack().undo();
    view().unitView()->close();
    m_page->scene().setNetwork("ResidualDown");
    settle();
    view().fit();
    picture("tab-" + suffix);
    open(drawings::kUnits);
    m_page->side().showOutline(true);
    const std::string stem = document().makeGroup("main", {"conv1", "bn1", "relu1"}, "Stem");
    document().setFolded("main", stem, true);
    const std::string body = document().makeGroup("main", {"down2", "stage2", "down3"}, "Body");
    document().addComment("main", {.text = "Digits are thin strokes: three fields of view side by side gave fewer 4 "
                                           "and 9 mixed up than a third block in stage2.",
                                   .x = -330,
                                   .y = 90,
                                   .width = 240,
                                   .height = 130});
    document().addComment("main",
                          {.text = "The head", .x = 420, .y = 380, .width = 160, .height = 60, .colour = "green"});
    settle();
    view().fit();
    m_page->scene().pick({{"stage2", "down3", "pool"}, {}});
    picture("groups-" + suffix);
    m_page->scene().pickGroup(body);
    picture("group-" + suffix);
    m_page->side().showOutline(false);
    m_page->scene().pick({{"y"}, {}});
    m_page->scene().setDimming(true);
    picture("dimmed-" + suffix);
    m_page->scene().setDimming(false);
    const std::string repeat = document().makeGroup("main", {"fc"}, "Twice", 2);
    document().setGroup("main", [&] {
      Group group = *drawn().group(body);
      group.repeat = 3;
      return group;
    }());
    m_page->scene().pick({});
    view().fit();
    picture("repeat-" + suffix);
    document().newProject();
    m_page->side().showOutline(true);
    picture("empty-outline-" + suffix);
    open(drawings::kUnits);
    m_page->resize(948, 624);
    settle();
    view().fit();
    m_page->scene().pickNode("down2");
    view().setFocus();
    key(Qt::Key_Space);
    picture("narrow-in-place-" + suffix);
    view().unitView()->close();
    m_page->toggleLeftPanel();
    picture("narrow-outline-" + suffix);
    m_page->toggleLeftPanel();
    m_page->resize(1364, 824);
    document().openText(drawings::residual(60), "large");
    settle();
    document().edit("groups", [](Project& project) {
      Network& main = *project.network("main");
      for (int i = 0; i < 60; i += 2) {
        Group group;
        group.id = "g" + std::to_string(i), group.title = "Block " + std::to_string(i);
        group.colour = i % 4 == 0 ? "sky" : "green";
        main.groups.push_back(group);
        for (Node& node : main.nodes)
          if (node.id.starts_with("b" + std::to_string(i) + "_")) node.group = group.id;
      }
    });
    view().fit();
    picture("large-" + suffix);
    view().setZoom(0.5);
    picture("large-50-" + suffix);
    m_page->side().showOutline(false);
  }
  m_theme->setMode(ThemeMode::light);
}

}  // namespace loom

QTEST_MAIN(loom::UnitsPageTest)

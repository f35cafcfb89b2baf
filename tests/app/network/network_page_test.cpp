// A person at the Network page: LeNet drawn by mouse and keys alone, with real events.
#include "tests/app/network/network_page_test.h"

#include "tests/patience.h"

namespace loom {

void NetworkPageTest::lenetByMouseAndKeys() {
  const std::string empty = document().text();
  QVERIFY(view().emptyCanvas().isVisible());

  // The first by a double click in the palette, found by typing.
  view().setFocus();
  key(Qt::Key_Slash);
  QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&m_page->palette().search()));
  type("input");
  LayerList& list = m_page->palette().list();
  QVERIFY(list.count() > 0);
  const QPoint row = list.visualItemRect(list.item(0)).center();
  QTest::mouseClick(list.viewport(), Qt::LeftButton, {}, row);
  QTest::mouseDClick(list.viewport(), Qt::LeftButton, {}, row);
  QCOMPARE(drawn().nodes.size(), std::size_t{1});
  const std::string x = drawn().nodes[0].id;
  setField(x, "shape", {"1, 28, 28"});
  QVERIFY(drawn().find(x)->values["shape"] == Json::array({1, 28, 28}));

  // The trunk by keys: each follows the selected one and is wired to it.
  view().reveal(x);
  const std::string conv1 = addByKeys("Conv2d");
  QVERIFY(has(x, conv1));
  setField(conv1, "channels", {"8"});
  setField(conv1, "kernel", {"5, 5"});
  QVERIFY(drawn().find(conv1)->values["kernel"] == Json::array({5, 5}));
  view().reveal(conv1);
  std::string last = conv1, fc2;
  for (const char* layer :
       {"relu", "MaxPooling", "Convolution", "relu", "MaxPooling", "Dense", "relu", "Linear", "SoftmaxCrossEntropy"}) {
    const std::string id = addByKeys(layer);
    QVERIFY2(has(last, id), layer);
    last = id;
    if (std::string(layer) == "Linear") fc2 = id;
  }
  QCOMPARE(drawn().nodes.size(), std::size_t{11});
  const std::string loss = last;
  setField(fc2, "outputs", {"10"});

  // The label by Shift+A beside, its wire and the metric's by mouse.
  view().fit();
  settle();
  m_page->scene().pick({});
  const std::string y = addByKeys("Input");
  setField(y, "shape", {"1"});
  view().reveal(y);
  QVERIFY(m_page->inspector().focusField("type"));
  type("Label");
  QTRY_VERIFY(drawn().find(y)->values["type"] == Json("label"));
  view().fit();
  settle();
  drag(outPin(y), inPin(loss, 1));
  QVERIFY(has(y, loss, "target"));

  view().reveal(fc2);
  const std::string accuracy = addByKeys("Accuracy");
  QVERIFY(has(fc2, accuracy) && has(fc2, loss));
  view().fit();
  settle();
  drag(outPin(y), inPin(accuracy, 1));
  QVERIFY(has(y, accuracy, "target"));
  view().setFocus();
  key(Qt::Key_L, Qt::ControlModifier);
  settle();
  QVERIFY2(document().analysis("main").sound(),
           document().problems().empty() ? "" : document().problems().front().message.c_str());
  picture("lenet");

  // Undo all: the empty file. Redo all: the same drawing to the letter.
  const std::string whole = document().text();
  while (document().undoStack().canUndo()) document().undoStack().undo();
  QCOMPARE(document().text(), empty);
  settle();
  QVERIFY(view().emptyCanvas().isVisible());
  while (document().undoStack().canRedo()) document().undoStack().redo();
  QCOMPARE(document().text(), whole);
}

void NetworkPageTest::dragFromThePalette() {
  document().openText(drawings::kSmall, "small");
  settle();
  // What the palette hands over, taken by the canvas: a card on a wire is put into it.
  LayerList& list = m_page->palette().list();
  m_page->palette().search().setText("dropout");
  std::unique_ptr<QMimeData> data(list.model()->mimeData({list.model()->index(0, 0)}));
  QVERIFY(data && data->hasFormat(kLayerMime));
  const QPointF middle = (m_page->scene().card("relu")->pos() + m_page->scene().card("pool")->pos()) / 2;
  const QPoint place = at(middle);
  QDragEnterEvent enter(place, Qt::CopyAction, data.get(), Qt::LeftButton, {});
  QCoreApplication::sendEvent(view().viewport(), &enter);
  QVERIFY(enter.isAccepted());
  QDragMoveEvent move(place, Qt::CopyAction, data.get(), Qt::LeftButton, {});
  QCoreApplication::sendEvent(view().viewport(), &move);
  picture("drag");
  QDropEvent drop(place, Qt::CopyAction, data.get(), Qt::LeftButton, {});
  QCoreApplication::sendEvent(view().viewport(), &drop);
  QVERIFY(has("relu", "dropout") && has("dropout", "pool") && !has("relu", "pool"));
  QVERIFY(drawn().find("pool")->y - drawn().find("dropout")->y >= 60);
}

void NetworkPageTest::chosenInThePalette() {
  open(drawings::kSmall);
  LayerList& list = m_page->palette().list();
  m_page->palette().search().setFocus();
  type("dropout");
  settle();
  // Double click and Enter in the palette: behind what is selected.
  click(card("fc"));
  QTest::mouseClick(list.viewport(), Qt::LeftButton, {}, list.visualItemRect(list.item(0)).center());
  QTest::mouseDClick(list.viewport(), Qt::LeftButton, {}, list.visualItemRect(list.item(0)).center());
  QVERIFY(has("fc", "dropout"));
  list.setFocus();
  key(Qt::Key_Return);
  QVERIFY(has("dropout", "dropout2"));
}

void NetworkPageTest::refusedWiresSayWhy() {
  document().openText(drawings::kSmall, "small");
  settle();
  const std::string before = document().text();
  drag(outPin("fc"), inPin("conv"));  // a loop
  QVERIFY(view().hint().isVisible());
  QVERIFY2(view().hint().text().contains("loop"), qPrintable(view().hint().text()));
  drag(outPin("fc"), card("x"));
  QVERIFY2(view().hint().text().contains("takes no input"), qPrintable(view().hint().text()));
  drag(outPin("conv"), outPin("pool"));
  QVERIFY2(view().hint().text().contains("output too"), qPrintable(view().hint().text()));
  QCOMPARE(document().text(), before);
  // While it is drawn, what cannot take it is faded.
  QTest::mousePress(view().viewport(), Qt::LeftButton, {}, outPin("pool"));
  QTest::mouseMove(view().viewport(), outPin("pool") + QPoint(80, 10));
  QCOMPARE(m_page->scene().card("conv")->legality(), Legality::illegal);
  QCOMPARE(m_page->scene().card("loss")->legality(), Legality::none);
  picture("wiring");
  QTest::keyClick(&view(), Qt::Key_Escape);
  QCOMPARE(m_page->scene().card("conv")->legality(), Legality::none);
  QTest::mouseRelease(view().viewport(), Qt::LeftButton, {}, outPin("pool") + QPoint(80, 10));
  QCOMPARE(document().text(), before);
}

void NetworkPageTest::aWireDroppedOnNothingOffersWhatFits() {
  document().openText(drawings::kSmall, "small");
  settle();
  drag(outPin("conv"), outPin("conv") + QPoint(230, 40));
  QVERIFY(view().addMenu().isOpen());
  type("input");  // an Input takes no wire: only what fits is offered
  picture("add-menu");
  key(Qt::Key_Escape);
  QVERIFY(!view().addMenu().isOpen());
  drag(outPin("conv"), outPin("conv") + QPoint(230, 40));
  type("gelu");
  key(Qt::Key_Return);
  QVERIFY(has("conv", "gelu"));
  QCOMPARE(m_page->scene().pickedNodes(), std::vector<std::string>{"gelu"});
  // Taking a wire off an input and dropping it on nothing removes it.
  settle();
  drag(inPin("gelu"), inPin("gelu") + QPoint(120, -30));
  QVERIFY(!has("conv", "gelu"));
  QVERIFY(!view().addMenu().isOpen());
}

void NetworkPageTest::aLongRemedyStaysInsideTheInspector() {
  QVERIFY(document().openText(R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [10], "at": [0, 0]}, {"id": "fc", "layer": "Linear", "at": [0, 120]}],
    "edges": [["x", "fc"]]}}})",
                              "two"));
  m_page->scene().pick({});
  settle();
  Button* remedy = nullptr;
  for (Button* each : m_page->inspector().findChildren<Button*>())
    if (each->isVisible() && each->text().contains("SoftmaxCrossEntropy")) remedy = each;
  QVERIFY(remedy);
  const int right = remedy->mapTo(&m_page->inspector(), QPoint(remedy->width(), 0)).x();
  QVERIFY2(right <= m_page->inspector().width() - 8,
           qPrintable(QString("%1 of %2").arg(right).arg(m_page->inspector().width())));
  // And stands there whole, on as many lines as it needs.
  const auto isWhole = [&] {
    return remedy->heightForWidth(remedy->width()) > 0 && remedy->height() >= remedy->heightForWidth(remedy->width());
  };
  QVERIFY(isWhole());
  Theme::of().setTextSize(150);
  settle();
  QTRY_VERIFY2(isWhole(),
               qPrintable(QString("%1 of %2").arg(remedy->height()).arg(remedy->heightForWidth(remedy->width()))));
  // In one line that fits, or in several.
  const QFontMetrics metrics = remedy->fontMetrics();
  QVERIFY(metrics.horizontalAdvance(remedy->text()) < remedy->width() || remedy->height() > 2 * metrics.height());
  picture("long-remedy");
  Theme::of().setTextSize(100);
}

// A sentence of five lines loses none of them.
void NetworkPageTest::everyFaultStandsWholeInTheInspector() {
  QVERIFY(document().openText(R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "at": [0, 0]}], "edges": []}}})",
                              "long"));
  view().reveal("x");
  settle();
  QLabel* sentence = nullptr;
  const auto find = [&] {
    sentence = nullptr;
    for (QLabel* each : m_page->inspector().findChildren<QLabel*>())
      if (each->isVisible() && each->text().startsWith("Shape is missing")) sentence = each;
    return sentence != nullptr;
  };
  QTRY_VERIFY(find());
  QTRY_VERIFY2(
      sentence->height() >= sentence->heightForWidth(sentence->width()),
      qPrintable(QString("%1 of %2").arg(sentence->height()).arg(sentence->heightForWidth(sentence->width()))));
}

void NetworkPageTest::copiedBetweenNetworks() {
  document().openText(drawings::kSmall, "small");
  settle();
  view().setFocus();
  click(card("conv"));
  QTest::mouseClick(view().viewport(), Qt::LeftButton, Qt::ShiftModifier, card("relu"));
  key(Qt::Key_C, Qt::ControlModifier);
  const std::string second = document().addNetwork("second");
  settle();
  QTabBar& tabs = m_page->bar().tabs();
  QCOMPARE(tabs.count(), 2);
  QTest::mouseClick(&tabs, Qt::LeftButton, {}, tabs.tabRect(1).center());
  QCOMPARE(m_page->scene().networkName(), second);
  view().setFocus();
  key(Qt::Key_V, Qt::ControlModifier);
  QCOMPARE(drawn().nodes.size(), std::size_t{2});
  QVERIFY(has("conv", "relu"));
  key(Qt::Key_D, Qt::ControlModifier);
  QCOMPARE(drawn().nodes.size(), std::size_t{4});
  QVERIFY(has("conv2", "relu2"));
  key(Qt::Key_X, Qt::ControlModifier);
  QCOMPARE(drawn().nodes.size(), std::size_t{2});
}

void NetworkPageTest::aFaultStandsAtItsFieldAndIsMendedByAClick() {
  document().openText(drawings::kSmall, "small");
  settle();
  QVERIFY(document().analysis("main").sound());
  setField("conv", "kernel", {"99, 99"});
  document().setField("main", "conv", "padding", "valid");
  settle();
  QVERIFY(!document().analysis("main").sound());
  QVERIFY(!m_page->scene().card("conv")->content().errors.isEmpty());
  view().reveal("conv");
  settle();
  QVERIFY(view().faultBubble().isVisible());
  picture("fault");
  // Totals that leave a node out are no totals, wherever they stand.
  click(view().viewport()->rect().topRight() + QPoint(-12, 12));
  settle();
  QCOMPARE(m_page->findChild<CostTable*>()->accessibleName(),
           QStringLiteral("Parameters ?, Multiply-adds ?, Output values ?"));
  QVERIFY2(m_page->findChild<NetworkStrip*>()->figures().contains(QStringLiteral("?")),
           qPrintable(m_page->findChild<NetworkStrip*>()->figures()));
  document().undoStack().undo();
  document().undoStack().undo();
  settle();
  QVERIFY(document().analysis("main").sound());
  QVERIFY(!view().faultBubble().isVisible());
}

// The value that holds is another than what one reads, also when another node is looked at; it goes with its node.
void NetworkPageTest::aTextThatIsNoValueIsAProblemWhoeverIsPicked() {
  std::vector<PageProblem> told;
  connect(m_page.get(), &Page::problemsChanged, this, [&](const std::vector<PageProblem>& all) { told = all; });
  document().openText(drawings::kSmall, "small");
  settle();
  setField("conv", "kernel", {"x"});
  QCOMPARE(told.size(), std::size_t{1});
  QCOMPARE(told[0].place.node, QString("conv"));
  QCOMPARE(told[0].place.field, QString("kernel"));
  click(card("relu"));
  settle();
  QCOMPARE(told.size(), std::size_t{1});
  const auto takeBack = told[0].remedy;
  document().removeNodes("main", {"conv"}, false);
  settle();
  QVERIFY(told.empty());
  document().undoStack().undo();
  settle();
  QCOMPARE(told.size(), std::size_t{1});
  takeBack();
  QVERIFY(told.empty());
  click(card("conv"));
  settle();
  QVERIFY(m_page->inspector().form().unread().empty());
}

void NetworkPageTest::renamingInTheInspector() {
  document().openText(drawings::kSmall, "small");
  settle();
  view().setFocus();
  click(card("conv"));
  key(Qt::Key_F2);
  QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&m_page->inspector().name()));
  type("relu");  // taken
  key(Qt::Key_Return);
  QVERIFY(drawn().find("conv") != nullptr);
  m_page->inspector().name().selectAll();
  type("stem");
  key(Qt::Key_Return);
  QVERIFY(drawn().find("stem") != nullptr && has("x", "stem") && has("stem", "relu"));
  QCOMPARE(m_page->scene().pickedNodes(), std::vector<std::string>{"stem"});
  QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&view()));
}

void NetworkPageTest::noRoomIsLeftInTheInspector() {
  QVERIFY(document().openText(drawings::kSmall, "small"));
  m_page->scene().pickNode("conv");
  settle();
  const auto free = [&] {
    return m_page->inspector().form().height() - m_page->inspector().form().sizeHint().height();
  };
  QTRY_COMPARE(free(), 0);
  document().setField("main", "conv", "channels", 0);  // a fault with its words
  settle();
  document().setField("main", "conv", "channels", 4);
  settle();
  QTRY_COMPARE(free(), 0);
}

void NetworkPageTest::narrowWindows() {
  document().openText(drawings::kSmall, "small");
  m_page->resize(972, 624);
  settle();
  QVERIFY(!m_page->palette().isVisible());
  QVERIFY(!m_page->inspector().isVisible());
  QCOMPARE(view().width(), m_page->width());
  m_page->toggleInspector();
  QVERIFY(m_page->inspector().isVisible());
  // What is said of a fault stands beside the drawer, not under it.
  document().setField("main", "conv", "channels", 0);
  m_page->scene().pickNode("conv");
  settle();
  QTRY_VERIFY(view().faultBubble().isVisible());
  QVERIFY(view()
              .faultBubble()
              .mapTo(m_page.get(), QPoint(view().faultBubble().width() - shadowMargin(Elevation::menu), 0))
              .x() <= m_page->inspector().x());
  document().undoStack().undo();
  key(Qt::Key_Escape);
  m_page->toggleLeftPanel();
  QVERIFY(m_page->palette().isVisible());
  QTest::keyClick(&m_page->palette().search(), Qt::Key_Escape);
  QVERIFY(!m_page->palette().isVisible());
}

void NetworkPageTest::placesAndSearch() {
  document().openText(drawings::residual(3), "residual");
  settle();
  QVERIFY(m_page->show(Place{.page = "network", .network = "main", .node = "b2_conv2", .field = "channels"}));
  QCOMPARE(m_page->scene().pickedNodes(), std::vector<std::string>{"b2_conv2"});
  QVERIFY(!m_page->show(Place{.page = "network", .network = "main", .node = "nobody"}));
  QVERIFY(!m_page->show(Place{.page = "network", .network = "nowhere", .node = "x"}));
  const QList<SearchHit> hits = m_page->search("b1_add");
  QVERIFY(!hits.isEmpty());
  QCOMPARE(hits.front().text, QStringLiteral("b1_add"));
  hits.front().act();
  QCOMPARE(m_page->scene().pickedNodes(), std::vector<std::string>{"b1_add"});
  const QJsonObject layout = m_page->saveLayout();
  view().setZoom(2);
  m_page->restoreLayout(layout);
  QVERIFY(std::abs(view().zoom() - layout.value("zoom").toDouble()) < 1e-9);
}

// The data set that training uses, asked about and made into a network as one step.
void NetworkPageTest::startFromData() {
  QFile csv(m_folder.filePath("rows.csv"));
  QVERIFY(csv.open(QIODevice::WriteOnly));
  csv.write("age,height,kind\n");
  for (int i = 0; i < 60; ++i)
    csv.write(QByteArray::number(20 + i) + ',' + QByteArray::number(1.5 + i % 7 / 10.0) + (i % 3 ? ",a\n" : ",b\n"));
  csv.close();
  QVERIFY(document().addDataset({.name = "training", .csv = csv.fileName().toStdString(), .prepare = {}}));
  const int before = document().undoStack().count();
  Q_EMIT view().startFromDataRequested();
  const auto columns = [this] { return m_page->window()->findChild<QListWidget*>("target-columns"); };
  QTRY_VERIFY(columns() && columns()->isVisible());
  QCOMPARE(columns()->currentItem()->text(), QStringLiteral("kind"));
  QTest::keyClick(columns(), Qt::Key_Return);
  QTRY_VERIFY(!drawn().nodes.empty());
  QCOMPARE(document().undoStack().count(), before + 1);
  QVERIFY(document().analysis("main").sound());
  QVERIFY(drawn().find("kind") != nullptr && drawn().find("x") != nullptr);
  QCOMPARE(document().project().training.validation, std::string("validation"));
  document().undoStack().undo();
  QVERIFY(drawn().nodes.empty());
  QVERIFY(document().project().dataset("training")->prepare.empty());
}

// Whole numbers of few values are classes or a number, as the person says; dates in two orders as well.
void NetworkPageTest::whatAFileLeavesOpenIsAsked() {
  QFile csv(m_folder.filePath("open.csv"));
  QVERIFY(csv.open(QIODevice::WriteOnly));
  csv.write("when,rooms\n");
  for (int i = 0; i < 60; ++i)
    csv.write(QByteArray::number(1 + i % 12) + '/' + QByteArray::number(1 + i % 11) + "/2026," +
              QByteArray::number(1 + i % 5) + '\n');
  csv.close();
  QVERIFY(document().addDataset({.name = "training", .csv = csv.fileName().toStdString(), .prepare = {}}));
  Q_EMIT view().startFromDataRequested();
  const auto part = [this](const char* name) { return m_page->window()->findChild<SegmentedControl*>(name); };
  QTRY_VERIFY(part("target-kind") && part("target-kind")->isVisible());
  QVERIFY(part("target-order-when") && part("target-order-when")->isVisible());
  picture("target-card-open");
  for (const char* name : {"target-kind", "target-order-when"})
    QTest::mouseClick(part(name), Qt::LeftButton, {}, part(name)->segment(1).center());
  QTest::mouseClick(m_page->window()->findChild<QAbstractButton*>("target-make"), Qt::LeftButton);
  QTRY_VERIFY(!drawn().nodes.empty());
  QCOMPARE(drawn().find("loss")->layer, std::string("MeanSquaredError"));
  QVERIFY(Json(document().project().dataset("training")->prepare).dump().find(R"("order":"mdy")") != std::string::npos);
}

void NetworkPageTest::pictures() {
  if (qEnvironmentVariableIsEmpty("GRADLOOM_PICTURES")) QSKIP("GRADLOOM_PICTURES names no folder for pictures");
  for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
    m_theme->setMode(mode);
    const QString suffix = mode == ThemeMode::light ? "light" : "dark";
    m_page->resize(1364, 824);
    document().newProject();
    settle();
    picture("empty-" + suffix);
    QFile sample(QStringLiteral(GRADLOOM_SOURCE_DIR "/samples/digits/digits.loom"));
    if (sample.open(QIODevice::ReadOnly)) document().openText(sample.readAll().toStdString(), "digits");
    settle();
    view().fit();
    m_page->scene().pickNode("conv2");
    settle();
    picture("digits-" + suffix);
    document().openText(drawings::residual(3), "residual");
    view().fit();
    settle();
    picture("residual-" + suffix);
    view().setZoom(0.5);
    picture("level-50-" + suffix);
    view().setZoom(0.25);
    picture("level-25-" + suffix);
    view().setZoom(1.6);
    view().centerOn(m_page->scene().card("b1_add")->pos());
    picture("level-160-" + suffix);
    m_page->resize(972, 624);
    view().fit();
    settle();
    picture("narrow-" + suffix);
  }
  m_theme->setMode(ThemeMode::light);
}

}  // namespace loom

QTEST_MAIN(loom::NetworkPageTest)

// A person at the Network page: LeNet drawn by mouse and keys alone, with real events. Pictures are written where
// GRADLOOM_PICTURES names a folder.
#include "app/pages/network/network_page.h"

#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QDrag>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QStandardPaths>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>

#include "app/pages/network/inspector.h"
#include "app/pages/network/inspector_parts.h"
#include "app/pages/network/network_bar.h"
#include "app/pages/network/network_strip.h"
#include "app/preferences.h"
#include "tests/widgets/document/drawings.h"
#include "tests/widgets/document/unit_drawings.h"
#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/controls/button.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/switch.h"
#include "widgets/document/card_geometry.h"
#include "widgets/form/form_row.h"
#include "widgets/form/property_form.h"
#include "widgets/palette/layer_palette.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {

class NetworkPageTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase();
  void init();
  void cleanup();

  void lenetByMouseAndKeys();
  void dragFromThePalette();
  void refusedWiresSayWhy();
  void aWireDroppedOnNothingOffersWhatFits();
  void severalNodesAreEditedTogether();
  void whatDiffersIsMixedUntilItIsGiven();
  void usesOfOneUnitAreEditedTogether();
  void nodesOfDifferentLayersAreChosenTogether();
  void aLongRemedyStaysInsideTheInspector();
  void everyFaultStandsWholeInTheInspector();
  void copiedBetweenNetworks();
  void aFaultStandsAtItsFieldAndIsMendedByAClick();
  void renamingInTheInspector();
  void noRoomIsLeftInTheInspector();
  void narrowWindows();
  void placesAndSearch();
  void startFromData();
  void startFromATable();
  void pictures();

 private:
  ProjectDocument& document() { return *m_document; }
  NetworkView& view() { return m_page->view(); }
  const Network& drawn() { return m_page->scene().network(); }
  QPoint at(QPointF scene) { return view().mapFromScene(scene); }
  QPoint card(const std::string& id) { return at(m_page->scene().card(id)->pos()); }
  QPoint outPin(const std::string& id) { return at(outputPin(*drawn().find(id), "output")); }
  QPoint inPin(const std::string& id, std::size_t index = 0) {
    const CardItem* item = m_page->scene().card(id);
    return at(item->pos() + item->inputs()[index].at);
  }
  void click(QPoint place) { QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, place); }
  void drag(QPoint from, QPoint to) {
    QTest::mousePress(view().viewport(), Qt::LeftButton, {}, from);
    QTest::mouseMove(view().viewport(), (from + to) / 2);
    QTest::mouseMove(view().viewport(), to);
    QTest::mouseRelease(view().viewport(), Qt::LeftButton, {}, to);
  }
  void key(Qt::Key which, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(QApplication::focusWidget(), which, modifiers); }
  void type(const QString& text) { QTest::keyClicks(QApplication::focusWidget(), text); }
  // Shift+A, the name, Enter: after what is selected.
  std::string addByKeys(const QString& name) {
    view().setFocus();
    key(Qt::Key_A, Qt::ShiftModifier);
    [&] { QVERIFY(view().addMenu().isOpen()); }();
    type(name);
    key(Qt::Key_Return);
    const auto picked = m_page->scene().pickedNodes();
    return picked.empty() ? std::string() : picked.front();
  }
  void setField(const std::string& node, const char* field, const QStringList& values) {
    view().reveal(node);
    QCoreApplication::processEvents();
    QVERIFY2(m_page->inspector().focusField(field), field);
    for (int i = 0; i < values.size(); ++i) {
      if (i > 0) key(Qt::Key_Tab);
      if (auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget())) line->selectAll();
      type(values[i]);
    }
    key(Qt::Key_Return);
    QCoreApplication::processEvents();
  }
  bool has(const std::string& from, const std::string& to, const std::string& port = "input") {
    const auto& edges = drawn().edges;
    return std::find(edges.begin(), edges.end(), Edge{{from, "output"}, {to, port}}) != edges.end();
  }
  void settle() {
    for (int i = 0; i < 5; ++i) QCoreApplication::processEvents();
  }
  void picture(const QString& name);

  QTemporaryDir m_folder;
  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<Preferences> m_preferences;  // outlives the page
  std::unique_ptr<ProjectDocument> m_document;
  AppContext m_context;
  Commands m_commands;  // outlives the page
  std::unique_ptr<NetworkPage> m_page;
};

void NetworkPageTest::initTestCase() {
  QStandardPaths::setTestModeEnabled(true);
  m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
}

void NetworkPageTest::init() {
  m_document = std::make_unique<ProjectDocument>();
  m_context = {};
  m_context.document = m_document.get();
  m_context.theme = m_theme.get();
  m_context.commands = &m_commands;
  m_preferences = std::make_unique<Preferences>(m_folder.filePath("gradloom.ini"));
  m_context.preferences = m_preferences.get();
  m_page = std::make_unique<NetworkPage>(m_context);
  m_page->resize(1364, 824);
  m_page->QWidget::show();
  m_page->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_page.get()));
  m_page->activated();
}

void NetworkPageTest::cleanup() {
  m_page.reset();
  m_document->discardRecovery();
  m_document.reset();
}

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
  for (const char* layer : {"relu", "MaxPooling", "Convolution", "relu", "MaxPooling", "Dense", "relu", "Linear", "SoftmaxCrossEntropy"}) {
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
  QVERIFY2(document().analysis("main").sound(), document().problems().empty() ? "" : document().problems().front().message.c_str());
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

void NetworkPageTest::severalNodesAreEditedTogether() {
  document().openText(drawings::residual(2), "residual");
  settle();
  m_page->scene().pick({{"b0_conv1", "b0_conv2", "b1_conv1"}, {}});
  settle();
  QCOMPARE(m_page->inspector().name().text(), QStringLiteral("3 nodes"));
  QVERIFY(m_page->inspector().focusField("channels"));
  if (auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget())) line->selectAll();
  type("12");
  key(Qt::Key_Return);
  for (const char* id : {"b0_conv1", "b0_conv2", "b1_conv1"}) QVERIFY(drawn().find(id)->values["channels"] == Json(12));
  QVERIFY(drawn().find("b1_conv2")->values["channels"] == Json(4));
  QCOMPARE(document().undoStack().count(), 1);
}

// A number, an expression, a choice and a switch on which the two do not agree: each says so, what is given is that of
// both, in one step, also where it is the default, and undo brings the difference back.
void NetworkPageTest::whatDiffersIsMixedUntilItIsGiven() {
  QVERIFY(document().openText(R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [3, 8, 8], "at": [0, 0]},
    {"id": "a", "layer": "Convolution", "channels": 8, "bias": false, "padding": "valid", "at": [0, 60]},
    {"id": "b", "layer": "Convolution", "channels": "=Input[0]*2", "at": [0, 120]}],
    "edges": [["x", "a"], ["a", "b"]]}}})",
                              "two"));
  settle();
  m_page->scene().pick({{"a", "b"}, {}});
  settle();
  PropertyForm& form = m_page->inspector().form();
  const auto lineOf = [&](const char* key) { return form.row(key)->editor()->findChild<QLineEdit*>(); };
  QLineEdit* const channels = lineOf("channels");
  QCOMPARE(channels->text(), QString());
  QCOMPARE(channels->placeholderText(), QString("mixed"));
  auto* const padding = form.row("padding")->editor()->findChild<QComboBox*>();
  QCOMPARE(padding->currentIndex(), -1);
  QCOMPARE(padding->placeholderText(), QString("mixed"));
  auto* const bias = form.row("bias")->editor()->findChild<Switch*>();
  QVERIFY(bias->isMixed());
  // On this they agree; its editor keeps a second line for expressions.
  const QList<QLineEdit*> kernel = form.row("kernel")->editor()->findChildren<QLineEdit*>();
  QVERIFY(std::any_of(kernel.begin(), kernel.end(), [](QLineEdit* each) { return each->text() == "3, 3"; }));
  const std::string before = document().text();

  const auto both = [&](const char* key, const Json& value) {
    for (const char* id : {"a", "b"}) {
      const auto found = drawn().find(id)->values.find(key);
      if (value.is_null() ? found != drawn().find(id)->values.end()
                          : found == drawn().find(id)->values.end() || *found != value)
        return false;
    }
    return true;
  };
  const auto once = [&](const char* what) {
    settle();
    QVERIFY2(document().undoStack().index() == 1, what);
    document().undoStack().undo();
    settle();
    QVERIFY2(document().text() == before, what);
  };
  QVERIFY(m_page->inspector().focusField("channels"));
  type("=Input[0]");
  QVERIFY(both("channels", "=Input[0]"));
  key(Qt::Key_Return);
  once("an expression");
  QCOMPARE(channels->text(), QString());
  QCOMPARE(channels->placeholderText(), QString("mixed"));
  // Typed and taken back: each keeps its own.
  QVERIFY(m_page->inspector().focusField("channels"));
  type("x");
  key(Qt::Key_Backspace);
  settle();
  QCOMPARE(document().text(), before);

  const int usual = padding->findData("same");
  QVERIFY(usual >= 0);
  padding->setFocus();
  key(Qt::Key_Home);  // the first choice
  settle();
  QVERIFY(padding->currentIndex() >= 0 && !form.row("padding")->isHidden());
  const Json chosen = padding->currentData().toString().toStdString();
  const Field* const field = form.entry()->field("padding");
  QVERIFY(both("padding", chosen == field->defaultValue ? Json() : chosen));
  once("a choice");
  QCOMPARE(padding->currentIndex(), -1);

  QTest::mouseClick(bias, Qt::LeftButton, {}, QPoint(8, bias->height() / 2));
  QVERIFY(!bias->isMixed() && bias->isChecked());
  QVERIFY(both("bias", Json()));  // on is the default
  once("a switch");
  QVERIFY(bias->isMixed());
  if (const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES"); !folder.isEmpty()) picture("mixed");
}

void NetworkPageTest::usesOfOneUnitAreEditedTogether() {
  QVERIFY(document().openText(drawings::kUnits, "units"));
  settle();
  m_page->scene().pick({{"stage1", "stage2", "stage3"}, {}});
  settle();
  QLineEdit* const channels = m_page->inspector().form().row("channels")->editor()->findChild<QLineEdit*>();
  QCOMPARE(channels->placeholderText(), QString("mixed"));
  QVERIFY(m_page->inspector().focusField("channels"));
  type("24");
  key(Qt::Key_Return);
  for (const char* id : {"stage1", "stage2", "stage3"}) QCOMPARE(drawn().find(id)->values["channels"], Json(24));
  QCOMPARE(document().undoStack().count(), 1);
}

// Both have a deviation, but that of a noise counts only beside its source, which a Linear has not.
void NetworkPageTest::nodesOfDifferentLayersAreChosenTogether() {
  QVERIFY(document().openText(R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [10], "at": [0, 0]}, {"id": "fc", "layer": "Linear", "at": [0, 120]}],
    "edges": [["x", "fc"]]}}})", "two"));
  settle();
  view().setFocus();
  key(Qt::Key_A, Qt::ControlModifier);
  settle();
  QCOMPARE(m_page->inspector().name().text(), QStringLiteral("2 nodes"));
  QVERIFY(!m_page->inspector().form().row("deviation"));
}

void NetworkPageTest::aLongRemedyStaysInsideTheInspector() {
  QVERIFY(document().openText(R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [10], "at": [0, 0]}, {"id": "fc", "layer": "Linear", "at": [0, 120]}],
    "edges": [["x", "fc"]]}}})", "two"));
  m_page->scene().pick({});
  settle();
  Button* remedy = nullptr;
  for (Button* each : m_page->inspector().findChildren<Button*>())
    if (each->isVisible() && each->text().contains("SoftmaxCrossEntropy")) remedy = each;
  QVERIFY(remedy);
  const int right = remedy->mapTo(&m_page->inspector(), QPoint(remedy->width(), 0)).x();
  QVERIFY2(right <= m_page->inspector().width() - 8, qPrintable(QString("%1 of %2").arg(right).arg(m_page->inspector().width())));
  QCOMPARE(remedy->toolTip(), remedy->text());
}

// A sentence of five lines loses none of them.
void NetworkPageTest::everyFaultStandsWholeInTheInspector() {
  QVERIFY(document().openText(R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "at": [0, 0]}], "edges": []}}})", "long"));
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
  QTRY_VERIFY2(sentence->height() >= sentence->heightForWidth(sentence->width()), qPrintable(QString("%1 of %2").arg(sentence->height()).arg(sentence->heightForWidth(sentence->width()))));
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
  QCOMPARE(m_page->findChild<CostTable*>()->accessibleName(), QStringLiteral("Parameters ?, Multiply-adds ?"));
  QVERIFY2(m_page->findChild<NetworkStrip*>()->figures().contains(QStringLiteral("?")), qPrintable(m_page->findChild<NetworkStrip*>()->figures()));
  document().undoStack().undo();
  document().undoStack().undo();
  settle();
  QVERIFY(document().analysis("main").sound());
  QVERIFY(!view().faultBubble().isVisible());
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
  const auto free = [&] { return m_page->inspector().form().height() - m_page->inspector().form().sizeHint().height(); };
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
  QVERIFY(view().faultBubble().mapTo(m_page.get(), QPoint(view().faultBubble().width() - shadowMargin(Elevation::menu), 0)).x() <= m_page->inspector().x());
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

void NetworkPageTest::startFromData() {
  KnownColumns columns{.dataset = "training", .shapes = {{"x", {3, 32, 32}}, {"y", {1}}}, .classes = {{"y", 10}}};
  document().setKnownColumns({columns});
  Q_EMIT view().startFromDataRequested();
  QCOMPARE(drawn().nodes.size(), std::size_t{5});
  QVERIFY2(document().analysis("main").sound(), document().problems().empty() ? "" : document().problems().front().message.c_str());
  QCOMPARE(document().undoStack().count(), 1);
}

// A CSV whose columns have names of their own, as most have: all of them are wired.
void NetworkPageTest::startFromATable() {
  KnownColumns columns{.dataset = "training", .shapes = {}, .classes = {{"y", 3}}};
  for (const char* name : {"age", "height", "weight", "x"}) columns.shapes.emplace(name, Shape{name[0] == 'x' ? 2 : 1});
  columns.shapes.emplace("y", Shape{1});
  document().setKnownColumns({columns});
  Q_EMIT view().startFromDataRequested();
  QCOMPARE(drawn().nodes.size(), std::size_t{4 + 1 + 4});
  QVERIFY(document().analysis("main").sound());
  QVERIFY(drawn().find("columns") != nullptr);
  QCOMPARE(std::count_if(drawn().edges.begin(), drawn().edges.end(), [](const Edge& edge) { return edge.to.node == "columns"; }), 4);
}

void NetworkPageTest::picture(const QString& name) {
  const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
  if (folder.isEmpty()) return;
  settle();
  m_page->grab().save(QDir(folder).filePath(name + ".png"));
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
#include "network_page_test.moc"

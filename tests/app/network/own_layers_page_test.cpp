// Layers of one's own in the real window: a unit is saved, stands in the palette of another project, is used there,
// changes, and comes up to date. Pictures are written where GRADLOOM_PICTURES names a folder.
#include <QContextMenuEvent>
#include <QDir>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QStandardPaths>
#include <QTimer>

#include "app/pages/network/inspector.h"
#include "app/pages/network/network_page.h"
#include "app/pages/network/save_layer_card.h"
#include "app/shell/search_panel.h"
#include "tests/app/opened_window.h"
#include "tests/widgets/document/unit_drawings.h"
#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/network_view.h"
#include "widgets/controls/button.h"
#include "widgets/controls/commands.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/search_field.h"
#include "widgets/form/form_row.h"
#include "widgets/form/property_form.h"
#include "widgets/library/own_layers.h"
#include "widgets/palette/layer_palette.h"

namespace loom {

namespace {

const char* const kSmall = R"({"loom": 1, "networks": {"main": {
  "nodes": [{"id": "x", "layer": "Input", "shape": [16, 8, 8], "at": [0, 0]}, {"id": "relu", "layer": "ReLU", "at": [0, 60]}],
  "edges": [["x", "relu"]]}}})";

}  // namespace

class OwnLayersPageTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  MainWindow& window() { return m_open->window(); }
  NetworkPage& page() { return *static_cast<NetworkPage*>(window().page("network")); }
  NetworkView& view() { return page().view(); }
  LayerList& list() { return page().palette().list(); }
  OwnLayers& library() { return *window().workspace().context().ownLayers; }
  ProjectDocument& document() { return m_open->document(); }
  void settle() {
    for (int i = 0; i < 6; ++i) QCoreApplication::processEvents();
  }
  void open(const char* name, const char* text) {
    window().openProject(m_open->write(name, text));
    window().showPage("network");
    settle();
  }
  QStringList rows() {
    QStringList texts;
    for (int row = 0; row < list().count(); ++row) texts << list().item(row)->text();
    return texts;
  }
  QListWidgetItem* own(const QString& name) {
    bool below = false;
    for (int row = 0; row < list().count(); ++row) {
      if (list().item(row)->text() == "My layers")
        below = true;
      else if (below && list().item(row)->text() == name)
        return list().item(row);
    }
    return nullptr;
  }
  SaveLayerCard* saveCard() { return window().findChild<SaveLayerCard*>("save-layer"); }
  QLineEdit* line(const QString& name) {
    for (QLineEdit* each : saveCard()->findChildren<QLineEdit*>())
      if (each->accessibleName() == name) return each;
    return nullptr;
  }
  void fill(QLineEdit* field, const QString& text) {
    QVERIFY(field);
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, text);
    if (text.isEmpty()) QTest::keyClick(field, Qt::Key_Delete);
  }
  // From the context menu of a use, as a person: pick, right button, the line, the card, Save.
  void saveResidual() {
    open("deep.loom", drawings::kUnits);
    view().reveal("stage2");
    chooseInMenu(view().viewport(), view().mapFromScene(view().networkScene().card("stage2")->pos()),
                 "network.save-unit");
    QVERIFY(saveCard() && saveCard()->isVisible());
    saveCard()
        ->findChild<QPlainTextEdit*>("save-layer-help")
        ->setPlainText("Two convolutions beside a way around them. As He et al. (2015) draw it.");
    fill(line("Lowest channels"), "1");
    fill(line("Highest channels"), "512");
    fill(line("Help of channels"), "Channels of both convolutions.");
    picture("save-layer");
    m_open->click("save-layer-save");
    settle();
  }
  void chooseInMenu(QWidget* on, QPoint at, const char* command) {
    bool chosen = false;
    QTimer::singleShot(0, this, [&] {
      auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (!menu) return;
      for (QAction* each : menu->actions())
        if (each->property(kCommandProperty) == QLatin1String(command) && each->isEnabled()) {
          chosen = true;
          menu->setActiveAction(each);
          return QTest::keyClick(menu, Qt::Key_Return);
        }
      menu->close();
    });
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, on->mapToGlobal(at));
    QApplication::sendEvent(on, &event);
    QVERIFY2(chosen, command);
    settle();
  }
  // What Ctrl+K shows for these words.
  QList<SearchHit> hitsFor(const char* words) {
    window().focusSearch();
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Delete);
    QTest::keyClicks(QApplication::focusWidget(), QString::fromLatin1(words));
    QCoreApplication::processEvents();
    const QList<SearchHit> hits = window().findChild<SearchPanel*>()->hits();
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    return hits;
  }
  void picture(const QString& name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (folder.isEmpty()) return;
    QDir().mkpath(folder);
    for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
      window().workspace().context().theme->setMode(mode);
      settle();
      QPixmap seen = window().grab();
      if (QWidget* const card = QApplication::activePopupWidget()) {
        QPainter painter(&seen);
        painter.drawPixmap(window().mapFromGlobal(card->mapToGlobal(QPoint())), card->grab());
      }
      seen.save(QDir(folder).filePath(name + (mode == ThemeMode::dark ? "-dark.png" : ".png")));
    }
    window().workspace().context().theme->setMode(ThemeMode::light);
    settle();
  }

 private Q_SLOTS:
  void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
  void init() { m_open = std::make_unique<OpenedWindow>(); }
  void cleanup() {
    if (window().workspace().document()) document().discardRecovery();
    m_open.reset();
  }

  void aUnitBecomesALayerOfEveryProject() {
    saveResidual();
    const OwnLayer* const layer = library().find("Residual");
    QVERIFY(layer);
    QCOMPARE(layer->unit()->argument("channels")->range, Json::array({1, 512}));
    // The project's unit says the same, as one step.
    QCOMPARE(document().project().unit("Residual")->words.origin, std::string("Residual"));
    QCOMPARE(document().undoStack().index(), 1);
    QVERIFY(window().notice().sentence().contains("Residual stands among your layers"));
    list().scrollToBottom();
    picture("palette-own");

    // Another project has never heard of it.
    open("small.loom", kSmall);
    QVERIFY(document().project().units.empty());
    QListWidgetItem* const item = own("Residual");
    QVERIFY2(item, qPrintable(rows().join(", ")));
    QVERIFY(item->toolTip().startsWith("Two convolutions"));
    const std::string before = document().text();
    view().networkScene().pickNode("relu");
    list().setCurrentItem(item);
    list().setFocus();
    QTest::keyClick(&list(), Qt::Key_Return);
    settle();
    QCOMPARE(document().project().units.size(), std::size_t(1));
    const Network& drawn = document().project().networks.front();
    QCOMPARE(drawn.nodes.size(), std::size_t(3));
    const std::string use = drawn.nodes.back().id;
    QCOMPARE(drawn.nodes.back().unit, std::string("Residual"));
    QVERIFY(std::any_of(drawn.edges.begin(), drawn.edges.end(),
                        [&](const Edge& edge) { return edge.from.node == "relu" && edge.to.node == use; }));
    // Its field has the range and the help that were given.
    view().reveal(use);
    settle();
    FormRow* const row = page().inspector().form().row("channels");
    QVERIFY(row && row->field().hard && row->field().hard->high == 512);
    QCOMPARE(row->field().help, std::string("Channels of both convolutions."));
    document().setField("main", use, "channels", 600);
    const auto faults = document().problems();
    QVERIFY(std::any_of(faults.begin(), faults.end(), [](const Problem& each) {
      return each.message.find("600") != std::string::npos && each.message.find("512") != std::string::npos;
    }));
    document().undoStack().undo();
    // One step back is all of it; the file needs no library.
    const std::string used = document().text();
    document().undoStack().undo();
    QCOMPARE(document().text(), before);
    document().undoStack().redo();
    QCOMPARE(document().text(), used);
    QVERIFY(used.find("\"Residual\"") != std::string::npos && used.find("conv_b") != std::string::npos);
  }

  void itIsFoundByShiftAAndBySearchAndDropped() {
    saveResidual();
    open("small.loom", kSmall);
    const auto nodes = [&] { return document().project().networks.front().nodes.size(); };
    view().networkScene().pickNode("relu");
    view().setFocus();
    QTest::keyClick(&view(), Qt::Key_A, Qt::ShiftModifier);
    QVERIFY(view().addMenu().isOpen());
    QTest::keyClicks(QApplication::focusWidget(), "Residual");
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    settle();
    QCOMPARE(nodes(), std::size_t(3));
    document().undoStack().undo();

    bool found = false;
    for (const SearchHit& hit : hitsFor("Residual"))
      if (hit.text == "Add Residual") found = true, hit.act();
    settle();
    QVERIFY(found);
    QCOMPARE(nodes(), std::size_t(3));
    document().undoStack().undo();

    // Dropped on a wire it goes into it, as a layer does.
    QMimeData data;
    data.setData(QLatin1String(kLayerMime), "own:Residual");
    const QPointF at = view().mapFromScene(QPointF(0, 30));
    QDragEnterEvent enter(at.toPoint(), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(view().viewport(), &enter);
    QDragMoveEvent move(at.toPoint(), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(view().viewport(), &move);
    QDropEvent drop(at, Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(view().viewport(), &drop);
    settle();
    QCOMPARE(nodes(), std::size_t(3));
    const Network& drawn = document().project().networks.front();
    const std::string use = drawn.nodes.back().id;
    QCOMPARE(std::count_if(drawn.edges.begin(), drawn.edges.end(),
                           [&](const Edge& edge) { return edge.from.node == use || edge.to.node == use; }),
             2);
  }

  void aNameThatMeansSomethingElseIsTold() {
    saveResidual();
    open(
        "other.loom",
        R"({"loom": 1, "networks": {"main": {"nodes": [{"id": "x", "layer": "Input", "shape": [16, 8, 8], "at": [0, 0]}, {"id": "mine", "unit": "Residual", "at": [0, 60]}],
      "edges": [["x", "mine"]]}}, "units": {"Residual": {"nodes": [{"id": "input", "layer": "Input"}, {"id": "relu", "layer": "ReLU"}, {"id": "output", "layer": "Output"}],
      "edges": [["input", "relu"], ["relu", "output"]]}}})");
    const std::string before = document().text();
    view().networkScene().pickNode("mine");
    list().setCurrentItem(own("Residual"));
    Q_EMIT list().itemDoubleClicked(own("Residual"));
    settle();
    QCOMPARE(document().project().units.size(), std::size_t(2));
    QVERIFY(document().project().unit("Residual2"));
    QCOMPARE(document().project().networks.front().find("mine")->unit, std::string("Residual"));
    QVERIFY(window().notice().sentence().contains("another Residual: yours came as Residual2"));
    // Resolved as the person wants it: the library's for both, one step.
    window().notice().actionButton()->click();
    settle();
    QCOMPARE(document().project().units.size(), std::size_t(1));
    for (const Node& node : document().project().networks.front().nodes)
      if (!node.unit.empty()) QCOMPARE(node.unit, std::string("Residual"));
    QCOMPARE(definitionText(document().project(), "Residual"),
             definitionText(library().find("Residual")->definition, "Residual"));
    document().undoStack().undo();
    document().undoStack().undo();
    QCOMPARE(document().text(), before);
  }

  void aNewerDefinitionIsOfferedAndTaken() {
    saveResidual();
    open("small.loom", kSmall);
    view().networkScene().pickNode("relu");
    const std::string use = view().addLayer("own:Residual");
    settle();
    QVERIFY(!use.empty());
    QVERIFY(m_open->window().commands().run("network.update-unit").contains("not possible"));
    // Another window saves another one: this one sees the file.
    Project changed = library().find("Residual")->definition;
    changed.unit("Residual")->find("relu_a")->layer = "GELU";
    OwnLayers elsewhere(library().folder());
    QCOMPARE(elsewhere.save(changed, "Residual"), QString());
    QTRY_VERIFY(window().notice().sentence().contains("newer Residual"));
    QCOMPARE(document().project().unit("Residual")->find("relu_a")->layer, std::string("ReLU"));
    const std::string before = document().text();
    view().reveal(use);
    chooseInMenu(view().viewport(), view().mapFromScene(view().networkScene().card(use)->pos()), "network.update-unit");
    QCOMPARE(document().project().unit("Residual")->find("relu_a")->layer, std::string("GELU"));
    QVERIFY(m_open->window().commands().run("network.update-unit").contains("not possible"));
    document().undoStack().undo();
    QCOMPARE(document().text(), before);
  }

  void whatCannotBeSavedIsToldInTheCard() {
    open("deep.loom", drawings::kUnits);
    const std::string before = document().text();
    view().networkScene().pickNode("stage2");
    QCOMPARE(m_open->window().commands().run("network.save-unit"), QString());
    QVERIFY(saveCard());
    const auto refused = [&](const char* words) {
      m_open->click("save-layer-save");
      const QString fault = saveCard()->findChild<QLabel*>("save-layer-fault")->text();
      QVERIFY2(fault.contains(words), qPrintable(fault));
    };
    fill(line("Name"), "Linear");
    refused("is a layer");
    fill(line("Name"), "two words");
    refused("is no name");
    fill(line("Name"), "Residual");
    fill(line("Lowest channels"), "32");
    refused("lies outside");
    fill(line("Highest channels"), "4");
    refused("ends before it begins");
    fill(line("Highest channels"), "many");
    refused("is no number");
    QTest::keyClick(saveCard(), Qt::Key_Escape);
    QCOMPARE(document().text(), before);
    QVERIFY(library().layers().empty());
  }

  void undoTakesAwayTheLayerToo() {
    saveResidual();
    const std::string after = document().text();
    window().undo();
    settle();
    QVERIFY(library().layers().empty());
    QVERIFY(document().text() != after && document().project().unit("Residual")->words.origin.empty());
  }

  void renamedRemovedAndBroughtBackInThePalette() {
    saveResidual();
    open("small.loom", kSmall);
    const auto menu = [&](const QString& row, const char* command) {
      list().scrollToItem(own(row));
      chooseInMenu(list().viewport(), list().visualItemRect(own(row)).center(), command);
    };
    menu("Residual", "network.rename-own");
    auto* const card = window().findChild<QWidget*>("rename-own");
    QVERIFY(card);
    auto* const name = card->findChild<QLineEdit*>();
    name->selectAll();
    QTest::keyClicks(name, "Shortcut");
    QTest::keyClick(name, Qt::Key_Return);
    settle();
    QVERIFY(library().find("Shortcut") && !library().find("Residual"));
    QVERIFY(own("Shortcut"));
    menu("Shortcut", "network.remove-own");
    QVERIFY(library().layers().empty() && !rows().contains("My layers"));
    window().notice().actionButton()->click();
    settle();
    QVERIFY(own("Shortcut"));
    // A file that is none is listed with its reason, and cannot be added.
    QFile broken(library().folder() + "/broken.loom");
    QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write("{") == 1);
    broken.close();
    QTRY_VERIFY(own("broken"));
    QVERIFY(own("broken")->toolTip().contains("cannot be used: it holds no JSON object"));
    list().scrollToBottom();
    picture("palette-broken");
    const std::string before = document().text();
    Q_EMIT list().itemDoubleClicked(own("broken"));
    QCOMPARE(document().text(), before);
    menu("broken", "network.remove-own");
    QVERIFY(!own("broken"));
  }
};

}  // namespace loom

QTEST_MAIN(loom::OwnLayersPageTest)
#include "own_layers_page_test.moc"

#pragma once
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

}  // namespace loom

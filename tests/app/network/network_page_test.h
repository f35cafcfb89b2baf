#pragma once
// A person at the Network page: LeNet drawn by mouse and keys alone, with real events.
#include <QClipboard>
#include <QComboBox>
#include <QDrag>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QTabBar>

#include "app/pages/network/inspector.h"
#include "app/pages/network/inspector_parts.h"
#include "app/pages/network/network_bar.h"
#include "app/pages/network/network_strip.h"
#include "tests/app/network/page_alone.h"
#include "tests/widgets/document/drawings.h"
#include "tests/widgets/document/unit_drawings.h"
#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/overlays.h"
#include "widgets/controls/button.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/switch.h"
#include "widgets/document/card_geometry.h"
#include "widgets/form/form_row.h"
#include "widgets/form/property_form.h"
#include "widgets/palette/layer_palette.h"
#include "widgets/theme/elevation.h"

namespace loom {

class NetworkPageTest : public QObject, private PageAlone {
  Q_OBJECT
 private Q_SLOTS:
  void init() { openPage(); }
  void cleanup() { closePage(); }

  void lenetByMouseAndKeys();
  void dragFromThePalette();
  void chosenInThePalette();
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
  void aTextThatIsNoValueIsAProblemWhoeverIsPicked();
  void renamingInTheInspector();
  void noRoomIsLeftInTheInspector();
  void narrowWindows();
  void placesAndSearch();
  void startFromData();
  void whatAFileLeavesOpenIsAsked();
  void pictures();

 private:
  QPoint outPin(const std::string& id) { return at(outputPin(*drawn().find(id), "output")); }
  QPoint inPin(const std::string& id, std::size_t index = 0) {
    const CardItem* item = m_page->scene().card(id);
    return at(item->pos() + item->inputs()[index].at);
  }
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
};

}  // namespace loom

#pragma once
// The outline: a model that Qt's own tester watches through every kind of edit, and a tree by keys.
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

#include "tests/widgets/document/drawings.h"
#include "tests/widgets/document/unit_drawings.h"
#include "tests/widgets/window_hand.h"
#include "widgets/controls/commands.h"
#include "widgets/controls/search_field.h"
#include "widgets/outline/outline_panel.h"
#include "widgets/theme/theme.h"

namespace loom {

class OutlineTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  }
  void init();
  void cleanup();

  void networksGroupsUnitsNodes();
  void nodesStandAsTheyAreComputed();
  void rowsThatStayStayThemselves();
  void faultsAsDots();
  void renamingThroughTheModel();
  void droppingMovesIntoAGroup();
  void aUnitInsideItselfEnds();
  void keysOfTheTree();
  void keysAreCommands();
  void theMenuOfARow();
  void searchLeavesMatchesAndWhatLeadsThere();
  void selectionBothWays();
  void aThousandGroupsFold();

 private:
  QModelIndex row(const QString& text, const QModelIndex& below = {}) const;
  QPoint placeOf(const QString& text) const;
  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<ProjectDocument> m_document;
  std::unique_ptr<OutlinePanel> m_panel;
  std::unique_ptr<QAbstractItemModelTester> m_tester, m_shownTester;
};

}  // namespace loom

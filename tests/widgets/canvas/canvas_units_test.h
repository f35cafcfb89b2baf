#pragma once
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
  void whatStandsBesideAnOpenUnitIsWhole();
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
  void everyCommandIsReachedByItsKeys();
  void whatSingleKeysDo();
  void alignAndDistributeByKeys();
  void theViewByKeys();
  void theMapByMouseAndKeys();
  void theViewIsMovedByHandAndWheel();
  void theMenuOfTheRightButton();
  void aNodeOfAGroupIsDraggedAndTakenOut();

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

}  // namespace loom

#pragma once
// Units, groups, repeats and the outline on the whole Network page, by mouse and keys.
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QTabBar>

#include "app/pages/network/inspector.h"
#include "app/pages/network/network_bar.h"
#include "app/pages/network/network_side.h"
#include "engine/network/flatten.h"
#include "tests/app/network/page_alone.h"
#include "tests/widgets/document/drawings.h"
#include "tests/widgets/document/unit_drawings.h"
#include "widgets/canvas/argument_chips.h"
#include "widgets/canvas/inline_name.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/controls/commands.h"
#include "widgets/controls/number_field.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/form/expression_editor.h"
#include "widgets/form/form_row.h"
#include "widgets/form/property_form.h"
#include "widgets/outline/outline_panel.h"
#include "widgets/palette/layer_palette.h"

namespace loom {

class UnitsPageTest : public QObject, private PageAlone {
  Q_OBJECT
 private Q_SLOTS:
  void init() { openPage(); }
  void cleanup() { closePage(); }

  void aUnitHasATabWithItsArguments();
  void argumentsAreAddedRenamedAndRemovedByTheirChips();
  void aUseShowsItsArgumentsAsFields();
  void anExpressionIsTypedAndComputed();
  void aFieldFollowsAnArgumentFromItsMenu();
  void whatIsSelectedInPlaceIsInTheInspector();
  void faultsInsideShowOnTheUse();
  void thePaletteListsUnits();
  void theOutlineFollowsAndLeads();
  void keysOfTheOutlineHoldForTheDrawing();
  void theMenuOfTheOutline();
  void groupsInTheInspector();
  void unitsOfTheSelectionByItsButton();
  void whatIsRemembered();
  void placesInsideFoldedGroups();
  void pictures();
};

}  // namespace loom

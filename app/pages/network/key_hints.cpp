// The canvas's keys that are no actions of the page: for the list of shortcuts.
#include "app/pages/network/network_page.h"

namespace loom {

QList<KeyHint> NetworkPage::keyHints() const {
  return {{tr("Arrows"), tr("Move the selection by 12")},
          {tr("Shift+Arrows"), tr("Move it by 60")},
          {tr("Ctrl+Arrows"), tr("Go to a neighbour")},
          {tr("Alt+Arrows"), tr("Align several nodes")},
          {tr("Alt+Shift+Arrows"), tr("Distribute three and more")},
          {tr("Return"), tr("Edit the first field, or open the unit's tab")},
          {tr("Space"), tr("Open a unit in place")},
          {tr("F2"), tr("Rename")},
          {tr("Insert"), tr("Add a layer after it")},
          {tr("W"), tr("Start a wire")},
          {tr("/"), tr("Find a layer")},
          {tr("Backspace"), tr("Delete and heal")},
          {tr("Del"), tr("Delete")},
          {tr("Ctrl+A"), tr("Select all")},
          {tr("Ctrl+C, X, V"), tr("Copy, cut, paste")},
          {tr("+, -, 0"), tr("Zoom in, out, 100 %")},
          {tr("Space+drag"), tr("Move the view")},
          {tr("C"), tr("Comment")},
          {tr("D"), tr("Dim what the selection does not reach")},
          {tr("M"), tr("Map")},
          {tr("T"), tr("Values on the selected wire")},
          {tr("Esc"), tr("Drop the selection")}};
}

}  // namespace loom

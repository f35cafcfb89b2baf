// What the canvas's keys do beside commands: for the list of shortcuts.
#include "app/pages/network/network_page.h"

namespace loom {

QList<KeyHint> NetworkPage::keyHints() const {
  return {{tr("Space+drag"), tr("Move the view")}, {tr("Esc"), tr("Drop the selection")}};
}

}  // namespace loom

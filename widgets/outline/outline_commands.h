#pragma once
// The outline's commands in the registry: what its keys, its context menu, Ctrl+K and the list of shortcuts are made
// of. They hold while the outline has the keyboard (scope "network/outline").
#include <QString>

class QKeyEvent;
class QMenu;

namespace loom {

class Commands;
class OutlinePanel;

// They act on this panel and go with it.
void addOutlineCommands(Commands& commands, OutlinePanel& panel);

// The command that these keys mean in the outline; empty: none. What is selected here is selected on the canvas too:
// keys that delete, copy and cut there do so here, where the rows are of the drawing on the canvas.
QString outlineCommandOf(const Commands& commands, const OutlinePanel& panel, const QKeyEvent& event);

// For the row in hand.
void fillOutlineMenu(QMenu& menu, Commands& commands, OutlinePanel& panel);

}  // namespace loom

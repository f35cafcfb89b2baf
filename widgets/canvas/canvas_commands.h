#pragma once
// The canvas's commands in the registry: what its keys, its context menu, the page's menus, Ctrl+K and the list of
// shortcuts are made of. Those of scope "network" hold on the whole page, those of "network/canvas" while a canvas has
// the keyboard.
#include <QList>
#include <functional>

class QAction;
class QObject;

namespace loom {

class Commands;
class NetworkView;

// They run on the canvas that they are pressed in, else on the one that `inHand` answers; they go with `owner`. Answers
// those that stand in the page's menu, in its order.
QList<QAction*> addCanvasCommands(Commands& commands, QObject* owner, std::function<NetworkView*()> inHand);

}  // namespace loom

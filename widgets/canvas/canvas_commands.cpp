#include "widgets/canvas/canvas_commands.h"

#include <algorithm>

#include "widgets/canvas/network_view.h"
#include "widgets/controls/commands.h"
#include "widgets/document/card_geometry.h"

namespace loom {

namespace {

using CanvasKeys = QList<QKeySequence>;
using CanvasTest = bool (*)(NetworkView&);

constexpr double kFarStep = 60;

CanvasKeys key(const char* text) {
  return {QKeySequence(QString::fromLatin1(text))};
}
CanvasKeys key(const char* one, const char* other) {
  return key(one) + key(other);
}

const Picked& pickedIn(NetworkView& view) {
  return view.networkScene().picked();
}
bool hasNodes(NetworkView& view) {
  return !pickedIn(view).nodes.empty();
}
bool hasAnything(NetworkView& view) {
  return !pickedIn(view).empty();
}
bool hasThings(NetworkView& view) {
  return hasNodes(view) || !pickedIn(view).comments.empty();
}
bool hasSeveral(NetworkView& view) {
  return pickedIn(view).nodes.size() > 1;
}
bool hasUnit(NetworkView& view) {
  return view.pickedUnit() != nullptr;
}
bool hasOther(NetworkView& view) {
  return hasNodes(view) && !hasUnit(view);
}
bool hasGroups(NetworkView& view) {
  return !pickedIn(view).groups.empty();
}
bool hasTint(NetworkView& view) {
  return pickedIn(view).groups.size() == 1 || pickedIn(view).comments.size() == 1;
}
bool hasNamed(NetworkView& view) {
  return hasNodes(view) || hasTint(view);
}

// In a group, a group itself, or a unit: something to take apart.
bool hasParts(NetworkView& view) {
  const NetworkScene& scene = view.networkScene();
  return hasGroups(view) || hasUnit(view) ||
         std::any_of(scene.picked().nodes.begin(), scene.picked().nodes.end(), [&](const std::string& id) {
           const Node* node = scene.network().find(id);
           return node != nullptr && !node->group.empty();
         });
}

// Beside a unit that is opened in place the map is that of the canvas around it.
NetworkView& outermost(NetworkView& view) {
  NetworkView* found = &view;
  for (QWidget* each = &view; each != nullptr; each = each->parentWidget())
    if (auto* const canvas = qobject_cast<NetworkView*>(each)) found = canvas;
  return *found;
}

struct CanvasAdder {
  Commands& commands;
  QObject* owner;
  std::function<NetworkView*()> inHand;
  QList<QAction*> menu;

  NetworkView* view() const {
    NetworkView* const pressed = commands.partInHand<NetworkView>();
    return pressed != nullptr ? pressed : inHand();
  }
  template <class Run>
  QAction* add(bool onPage, const char* id, const QString& text, const CanvasKeys& keys, const char* icon,
               CanvasTest possible, Run run, const QString& family = {}) {
    const auto possibleNow = [self = *this, possible] {
      NetworkView* const view = self.view();
      return view != nullptr && (possible == nullptr || possible(*view));
    };
    const auto act = [self = *this, run, onPage](const QJsonObject& arguments) {
      NetworkView* const view = self.view();
      if (view == nullptr) return;
      // Chosen elsewhere (Ctrl+K): what begins here goes on by keys here.
      if (!onPage && self.commands.template partInHand<NetworkView>() == nullptr)
        view->setFocus(Qt::ShortcutFocusReason);
      if constexpr (std::is_invocable_v<Run, NetworkView&, const QJsonObject&>)
        run(*view, arguments);
      else
        run(*view);
    };
    return commands.add({.id = QString::fromLatin1(id),
                         .group = NetworkView::tr("This page"),
                         .text = text,
                         .keys = keys,
                         .scope = onPage ? QStringLiteral("network") : QStringLiteral("network/canvas"),
                         .icon = QString::fromLatin1(icon),
                         .family = family,
                         .possible = possibleNow},
                        owner, Commands::Run(act));
  }
  template <class Run>
  void page(const char* id, const QString& text, const CanvasKeys& keys, const char* icon, CanvasTest possible,
            Run run) {
    menu << add(true, id, text, keys, icon, possible, run);
  }
  template <class Run>
  QAction* canvas(const char* id, const QString& text, const CanvasKeys& keys, const char* icon, CanvasTest possible,
                  Run run) {
    return add(false, id, text, keys, icon, possible, run);
  }
};

// One command for each of four arrows.
void addArrows(CanvasAdder& to) {
  struct Way {
    const char* key;
    Qt::Key code;
    QPointF by;
    Qt::Alignment edge;
    QString words, edges;
  };
  const Way ways[] = {
      {"Left",
       Qt::Key_Left,
       {-1, 0},
       Qt::AlignLeft,
       NetworkView::tr("left"),
       NetworkView::tr("Align left edges, or the view before")},
      {"Right", Qt::Key_Right, {1, 0}, Qt::AlignRight, NetworkView::tr("right"), NetworkView::tr("Align right edges")},
      {"Up", Qt::Key_Up, {0, -1}, Qt::AlignTop, NetworkView::tr("up"), NetworkView::tr("Align upper edges")},
      {"Down", Qt::Key_Down, {0, 1}, Qt::AlignBottom, NetworkView::tr("down"), NetworkView::tr("Align lower edges")}};
  const auto name = [](const char* what, const Way& way) {
    return (QByteArray(what) + '-' + QByteArray(way.key).toLower());
  };
  const auto keys = [](const char* held, const Way& way) { return key((QByteArray(held) + way.key).constData()); };
  for (const Way& way : ways)
    to.add(
        false, name("network.nudge", way), NetworkView::tr("Move the selection %1").arg(way.words), keys("", way), "",
        nullptr, [by = way.by](NetworkView& view) { view.moveSelection(by, kGrid); },
        NetworkView::tr("Move the selection by 12"));
  for (const Way& way : ways)
    to.add(
        false, name("network.shove", way), NetworkView::tr("Move the selection far %1").arg(way.words),
        keys("Shift+", way), "", nullptr, [by = way.by](NetworkView& view) { view.moveSelection(by, kFarStep); },
        NetworkView::tr("Move it by 60"));
  for (const Way& way : ways)
    to.add(
        false, name("network.go", way), NetworkView::tr("Go to a neighbour %1").arg(way.words), keys("Ctrl+", way), "",
        nullptr, [code = way.code](NetworkView& view) { view.walk(code); }, NetworkView::tr("Go to a neighbour"));
  for (const Way& way : ways)
    to.add(
        false, name("network.align", way), way.edges, keys("Alt+", way), "", nullptr,
        [edge = way.edge](NetworkView& view) {
          if (edge == Qt::AlignLeft && !hasSeveral(view))
            view.previousView();
          else
            view.alignSelection(edge);
        },
        NetworkView::tr("Align several nodes"));
  to.add(
      false, "network.distribute-across", NetworkView::tr("Distribute three and more across"),
      key("Alt+Shift+Left", "Alt+Shift+Right"), "", hasSeveral,
      [](NetworkView& view) { view.distributeSelection(Qt::Horizontal); },
      NetworkView::tr("Distribute three and more"));
  to.add(
      false, "network.distribute-down", NetworkView::tr("Distribute three and more down"),
      key("Alt+Shift+Up", "Alt+Shift+Down"), "", hasSeveral,
      [](NetworkView& view) { view.distributeSelection(Qt::Vertical); }, NetworkView::tr("Distribute three and more"));
}

}  // namespace

QList<QAction*> addCanvasCommands(Commands& commands, QObject* owner, std::function<NetworkView*()> inHand) {
  CanvasAdder to{commands, owner, std::move(inHand), {}};
  using View = NetworkView;
  to.page("network.add", View::tr("Add layer"), key("Shift+A"), "plus", nullptr,
          [](View& view) { view.openAddMenu(); });
  to.page("network.arrange", View::tr("Arrange"), key("Ctrl+L"), "arrange", nullptr,
          [](View& view) { view.arrange(); });
  to.page("network.duplicate", View::tr("Duplicate"), key("Ctrl+D"), "copy", hasNodes,
          [](View& view) { view.duplicate(); });
  to.page("network.show-all", View::tr("Show all"), key("Shift+1"), "fit", nullptr, [](View& view) { view.fit(); });
  to.page("network.show-selection", View::tr("Show selection"), key("Shift+2"), "fit", nullptr,
          [](View& view) { view.fitSelection(); });
  to.page("network.invert-selection", View::tr("Invert selection"), key("Ctrl+Shift+I"), "group", nullptr,
          [](View& view) { view.invertSelection(); });
  to.page("network.make-unit", View::tr("Make a unit"), key("Ctrl+G"), "unit", hasOther,
          [](View& view) { view.makeUnit(); });
  to.page("network.group", View::tr("Group"), key("Ctrl+Shift+G"), "group", hasNodes,
          [](View& view) { view.makeGroup(); });
  to.page("network.repeat", View::tr("Repeat…"), key("Ctrl+R"), "refresh", hasNodes,
          [](View& view) { view.makeRepeat(); });
  to.page("network.ungroup", View::tr("Ungroup or dissolve"), key("Ctrl+Alt+G"), "split", hasParts,
          [](View& view) { view.ungroup(); });
  to.page("network.fold", View::tr("Fold or open a group"), key("Ctrl+Shift+Space"), "chevron-right", hasGroups,
          [](View& view) { view.toggleFold(); });
  to.menu << to.canvas("network.comment", View::tr("Comment"), key("C"), "comment", nullptr,
                       [](View& view) { view.addComment(); });
  QAction* const dim = to.canvas("network.dim", View::tr("Dim what the selection does not reach"), key("D"), "filter",
                                 nullptr, [](View& view) {
                                   view.networkScene().setDimming(!view.networkScene().dimming());
                                   Q_EMIT view.networkScene().dimmingChanged();
                                 });
  dim->setCheckable(true);
  to.menu << dim;
  to.menu << to.canvas("network.map", View::tr("Map"), key("M"), "map", nullptr,
                       [](View& view) { outermost(view).setMapShown(!outermost(view).mapShown()); });

  to.canvas("network.edit", View::tr("Edit the first field, or open the unit's tab"), key("Return", "Enter"), "edit",
            hasNamed, [](View& view) { view.editPicked(); });
  to.canvas("network.rename", View::tr("Rename"), key("F2"), "rename", hasNamed,
            [](View& view) { view.renamePicked(); });
  to.canvas("network.in-place", View::tr("Open a unit in place"), key("Space"), "unit", hasUnit,
            [](View& view) { view.toggleInPlace(); });
  to.canvas("network.add-behind", View::tr("Add a layer after it"), key("Insert"), "plus", nullptr,
            [](View& view) { view.openAddMenu(); });
  to.canvas("network.wire", View::tr("Start a wire"), key("W"), "wire", hasNodes,
            [](View& view) { view.beginKeyWire(); });
  to.canvas("network.find-layer", View::tr("Find a layer"), key("/"), "search", nullptr,
            [](View& view) { Q_EMIT view.paletteRequested(); });
  to.canvas("network.delete-heal", View::tr("Delete and heal"), key("Backspace"), "link", hasNodes,
            [](View& view) { view.removeSelection(true); });
  to.canvas("network.delete", View::tr("Delete"), key("Del"), "delete", hasAnything,
            [](View& view) { view.removeSelection(false); });
  to.canvas("network.select-all", View::tr("Select all"), QKeySequence::keyBindings(QKeySequence::SelectAll), "",
            nullptr, [](View& view) { view.selectAll(); });
  to.canvas("network.copy", View::tr("Copy"), QKeySequence::keyBindings(QKeySequence::Copy), "copy", hasThings,
            [](View& view) { view.copy(); });
  to.canvas("network.cut", View::tr("Cut"), QKeySequence::keyBindings(QKeySequence::Cut), "", hasThings,
            [](View& view) { view.cut(); });
  to.canvas("network.paste", View::tr("Paste"), QKeySequence::keyBindings(QKeySequence::Paste), "paste", nullptr,
            [](View& view) { view.paste(); });
  to.canvas("network.zoom-in", View::tr("Zoom in"), key("+", "=") + key("Ctrl++", "Ctrl+="), "", nullptr,
            [](View& view) { view.zoomBy(1.25); });
  to.canvas("network.zoom-out", View::tr("Zoom out"), key("-", "Ctrl+-"), "", nullptr,
            [](View& view) { view.zoomBy(0.8); });
  to.canvas("network.zoom-100", View::tr("Zoom 100 %"), key("0"), "", nullptr, [](View& view) { view.setZoom(1); });
  to.canvas("network.colour", View::tr("Colour"), {}, "", hasTint, [](View& view, const QJsonObject& arguments) {
    view.tintPicked(arguments.value(QLatin1String("colour")).toString().toStdString());
  });
  addArrows(to);
  return to.menu;
}

}  // namespace loom

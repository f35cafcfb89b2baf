#include "widgets/outline/outline_commands.h"

#include <QKeyEvent>
#include <QMenu>

#include "widgets/controls/commands.h"
#include "widgets/outline/outline_panel.h"

namespace loom {

namespace {

constexpr char kScope[] = "network/outline", kCanvas[] = "network/canvas";
// Commands of the canvas that hold for rows as well.
constexpr const char* kForRows[] = {"network.copy", "network.cut", "network.delete", "network.delete-heal"};

}  // namespace

void addOutlineCommands(Commands& commands, OutlinePanel& panel) {
  using Keys = QList<QKeySequence>;
  using Panel = OutlinePanel;
  const auto add = [&](const char* id, const QString& text, const Keys& keys, const char* icon,
                       bool (OutlinePanel::*possible)() const, void (OutlinePanel::*run)()) {
    commands.add({.id = QString::fromLatin1(id),
                  .group = Panel::tr("Outline"),
                  .text = text,
                  .keys = keys,
                  .scope = QString::fromLatin1(kScope),
                  .icon = QString::fromLatin1(icon),
                  .family = {},
                  .possible = [&panel, possible] { return panel.isVisible() && (panel.*possible)(); }},
                 &panel, [&panel, run] { (panel.*run)(); });
  };
  add("network.outline-go", Panel::tr("Go to it on the canvas"), Keys{Qt::Key_Return, Qt::Key_Enter}, "eye",
      &Panel::hasRow, &Panel::goToRow);
  add("network.outline-open", Panel::tr("Open or close the row"), Keys{Qt::Key_Space}, "chevron-right",
      &Panel::hasRowWithin, &Panel::toggleRow);
  add("network.outline-rename", Panel::tr("Rename in the outline"), Keys{Qt::Key_F2}, "rename", &Panel::hasRow,
      &Panel::renameRow);
  add("network.outline-search", Panel::tr("Search nodes"), Keys{Qt::Key_Slash}, "search", &Panel::hasAnyRow,
      &Panel::focusSearch);
  add("network.outline-fold", Panel::tr("Fold or open all groups"), {}, "group", &Panel::hasGroups, &Panel::foldAll);
}

QString outlineCommandOf(const Commands& commands, const OutlinePanel& panel, const QKeyEvent& event) {
  if (const QAction* own = commands.findByKeys(QLatin1String(kScope), event)) return Commands::idOf(*own);
  if (!panel.isOfCanvas()) return {};
  const QAction* canvas = commands.findByKeys(QLatin1String(kCanvas), event);
  if (canvas == nullptr) return {};
  for (const char* id : kForRows)
    if (Commands::idOf(*canvas) == QLatin1String(id)) return Commands::idOf(*canvas);
  return {};
}

void fillOutlineMenu(QMenu& menu, Commands& commands, OutlinePanel& panel) {
  const auto add = [&](const char* id, const QString& text = {}) {
    commands.addTo(menu, QString::fromLatin1(id), nullptr, {.text = text, .picture = {}, .arguments = {}});
  };
  const bool anyGroups = panel.hasGroups();
  if (panel.hasRow()) {
    add("network.outline-go", OutlinePanel::tr("Go to it"));
    if (panel.hasRowWithin())
      add("network.outline-open", panel.isRowOpen() ? OutlinePanel::tr("Close") : OutlinePanel::tr("Open"));
    add("network.outline-rename", OutlinePanel::tr("Rename"));
  }
  if (panel.isOfCanvas()) {
    menu.addSeparator();
    for (const char* id : {"network.copy", "network.duplicate"}) add(id);
    menu.addSeparator();
    for (const char* id : {"network.make-unit", "network.group", "network.repeat", "network.ungroup"}) add(id);
    if (anyGroups) add("network.fold");
    menu.addSeparator();
    for (const char* id : {"network.delete-heal", "network.delete"}) add(id);
  }
  menu.addSeparator();
  if (anyGroups)
    add("network.outline-fold", panel.foldsAll() ? OutlinePanel::tr("Fold all") : OutlinePanel::tr("Open all"));
  add("network.outline-search");
}

}  // namespace loom

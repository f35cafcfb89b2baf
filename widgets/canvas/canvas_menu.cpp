// NetworkView: the context menu, made of commands.
#include <QContextMenuEvent>
#include <QMenu>
#include <QScopedValueRollback>
#include <algorithm>

#include "widgets/canvas/comment_editor.h"
#include "widgets/canvas/group_item.h"
#include "widgets/canvas/network_view.h"
#include "widgets/controls/commands.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/texts.h"
#include "widgets/theme/icon.h"

namespace loom {

const Node* NetworkView::pickedUnit() const {
  const Picked& picked = m_scene.picked();
  const Node* only =
      picked.nodes.size() == 1 && picked.groups.empty() ? m_scene.network().find(*picked.nodes.begin()) : nullptr;
  return only != nullptr && !only->unit.empty() ? only : nullptr;
}

void NetworkView::tintPicked(const std::string& colour) {
  const Picked& picked = m_scene.picked();
  if (colour.empty()) return;
  if (picked.groups.size() == 1) {
    Group changed = *m_scene.network().group(*picked.groups.begin());
    changed.colour = colour;
    m_scene.document().setGroup(m_scene.networkName(), changed);
  } else if (picked.comments.size() == 1) {
    Comment changed = *m_scene.network().comment(*picked.comments.begin());
    changed.colour = colour;
    m_scene.document().setComment(m_scene.networkName(), changed);
  }
}

void NetworkView::fillMenu(QMenu& menu) {
  const auto add = [&](const char* id, const QString& text = {}) {
    commands().addTo(menu, QString::fromLatin1(id), this, {.text = text, .picture = {}, .arguments = {}});
  };
  add("network.add", tr("Add layer..."));
  menu.addSeparator();
  for (const char* id : {"network.rename", "network.wire", "network.copy", "network.duplicate", "network.paste"})
    add(id);
  menu.addSeparator();
  fillGroupMenu(menu);
  menu.addSeparator();
  add("network.arrange");
  menu.addSeparator();
  add("network.delete-heal");
  add("network.delete");
}

void NetworkView::fillGroupMenu(QMenu& menu) {
  Commands& all = commands();
  const auto add = [&](const char* id, const QString& text = {}, const QIcon& picture = {}) {
    all.addTo(menu, QString::fromLatin1(id), this, {.text = text, .picture = picture, .arguments = {}});
  };
  const Picked& picked = m_scene.picked();
  const bool isUnit = pickedUnit() != nullptr;
  if (isUnit) {
    add("network.in-place", tr("Open in place"));
    add("network.edit", tr("Open its tab"), icon(QStringLiteral("export")));
    add("network.ungroup", tr("Dissolve into its place"));
    for (const char* id : {"network.save-unit", "network.update-unit"})
      if (all.find(QString::fromLatin1(id)) != nullptr && (id[8] == 's' || all.isPossible(QString::fromLatin1(id))))
        add(id);
  }
  for (const char* id : {"network.make-unit", "network.group", "network.repeat"}) add(id);
  const bool grouped = std::any_of(picked.nodes.begin(), picked.nodes.end(),
                                   [&](const std::string& id) { return !m_scene.network().find(id)->group.empty(); });
  if (!isUnit && (grouped || !picked.groups.empty()))
    add("network.ungroup", picked.groups.empty() ? tr("Take out of its group") : tr("Ungroup"));
  if (picked.groups.size() == 1 || (picked.comments.size() == 1 && picked.nodes.empty())) {
    if (picked.groups.size() == 1)
      add("network.fold", m_scene.network().group(*picked.groups.begin())->folded ? tr("Open") : tr("Fold"));
    QMenu* const colours = menu.addMenu(tr("Colour"));
    for (const std::string& tint : groupTints()) {
      QPixmap swatch(16, 16);
      swatch.fill(tintColour(q(tint)));
      all.addTo(*colours, QStringLiteral("network.colour"), this,
                {.text = q(tint).replace(0, 1, q(tint).left(1).toUpper()),
                 .picture = QIcon(swatch),
                 .arguments = {{"colour", q(tint)}}});
    }
  }
  add("network.comment");
}

void NetworkView::contextMenuEvent(QContextMenuEvent* event) {
  const QPoint at = event->reason() == QContextMenuEvent::Mouse ? event->pos() : viewport()->rect().center();
  const QPointF scene = mapToScene(at);
  const std::string node = m_scene.nodeAt(scene);
  if (!node.empty() && !m_scene.picked().nodes.contains(node)) m_scene.pickNode(node);
  bool other = !node.empty();  // what lies over the wires
  if (node.empty()) {
    const std::string card = m_scene.cardAt(scene), head = card.empty() ? m_scene.groups().headAt(scene) : card;
    const std::string comment = head.empty() ? m_scene.groups().commentAt(scene) : std::string();
    other = !head.empty() || !comment.empty();
    if (!head.empty() && !m_scene.picked().groups.contains(head))
      m_scene.pickGroup(head);
    else if (!comment.empty() && !m_scene.picked().comments.contains(comment))
      m_scene.pick({{}, {}, {}, {comment}});
  }
  const auto wire = other ? std::nullopt : m_scene.wireAt(scene, kWireReach / zoom());
  if (wire && !m_scene.picked().wires.contains(*wire)) m_scene.pick({{}, {*wire}});
  const QScopedValueRollback<std::optional<QPoint>> there(m_menuAt, at);
  QMenu menu(this);
  fillMenu(menu);
  menu.exec(event->globalPos());
}

}  // namespace loom

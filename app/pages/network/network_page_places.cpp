// NetworkPage: what leads to a place of a drawing: the outline, Ctrl+K, problems, tabs.
#include "app/pages/network/inspector.h"
#include "app/pages/network/network_page.h"
#include "app/pages/network/network_side.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/project_document.h"
#include "widgets/form/property_form.h"
#include "widgets/library/own_layer_edits.h"
#include "widgets/library/own_layers.h"
#include "widgets/outline/outline_panel.h"
#include "widgets/palette/layer_palette.h"
#include "widgets/theme/icon.h"

namespace loom {

void NetworkPage::showOutline(bool shown) {
  m_side->showOutline(shown);
  if (!m_side->isVisible()) toggleLeftPanel();
  if (shown)
    m_side->outline().focusTree();
  else
    m_palette->focusSearch();
}

void NetworkPage::tellUnread() {
  std::vector<PageProblem> problems;
  PropertyForm& form = m_inspector->form();
  const auto all = form.unreadOfAll();
  for (auto each = all.begin(); each != all.end(); ++each) {
    const QString identity = each.key();  // "main/conv1"
    const QString drawing = identity.section('/', 0, -2), node = identity.section('/', -1);
    const Network* const network = m_document.project().drawing(drawing.toStdString());
    if (!network || !network->find(node.toStdString())) continue;
    for (const PropertyForm::Unread& unread : each.value()) {
      PageProblem problem;
      problem.place = {.page = QStringLiteral("network"),
                       .network = drawing,
                       .node = node,
                       .field = QString::fromStdString(unread.key)};
      problem.placeText = drawing == QLatin1String("main") ? node : drawing + QStringLiteral(" / ") + node;
      problem.message = tr("%1: %2").arg(unread.label, unread.problem);
      problem.remedyText = tr("Back to %1").arg(unread.kept);
      problem.remedy = [&form, identity, key = unread.key] { form.takeBack(identity, key); };
      problems.push_back(std::move(problem));
    }
  }
  if (problems.empty() && !std::exchange(m_toldUnread, false)) return;
  m_toldUnread = !problems.empty();
  Q_EMIT problemsChanged(problems);
}

// The outline follows the canvas, and the canvas the outline.
void NetworkPage::followOutline() {
  OutlinePanel& outline = m_side->outline();
  const auto tell = [this] {
    const Picked& picked = m_scene->picked();
    std::vector<std::string> ids;
    for (const std::string& group : picked.groups) ids.push_back(group);
    std::set<std::string> covered;  // what a picked group holds is picked by its row
    for (const std::string& group : picked.groups) covered.merge(membersOf(m_scene->network(), group));
    for (const std::string& node : m_scene->pickedNodes())
      if (!covered.contains(node)) ids.push_back(node);
    m_side->outline().showSelection(m_scene->networkName(), ids);
  };
  connect(m_scene, &NetworkScene::picksChanged, this, tell);
  connect(m_scene, &NetworkScene::networkSwitched, this, tell);
  connect(m_scene, &NetworkScene::refreshed, this, [this, tell] {
    if (m_side->showsOutline()) tell();
  });
  connect(&outline, &OutlinePanel::picked, this, [this](const QString& drawing, const std::vector<std::string>& ids) {
    const std::string name = drawing.toStdString();
    // A row below a use stands for a node of the unit: only going there shows it.
    if (name != m_scene->networkName()) return;
    Picked picked;
    for (const std::string& id : ids)
      (m_scene->network().group(id) != nullptr ? picked.groups : picked.nodes).insert(id);
    m_scene->pick(std::move(picked));
  });
  connect(&outline, &OutlinePanel::goTo, this, [this](const QString& drawing, const QString& id) {
    const std::string name = drawing.toStdString(), thing = id.toStdString();
    if (name != m_scene->networkName()) openTab(name);
    if (m_scene->network().group(thing) != nullptr) {
      m_scene->pickGroup(thing);
      m_view->fitSelection();
    } else if (!thing.empty()) {
      show(Place{.page = QStringLiteral("network"), .network = drawing, .node = id});
    }
    m_view->setFocus(Qt::ShortcutFocusReason);
  });
  connect(&outline, &OutlinePanel::leaving, this, [this] {
    closeDrawers();
    m_view->setFocus(Qt::ShortcutFocusReason);
  });
  connect(&outline, &OutlinePanel::refused, this,
          [this](const QString& why) { m_view->hint().say(why, QPoint(12, 12)); });
  tell();
}

void NetworkPage::openTab(const std::string& drawing) {
  if (m_document.drawing(drawing) == nullptr || drawing == m_scene->networkName()) return;
  m_scene->setNetwork(drawing);
  m_view->fit();
  m_view->setFocus(Qt::OtherFocusReason);
}

bool NetworkPage::show(const Place& place) {
  m_scene->catchUp();
  const std::string network = place.network.toStdString();
  if (!network.empty() && m_document.network(network) == nullptr) return false;
  if (!network.empty() && network != m_scene->networkName()) m_scene->setNetwork(network);
  if (place.node.isEmpty()) {
    if (!place.dataset.isEmpty() && m_scene->network().nodes.empty()) startFromData();
    return true;
  }
  const std::string node = place.node.toStdString();
  if (m_scene->network().find(node) == nullptr) return false;
  // What a folded group hides comes to light first.
  for (std::string hidden = hiddenIn(m_scene->network(), *m_scene->network().find(node)); !hidden.empty();
       hidden = hiddenIn(m_scene->network(), *m_scene->network().find(node)))
    m_document.setFolded(m_scene->networkName(), hidden, false);
  m_view->reveal(node);
  if (!place.field.isEmpty()) {
    if (m_narrow && !m_inspectorDrawn) toggleInspector();
    m_inspector->focusField(place.field.toStdString());
  } else {
    m_view->setFocus(Qt::OtherFocusReason);
  }
  return true;
}

QList<SearchHit> NetworkPage::search(const QString& query) {
  QList<SearchHit> hits;
  std::vector<const Network*> drawings;
  for (const Network& network : m_document.project().networks) drawings.push_back(&network);
  for (const Network& unit : m_document.project().units) drawings.push_back(&unit);
  for (const Network* drawn : drawings)
    for (const Network& network = *drawn; const Node& node : network.nodes) {
      const LayerDefinition* layer = findLayer(node.layer);
      const QString id = QString::fromStdString(node.id), name = QString::fromStdString(network.name);
      const QString type = layer != nullptr ? QString::fromStdString(layer->entry.label)
                                            : QString::fromStdString(node.unit.empty() ? node.layer : node.unit);
      if (!id.contains(query, Qt::CaseInsensitive) && !type.contains(query, Qt::CaseInsensitive)) continue;
      const QString sign = layer != nullptr    ? layerIcon(QString::fromStdString(layer->entry.icon),
                                                           QString::fromStdString(layer->entry.category))
                           : node.unit.empty() ? QStringLiteral("help")
                                               : QStringLiteral("unit");
      hits.append({tr("Nodes"), id, tr("%1 in %2").arg(type, name), icon(sign),
                   [this, id, name] { show(Place{.page = QStringLiteral("network"), .network = name, .node = id}); }});
    }
  std::vector<const Entry*> entries;
  for (const LayerDefinition* layer : layerTable()) entries.push_back(&layer->entry);
  for (const Entry& unit : m_units) entries.push_back(&unit);
  if (const OwnLayers* const own = context().ownLayers)
    for (const OwnLayer& each : own->layers())
      if (each.fault.isEmpty() && !isPresent(m_document.project(), each)) entries.push_back(&each.entry);
  for (const Entry* entry : loom::search(entries, query.toStdString())) {
    const std::string id = entry->id;
    hits.append(
        {tr("Layers"), tr("Add %1").arg(QString::fromStdString(entry->label)), QString::fromStdString(entry->summary),
         icon(layerIcon(QString::fromStdString(entry->icon), QString::fromStdString(entry->category))), [this, id] {
           m_view->addLayer(id);
           m_view->setFocus(Qt::OtherFocusReason);
         }});
  }
  return hits;
}

}  // namespace loom

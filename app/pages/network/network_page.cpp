#include "app/pages/network/network_page.h"

#include <algorithm>

#include <QAction>
#include <QJsonObject>
#include <QKeyEvent>
#include <QMenu>
#include <QTimer>

#include "app/pages/network/inspector.h"
#include "app/pages/network/network_bar.h"
#include "app/pages/network/network_strip.h"
#include "app/pages/network/start_from_data.h"
#include "app/preferences.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/controls/text.h"
#include "widgets/palette/layer_palette.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {
constexpr int kNarrow = 1000;  // below, palette and inspector lie over the canvas
constexpr int kWide = 2000;    // from here on the panels take a little of the room
}  // namespace

NetworkPage::NetworkPage(AppContext& context, QWidget* parent) : Page(context, parent), m_document(*context.document) {
  m_scene = new NetworkScene(m_document, this);
  m_bar = new NetworkBar(*m_scene, this);
  m_palette = new LayerPalette(this);
  m_view = new NetworkView(*m_scene, this);
  m_strip = new NetworkStrip(*m_view, this);
  const auto wheel = [this, &context] { m_view->setWheelZooms(context.preferences->wheelZooms()); };
  connect(context.preferences, &Preferences::changed, this, wheel);
  wheel();
  m_inspector = new Inspector(*m_scene, this);
  setTabOrder(m_bar, m_palette);
  setTabOrder(m_palette, m_view);
  setTabOrder(m_view, m_inspector);
  makeActions();

  connect(m_palette, &LayerPalette::layerChosen, this, [this](const QString& layer) {
    m_view->addLayer(layer.toStdString());
    if (m_narrow) closeDrawers();
  });
  connect(m_palette, &LayerPalette::leaving, this, [this] {
    closeDrawers();
    m_view->setFocus(Qt::ShortcutFocusReason);
  });
  connect(m_view, &NetworkView::paletteRequested, this, &NetworkPage::openPalette);
  connect(m_view, &NetworkView::editRequested, this, [this] {
    if (m_narrow && !m_inspectorDrawn) toggleInspector();
    m_inspector->focusFirstField();
  });
  connect(m_view, &NetworkView::renameRequested, this, [this] {
    if (m_narrow && !m_inspectorDrawn) toggleInspector();
    m_inspector->focusName();
  });
  connect(m_view, &NetworkView::startFromDataRequested, this, &NetworkPage::startFromData);
  connect(m_view, &NetworkView::openSampleRequested, this, [this] {
    Q_EMIT openSampleRequested();
    if (this->context().go) this->context().go({.page = QStringLiteral("start")});
  });
  connect(m_inspector, &Inspector::leaving, this, [this] {
    closeDrawers();
    m_view->setFocus(Qt::ShortcutFocusReason);
  });
  connect(m_inspector, &Inspector::nodeWanted, this, [this](const QString& id) { m_view->reveal(id.toStdString()); });
  connect(m_bar, &NetworkBar::arrangeRequested, m_view, &NetworkView::arrange);
  connect(m_bar, &NetworkBar::layersRequested, this, &NetworkPage::toggleLeftPanel);
  connect(m_bar, &NetworkBar::inspectorRequested, this, &NetworkPage::toggleInspector);
  connect(m_scene, &NetworkScene::picksChanged, this, &NetworkPage::refreshStatus);
  connect(m_scene, &NetworkScene::refreshed, this, &NetworkPage::refreshStatus);
  connect(&m_document, &ProjectDocument::opened, this, [this] { m_view->fit(); });
  placePanels();
}

NetworkPage::~NetworkPage() {
  // The view looks at the scene until it goes.
  delete m_view;
  m_view = nullptr;
}

void NetworkPage::makeActions() {
  const auto add = [this](const char* iconName, const QString& text, const QKeySequence& key, auto action) {
    auto* made = new QAction(icon(QString::fromLatin1(iconName)), text, this);
    made->setShortcut(key);
    connect(made, &QAction::triggered, this, action);
    m_actions.append(made);
    m_bar->moreMenu().addAction(made);
    return made;
  };
  add("plus", tr("Add layer"), QKeySequence(Qt::SHIFT | Qt::Key_A), [this] { m_view->openAddMenu(); });
  add("arrange", tr("Arrange"), QKeySequence(Qt::CTRL | Qt::Key_L), [this] { m_view->arrange(); });
  add("copy", tr("Duplicate"), QKeySequence(Qt::CTRL | Qt::Key_D), [this] { m_view->duplicate(); });
  add("fit", tr("Show all"), QKeySequence(Qt::SHIFT | Qt::Key_1), [this] { m_view->fit(); });
  add("fit", tr("Show selection"), QKeySequence(Qt::SHIFT | Qt::Key_2), [this] { m_view->fitSelection(); });
  add("group", tr("Invert selection"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_I), [this] { m_view->invertSelection(); });
  QAction* map = add("map", tr("Map"), {}, [this] { m_view->setMapShown(!m_view->mapShown()); });
  map->setToolTip(tr("Map (M)"));
}

void NetworkPage::activated() {
  if (!m_fitted) {
    m_fitted = true;
    m_view->fit();
  }
  m_view->setFocus(Qt::OtherFocusReason);
}

void NetworkPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  placePanels();
  if (!m_fitted && isVisible()) {
    m_fitted = true;
    m_view->fit();
  }
}

void NetworkPage::placePanels() {
  const Theme& theme = Theme::of(this);
  const bool narrow = width() < kNarrow;
  if (narrow != m_narrow) {
    m_narrow = narrow;
    m_paletteDrawn = m_inspectorDrawn = false;
    m_bar->setNarrow(narrow);
  }
  const int extra = width() >= kWide ? 1 : 0;
  const int left = theme.size(Size::palette) + 24 * extra, right = theme.size(Size::inspector) + 40 * extra;
  const bool palette = narrow ? m_paletteDrawn : m_paletteShown, inspector = narrow ? m_inspectorDrawn : m_inspectorShown;
  const int from = !narrow && palette ? left : 0, to = width() - (!narrow && inspector ? right : 0);
  const int bar = m_bar->height(), strip = m_strip->height();
  m_bar->setGeometry(from, 0, to - from, bar);
  m_view->setGeometry(from, bar, to - from, std::max(0, height() - bar - strip));
  m_strip->setGeometry(from, height() - strip, to - from, strip);
  m_palette->setVisible(palette);
  m_inspector->setVisible(inspector);
  const int top = narrow ? bar : 0;
  m_palette->setGeometry(0, top, left, height() - top);
  m_inspector->setGeometry(width() - right, top, right, height() - top);
  if (narrow) {
    m_palette->raise();
    m_inspector->raise();
  }
  m_view->faultBubble().setCovered(narrow && inspector ? right : 0);
}

void NetworkPage::toggleLeftPanel() {
  (m_narrow ? m_paletteDrawn : m_paletteShown) ^= true;
  if (m_narrow && m_paletteDrawn) m_inspectorDrawn = false;
  placePanels();
  if (m_palette->isVisible()) m_palette->focusSearch();
  else m_view->setFocus(Qt::OtherFocusReason);
}

void NetworkPage::toggleInspector() {
  (m_narrow ? m_inspectorDrawn : m_inspectorShown) ^= true;
  if (m_narrow && m_inspectorDrawn) m_paletteDrawn = false;
  placePanels();
}

bool NetworkPage::help() {
  if (m_scene->picked().nodes.size() != 1) return false;
  if (m_narrow && !m_inspectorDrawn) toggleInspector();
  return m_inspector->toggleHelp();
}

void NetworkPage::closeDrawers() {
  if (!m_narrow) return;
  m_paletteDrawn = m_inspectorDrawn = false;
  placePanels();
}

void NetworkPage::openPalette() {
  if (!m_palette->isVisible()) toggleLeftPanel();
  m_palette->focusSearch();
}

void NetworkPage::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && m_narrow && (m_paletteDrawn || m_inspectorDrawn)) {
    closeDrawers();
    m_view->setFocus(Qt::ShortcutFocusReason);
    return;
  }
  Page::keyPressEvent(event);
}

void NetworkPage::startFromData() {
  Q_EMIT startFromDataRequested();
  if (m_document.knownColumns().empty()) {
    if (context().go) context().go({.page = QStringLiteral("data")});
    return;
  }
  fillFromData(m_document, m_scene->networkName());
  m_view->fit();
  m_view->setFocus(Qt::OtherFocusReason);
}

bool NetworkPage::show(const Place& place) {
  const std::string network = place.network.toStdString();
  if (!network.empty() && m_document.network(network) == nullptr) return false;
  if (!network.empty() && network != m_scene->networkName()) m_scene->setNetwork(network);
  if (place.node.isEmpty()) return true;
  const std::string node = place.node.toStdString();
  if (m_scene->card(node) == nullptr) return false;
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
  for (const Network& network : m_document.project().networks)
    for (const Node& node : network.nodes) {
      const LayerDefinition* layer = findLayer(node.layer);
      const QString id = QString::fromStdString(node.id), name = QString::fromStdString(network.name);
      const QString type = layer != nullptr ? QString::fromStdString(layer->entry.label) : QString::fromStdString(node.layer);
      if (!id.contains(query, Qt::CaseInsensitive) && !type.contains(query, Qt::CaseInsensitive)) continue;
      const QString sign = layer != nullptr ? layerIcon(QString::fromStdString(layer->entry.icon), QString::fromStdString(layer->entry.category)) : QStringLiteral("help");
      hits.append({tr("Nodes"), id, tr("%1 in %2").arg(type, name), icon(sign), [this, id, name] {
                     show(Place{.page = QStringLiteral("network"), .network = name, .node = id});
                   }});
    }
  std::vector<const Entry*> entries;
  for (const LayerDefinition* layer : layerTable()) entries.push_back(&layer->entry);
  for (const Entry* entry : loom::search(entries, query.toStdString())) {
    const std::string id = entry->id;
    hits.append({tr("Layers"), tr("Add %1").arg(QString::fromStdString(entry->label)), QString::fromStdString(entry->summary),
                 icon(layerIcon(QString::fromStdString(entry->icon), QString::fromStdString(entry->category))), [this, id] {
                   m_view->addLayer(id);
                   m_view->setFocus(Qt::OtherFocusReason);
                 }});
  }
  return hits;
}

void NetworkPage::refreshStatus() {
  const int nodes = static_cast<int>(m_scene->network().nodes.size()), picked = static_cast<int>(m_scene->picked().nodes.size());
  QString words = counted(nodes, tr("nodes"));
  if (picked > 0) words += tr(", %1 selected").arg(picked);
  Q_EMIT statusChanged(words);
}

QList<QWidget*> NetworkPage::areas() const { return {m_bar, m_palette, m_view, m_inspector}; }

QJsonObject NetworkPage::saveLayout() const {
  const QPointF centre = m_view->mapToScene(m_view->viewport()->rect().center());
  return {{"network", QString::fromStdString(m_scene->networkName())}, {"palette", m_paletteShown}, {"inspector", m_inspectorShown},
          {"map", m_view->mapShown()}, {"zoom", m_view->zoom()}, {"x", centre.x()}, {"y", centre.y()},
          {"cost", static_cast<int>(m_scene->costKind())}};
}

void NetworkPage::restoreLayout(const QJsonObject& layout) {
  m_paletteShown = layout.value("palette").toBool(true);
  m_inspectorShown = layout.value("inspector").toBool(true);
  m_view->setMapShown(layout.value("map").toBool(true));
  const std::string network = layout.value("network").toString().toStdString();
  if (!network.empty() && m_document.network(network) != nullptr) m_scene->setNetwork(network);
  m_scene->setCostKind(static_cast<CostKind>(std::clamp(layout.value("cost").toInt(0), 0, 2)));
  m_bar->setNarrow(m_narrow);
  placePanels();
  if (layout.contains("zoom")) {
    m_fitted = true;
    m_view->setZoom(layout.value("zoom").toDouble(1));
    m_view->centerOn(layout.value("x").toDouble(), layout.value("y").toDouble());
  }
}

}  // namespace loom

#include "app/pages/network/network_page.h"

#include <QAction>
#include <QHBoxLayout>
#include <QJsonObject>
#include <QKeyEvent>
#include <QMenu>
#include <QTimer>
#include <algorithm>

#include "app/pages/network/inspector.h"
#include "app/pages/network/library_actions.h"
#include "app/pages/network/measured_layers.h"
#include "app/pages/network/network_bar.h"
#include "app/pages/network/network_side.h"
#include "app/pages/network/network_strip.h"
#include "app/pages/network/processor_measurement.h"
#include "app/pages/network/recorded_colours.h"
#include "app/pages/network/start_from_data.h"
#include "app/pages/network/wire_preview.h"
#include "app/preferences.h"
#include "launcher/store/run_store.h"
#include "widgets/canvas/argument_chips.h"
#include "widgets/canvas/canvas_commands.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/controls/text.h"
#include "widgets/document/unit_entry.h"
#include "widgets/form/property_form.h"
#include "widgets/outline/outline_panel.h"
#include "widgets/palette/layer_palette.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {
constexpr int kNarrow = 1000;  // below, palette and inspector lie over the canvas
constexpr int kWide = 2000;    // from here on the panels take a little of the room
}  // namespace

NetworkPage::NetworkPage(AppContext& context, QWidget* parent) : Page(context, parent), m_document(*context.document) {
  m_scene = new NetworkScene(m_document, this);
  m_bar = new NetworkBar(*m_scene, this);
  m_side = new NetworkSide(m_document, this);
  m_palette = &m_side->palette();
  m_argumentRow = new QWidget(this);
  m_argumentRow->setAutoFillBackground(true);
  m_arguments = new ArgumentChips(m_document, m_argumentRow);
  auto* arguments = new QHBoxLayout(m_argumentRow);
  arguments->setContentsMargins(14, 6, 14, 6);
  arguments->addWidget(m_arguments);
  m_view = new NetworkView(*m_scene, this);
  m_strip = new NetworkStrip(*m_view, this);
  m_strip->setMeasured([&context] { return measuredLayers(context); });
  if (context.workspace != nullptr) new RecordedColours(context, *m_view, *m_strip);  // the view's
  if (context.store != nullptr)
    connect(context.store, &RunStore::runChanged, this, [this, &context](const QString& id) {
      const RunRecord* run = context.store->find(id);
      if (run != nullptr && !isLive(run->state) && run->project == m_document.path()) m_strip->forecastSoon();
    });
  const auto wheel = [this, &context] { m_view->setWheelZooms(context.preferences->wheelZooms()); };
  connect(context.preferences, &Preferences::changed, this, wheel);
  wheel();
  m_inspector = new Inspector(*m_scene, this);
  setTabOrder(m_bar, m_side);
  setTabOrder(m_side, m_view);
  setTabOrder(m_view, m_inspector);
  m_wirePreview = std::make_unique<WirePreview>(context, *m_view, *m_inspector, *this);
  m_dataStart = new DataStart(context, *this);
  connect(m_dataStart, &DataStart::made, this, [this] {
    m_view->fit();
    m_view->setFocus(Qt::OtherFocusReason);
  });
  makeActions();

  if (context.ownLayers != nullptr) m_library = new LibraryActions(context, *m_view, *m_palette, this);

  connect(m_palette, &LayerPalette::layerChosen, this, [this](const QString& layer) {
    m_view->inHand().addLayer(layer.toStdString());
    if (m_narrow) closeDrawers();
  });
  followOutline();
  connect(m_view, &NetworkView::tabRequested, this, [this](const QString& unit) { openTab(unit.toStdString()); });
  connect(m_view, &NetworkView::inHandChanged, this, [this] {
    m_inspector->setScene(m_view->inHand().networkScene());
    refreshStatus();
  });
  connect(&m_document, &ProjectDocument::changed, this, &NetworkPage::refreshUnits);
  connect(&m_document, &ProjectDocument::opened, this, &NetworkPage::refreshUnits);
  connect(m_scene, &NetworkScene::networkSwitched, this, &NetworkPage::refreshUnits);
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
  connect(m_inspector, &Inspector::nodeWanted, this,
          [this](const QString& id) { m_view->inHand().reveal(id.toStdString()); });
  connect(&m_inspector->form(), &PropertyForm::unreadChanged, this, &NetworkPage::tellUnread);
  connect(&m_document, &ProjectDocument::changed, this, &NetworkPage::tellUnread);  // what they belong to may be gone
  connect(m_inspector, &Inspector::unitWanted, this, [this] { m_view->inHand().makeUnit(); });
  connect(m_inspector, &Inspector::groupWanted, this, [this] { m_view->inHand().makeGroup(); });
  connect(m_inspector, &Inspector::inPlaceWanted, this, [this] { m_view->inHand().toggleInPlace(); });
  connect(m_bar, &NetworkBar::arrangeRequested, m_view, &NetworkView::arrange);
  connect(m_bar, &NetworkBar::layersRequested, this, &NetworkPage::toggleLeftPanel);
  connect(m_bar, &NetworkBar::inspectorRequested, this, &NetworkPage::toggleInspector);
  connect(m_scene, &NetworkScene::picksChanged, this, &NetworkPage::refreshStatus);
  connect(m_scene, &NetworkScene::refreshed, this, &NetworkPage::refreshStatus);
  connect(&m_document, &ProjectDocument::opened, this, [this] { m_view->fit(); });
  refreshUnits();
  placePanels();
}

NetworkPage::~NetworkPage() {
  m_wirePreview.reset();
  m_inspector->setScene(*m_scene);  // not one that goes with the view
  // The view looks at the scene until it goes.
  delete m_view;
  m_view = nullptr;
}

void NetworkPage::makeActions() {
  Commands& commands = *context().commands;
  m_view->setCommands(commands);
  for (QAction* action :
       addCanvasCommands(commands, this, [this] { return m_view != nullptr ? &m_view->inHand() : nullptr; })) {
    if (Commands::idOf(*action) == QLatin1String("network.dim")) {
      addCommand(
          "network.outline", tr("Outline"), "Ctrl+Shift+O", [this] { showOutline(!m_side->showsOutline()); },
          "outline");
      m_dim = action;
    }
    list(action);
  }
  list(commands.add({.id = "network.tensor",
                     .group = tr("This page"),
                     .text = tr("Values on the wire"),
                     .keys = {QKeySequence("T")},
                     .scope = "network/canvas",
                     .icon = "eye"},
                    this, [this] { m_wirePreview->showSelected(); }));
  list(commands.add({.id = "network.measure-processor",
                     .group = tr("This page"),
                     .text = tr("Measure this processor for predicted times"),
                     .scope = "network",
                     .icon = "cost",
                     .possible = [this] { return !m_strip->measurement().runs(); }},
                    this, [this] { m_strip->measureProcessor(); }));
  list(commands.add({.id = "network.start-from-data",
                     .group = tr("This page"),
                     .text = tr("Start from data"),
                     .scope = "network",
                     .icon = "data"},
                    this, [this] { startFromData(); }));
  m_bar->addCommands(commands);
  m_side->outline().setCommands(commands);
  const auto dimmed = [this] { m_dim->setChecked(m_scene->dimming()); };
  connect(m_scene, &NetworkScene::dimmingChanged, this, dimmed);
  connect(m_dim, &QAction::triggered, this, dimmed);
  m_bar->moreMenu().addActions(pageActions());
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
  const bool palette = narrow ? m_paletteDrawn : m_paletteShown,
             inspector = narrow ? m_inspectorDrawn : m_inspectorShown;
  const int from = !narrow && palette ? left : 0, to = width() - (!narrow && inspector ? right : 0);
  const int bar = m_bar->height(), strip = m_strip->height();
  m_bar->setGeometry(from, 0, to - from, bar);
  const int arguments =
      m_argumentRow->isHidden() ? 0 : std::max(36, m_argumentRow->layout()->heightForWidth(to - from));
  m_argumentRow->setGeometry(from, bar, to - from, arguments);
  m_view->setGeometry(from, bar + arguments, to - from, std::max(0, height() - bar - arguments - strip));
  m_strip->setGeometry(from, height() - strip, to - from, strip);
  m_side->setVisible(palette);
  m_inspector->setVisible(inspector);
  const int top = narrow ? bar : 0;
  m_side->setGeometry(0, top, left, height() - top);
  m_inspector->setGeometry(width() - right, top, right, height() - top);
  if (narrow) {
    m_side->raise();
    m_inspector->raise();
  }
  m_view->faultBubble().setCovered(narrow && inspector ? right : 0);
}

void NetworkPage::toggleLeftPanel() {
  (m_narrow ? m_paletteDrawn : m_paletteShown) ^= true;
  if (m_narrow && m_paletteDrawn) m_inspectorDrawn = false;
  placePanels();
  if (m_side->isVisible())
    m_side->focusSearch();
  else
    m_view->setFocus(Qt::OtherFocusReason);
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
  if (!m_side->isVisible()) toggleLeftPanel();
  m_side->focusSearch();
}

// Units of the project stand in the palette and in the add menu; the tab of one shows its arguments.
void NetworkPage::refreshUnits() {
  std::vector<Entry> units;
  for (const Network& unit : m_document.project().units) units.push_back(unitEntry(m_document.project(), unit));
  const auto same = [](const Entry& a, const Entry& b) { return a.id == b.id && a.summary == b.summary; };
  if (!std::equal(units.begin(), units.end(), m_units.begin(), m_units.end(), same)) {
    m_units = units;
    m_palette->setUnits(std::move(units));
    if (m_library != nullptr) m_library->refreshPalette();
  }
  const bool isUnit = m_document.project().unit(m_scene->networkName()) != nullptr;
  if (isUnit) m_arguments->setUnit(m_scene->networkName());
  if (m_argumentRow->isHidden() == isUnit) {
    m_argumentRow->setVisible(isUnit);
    placePanels();
  }
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
  if (m_document.project().datasets.empty()) {
    if (context().go) context().go({.page = QStringLiteral("data")});
    return;
  }
  m_dataStart->ask(m_scene->networkName());
}

void NetworkPage::refreshStatus() {
  const NetworkScene& scene = m_view->inHand().networkScene();
  const int nodes = static_cast<int>(scene.network().nodes.size()),
            picked = static_cast<int>(scene.picked().nodes.size());
  QString words = counted(nodes, tr("nodes"));
  if (picked > 0) words += tr(", %1 selected").arg(picked);
  Q_EMIT statusChanged(words);
}

QList<QWidget*> NetworkPage::areas() const {
  return {m_bar, m_side, m_view, m_inspector};
}

QJsonObject NetworkPage::saveLayout() const {
  const QPointF centre = m_view->mapToScene(m_view->viewport()->rect().center());
  return {{"network", QString::fromStdString(m_scene->networkName())},
          {"palette", m_paletteShown},
          {"inspector", m_inspectorShown},
          {"map", m_view->mapShown()},
          {"zoom", m_view->zoom()},
          {"x", centre.x()},
          {"y", centre.y()},
          {"cost", static_cast<int>(m_scene->costKind())},
          {"outline", m_side->showsOutline()},
          {"dimming", m_scene->dimming()}};
}

void NetworkPage::restoreLayout(const QJsonObject& layout) {
  m_paletteShown = layout.value("palette").toBool(true);
  m_inspectorShown = layout.value("inspector").toBool(true);
  m_view->setMapShown(layout.value("map").toBool(true));
  m_side->showOutline(layout.value("outline").toBool(false));
  m_scene->setDimming(layout.value("dimming").toBool(false));
  m_dim->setChecked(m_scene->dimming());
  const std::string network = layout.value("network").toString().toStdString();
  if (!network.empty() && m_document.network(network) != nullptr) m_scene->setNetwork(network);
  m_scene->setCostKind(
      static_cast<CostKind>(std::clamp(layout.value("cost").toInt(0), 0, static_cast<int>(CostKind::activationRange))));
  m_bar->setNarrow(m_narrow);
  placePanels();
  if (layout.contains("zoom")) {
    m_fitted = true;
    m_view->setZoom(layout.value("zoom").toDouble(1));
    m_view->centerOn(layout.value("x").toDouble(), layout.value("y").toDouble());
  }
}

}  // namespace loom

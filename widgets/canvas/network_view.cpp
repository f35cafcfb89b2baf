#include "widgets/canvas/network_view.h"

#include <QPainter>
#include <QScrollBar>
#include <QtMath>
#include <algorithm>
#include <cmath>

#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/canvas_commands.h"
#include "widgets/canvas/comment_editor.h"
#include "widgets/canvas/cost_legend.h"
#include "widgets/canvas/inline_name.h"
#include "widgets/canvas/overlays.h"
#include "widgets/canvas/selection_bar.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/controls/commands.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {
constexpr double kLeast = 0.1, kMost = 4.0, kReadable = 0.4;
constexpr int kViewsKept = 30;
}  // namespace

NetworkView::NetworkView(NetworkScene& scene, QWidget* parent) : QGraphicsView(&scene, parent), m_scene(scene) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTransformationAnchor(NoAnchor);
  setResizeAnchor(AnchorViewCenter);
  setViewportUpdateMode(FullViewportUpdate);
  setOptimizationFlag(DontAdjustForAntialiasing);
  setRenderHint(QPainter::Antialiasing);
  setMouseTracking(true);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);  // the ground is painted with the drawing
  setAcceptDrops(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Network canvas"));
  m_hint = new CanvasHint(viewport());
  m_bubble = new FaultBubble(*this);
  m_map = new MiniMap(*this);
  m_empty = new EmptyCanvas(viewport());
  m_addMenu = new AddMenu(viewport());
  m_name = new InlineName(viewport(), *m_hint);
  m_commentEditor = new CommentEditor(*this);
  m_bar = new SelectionBar(*this);
  m_legend = new CostLegend(*this);
  m_arranging = new ArrangingBar(*this);
  connect(m_empty, &EmptyCanvas::startFromData, this, &NetworkView::startFromDataRequested);
  connect(m_empty, &EmptyCanvas::openSample, this, &NetworkView::openSampleRequested);
  connect(&scene, &NetworkScene::refreshed, this, [this] {
    placeOverlays();
    announce();
  });
  connect(&scene, &NetworkScene::picksChanged, this, [this] {
    ++m_nudges;
    announce();
  });
  connect(&scene.document(), &ProjectDocument::changed, this, [this] {
    if (m_wiring) cancelGesture();  // what the wire may go to is another now
  });
  connect(&scene, &NetworkScene::networkSwitched, this, [this] {
    cancelGesture();
    m_views.clear();
    fit();
  });
  // The legend comes, goes and grows with these.
  for (const auto signal : {&NetworkScene::costKindChanged, &NetworkScene::costsChanged}) {
    connect(&scene, signal, this, [this] {
      if (m_fitted && (m_legend->coversCards() || (m_fittedBeside && !m_legend->isVisible()))) fit();
    });
  }
  connect(&Theme::of(this), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
  placeOverlays();
}

NetworkView::~NetworkView() {
  delete m_unitView;
}  // it looks at this one's scene

void NetworkView::setCommands(Commands& commands) {
  m_commands = &commands;
}

Commands& NetworkView::commands() {
  if (!m_commands) {
    m_commands = &Commands::around(*this);
    if (m_commands->find(QStringLiteral("network.add")) == nullptr)
      addCanvasCommands(*m_commands, this, [this] { return &inHand(); });
  }
  return *m_commands;
}

QPointF NetworkView::middle() const {
  return mapToScene(viewport()->rect().center());
}

void NetworkView::setZoom(double wanted, std::optional<QPointF> keep) {
  m_fitted = false;
  const double zoom = std::clamp(wanted, kLeast, kMost);
  const QPointF at = keep.value_or(QRectF(viewport()->rect()).center());
  const QPointF fixed = viewportTransform().inverted().map(at);
  setTransform(QTransform::fromScale(zoom, zoom));
  // By the scroll bars themselves, which stand on whole pixels: centerOn() rounds twice, and a turn of the wheel would
  // drift.
  const QPointF moved = viewportTransform().map(fixed) - at;
  horizontalScrollBar()->setValue(horizontalScrollBar()->value() + qRound(moved.x()));
  verticalScrollBar()->setValue(verticalScrollBar()->value() + qRound(moved.y()));
  placeOverlays();
  Q_EMIT zoomChanged(zoom);
}

void NetworkView::remember() {
  m_views.emplace_back(middle(), zoom());
  if (m_views.size() > kViewsKept) m_views.erase(m_views.begin());
}

void NetworkView::previousView() {
  if (m_views.empty()) return;
  const auto [centre, zoom] = m_views.back();
  m_views.pop_back();
  setZoom(zoom);
  centerOn(centre);
}

void NetworkView::fit() {
  const QRectF cards = m_scene.cardsRect();
  if (cards.isNull()) {
    setZoom(1);
    centerOn(0, 0);
    return;
  }
  if (!m_fitted) remember();
  const QRectF wanted = cards.adjusted(-72, -18, 36, 30);
  const auto show = [&](int below) {
    const QSize room = viewport()->size() - QSize(0, below);
    setZoom(std::min({1.0, room.width() / wanted.width(), room.height() / wanted.height()}));
    centerOn(wanted.center() + QPointF(0, below / 2.0 / zoom()));
  };
  show(0);
  m_legend->place();  // the canvas may have another size
  m_fittedBeside = m_legend->coversCards();
  if (m_fittedBeside) show(viewport()->height() - m_legend->card().top());
  m_fitted = true;
}

void NetworkView::fitSelection() {
  if (m_scene.picked().nodes.empty()) return fit();
  remember();
  const QRectF wanted = m_scene.cardsRect(m_scene.picked().nodes).adjusted(-96, -60, 96, 60);
  const QSize room = viewport()->size();
  setZoom(std::min({1.6, room.width() / wanted.width(), room.height() / wanted.height()}));
  centerOn(wanted.center());
}

void NetworkView::reveal(const std::string& node) {
  const CardItem* card = m_scene.card(node);
  if (card == nullptr) return;
  m_scene.pickNode(node);
  m_revealed = node;
  const QRect seen = viewport()->rect().adjusted(24, 24, -24, -24);
  const QRect there = mapFromScene(card->sceneCard()).boundingRect();
  if (seen.contains(there) && zoom() >= kReadable) return;
  remember();
  if (zoom() < 0.7) setZoom(1);
  centerOn(card->pos());
}

void NetworkView::setMapShown(bool shown) {
  m_mapShown = shown;
  placeOverlays();
}

bool NetworkView::coversCards(const QRect& place) const {
  bool covers = false;
  m_scene.eachCard([&](const CardItem& each) {
    covers = covers || mapFromScene(each.sceneCard()).boundingRect().intersects(place);
  });
  return covers;
}

void NetworkView::placeOverlays() {
  if (!isVisible()) return;
  const QRect room = viewport()->rect();
  const bool empty = m_scene.network().nodes.empty();
  m_empty->setVisible(empty && !m_embedded);
  m_empty->move(room.center() - m_empty->rect().center());
  // The map is of use when there is more than is seen.
  const QRectF seen = mapToScene(room).boundingRect();
  const bool all = seen.contains(m_scene.cardsRect());
  m_map->move(room.right() - m_map->width() - 2, room.bottom() - m_map->height() - 2);
  // Where all is seen it has nothing to lead to: it never lies over a card then.
  m_map->setVisible(m_mapShown && !m_embedded && !empty && room.width() > 480 && room.height() > 320 &&
                    !(all && (m_scene.network().nodes.size() < 4 || coversCards(m_map->geometry()))));
  m_map->update();
  m_legend->place();
  if (m_unitView != nullptr && m_unitView->isOpen()) {
    m_unitView->place();
    if (m_unitView->card().intersects(m_map->geometry())) m_map->hide();  // it gives way to what needs its place
    viewport()->update();
  }
  m_bubble->refresh();
  m_bar->place();
  m_commentEditor->place();
}

void NetworkView::showEvent(QShowEvent* event) {
  m_scene.setSeen(true);
  QGraphicsView::showEvent(event);
  placeOverlays();
  if (m_fitted && m_legend->coversCards()) fit();
  announce();
}

void NetworkView::hideEvent(QHideEvent* event) {
  QGraphicsView::hideEvent(event);
  m_scene.setSeen(false);
}

void NetworkView::resizeEvent(QResizeEvent* event) {
  // A view that shows all keeps showing all: the first fit happens before the window gave the canvas its size.
  const bool refit = m_fitted;
  QGraphicsView::resizeEvent(event);
  m_fitted = refit;
  if (refit) fit();
  // A list that opens below must not lie over what it led to.
  const CardItem* const led = refit || m_revealed.empty() ? nullptr : m_scene.card(m_revealed);
  if (led != nullptr &&
      !viewport()->rect().adjusted(0, 12, 0, -12).contains(mapFromScene(led->sceneCard()).boundingRect()))
    centerOn(led->pos());
  placeOverlays();
}

void NetworkView::scrollContentsBy(int dx, int dy) {
  m_fitted = false;
  QGraphicsView::scrollContentsBy(dx, dy);
  placeOverlays();
}

// What a screen reader hears: the node in hand, else how much there is.
void NetworkView::announce() {
  const std::vector<std::string> picked = m_scene.pickedNodes();
  const std::size_t nodes = m_scene.network().nodes.size();
  QString words = counted(static_cast<qint64>(nodes), tr("nodes"));
  if (picked.size() == 1 && m_scene.card(picked.front()) != nullptr)
    words = spokenText(m_scene.card(picked.front())->content(), m_scene.analysis(), picked.front());
  if (picked.size() > 1) words = tr("%1 of %2 nodes selected").arg(picked.size()).arg(nodes);
  if (accessibleDescription() != words) setAccessibleDescription(words);
}

}  // namespace loom

#include "widgets/canvas/overlays.h"

#include <QHBoxLayout>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QVBoxLayout>
#include <QtMath>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "widgets/canvas/cards_item.h"
#include "widgets/canvas/network_view.h"
#include "widgets/controls/button.h"
#include "widgets/controls/wrapping_button.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/status.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {
constexpr int kBubbleWidth = 260, kBubblePadding = 12;
constexpr QSize kMapSize(130, 126);
}  // namespace

CanvasHint::CanvasHint(QWidget* canvas) : QLabel(canvas) {
  setObjectName(QStringLiteral("canvasHint"));
  setStyleProperty(this, "kind", QStringLiteral("tooltip"));
  setMargin(8);
  setWordWrap(true);
  setMaximumWidth(320);
  setAttribute(Qt::WA_TransparentForMouseEvents);
  m_timer.setSingleShot(true);
  connect(&m_timer, &QTimer::timeout, this, &QWidget::hide);
  hide();
}

void CanvasHint::say(const QString& sentence, QPoint at, int milliseconds) {
  if (sentence.isEmpty()) return clear();
  setText(sentence);
  setAccessibleName(sentence);
  keepFont(this, FontRole::label);
  const int wanted = std::min(320, fontMetrics().horizontalAdvance(sentence) + 24);
  setFixedWidth(wanted);
  setFixedHeight(heightForWidth(wanted));
  const QRect room = parentWidget()->rect();
  move(std::clamp(at.x() + 16, 0, std::max(0, room.width() - width())),
       std::clamp(at.y() + 16, 0, std::max(0, room.height() - height())));
  show();
  raise();
  m_timer.start(milliseconds);
}

FaultBubble::FaultBubble(NetworkView& view) : QFrame(view.viewport()), m_view(view), m_rows(new QVBoxLayout(this)) {
  const int margin = shadowMargin(Elevation::menu) + kBubblePadding;
  m_rows->setContentsMargins(margin, margin, margin, margin);
  m_rows->setSpacing(8);
  setAccessibleName(tr("Problem"));
  connect(&view.networkScene(), &NetworkScene::refreshed, this, &FaultBubble::refresh);
  connect(&view.networkScene(), &NetworkScene::picksChanged, this, &FaultBubble::refresh);
  connect(&view, &NetworkView::zoomChanged, this, &FaultBubble::refresh);
  hide();
}

void FaultBubble::refresh() {
  NetworkScene& scene = m_view.networkScene();
  const auto troubled = [&](const std::string& id) {
    return scene.card(id) != nullptr &&
           !(scene.card(id)->content().errors.isEmpty() && scene.card(id)->content().warnings.isEmpty());
  };
  std::string node;
  if (scene.picked().nodes.size() == 1 && troubled(*scene.picked().nodes.begin())) node = *scene.picked().nodes.begin();
  // While the pointer is on the bubble it stays with the node it speaks of.
  if (!scene.hoveredNode().empty() && troubled(scene.hoveredNode())) node = scene.hoveredNode();
  if (node.empty() && isVisible() && underMouse() && troubled(m_node)) node = m_node;
  m_node = node;
  // What is dragged or wired is looked at, and the place under it.
  if (node.empty() || m_view.isDragging()) {
    hide();
    m_problems.clear();
    return;
  }
  std::vector<Problem> mine;
  for (const Problem& problem : scene.document().problems())
    if (nodeWith(problem, scene.document().project(), scene.network()) == node) mine.push_back(problem);
  const auto same = [](const Problem& a, const Problem& b) {
    return a.message == b.message && a.node == b.node && a.remedy.label == b.remedy.label;
  };
  if (!isVisible() || !std::equal(mine.begin(), mine.end(), m_problems.begin(), m_problems.end(), same)) fill(mine);
  if (mine.empty()) return hide();
  move(place(m_view.mapFromScene(scene.card(node)->sceneCard()).boundingRect()));
  show();
  raise();
}

// Beside the card where no other card is, else where it covers least of them; never over the card itself where there is
// room elsewhere.
QPoint FaultBubble::place(const QRect& card) const {
  constexpr int kAway = 14;
  const int margin = shadowMargin(Elevation::menu);
  const QRect room = parentWidget()->rect().adjusted(0, 0, -m_covered, 0);
  const QSize size(width() - 2 * margin, height() - 2 * margin);
  const auto inside = [&](QPoint corner) {
    return QPoint(std::clamp(corner.x(), 0, std::max(0, room.width() - size.width())),
                  std::clamp(corner.y(), 0, std::max(0, room.height() - size.height())));
  };
  const QPoint places[] = {{card.right() + kAway, card.top()},
                           {card.left() - kAway - size.width(), card.top()},
                           {card.right() + kAway, card.bottom() - size.height()},
                           {card.left() - kAway - size.width(), card.bottom() - size.height()},
                           {card.left(), card.bottom() + kAway},
                           {card.left(), card.top() - kAway - size.height()}};
  std::vector<QRect> others;
  m_view.networkScene().eachCard([&](const CardItem& each) {
    const QRect at = m_view.mapFromScene(each.sceneCard()).boundingRect();
    if (at.intersects(room)) others.push_back(at);
  });
  QPoint best = inside(places[0]);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const QPoint& each : places) {
    const QRect there(inside(each), size);
    std::int64_t covered = 0;
    for (const QRect& other : others) {
      const QRect both = there.intersected(other);
      if (!both.isEmpty()) covered += std::int64_t{both.width()} * both.height() * (other == card ? 4 : 1);
    }
    if (covered < least) {
      least = covered;
      best = there.topLeft();
    }
    if (least == 0) break;
  }
  return best - QPoint(margin, margin);
}

void FaultBubble::setCovered(int right) {
  m_covered = right;
  if (isVisible()) refresh();
}

void FaultBubble::fill(const std::vector<Problem>& problems) {
  m_problems = problems;
  while (QLayoutItem* item = m_rows->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();  // it may be the button that was just clicked
    }
    delete item;
  }
  const int inner = kBubbleWidth - 2 * kBubblePadding;
  const Theme& theme = Theme::of(this);
  for (std::size_t i = 0; i < problems.size() && i < 3; ++i) {
    const Problem& problem = problems[i];
    auto* sentence = new QLabel(QString::fromStdString(problem.message), this);
    sentence->setWordWrap(true);
    sentence->setFont(theme.font(i == 0 ? FontRole::label : FontRole::body));
    sentence->setFixedWidth(inner);
    sentence->setContentsMargins(24, 0, 0, 0);
    sentence->ensurePolished();
    sentence->setFixedHeight(std::max(18, sentence->heightForWidth(inner)));
    m_rows->addWidget(sentence);
    sentence->show();  // now: the height is asked for before the event loop would show it
    if (problem.remedy.kind == Remedy::Kind::none) continue;
    auto* mend = new WrappingButton(QString::fromStdString(problem.remedy.label), ButtonKind::tinted, this);
    connect(mend, &Button::clicked, this, [this, problem] {
      const Outcome outcome = m_view.networkScene().document().applyRemedy(problem);
      if (!outcome) m_view.hint().say(outcome.reason, pos());
    });
    mend->ensurePolished();
    mend->setFixedSize(inner, mend->heightForWidth(inner));
    m_rows->addWidget(mend);
    mend->show();
  }
  const int margin = shadowMargin(Elevation::menu);
  setFixedWidth(kBubbleWidth + 2 * margin);
  m_rows->invalidate();
  setFixedHeight(m_rows->sizeHint().height());
}

void FaultBubble::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double margin = shadowMargin(Elevation::menu);
  const QRectF card = QRectF(rect()).adjusted(margin, margin, -margin, -margin);
  paintCard(painter, card, theme.radius(Radius::card), Elevation::menu);
  if (m_problems.empty()) return;
  painter.setPen(
      QPen(theme.colour(m_problems.front().severity == Severity::error ? Colour::error : Colour::warning), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), theme.radius(Radius::card), theme.radius(Radius::card));
  std::size_t shown = 0;
  for (int i = 0; i < m_rows->count() && shown < m_problems.size(); ++i) {
    const auto* label = qobject_cast<QLabel*>(m_rows->itemAt(i)->widget());
    if (label == nullptr) continue;
    const bool error = m_problems[shown++].severity == Severity::error;
    paintStatus(painter, error ? Status::failed : Status::warning, QRectF(label->x(), label->y() + 1, 14, 14),
                theme.colour(error ? Colour::error : Colour::warning));
  }
}

MiniMap::MiniMap(NetworkView& view) : QWidget(view.viewport()), m_view(view) {
  const int margin = shadowMargin(Elevation::node);
  setFixedSize(kMapSize + QSize(2 * margin, 2 * margin));
  setAccessibleName(tr("Map of the network"));
  setCursor(Qt::PointingHandCursor);
  connect(&view.networkScene(), &NetworkScene::refreshed, this, [this] { update(); });
  m_blocksLater.setSingleShot(true);
  connect(&m_blocksLater, &QTimer::timeout, this, qOverload<>(&QWidget::update));
}

QTransform MiniMap::toMap() const {
  const int margin = shadowMargin(Elevation::node);
  const QRectF room = QRectF(rect()).adjusted(margin + 8, margin + 8, -margin - 8, -margin - 8);
  const QRectF seen = m_view.mapToScene(m_view.viewport()->rect()).boundingRect();
  const QRectF world = m_view.networkScene().cardsRect().united(seen);
  const double scale =
      std::min(room.width() / std::max(1.0, world.width()), room.height() / std::max(1.0, world.height()));
  return QTransform::fromTranslate(room.center().x(), room.center().y())
      .scale(scale, scale)
      .translate(-world.center().x(), -world.center().y());
}

// All cards as blocks, as large as the map can be: painted when one has changed, not when the view moves.
const QPixmap& MiniMap::blocks() {
  const CardsItem& cards = m_view.networkScene().cards();
  constexpr std::size_t kMany = 1000;
  constexpr int kSoonEnough = 250;
  const double ratio = devicePixelRatioF();
  const bool fits = m_blocks.devicePixelRatio() == ratio && m_ground == Theme::of(this).colour(Colour::canvas);
  if (fits && m_blocksOf == cards.revision()) return m_blocks;
  // While some of very many cards are dragged, theirs may follow a little later: their blocks are smaller than a pixel.
  if (fits && cards.count() >= kMany && m_blocksSince.isValid() && m_blocksSince.elapsed() < kSoonEnough) {
    if (!m_blocksLater.isActive()) m_blocksLater.start(kSoonEnough);
    return m_blocks;
  }
  m_blocksSince.start();
  m_blocksOf = cards.revision();
  m_ground = Theme::of(this).colour(Colour::canvas);
  const QRectF world = cards.bounds();
  const double scale = std::min((kMapSize.width() - 16) / std::max(1.0, world.width()),
                                (kMapSize.height() - 16) / std::max(1.0, world.height())) *
                       ratio;
  m_blocks = QPixmap(QSize(qCeil(world.width() * scale), qCeil(world.height() * scale)).expandedTo({1, 1}));
  m_blocks.setDevicePixelRatio(ratio);
  m_blocks.fill(Qt::transparent);
  QPainter painter(&m_blocks);
  const bool fine = cards.count() < kMany;
  painter.setRenderHint(QPainter::Antialiasing, fine);
  painter.setPen(Qt::NoPen);
  const double unit = scale / ratio;
  cards.each([&](const CardItem& card) {
    const QRectF at = card.sceneCard();
    QRectF block((at.left() - world.left()) * unit, (at.top() - world.top()) * unit, at.width() * unit,
                 at.height() * unit);
    block.setHeight(std::max(2.0, block.height()));
    if (!fine) {
      painter.fillRect(block.toAlignedRect(), card.colour());
      return;
    }
    painter.setBrush(card.colour());
    painter.drawRoundedRect(block, 1.5, 1.5);
  });
  return m_blocks;
}

void MiniMap::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  const NetworkScene& scene = m_view.networkScene();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const int margin = shadowMargin(Elevation::node);
  const QRectF card = QRectF(rect()).adjusted(margin, margin, -margin, -margin);
  paintCard(painter, card, theme.radius(Radius::card), Elevation::node);
  const QTransform map = toMap();
  const QRectF cards = scene.cardsRect();
  if (!cards.isNull()) painter.drawPixmap(map.mapRect(cards), blocks(), QRectF(QPointF(), blocks().size()));
  const QRectF seen =
      map.mapRect(m_view.mapToScene(m_view.viewport()->rect()).boundingRect()).intersected(card.adjusted(4, 4, -4, -4));
  painter.setPen(QPen(theme.colour(Colour::focus), 1.5));
  painter.setBrush(theme.colour(Colour::focus, 0.06));
  painter.drawRoundedRect(seen, 3, 3);
}

void MiniMap::centre(QPointF at) {
  m_view.centerOn(toMap().inverted().map(at));
}
void MiniMap::mousePressEvent(QMouseEvent* event) {
  centre(event->position());
}
void MiniMap::mouseMoveEvent(QMouseEvent* event) {
  centre(event->position());
}

ArrangingBar::ArrangingBar(NetworkView& view) : QFrame(view.viewport()), m_view(view) {
  constexpr int kSoon = 200;
  setAccessibleName(tr("Arranging"));
  auto* words = new QLabel(tr("Arranging..."), this);
  setStyleProperty(words, "kind", QStringLiteral("label"));
  auto* cancel = new Button(tr("Cancel"), ButtonKind::plain, this);
  cancel->setToolTip(tr("Cancel (Esc)"));
  auto* row = new QHBoxLayout(this);
  const int margin = shadowMargin(Elevation::menu);
  row->setContentsMargins(margin + 14, margin + 2, margin + 4, margin + 2);
  row->setSpacing(12);
  row->addWidget(words);
  row->addStretch();
  row->addWidget(cancel);
  ProjectDocument& document = view.networkScene().document();
  connect(cancel, &Button::clicked, this, [&document] { document.cancelArranging(); });
  connect(&document, &ProjectDocument::arrangingChanged, this, &ArrangingBar::follow);
  m_soon.setSingleShot(true);
  m_soon.setInterval(kSoon);
  connect(&m_soon, &QTimer::timeout, this, &ArrangingBar::appear);
  hide();
}

void ArrangingBar::follow() {
  if (m_view.networkScene().document().isArranging()) {
    m_soon.start();
    return;
  }
  m_soon.stop();
  hide();
}

void ArrangingBar::appear() {
  const int margin = shadowMargin(Elevation::menu);
  const int width = std::min(300 + 2 * margin, parentWidget()->width());
  resize(width, sizeHint().height());
  move((parentWidget()->width() - width) / 2, 12 - margin);
  show();
  raise();
}

void ArrangingBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double margin = shadowMargin(Elevation::menu);
  paintCard(painter, QRectF(rect()).adjusted(margin, margin, -margin, -margin), Theme::of(this).radius(Radius::card),
            Elevation::menu);
}

EmptyCanvas::EmptyCanvas(QWidget* canvas) : QWidget(canvas) {
  auto* start = new Button(tr("Start from data"), ButtonKind::tinted, this);
  auto* sample = new Button(tr("Open a sample"), ButtonKind::plain, this);
  connect(start, &Button::clicked, this, &EmptyCanvas::startFromData);
  connect(sample, &Button::clicked, this, &EmptyCanvas::openSample);
  auto* sentence = new QLabel(tr("Drag a layer here, or press Shift+A"), this);
  sentence->setAlignment(Qt::AlignCenter);
  setStyleProperty(sentence, "kind", QStringLiteral("label"));
  auto* buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(start);
  buttons->addWidget(sample);
  buttons->addStretch();
  auto* layout = new QVBoxLayout(this);
  layout->addStretch();
  layout->addWidget(sentence);
  layout->addSpacing(12);
  layout->addLayout(buttons);
  resize(sizeHint());
}

void EmptyCanvas::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const struct {
    const char* icon;
    QString name;
  } chain[] = {{"inputOutput", tr("Input")}, {"linear", tr("Linear")}, {"lossMetric", tr("Loss")}};
  double y = 24;
  const QColor faint = theme.colour(Colour::lineStrong);
  painter.setFont(theme.font(FontRole::heading));
  for (std::size_t i = 0; i < 3; ++i, y += 68) {
    const QRectF card((width() - 216) / 2.0 + 0.5, y + 0.5, 215, 43);
    painter.setPen(QPen(faint, 1, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(card, 8, 8);
    paintIcon(painter, QString::fromLatin1(chain[i].icon), QRectF(card.left() + 12, card.center().y() - 8, 16, 16),
              theme.colour(Colour::text3));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(card.adjusted(41, 0, -10, 0), Qt::AlignVCenter | Qt::AlignLeft, chain[i].name);
    painter.setPen(QPen(faint, 1.6));
    if (i < 2)
      painter.drawLine(QPointF(card.center().x(), card.bottom() + 3), QPointF(card.center().x(), card.bottom() + 22));
  }
}

}  // namespace loom

#include "widgets/canvas/cards_item.h"

#include <QPaintEngine>
#include <QPainter>
#include <QStyleOptionGraphicsItem>
#include <algorithm>
#include <cmath>

#include "widgets/canvas/detail_levels.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/canvas/pixel_places.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

// What a card's face reaches beyond it: shadow, pins, the sheets of a unit.
int faceMargin(double level, double ratio) {
  return static_cast<int>(std::ceil(8 * level * ratio)) + 1;
}

}  // namespace

CardsItem::CardsItem() {
  setFlag(ItemUsesExtendedStyleOption);
}
CardsItem::~CardsItem() = default;

CardItem& CardsItem::add(const std::string& id) {
  if (CardItem* known = card(id)) return *known;
  std::size_t number = m_byNumber.size();
  if (m_free.empty()) {
    m_byNumber.emplace_back();
  } else {
    number = m_free.back();
    m_free.pop_back();
  }
  m_byNumber[number] = std::make_unique<CardItem>(id, *this, number);
  m_names.put(std::hash<std::string>()(id), static_cast<NumberTable::Number>(number));
  moved(*m_byNumber[number]);
  return *m_byNumber[number];
}

void CardsItem::remove(const std::string& id) {
  const CardItem* known = card(id);
  if (known == nullptr) return;
  const std::size_t number = known->number();
  m_names.take(std::hash<std::string>()(id), static_cast<NumberTable::Number>(number));
  m_grid.take(number);
  m_byNumber[number].reset();
  m_free.push_back(number);
  ++m_revision;
  update();
}

void CardsItem::clear() {
  m_names.clear();
  m_byNumber.clear();
  m_free.clear();
  m_grid.clear();
  ++m_revision;
  update();
}

CardItem* CardsItem::card(const std::string& id) const {
  const auto number = m_names.find(std::hash<std::string>()(id),
                                   [&](NumberTable::Number each) { return m_byNumber[each]->id() == id; });
  return number == NumberTable::kNone ? nullptr : m_byNumber[number].get();
}

std::vector<CardItem*> CardsItem::in(const QRectF& rect) const {
  std::vector<CardItem*> found;
  m_grid.any(rect, [&](std::size_t number, const QRectF& card) {
    if (card.intersects(rect) || card.contains(rect.center())) found.push_back(m_byNumber[number].get());
    return false;
  });
  return found;
}

bool CardsItem::isFree(const QRectF& rect, const CardItem& except) const {
  return !m_grid.any(
      rect, [&](std::size_t number, const QRectF& card) { return number != except.number() && card.intersects(rect); });
}

QRectF CardsItem::edgeThrough(const QRectF& area) const {
  const auto* scene = qobject_cast<const NetworkScene*>(this->scene());
  return scene == nullptr ? QRectF() : scene->groups().edgeThrough(area);
}

void CardsItem::setCover(const QRectF& cover) {
  if (cover == m_cover) return;
  m_cover = cover;
  update();
}

const QRectF& CardsItem::bounds() const {
  if (m_boundsOf != m_revision) m_bounds = m_grid.bounds();
  m_boundsOf = m_revision;
  return m_bounds;
}

void CardsItem::moved(CardItem& card) {
  m_grid.put(card.number(), card.sceneCard());
  ++m_revision;
  update();
}

// The view paints itself whole: one request is as good as many.
void CardsItem::repaint(const CardItem&) {
  update();
}

void CardsItem::setRules(std::shared_ptr<const WireRules> rules, const std::string& from, bool output) {
  m_rules = std::move(rules);
  m_rulesFrom = from;
  m_rulesOutput = output;
  ++m_rulesNumber;
  update();
}

void CardsItem::setCostsFaint(bool faint) {
  if (faint == m_costsFaint) return;
  m_costsFaint = faint;
  update();
}

void CardsItem::restyle() {
  m_blocks.clear();
  m_faces.clear();
  each([](CardItem& card) { card.restyle(); });
  update();
}

void CardsItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget*) {
  const QTransform& toView = painter->worldTransform();
  const double level = QStyleOptionGraphicsItem::levelOfDetailFromTransform(toView);
  std::vector<CardItem*> seen = in(option->exposedRect.adjusted(-kBesideCard, -26, kBesideCard, 26));
  // Where cards overlap, the one that came later lies above.
  std::sort(seen.begin(), seen.end(), [](const CardItem* a, const CardItem* b) { return a->number() < b->number(); });
  if (level < kBlock) paintBlocks(*painter, seen, level);
  if (level < kBlock) std::erase_if(seen, [](const CardItem* card) { return !card->marked(); });
  painter->save();
  if (painter->paintEngine()->type() == QPaintEngine::Raster && toView.type() <= QTransform::TxScale) {
    paintPixels(*painter, seen, level);
  } else {
    for (CardItem* card : seen) {
      painter->setWorldTransform(QTransform(toView).translate(card->pos().x(), card->pos().y()));
      card->paint(*painter, level);
    }
  }
  painter->restore();
}

// On pixels each card stands on whole ones from top to bottom and on halves from left to right, so that what many cards
// have in common is painted once and laid down for each. A wire meets its pin to a quarter of a pixel.
void CardsItem::paintPixels(QPainter& painter, const std::vector<CardItem*>& cards, double level) {
  const QTransform toView = painter.worldTransform();
  const double ratio = painter.device()->devicePixelRatioF();
  const QTransform toPixels = QTransform::fromScale(1 / ratio, 1 / ratio);
  for (CardItem* card : cards) {
    const QPointF corner = toView.map(card->sceneCard().topLeft()) * ratio;
    const double x = onHalfPixel(corner.x()), y = onPixel(corner.y());
    const QPointF inner = card->card().topLeft();
    const QTransform toCard(level, 0, 0, level, x / ratio - inner.x() * level, y / ratio - inner.y() * level);
    if (level < kBlock || card->faceKey().isEmpty()) {
      painter.setWorldTransform(toCard);
      card->paint(painter, level);
      continue;
    }
    painter.setWorldTransform(toPixels);
    card->beginPainting(painter, level);
    const double whole = std::floor(x);
    const int margin = faceMargin(level, ratio);
    painter.drawPixmap(QPointF(whole - margin, y - margin), face(*card, level, ratio, x > whole ? 1 : 0));
    painter.setWorldTransform(toCard);
    card->paintOwn(painter, level);
  }
}

void CardsItem::keepOf(double level, double ratio) {
  if (level == m_keptLevel && ratio == m_keptRatio) return;
  m_blocks.clear();
  m_faces.clear();
  m_keptLevel = level;
  m_keptRatio = ratio;
}

const QPixmap& CardsItem::face(const CardItem& card, double level, double ratio, int phase) {
  keepOf(level, ratio);
  QPixmap& made = m_faces[card.faceKey() + QLatin1Char(phase == 0 ? '0' : '5')];
  if (!made.isNull()) return made;
  const int margin = faceMargin(level, ratio);
  const QSizeF size = card.card().size() * level * ratio;
  made = QPixmap(static_cast<int>(std::ceil(size.width())) + 2 * margin + 1,
                 static_cast<int>(std::ceil(size.height())) + 2 * margin);
  made.setDevicePixelRatio(ratio);
  made.fill(Qt::transparent);
  {
    QPainter painter(&made);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate((margin + phase * 0.5) / ratio, margin / ratio);
    painter.scale(level, level);
    painter.translate(-card.card().topLeft());
    card.paintFace(painter, level);
  }
  made.setDevicePixelRatio(1);  // laid down pixel by pixel
  return made;
}

// A block by itself at the size of the level, made once.
const QPixmap& CardsItem::block(const CardItem& card, double level, double ratio) {
  keepOf(level, ratio);
  QPixmap& made =
      m_blocks[card.content().category + QLatin1Char('/') + card.content().icon + QString::number(card.card().width()) +
               (card.content().step ? QLatin1Char('s') + QString::number(*card.content().step) : QString())];
  if (!made.isNull()) return made;
  const QSizeF size = card.card().size() * level;
  made = QPixmap((size * ratio).toSize().expandedTo({1, 1}));
  made.setDevicePixelRatio(ratio);
  made.fill(Qt::transparent);
  QPainter painter(&made);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(level, level);
  painter.translate(-card.card().topLeft());
  card.paintBlock(painter, level);
  return made;
}

void CardsItem::paintBlocks(QPainter& painter, const std::vector<CardItem*>& cards, double level) {
  const QTransform toDevice = painter.worldTransform();
  painter.save();
  painter.setWorldTransform(QTransform());
  painter.setRenderHint(QPainter::Antialiasing, false);
  const double ratio = painter.device()->devicePixelRatioF();
  for (CardItem* card : cards) {
    if (card->marked()) continue;  // painted by itself, with what marks it
    const QRectF place = toDevice.mapRect(card->sceneCard());
    const QPoint corner(static_cast<int>(onPixel(place.left())), static_cast<int>(onPixel(place.top())));
    if (level < kBare) {
      const QRect block(corner, QPoint(static_cast<int>(onPixel(place.right())) - 1,
                                       std::max(corner.y(), static_cast<int>(onPixel(place.bottom())) - 1)));
      painter.fillRect(block, card->colour());
    } else {
      painter.drawPixmap(corner, block(*card, level, ratio));
    }
  }
  painter.restore();
}

}  // namespace loom

#include "widgets/canvas/cards_item.h"

#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QStyleOptionGraphicsItem>

#include "widgets/canvas/detail_levels.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

CardsItem::CardsItem() { setFlag(ItemUsesExtendedStyleOption); }
CardsItem::~CardsItem() = default;

CardItem& CardsItem::add(const std::string& id) {
  auto& card = m_cards[id];
  if (card) return *card;
  std::size_t number = m_byNumber.size();
  if (m_free.empty()) {
    m_byNumber.push_back(nullptr);
  } else {
    number = m_free.back();
    m_free.pop_back();
  }
  card = std::make_unique<CardItem>(id, *this, number);
  m_byNumber[number] = card.get();
  moved(*card);
  return *card;
}

void CardsItem::remove(const std::string& id) {
  const auto found = m_cards.find(id);
  if (found == m_cards.end()) return;
  const std::size_t number = found->second->number();
  m_grid.take(number);
  m_byNumber[number] = nullptr;
  m_free.push_back(number);
  m_cards.erase(found);
  ++m_revision;
  update();
}

void CardsItem::clear() {
  m_cards.clear();
  m_byNumber.clear();
  m_free.clear();
  m_grid.clear();
  ++m_revision;
  update();
}

CardItem* CardsItem::card(const std::string& id) const {
  const auto found = m_cards.find(id);
  return found == m_cards.end() ? nullptr : found->second.get();
}

std::vector<CardItem*> CardsItem::in(const QRectF& rect) const {
  std::vector<CardItem*> found;
  m_grid.any(rect, [&](std::size_t number, const QRectF& card) {
    if (card.intersects(rect) || card.contains(rect.center())) found.push_back(m_byNumber[number]);
    return false;
  });
  return found;
}

QRectF CardsItem::bounds() const {
  if (m_boundsOf == m_revision) return m_bounds;
  m_boundsOf = m_revision;
  m_bounds = {};
  for (const auto& [id, card] : m_cards) m_bounds = m_bounds.isNull() ? card->sceneCard() : m_bounds.united(card->sceneCard());
  return m_bounds;
}

void CardsItem::moved(CardItem& card) {
  m_grid.put(card.number(), card.sceneCard());
  ++m_revision;
  update();
}

// The view paints itself whole: one request is as good as many.
void CardsItem::repaint(const CardItem&) { update(); }

void CardsItem::setRules(std::shared_ptr<const WireRules> rules, const std::string& from, bool output) {
  m_rules = std::move(rules);
  m_rulesFrom = from;
  m_rulesOutput = output;
  ++m_rulesNumber;
  update();
}

void CardsItem::restyle() {
  m_blocks.clear();
  for (const auto& [id, card] : m_cards) card->restyle();
  update();
}

void CardsItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget*) {
  const double level = QStyleOptionGraphicsItem::levelOfDetailFromTransform(painter->worldTransform());
  std::vector<CardItem*> seen = in(option->exposedRect.adjusted(-64, -26, 64, 26));
  // Where cards overlap, the one that came later lies above.
  std::sort(seen.begin(), seen.end(), [](const CardItem* a, const CardItem* b) { return a->number() < b->number(); });
  if (level < kBlock) paintBlocks(*painter, seen, level);
  for (CardItem* card : seen) {
    if (level < kBlock && !card->marked()) continue;
    painter->save();
    painter->translate(card->pos());
    card->paint(*painter, level);
    painter->restore();
  }
}

// A block by itself at the size of the level, made once.
const QPixmap& CardsItem::block(const CardItem& card, double level, double ratio) {
  if (level != m_blocksLevel) {
    m_blocks.clear();
    m_blocksLevel = level;
  }
  QPixmap& made = m_blocks[card.content().category + QLatin1Char('/') + card.content().icon + QString::number(card.card().width())];
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

void CardsItem::paintBlocks(QPainter& painter, std::vector<CardItem*>& cards, double level) {
  const QTransform toDevice = painter.worldTransform();
  painter.save();
  painter.setWorldTransform(QTransform());
  painter.setRenderHint(QPainter::Antialiasing, false);
  const double ratio = painter.device()->devicePixelRatioF();
  for (CardItem* card : cards) {
    if (card->marked()) continue;  // painted by itself, with what marks it
    const QRectF place = toDevice.mapRect(card->sceneCard());
    if (level < kBare) {
      const QRect block(QPoint(qRound(place.left()), qRound(place.top())), QPoint(qRound(place.right()) - 1, std::max(qRound(place.top()), qRound(place.bottom()) - 1)));
      painter.fillRect(block, card->colour());
    } else {
      painter.drawPixmap(QPoint(qRound(place.left()), qRound(place.top())), block(*card, level, ratio));
    }
  }
  painter.restore();
}

}  // namespace loom

#pragma once
// All cards of a network as one item: ten thousand items of their own would cost a frame in book-keeping alone. Finds
// cards by id, by number and by place, and paints those in sight; from afar as blocks, in batches.
#include <QHash>
#include <QPixmap>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/number_table.h"
#include "widgets/canvas/canvas_item.h"
#include "widgets/canvas/card_item.h"
#include "widgets/document/card_grid.h"
#include "widgets/document/network_edits.h"

namespace loom {

class CardsItem : public CanvasItem {
 public:
  enum { Type = UserType + 1 };
  CardsItem();
  ~CardsItem() override;

  CardItem& add(const std::string& id);  // answers the one that is there already
  void remove(const std::string& id);
  void clear();
  CardItem* card(const std::string& id) const;
  CardItem* card(std::size_t number) const { return number < m_byNumber.size() ? m_byNumber[number].get() : nullptr; }
  std::size_t count() const { return m_names.size(); }
  std::size_t numbers() const { return m_byNumber.size(); }  // all are below
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& card : m_byNumber)
      if (card) visit(*card);
  }
  // Those whose card touches the rectangle, by no order.
  std::vector<CardItem*> in(const QRectF& rect) const;
  bool isFree(const QRectF& rect, const CardItem& except) const;  // no other card stands there
  // Of a frame whose edge runs through the area; null = none.
  QRectF edgeThrough(const QRectF& area) const;
  // What lies over the drawing, a unit opened in place: words beside cards keep away from it. Null: nothing does.
  void setCover(const QRectF& cover);
  bool isCovered(const QRectF& area) const { return m_cover.intersects(area); }
  const QRectF& bounds() const;                        // around all
  std::size_t revision() const { return m_revision; }  // another whenever a card came, went, moved or became another
  void restyle();
  // What is being computed anew: the cards' costs are those of before, and grey.
  void setCostsFaint(bool faint);
  bool costsFaint() const { return m_costsFaint; }
  // While a wire is drawn from a pin of `from`, an output or an input: cards show what it may go to, judged when they
  // are painted. Null: no wire is drawn.
  void setRules(std::shared_ptr<const WireRules> rules, const std::string& from, bool output);

  int type() const override { return Type; }
  QRectF boundingRect() const override { return {-1e7, -1e7, 2e7, 2e7}; }
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  friend class CardItem;
  void moved(CardItem& card);  // it stands elsewhere, or is as wide
  void recoloured() { ++m_revision; }
  void repaint(const CardItem& card);
  void paintPixels(QPainter& painter, const std::vector<CardItem*>& cards, double level);
  void paintBlocks(QPainter& painter, const std::vector<CardItem*>& cards, double level);
  const QPixmap& block(const CardItem& card, double level, double ratio);
  const QPixmap& face(const CardItem& card, double level, double ratio, int phase);
  void keepOf(double level, double ratio);

  NumberTable m_names;
  std::vector<std::unique_ptr<CardItem>> m_byNumber;  // null: no card has this number
  std::vector<std::size_t> m_free;
  CardGrid m_grid;
  std::size_t m_revision = 0;
  std::shared_ptr<const WireRules> m_rules;
  std::string m_rulesFrom;
  bool m_rulesOutput = false, m_costsFaint = false;
  std::size_t m_rulesNumber = 0;  // another with each change of them
  QRectF m_cover;
  mutable QRectF m_bounds;
  mutable std::size_t m_boundsOf = static_cast<std::size_t>(-1);
  QHash<QString, QPixmap> m_blocks, m_faces;  // of one level, theme and screen
  double m_keptLevel = 0, m_keptRatio = 0;
};

}  // namespace loom

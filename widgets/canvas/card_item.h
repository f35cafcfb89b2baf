#pragma once
// A node on the canvas: paints card, pins, cost and fault. It changes nothing: the scene gives it its words, the view
// moves it. Belongs to a CardsItem, which finds and paints all of them. What it looks like stands in card_painting.cpp.
#include <QColor>
#include <QPointF>
#include <QRectF>
#include <optional>
#include <string>
#include <vector>

#include "widgets/canvas/card_content.h"
#include "widgets/canvas/prepared_text.h"
#include "widgets/document/card_geometry.h"

class QPainter;

namespace loom {

class CardsItem;

struct CardPin {
  Endpoint end;
  int slot = 0;
  bool optional = false;
  bool wired = false;
  QPointF at;  // from the centre of the card

  bool operator==(const CardPin&) const = default;
};

// What a pin or card is while a wire is being drawn.
enum class Legality { none, legal, illegal };

// So far a word under a unit stands lower than under a card: two sheets look out below it.
inline constexpr double kSheetsBelow = 3;

// How far the words beside a card reach.
inline constexpr double kBesideCard = 96;

class CardItem {
 public:
  CardItem(std::string id, CardsItem& cards, std::size_t number);

  const std::string& id() const { return m_id; }
  std::size_t number() const { return m_number; }  // as long as it is there; another may have it afterwards
  QPointF pos() const { return m_pos; }
  void setPos(QPointF pos);
  void setPos(double x, double y) { setPos(QPointF(x, y)); }
  const CardContent& content() const { return m_content; }
  QRectF card() const { return {-m_width / 2, -kCardHeight / 2, m_width, kCardHeight}; }
  QRectF sceneCard() const { return card().translated(pos()); }
  const std::vector<CardPin>& inputs() const { return m_inputs; }
  const std::vector<CardPin>& outputs() const { return m_outputs; }

  void setContent(CardContent content, double width, std::vector<CardPin> inputs, std::vector<CardPin> outputs);
  // Of the network's, and of the largest node's; and where cards are coloured, the step and the cost in words.
  void setCost(double share, double bar, std::optional<int> step = {}, const QString& cost = {});
  void setFaults(const QStringList& errors, const QStringList& warnings);
  void setPicked(bool picked);  // selected; the scene keeps the set
  void setHovered(bool hovered);
  void setHoveredPin(std::optional<Endpoint> pin);
  void setDimmed(bool dimmed);
  bool picked() const { return m_picked; }
  bool dimmed() const { return m_dimmed; }
  QRectF repeatChip() const;  // from the centre of the card; null without a repeat
  bool hovered() const { return m_hovered; }
  // Something about it is seen from afar too: it is painted by itself.
  bool marked() const {
    return m_picked || m_hovered || m_dimmed || m_hoveredPin || legality() != Legality::none ||
           !m_content.errors.isEmpty();
  }
  QColor colour() const;      // of its category, or of its step
  Legality legality() const;  // while a wire is drawn; illegal: it may go to no pin of it
  void restyle();             // theme, text size

  QRectF boundingRect() const;  // from the centre of the card
  void paint(QPainter& painter, double level);
  void paintBlock(QPainter& painter, double level) const;
  // The same in two steps, from kBlock on: what many cards have in common, which is painted once for all of one key,
  // and what is its own. Null: it shares nothing.
  const QString& faceKey() const;
  void paintFace(QPainter& painter, double level) const;
  void beginPainting(QPainter& painter, double level);  // how faint, before either
  void paintOwn(QPainter& painter, double level);

 private:
  void update();
  void judge() const;
  void forgetTexts();
  void prepareTexts(double level);
  void paintCardFace(QPainter& painter, double level) const;
  void paintBar(QPainter& painter, double level) const;
  void paintWords(QPainter& painter, double level) const;
  void paintSheets(QPainter& painter) const;
  void paintFarWords(QPainter& painter) const;
  void paintGroupFace(QPainter& painter, double level) const;
  void paintPort(QPainter& painter) const;
  void paintPercent(QPainter& painter) const;
  std::optional<QRectF> placeOfPercent() const;
  QColor costInk() const;
  QRectF pill() const;  // of a unit's own input or output
  // As they are by themselves; and those that are marked, over it.
  void paintPins(QPainter& painter, const std::vector<CardPin>& pins, bool output) const;
  void paintMarkedPins(QPainter& painter, const std::vector<CardPin>& pins, const std::vector<Legality>& legality,
                       bool output) const;
  bool waits(const CardPin& pin, bool output) const;
  void paintPin(QPainter& painter, const CardPin& pin, bool output) const;
  void paintOutlines(QPainter& painter, double level) const;

  std::string m_id;
  CardsItem& m_cards;
  std::size_t m_number;
  QPointF m_pos;
  CardContent m_content;
  double m_width = kCardWidth;
  std::vector<CardPin> m_inputs, m_outputs;
  mutable std::vector<Legality> m_inputLegality, m_outputLegality;
  mutable Legality m_legality = Legality::none;
  mutable std::size_t m_judged = 0;  // number of the rules by which it was
  std::optional<Endpoint> m_hoveredPin;
  bool m_picked = false, m_hovered = false, m_dimmed = false;
  mutable QColor m_colour;
  mutable QString m_faceKey;
  PreparedText m_title, m_farTitle, m_type, m_parameters, m_percent, m_help, m_repeat, m_cost, m_farCost, m_farShort;
  // By which fonts they were laid out, 0 = not yet: most cards of a large network are out of sight.
  std::size_t m_textsOf = 0, m_farTextsOf = 0, m_helpOf = 0;
};

}  // namespace loom

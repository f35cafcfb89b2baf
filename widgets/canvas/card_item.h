#pragma once
// A node on the canvas: one item that paints card, pins, cost and fault itself. It changes nothing: the scene gives it its
// words, the view moves it.
#include <optional>
#include <string>
#include <vector>

#include <QGraphicsItem>
#include <QStaticText>

#include "widgets/canvas/card_content.h"
#include "widgets/document/card_geometry.h"

namespace loom {

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

class CardItem : public QGraphicsItem {
 public:
  enum { Type = UserType + 1 };
  explicit CardItem(std::string id);

  const std::string& id() const { return m_id; }
  const CardContent& content() const { return m_content; }
  QRectF card() const { return {-m_width / 2, -kCardHeight / 2, m_width, kCardHeight}; }
  QRectF sceneCard() const { return card().translated(pos()); }
  const std::vector<CardPin>& inputs() const { return m_inputs; }
  const std::vector<CardPin>& outputs() const { return m_outputs; }

  void setContent(CardContent content, double width, std::vector<CardPin> inputs, std::vector<CardPin> outputs);
  void setPicked(bool picked);    // selected; the scene keeps the set
  void setHovered(bool hovered);
  void setHoveredPin(std::optional<Endpoint> pin);
  void setLegality(Legality card, std::vector<Legality> inputs, std::vector<Legality> outputs);
  bool picked() const { return m_picked; }
  Legality legality() const { return m_legality; }
  void restyle();                 // theme, text size

  int type() const override { return Type; }
  QRectF boundingRect() const override;
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  void prepareTexts();
  void paintBlock(QPainter& painter, double level) const;
  void paintCardFace(QPainter& painter, double level) const;
  void paintPins(QPainter& painter, const std::vector<CardPin>& pins, const std::vector<Legality>& legality, bool output) const;
  void paintOutlines(QPainter& painter, double level) const;

  std::string m_id;
  CardContent m_content;
  double m_width = kCardWidth;
  std::vector<CardPin> m_inputs, m_outputs;
  std::vector<Legality> m_inputLegality, m_outputLegality;
  Legality m_legality = Legality::none;
  std::optional<Endpoint> m_hoveredPin;
  bool m_picked = false, m_hovered = false;
  QStaticText m_title, m_farTitle, m_type, m_parameters, m_percent, m_help;
  double m_typeWidth = 0, m_percentWidth = 0;
  bool m_textsStale = true;  // laid out when first painted: most cards of a large network are out of sight
};

}  // namespace loom

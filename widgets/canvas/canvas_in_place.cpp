// NetworkView: a unit opened in place, beside its use.
#include <QApplication>
#include <QPainter>
#include <QPainterPath>

#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/controls/commands.h"
#include "widgets/library/own_layers.h"
#include "widgets/theme/theme.h"

namespace loom {

void NetworkView::openInPlace(const std::string& use) {
  if (m_unitView == nullptr) {
    m_unitView = new UnitView(*this);
    NetworkView& inner = m_unitView->view();
    inner.setCommands(commands());
    inner.setOwnLayers(m_ownLayers);
    connect(m_unitView, &UnitView::closed, this, [this] {
      placeOverlays();
      viewport()->update();
      setFocus(Qt::OtherFocusReason);
      Q_EMIT inHandChanged();
    });
    connect(m_unitView, &UnitView::tabWanted, this, &NetworkView::tabRequested);
    connect(&inner, &NetworkView::editRequested, this, &NetworkView::editRequested);
    connect(&inner, &NetworkView::renameRequested, this, &NetworkView::renameRequested);
    connect(&inner, &NetworkView::paletteRequested, this, &NetworkView::paletteRequested);
    connect(&inner, &NetworkView::tabRequested, this, &NetworkView::tabRequested);
    connect(&inner, &NetworkView::ownLayerRenamed, this, &NetworkView::ownLayerRenamed);
    connect(&inner, &NetworkView::inHandChanged, this, &NetworkView::inHandChanged);
    connect(&inner, &NetworkView::wireHovered, this, &NetworkView::wireHovered);
    // What is selected in one is in hand alone: the other lets go.
    connect(&inner.networkScene(), &NetworkScene::picksChanged, this, [this] {
      if (m_unitView == nullptr) return;
      if (!m_unitView->scene().picked().empty()) m_scene.pick({});
      Q_EMIT inHandChanged();
    });
    connect(&m_scene, &NetworkScene::picksChanged, this, [this] {
      if (m_unitView != nullptr && m_unitView->isOpen() && !m_scene.picked().empty()) m_unitView->scene().pick({});
      Q_EMIT inHandChanged();
    });
    connect(&m_scene, &NetworkScene::networkSwitched, m_unitView, &UnitView::close);
  }
  m_unitView->open(use);
  if (!m_unitView->isOpen()) return m_hint->say(tr("There is no unit to open"), viewport()->rect().center());
  // The use beside the card, not below it.
  const CardItem* card = m_scene.card(use);
  if (card != nullptr) {
    const int covered = mapFromScene(card->sceneCard()).boundingRect().right() + 48 - m_unitView->card().left();
    if (covered > 0) centerOn(middle() + QPointF(covered / zoom(), 0));
  }
  m_unitView->place();
  viewport()->update();
  Q_EMIT inHandChanged();
}

void NetworkView::toggleInPlace() {
  if (m_unitView != nullptr && m_unitView->isOpen()) return m_unitView->close();
  const std::vector<std::string> ids = m_scene.pickedNodes();
  const Node* use = ids.size() == 1 ? m_scene.network().find(ids.front()) : nullptr;
  if (use != nullptr && !use->unit.empty()) openInPlace(use->id);
}

// From the use to the card that shows what is in it.
void NetworkView::drawWedge(QPainter* painter) const {
  if (m_unitView == nullptr || !m_unitView->isOpen()) return;
  const CardItem* use = m_scene.card(m_unitView->use());
  if (use == nullptr) return;
  const QRectF card = use->sceneCard();
  const QRectF there = mapToScene(m_unitView->card()).boundingRect();
  const bool right = there.center().x() > card.center().x();
  const double from = right ? card.right() + 6 : card.left(), to = right ? there.left() : there.right();
  QPainterPath wedge(QPointF(from, card.center().y() - card.height() / 3));
  wedge.lineTo(to, there.top() + 10);
  wedge.lineTo(to, there.bottom() - 10);
  wedge.lineTo(from, card.center().y() + card.height() / 3);
  wedge.closeSubpath();
  painter->setPen(Qt::NoPen);
  painter->setBrush(Theme::of(this).colour(Colour::accentSoft, Theme::of(this).isDark() ? 0.75 : 0.85));
  painter->drawPath(wedge);
}

void NetworkView::focusOutEvent(QFocusEvent* event) {
  QGraphicsView::focusOutEvent(event);
  m_spaceHeld = false;
}

}  // namespace loom

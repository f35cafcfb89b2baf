#include "widgets/canvas/unit_view.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/canvas/argument_chips.h"
#include "widgets/canvas/network_view.h"
#include "widgets/controls/button.h"
#include "widgets/controls/elided_label.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr int kUnitRadius = 10, kUnitHead = 42, kUnitWidth = 300, kUnitHeight = 240, kUnitBeside = 64, kUnitEdge = 12,
              kUnitAround = 86;  // beside its cards, where shares of the cost stand; fit() gives more of it to the left
constexpr double kMostOfWidth = 0.62;

}  // namespace

UnitView::UnitView(NetworkView& outer)
    : QWidget(outer.viewport()),
      m_outer(outer),
      m_scene(new NetworkScene(outer.networkScene().document(), this)),
      m_view(new NetworkView(*m_scene, this)),
      m_chips(new ArgumentChips(outer.networkScene().document(), this)) {
  setAccessibleName(tr("Unit opened in place"));
  setAttribute(Qt::WA_NoMousePropagation);
  m_view->setEmbedded(true);
  m_scene->setGround(Colour::surface);
  auto* sign = new IconLabel(QStringLiteral("unit"), Colour::text2, 16, this);
  m_name = makeLabel("heading", {}, this);
  m_words = new ElidedLabel("hint", this);
  auto* tab = iconButton(QStringLiteral("export"), tr("Open its tab (Enter)"), this);
  auto* shut = iconButton(QStringLiteral("close"), tr("Close (Esc)"), this);
  const int margin = shadowMargin(Elevation::menu);
  m_head = new QWidget(this);
  keepHeight(m_head, kUnitHead);
  auto* head = new QHBoxLayout(m_head);
  head->setContentsMargins(14, 0, 6, 0);
  head->setSpacing(8);
  head->addWidget(sign);
  head->addWidget(m_name);
  head->addWidget(m_words, 1);
  head->addWidget(tab);
  head->addWidget(shut);
  auto* chips = new QHBoxLayout;
  chips->setContentsMargins(14, 10, 14, 6);
  chips->addWidget(m_chips);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(margin + 2, margin + 2, margin + 2, margin + 2);
  column->setSpacing(0);
  column->addWidget(m_head);
  column->addWidget(hairline(Qt::Horizontal, this));
  column->addLayout(chips);
  column->addWidget(m_view, 1);
  setTabOrder(m_chips, m_view);
  setTabOrder(m_view, tab);
  setTabOrder(tab, shut);
  connect(tab, &QAbstractButton::clicked, this, [this] { Q_EMIT tabWanted(q(m_unit)); });
  connect(shut, &QAbstractButton::clicked, this, &UnitView::close);
  ProjectDocument& document = outer.networkScene().document();
  connect(&document, &ProjectDocument::changed, this, &UnitView::refresh);
  // The bars in it mean what those around it mean.
  connect(&outer.networkScene(), &NetworkScene::costKindChanged, this,
          [this] { m_scene->setCostKind(m_outer.networkScene().costKind()); });
  connect(&document, &ProjectDocument::opened, this, &UnitView::close);
  hide();
}

UnitView::~UnitView() {
  // The view looks at the scene until it goes.
  delete m_view;
}

const Node* UnitView::node() const {
  const Node* node = m_outer.networkScene().network().find(m_use);
  return node == nullptr || node->unit.empty() ? nullptr : node;
}

void UnitView::open(const std::string& use) {
  m_use = use;
  const Node* node = this->node();
  const Network* unit = node == nullptr ? nullptr : m_outer.networkScene().document().project().unit(node->unit);
  if (unit == nullptr) return;
  m_unit = node->unit;
  m_scene->setUse({m_outer.networkScene().networkName(), use});
  m_scene->setNetwork(m_unit);
  if (m_scene->costKind() != m_outer.networkScene().costKind()) m_scene->setCostKind(m_outer.networkScene().costKind());
  m_chips->setUse(m_outer.networkScene().networkName(), use);
  refresh();
  resize(wantedSize());
  show();
  raise();
  place();
  layout()->activate();
  m_view->fit();
  m_view->setFocus(Qt::OtherFocusReason);
}

void UnitView::close() {
  if (!isVisible()) return;
  hide();
  m_outer.networkScene().cards().setCover({});
  m_scene->pick({});
  m_scene->setUse({});
  m_use.clear();
  Q_EMIT closed();
}

void UnitView::refresh() {
  if (m_use.empty()) return;
  const Node* use = node();
  if (use == nullptr || m_outer.networkScene().document().project().unit(use->unit) == nullptr) return close();
  if (use->unit != m_unit) {  // it was renamed, or another one is used now
    m_unit = use->unit;
    m_scene->setNetwork(m_unit);
    m_chips->setUse(m_outer.networkScene().networkName(), m_use);
  }
  m_name->setText(q(m_unit));
  const auto uses = static_cast<qint64>(usesOf(m_outer.networkScene().document().project(), m_unit).size());
  m_words->setText(tr("shown for %2, used %1").arg(counted(uses, tr("times")), q(m_use)));
  m_words->setToolTip(m_words->text());
}

// As large as its drawing at full size and the words above it, as far as the canvas has room beside the use.
QSize UnitView::wantedSize() const {
  const QRectF cards = m_scene->cardsRect();
  const int margin = shadowMargin(Elevation::menu), frame = 2 * (margin + 2);
  const QSize room = m_outer.viewport()->size();
  const int width = std::clamp(std::max(static_cast<int>(cards.width()) + 2 * kUnitAround, m_head->sizeHint().width()),
                               kUnitWidth, std::max(kUnitWidth, static_cast<int>(room.width() * kMostOfWidth)));
  const int chips = std::max(22, m_chips->layout()->heightForWidth(width - 28)) + 16;
  const int height = std::clamp(static_cast<int>(cards.height()) + 52 + m_head->height() + chips, kUnitHeight,
                                std::max(kUnitHeight, room.height() - 2 * kUnitEdge));
  return {width + frame, height + frame};
}

QRect UnitView::card() const {
  const int margin = shadowMargin(Elevation::menu);
  return geometry().adjusted(margin, margin, -margin, -margin);
}

void UnitView::place() {
  if (!isVisible()) return;
  const CardItem* use = m_outer.networkScene().card(m_use);
  if (use == nullptr) return;
  if (size() != wantedSize()) resize(wantedSize());
  const QRect there = m_outer.mapFromScene(use->sceneCard()).boundingRect();
  const QRect room = m_outer.viewport()->rect().adjusted(kUnitEdge, kUnitEdge, -kUnitEdge, -kUnitEdge);
  const int margin = shadowMargin(Elevation::menu);
  const QSize inner = size() - QSize(2 * margin, 2 * margin);
  const int x =
      std::clamp(there.right() + kUnitBeside, room.left(), std::max(room.left(), room.right() - inner.width()));
  const int y = std::clamp(there.center().y() - inner.height() / 2, room.top(),
                           std::max(room.top(), room.bottom() - inner.height()));
  move(x - margin, y - margin);
  m_outer.networkScene().cards().setCover(m_outer.mapToScene(card()).boundingRect());
}

void UnitView::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const int margin = shadowMargin(Elevation::menu);
  const QRectF card = QRectF(rect()).adjusted(margin, margin, -margin, -margin);
  paintShadow(painter, card, kUnitRadius, Elevation::menu);
  painter.setPen(QPen(theme.colour(Colour::focus), 1.2));
  painter.setBrush(theme.colour(Colour::surface));
  painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), kUnitRadius, kUnitRadius);
}

void UnitView::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return close();
  QWidget::keyPressEvent(event);
}

}  // namespace loom

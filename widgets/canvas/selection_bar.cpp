#include "widgets/canvas/selection_bar.h"

#include <QHBoxLayout>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "widgets/canvas/network_view.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {
constexpr int kBarPadding = 4, kBarGap = 14;
}

SelectionBar::SelectionBar(NetworkView& view) : QWidget(view.viewport()), m_view(view) {
  setAccessibleName(tr("Align and distribute"));
  setAttribute(Qt::WA_NoMousePropagation);
  const int margin = shadowMargin(Elevation::menu) + kBarPadding;
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(margin, margin, margin, margin);
  row->setSpacing(2);
  const auto add = [&](const char* icon, const QString& name, auto action) {
    Button* button = iconButton(QString::fromLatin1(icon), name, this);
    button->setFocusPolicy(Qt::NoFocus);  // the keys do the same, and the canvas keeps the keyboard
    connect(button, &QAbstractButton::clicked, this, action);
    row->addWidget(button);
    m_buttons.push_back(button);
  };
  const auto line = [&] {
    QFrame* between = hairline(Qt::Vertical, this);
    between->setFixedSize(1, 18);
    row->addSpacing(3);
    row->addWidget(between);
    row->addSpacing(3);
  };
  add("align-left", tr("Align left edges (Alt+Left)"), [this] { m_view.alignSelection(Qt::AlignLeft); });
  add("align-centre", tr("Align centres"), [this] { m_view.alignSelection(Qt::AlignHCenter); });
  add("align-right", tr("Align right edges (Alt+Right)"), [this] { m_view.alignSelection(Qt::AlignRight); });
  line();
  add("align-top", tr("Align tops (Alt+Up)"), [this] { m_view.alignSelection(Qt::AlignTop); });
  add("align-middle", tr("Align middles"), [this] { m_view.alignSelection(Qt::AlignVCenter); });
  add("align-bottom", tr("Align bottoms (Alt+Down)"), [this] { m_view.alignSelection(Qt::AlignBottom); });
  line();
  add("distribute-across", tr("Distribute across (Alt+Shift+Right)"),
      [this] { m_view.distributeSelection(Qt::Horizontal); });
  add("distribute-down", tr("Distribute down (Alt+Shift+Down)"), [this] { m_view.distributeSelection(Qt::Vertical); });
  hide();
}

void SelectionBar::place() {
  const NetworkScene& scene = m_view.networkScene();
  std::size_t cards = 0;
  for (const std::string& id : scene.picked().nodes) cards += scene.card(id) != nullptr;
  const bool several = cards > 1 && scene.picked().groups.empty() && !m_view.embedded() && scene.previewed().empty();
  if (!several) return hide();
  m_buttons[6]->setEnabled(cards > 2);
  m_buttons[7]->setEnabled(cards > 2);
  resize(sizeHint());
  const QRect around =
      m_view.mapFromScene(scene.cardsRect(scene.picked().nodes).adjusted(-10, -10, 10, 10)).boundingRect();
  const int margin = shadowMargin(Elevation::menu);
  const QSize bar = size() - QSize(2 * margin, 2 * margin);
  const QRect room = m_view.viewport()->rect().adjusted(6, 6, -6, -6);
  const QRect wanted[] = {
      {around.right() - bar.width() + 1, around.bottom() + kBarGap, bar.width(), bar.height()},
      {around.left(), around.bottom() + kBarGap, bar.width(), bar.height()},
      {around.right() + kBarGap, around.bottom() - bar.height() + 1, bar.width(), bar.height()},
      {around.right() - bar.width() + 1, around.top() - kBarGap - bar.height(), bar.width(), bar.height()},
      {around.left(), around.top() - kBarGap - bar.height(), bar.width(), bar.height()},
      {around.left() - kBarGap - bar.width(), around.top(), bar.width(), bar.height()}};
  const auto free = [&](const QRect& rect) {
    const QRectF there = m_view.mapToScene(rect).boundingRect();
    return room.contains(rect) && scene.edgesIn(there).empty() && scene.nodesIn(there).empty();
  };
  const QRect* best = std::find_if(std::begin(wanted), std::end(wanted), free);
  if (best == std::end(wanted))
    best = std::find_if(std::begin(wanted), std::end(wanted), [&](const QRect& rect) { return room.contains(rect); });
  QRect place =
      best == std::end(wanted) ? QRect(QPoint(room.right() - bar.width(), room.bottom() - bar.height()), bar) : *best;
  move(place.topLeft() - QPoint(margin, margin));
  show();
  raise();
}

void SelectionBar::mousePressEvent(QMouseEvent* event) {
  event->accept();
}

void SelectionBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double margin = shadowMargin(Elevation::menu);
  paintCard(painter, QRectF(rect()).adjusted(margin, margin, -margin, -margin), Theme::of(this).radius(Radius::card),
            Elevation::menu);
}

}  // namespace loom

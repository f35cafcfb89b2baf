#include "widgets/controls/flow_layout.h"

#include <QWidget>
#include <algorithm>
#include <iterator>

namespace loom {

FlowLayout::FlowLayout(QWidget* parent, int spacing) : QLayout(parent) {
  setSpacing(spacing);
  setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout() {
  for (QLayoutItem* item : m_items) delete item;
}

void FlowLayout::addItem(QLayoutItem* item) {
  m_items.push_back(item);
}

void FlowLayout::insertWidget(int index, QWidget* widget) {
  addChildWidget(widget);
  m_items.insert(m_items.begin() + std::clamp(index, 0, count()), new QWidgetItem(widget));
  invalidate();
}

QLayoutItem* FlowLayout::itemAt(int index) const {
  return index >= 0 && index < count() ? m_items[static_cast<std::size_t>(index)] : nullptr;
}

QLayoutItem* FlowLayout::takeAt(int index) {
  QLayoutItem* item = itemAt(index);
  if (item) m_items.erase(m_items.begin() + index);
  return item;
}

int FlowLayout::heightForWidth(int width) const {
  const QMargins margins = contentsMargins();
  return arrange(QRect(0, 0, width - margins.left() - margins.right(), 0), false) + margins.top() + margins.bottom();
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect.marginsRemoved(contentsMargins()), true);
}

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* item : m_items) size = size.expandedTo(item->minimumSize());
  return size.grownBy(contentsMargins());
}

int FlowLayout::arrange(const QRect& rect, bool place) const {
  std::vector<QLayoutItem*> items;  // those that are not hidden
  std::copy_if(m_items.begin(), m_items.end(), std::back_inserter(items),
               [](const QLayoutItem* each) { return !each->isEmpty(); });
  int x = rect.left();
  int y = rect.top();
  std::size_t first = 0;
  const auto closeLine = [&](std::size_t end) {
    int height = 0;
    for (std::size_t i = first; i < end; ++i) height = std::max(height, items[i]->sizeHint().height());
    int left = rect.left();
    for (std::size_t i = first; place && i < end; ++i) {
      const QSize size = items[i]->sizeHint();
      const bool last = i + 1 == items.size();
      const bool stretches = last && (items[i]->expandingDirections() & Qt::Horizontal);
      const int width = stretches ? rect.right() + 1 - left : std::min(size.width(), rect.width());
      items[i]->setGeometry(QRect(left, y + (height - size.height()) / 2, width, size.height()));
      left += width + spacing();
    }
    y += height + spacing();
    first = end;
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    const int width = std::min(items[i]->sizeHint().width(), rect.width());
    if (i > first && x + width > rect.right() + 1) {
      closeLine(i);
      x = rect.left();
    }
    x += width + spacing();
  }
  if (first < items.size()) closeLine(items.size());
  return items.empty() ? 0 : y - spacing() - rect.top();
}

}  // namespace loom

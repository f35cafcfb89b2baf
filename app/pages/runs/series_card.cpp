#include "app/pages/runs/series_card.h"

#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/controls/search_field.h"

namespace loom {
namespace {

constexpr int kWidth = 300, kMostRows = 12;

}  // namespace

SeriesCard::SeriesCard(const std::vector<Offer>& offers, QWidget* window)
    : Popover(window), m_search(new SearchField(tr("Learning rate, gradient norm, …"))), m_list(new QListWidget) {
  setObjectName("series-card");
  setTitle(tr("What the chart shows"));
  m_search->setObjectName("series-search");
  m_search->setAccessibleName(tr("Search the curves"));
  m_search->setMinimumWidth(kWidth);
  m_list->setObjectName("series-list");
  m_list->setAccessibleName(tr("Curves of the runs"));
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setUniformItemSizes(true);
  for (const Offer& each : offers) {
    auto* item = new QListWidgetItem(each.title, m_list);
    item->setData(Qt::UserRole, each.key);
    item->setToolTip(each.key);
  }
  const int row = m_list->count() ? m_list->sizeHintForRow(0) : fontMetrics().height();
  m_list->setFixedHeight(row * std::clamp(m_list->count(), 1, kMostRows) + 6);
  contentLayout()->addWidget(m_search);
  contentLayout()->addWidget(m_list);
  if (offers.empty()) {
    auto* none = new QLabel(tr("The runs that are drawn have no other curves."));
    none->setProperty("kind", "hint");
    contentLayout()->addWidget(none);
  }
  m_search->installEventFilter(this);
  setFocusProxy(m_search);
  connect(m_search, &QLineEdit::textChanged, this, &SeriesCard::filter);
  connect(m_search, &SearchField::escaped, this, &QWidget::close);
  connect(m_list, &QListWidget::itemClicked, this, &SeriesCard::take);
  connect(m_list, &QListWidget::itemActivated, this, &SeriesCard::take);
  filter({});
}

// All of its words, in any order; the key too, as the log has it.
void SeriesCard::filter(const QString& text) {
  const QStringList words = text.split(' ', Qt::SkipEmptyParts);
  QListWidgetItem* first = nullptr;
  for (int i = 0; i < m_list->count(); ++i) {
    QListWidgetItem* const item = m_list->item(i);
    const QString all = item->text() + ' ' + item->data(Qt::UserRole).toString();
    const bool fits = std::all_of(words.begin(), words.end(),
                                  [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
    item->setHidden(!fits);
    if (fits && !first) first = item;
  }
  m_list->setCurrentItem(first);
}

void SeriesCard::take() {
  const QListWidgetItem* const item = m_list->currentItem();
  if (!item || item->isHidden()) return;
  const QString key = item->data(Qt::UserRole).toString();
  close();
  Q_EMIT chosen(key);
}

// The arrows move in the list while one types.
bool SeriesCard::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_search && event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) return take(), true;
    if (key->key() == Qt::Key_Up || key->key() == Qt::Key_Down) {
      const int step = key->key() == Qt::Key_Down ? 1 : -1;
      for (int row = m_list->currentRow() + step; row >= 0 && row < m_list->count(); row += step)
        if (!m_list->item(row)->isHidden()) return m_list->setCurrentRow(row), true;
      return true;
    }
  }
  return Popover::eventFilter(watched, event);
}

}  // namespace loom

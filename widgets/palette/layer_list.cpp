#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QDrag>
#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMimeData>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <algorithm>
#include <map>

#include "engine/layers/layer.h"
#include "widgets/canvas/network_view.h"
#include "widgets/palette/layer_palette.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr int kRow = 24, kHeading = 30, kShown = 4;
enum Role { idRole = Qt::UserRole, iconRole, categoryRole, moreRole, noteRole };

class PaletteDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
    return {100, index.data(idRole).isNull() ? kHeading : kRow};
  }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& theme = Theme::of();
    const QRectF row(option.rect);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool hovered = option.state.testFlag(QStyle::State_MouseOver);
    if (index.data(idRole).isNull()) {
      painter->setFont(theme.font(FontRole::label));
      painter->setPen(theme.colour(Colour::text2));
      painter->drawText(row.adjusted(16, 6, -8, 0), Qt::AlignVCenter | Qt::AlignLeft,
                        index.data(Qt::DisplayRole).toString());
      painter->setFont(Theme::withWeight(theme.font(FontRole::caption), 400));
      painter->setPen(theme.colour(hovered ? Colour::accentText : Colour::text3));
      painter->drawText(row.adjusted(16, 6, -12, 0), Qt::AlignVCenter | Qt::AlignRight,
                        index.data(moreRole).toString());
      painter->restore();
      return;
    }
    const bool current =
        option.state.testFlag(QStyle::State_Selected) && option.widget != nullptr && option.widget->hasFocus();
    if (current || hovered) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(theme.colour(current ? Colour::selected : Colour::hover));
      painter->drawRoundedRect(row.adjusted(8, 0, -8, 0), 5, 5);
    }
    const QString category = index.data(categoryRole).toString();
    paintIcon(*painter, layerIcon(index.data(iconRole).toString(), category),
              QRectF(row.left() + 16, row.center().y() - 8, 16, 16), theme.layerColour(category));
    painter->setFont(theme.font(FontRole::body));
    painter->setPen(theme.colour(Colour::text));
    QRectF words = row.adjusted(40, 0, -10, 0);
    if (const QString note = index.data(noteRole).toString(); !note.isEmpty()) {
      painter->setFont(Theme::withWeight(theme.font(FontRole::caption), 400));
      painter->setPen(
          theme.colour(option.state.testFlag(QStyle::State_Enabled) ? Colour::accentText : Colour::warning));
      painter->drawText(words, Qt::AlignVCenter | Qt::AlignRight, note);
      words.setRight(words.right() - QFontMetricsF(painter->font()).horizontalAdvance(note) - 8);
      painter->setFont(theme.font(FontRole::body));
      painter->setPen(theme.colour(option.state.testFlag(QStyle::State_Enabled) ? Colour::text : Colour::text3));
    }
    const QString name = QFontMetricsF(painter->font())
                             .elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideRight, words.width());
    painter->drawText(words, Qt::AlignVCenter | Qt::AlignLeft, name);
    painter->restore();
  }
};

}  // namespace

QString categoryTitle(const std::string& category) {
  static const std::map<std::string, const char*> titles{
      {"inputOutput", QT_TRANSLATE_NOOP("Palette", "Input and output")},
      {"convolution", QT_TRANSLATE_NOOP("Palette", "Convolution")},
      {"linear", QT_TRANSLATE_NOOP("Palette", "Linear")},
      {"normalisation", QT_TRANSLATE_NOOP("Palette", "Normalisation")},
      {"activation", QT_TRANSLATE_NOOP("Palette", "Activation")},
      {"pooling", QT_TRANSLATE_NOOP("Palette", "Pooling")},
      {"shape", QT_TRANSLATE_NOOP("Palette", "Shape and arithmetic")},
      {"recurrentAttention", QT_TRANSLATE_NOOP("Palette", "Recurrent, attention")},
      {"lossMetric", QT_TRANSLATE_NOOP("Palette", "Loss and metric")},
      {"unit", QT_TRANSLATE_NOOP("Palette", "Unit")},
      {"own", QT_TRANSLATE_NOOP("Palette", "My layers")}};
  const auto found = titles.find(category);
  return found != titles.end() ? QCoreApplication::translate("Palette", found->second)
                               : QString::fromStdString(category);
}

LayerList::LayerList(QWidget* parent) : QListWidget(parent) {
  setAccessibleName(tr("Layers by category"));
  setItemDelegate(new PaletteDelegate(this));
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(ScrollPerPixel);
  setMouseTracking(true);
  setDragEnabled(true);
  setDragDropMode(DragOnly);
  setSelectionMode(SingleSelection);
  connect(this, &QListWidget::itemDoubleClicked, this, [this](QListWidgetItem* item) {
    if (!item->data(idRole).isNull() && item->flags().testFlag(Qt::ItemIsEnabled))
      Q_EMIT chosen(item->data(idRole).toString());
  });
}

std::string LayerList::currentLayer() const {
  const QListWidgetItem* item = currentItem();
  return item == nullptr || !item->flags().testFlag(Qt::ItemIsEnabled) ? std::string()
                                                                       : item->data(idRole).toString().toStdString();
}

void LayerList::setOwn(std::vector<OwnRow> own) {
  m_own = std::move(own);
}

void LayerList::setUnits(std::vector<Entry> units) {
  m_units = std::move(units);
}

void LayerList::fill(const QString& query) {
  m_query = query.trimmed();
  clear();
  std::vector<const Entry*> entries;
  for (const LayerDefinition* layer : layerTable()) entries.push_back(&layer->entry);
  for (const Entry& unit : m_units) entries.push_back(&unit);
  for (const OwnRow& own : m_own)
    if (m_query.isEmpty() || (own.fault.isEmpty() && !own.present)) entries.push_back(&own.entry);
  const std::vector<const Entry*> found = loom::search(entries, m_query.toStdString());
  m_found = static_cast<int>(found.size());
  const auto add = [&](const Entry* entry) {
    auto* item = new QListWidgetItem(QString::fromStdString(entry->label), this);
    item->setData(idRole, QString::fromStdString(entry->id));
    item->setData(iconRole, QString::fromStdString(entry->icon));
    item->setData(categoryRole, QString::fromStdString(entry->category));
    item->setToolTip(QString::fromStdString(entry->summary));
    const auto own = std::find_if(m_own.begin(), m_own.end(), [&](const OwnRow& each) { return &each.entry == entry; });
    if (own == m_own.end()) return;
    item->setData(noteRole, own->note);
    if (own->fault.isEmpty()) return;
    // Listed, so that whoever put the file there finds out why it is no layer; there is nothing to add.
    item->setFlags(Qt::ItemIsSelectable);
    item->setToolTip(tr("%1 cannot be used: %2").arg(QString::fromStdString(entry->label), own->fault));
  };
  if (!m_query.isEmpty()) {
    for (const Entry* entry : found) add(entry);  // best first, whatever the category
  } else {
    std::vector<std::string> categories;
    for (const Entry* entry : entries)
      if (std::find(categories.begin(), categories.end(), entry->category) == categories.end())
        categories.push_back(entry->category);
    for (const std::string& category : categories) {
      const auto mine = [&](const Entry* entry) { return entry->category == category; };
      const int all = static_cast<int>(std::count_if(entries.begin(), entries.end(), mine));
      // One more row costs no more than the words "1 more".
      const bool whole = all <= kShown + 1 || m_open.contains(QString::fromStdString(category));
      addHeading(category, whole ? (all > kShown + 1 ? -1 : 0) : all - kShown);
      int shown = 0;
      for (const Entry* entry : entries)
        if (mine(entry) && (whole || shown++ < kShown)) add(entry);
    }
  }
  for (int row = 0; row < count(); ++row)
    if (!item(row)->data(idRole).isNull()) {
      setCurrentRow(row);
      break;
    }
}

// `hidden` rows more; -1: all are shown and can be folded.
void LayerList::addHeading(const std::string& category, int hidden) {
  auto* item = new QListWidgetItem(categoryTitle(category), this);
  item->setFlags(hidden == 0 ? Qt::NoItemFlags : Qt::ItemIsEnabled);
  item->setData(categoryRole, QString::fromStdString(category));
  item->setData(moreRole, hidden > 0 ? tr("%1 more").arg(hidden) : hidden < 0 ? tr("fewer") : QString());
}

void LayerList::toggle(const QString& category) {
  if (!m_open.erase(category)) m_open.insert(category);
  const int scrolled = verticalScrollBar()->value();
  fill(m_query);
  verticalScrollBar()->setValue(scrolled);
}

void LayerList::mousePressEvent(QMouseEvent* event) {
  const QListWidgetItem* item = itemAt(event->position().toPoint());
  if (item != nullptr && item->data(idRole).isNull()) {
    if (!item->data(moreRole).toString().isEmpty()) toggle(item->data(categoryRole).toString());
    return;
  }
  QListWidget::mousePressEvent(event);
}

void LayerList::contextMenuEvent(QContextMenuEvent* event) {
  QListWidgetItem* const item = event->reason() == QContextMenuEvent::Mouse ? itemAt(event->pos()) : currentItem();
  if (item == nullptr || item->data(idRole).isNull()) return;
  setCurrentItem(item);
  Q_EMIT menuWanted(item->data(idRole).toString(), event->reason() == QContextMenuEvent::Mouse
                                                       ? event->globalPos()
                                                       : viewport()->mapToGlobal(visualItemRect(item).center()));
}

QMimeData* LayerList::mimeData(const QList<QListWidgetItem*>& items) const {
  if (items.isEmpty() || items.front()->data(idRole).isNull() || !items.front()->flags().testFlag(Qt::ItemIsEnabled))
    return nullptr;
  auto* data = new QMimeData;
  data->setData(QLatin1String(kLayerMime), items.front()->data(idRole).toString().toUtf8());
  return data;
}

// The card in the hand is a small one: the canvas shows its true size and place.
void LayerList::startDrag(Qt::DropActions) {
  QListWidgetItem* item = currentItem();
  QMimeData* data = item == nullptr ? nullptr : mimeData({item});
  if (data == nullptr) return;
  const Theme& theme = Theme::of(this);
  const QFont font = theme.font(FontRole::body);
  const int width = 44 + static_cast<int>(QFontMetricsF(font).horizontalAdvance(item->text()));
  QPixmap pixmap(QSize(width, 28) * devicePixelRatioF());
  pixmap.setDevicePixelRatio(devicePixelRatioF());
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(theme.colour(Colour::lineStrong));
  painter.setBrush(theme.colour(Colour::raised));
  painter.drawRoundedRect(QRectF(0.5, 0.5, width - 1, 27), 6, 6);
  const QString category = item->data(categoryRole).toString();
  paintIcon(painter, layerIcon(item->data(iconRole).toString(), category), QRectF(8, 6, 16, 16),
            theme.layerColour(category));
  painter.setFont(font);
  painter.setPen(theme.colour(Colour::text));
  painter.drawText(QRectF(32, 0, width - 36, 28), Qt::AlignVCenter, item->text());
  painter.end();
  QDrag drag(this);
  drag.setMimeData(data);
  drag.setPixmap(pixmap);
  drag.setHotSpot(QPoint(16, 14));
  drag.exec(Qt::CopyAction);
}

void LayerList::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (enter && !currentLayer().empty()) {
    Q_EMIT chosen(QString::fromStdString(currentLayer()));
    return;
  }
  const int first = [&] {
    for (int row = 0; row < count(); ++row)
      if (!item(row)->data(idRole).isNull()) return row;
    return 0;
  }();
  if (event->key() == Qt::Key_Up && currentRow() <= first) {
    Q_EMIT leftUpwards();
    return;
  }
  // Headings are passed over.
  if (event->key() == Qt::Key_Up || event->key() == Qt::Key_Down) {
    const int step = event->key() == Qt::Key_Up ? -1 : 1;
    for (int row = currentRow() + step; row >= 0 && row < count(); row += step)
      if (!item(row)->data(idRole).isNull()) {
        setCurrentRow(row);
        return;
      }
    return;
  }
  const QString text = event->text();
  if (!text.isEmpty() && text.front().isLetterOrNumber() &&
      !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier))) {
    Q_EMIT typed(text);
    return;
  }
  QListWidget::keyPressEvent(event);
}

}  // namespace loom

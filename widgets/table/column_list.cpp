#include "widgets/table/column_list.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/controls/text.h"
#include "widgets/table/column_list_model.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kInset = 12, kChip = 18, kGap = 8, kBars = 67, kBarsHeight = 17, kNumber = 58, kMissing = 48;

// The shares of its classes side by side, the largest first.
void paintShares(QPainter& painter, const QRectF& place, const ColumnFacts& column, const Theme& theme) {
  const auto all = static_cast<double>(std::max<std::int64_t>(1, column.count));
  double from = place.left();
  for (std::size_t i = 0; i < column.words.size() && from < place.right(); ++i) {
    const double wide = std::max(1.0, place.width() * static_cast<double>(column.words[i].rows) / all);
    painter.fillRect(
        QRectF(from, place.top(), std::min(wide, place.right() - from) - (wide > 3 ? 1 : 0), place.height()),
        i == 0 ? theme.colour(Colour::control) : theme.curveColour(static_cast<int>((i - 1) % 30)));
    from += wide;
  }
}

}  // namespace

void paintHistogram(QPainter& painter, const QRectF& place, const std::vector<std::int64_t>& counts,
                    const QColor& colour) {
  if (counts.empty()) return;
  const auto most = static_cast<double>(std::max<std::int64_t>(1, *std::max_element(counts.begin(), counts.end())));
  const double pitch = (place.width() + 1) / static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double height = std::max(1.0, place.height() * static_cast<double>(counts[i]) / most);
    painter.fillRect(QRectF(place.left() + pitch * static_cast<double>(i), place.bottom() - height,
                            std::max(1.0, pitch - 1), height),
                     colour);
  }
}

class ColumnListDelegate : public QStyledItemDelegate {
 public:
  ColumnListDelegate(ColumnList* list, ColumnListModel* model)
      : QStyledItemDelegate(list), m_list(list), m_model(model) {}

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {180, Theme::of(m_list).size(Size::tableRow) - 4};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& theme = Theme::of(m_list);
    const ColumnFacts& column = m_model->column(index.row());
    const ColumnMark& mark = m_model->mark(column.name);
    const bool chosen = column.name == m_list->chosen();
    if (chosen)
      painter->fillRect(option.rect, theme.colour(Colour::selected));
    else if (option.state & QStyle::State_MouseOver)
      painter->fillRect(option.rect, theme.colour(Colour::hover));
    painter->setPen(theme.hairline(Colour::line));
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    const ColumnList::Places places = m_list->placesIn(option.rect);
    paintChip(*painter, places.chip, column, mark, theme);
    paintName(*painter, places.name, column, mark, theme);
    if (mark.leftOut) return;
    paintValues(*painter, places, column, chosen, theme);
    const std::int64_t missing = column.missing + column.unreadable;
    painter->setFont(theme.numberFont(FontRole::axis));
    painter->setPen(theme.colour(column.unreadable > 0 ? Colour::error
                                 : missing > 0         ? Colour::warning
                                                       : Colour::text3));
    painter->drawText(places.missing, Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("%L1").arg(qint64{missing}));
  }

  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex&) const override {
    auto* line = new QLineEdit(parent);
    line->setObjectName("column-name");
    line->setAccessibleName(ColumnList::tr("Name of the column"));
    return line;
  }
  void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option, const QModelIndex&) const override {
    QRect place = m_list->placesIn(option.rect).name.adjusted(-4, 0, 4, 0);
    place.setWidth(std::max(place.width(), 120));
    editor->setGeometry(place);
  }

 private:
  static void paintChip(QPainter& painter, const QRect& place, const ColumnFacts& column, const ColumnMark& mark,
                        const Theme& theme) {
    const bool words = column.type == ColumnType::text || column.type == ColumnType::classes;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(mark.target ? Colour::accentSoft : Colour::sunken));
    painter.drawRoundedRect(place, 4, 4);
    painter.setRenderHint(QPainter::Antialiasing, false);
    const QColor ink = theme.colour(mark.target ? Colour::accentText : Colour::text2);
    const char* icon = column.type == ColumnType::date      ? "clock"
                       : column.type == ColumnType::picture ? "image"
                       : column.type == ColumnType::sound   ? "play"
                       : column.type == ColumnType::matrix  ? "grid"
                                                            : nullptr;
    if (icon) return paintIcon(painter, QLatin1String(icon), QRectF(place).adjusted(3, 3, -3, -3), ink);
    painter.setFont(Theme::withWeight(theme.font(FontRole::axis), 600));
    painter.setPen(ink);
    const QString letter = column.type == ColumnType::number ? "#"
                           : words                           ? (column.type == ColumnType::text ? "T" : "C")
                                                             : QStringLiteral("\u2013");
    painter.drawText(place, Qt::AlignCenter, letter);
  }

  static void paintName(QPainter& painter, QRect place, const ColumnFacts& column, const ColumnMark& mark,
                        const Theme& theme) {
    QFont font = theme.font(FontRole::label);
    const QString shown = mark.name.isEmpty() ? shownName(column) : mark.name;
    if (mark.target) place.setRight(place.right() - paintTarget(painter, place, QFontMetrics(font), shown, theme));
    font.setStrikeOut(mark.leftOut);
    painter.setFont(font);
    painter.setPen(theme.colour(mark.leftOut ? Colour::text3 : Colour::text));
    painter.drawText(place, Qt::AlignVCenter, painter.fontMetrics().elidedText(shown, Qt::ElideRight, place.width()));
  }

  // The word beside the name where both have room, else a flag. Answers what it took.
  static int paintTarget(QPainter& painter, const QRect& place, const QFontMetrics& names, const QString& name,
                         const Theme& theme) {
    constexpr int kBetween = 6, kFlag = 17;
    painter.setFont(theme.font(FontRole::axis));
    const QString word = ColumnList::tr("target");
    const int worded = painter.fontMetrics().horizontalAdvance(word) + 10;
    const bool roomy = names.horizontalAdvance(name) + kBetween + worded <= place.width();
    const int wide = roomy ? worded : kFlag;
    const QRectF tag(place.right() - wide, place.center().y() - 8, wide, kFlag);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::accentSoft));
    painter.drawRoundedRect(tag, 4, 4);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(theme.colour(Colour::accentText));
    if (roomy)
      painter.drawText(tag, Qt::AlignCenter, word);
    else
      paintIcon(painter, QStringLiteral("flag"), tag.adjusted(3, 3, -3, -3), theme.colour(Colour::accentText));
    return wide + kBetween;
  }

  static void paintValues(QPainter& painter, const ColumnList::Places& places, const ColumnFacts& column, bool chosen,
                          const Theme& theme) {
    const QRectF bars(places.values.left(), places.values.center().y() - kBarsHeight / 2, places.values.width(),
                      kBarsHeight);
    const bool classes = column.type == ColumnType::classes;
    if (classes)
      paintShares(painter, bars.adjusted(0, 4, 0, -3), column, theme);
    else if (column.low < column.high)
      paintHistogram(painter, bars, column.histogram, theme.colour(chosen ? Colour::accent : Colour::control));
    if (!places.roomy) return;
    painter.setFont(theme.numberFont(FontRole::axis));
    painter.setPen(theme.colour(Colour::text2));
    const bool numbers = (column.type == ColumnType::number || column.type == ColumnType::date) && column.count > 0;
    if (numbers && column.low < column.high) {
      const double values[] = {column.low, column.mean, column.high};
      for (int i = 0; i < 3; ++i)
        painter.drawText(places.numbers[i], Qt::AlignRight | Qt::AlignVCenter, columnValue(column, values[i]));
      return;
    }
    const QRect room = places.numbers[0].united(places.numbers[2]).adjusted(kGap, 0, 0, 0);
    painter.setFont(theme.font(FontRole::caption));
    painter.setPen(theme.colour(numbers ? Colour::warning : Colour::text3));
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(contentWords(column), Qt::ElideRight, room.width()));
  }

  ColumnList* m_list;
  ColumnListModel* m_model;
};

// Names over the figures; a click sorts by what stands below.
class ColumnListHead : public QWidget {
 public:
  explicit ColumnListHead(ColumnList* list) : QWidget(list), m_list(list) {
    setFixedHeight(Theme::of(this).size(Size::tableHead));
    setToolTip(ColumnList::tr("A click on Name, max or missing sorts by it; another click is the file's order"));
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& theme = Theme::of(this);
    QPainter painter(this);
    painter.fillRect(rect(), theme.colour(Colour::sunken));
    painter.setPen(theme.hairline(Colour::line));
    painter.drawLine(rect().bottomLeft(), rect().bottomRight());
    const ColumnList::Places places = places_();
    const auto word = [&](const QRect& place, const QString& text, ColumnList::Order order, Qt::Alignment align) {
      const bool sorted = order != ColumnList::Order::file && m_list->order() == order;
      painter.setFont(Theme::withWeight(theme.font(FontRole::caption), sorted ? 600 : 500));
      painter.setPen(theme.colour(sorted ? Colour::accentText : Colour::text2));
      painter.drawText(place, align | Qt::AlignVCenter, text);
    };
    word(places.name, ColumnList::tr("Name"), ColumnList::Order::name, Qt::AlignLeft);
    word(places.values, ColumnList::tr("Values"), ColumnList::Order::file, Qt::AlignLeft);
    if (places.roomy) {
      word(places.numbers[0], ColumnList::tr("min"), ColumnList::Order::file, Qt::AlignRight);
      word(places.numbers[1], ColumnList::tr("mean"), ColumnList::Order::file, Qt::AlignRight);
      word(places.numbers[2], ColumnList::tr("max"), ColumnList::Order::range, Qt::AlignRight);
    }
    word(places.missing, ColumnList::tr("missing"), ColumnList::Order::missing, Qt::AlignRight);
  }
  void mousePressEvent(QMouseEvent* event) override {
    const ColumnList::Places places = places_();
    const int x = event->pos().x();
    const auto in = [x](const QRect& place) { return x >= place.left() - 4 && x <= place.right() + 4; };
    ColumnList::Order order = ColumnList::Order::file;
    if (in(places.missing))
      order = ColumnList::Order::missing;
    else if (places.roomy && in(places.numbers[2]))
      order = ColumnList::Order::range;
    else if (x <= places.name.right())
      order = ColumnList::Order::name;
    m_list->setOrder(order == m_list->order() ? ColumnList::Order::file : order);
  }

 private:
  // As in the rows below, whose room a scroll bar may take.
  ColumnList::Places places_() const {
    return m_list->placesIn(QRect(0, 0, m_list->view().viewport()->width(), height()));
  }
  ColumnList* m_list;
};

ColumnList::ColumnList(QWidget* parent)
    : QWidget(parent), m_model(new ColumnListModel(this)), m_head(nullptr), m_view(new QListView(this)) {
  m_view->setModel(m_model);
  m_view->setItemDelegate(new ColumnListDelegate(this, m_model));
  m_view->setUniformItemSizes(true);
  m_view->setFrameShape(QFrame::NoFrame);
  m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_view->setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::DoubleClicked);
  m_view->setMouseTracking(true);
  m_view->setAccessibleName(tr("Columns"));
  m_view->setObjectName("column-list");
  m_view->installEventFilter(this);
  m_view->viewport()->installEventFilter(this);
  m_head = new ColumnListHead(this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_head);
  column->addWidget(m_view, 1);
  connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) {
    if (!current.isValid()) return;
    const std::string& name = m_model->column(current.row()).name;
    if (name == m_chosen) return;
    m_chosen = name;
    m_view->viewport()->update();
    Q_EMIT columnChosen(QString::fromStdString(name));
  });
  connect(m_model, &ColumnListModel::renamed, this, &ColumnList::renamed);
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    m_head->setFixedHeight(Theme::of(this).size(Size::tableHead));
    m_view->doItemsLayout();
    m_head->update();
  });
}

ColumnList::Places ColumnList::placesIn(const QRect& row) const {
  Places places;
  auto take = [&, right = row.right() - kInset](int wide) mutable {
    const QRect place(right - wide + 1, row.top(), wide, row.height());
    right -= wide + kGap;
    return place;
  };
  const double grown = Theme::of(this).textSize() / 100.0;
  const auto scaled = [grown](int wide) { return static_cast<int>(wide * grown); };
  places.missing = take(scaled(kMissing));
  places.roomy = row.width() >= scaled(360);
  if (places.roomy)
    for (int i = 2; i >= 0; --i) places.numbers[i] = take(scaled(kNumber) - kGap);
  places.values = take(kBars);
  places.chip = QRect(row.left() + kInset, row.center().y() - kChip / 2, kChip, kChip);
  const int left = places.chip.right() + kGap;
  places.name = QRect(left, row.top(), std::max(10, places.values.left() - kGap - left), row.height());
  return places;
}

void ColumnList::setFacts(std::shared_ptr<const TableFacts> facts) {
  m_model->setFacts(std::move(facts));
  arrange();
}

void ColumnList::setMarks(std::map<std::string, ColumnMark> marks) {
  m_model->setMarks(std::move(marks));
}

void ColumnList::setFilter(const QString& text) {
  m_model->arrange(m_order, text);
  arrange();
}

void ColumnList::setOrder(Order order) {
  m_order = order;
  m_model->arrange(order, m_model->filter());
  m_head->update();
  arrange();
}

// What was chosen stays it, wherever it stands now.
void ColumnList::arrange() {
  const int row = rowOf(m_chosen);
  const QSignalBlocker quiet(m_view->selectionModel());
  m_view->setCurrentIndex(row < 0 ? QModelIndex() : m_model->index(row));
  m_view->viewport()->update();
}

void ColumnList::setChosen(const std::string& column) {
  m_chosen = column;
  arrange();
  if (const int row = rowOf(column); row >= 0) m_view->scrollTo(m_model->index(row));
}

int ColumnList::rowOf(const std::string& column) const {
  return m_model->rowOf(column);
}

QString ColumnList::facts(int row) const {
  return m_model->index(row).data(Qt::ToolTipRole).toString();
}

bool ColumnList::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress && watched == m_view) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Delete && !m_chosen.empty()) {
      Q_EMIT leaveOutWanted(QString::fromStdString(m_chosen));
      return true;
    }
  }
  if (event->type() == QEvent::ContextMenu) {
    const auto* menu = static_cast<QContextMenuEvent*>(event);
    const QModelIndex at = menu->reason() == QContextMenuEvent::Keyboard
                               ? m_view->currentIndex()
                               : m_view->indexAt(m_view->viewport()->mapFromGlobal(menu->globalPos()));
    if (at.isValid()) {
      m_view->setCurrentIndex(at);
      const QPoint place = menu->reason() == QContextMenuEvent::Keyboard
                               ? m_view->viewport()->mapToGlobal(m_view->visualRect(at).center())
                               : menu->globalPos();
      Q_EMIT menuWanted(QString::fromStdString(m_model->column(at.row()).name), place);
      return true;
    }
  }
  if (event->type() == QEvent::Resize) m_head->update();
  return QWidget::eventFilter(watched, event);
}

}  // namespace loom

#include "app/pages/data/samples_view.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QListView>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QWheelEvent>
#include <algorithm>
#include <bit>
#include <cmath>

#include "app/pages/data/samples_model.h"
#include "widgets/controls/commands.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kLeast = 24, kMost = 256;

// Nearest neighbour up to 8x, so that pixels of small images stay pixels; then smooth. An empty well for what is not
// read yet.
void drawPicture(QPainter* painter, const QRect& place, const QVariant& known, const QColor& well) {
  if (!known.isValid()) painter->fillRect(place, well);
  const QImage picture = known.value<QImage>();
  if (picture.isNull()) return;
  QSize size = picture.size().scaled(place.size(), Qt::KeepAspectRatio);
  const QRect target(place.topLeft() + QPoint((place.width() - size.width()) / 2, (place.height() - size.height()) / 2),
                     size);
  painter->setRenderHint(QPainter::SmoothPixmapTransform,
                         size.width() < picture.width() || size.width() > 8 * picture.width());
  painter->drawImage(target, picture);
}

class SampleDelegate : public QStyledItemDelegate {
 public:
  SampleDelegate(SamplesModel* model, SamplesView* view, bool grid)
      : QStyledItemDelegate(view), m_model(model), m_view(view), m_grid(grid) {}

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {m_view->pictureSize() + 8, m_view->pictureSize() + 8};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    if (m_grid) return paintTile(*painter, option, index);
    const Theme& theme = Theme::of(m_view);
    const auto state = static_cast<SamplesModel::CellState>(index.data(SamplesModel::state).toInt());
    const bool row = state == SamplesModel::stray;
    if (option.state & QStyle::State_Selected)
      painter->fillRect(option.rect, theme.colour(Colour::selected));
    else if (row)
      painter->fillRect(option.rect, theme.colour(Colour::errorSoft));
    else if (option.state & QStyle::State_MouseOver)
      painter->fillRect(option.rect, theme.colour(Colour::hover));
    else if (index.column() == m_view->chosenColumn())
      painter->fillRect(option.rect, theme.colour(Colour::selected, 0.5));
    painter->setPen(theme.hairline(Colour::line));
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    QRect room = option.rect.adjusted(10, 0, -10, 0);
    if (index.column() == 0 && row) {
      paintIcon(*painter, QStringLiteral("status-failed"), QRectF(room.left() - 6, room.center().y() - 6.5, 14, 14),
                theme.colour(Colour::error));
      room.setLeft(room.left() + 12);
    }
    const bool picture = m_model->isPicture(index.column());
    if (picture && state != SamplesModel::missing) {
      const QRect place(room.left(), room.top() + 4, m_view->pictureSize(), room.height() - 8);
      drawPicture(painter, place, index.data(SamplesModel::picture), theme.colour(Colour::sunken));
      room.setLeft(place.right() + 10);
    }
    const auto align =
        (index.column() == 0 || m_model->isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter;
    const QString text = index.data().toString();
    if (state == SamplesModel::missing || state == SamplesModel::unreadable)
      return paintMarked(*painter, room, text, align, state == SamplesModel::unreadable, theme);
    QFont font = m_model->isNumber(index.column()) || index.column() == 0 || picture ? theme.numberFont(FontRole::body)
                                                                                     : theme.font(FontRole::body);
    font.setStrikeOut(state == SamplesModel::skipped && index.column() > 0);
    painter->setFont(font);
    painter->setPen(theme.colour(row                                                                ? Colour::error
                                 : index.column() == 0 || picture || state == SamplesModel::skipped ? Colour::text3
                                                                                                    : Colour::text));
    painter->drawText(room, align, painter->fontMetrics().elidedText(text, Qt::ElideRight, room.width()));
  }

 private:
  // What is missing or cannot be read, in a frame of its own.
  static void paintMarked(QPainter& painter, const QRect& room, const QString& text, Qt::Alignment align, bool error,
                          const Theme& theme) {
    painter.setFont(theme.font(FontRole::caption));
    const int wide = std::min(room.width() + 12, painter.fontMetrics().horizontalAdvance(text) + 14);
    QRect tag(0, room.center().y() - 9, wide, 19);
    if (align & Qt::AlignRight)
      tag.moveRight(room.right() + 6);
    else
      tag.moveLeft(room.left() - 6);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(error ? Colour::errorSoft : Colour::warningSoft));
    painter.drawRoundedRect(tag, 4, 4);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(theme.colour(error ? Colour::error : Colour::warning));
    painter.drawText(tag.adjusted(6, 0, -6, 0), Qt::AlignCenter,
                     painter.fontMetrics().elidedText(text, Qt::ElideRight, tag.width() - 12));
  }

  void paintTile(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const Theme& theme = Theme::of(m_view);
    if (option.state & QStyle::State_Selected)
      painter.fillRect(option.rect, theme.colour(Colour::selected));
    else if (option.state & QStyle::State_MouseOver)
      painter.fillRect(option.rect, theme.colour(Colour::hover));
    drawPicture(&painter, option.rect.adjusted(4, 4, -4, -4), index.data(SamplesModel::picture),
                theme.colour(Colour::sunken));
    if (!index.data(SamplesModel::fault).toString().isEmpty())
      paintIcon(painter, QStringLiteral("status-failed"),
                QRectF(option.rect.right() - 16, option.rect.top() + 2, 14, 14), theme.colour(Colour::error));
  }

  SamplesModel* m_model;
  SamplesView* m_view;
  bool m_grid;
};

}  // namespace

SamplesView::SamplesView(SamplesModel* model, QWidget* parent)
    : QStackedWidget(parent), m_model(model), m_table(new QTableView(this)), m_grid(new QListView(this)) {
  m_table->setModel(model);
  m_table->setItemDelegate(new SampleDelegate(model, this, false));
  m_table->setShowGrid(false);
  m_table->setFrameShape(QFrame::NoFrame);
  m_table->verticalHeader()->hide();
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_table->horizontalHeader()->setSectionsClickable(true);
  connect(m_table->horizontalHeader(), &QHeaderView::sectionClicked, this, [this](int column) {
    setChosenColumn(column);
    Q_EMIT columnChosen(column);
  });
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_table->setTabKeyNavigation(false);
  m_table->setAccessibleName(QStringLiteral("Samples"));
  m_grid->setModel(model);
  m_grid->setItemDelegate(new SampleDelegate(model, this, true));
  m_grid->setViewMode(QListView::IconMode);
  m_grid->setResizeMode(QListView::Adjust);
  m_grid->setMovement(QListView::Static);
  m_grid->setUniformItemSizes(true);
  m_grid->setLayoutMode(QListView::Batched);
  m_grid->setFrameShape(QFrame::NoFrame);
  m_grid->setAccessibleName(QStringLiteral("Samples as pictures"));
  for (QAbstractItemView* view : {static_cast<QAbstractItemView*>(m_table), static_cast<QAbstractItemView*>(m_grid)}) {
    view->setMouseTracking(true);
    view->viewport()->installEventFilter(this);
    view->installEventFilter(this);
    addWidget(view);
    connect(view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
      if (current.isValid()) Q_EMIT rowChosen(current.row());
    });
  }
  connect(model, &QAbstractItemModel::modelReset, this, [this] {
    m_chosenColumn = -1;
    arrange();
  });
  // Columns are known better as the file is read.
  connect(model, &QAbstractItemModel::headerDataChanged, this, [this] { arrange(); });
  connect(m_table->verticalScrollBar(), &QScrollBar::valueChanged, this, &SamplesView::moved);
  connect(&Theme::of(this), &Theme::changed, this, [this] { arrange(); });
  arrange();
}

int SamplesView::firstRow() const {
  return form() == Form::rows ? std::max(0, m_table->rowAt(0)) : 0;
}

void SamplesView::goToCell(int row, int column) {
  if (form() == Form::grid || column < 0) return goToRow(row);
  setChosenColumn(column);
  const QModelIndex index = m_model->index(row, column);
  if (!index.isValid()) return;
  m_table->setCurrentIndex(index);
  m_table->scrollTo(index, QAbstractItemView::PositionAtCenter);
  setChosenColumn(column);  // the table has brought it anywhere into sight
}

SamplesView::Form SamplesView::form() const {
  return currentWidget() == m_grid ? Form::grid : Form::rows;
}

void SamplesView::setForm(Form form) {
  bool pictures = false;
  for (int column = 1; column < m_model->columnCount() && !pictures; ++column) {
    pictures = m_model->isPicture(column);
    if (pictures) m_grid->setModelColumn(column);
  }
  if (form == Form::grid && !pictures) form = Form::rows;
  if (form == this->form()) return;
  const int row = currentRow();
  setCurrentWidget(form == Form::grid ? static_cast<QWidget*>(m_grid) : m_table);
  if (form == Form::grid && m_pictureSize < 48) setPictureSize(64);
  if (row >= 0) goToRow(row);
  Q_EMIT formChanged();
}

void SamplesView::setPictureSize(int size) {
  m_pictureSize = std::clamp(size, kLeast, kMost);
  arrange();
}

void SamplesView::arrange() {
  const Theme& theme = Theme::of(this);
  const bool pictures = hasPictures();
  m_table->verticalHeader()->setDefaultSectionSize(pictures ? std::max(theme.size(Size::tableRow), m_pictureSize + 8)
                                                            : theme.size(Size::tableRow));
  m_table->horizontalHeader()->setFixedHeight(theme.size(Size::tableHead));
  // Figures grow with the text.
  const QFontMetrics figures(theme.numberFont(FontRole::body));
  const int lines = figures.horizontalAdvance(QStringLiteral("0,000,000")) + 12,
            figure = figures.horizontalAdvance(QStringLiteral("00000.00")) + 22;
  if (m_model->columnCount() > 0) m_table->setColumnWidth(0, lines);
  // Columns share the room that there is; a wide table gives each what a number needs and scrolls.
  const int columns = m_model->columnCount() - 1, room = m_table->viewport()->width() - lines;
  for (int column = 1; column <= columns; ++column) {
    const int least = m_model->isPicture(column)  ? m_pictureSize + 120
                      : m_model->isNumber(column) ? figure
                                                  : std::clamp(m_model->widthOfWords(column, figures) + 24, 60, 200);
    const int name = QFontMetrics(theme.font(FontRole::label))
                         .horizontalAdvance(m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()) +
                     24;
    m_table->setColumnWidth(column, std::max({least, std::min(name, 220), std::min(room / std::max(columns, 1), 180)}));
  }
  m_model->setPictureSide(
      static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::ceil(m_pictureSize * devicePixelRatioF())))));
  if (form() == Form::grid && !pictures) setCurrentWidget(m_table);
  m_grid->setGridSize(QSize(m_pictureSize + 8, m_pictureSize + 8));
  m_grid->doItemsLayout();
  m_table->viewport()->update();
}

void SamplesView::goToRow(int row) {
  auto* view = static_cast<QAbstractItemView*>(currentWidget());
  const QModelIndex index = m_model->index(row, view == m_grid ? m_grid->modelColumn() : 0);
  if (!index.isValid()) return;
  view->setCurrentIndex(index);
  view->scrollTo(index, QAbstractItemView::PositionAtCenter);
}

void SamplesView::setChosenColumn(int column) {
  m_chosenColumn = column > 0 && column < m_model->columnCount() ? column : -1;
  if (m_chosenColumn > 0) {
    const int left = m_table->columnViewportPosition(m_chosenColumn),
              right = left + m_table->columnWidth(m_chosenColumn);
    QScrollBar* const bar = m_table->horizontalScrollBar();
    if (left < 0)
      bar->setValue(bar->value() + left);
    else if (right > m_table->viewport()->width())
      bar->setValue(bar->value() + right - m_table->viewport()->width());
  }
  m_table->viewport()->update();
}

int SamplesView::currentRow() const {
  const QModelIndex index = static_cast<QAbstractItemView*>(currentWidget())->currentIndex();
  return index.isValid() ? index.row() : -1;
}

bool SamplesView::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::Resize && object == m_table->viewport()) arrange();
  if (event->type() == QEvent::Wheel) {
    auto* wheel = static_cast<QWheelEvent*>(event);
    if (wheel->modifiers() & Qt::ControlModifier) {
      setPictureSize(m_pictureSize + (wheel->angleDelta().y() > 0 ? kPictureStep : -kPictureStep));
      return true;
    }
  }
  if (event->type() == QEvent::KeyPress && pressed(*static_cast<QKeyEvent*>(event))) return true;
  if (event->type() == QEvent::ContextMenu && m_commands) {
    openMenu(*static_cast<QContextMenuEvent*>(event));
    return true;
  }
  return QStackedWidget::eventFilter(object, event);
}

bool SamplesView::hasPictures() const {
  for (int column = 1; column < m_model->columnCount(); ++column)
    if (m_model->isPicture(column)) return true;
  return false;
}

bool SamplesView::pressed(const QKeyEvent& event) {
  const QAction* const command = m_commands ? m_commands->findByKeys(QStringLiteral("data/samples"), event) : nullptr;
  if (!command) return false;
  m_commands->press(Commands::idOf(*command), this);
  currentWidget()->setFocus();
  return true;
}

void SamplesView::openMenu(const QContextMenuEvent& event) {
  QMenu menu(this);
  m_commands->addTo(
      menu, QStringLiteral("data.pictures"), this,
      {.text = form() == Form::grid ? tr("Show as rows") : tr("Show as pictures"), .picture = {}, .arguments = {}});
  menu.addSeparator();
  for (const char* id : {"data.larger", "data.smaller"}) m_commands->addTo(menu, QString::fromLatin1(id), this);
  menu.addSeparator();
  for (const char* id : {"data.next-finding", "data.previous-finding", "data.check"})
    m_commands->addTo(menu, QString::fromLatin1(id), this);
  menu.exec(event.globalPos());
}

}  // namespace loom

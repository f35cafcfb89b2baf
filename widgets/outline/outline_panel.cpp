#include "widgets/outline/outline_panel.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/canvas/group_item.h"
#include "widgets/controls/button.h"
#include "widgets/controls/commands.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/text.h"
#include "widgets/outline/outline_commands.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr int kRow = 24, kIndent = 18, kFoot = 33;

// Icon, name, and at the right the type, ×N, and a fault as a word with a dot.
class OutlineDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {100, std::max(kRow, QFontMetrics(Theme::of().font(FontRole::body)).height() + 8)};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& theme = Theme::of();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF row(option.rect);
    const QString category = index.data(OutlineModel::categoryRole).toString(),
                  tint = index.data(OutlineModel::tintRole).toString();
    const bool isGroup = index.data(OutlineModel::iconRole) == QLatin1String("group");
    const QRectF sign(row.left() + 2, row.center().y() - 8, 16, 16);
    if (isGroup) {
      // A group's sign is its frame in its own tint.
      const QColor colour = tintColour(tint);
      QColor fill = colour;
      fill.setAlphaF(0.16F);
      painter->setPen(QPen(colour, 1.3));
      painter->setBrush(fill);
      painter->drawRoundedRect(sign.adjusted(2, 2, -2, -2), 3, 3);
    } else {
      paintIcon(*painter, index.data(OutlineModel::iconRole).toString(), sign, theme.layerColour(category));
    }
    double right = row.right() - 10;
    const QString fault = index.data(OutlineModel::faultRole).toString();
    const QFont small = Theme::withWeight(theme.font(FontRole::caption), 400);
    const QFontMetricsF smallMetrics(small);
    if (!fault.isEmpty()) {
      const QColor colour =
          theme.colour(index.data(OutlineModel::isErrorRole).toBool() ? Colour::error : Colour::warning);
      painter->setPen(Qt::NoPen);
      painter->setBrush(colour);
      painter->drawEllipse(QPointF(right - 4, row.center().y()), 3.5, 3.5);
      right -= 14;
      painter->setFont(small);
      painter->setPen(colour);
      const QString word = smallMetrics.elidedText(fault, Qt::ElideRight, row.width() / 3);
      painter->drawText(QRectF(row.left(), row.top(), right - row.left(), row.height()),
                        Qt::AlignVCenter | Qt::AlignRight, word);
      right -= smallMetrics.horizontalAdvance(word) + 8;
    }
    if (const QString chip = index.data(OutlineModel::chipRole).toString(); !chip.isEmpty()) {
      const QFont number = theme.numberFont(FontRole::caption);
      const double width = QFontMetricsF(number).horizontalAdvance(chip) + 10;
      const QRectF area(right - width, row.center().y() - 9, width, 18);
      painter->setPen(Qt::NoPen);
      painter->setBrush(theme.colour(Colour::hover));
      painter->drawRoundedRect(area, 4, 4);
      painter->setFont(number);
      painter->setPen(theme.colour(Colour::text2));
      painter->drawText(area, Qt::AlignCenter, chip);
      right = area.left() - 6;
    }
    const QFont name = index.parent().isValid() && !option.state.testFlag(QStyle::State_Selected)
                           ? theme.font(FontRole::body)
                           : Theme::withWeight(theme.font(FontRole::body), 600);
    const QFontMetricsF metrics(name);
    const double left = row.left() + 26, room = right - left;
    const QString text = metrics.elidedText(index.data().toString(), Qt::ElideRight, room);
    painter->setFont(name);
    painter->setPen(theme.colour(Colour::text));
    painter->drawText(QRectF(left, row.top(), room, row.height()), Qt::AlignVCenter | Qt::AlignLeft, text);
    // A node's type is told by its icon; the words stand where they tell more.
    const QString detail = index.data(OutlineModel::detailRole).toString();
    const double free = room - metrics.horizontalAdvance(text) - 10;
    if (!detail.isEmpty() && (free > smallMetrics.horizontalAdvance(detail) || free > 48)) {
      painter->setFont(small);
      painter->setPen(theme.colour(Colour::text3));
      painter->drawText(QRectF(right - free, row.top(), free, row.height()), Qt::AlignVCenter | Qt::AlignRight,
                        smallMetrics.elidedText(detail, Qt::ElideRight, free));
    }
    painter->restore();
  }

  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex&) const override {
    auto* line = new QLineEdit(parent);
    line->setAccessibleName(tr("Name"));
    return line;
  }
  void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option, const QModelIndex&) const override {
    editor->setGeometry(option.rect.adjusted(22, -2, -6, 2));
  }
};

}  // namespace

OutlineTree::OutlineTree(OutlinePanel& panel) : QTreeView(&panel), m_panel(panel) {
  setAccessibleName(tr("Outline"));
  setHeaderHidden(true);
  setFrameShape(NoFrame);
  setUniformRowHeights(true);
  setIndentation(kIndent);
  setItemDelegate(new OutlineDelegate(this));
  setSelectionMode(ExtendedSelection);
  setEditTriggers(NoEditTriggers);
  setExpandsOnDoubleClick(false);
  setMouseTracking(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(ScrollPerPixel);
  setDragEnabled(true);
  setAcceptDrops(true);
  setDragDropMode(InternalMove);
  setDropIndicatorShown(true);
  viewport()->setAutoFillBackground(false);
}

bool OutlineTree::event(QEvent* event) {
  // Its own keys, and letters, which jump: none of them is the window's while the tree has the keyboard.
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool plain = !(key->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier));
    const bool letter =
        plain && key->key() > Qt::Key_Space && key->key() < Qt::Key_Escape && key->key() != Qt::Key_Question;
    if (letter || !outlineCommandOf(m_panel.commands(), m_panel, *key).isEmpty()) {
      event->accept();
      return true;
    }
  }
  return QTreeView::event(event);
}

void OutlineTree::keyPressEvent(QKeyEvent* event) {
  if (state() == EditingState) return QTreeView::keyPressEvent(event);  // what the name's field left: it has been done
  if (event->key() == Qt::Key_Escape) return Q_EMIT leaving();
  if (const QString command = outlineCommandOf(m_panel.commands(), m_panel, *event); !command.isEmpty()) {
    const bool own = command.startsWith(QLatin1String("network.outline-"));
    m_panel.commands().press(command, nullptr);
    if (!own) setFocus(Qt::OtherFocusReason);  // the canvas took it; the person is still here
    return;
  }
  // Keys of the view that a person took away from its commands.
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space)
    return event->ignore();
  QTreeView::keyPressEvent(event);
}

void OutlineTree::contextMenuEvent(QContextMenuEvent* event) {
  const bool byMouse = event->reason() == QContextMenuEvent::Mouse;
  if (byMouse)
    if (const QModelIndex index = indexAt(event->pos()); index.isValid() && !selectionModel()->isSelected(index))
      setCurrentIndex(index);
  QMenu menu(this);
  fillOutlineMenu(menu, m_panel.commands(), m_panel);
  menu.exec(byMouse ? event->globalPos() : viewport()->mapToGlobal(visualRect(currentIndex()).center()));
}

void OutlineTree::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const QModelIndex index = indexAt(event->position().toPoint()); index.isValid()) Q_EMIT goTo(index);
}

void OutlineTree::drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const {
  const Theme& theme = Theme::of(this);
  // The whole row is tinted, the branches too.
  const QRect row(0, rect.top(), viewport()->width(), rect.height());
  const bool selected = selectionModel()->isSelected(index);
  const QPoint pointer = viewport()->mapFromGlobal(QCursor::pos());
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  if (selected || (viewport()->underMouse() && row.contains(pointer))) {
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme.colour(selected ? Colour::selected : Colour::hover));
    painter->drawRoundedRect(QRectF(row).adjusted(4, 0.5, -4, -0.5), 5, 5);
  }
  painter->setPen(theme.hairline(Colour::lineStrong));
  int depth = 0;
  for (QModelIndex above = index.parent(); above.parent().isValid(); above = above.parent()) ++depth;
  for (int level = 0; level < depth; ++level) {
    const double x = rect.left() + kIndent * (level + 1) + kIndent / 2.0 + 0.5;
    painter->drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom() + 1));
  }
  if (model()->hasChildren(index)) {
    const QRectF sign(rect.right() - kIndent + 4, rect.center().y() - 5.5, 12, 12);
    paintIcon(*painter, isExpanded(index) ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right"), sign,
              theme.colour(Colour::text3));
  }
  painter->restore();
}

OutlinePanel::OutlinePanel(ProjectDocument& document, QWidget* parent)
    : QWidget(parent),
      m_document(document),
      m_model(new OutlineModel(document, this)),
      m_shown(new QSortFilterProxyModel(this)),
      m_search(new SearchField(tr("Search nodes"), QStringLiteral("/"), this)),
      m_tree(new OutlineTree(*this)),
      m_count(makeLabel("hint", {}, this)),
      m_fold(new Button(tr("Fold all"), ButtonKind::link, this)) {
  setAccessibleName(tr("Outline"));
  m_search->setAccessibleName(tr("Search nodes"));
  m_model->setSeen(false);  // until it is shown
  m_shown->setSourceModel(m_model);
  m_shown->setRecursiveFilteringEnabled(true);
  m_shown->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_tree->setModel(m_shown);
  m_tree->expandToDepth(0);
  auto* searchRow = new QVBoxLayout;
  searchRow->setContentsMargins(12, 10, 12, 6);
  searchRow->addWidget(m_search);
  auto* foot = new QWidget(this);
  keepHeight(foot, kFoot);
  auto* footRow = new QHBoxLayout(foot);
  footRow->setContentsMargins(16, 0, 12, 0);
  footRow->addWidget(m_count, 1);
  footRow->addWidget(m_fold);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(searchRow);
  layout->addWidget(m_tree, 1);
  layout->addWidget(hairline(Qt::Horizontal, this));
  layout->addWidget(foot);
  m_search->installEventFilter(this);
  connect(m_search, &QLineEdit::textChanged, this, &OutlinePanel::filter);
  connect(m_search, &SearchField::escaped, this, &OutlinePanel::leaving);
  connect(m_tree, &OutlineTree::leaving, this, &OutlinePanel::leaving);
  connect(m_tree, &OutlineTree::goTo, this, &OutlinePanel::goToRow);
  connect(m_tree->selectionModel(), &QItemSelectionModel::selectionChanged, this, &OutlinePanel::tellSelection);
  connect(m_model, &OutlineModel::refused, this, &OutlinePanel::refused);
  connect(m_fold, &Button::clicked, this, &OutlinePanel::foldAll);
  connect(&Theme::of(this), &Theme::changed, m_tree, [this] { m_tree->viewport()->update(); });
}

void OutlinePanel::setCommands(Commands& commands) {
  m_commands = &commands;
  addOutlineCommands(commands, *this);
}

Commands& OutlinePanel::commands() {
  if (!m_commands) setCommands(Commands::around(*this));
  return *m_commands;
}

bool OutlinePanel::hasRowWithin() const {
  return m_shown->hasChildren(m_tree->currentIndex()) && hasRow();
}

bool OutlinePanel::isOfCanvas() const {
  const OutlineModel::Thing thing = m_model->thing(m_shown->mapToSource(m_tree->currentIndex()));
  return !thing.id.empty() && thing.drawing == m_drawing && m_tree->selectionModel()->hasSelection();
}

bool OutlinePanel::hasGroups() const {
  const Network* drawn = m_document.drawing(m_drawing);
  return drawn != nullptr && !drawn->groups.empty();
}

void OutlinePanel::goToRow() {
  if (!hasRow()) return;
  const OutlineModel::Thing thing = m_model->thing(m_shown->mapToSource(m_tree->currentIndex()));
  Q_EMIT goTo(QString::fromStdString(thing.drawing), QString::fromStdString(thing.id));
}

void OutlinePanel::foldAll() {
  m_document.setAllFolded(m_drawing, m_foldsNext);
  showSelection(m_drawing, {});
}

// Hidden, it does no work.
void OutlinePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_model->setSeen(true);
  showSelection(m_drawing, m_ids);
}

void OutlinePanel::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_model->setSeen(false);
}

void OutlinePanel::focusSearch() {
  m_search->setFocus(Qt::ShortcutFocusReason);
  m_search->selectAll();
}

void OutlinePanel::focusTree() {
  if (!m_tree->currentIndex().isValid()) m_tree->setCurrentIndex(m_shown->index(0, 0));
  m_tree->setFocus(Qt::ShortcutFocusReason);
}

void OutlinePanel::filter(const QString& words) {
  m_shown->setFilterFixedString(words.trimmed());
  if (!words.trimmed().isEmpty()) m_tree->expandAll();
}

QModelIndex OutlinePanel::row(const std::string& drawing, const std::string& id) const {
  return m_shown->mapFromSource(m_model->find(drawing, id));
}

void OutlinePanel::showSelection(const std::string& drawing, const std::vector<std::string>& ids) {
  m_drawing = drawing;
  m_ids = ids;
  if (isHidden()) return;
  const Network* drawn = m_document.drawing(drawing);
  const std::size_t nodes = drawn == nullptr ? 0 : drawn->nodes.size();
  m_count->setText(ids.empty() ? counted(static_cast<qint64>(nodes), tr("nodes"))
                               : tr("%1 of %2 selected").arg(ids.size()).arg(nodes));
  const bool any = hasGroups();
  m_foldsNext =
      any && std::any_of(drawn->groups.begin(), drawn->groups.end(), [](const Group& group) { return !group.folded; });
  m_fold->setVisible(any);
  m_fold->setText(m_foldsNext ? tr("Fold all") : tr("Open all"));
  if (m_telling) return;
  m_showing = true;
  QItemSelection rows;
  QModelIndex first;
  for (const std::string& id : ids) {
    const QModelIndex index = row(drawing, id);
    if (!index.isValid()) continue;
    rows.select(index, index);
    if (!first.isValid()) first = index;
  }
  m_tree->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect);
  if (first.isValid()) {
    m_tree->scrollTo(first);
    m_tree->selectionModel()->setCurrentIndex(first, QItemSelectionModel::NoUpdate);
  }
  m_showing = false;
}

void OutlinePanel::tellSelection() {
  if (m_showing) return;
  // Of one drawing alone: that of the row in hand.
  const OutlineModel::Thing current = m_model->thing(m_shown->mapToSource(m_tree->currentIndex()));
  std::vector<std::string> ids;
  for (const QModelIndex& index : m_tree->selectionModel()->selectedIndexes()) {
    const OutlineModel::Thing thing = m_model->thing(m_shown->mapToSource(index));
    if (thing.drawing == current.drawing && !thing.id.empty()) ids.push_back(thing.id);
  }
  m_telling = true;
  Q_EMIT picked(QString::fromStdString(current.drawing), ids);
  m_telling = false;
}

bool OutlinePanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_search || event->type() != QEvent::KeyPress) return false;
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down:
      focusTree();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: {
      // The first that matches by itself, not one that only leads to it.
      const QModelIndexList found = m_shown->match(m_shown->index(0, 0), Qt::DisplayRole, m_search->text().trimmed(), 1,
                                                   Qt::MatchContains | Qt::MatchRecursive);
      if (found.isEmpty()) return true;
      m_tree->setCurrentIndex(found.front());
      goToRow();
      return true;
    }
    default:
      return false;
  }
}

}  // namespace loom

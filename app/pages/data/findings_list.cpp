#include "app/pages/data/findings_list.h"

#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "widgets/controls/button.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/focus_keeper.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kRowPadding = 12, kText = 38, kActionsGap = 10;
constexpr int kMostWithActions = 300;  // further ones are listed; when these are mended they follow

// The buttons of a finding stand in lines: as many as they need.
int actionsHeight(const QAbstractItemView* view, const QModelIndex& index) {
  const QWidget* const place = view->indexWidget(index);
  const QWidget* const line = place ? place->findChild<QWidget*>(QStringLiteral("finding-actions")) : nullptr;
  if (!line) return 0;
  return line->layout()->heightForWidth(view->viewport()->width() - kText - kRowPadding) + kActionsGap;
}

class FindingDelegate : public QStyledItemDelegate {
 public:
  explicit FindingDelegate(QAbstractItemView* view) : QStyledItemDelegate(view), m_view(view) {}

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
    const int width = m_view->viewport()->width();
    return {width, layout(index, width, nullptr) + actionsHeight(m_view, index)};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& theme = Theme::of(m_view);
    if (option.state & QStyle::State_Selected)
      painter->fillRect(option.rect, theme.colour(Colour::selected));
    else if (option.state & QStyle::State_MouseOver)
      painter->fillRect(option.rect, theme.colour(Colour::hover));
    painter->setPen(theme.hairline(Colour::line));
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    painter->save();
    painter->translate(option.rect.topLeft());
    layout(index, option.rect.width(), painter);
    painter->restore();
  }

 private:
  // Draws (or only measures) title and place, then the sentence; answers the height.
  int layout(const QModelIndex& index, int width, QPainter* painter) const {
    const Theme& theme = Theme::of(m_view);
    const int kind = index.data(FindingsModel::kind).toInt();
    const bool fine = kind == static_cast<int>(ShownFinding::Kind::fine);
    const char* icons[] = {"status-failed", "status-warning", "info", "status-ok"};
    const Colour colours[] = {Colour::error, Colour::warning, Colour::text3, Colour::ok};
    const int padding = fine ? 7 : kRowPadding;
    if (painter)
      paintIcon(*painter, QLatin1String(icons[kind]), QRectF(14, padding + 1.5, 14, 14), theme.colour(colours[kind]));
    int y = padding;
    const QString place = index.data(FindingsModel::place).toString();
    const QFont small = theme.font(FontRole::caption);
    const int placeWidth = place.isEmpty() ? 0 : QFontMetrics(small).horizontalAdvance(place) + 10;
    if (painter && placeWidth > 0) {
      painter->setFont(small);
      painter->setPen(theme.colour(Colour::text3));
      painter->drawText(QRect(width - kRowPadding - placeWidth, y, placeWidth, QFontMetrics(small).height() + 2),
                        Qt::AlignRight | Qt::AlignVCenter, place);
    }
    const auto paragraph = [&](const QString& text, const QFont& font, Colour colour, int right) {
      if (text.isEmpty()) return;
      const QRect room(kText, y, width - kText - kRowPadding - right, 4000);
      const QRect used = QFontMetrics(font).boundingRect(room, Qt::TextWordWrap, text);
      if (painter) {
        painter->setFont(font);
        painter->setPen(theme.colour(colour));
        painter->drawText(room, Qt::TextWordWrap, text);
      }
      y += used.height() + 4;
    };
    paragraph(index.data(Qt::DisplayRole).toString(),
              fine ? theme.font(FontRole::label) : Theme::withWeight(theme.font(FontRole::body), 600),
              fine ? Colour::text2 : Colour::text, placeWidth);
    paragraph(index.data(FindingsModel::detail).toString(), Theme::withWeight(theme.font(FontRole::label), 400),
              Colour::text2, 0);
    return y + padding - 4;
  }

  QAbstractItemView* m_view;
};

}  // namespace

void FindingsModel::setFindings(std::vector<ShownFinding> findings) {
  beginResetModel();
  m_findings = std::move(findings);
  endResetModel();
}

QVariant FindingsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const ShownFinding& found = finding(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return found.title;
    case Qt::AccessibleTextRole:
      return found.detail.isEmpty() ? found.title : QStringLiteral("%1. %2").arg(found.title, found.detail);
    case place:
      return found.place;
    case detail:
      return found.detail;
    case kind:
      return static_cast<int>(found.kind);
    case column:
      return found.column;
    case line:
      return found.line;
    default:
      return {};
  }
}

FindingsList::FindingsList(QWidget* parent) : QListView(parent), m_model(new FindingsModel(this)) {
  setModel(m_model);
  setItemDelegate(new FindingDelegate(this));
  setVerticalScrollMode(ScrollPerPixel);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(QFrame::NoFrame);
  setMouseTracking(true);
  setAccessibleName(QStringLiteral("Findings"));
  connect(selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) Q_EMIT chosen(m_model->finding(current.row()));
  });
  connect(&Theme::of(this), &Theme::changed, this, [this] { doItemsLayout(), viewport()->update(); });
}

// Over the whole row: the words are painted below it, the buttons stand at its foot.
QWidget* FindingsList::actionsOf(int row) {
  const std::vector<FindingAction>& actions = m_model->finding(row).actions;
  if (actions.empty()) return nullptr;
  auto* place = new QWidget;
  auto* column = new QVBoxLayout(place);
  column->setContentsMargins(kText, 0, kRowPadding, kRowPadding);
  column->addStretch();
  auto* line = new QWidget;
  line->setObjectName("finding-actions");
  auto* buttons = new FlowLayout(line, 8);
  for (std::size_t i = 0; i < std::min<std::size_t>(actions.size(), 2); ++i) {
    auto* button = new Button(actions[i].text, ButtonKind::outlined);
    if (i == 0) setStyleProperty(button, "remedy", true);
    // Queued: it may replace this very list.
    connect(button, &QPushButton::clicked, this, actions[i].act, Qt::QueuedConnection);
    buttons->addWidget(button);
  }
  if (actions.size() > 2) {
    auto* more = iconButton(QStringLiteral("more"), tr("Other remedies"));
    auto* menu = new QMenu(more);
    for (std::size_t i = 2; i < actions.size(); ++i)
      connect(menu->addAction(actions[i].text), &QAction::triggered, this, actions[i].act, Qt::QueuedConnection);
    connect(more, &QPushButton::clicked, menu,
            [more, menu] { menu->popup(more->mapToGlobal(QPoint(0, more->height()))); });
    buttons->addWidget(more);
  }
  QSizePolicy flows(QSizePolicy::Preferred, QSizePolicy::Fixed);
  flows.setHeightForWidth(true);
  line->setSizePolicy(flows);
  column->addWidget(line);
  return place;
}

void FindingsList::setFindings(std::vector<ShownFinding> findings) {
  const FocusKeeper keeper(*this, this);
  const int scrolled = verticalScrollBar()->value();
  m_model->setFindings(std::move(findings));
  for (int row = 0; row < std::min(m_model->rowCount(), kMostWithActions); ++row)
    if (QWidget* const place = actionsOf(row)) setIndexWidget(m_model->index(row), place);
  doItemsLayout();
  verticalScrollBar()->setValue(scrolled);
}

void FindingsList::selectNext(int direction) {
  int rows = 0;  // that are findings
  while (rows < m_model->rowCount() && m_model->finding(rows).kind != ShownFinding::Kind::fine) ++rows;
  if (rows == 0) return;
  const int current = currentIndex().isValid() ? currentIndex().row() : (direction > 0 ? -1 : rows);
  setCurrentIndex(m_model->index((current + direction + rows) % rows));
}

void FindingsList::resizeEvent(QResizeEvent* event) {
  QListView::resizeEvent(event);
  doItemsLayout();
}

}  // namespace loom

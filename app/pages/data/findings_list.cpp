#include "app/pages/data/findings_list.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "widgets/controls/button.h"
#include "widgets/controls/focus_keeper.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kRowPadding = 10, kText = 34, kActions = 26;

class FindingDelegate : public QStyledItemDelegate {
 public:
  explicit FindingDelegate(QAbstractItemView* view) : QStyledItemDelegate(view), m_view(view) {}

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
    const int width = m_view->viewport()->width();
    return {width, layout(index, width, nullptr) + (m_view->indexWidget(index) ? kActions : 0)};
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
  // Draws (or only measures) the three paragraphs of a finding; answers the height.
  int layout(const QModelIndex& index, int width, QPainter* painter) const {
    const Theme& theme = Theme::of(m_view);
    const int severity = index.data(FindingsModel::severity).toInt();
    const char* icons[] = {"status-failed", "status-warning", "info"};
    const Colour colours[] = {Colour::error, Colour::warning, Colour::text3};
    if (painter)
      paintIcon(*painter, QLatin1String(icons[severity]), QRectF(kRowPadding, kRowPadding + 1, 14, 14),
                theme.colour(colours[severity]));
    int y = kRowPadding;
    const auto paragraph = [&](const QString& text, const QFont& font, Colour colour) {
      if (text.isEmpty()) return;
      const QRect room(kText, y, width - kText - kRowPadding, 4000);
      const QRect used = QFontMetrics(font).boundingRect(room, Qt::TextWordWrap, text);
      if (painter) {
        painter->setFont(font);
        painter->setPen(theme.colour(colour));
        painter->drawText(room, Qt::TextWordWrap, text);
      }
      y += used.height() + 3;
    };
    paragraph(index.data(FindingsModel::place).toString(), theme.numberFont(FontRole::caption), Colour::text3);
    paragraph(index.data(Qt::DisplayRole).toString(), theme.font(FontRole::body), Colour::text);
    paragraph(index.data(FindingsModel::remedy).toString(), theme.font(FontRole::caption), Colour::text2);
    return y + kRowPadding - 3;
  }

  QAbstractItemView* m_view;
};

}  // namespace

void FindingsModel::setReport(const CheckReport* report) {
  beginResetModel();
  m_faults = report ? report->faults : std::vector<Fault>();
  endResetModel();
}

QVariant FindingsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Fault& fault = m_faults[index.row()];
  switch (role) {
    case Qt::DisplayRole: {
      const QString found = QString::fromStdString(fault.found), wanted = QString::fromStdString(fault.wanted);
      return wanted.isEmpty() ? found : QStringLiteral("%1, but %2").arg(found, wanted);
    }
    case Qt::AccessibleTextRole:
      return QString::fromStdString(fault.message());
    case place: {
      if (!fault.variables.empty()) return QStringLiteral("%1 columns").arg(fault.variables.size());
      QString where = fault.line > 0 ? QStringLiteral("line %1").arg(fault.line) : QStringLiteral("whole file");
      if (fault.kind == FaultKind::textColumn || fault.kind == FaultKind::unlikeScales ||
          fault.kind == FaultKind::constantColumn)
        return QStringLiteral("column ") + QString::fromStdString(fault.column);
      if (fault.kind == FaultKind::loneClass) where = QStringLiteral("both parts");
      if (!fault.column.empty()) where += QStringLiteral(", column ") + QString::fromStdString(fault.column);
      return where;
    }
    case remedy:
      return QString::fromStdString(fault.remedy);
    case severity:
      return static_cast<int>(fault.severity);
    case line:
      return static_cast<qint64>(fault.line);
    case kind:
      return static_cast<int>(fault.kind);
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
    if (current.isValid()) Q_EMIT lineChosen(current.data(FindingsModel::line).toLongLong());
  });
  connect(&Theme::of(this), &Theme::changed, this, [this] { doItemsLayout(), viewport()->update(); });
}

void FindingsList::setReport(const CheckReport* report) {
  const FocusKeeper keeper(*this, this);
  m_model->setReport(report);
  if (!m_actions) return;
  for (int row = 0; row < m_model->rowCount(); ++row) {
    const std::vector<FindingAction> actions = m_actions(m_model->fault(row));
    if (actions.empty()) continue;
    auto* place = new QWidget;  // over the whole row: the words are painted below it, the buttons stand at its foot
    auto* column = new QVBoxLayout(place);
    column->setContentsMargins(kText, 0, kRowPadding, 6);
    column->addStretch();
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(14);
    for (const FindingAction& action : actions) {
      auto* button = new Button(action.text, ButtonKind::link);
      connect(button, &QPushButton::clicked, this, action.act, Qt::QueuedConnection);  // it may replace this very list
      buttons->addWidget(button);
    }
    buttons->addStretch();
    column->addLayout(buttons);
    setIndexWidget(m_model->index(row), place);
  }
  doItemsLayout();
}

void FindingsList::selectNext(int direction) {
  const int rows = m_model->rowCount();
  if (rows == 0) return;
  const int current = currentIndex().isValid() ? currentIndex().row() : (direction > 0 ? -1 : rows);
  setCurrentIndex(m_model->index((current + direction + rows) % rows));
}

void FindingsList::resizeEvent(QResizeEvent* event) {
  QListView::resizeEvent(event);
  doItemsLayout();
}

}  // namespace loom

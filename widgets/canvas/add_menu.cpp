#include "widgets/canvas/add_menu.h"

#include <QApplication>
#include <QKeyEvent>
#include <QListWidget>
#include <QPainter>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/error.h"
#include "engine/layers/layer.h"
#include "widgets/controls/search_field.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr int kMenuWidth = 292, kRow = 28, kRows = 10, kMenuPadding = 8;
enum Role { idRole = Qt::UserRole, iconRole, categoryRole, hintRole };

// Icon, name, and at the right why it was found.
class AddDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {kMenuWidth, kRow}; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& theme = Theme::of();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF row = QRectF(option.rect).adjusted(1, 1, -1, -1);
    const bool current = option.state.testFlag(QStyle::State_Selected);
    if (current || option.state.testFlag(QStyle::State_MouseOver)) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(theme.colour(current ? Colour::selected : Colour::hover));
      painter->drawRoundedRect(row, 5, 5);
    }
    const QString category = index.data(categoryRole).toString();
    paintIcon(*painter, layerIcon(index.data(iconRole).toString(), category),
              QRectF(row.left() + 8, row.center().y() - 8, 16, 16), theme.layerColour(category));
    const QFont font = theme.font(FontRole::body), small = Theme::withWeight(theme.font(FontRole::caption), 400);
    painter->setFont(font);
    painter->setPen(theme.colour(Colour::text));
    const QString name = index.data(Qt::DisplayRole).toString();
    painter->drawText(row.adjusted(34, 0, -8, 0), Qt::AlignVCenter | Qt::AlignLeft, name);
    const double used = 34 + QFontMetricsF(font).horizontalAdvance(name) + 12;
    painter->setFont(small);
    painter->setPen(theme.colour(Colour::text3));
    const QString hint =
        QFontMetricsF(small).elidedText(index.data(hintRole).toString(), Qt::ElideRight, row.width() - used - 8);
    painter->drawText(row.adjusted(used, 0, -8, 0), Qt::AlignVCenter | Qt::AlignRight, hint);
    painter->restore();
  }
};

// What people add most, wherever they are.
const std::vector<std::string>& commonLayers() {
  static const std::vector<std::string> common{
      "Convolution",    "Linear",  "ReLU",    "MaxPooling", "BatchNormalization",
      "Dropout",        "Flatten", "Add",     "Softmax",    "SoftmaxCrossEntropy",
      "AveragePooling", "LSTM",    "Sigmoid", "Tanh",       "LayerNormalization",
      "Embedding",      "Input",   "Accuracy"};
  return common;
}

QString lower(const std::string& text) {
  return QString::fromStdString(text).toLower();
}

// The alias that matches what was typed, when the name itself does not.
QString foundBy(const Entry& entry, const QString& query) {
  const QString wanted = query.trimmed().toLower();
  if (wanted.isEmpty() || lower(entry.label).contains(wanted)) return {};
  for (const std::string& alias : entry.aliases)
    if (lower(alias).contains(wanted)) return QString::fromStdString(alias);
  return QString::fromStdString(entry.summary);
}

}  // namespace

AddMenu::AddMenu(QWidget* canvas)
    : QFrame(canvas), m_search(new SearchField(tr("Add a layer"), {}, this)), m_list(new QListWidget(this)) {
  setAccessibleName(tr("Add a layer"));
  m_search->setAccessibleName(tr("Search layers"));
  m_list->setAccessibleName(tr("Layers"));
  m_list->setItemDelegate(new AddDelegate(m_list));
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setUniformItemSizes(true);
  m_list->setMouseTracking(true);
  m_list->setFocusPolicy(Qt::NoFocus);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->viewport()->setAutoFillBackground(false);
  auto* layout = new QVBoxLayout(this);
  const int margin = shadowMargin(Elevation::menu) + kMenuPadding;
  layout->setContentsMargins(margin, margin, margin, margin);
  layout->setSpacing(6);
  layout->addWidget(m_search);
  layout->addWidget(m_list);
  connect(m_search, &QLineEdit::textChanged, this, &AddMenu::fill);
  connect(m_list, &QListWidget::itemClicked, this, &AddMenu::take);
  m_search->installEventFilter(this);
  hide();
}

void AddMenu::popup(QPoint at, std::vector<const Entry*> entries, const std::vector<std::string>& likely,
                    std::function<void(const std::string&)> chosen) {
  m_entries = std::move(entries);
  m_likely = likely;
  m_chosen = std::move(chosen);
  {
    const QSignalBlocker quiet(m_search);
    m_search->clear();
  }
  fill();
  const int margin = shadowMargin(Elevation::menu);
  const QSize size(kMenuWidth + 2 * (margin + kMenuPadding),
                   m_search->sizeHint().height() + kRow * kRows + 6 + 2 * (margin + kMenuPadding));
  const QRect room = parentWidget()->rect();
  resize(size.boundedTo(room.size() + QSize(2 * margin, 2 * margin)));
  // Inside the canvas, with its field under the pointer where there is room.
  const QPoint wanted = at - QPoint(margin + 16, margin + 16);
  const auto bounded = [](int value, int low, int high) { return std::max(low, std::min(value, high)); };
  move(bounded(wanted.x(), -margin, room.width() - width() + margin),
       bounded(wanted.y(), -margin, room.height() - height() + margin));
  show();
  raise();
  m_search->setFocus(Qt::ShortcutFocusReason);
  qApp->installEventFilter(this);
}

void AddMenu::fill() {
  m_list->clear();
  const QString query = m_search->text();
  std::vector<const Entry*> found = search(m_entries, query.toStdString());
  const QString wanted = query.trimmed();
  const auto placeIn = [](const std::vector<std::string>& ids, const Entry* entry) {
    return std::find(ids.begin(), ids.end(), entry->id) - ids.begin();
  };
  // What is called exactly so; then what begins so and is commonly wanted, here before anywhere; then as it was found.
  const std::vector<std::string>& common = commonLayers();
  const auto order = [&](const Entry* entry) {
    const QString label = QString::fromStdString(entry->label);
    const auto likely = placeIn(m_likely, entry);
    if (wanted.isEmpty()) return std::pair(0, likely);
    if (label.compare(wanted, Qt::CaseInsensitive) == 0) return std::pair(0, std::ptrdiff_t{0});
    const auto anywhere = placeIn(common, entry);
    const bool known = anywhere < std::ssize(common) || likely < std::ssize(m_likely);
    if (!known || !label.startsWith(wanted, Qt::CaseInsensitive)) return std::pair(2, std::ptrdiff_t{0});
    return std::pair(1, likely < std::ssize(m_likely) ? likely : std::ssize(m_likely) + anywhere);
  };
  std::stable_sort(found.begin(), found.end(), [&](const Entry* a, const Entry* b) { return order(a) < order(b); });
  for (const Entry* entry : found) {
    auto* item = new QListWidgetItem(QString::fromStdString(entry->label), m_list);
    item->setData(idRole, QString::fromStdString(entry->id));
    item->setData(iconRole, QString::fromStdString(entry->icon));
    item->setData(categoryRole, QString::fromStdString(entry->category));
    item->setData(hintRole, foundBy(*entry, query));
    item->setToolTip(QString::fromStdString(entry->summary));
  }
  if (found.empty()) {
    auto* none = new QListWidgetItem(tr("No layer is called so"), m_list);
    none->setFlags(Qt::NoItemFlags);
  }
  m_list->setCurrentRow(0);
}

void AddMenu::take() {
  const QListWidgetItem* item = m_list->currentItem();
  if (item == nullptr || item->data(idRole).isNull()) return;
  const std::string id = item->data(idRole).toString().toStdString();
  const auto chosen = std::move(m_chosen);
  dismiss();
  if (chosen) chosen(id);
}

void AddMenu::dismiss() {
  qApp->removeEventFilter(this);
  hide();
  parentWidget()->parentWidget()->setFocus(Qt::OtherFocusReason);
}

void AddMenu::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double margin = shadowMargin(Elevation::menu);
  paintCard(painter, QRectF(rect()).adjusted(margin, margin, -margin, -margin), Theme::of(this).radius(Radius::card),
            Elevation::menu);
}

bool AddMenu::eventFilter(QObject* watched, QEvent* event) {
  if (!isVisible()) return false;
  if (event->type() == QEvent::MouseButtonPress) {
    auto* widget = qobject_cast<QWidget*>(watched);
    if (widget != nullptr && widget != this && !isAncestorOf(widget)) dismiss();
    return false;
  }
  if (watched != m_search || event->type() != QEvent::KeyPress) return false;
  const auto* key = static_cast<QKeyEvent*>(event);
  const int rows = m_list->count();
  switch (key->key()) {
    case Qt::Key_Escape:
      dismiss();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      take();
      return true;
    case Qt::Key_Down:
      m_list->setCurrentRow(std::min(rows - 1, m_list->currentRow() + 1));
      return true;
    case Qt::Key_Up:
      m_list->setCurrentRow(std::max(0, m_list->currentRow() - 1));
      return true;
    case Qt::Key_PageDown:
      m_list->setCurrentRow(std::min(rows - 1, m_list->currentRow() + kRows));
      return true;
    case Qt::Key_PageUp:
      m_list->setCurrentRow(std::max(0, m_list->currentRow() - kRows));
      return true;
    case Qt::Key_Tab:
      return true;
    default:
      return false;
  }
}

bool mayFollow(const LayerDefinition& layer, const Shape& shape) {
  const Json nothing = Json::object();
  if (layer.entry.inputs.size() != 1 || layer.entry.inputs.front().several) return true;
  for (const FieldProblem& problem : validate(layer.entry, nothing))
    if (problem.severity == FieldProblem::Severity::error) return true;  // a field must be filled first
  try {
    return !layer.shapes({layer.entry.id, Values(layer.entry, nothing), {&shape, 1}}).empty();
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::string> likelyAfter(const std::string& category) {
  if (category == "convolution") return {"BatchNormalization", "ReLU", "MaxPooling", "Convolution", "SiLU", "Add"};
  if (category == "linear") return {"ReLU", "Linear", "SoftmaxCrossEntropy", "Dropout", "GELU", "Sigmoid", "Tanh"};
  if (category == "normalisation") return {"ReLU", "Add", "Convolution", "Linear", "SiLU", "GELU"};
  if (category == "activation")
    return {"Convolution", "MaxPooling", "Linear", "Dropout", "BatchNormalization", "GlobalAveragePooling", "Add"};
  if (category == "pooling") return {"Convolution", "Linear", "Flatten", "ReLU", "Dropout"};
  if (category == "shape") return {"ReLU", "Linear", "Convolution", "LayerNormalization", "Add"};
  if (category == "recurrentAttention") return {"LayerNormalization", "Linear", "Add", "Dropout", "LSTM", "Slice"};
  if (category == "inputOutput") return {"Convolution", "Linear", "Embedding", "LSTM", "BatchNormalization", "Flatten"};
  return {"Input", "Convolution", "Linear", "ReLU", "BatchNormalization", "MaxPooling", "SoftmaxCrossEntropy"};
}

}  // namespace loom

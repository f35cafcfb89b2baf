#include "widgets/palette/layer_palette.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include "engine/layers/layer.h"
#include "widgets/controls/search_field.h"
#include "widgets/theme/theme.h"

namespace loom {

LayerPalette::LayerPalette(QWidget* parent)
    : QWidget(parent), m_search(new SearchField(tr("Search layers"), QStringLiteral("/"), this)), m_list(new LayerList(this)), m_count(new QLabel(this)) {
  setAccessibleName(tr("Layers"));
  m_search->setAccessibleName(tr("Search layers"));
  auto* title = new QLabel(tr("Layers"), this);
  setStyleProperty(title, "kind", QStringLiteral("heading"));
  setStyleProperty(m_count, "kind", QStringLiteral("hint"));
  m_count->setText(QString::number(layerTable().size()));
  auto* head = new QHBoxLayout;
  head->setContentsMargins(16, 0, 16, 0);
  head->addWidget(title);
  head->addStretch();
  head->addWidget(m_count);
  auto* headRow = new QWidget(this);
  headRow->setLayout(head);
  headRow->setFixedHeight(Theme::of(this).size(Size::tabs));
  auto* searchRow = new QVBoxLayout;
  searchRow->setContentsMargins(12, 10, 12, 4);
  searchRow->addWidget(m_search);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 1, 0);
  layout->setSpacing(0);
  layout->addWidget(headRow);
  layout->addLayout(searchRow);
  layout->addWidget(m_list, 1);
  connect(m_search, &QLineEdit::textChanged, this, &LayerPalette::refill);
  connect(m_search, &SearchField::escaped, this, &LayerPalette::leaving);
  connect(m_list, &LayerList::chosen, this, &LayerPalette::layerChosen);
  connect(m_list, &LayerList::leftUpwards, this, &LayerPalette::focusSearch);
  connect(m_list, &LayerList::typed, this, [this](const QString& text) {
    focusSearch();
    m_search->setText(text);
  });
  connect(&Theme::of(this), &Theme::changed, this, qOverload<>(&QWidget::update));
  m_search->installEventFilter(this);
  refill();
}

void LayerPalette::focusSearch() {
  m_search->setFocus(Qt::ShortcutFocusReason);
  m_search->selectAll();
}

void LayerPalette::refill() {
  m_list->fill(m_search->text());
  const bool all = m_search->text().trimmed().isEmpty();
  m_count->setText(all ? QString::number(layerTable().size()) : tr("%1 of %2").arg(m_list->found()).arg(layerTable().size()));
}

void LayerPalette::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.fillRect(rect(), theme.colour(Colour::surface));
  painter.setPen(theme.hairline(Colour::line));
  const double right = width() - 0.5, under = theme.size(Size::tabs) - 0.5;
  painter.drawLine(QPointF(right, 0), QPointF(right, height()));
  painter.drawLine(QPointF(0, under), QPointF(width(), under));
}

bool LayerPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_search || event->type() != QEvent::KeyPress) return false;
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down:
      m_list->setFocus(Qt::TabFocusReason);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (const std::string layer = m_list->currentLayer(); !layer.empty()) Q_EMIT layerChosen(QString::fromStdString(layer));
      return true;
    default: return false;
  }
}

}  // namespace loom

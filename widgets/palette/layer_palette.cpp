#include "widgets/palette/layer_palette.h"

#include <QKeyEvent>
#include <QVBoxLayout>

#include "engine/layers/layer.h"
#include "widgets/controls/search_field.h"
#include "widgets/theme/theme.h"

namespace loom {

LayerPalette::LayerPalette(QWidget* parent)
    : QWidget(parent),
      m_search(new SearchField(tr("Search layers"), QStringLiteral("/"), this)),
      m_list(new LayerList(this)) {
  setAccessibleName(tr("Layers"));
  m_search->setAccessibleName(tr("Search layers"));
  auto* searchRow = new QVBoxLayout;
  searchRow->setContentsMargins(12, 10, 12, 4);
  searchRow->addWidget(m_search);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
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
  m_search->setCount(all ? QString() : QString::number(m_list->found()));
}

void LayerPalette::setUnits(std::vector<Entry> units) {
  m_list->setUnits(std::move(units));
  refill();
}

void LayerPalette::setOwn(std::vector<OwnRow> own) {
  m_list->setOwn(std::move(own));
  refill();
}

bool LayerPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_search || event->type() != QEvent::KeyPress) return false;
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down:
      m_list->setFocus(Qt::TabFocusReason);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (const std::string layer = m_list->currentLayer(); !layer.empty())
        Q_EMIT layerChosen(QString::fromStdString(layer));
      return true;
    default:
      return false;
  }
}

}  // namespace loom

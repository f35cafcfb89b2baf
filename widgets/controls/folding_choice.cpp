#include "widgets/controls/folding_choice.h"

#include <algorithm>

#include "widgets/controls/choice_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/theme/theme.h"

namespace loom {

FoldingChoice::FoldingChoice(const QStringList& labels, QWidget* parent)
    : QWidget(parent), m_segments(new SegmentedControl(labels, this)), m_field(new ChoiceField(this)) {
  m_field->addItems(labels);
  m_field->hide();
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  setFocusProxy(m_segments);
  connect(m_segments, &SegmentedControl::currentChanged, this, [this](int index) {
    m_field->setCurrentIndex(index);
    Q_EMIT currentChanged(index);
  });
  connect(m_field, &QComboBox::currentIndexChanged, m_segments, &SegmentedControl::setCurrent);
  connect(&Theme::of(this), &Theme::changed, this, &FoldingChoice::fit);
}

int FoldingChoice::current() const {
  return m_segments->current();
}

void FoldingChoice::setCurrent(int index) {
  m_segments->setCurrent(index);
}

bool FoldingChoice::isFolded() const {
  return !m_field->isHidden();
}

QSize FoldingChoice::sizeHint() const {
  return m_segments->sizeHint();
}

QSize FoldingChoice::minimumSizeHint() const {
  return {std::min(m_field->sizeHint().width(), m_segments->sizeHint().width()), sizeHint().height()};
}

// The keyboard goes along with the shape.
void FoldingChoice::fit() {
  const bool folded = width() < m_segments->sizeHint().width();
  for (QWidget* each : std::initializer_list<QWidget*>{m_segments, m_field}) each->setGeometry(rect());
  if (folded == isFolded()) return;
  QWidget *const shown = folded ? static_cast<QWidget*>(m_field) : m_segments, *const other =
                                                                                   folded ? static_cast<QWidget*>(
                                                                                                m_segments)
                                                                                          : m_field;
  const bool focused = other->hasFocus();
  shown->show();
  setFocusProxy(shown);
  if (focused) shown->setFocus();
  other->hide();
}

void FoldingChoice::resizeEvent(QResizeEvent*) {
  fit();
}

}  // namespace loom

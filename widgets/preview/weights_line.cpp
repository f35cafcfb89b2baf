#include "widgets/preview/weights_line.h"

#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <algorithm>

#include "widgets/controls/button.h"
#include "widgets/controls/text.h"

namespace loom {

WeightsLine::WeightsLine(const QString& name, QWidget* parent) : QWidget(parent) {
  auto* const row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  m_label = makeLabel("hint");
  m_label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_choose = new Button(tr("Change"), ButtonKind::link);
  m_choose->setObjectName(name);
  m_choose->setFocusPolicy(Qt::TabFocus);
  m_choose->setToolTip(tr("The weights of another run, or those that training begins with"));
  m_choose->setFixedHeight(std::max(18, m_choose->fontMetrics().height() + 2));
  row->addWidget(m_label, 1);
  row->addWidget(m_choose);
  connect(m_choose, &Button::clicked, this, [this] { Q_EMIT othersWanted(m_choose); });
}

void WeightsLine::setWords(const QString& words, bool others) {
  m_words = words;
  m_label->setToolTip(words);
  m_choose->setVisible(others);
  setVisible(!words.isEmpty());
  elide();
}

void WeightsLine::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  elide();
}

void WeightsLine::elide() {
  m_label->setText(m_label->fontMetrics().elidedText(m_words, Qt::ElideRight, m_label->width()));
}

}  // namespace loom

#include "app/pages/settings/train_advice.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "widgets/controls/button.h"
#include "widgets/controls/focus_keeper.h"
#include "widgets/controls/icon_label.h"
#include "widgets/theme/theme.h"

namespace loom {

TrainAdvice::TrainAdvice(QWidget* parent) : QWidget(parent), m_rows(new QVBoxLayout) {
  auto* title = new QLabel(QStringLiteral("Before you train"));
  title->setProperty("kind", "heading");
  m_rows->setSpacing(6);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(20, 14, 20, 14);
  column->setSpacing(10);
  column->addWidget(title);
  column->addLayout(m_rows);
  column->addStretch();
}

void TrainAdvice::setAdvice(const std::vector<Advice>& advice) {
  const FocusKeeper keeper(*this);
  while (QLayoutItem* item = m_rows->takeAt(0)) {
    item->widget()->hide();
    item->widget()->deleteLater();  // the button that was just pressed stands on it
    delete item;
  }
  for (const Advice& one : advice) {
    auto* line = new QWidget;
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    const char* icons[] = {"status-failed", "status-warning", "status-ok"};
    const Colour colours[] = {Colour::error, Colour::warning, Colour::ok};
    auto* sign = new IconLabel(QLatin1String(icons[static_cast<int>(one.kind)]), colours[static_cast<int>(one.kind)]);
    row->addWidget(sign, 0, Qt::AlignTop);
    auto* text = new QLabel(one.text);
    text->setWordWrap(true);
    row->addWidget(text, 1);
    if (!one.action.isEmpty()) {
      auto* button = new Button(one.action, ButtonKind::link);
      connect(button, &QPushButton::clicked, this, [act = one.act] { act(); });
      row->addWidget(button, 0, Qt::AlignTop);
    }
    m_rows->addWidget(line);
    line->show();
  }
}

}  // namespace loom

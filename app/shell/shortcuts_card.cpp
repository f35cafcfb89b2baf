#include "app/shell/shortcuts_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

namespace loom {

ShortcutsCard::ShortcutsCard(const QList<Actions::Entry>& entries, const QList<QAction*>& ofPage, QWidget* window) : Popover(window) {
  setObjectName("shortcuts");
  auto* title = new QLabel(tr("All shortcuts"));
  title->setProperty("kind", "heading");
  contentLayout()->addWidget(title);
  QList<Actions::Entry> all;
  for (QAction* action : ofPage) all << Actions::Entry{tr("This page"), action};
  all << entries;
  auto* columns = new QHBoxLayout;
  columns->setSpacing(40);
  QGridLayout* grid = nullptr;
  QString group;
  int row = 0;
  for (const Actions::Entry& each : all) {
    if (each.action->shortcut().isEmpty()) continue;
    if (!grid || (each.group != group && row > 12)) {
      grid = new QGridLayout;
      grid->setHorizontalSpacing(20);
      grid->setVerticalSpacing(5);
      auto* column = new QVBoxLayout;
      column->addLayout(grid);
      column->addStretch();
      columns->addLayout(column);
      row = 0;
    }
    if (each.group != group) {
      auto* head = new QLabel(each.group);
      head->setProperty("kind", "section");
      head->setContentsMargins(0, row ? 8 : 0, 0, 2);
      grid->addWidget(head, row++, 0, 1, 2);
    }
    group = each.group;
    QStringList keys;
    for (const QKeySequence& key : each.action->shortcuts()) keys << key.toString(QKeySequence::NativeText);
    auto* text = new QLabel(each.action->text());
    auto* key = new QLabel(keys.join(tr(" or ")));
    key->setProperty("kind", "number");
    key->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    grid->addWidget(text, row, 0);
    grid->addWidget(key, row++, 1);
  }
  contentLayout()->addLayout(columns);
}

}  // namespace loom

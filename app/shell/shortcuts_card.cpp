#include "app/shell/shortcuts_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/controls/text.h"

namespace loom {

namespace {

constexpr int kMostColumns = 4;

struct Line {
  QString group;
  KeyHint hint;
};

// All lines in at most so many columns.
QWidget* sheetOf(const QList<Line>& all, int most) {
  auto* sheet = new QWidget;
  auto* columns = new QHBoxLayout(sheet);
  columns->setContentsMargins(0, 0, 0, 0);
  columns->setSpacing(12);
  QGridLayout* grid = nullptr;
  QString group;
  // Every group's head is a line too, and the columns are about equally long; a group may go on in the next, but no head ends one.
  qsizetype lines = all.size() + 2 * (most - 1);
  for (qsizetype i = 0; i < all.size(); ++i) lines += i == 0 || all[i].group != all[i - 1].group;
  const int longest = std::max<int>(12, static_cast<int>(lines + most - 1) / most);
  int row = 0;
  for (const Line& each : all) {
    if (!grid || row >= longest || (each.group != group && row >= longest - 2)) {
      grid = new QGridLayout;
      grid->setHorizontalSpacing(10);
      grid->setVerticalSpacing(0);
      auto* column = new QVBoxLayout;
      column->addLayout(grid);
      column->addStretch();
      columns->addLayout(column);
      row = 0;
    }
    if (each.group != group) {
      QLabel* const head = makeLabel("section", each.group);
      head->setContentsMargins(0, row ? 8 : 0, 0, 2);
      grid->addWidget(head, row++, 0, 1, 2);
    }
    group = each.group;
    QLabel* const key = makeLabel("number", each.hint.keys);
    key->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    grid->addWidget(makeLabel("", each.hint.text), row, 0);
    grid->addWidget(key, row++, 1);
  }
  return sheet;
}

}  // namespace

ShortcutsCard::ShortcutsCard(const Commands& commands, const Page* page, QWidget* window) : Popover(window) {
  setObjectName("shortcuts");
  setTitle(tr("All shortcuts"));
  QList<Line> all;
  const auto add = [&](const QList<QAction*>& actions) {
    for (const QAction* action : actions)
      if (const QString keys = keysText(*action); !keys.isEmpty()) all << Line{commands.spec(Commands::idOf(*action)).group, {keys, action->text()}};
  };
  if (page) {
    add(page->pageActions());
    for (const KeyHint& hint : page->keyHints()) all << Line{tr("This page"), hint};
  }
  add(commands.ofScope({}));
  for (int columns = kMostColumns; columns > 0; --columns) {
    auto* const sheet = sheetOf(all, columns);
    contentLayout()->addWidget(sheet);
    if (columns == 1 || sizeHint().width() <= window->width()) break;
    delete sheet;
  }
}

}  // namespace loom

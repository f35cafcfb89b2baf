#include "app/shell/shortcuts_card.h"

#include <QGridLayout>
#include <QHash>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QSet>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/chart/line_chart.h"
#include "widgets/controls/text.h"

namespace loom {

namespace {

constexpr int kMostColumns = 4;
constexpr int kAround = 48;  // of a window that the sheet does not fit into: stays to be seen

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
  // Every group's head is a line too, and the columns are about equally long; a group may go on in the next, but no
  // head ends one.
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

// "Left", "Right", "Up", "Down" with the same held keys: "Shift+Arrows".
QString together(const QStringList& keys) {
  const QStringList arrows{QKeySequence(Qt::Key_Left).toString(QKeySequence::NativeText),
                           QKeySequence(Qt::Key_Right).toString(QKeySequence::NativeText),
                           QKeySequence(Qt::Key_Up).toString(QKeySequence::NativeText),
                           QKeySequence(Qt::Key_Down).toString(QKeySequence::NativeText)};
  QStringList held;
  QSet<QString> ends;
  for (const QString& each : keys)
    for (const QString& arrow : arrows)
      if (each == arrow || each.endsWith('+' + arrow)) {
        ends << arrow;
        const QString before = each.chopped(arrow.size());
        if (!held.contains(before)) held << before;
      }
  return keys.size() == 4 && ends.size() == 4 && held.size() == 1 ? held.first() + ShortcutsCard::tr("Arrows")
                                                                  : keys.join(ShortcutsCard::tr(", "));
}

}  // namespace

ShortcutsCard::ShortcutsCard(const Commands& commands, const Page* page, const QString& pageId, QWidget* window)
    : Popover(window) {
  setObjectName("shortcuts");
  setTitle(tr("All shortcuts"));
  QList<Line> all;
  QHash<QString, qsizetype> families;
  QHash<QString, QStringList> familyKeys;
  const auto add = [&](const auto& holds) {
    for (const QAction* action : commands.all()) {
      const CommandSpec& spec = commands.spec(Commands::idOf(*action));
      if (!holds(spec.scope) || action->shortcuts().isEmpty()) continue;
      // A part has further keys for some, of old keyboards: the first is the one to learn.
      const QString keys =
          spec.scope.contains('/') ? action->shortcut().toString(QKeySequence::NativeText) : keysText(*action);
      if (spec.family.isEmpty()) {
        all << Line{spec.group, {keys, action->text()}};
        continue;
      }
      if (!families.contains(spec.family)) {
        families.insert(spec.family, all.size());
        all << Line{spec.group, {{}, spec.family}};
      }
      for (const QKeySequence& each : action->shortcuts())
        familyKeys[spec.family] << each.toString(QKeySequence::NativeText);
      all[families[spec.family]].hint.keys = together(familyKeys[spec.family]);
    }
  };
  if (page) {
    // What the page's own keys come before is no key of it.
    add([&](const QString& scope) { return !scope.isEmpty() && scopesMeet(scope, pageId) && !scope.startsWith('*'); });
    for (const KeyHint& hint : page->keyHints()) all << Line{tr("This page"), hint};
    if (page->findChild<LineChart*>()) add([](const QString& scope) { return scope.startsWith('*'); });
  }
  add([](const QString& scope) { return scope.isEmpty(); });
  for (int columns = kMostColumns; columns > 0; --columns) {
    auto* const sheet = sheetOf(all, columns);
    contentLayout()->addWidget(sheet);
    if (columns > 1 && sizeHint().width() > window->width()) {
      delete sheet;
      continue;
    }
    if (const int over = sizeHint().height() - window->height(); over > 0) scrolled(sheet, over + kAround);
    break;
  }
}

// A sheet that is longer than the window shows what fits; the rest is scrolled to, also by the keys.
void ShortcutsCard::scrolled(QWidget* sheet, int over) {
  contentLayout()->removeWidget(sheet);
  constexpr int kBeside = 10;  // between the words and the bar
  sheet->layout()->setContentsMargins(0, 0, kBeside, 0);
  const QSize whole = sheet->sizeHint();
  auto* const area = new QScrollArea;
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setWidget(sheet);
  // The card's own ground.
  area->viewport()->setAutoFillBackground(false);
  sheet->setAutoFillBackground(false);
  area->setFixedSize(whole.width() + area->verticalScrollBar()->sizeHint().width(), whole.height() - over);
  area->setFocusPolicy(Qt::StrongFocus);
  contentLayout()->addWidget(area);
}

}  // namespace loom

#pragma once
// Every command that has a shortcut, those of the page in front first.
#include "app/page.h"
#include "widgets/controls/popover.h"

namespace loom {

class ShortcutsCard : public Popover {
  Q_OBJECT

 public:
  ShortcutsCard(const Commands& commands, const Page* page, const QString& pageId,
                QWidget* window);  // `page` may be null

 private:
  void scrolled(QWidget* sheet, int over);  // `over`: pixels that the sheet is too long
};

}  // namespace loom

#pragma once
// A font or an extent of the theme that a widget keeps: both follow when the text size changes. What is set by hand
// would stay as it was, and cut the words around it.
#include <QWidget>

#include "widgets/theme/theme.h"

namespace loom {

enum class Face { words, numbers };
void keepFont(QWidget* widget, FontRole role, Face face = Face::words, int weight = 0);  // 0: the role's own
void keepHeight(QWidget* widget, Size size, int extra = 0);
void keepWidth(QWidget* widget, Size size, int extra = 0);
void keepHeight(QWidget* widget, int px);  // at 100 %
void keepWidth(QWidget* widget, int px);

}  // namespace loom

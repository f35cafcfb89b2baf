#pragma once
// What a panel shows: its lines, marks and events. Plain values, owned by the page and copied into the panel.
#include <QString>
#include <memory>
#include <optional>

#include "widgets/chart/format.h"
#include "widgets/chart/series_source.h"
#include "widgets/theme/tokens.h"

namespace loom {

enum class LineKind {
  curve,       // a smoothed line over the band of the raw values
  validation,  // hollow circles on a thin line, never smoothed
  plain,       // a line as it is: the learning rate
  planned,     // dashed: what is still to come
  stacked,     // bars on top of each other, in the order of the lines: time per step
};

struct ChartLine {
  QString id;
  QString name;           // at the line's end
  QString fullName = {};  // in the tooltip, where panels share it: "Training loss"; empty = name
  LineKind kind = LineKind::curve;
  int colour = 0;                                     // the number of the run's curve colour (Theme::curveColour)
  std::optional<Colour> ink;                          // a token instead: the learning rate is text2
  std::optional<QColor (*)(const Palette&)> special;  // a colour of its own: the parts of a step's time
  std::shared_ptr<const SeriesSource> source;
  ValueKind value = ValueKind::loss;
  bool visible = true;
  // `last` of a column is the mean of several runs, minimum and maximum how far they lie around it: the line goes
  // through the mean, the band is always there, both are smoothed alike.
  bool isMean = false;
};

// Which end of the scale is good: orders the line ends and says which are the ten best.
enum class Better { lower, higher };

struct BestMark {
  QString line;  // its id
  double x = 0;
  double y = 0;
  QString text;  // "best 88.59, epoch 63"
};

struct ChartEvent {
  double x = 0;
  QString text;  // "warm-up ends"
  QString icon = QStringLiteral("flag");
};

}  // namespace loom

#pragma once
// What a model says of a cell to a DataTable besides Qt's own roles. Display, CheckState, ToolTip and Edit mean what
// they always do.
#include <QString>
#include <Qt>

namespace loom {

enum TableRole {
  kSortRole = Qt::UserRole + 1,  // what is sorted by; an invalid one is missing and stands last either way
  kSwatchRole,                   // int: the number of the run's curve colour; invalid = an empty frame
  kStatusRole,                   // int: Status; its word is the display text
  kToneRole,                     // int: Tone
  kRemarkRole,                   // QString: quiet, left of a number: "± 0.14"
  kStrongRole,                   // bool: weight 600
  kLevelRole,                    // int: Level, in the first text column; invalid = no row opens another
  kDotsRole,                     // QList<double>: places from 0 to 1 on the axis that all rows share
};

constexpr int kCellPadding = 10;  // left and right, in cells and in the head above them
constexpr int kLevelWidth = 20;   // of the sign that opens a row, and of a step inside

enum class Level {
  closed,  // a row that opens others below it
  open,
  inside,  // one of them
};

enum class Tone { normal, quiet, accent, ok, warning, error };

enum class ColumnKind {
  text,
  number,  // monospaced, right-aligned
  check,   // a box, bound to Qt::CheckStateRole; in the head one for all rows
  swatch,  // the curve's colour; a click is swatchClicked()
  status,  // shape and word
  dots,    // kDotsRole in the curve's colour, or a quiet word
};

struct TableColumn {
  QString title;
  ColumnKind kind = ColumnKind::text;
  int width = 100;
  bool tinted = false;  // under the tinted head: the settings that differ
  bool sortable = true;
};

}  // namespace loom

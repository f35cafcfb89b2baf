#pragma once
// Cards on the clipboard: the text of a project that holds just them, as a `.loom` file has it, so they travel between
// networks, projects, programs and messages. Wires and groups between copied cards come along, wires to others do not;
// the units that they use do.
#include <QPointF>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/document/drawing.h"

namespace loom {

// Nodes and comments by their ids.
std::string copyText(const Project& project, const Network& drawing, const std::vector<std::string>& ids);

struct Copied {
  Network drawing;             // under ids that are free where it is pasted
  std::vector<Network> units;  // those that the project lacks, under names that are free
};
// What the text holds, around `centre` of the drawing; empty when it is no drawing. A unit that is there already, just
// the same, is used; nodes of a unit that holds this drawing itself stay out.
Copied readCopied(std::string_view text, const Drawing& drawing, QPointF centre);

}  // namespace loom

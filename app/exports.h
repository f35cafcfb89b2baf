#pragma once
// What becomes of a chart's export: a notice where it is written, an error in the list of problems where it cannot be.
class QString;

namespace loom {

class ChartStack;
class Page;

// From now on, of every panel of `charts`; `place` is the page's id.
void tellExports(ChartStack& charts, Page& page, const QString& place);

}  // namespace loom

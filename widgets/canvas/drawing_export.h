#pragma once
// The drawing of a network or a unit as a file: SVG and PDF with text as text, PNG in pixels. Always in light colours
// and whole, whatever the window shows. GUI thread; needs a Theme.
#include <QString>
#include <string>

#include "widgets/document/project_document.h"

namespace loom {

struct DrawingExport {
  std::string network;
  QString file;      // its ending says what is written: .svg, .png, .pdf
  double scale = 1;  // of a PNG: pixels for each of the canvas
};

// Waits for shapes that are still being found, and routes every wire, before it paints.
// Writes to a temporary file and renames. Refuses with a sentence: an unknown ending, nothing drawn, no room on the
// disk.
Outcome exportDrawing(ProjectDocument& document, const DrawingExport& wanted);

}  // namespace loom

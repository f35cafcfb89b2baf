// Networks of other tools.
#include "engine/exchange/importer.h"
#include "tests/fuzz/fuzz.h"

using namespace loom;

// Weights in files beside it are looked for in the fuzz folder alone, which holds nothing else.
LOOM_FUZZ(onnx) {
  const fuzz::Folder folder;
  try {
    const Imported imported = importFile({.file = folder.write("model.onnx", bytes)});
    // What could be drawn is written, and read again as the same.
    const std::string text = writeProject(imported.project);
    const ReadProject read = readProject(text, "imported.loom");
    if (!read.readable || writeProject(read.project) != text) std::abort();
    (void)checkProject(read.project);
    for (const ImportedWeight& weight : imported.weights)
      if (static_cast<std::int64_t>(weight.values.size()) != weight.shape.elements()) std::abort();
    (void)reportText(imported.report);
  } catch (const Error&) {
  }
}

LOOM_FUZZ(sdcproj) {
  const fuzz::Folder folder;
  try {
    const Imported imported = importFile({.file = folder.write("p.sdcproj", bytes)});
    // Whatever it was, what was made of it is a project that can be kept.
    const std::string text = writeProject(imported.project);
    if (!readProject(text, "again.loom").readable) std::abort();
    (void)reportText(imported.report);
    (void)toJson(imported.report).dump();
  } catch (const Error&) {
  }
}

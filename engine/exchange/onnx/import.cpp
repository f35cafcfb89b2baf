// ONNX as an importer of the table: read, learn what is known, join what exporters wrote out, translate.
#include <functional>
#include <set>

#include "engine/base/error.h"
#include "engine/exchange/importer.h"
#include "engine/exchange/onnx/carried.h"
#include "engine/exchange/onnx/drawing.h"
#include "engine/exchange/onnx/einsum.h"
#include "engine/exchange/onnx/patterns.h"
#include "engine/exchange/onnx/translator.h"

namespace loom {
namespace {

// A ModelProto begins with its ir_version (field 1, a small number); a name that says so settles it.
bool sniff(std::string_view bytes, std::string_view name) {
  const bool named = name.size() > 5 && name.substr(name.size() - 5) == ".onnx";
  return bytes.size() > 2 && bytes[0] == 0x08 &&
         (named || (bytes[1] > 0 && bytes[1] < 32 && (bytes[2] == 0x12 || bytes[2] == 0x3a || bytes[2] == 0x42)));
}

// A file of ours: the project as it was drawn, with the file's weights.
void take(onnx_file::CarriedProject carried, Imported& imported) {
  imported.project = std::move(carried.project);
  imported.weights = std::move(carried.weights);
  std::set<std::string> told;
  const std::function<void(const Network&)> tell = [&](const Network& drawing) {
    if (!told.insert(drawing.name).second) return;
    for (const Node& node : drawing.nodes) {
      imported.report.add(ReportItem::Kind::translated, drawing.name,
                          fmt::format("{} ({})", node.id, node.unit.empty() ? node.layer : node.unit), node.id,
                          "As it was drawn.");
      if (const Network* unit = node.unit.empty() ? nullptr : imported.project.unit(node.unit)) tell(*unit);
    }
  };
  tell(*imported.project.network(carried.network));
}

void beginWith(Imported& imported, const std::filesystem::path& file) {
  if (imported.weights.empty()) return;
  imported.weightsFile = onnx_file::idFrom(file.stem().string(), "weights") + ".safetensors";
  imported.project.training.settings["start_from"] = imported.weightsFile;
  imported.project.training.settings.erase("start_from_parameters");  // all of them
}

Imported run(const ImportRequest& request) {
  const auto check = [&](double share) {
    if (request.stop && request.stop->load(std::memory_order_relaxed))
      throwError(ErrorCode::stopped, "the import was stopped");
    if (request.progress) request.progress(share);
  };
  check(0);
  onnx_file::OnnxGraph graph = onnx_file::readModel(request.file);
  check(0.4);
  Imported imported;
  imported.report.format = "ONNX";
  imported.report.items = std::move(graph.remarks);
  if (auto carried = onnx_file::carriedProject(graph, imported.report)) {
    take(std::move(*carried), imported);
    beginWith(imported, request.file);
    check(1);
    return imported;
  }
  onnx_file::Facts facts = onnx_file::learnFacts(graph, imported.report);
  check(0.6);
  onnx_file::writeOutEinsums(graph, facts, imported.report);
  onnx_file::joinPatterns(graph, facts, imported.report);
  check(0.7);
  Network network;
  network.name = "main";
  onnx_file::Translator translator(graph, facts, network, imported.report);
  translator.run();
  imported.weights = translator.takeWeights();
  imported.project.networks.push_back(std::move(network));
  imported.project.training.updates.push_back(defaultUpdate());
  imported.project.notes = fmt::format("Imported from {}{}.", request.file.filename().string(),
                                       graph.producer.size() > 1 ? " of " + graph.producer : std::string());
  beginWith(imported, request.file);
  check(1);
  return imported;
}

}  // namespace

const Importer& defineOnnxImporter() {
  static const Importer importer{.id = "onnx", .label = "ONNX", .extensions = {".onnx"}, .sniff = sniff, .run = run};
  return importer;
}

}  // namespace loom

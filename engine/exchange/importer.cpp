#include "engine/exchange/importer.h"

#include <algorithm>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/words.h"
#include "engine/run/safetensors.h"

namespace loom {
namespace {

using Kind = ReportItem::Kind;
constexpr Kind kKinds[] = {Kind::untranslatable, Kind::converted, Kind::ignored, Kind::translated};

std::string beginOf(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code none;
  if (!stream || std::filesystem::is_directory(file, none))
    throwError(ErrorCode::missingFile, "there is no file {} that can be read", file.string());
  std::string bytes(kSniffBytes, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

std::string knownFormats() {
  std::string text;
  for (const Importer* importer : importerTable()) {
    std::string endings;
    for (const std::string& extension : importer->extensions) endings += (endings.empty() ? "" : ", ") + extension;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", importer->label, endings);
  }
  return text;
}

// The importer whose files are named so; null where none is.
const Importer* importerNamedAs(const std::filesystem::path& file) {
  for (const Importer* importer : importerTable())
    for (const std::string& extension : importer->extensions)
      if (file.extension() == extension) return importer;
  return nullptr;
}

// Throws, saying what the file is, where it is none that can be imported.
[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view begin) {
  const std::string name = file.string();
  if (begin.empty()) throwError(ErrorCode::badData, "{} is empty: copy or download the file again", name);
  if (isLfsPointer(begin))
    throwError(ErrorCode::badData, "{} is a pointer of Git LFS, not the file itself: run git lfs pull", name);
  if (const Importer* importer = importerNamedAs(file))
    throwError(ErrorCode::badData, "{} is named as an {} file, but does not begin as one: copy or download it again",
               name, importer->label);
  throwError(ErrorCode::badData, "{} is none of what can be imported: {}", name, knownFormats());
}

std::string placeOf(const ReportItem& item) {
  std::string place = item.network;
  if (!item.layer.empty()) place += (place.empty() ? "" : " / ") + item.layer;
  return place;
}

}  // namespace

std::string_view toString(ReportItem::Kind kind) {
  switch (kind) {
    case Kind::translated:
      return "translated";
    case Kind::converted:
      return "converted";
    case Kind::ignored:
      return "ignored";
    case Kind::untranslatable:
      return "untranslatable";
  }
  return "";
}

void ImportReport::add(ReportItem::Kind kind, std::string network, std::string layer, std::string node,
                       std::string sentence) {
  items.push_back({kind, std::move(network), std::move(layer), std::move(node), std::move(sentence)});
}

std::size_t ImportReport::count(ReportItem::Kind kind) const {
  return static_cast<std::size_t>(
      std::count_if(items.begin(), items.end(), [kind](const ReportItem& item) { return item.kind == kind; }));
}

const Importer* findImporter(const std::filesystem::path& file) {
  const std::string bytes = beginOf(file), name = file.filename().string();
  for (const Importer* importer : importerTable())
    if (importer->sniff(bytes, name)) return importer;
  return nullptr;
}

Imported importFile(const ImportRequest& request) {
  const Importer* importer = findImporter(request.file);
  if (!importer) refuse(request.file, beginOf(request.file));
  Imported imported = importer->run(request);
  imported.report.format = importer->label;
  return imported;
}

void writeImported(const Imported& imported, const std::filesystem::path& file) {
  const std::filesystem::path weights = file.parent_path() / imported.weightsFile;
  for (const std::filesystem::path& each : {file, imported.weightsFile.empty() ? file : weights})
    if (std::error_code none; std::filesystem::exists(std::filesystem::symlink_status(each, none)))
      throwError(ErrorCode::badArgument,
                 "{} is there already, and an import overwrites nothing: name another file with --out", each.string());
  if (!imported.weightsFile.empty()) {
    std::vector<TensorFile::Tensor> tensors;
    for (const ImportedWeight& weight : imported.weights) tensors.push_back({weight.name, weight.shape, weight.values});
    TensorFile::write(weights, tensors, {{"format", "pt"}});
  }
  saveProject(imported.project, file);
}

std::string reportText(const ImportReport& report) {
  std::string text = report.format + ": ";
  bool first = true;
  for (const Kind kind : {Kind::translated, Kind::converted, Kind::ignored, Kind::untranslatable}) {
    text += fmt::format("{}{} {}", first ? "" : ", ", report.count(kind), toString(kind));
    first = false;
  }
  text += '\n';
  for (const Kind kind : kKinds) {
    if (kind == Kind::translated || report.count(kind) == 0) continue;
    text += fmt::format("{}:\n", toString(kind));
    for (const ReportItem& item : report.items)
      if (item.kind == kind) text += fmt::format("  {}: {}\n", placeOf(item), item.sentence);
  }
  return text;
}

Json toJson(const ImportReport& report) {
  Json counts = Json::object(), items = Json::array();
  for (const Kind kind : kKinds) counts[std::string(toString(kind))] = report.count(kind);
  for (const ReportItem& item : report.items)
    items.push_back({{"kind", std::string(toString(item.kind))},
                     {"network", item.network},
                     {"layer", item.layer},
                     {"node", item.node},
                     {"sentence", item.sentence}});
  return {{"format", report.format}, {"counts", std::move(counts)}, {"items", std::move(items)}};
}

}  // namespace loom

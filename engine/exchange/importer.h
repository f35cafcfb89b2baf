#pragma once
// Projects of other tools. An importer reads a file, translates what it holds into a project of ours and tells what
// became of each of its layers: nothing is dropped in silence. Importers stand in one table; what sniffs a file as its
// own runs it. They only read: the caller writes the project, and the weights beside it, where a person wants them.
#include <atomic>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/shape.h"
#include "engine/network/project.h"

namespace loom {

struct ReportItem {
  enum class Kind {
    translated,  // the same arithmetic here
    converted,  // said otherwise here (another convention, other layers), to the same effect or as near as the sentence
                // tells
    ignored,    // without effect on what is computed, or without a counterpart that a training needs
    untranslatable  // lost: the project lacks it, and a person has to mend it
  };
  Kind kind = Kind::translated;
  std::string network;   // of the source, empty = the file as a whole
  std::string layer;     // the layer, section or operator of the source: "Convolution_2 (Convolution)"
  std::string node;      // the node of the project that stands for it, empty where there is none
  std::string sentence;  // what became of it, and what to do: a plain sentence
};

// "translated", "converted", "ignored", "untranslatable": in `loom import --json` and as a heading.
std::string_view toString(ReportItem::Kind kind);

struct ImportReport {
  std::string format;  // "Neural Network Console project"
  std::vector<ReportItem> items;

  void add(ReportItem::Kind kind, std::string network, std::string layer, std::string node, std::string sentence);
  std::size_t count(ReportItem::Kind kind) const;
  bool complete() const { return count(ReportItem::Kind::untranslatable) == 0; }
};

// A tensor for the parameter or state of this name ("conv1/weight"), row-major, in our layout.
struct ImportedWeight {
  std::string name;
  Shape shape;
  std::vector<float> values;
};

// `project` reads sound where the source is: checkProject() may still tell of what the report calls untranslatable, and
// of files of data that are not where the source says. Weights, where there are any, are to be written to `weightsFile`
// beside the project: its setting `start_from` names that file.
struct Imported {
  Project project;
  std::vector<ImportedWeight> weights;
  std::string weightsFile;  // a name without folder, such as "lenet.safetensors"; empty = no weights
  ImportReport report;
};

struct ImportRequest {
  std::filesystem::path file;
  const std::atomic<bool>* stop = nullptr;     // true: Error(stopped) soon
  std::function<void(double share)> progress;  // 0 to 1, now and then, on the caller's thread
};

struct Importer {
  std::string id;                       // "sdcproj"
  std::string label;                    // "Neural Network Console project"
  std::vector<std::string> extensions;  // ".sdcproj": for the dialogue of files
  // Whether the file is of this kind: its first bytes (up to kSniffBytes) and its name without folder. Cheap, never
  // throws.
  bool (*sniff)(std::string_view bytes, std::string_view name);
  // Throws Error(badData, missingFile, newerVersion, stopped) where the file as a whole cannot be read. Whatever the
  // bytes are: no crash, no hang, and memory in proportion to the file.
  Imported (*run)(const ImportRequest& request);
};

inline constexpr std::size_t kSniffBytes = 4096;

std::span<const Importer* const> importerTable();
// The first that takes the file; null where none does. Throws Error(missingFile).
const Importer* findImporter(const std::filesystem::path& file);
// With the importer that takes the file. Throws Error(badData) naming what can be imported where none does.
Imported importFile(const ImportRequest& request);

// Writes the project to `file` and its weights beside it, both atomically and neither over a file that exists
// (Error(badArgument)): a project is never overwritten by an import.
void writeImported(const Imported& imported, const std::filesystem::path& file);

// What a person reads: a line of counts, then what was not simply translated, layer by layer.
std::string reportText(const ImportReport& report);
Json toJson(const ImportReport& report);

}  // namespace loom

#include "engine/exchange/sdcproj/sdc_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/catalogue/text.h"

namespace loom::sdc {
namespace {

using Sections = std::map<std::string, Section>;

// What the file says goes into JSON later: bytes that are no UTF-8 (old files of other code pages) become U+FFFD.
std::string validText(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return std::string(text);
  const Json quoted = Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted.get<std::string>()).get<std::string>();
}

Sections readSections(std::string_view text) {
  Sections sections;
  Section* current = nullptr;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line[0] == ';' || line[0] == '=') continue;
    if (line[0] == '[') {
      const std::size_t close = line.rfind(']');
      current = close == line.npos ? nullptr : &sections[std::string(line.substr(1, close - 1))];
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!current || equals == line.npos) continue;  // a key without a value says nothing
    current->set(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
  }
  return sections;
}

// The sections PREFIX0, PREFIX1, ... in the order of their numbers. What numbers are there decides, not how many the
// file claims.
std::vector<const Section*> numbered(const Sections& sections, const std::string& prefix) {
  std::vector<std::pair<std::int64_t, const Section*>> found;
  for (auto each = sections.lower_bound(prefix); each != sections.end() && each->first.starts_with(prefix); ++each)
    if (const auto number = integerOf(std::string_view(each->first).substr(prefix.size())))
      found.emplace_back(*number, &each->second);
  std::sort(found.begin(), found.end());
  std::vector<const Section*> ordered;
  for (const auto& [number, section] : found) ordered.push_back(section);
  return ordered;
}

std::vector<Section> copies(const std::vector<const Section*>& sections) {
  std::vector<Section> all;
  for (const Section* section : sections) all.push_back(*section);
  return all;
}

Section section(const Sections& sections, const std::string& name) {
  const auto found = sections.find(name);
  return found == sections.end() ? Section() : found->second;
}

Layer readLayer(const Section& section) {
  Layer layer;
  layer.type = section.text("Type");
  layer.x = section.number("Position_0", 0);
  layer.y = section.number("Position_1", 0);
  layer.width = section.number("Position_2", layer.width);
  layer.height = section.number("Position_3", layer.height);
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::string prefix = "Property_" + std::to_string(i);
    const std::string* key = section.find(prefix + "_Name");
    if (!key) break;
    std::string value = section.text(prefix + "_Value");
    if (*key == "Name")
      layer.name = std::move(value);
    else
      layer.properties.emplace_back(*key == "SkipAtInspection" ? "SkipAtTest" : *key, std::move(value));
  }
  if (const std::string* times = section.find("RepeatTimes"); times && !layer.property("Times"))
    layer.properties.emplace_back("Times", *times);
  return layer;
}

Network readNetwork(const Sections& sections, const std::string& name, const std::string& prefix, std::size_t& layers,
                    File& file) {
  Network network;
  network.name = name;
  std::set<std::int64_t> ids;
  for (const Section* section : numbered(sections, prefix + "Layer_")) {
    if (++layers > kMostLayers)
      throwError(ErrorCode::badData, "more than {} layers are no drawing of a person", kMostLayers);
    Layer layer = readLayer(*section);
    const auto id = integerOf(section->text("ID"));
    if (!id || layer.type.empty() || !ids.insert(*id).second) {
      file.faults.push_back(fmt::format("network '{}': a layer '{}' {}; it is left out", name, clipped(layer.name),
                                        !id                  ? "has no id"
                                        : layer.type.empty() ? "has no type"
                                                             : "has the id of another one"));
      continue;
    }
    layer.id = *id;
    network.layers.push_back(std::move(layer));
  }
  for (const Section* section : numbered(sections, prefix + "Link_")) {
    const auto source = integerOf(section->text("SourceLayerID")),
               destination = integerOf(section->text("DestLayerID"));
    if (!source || !destination || !ids.count(*source) || !ids.count(*destination)) {
      file.faults.push_back(
          fmt::format("network '{}': a link from layer {} to layer {} names one that is not there; it is left out",
                      name, clipped(section->text("SourceLayerID", "?")), clipped(section->text("DestLayerID", "?"))));
      continue;
    }
    network.links.push_back({.source = *source,
                             .destination = *destination,
                             .sourcePin = section->integer("SourcePinIndex", 0),
                             .pin = section->integer("DestPinIndex", 0)});
  }
  return network;
}

}  // namespace

const std::string* Section::find(const std::string& key) const {
  const auto found = m_values.find(key);
  return found == m_values.end() || found->second == "undefined" ? nullptr : &found->second;
}

std::string Section::text(const std::string& key, std::string otherwise) const {
  const std::string* found = find(key);
  return found ? *found : otherwise;
}

double Section::number(const std::string& key, double otherwise) const {
  const std::string* found = find(key);
  return found ? numberOf(*found).value_or(otherwise) : otherwise;
}

std::int64_t Section::integer(const std::string& key, std::int64_t otherwise) const {
  const std::string* found = find(key);
  return found ? integerOf(*found).value_or(otherwise) : otherwise;
}

const std::string* Layer::property(std::string_view key) const {
  for (const auto& [name, value] : properties)
    if (name == key) return value == "undefined" ? nullptr : &value;
  return nullptr;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == text.npos ? std::string() : std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

std::optional<double> numberOf(std::string_view given) {
  const std::string text = trimmed(given);
  double value = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, fault] = std::from_chars(begin, text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::int64_t> integerOf(std::string_view text) {
  const auto number = numberOf(text);
  if (!number || *number != std::floor(*number) || std::abs(*number) > 9e15) return {};
  return static_cast<std::int64_t>(*number);
}

File readFile(std::string_view text, const std::string& name) {
  const std::string valid = validText(text);
  const Sections sections = readSections(valid);
  File file;
  std::size_t layers = 0;
  if (const auto global = sections.find("Global"); global != sections.end()) {
    std::set<std::string> read;
    for (std::size_t i = 0; i < 10000; ++i) {
      const std::string* tab = global->second.find("Network_" + std::to_string(i));
      if (!tab) break;
      if (!read.insert(*tab).second) continue;
      file.networks.push_back(readNetwork(sections, *tab, *tab + '_', layers, file));
    }
  } else if (sections.count("Network_Global") || sections.count("Layer_0")) {
    file.networks.push_back(readNetwork(sections, "Main", "", layers, file));
  }
  if (file.networks.empty())
    throwError(ErrorCode::badData,
               "{} is no project of Neural Network Console: it has neither [Global] with networks nor [Network_Global]",
               name);
  file.datasets = copies(numbered(sections, "Dataset_"));
  file.optimizers = copies(numbered(sections, "Optimizer_"));
  file.monitors = copies(numbered(sections, "Monitor_"));
  file.executors = copies(numbered(sections, "Executor_"));
  file.engine = section(sections, "Engine");
  file.dataset = section(sections, "Dataset");
  file.config = section(sections, "Config");
  file.script = section(sections, "Script");
  file.outOfCore = section(sections, "OutOfCoreTraining");
  file.structureSearch = section(sections, "StructureSearch");
  file.description = section(sections, "Description").text("Text");
  for (std::size_t at = 0; (at = file.description.find("\\n", at)) != std::string::npos; ++at)
    file.description.replace(at, 2, "\n");
  return file;
}

}  // namespace loom::sdc

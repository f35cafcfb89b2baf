#pragma once
// One layer of Console as nodes of ours: a chain of one or more, or why there is none.
#include <set>
#include <string>
#include <vector>

#include "engine/exchange/importer.h"
#include "engine/exchange/sdcproj/sdc_value.h"
#include "engine/layers/layer.h"

namespace loom::sdc {

// What a loss or metric is compared with, and does not come by a wire: its own property names the column.
struct Target {
  std::string variable;  // of the dataset; empty = none
  bool label = false;    // numbers of classes, from 0
  Json source;           // fields of an Input that makes its numbers itself (Generator); null = the dataset
};

struct TranslatedNode {
  std::string layer;
  Json values = Json::object();
};

class Translation {
 public:
  Translation(const Layer& layer, Names names) : m_layer(layer), m_names(std::move(names)) { m_names.layer = &m_layer; }

  const Layer& layer() const { return m_layer; }
  // Values of a property; `otherwise` is what Console takes where the file has none. A value that has no meaning here
  // is told as a fault.
  std::string text(const char* key, const char* otherwise = "");
  bool flag(const char* key, bool otherwise);
  Json number(const char* key, const char* otherwise);
  Json list(const char* key, const char* otherwise);
  // Told at the end where it was neither read nor is one of those that change nothing.
  void know(const char* key) { m_known.insert(key); }

  // The chain: the first node gets the layer's wires, each next one the result of the one before it. A node of a layer
  // that the catalogue lacks is a fault.
  Json& add(const std::string& layer);
  // Writes the value into a field of the last node, unless it is the field's default. A field that the entry lacks is a
  // fault.
  void set(const char* field, Json value);
  void converted(std::string sentence) {
    m_sentences.push_back(std::move(sentence));
    m_converted = true;
  }
  void remark(std::string sentence) { m_sentences.push_back(std::move(sentence)); }
  void fault(std::string sentence) { m_faults.push_back(std::move(sentence)); }

  Target target;
  Json initial;                     // of a Delay: fields of the Input that gives its first value; null = none is needed
  std::vector<std::string> frozen;  // names of parameters that do not learn: "weight", "gamma"

  std::vector<TranslatedNode> nodes;
  bool isConverted() const { return m_converted; }
  const std::vector<std::string>& faults() const { return m_faults; }
  const std::vector<std::string>& sentences() const { return m_sentences; }
  // Properties that nobody read and that may mean something: "Noise=0.1".
  std::vector<std::string> unread() const;

 private:
  const std::string* find(const char* key);
  const Layer& m_layer;
  Names m_names;
  std::set<std::string, std::less<>> m_known;
  std::vector<std::string> m_faults, m_sentences;
  bool m_converted = false;
};

// By the type of the layer; a type that is not known is a fault that names it.
void translate(Translation& translation);
// In the order of the component's side connectors: what a wire to pin 1, 2, ... is. Empty for one that has no
// counterpart.
std::string sidePort(const std::string& type, std::int64_t pin);

// Of lists as properties hold them: whole numbers throughout; the same one throughout; the number for an axis, the last
// for all further ones.
bool isNumbers(const Json& list);
bool allOf(const Json& list, std::int64_t value);
std::int64_t lastAt(const Json& list, std::size_t axis);

// What sdc_layer.cpp's table calls: sdc_weights.cpp, sdc_windows.cpp, sdc_images.cpp, sdc_losses.cpp, sdc_loops.cpp.
using Rule = void (*)(Translation&);
const std::map<std::string, Rule>& weightRules();
const std::map<std::string, Rule>& windowRules();
const std::map<std::string, Rule>& imageRules();
const std::map<std::string, Rule>& lossRules();
const std::map<std::string, Rule>& loopRules();
// Fields of an Input that makes its numbers itself, as PREFIX Generator says; null = it reads the dataset.
Json generatorFields(Translation& translation, const std::string& prefix);
// W.* and b.* of a layer with weights: initial values, rates.
void readWeights(Translation& translation, const char* prefix, const char* parameter);

}  // namespace loom::sdc

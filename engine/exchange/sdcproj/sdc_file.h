#pragma once
// What a .sdcproj says, before anything is translated: INI text with sections, read tolerantly as Neural Network
// Console does.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::sdc {

// The keys of a section, in the order of the file. Of a key that stands twice the last one counts.
class Section {
 public:
  void set(std::string key, std::string value) { m_values.insert_or_assign(std::move(key), std::move(value)); }
  // Null where there is none. The literal `undefined`, which old files hold, counts as none.
  const std::string* find(const std::string& key) const;
  std::string text(const std::string& key, std::string otherwise = {}) const;
  double number(const std::string& key, double otherwise) const;
  std::int64_t integer(const std::string& key, std::int64_t otherwise) const;
  const std::map<std::string, std::string>& values() const { return m_values; }

 private:
  std::map<std::string, std::string> m_values;
};

struct Layer {
  std::int64_t id = 0;
  std::string type, name;
  double x = 0, y = 0, width = 240, height = 48;                // top left corner, in the units of Console's grid
  std::vector<std::pair<std::string, std::string>> properties;  // without Name

  const std::string* property(std::string_view key) const;
};

struct Link {
  std::int64_t source = 0, destination = 0;  // ids of layers
  std::int64_t sourcePin = 0, pin = 0;       // 0 = the main input, n = the n-th side connector
};

struct Network {
  std::string name;
  std::vector<Layer> layers;
  std::vector<Link> links;
};

struct File {
  std::vector<Network> networks;
  std::vector<Section> datasets, optimizers, monitors, executors;
  Section engine, dataset, config, script, outOfCore, structureSearch;
  std::string description;
  std::vector<std::string> faults;  // what was passed over: a layer without an id, a link that names none
};

// Throws Error(badData) where the text holds no section of a project. Counts in the file (NumLayer) are not believed:
// what is there is read. At most kMostLayers layers.
File readFile(std::string_view text, const std::string& name);

inline constexpr std::size_t kMostLayers = 100000;

// Numbers as Console writes them, in any locale; nothing for what is none.
std::optional<double> numberOf(std::string_view text);
std::optional<std::int64_t> integerOf(std::string_view text);
std::string trimmed(std::string_view text);

}  // namespace loom::sdc

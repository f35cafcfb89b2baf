#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/mapping.h"
#include "engine/data/pack.h"
#include "engine/data/sound_rate.h"

namespace loom {
namespace {

struct Footer {
  std::int64_t rows = 0, rowsPerGroup = 1;
  std::vector<std::uint64_t> groups;
  std::vector<bool> clips, loose;  // by variable: clips; clips, and images that differ in size
  Schema schema;
  std::string content;
  std::vector<Json> columnSteps;
  std::map<std::string, int> rates;  // of sounds that all have one, by variable
};

DataType typeFrom(const std::string& name) {
  for (const DataType type : {DataType::f32, DataType::u8}) {
    if (toString(type) == name) return type;
  }
  throwError(ErrorCode::badData, "the cache holds elements of type '{}'", name);
}

VariableKind kindFrom(const std::string& name) {
  for (const VariableKind kind :
       {VariableKind::image, VariableKind::scalar, VariableKind::vector, VariableKind::matrix, VariableKind::wave}) {
    if (toString(kind) == name) return kind;
  }
  throwError(ErrorCode::badData, "the cache holds a variable of kind '{}'", name);
}

Footer parseFooter(std::string_view text, const std::string& name) {
  const Json json = parseJson(text, name);
  Footer footer;
  footer.rows = json.at("rows").get<std::int64_t>();
  footer.rowsPerGroup = json.at("rows_per_group").get<std::int64_t>();
  footer.groups = json.at("groups").get<std::vector<std::uint64_t>>();
  footer.content = json.at("content").get<std::string>();
  if (const auto steps = json.find("column_steps"); steps != json.end())
    footer.columnSteps = steps->get<std::vector<Json>>();
  for (const Json& entry : json.at("variables")) {
    Variable variable;
    variable.name = entry.at("name").get<std::string>();
    variable.label = entry.at("label").get<std::string>();
    variable.kind = kindFrom(entry.at("kind").get<std::string>());
    variable.type = typeFrom(entry.at("type").get<std::string>());
    variable.shape = Shape(entry.at("shape").get<std::vector<std::int64_t>>());
    variable.smallest = variable.shape;
    const auto smallest = entry.find("smallest");
    if (smallest != entry.end())
      variable.smallest = Shape(smallest->get<std::vector<std::int64_t>>());
    else if (variable.shape.rank() > 0)
      variable.smallest[0] = entry.at("shortest").get<std::int64_t>();
    const bool clip = entry.at("clip").get<bool>(), sizes = smallest != entry.end();
    if (variable.shape.rank() == 0 || variable.smallest.rank() != variable.shape.rank() ||
        (sizes && (clip || variable.shape.rank() != 3)) ||
        std::any_of(variable.shape.begin(), variable.shape.end(), [](std::int64_t e) { return e < 1; }))
      throwError(ErrorCode::badData, "the cache holds a variable of shape {}", variable.shape.toString());
    if (const auto labels = entry.find("element_labels"); labels != entry.end())
      variable.elementLabels = labels->get<std::vector<std::string>>();
    if (variable.kind == VariableKind::wave) footer.rates[variable.name] = entry.value("rate", 0);
    footer.clips.push_back(clip);
    footer.loose.push_back(clip || sizes);
    footer.schema.variables.push_back(std::move(variable));
  }
  const std::int64_t groups =
      footer.rowsPerGroup > 0 ? (footer.rows + footer.rowsPerGroup - 1) / footer.rowsPerGroup : 0;
  if (footer.rows < 0 || static_cast<std::int64_t>(footer.groups.size()) != groups || footer.schema.variables.empty())
    throwError(ErrorCode::badData, "the cache names {} groups for {} rows", footer.groups.size(), footer.rows);
  return footer;
}

class PackedDataset : public Dataset {
 public:
  explicit PackedDataset(const std::filesystem::path& file) : m_path(file), m_mapping(file) {
    const auto bytes = m_mapping.bytes();
    const auto refuse = [&](std::string_view why) {
      throwError(ErrorCode::badData, "{} is no whole data cache: {}; delete it and open the CSV again", file.string(),
                 why);
    };
    std::uint32_t version = 0;
    if (bytes.size() < 2 * kPackAlignment || std::memcmp(bytes.data(), "LOOMPACK", 8) != 0)
      refuse("it does not begin as one");
    std::memcpy(&version, bytes.data() + 8, sizeof version);
    if (version != kPackVersion)
      refuse(fmt::format("it has the format {}, this program reads {}", version, kPackVersion));
    const std::byte* const trailer = bytes.data() + bytes.size() - kPackAlignment;
    if (std::memcmp(trailer, "LOOMTAIL", 8) != 0) refuse("its end is missing");
    std::uint64_t numbers[3];
    std::memcpy(numbers, trailer + 8, sizeof numbers);
    if (numbers[0] > bytes.size() - kPackAlignment || numbers[1] != bytes.size() - kPackAlignment - numbers[0])
      refuse("its end does not fit its size");
    const auto footer = bytes.subspan(numbers[0], numbers[1]);
    if (Hash64::of(footer) != numbers[2]) refuse("its description is damaged");
    try {
      m_footer = parseFooter({reinterpret_cast<const char*>(footer.data()), footer.size()}, file.string());
    } catch (const Json::exception& fault) {
      refuse(fault.what());
    }
    m_end = numbers[0];
    for (std::size_t v = 0; v < m_footer.schema.variables.size(); ++v) {
      const Variable& variable = m_footer.schema.variables[v];
      const std::size_t cell = static_cast<std::size_t>(variable.shape.elements()) * bytesOf(variable.type);
      m_cells.push_back(m_footer.loose[v] ? 16 : cell);
    }
  }

  const Schema& schema() const override { return m_footer.schema; }
  std::int64_t size() const override { return m_footer.rows; }

  std::span<const std::byte> read(std::int64_t row, std::size_t variable, Shape* shape) const override {
    if (row < 0 || row >= m_footer.rows || variable >= m_cells.size())
      throwError(ErrorCode::internal, "row {} of variable {} was asked of a dataset with {} rows", row, variable,
                 m_footer.rows);
    const std::int64_t group = row / m_footer.rowsPerGroup, inGroup = row % m_footer.rowsPerGroup;
    const std::int64_t rows = std::min(m_footer.rowsPerGroup, m_footer.rows - group * m_footer.rowsPerGroup);
    const std::uint64_t begin = m_footer.groups[static_cast<std::size_t>(group)];
    std::uint64_t at = begin;
    for (std::size_t v = 0; v < variable; ++v) at += padded(static_cast<std::uint64_t>(rows) * m_cells[v]);
    at += static_cast<std::uint64_t>(inGroup) * m_cells[variable];
    const Variable& facts = m_footer.schema.variables[variable];
    if (!m_footer.loose[variable]) {
      if (shape) *shape = facts.shape;
      return take(at, m_cells[variable], row);
    }
    std::uint64_t entry[2];
    std::memcpy(entry, take(at, sizeof entry, row).data(), sizeof entry);
    Shape own;
    Shape& stored = shape ? *shape : own;
    stored = facts.shape;
    unpackExtents(entry[1], m_footer.clips[variable], stored);
    for (std::size_t axis = 0; axis < stored.rank(); ++axis)
      if (stored.extents()[axis] < 0 || stored.extents()[axis] > facts.shape.extents()[axis]) damaged(row);
    return take(begin + entry[0], static_cast<std::uint64_t>(stored.elements()) * bytesOf(facts.type), row);
  }

  void verify() const override {
    if (m_mapping.damaged())
      throwError(ErrorCode::badData,
                 "the data cache {} was cut short or cannot be read any more; start the run again and it is built anew",
                 m_path.string());
  }

  std::string contentHash() const override { return m_footer.content; }
  std::vector<Json> columnSteps() const override { return m_footer.columnSteps; }
  const std::map<std::string, int>& rates() const { return m_footer.rates; }

 private:
  static std::uint64_t padded(std::uint64_t bytes) {
    return (bytes + kPackAlignment - 1) / kPackAlignment * kPackAlignment;
  }
  std::span<const std::byte> take(std::uint64_t at, std::uint64_t bytes, std::int64_t row) const {
    if (at > m_end || bytes > m_end - at) damaged(row);
    return m_mapping.bytes().subspan(at, bytes);
  }
  [[noreturn]] void damaged(std::int64_t row) const {
    throwError(ErrorCode::badData,
               "row {} lies outside of the data cache {}, which is damaged; delete it and open the CSV again", row,
               m_path.string());
  }

  std::filesystem::path m_path;
  GuardedMapping m_mapping;
  Footer m_footer;
  std::uint64_t m_end = 0;           // of the groups
  std::vector<std::size_t> m_cells;  // bytes a row in the fixed part of a group
};

}  // namespace

std::unique_ptr<Dataset> openPack(const std::filesystem::path& file, const std::vector<Json>& prepare) {
  auto pack = std::make_unique<PackedDataset>(file);
  for (const auto& [variable, packed] : pack->rates())
    if (const int rate = rateBeforePacking(variable, prepare); rate > 0 && rate != packed)
      throwError(ErrorCode::badProject,
                 "{} holds the sounds of {} at {}, but the step Resample wants {} samples a second; name the CSV, or "
                 "remove the step",
                 file.string(), variable, packed > 0 ? fmt::format("{} samples a second", packed) : "their own rates",
                 rate);
  return pack;
}

std::map<std::string, int> packedRates(const std::filesystem::path& file) {
  std::map<std::string, int> rates = PackedDataset(file).rates();
  std::erase_if(rates, [](const auto& each) { return each.second <= 0; });
  return rates;
}

}  // namespace loom

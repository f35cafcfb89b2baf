#include "engine/exchange/onnx/carried.h"

#include <algorithm>
#include <bit>

#include "engine/base/error.h"
#include "engine/exchange/onnx/export.h"
#include "engine/exchange/onnx/facts.h"
#include "engine/network/flatten.h"
#include "engine/program/parameter_store.h"

namespace loom::onnx_file {
namespace {

constexpr const char* kProjectKey = "gradloom.project";
constexpr const char* kNetworkKey = "gradloom.network";
constexpr const char* kUnitsKey = "gradloom.units";

Json toJson(const UnitStep& step) {
  if (step.kind == UnitStep::Kind::linear) return {{"by", step.by}, {"add", step.add}};
  return step.kind == UnitStep::Kind::exponential ? "exp" : "exp - 1";
}

UnitStep unitStepOf(const Json& step) {
  using Kind = UnitStep::Kind;
  if (step.is_string()) return {step == "exp" ? Kind::exponential : Kind::exponentialMinusOne, {}, {}};
  return {Kind::linear, step.at("by").get<std::vector<double>>(), step.at("add").get<std::vector<double>>()};
}

// Weights as the numbers of their places, one after the other over all parameters, in the bits of a float. Writers move
// weights and never calculate with them, so that what stands at a place of a constant tells which weight belongs there.
// Numbers begin at 1 and stay below the bits of any number that a writer makes itself, 0 left out.
class Places {
 public:
  static constexpr std::uint32_t kMost = 0x20000000;  // 1.1e-19

  explicit Places(const std::vector<Parameter>& parameters) {
    std::uint32_t next = 1;
    for (const Parameter& parameter : parameters) {
      const auto elements = static_cast<std::size_t>(parameter.shape.elements());
      m_places[parameter.name] = m_weights.size();
      m_begins.push_back(next);
      m_weights.push_back({parameter.name, parameter.shape, std::vector<float>(elements)});
      next += static_cast<std::uint32_t>(elements);
    }
    m_begins.push_back(next);
    m_found.assign(next, false);
  }

  std::vector<float> numbersOf(const Parameter& parameter) const {
    const std::size_t place = m_places.at(parameter.name);
    std::vector<float> numbers(m_weights[place].values.size());
    std::uint32_t number = m_begins[place];
    for (float& each : numbers) each = std::bit_cast<float>(number++);
    return numbers;
  }

  bool isPlace(std::uint32_t bits) const { return bits > 0 && bits < m_begins.back(); }
  // The value that the file has where this number was written. False: another place of the same weight said otherwise.
  bool take(std::uint32_t number, float value) {
    if (number < m_begins[m_last] || number >= m_begins[m_last + 1])  // most often the same weight as the last one
      m_last =
          static_cast<std::size_t>(std::upper_bound(m_begins.begin(), m_begins.end(), number) - m_begins.begin()) - 1;
    float& weight = m_weights[m_last].values[number - m_begins[m_last]];
    if (m_found[number]) return std::bit_cast<std::uint32_t>(weight) == std::bit_cast<std::uint32_t>(value);
    m_found[number] = true;
    weight = value;
    return true;
  }

  // Those of which the file has every value; none of a parameter that the graph does not need.
  std::vector<ImportedWeight> weights() {
    std::vector<ImportedWeight> whole;
    for (std::size_t i = 0; i < m_weights.size(); ++i) {
      const auto end = m_found.begin() + m_begins[i + 1];
      if (std::find(m_found.begin() + m_begins[i], end, false) == end) whole.push_back(std::move(m_weights[i]));
    }
    return whole;
  }

 private:
  std::map<std::string, std::size_t> m_places;  // in m_weights
  std::vector<ImportedWeight> m_weights;
  std::vector<std::uint32_t> m_begins;  // the first number of each, and one behind the last
  std::vector<bool> m_found;            // by number
  std::size_t m_last = 0;
};

bool isSame(const Attribute& a, const Attribute& b) {
  return a.kind == b.kind && a.kind != Attribute::Kind::other && !a.tensor && !b.tensor && a.real == b.real &&
         a.integer == b.integer && a.text == b.text && a.reals == b.reals && a.integers == b.integers &&
         a.texts == b.texts;
}

bool isSame(const OnnxNode& a, const OnnxNode& b) {
  return a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs && a.branches.empty() && b.branches.empty() &&
         std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && isSame(x.second, y.second); });
}

// An open extent may have any name.
bool isSame(const OnnxValue& a, const OnnxValue& b) {
  return a.name == b.name && a.type == b.type && a.extents.has_value() == b.extents.has_value() &&
         (!a.extents || std::equal(a.extents->begin(), a.extents->end(), b.extents->begin(), b.extents->end(),
                                   [](const Extent& x, const Extent& y) { return x.value == y.value; }));
}

template <class T>
bool areSame(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return isSame(x, y); });
}

// Constants of the file beside those with places for weights.
bool matches(const std::map<std::string, ConstantPointer>& file, const std::map<std::string, ConstantPointer>& written,
             Places& places) {
  if (file.size() != written.size()) return false;
  for (const auto& [name, ours] : written) {
    const auto found = file.find(name);
    if (found == file.end()) return false;
    const Constant& theirs = *found->second;
    if (theirs.kind != ours->kind || theirs.extents != ours->extents || theirs.wholes != ours->wholes ||
        theirs.reals.size() != ours->reals.size())
      return false;
    for (std::size_t i = 0; i < ours->reals.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(ours->reals[i]);
      if (places.isPlace(bits) ? !places.take(bits, theirs.reals[i])
                               : bits != std::bit_cast<std::uint32_t>(theirs.reals[i]))
        return false;
    }
  }
  return true;
}

// How many samples the graph takes at once; 0: any number.
std::int64_t batchOf(const OnnxGraph& graph) {
  if (graph.inputs.empty() || !graph.inputs[0].extents || graph.inputs[0].extents->empty()) return 0;
  return std::max<std::int64_t>(graph.inputs[0].extents->front().value, 0);
}

bool begins(const Project& project, const std::vector<Parameter>& parameters,
            const std::vector<ImportedWeight>& weights) {
  const Json& settings = project.training.settings;
  if (settings.contains("start_from") && !settings["start_from"].is_null()) return false;
  const Json seed = settings.value("seed", settingsEntry().field("seed")->defaultValue);
  if (!seed.is_number_integer()) return false;
  ParameterStore store(seed.get<std::uint64_t>());
  store.ensure(parameters);
  return std::all_of(weights.begin(), weights.end(), [&](const ImportedWeight& weight) {
    const std::vector<float> first = store.at(weight.name).value.values();
    return std::equal(first.begin(), first.end(), weight.values.begin(), weight.values.end(), [](float a, float b) {
      return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    });
  });
}

// Throws where it is not what unitsText() writes.
std::map<std::string, std::vector<UnitStep>> unitsOf(const OnnxGraph& graph) {
  std::map<std::string, std::vector<UnitStep>> units;
  const auto text = graph.metadata.find(kUnitsKey);
  if (text == graph.metadata.end()) return units;
  try {
    const Json told = parseJson(text->second, "the units in the file");
    for (const auto& [output, steps] : told.items())
      for (const Json& step : steps) units[output].push_back(unitStepOf(step));
  } catch (const Json::exception& error) {
    throwError(ErrorCode::badData, "its units cannot be read: {}", error.what());
  }
  return units;
}

// Empty: it was proved, and `carried` is what it says.
std::string prove(const OnnxGraph& graph, CarriedProject& carried) {
  const std::string& text = graph.metadata.at(kProjectKey);
  const ReadProject read = readProject(text, "the project in the file");
  if (!read.readable || !read.problems.empty() || writeProject(read.project) != text)
    return "it cannot be read as this version writes it";
  carried.project = read.project;
  if (const auto name = graph.metadata.find(kNetworkKey); name != graph.metadata.end()) carried.network = name->second;
  if (!carried.project.network(carried.network)) return "it has no network of the name that the file tells";
  const Network flat = flatNetwork(carried.project, carried.network);
  const std::int64_t batch = batchOf(graph);
  if (batch > kLargestBatch) return "the graph takes another batch";
  const std::vector<Parameter> parameters = lowerForPrediction(flat, {.batch = 1}).parameters;
  // No more memory than the file's own weights take.
  std::size_t held = 0;
  for (const auto& [name, constant] : graph.constants) held += constant->reals.size();
  std::size_t wanted = 0;
  for (const Parameter& parameter : parameters) wanted += static_cast<std::size_t>(parameter.shape.elements());
  if (wanted > held || wanted >= Places::kMost) return "the graph has other weights than its network";
  Places places(parameters);
  const OnnxGraph written =
      onnxGraph(flat, [&places](const Parameter& parameter) { return places.numbersOf(parameter); },
                {.batch = batch, .units = unitsOf(graph)});
  if (graph.opset != written.opset || !areSame(graph.inputs, written.inputs) ||
      !areSame(graph.outputs, written.outputs) || !areSame(graph.nodes, written.nodes) ||
      !matches(graph.constants, written.constants, places))
    return "the graph beside it is not what its network is written as, so it was changed since, or another version "
           "wrote it";
  carried.weights = places.weights();
  if (begins(carried.project, parameters, carried.weights)) carried.weights.clear();
  return {};
}

}  // namespace

std::map<std::string, std::string> carriedTexts(const ExportSource& source) {
  std::map<std::string, std::string> texts = {{kProjectKey, writeProject(source.project)},
                                              {kNetworkKey, source.network}};
  Json units = Json::object();
  for (const auto& [output, steps] : source.units)
    for (const UnitStep& step : steps) units[output].push_back(toJson(step));
  if (!units.empty()) texts[kUnitsKey] = units.dump();
  return texts;
}

std::optional<CarriedProject> carriedProject(const OnnxGraph& graph, ImportReport& report) {
  if (!graph.metadata.count(kProjectKey)) return {};
  CarriedProject carried;
  std::string fault;
  try {
    fault = prove(graph, carried);
  } catch (const Error& error) {
    fault = error.what();
  }
  if (fault.empty()) return carried;
  report.add(ReportItem::Kind::ignored, graph.name, "the project that the file carries", "",
             fmt::format("The network was drawn from the graph instead: {}.", fault));
  return {};
}

}  // namespace loom::onnx_file

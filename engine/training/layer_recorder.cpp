#include "engine/training/layer_recorder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/base/error.h"
#include "engine/network/lower_tensors.h"
#include "engine/network/node_analysis.h"
#include "engine/ops/emissions.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "engine/program/builder.h"
#include "engine/training/gather.h"

namespace loom {
namespace {

constexpr const char* kSlopeOf = " slope";  // no node is called so: names hold no spaces

// What changes running statistics changes a copy.
void keepStates(Program& program) {
  std::map<TensorId, TensorId> copyOf;
  std::vector<TensorId> states, copies;
  for (const Operation& operation : program.operations)
    for (const int k : updatedInputs(*operation.op, operation.inputs.size(), operation.attributes)) {
      const TensorId id = operation.inputs[static_cast<std::size_t>(k)];
      if (program.tensor(id).role != TensorRole::state || copyOf.contains(id)) continue;
      const Shape shape = program.tensor(id).shape;
      program.tensors.push_back({.name = "statistics", .shape = shape});
      states.push_back(id);
      copies.push_back(static_cast<TensorId>(program.tensors.size() - 1));
      copyOf.emplace(id, copies.back());
    }
  if (states.empty()) return;
  for (Operation& operation : program.operations)
    for (TensorId& id : operation.inputs)
      if (const auto copy = copyOf.find(id); copy != copyOf.end()) id = copy->second;
  program.operations.insert(program.operations.begin(), scaledOperation(kNoTensor, states, std::move(copies)));
}

// Results of rectifiers: what they give is never below 0, and a unit that gives 0 for a whole batch learns nothing.
std::set<std::string> rectifiedResults(const Program& program) {
  std::set<TensorId> made;
  for (const Operation& operation : program.operations)
    if (!operation.backward && operation.op->name == std::string_view("unary") &&
        operation.attributes.text("function") == "relu")
      made.insert(operation.outputs.front());
  std::set<std::string> names;
  for (const NamedResult& result : program.results)
    if (made.contains(result.tensor)) names.insert(result.name);
  return names;
}

// The largest value of each unit: of a channel (N×C×H×W), of a feature (N×F, N×T×F).
void takeLargest(const Shape& shape, std::span<const float> values, std::vector<float>& largest) {
  const int axis = shape.rank() == 3 ? 2 : shape.rank() > 1 ? 1 : 0;
  const auto units = static_cast<std::size_t>(axis == 0 ? 1 : shape[axis]);
  std::size_t samples = 1;  // all that stands before the units
  for (int i = 0; i < std::max(axis, 1); ++i) samples *= static_cast<std::size_t>(shape[i]);
  const std::size_t places = values.size() / (samples * units);
  largest.resize(units, -std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < samples * units; ++i)
    for (std::size_t j = 0; j < places; ++j) {
      float& most = largest[i % units];
      const float value = values[i * places + j];
      if (!(value <= most) && !std::isnan(most)) most = value;  // NaN is not dead
    }
}

}  // namespace

Network trainedPart(const Network& network) {
  std::multimap<std::string, std::string> before;
  for (const Edge& edge : network.edges) before.emplace(edge.to.node, edge.from.node);
  std::set<std::string> wanted;
  std::vector<std::string> open;
  for (const Node& node : network.nodes)
    if (const LayerDefinition* const layer = findLayer(node.layer); layer && layer->role == LayerRole::loss)
      open.push_back(node.id);
  while (!open.empty()) {
    const std::string node = std::move(open.back());
    open.pop_back();
    if (!wanted.insert(node).second) continue;
    const auto [first, last] = before.equal_range(node);
    for (auto from = first; from != last; ++from) open.push_back(from->second);
  }
  Network part;
  part.name = network.name;
  for (const Node& each : network.nodes)
    if (wanted.contains(each.id)) part.nodes.push_back(each);
  for (const Edge& each : network.edges)
    if (wanted.contains(each.to.node)) part.edges.push_back(each);
  return part;
}

Program recordingProgram(const Network& network, std::int64_t batch, std::uint64_t seed, const Feed* feed) {
  Program forward = lowerForTensors(network, {.batch = batch, .seed = seed, .training = true});
  if (feed != nullptr) feed->takeBytes(network, forward);
  keepStates(forward);
  ProgramBuilder builder(std::move(forward));
  std::vector<std::string> names;
  std::vector<TensorId> targets;
  for (const NamedResult& result : builder.program().results) {
    const Tensor& tensor = builder.tensor(result.tensor);
    if (result.kind != ResultKind::output || tensor.type != DataType::f32 || tensor.role != TensorRole::intermediate)
      continue;
    names.push_back(result.name);
    targets.push_back(result.tensor);
  }
  const std::vector<TensorId> slopes = gradientsOf(builder, targets);
  for (std::size_t i = 0; i < slopes.size(); ++i)
    if (slopes[i] != kNoTensor) builder.result(names[i] + kSlopeOf, ResultKind::output, slopes[i]);
  Program& program = builder.program();
  eliminateDeadCode(program);
  return builder.take();
}

struct LayerRecorder::Part {
  const UpdateRunner* update = nullptr;
  Network network;
  const Feed* bytes = nullptr;
  std::vector<Feed::Binding> bindings;
  std::map<std::int64_t, std::unique_ptr<Executable>> executables;  // by samples: the full shard and the last
  std::map<std::string, std::string> layerOf;                       // by the prefix of its parameters' names
  std::set<std::string> rectifiers;
  // Of the step.
  std::map<std::string, LayerRecord> layers;
  std::map<std::string, std::vector<float>> largest;  // by rectifier: of each unit
  std::map<std::string, std::vector<float>> weights;  // from before it
};

LayerRecorder::LayerRecorder(Backend& backend, ParameterStore& store, const TrainSettings& settings,
                             const Parallel& parallel, const std::vector<std::unique_ptr<UpdateRunner>>& updates)
    : m_backend(backend),
      m_store(store),
      m_settings(settings),
      m_parallel(parallel),
      m_every(std::max<std::int64_t>(1, settings.recordLayers)) {
  for (const auto& update : updates) {
    auto part = std::make_unique<Part>();
    part->update = update.get();
    part->network = trainedPart(update->network());
    part->bytes = backend.preparesImages() ? &update->feed() : nullptr;
    for (const Node& node : part->network.nodes) part->layerOf.emplace(scopeOf(node), node.id);
    const Program one = recordingProgram(part->network, 1, settings.seed, part->bytes);
    part->bindings = update->feed().bind(part->network, one);
    part->rectifiers = rectifiedResults(one);
    m_parts.push_back(std::move(part));
  }
}

LayerRecorder::~LayerRecorder() = default;

void LayerRecorder::look(const UpdateRunner& update, std::int64_t step) {
  if (m_ended) return;
  const auto began = std::chrono::steady_clock::now();
  const auto at = static_cast<std::size_t>(update.index());
  Part& part = *m_parts[at];
  part.layers.clear();
  part.largest.clear();
  std::string failure;
  try {
    const Batch& batch = update.feed().current();
    std::vector<Shard> shards;
    m_parallel.shards(batch.size, update.feed().batch(), shards);
    for (const Shard& shard : shards) run(part, update, shard, batch.size, step);
  } catch (const Error& error) {
    failure = error.what();
  }
  // Sums, extremes and counts of all ranks; each has its own samples.
  Communicator& communicator = m_parallel.communicator;
  if (communicator.size() > 1) {
    Json mine = {{"failure", failure}, {"layers", Json::object()}, {"largest", part.largest}};
    for (const auto& [name, layer] : part.layers) mine["layers"][name] = layer.toJson();
    const std::vector<std::string> all = allGatherTexts(communicator, mine.dump());
    part.layers.clear();
    part.largest.clear();
    for (const std::string& text : all) {
      const Json one = parseJson(text, "what a rank recorded of its layers");
      if (failure.empty()) failure = one.at("failure").get<std::string>();
      for (const auto& [name, layer] : one.at("layers").items()) part.layers[name].add(LayerRecord::fromJson(layer));
      for (const auto& [name, largest] : one.at("largest").items()) {
        std::vector<float>& most = part.largest[name];
        for (std::size_t i = 0; i < largest.size(); ++i) {
          const float value = largest[i].is_null() ? std::nanf("") : largest[i].get<float>();
          if (i == most.size())
            most.push_back(value);
          else if (!(value <= most[i]) && !std::isnan(most[i]))
            most[i] = value;
        }
      }
    }
  }
  if (!failure.empty()) {
    m_ended = true;
    m_failure = failure;
    m_looked.clear();
    for (const auto& each : m_parts) each->executables.clear();
    return;
  }
  for (const auto& [name, largest] : part.largest) {
    LayerRecord& layer = part.layers[name];
    layer.units = static_cast<std::int64_t>(largest.size());
    layer.dead = std::count_if(largest.begin(), largest.end(), [](float most) { return most <= 0; });
  }
  m_looked.push_back(at);
  if (communicator.rank() == 0) keepWeights(part, update);
  m_took += std::chrono::steady_clock::now() - began;
}

void LayerRecorder::run(Part& part, const UpdateRunner& update, const Shard& shard, std::int64_t size,
                        std::int64_t step) {
  std::unique_ptr<Executable>& executable = part.executables[shard.count];
  if (!executable) {
    Program program = recordingProgram(part.network, shard.count, m_settings.seed, part.bytes);
    m_store.ensure(program.parameters);
    executable =
        m_backend.compile(std::move(program), m_store, {.threads = m_settings.deterministic ? 1 : m_settings.threads});
  }
  update.feed().fill(*executable, part.bindings, shard.first, shard.count);
  executable->run({.step = step,
                   .firstSample = shard.first,
                   .lossScale = static_cast<double>(shard.count) / static_cast<double>(size)});
  readLayers(part, *executable);
}

void LayerRecorder::readLayers(Part& part, const Executable& executable) {
  const Program& program = executable.program();
  std::vector<float> values;
  for (const NamedResult& result : program.results) {
    const Tensor& tensor = program.tensor(result.tensor);
    if (result.kind != ResultKind::output || tensor.type != DataType::f32) continue;
    values.resize(static_cast<std::size_t>(tensor.shape.elements()));
    executable.readResult(result.name, std::span(values));
    if (const auto slope = result.name.rfind(kSlopeOf); slope != std::string::npos) {
      part.layers[result.name.substr(0, slope)].gradients.add(values);
      continue;
    }
    part.layers[result.name].activations.add(values);
    if (part.rectifiers.contains(result.name)) takeLargest(tensor.shape, values, part.largest[result.name]);
  }
}

void LayerRecorder::keepWeights(Part& part, const UpdateRunner& update) {
  for (const std::string& name : update.update().parameters()) part.weights[name] = m_store.at(name).value.values();
}

void LayerRecorder::addNorms(Part& part) {
  const ParameterUpdate& update = part.update->update();
  for (std::size_t i = 0; i < update.parameters().size(); ++i) {
    const std::string& name = update.parameters()[i];
    const std::vector<float> now = m_store.at(name).value.values(), &before = part.weights[name];
    double weight = 0, change = 0;
    for (std::size_t j = 0; j < now.size(); ++j) {
      const double was = before[j], by = static_cast<double>(now[j]) - was;
      weight += was * was;
      change += by * by;
    }
    const std::string scope = name.substr(0, name.rfind('/'));
    const auto layer = part.layerOf.find(scope);
    LayerRecord tensor;
    tensor.norms = LayerRecord::Norms{std::sqrt(weight), std::sqrt(update.gradientSquares()[i]), std::sqrt(change)};
    part.layers[layer == part.layerOf.end() ? scope : layer->second].add(tensor);
  }
  part.weights.clear();
}

Json LayerRecorder::recorded() {
  const auto began = std::chrono::steady_clock::now();
  Json updates = Json::array();
  for (const std::size_t at : m_looked) {
    Part& part = *m_parts[at];
    if (m_parallel.communicator.rank() == 0) addNorms(part);
    Json layers = Json::object();
    for (const auto& [name, layer] : part.layers) layers[name] = layer.toJson();
    updates.push_back({{"network", part.network.name}, {"layers", std::move(layers)}});
  }
  m_looked.clear();
  m_took += std::chrono::steady_clock::now() - began;
  return {{"ms", std::round(std::exchange(m_took, {}).count() * 1e5) / 1e2}, {"updates", std::move(updates)}};
}

}  // namespace loom

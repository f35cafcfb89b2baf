#include "engine/exchange/onnx/export.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/exchange/onnx/export_ops.h"
#include "engine/exchange/onnx/facts.h"
#include "engine/network/analysis.h"
#include "engine/program/parameter_store.h"

namespace loom {
namespace {

using namespace onnx_file;

class Exporter {
 public:
  Exporter(const Network& network, const WeightSource& weights, const OnnxOptions& options)
      : m_program(lowerForPrediction(network, {.batch = options.batch > 0 ? options.batch : kBatch})),
        m_weights(weights),
        m_open(options.batch == 0),
        m_graph(network.name, kWrittenOpset, options.producerVersion),
        m_names(m_program.tensors.size()),
        m_units(options.units) {
    for (const auto& [key, text] : options.metadata) m_graph.metadata(key, text);
    build();
  }

  const GraphWriter& graph() const { return m_graph; }

 private:
  void build() {
    for (std::size_t i = 0; i < m_program.tensors.size(); ++i)
      if (m_program.tensors[i].role == TensorRole::input) addInput(static_cast<TensorId>(i));
    for (const Operation& operation : m_program.operations) add(operation);
    for (const NamedResult& result : m_program.results) {
      m_graph.setOrigin(result.name);
      // An input of the same name may be an output too, in a network of no layers.
      const std::string name =
          m_program.findTensor(result.name, TensorRole::input) == kNoTensor ? result.name : result.name + "_output";
      m_graph.alias(name, inUnits(result, nameOf(result.tensor)));
      m_graph.output(name, extentsOf(m_program.tensor(result.tensor).shape));
    }
  }

  // One number where all elements share it.
  std::string elements(const std::vector<double>& values, const Shape& shape) {
    if (std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); }))
      return m_graph.number(values.front());
    return m_graph.constant("unit", shape.withoutFirst().extents(), {values.begin(), values.end()});
  }

  std::string inUnits(const NamedResult& result, std::string value) {
    const auto steps = m_units.find(result.name);
    if (steps == m_units.end()) return value;
    const Shape& shape = m_program.tensor(result.tensor).shape;
    for (const UnitStep& step : steps->second) {
      if (step.kind == UnitStep::Kind::linear) {
        const auto count = static_cast<std::size_t>(shape.withoutFirst().elements());
        if (step.by.size() != count || step.add.size() != count)
          throwError(ErrorCode::badData, "the units of output '{}' are of {} numbers, and it gives {}", result.name,
                     step.by.size(), count);
        value =
            m_graph.node("Add", {m_graph.node("Mul", {value, elements(step.by, shape)}), elements(step.add, shape)});
        continue;
      }
      value = m_graph.node("Exp", {value});
      if (step.kind == UnitStep::Kind::exponentialMinusOne) value = m_graph.node("Sub", {value, m_graph.number(1)});
    }
    return value;
  }

  Extents extentsOf(const Shape& shape) const {
    Extents extents = shape.extents();
    if (m_open)
      for (std::int64_t& extent : extents)
        if (holdsBatch(extent)) extent = -1;
    return extents;
  }

  void addInput(TensorId id) {
    const Tensor& tensor = m_program.tensor(id);
    m_graph.input(tensor.name, extentsOf(tensor.shape), tensor.type != DataType::f32);
    m_names[static_cast<std::size_t>(id)] = tensor.name;
    if (m_batchOf.empty()) m_batchOf = tensor.name;
  }

  // A shape as a value: where the batch is open, it is taken from an input.
  std::string shapeValue(const Extents& extents) {
    const auto place = std::find_if(extents.begin(), extents.end(),
                                    [this](std::int64_t extent) { return m_open && holdsBatch(extent); });
    if (place == extents.end()) return m_graph.wholes(extents);
    if (m_batchOf.empty())
      throwError(ErrorCode::badProject,
                 "it makes values for each sample of a batch, but the network has no input that tells how many there "
                 "are; export it with a fixed batch");
    if (m_batch.empty())
      m_batch = m_graph.node("Slice", {m_graph.node("Shape", {m_batchOf}), m_graph.wholes({0}), m_graph.wholes({1})});
    std::vector<std::string> parts;
    if (place != extents.begin()) parts.push_back(m_graph.wholes({extents.begin(), place}));
    parts.push_back(*place == kBatch ? m_batch : m_graph.node("Mul", {m_batch, m_graph.wholes({*place / kBatch})}));
    if (place + 1 != extents.end()) parts.push_back(m_graph.wholes({place + 1, extents.end()}));
    return m_graph.node("Concat", parts, {{"axis", std::int64_t{0}}});
  }

  std::string nameOf(TensorId id) {
    if (id == kNoTensor) return {};
    std::string& name = m_names[static_cast<std::size_t>(id)];
    const Tensor& tensor = m_program.tensor(id);
    if (!name.empty()) return name;
    switch (tensor.role) {
      case TensorRole::parameter:
      case TensorRole::state:
        return name = m_graph.constant(tensor.name, tensor.shape.extents(), valuesOf(id));
      case TensorRole::constant:
        if (tensor.shape.rank() == 0) return name = m_graph.number(tensor.value);
        return name = m_graph.node("Expand", {m_graph.number(tensor.value), shapeValue(tensor.shape.extents())});
      default:
        throwError(ErrorCode::badProject, "'{}' is known in a training only, and ONNX has no word for it", tensor.name);
    }
  }

  std::vector<float> valuesOf(TensorId id) const {
    const Tensor& tensor = m_program.tensor(id);
    const Parameter* parameter = m_program.findParameter(tensor.name);
    if (!parameter) throwError(ErrorCode::internal, "'{}' is no parameter", tensor.name);
    std::vector<float> values = m_weights(*parameter);
    if (static_cast<std::int64_t>(values.size()) != tensor.shape.elements())
      throwError(ErrorCode::badData, "the weight '{}' has {} values, but the network wants {}", tensor.name,
                 values.size(), tensor.shape.toString());
    return values;
  }

  void add(const Operation& operation) {
    m_graph.setOrigin(operation.origin);
    try {
      const OpWriter writer = opWriter(operation.op->name);
      if (!writer)
        throwError(ErrorCode::badProject, "what it computes ('{}') has no counterpart in ONNX", operation.op->name);
      // Weights that a writer takes apart are asked for by it; all else has a name.
      OpExport given{.graph = m_graph,
                     .program = m_program,
                     .operation = operation,
                     .weight = [this](TensorId id) { return valuesOf(id); },
                     .shape = [this](const Extents& extents) { return shapeValue(extents); },
                     .name = [this](TensorId id) { return nameOf(id); }};
      const std::vector<std::string> outputs = writer(given);
      for (std::size_t i = 0; i < outputs.size() && i < operation.outputs.size(); ++i)
        m_names[static_cast<std::size_t>(operation.outputs[i])] = outputs[i];
    } catch (Error& error) {
      throw error.addContext(fmt::format("in layer '{}'", operation.origin));
    }
  }

  Program m_program;
  const WeightSource& m_weights;
  bool m_open;
  GraphWriter m_graph;
  std::vector<std::string> m_names;  // of the program's tensors; empty = not yet
  std::string m_batchOf, m_batch;    // an input, and its number of samples as a value
  const std::map<std::string, std::vector<UnitStep>>& m_units;
};

}  // namespace

WeightSource initialWeights(std::uint64_t seed) {
  return [seed](const Parameter& parameter) {
    ParameterStore store(seed);
    store.ensure({parameter});
    return store.at(parameter.name).value.values();
  };
}

void writeOnnx(const Network& network, const WeightSource& weights, const OnnxOptions& options,
               const std::filesystem::path& file) {
  if (options.batch < 0 || options.batch > kLargestBatch)
    throwError(ErrorCode::badArgument, "a batch of {} cannot be; 1 to {}, or 0 to leave it open", options.batch,
               kLargestBatch);
  Exporter(network, weights, options).graph().write(file);
}

OnnxGraph onnxGraph(const Network& network, const WeightSource& weights, const OnnxOptions& options) {
  return Exporter(network, weights, options).graph().graph();
}

}  // namespace loom

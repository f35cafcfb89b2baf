#include "engine/exchange/onnx/model.h"

#include <algorithm>
#include <limits>
#include <set>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/exchange/onnx/model_proto.h"
#include "engine/exchange/onnx/tensor_data.h"
#include "function_defaults.pb.h"

namespace loom::onnx_file {

// Of one number that stands for many: what is larger is no weight of a network but an attack.
constexpr std::int64_t kMostWrittenOut = std::int64_t{1} << 24;

std::int64_t elementsOf(const Extents& extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 0 || (product > 0 && extent > (std::int64_t{1} << 60) / product))
      throwError(ErrorCode::badData, "the shape {} cannot be", Shape(extents).toString());
    product *= extent;
  }
  return product;
}

int Constant::elementType() const {
  if (type != kUnknownType) return type;
  return kind == Kind::real ? kFloat : kind == Kind::truth ? kBool : kInt64;
}

double Constant::at(std::size_t i) const {
  const std::size_t place = uniform() ? 0 : i;
  return kind == Kind::real ? static_cast<double>(reals[place]) : static_cast<double>(wholes[place]);
}

std::int64_t Constant::whole(std::size_t i) const {
  const std::size_t place = uniform() ? 0 : i;
  return kind == Kind::real ? static_cast<std::int64_t>(reals[place]) : wholes[place];
}

std::vector<float> Constant::allReals() const {
  const std::int64_t elements = elementsOf(extents);
  if (uniform() && elements > kMostWrittenOut)
    throwError(ErrorCode::badData, "{} numbers that are all the same are too many to write out", elements);
  std::vector<float> all(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(at(i));
  return all;
}

std::int64_t OnnxNode::integer(const std::string& key, std::int64_t otherwise) const {
  const auto found = attributes.find(key);
  return found != attributes.end() && found->second.kind == Attribute::Kind::integer ? found->second.integer
                                                                                     : otherwise;
}

double OnnxNode::real(const std::string& key, double otherwise) const {
  const auto found = attributes.find(key);
  return found != attributes.end() && found->second.kind == Attribute::Kind::real ? found->second.real : otherwise;
}

std::string OnnxNode::text(const std::string& key, const std::string& otherwise) const {
  const auto found = attributes.find(key);
  return found != attributes.end() && found->second.kind == Attribute::Kind::text ? found->second.text : otherwise;
}

std::vector<std::int64_t> OnnxNode::integers(const std::string& key) const {
  const auto found = attributes.find(key);
  return found != attributes.end() ? found->second.integers : std::vector<std::int64_t>();
}

const std::string& OnnxNode::input(std::size_t i) const {
  static const std::string none;
  return i < inputs.size() ? inputs[i] : none;
}

std::string OnnxNode::title() const {
  const std::string shown = name.empty() ? (outputs.empty() ? std::string() : outputs.front()) : name;
  return shown.empty() ? op : fmt::format("{} ({})", shown.substr(0, 200), op.substr(0, 100));
}

namespace {

constexpr std::size_t kMostNodes = 200000;
constexpr int kDeepest = 16;  // functions that call functions, branches in branches

class Reader {
 public:
  Reader(const onnx::ModelProto& model, std::filesystem::path path) : m_model(model), m_path(std::move(path)) {
    for (const auto& function : model.functions())
      m_functions.emplace(std::pair(domainOf(function.domain()), function.name()), &function);
  }

  OnnxGraph read() {
    checkVersions();
    OnnxGraph graph = readGraph(m_model.graph(), 0);
    graph.opset = m_opset;
    graph.producer = fmt::format("{} {}", m_model.producer_name(), m_model.producer_version());
    graph.remarks = std::move(m_remarks);
    for (const auto& text : m_model.metadata_props()) graph.metadata[text.key()] = text.value();
    return graph;
  }

 private:
  static std::string domainOf(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

  void checkVersions() {
    for (const auto& import : m_model.opset_import())
      if (domainOf(import.domain()).empty())
        m_opset = static_cast<int>(std::clamp<std::int64_t>(import.version(), 0, std::numeric_limits<int>::max()));
    // Of a pipeline without operators of ONNX's own none is named.
    if (m_opset == 0 && m_model.opset_import_size() > 0) m_opset = kNewestOpset;
    if (m_opset == 0 || !m_model.has_graph())
      throwError(ErrorCode::badData, "it is no ONNX file: it names no version of the operators, or holds no graph");
    if (m_opset > kNewestOpset)
      remark(ReportItem::Kind::converted, "the file",
             fmt::format(
                 "It was written with version {} of the operators and read as version {}; an operator that changed "
                 "since may mean something else.",
                 m_opset, kNewestOpset));
    if (m_model.training_info_size() > 0)
      remark(ReportItem::Kind::ignored, "training information",
             "The file's own rules of training were left out: set up the training here.");
  }

  void remark(ReportItem::Kind kind, std::string layer, std::string sentence) {
    m_remarks.push_back({kind, m_model.graph().name(), std::move(layer), {}, std::move(sentence)});
  }

  OnnxGraph readGraph(const onnx::GraphProto& proto, int depth) {
    if (depth > kDeepest) throwError(ErrorCode::badData, "branches stand in branches more than {} deep", kDeepest);
    OnnxGraph graph;
    graph.name = proto.name();
    for (const auto& tensor : proto.initializer())
      if (!tensor.name().empty()) graph.constants[tensor.name()] = constantFrom(tensor, m_path);
    for (const auto& tensor : proto.sparse_initializer())
      throwError(ErrorCode::badData, "the weight '{}' is sparse; export it as a dense tensor", tensor.values().name());
    for (const auto& value : proto.value_info()) graph.known[value.name()] = valueFrom(value);
    for (const auto& value : proto.input())
      if (!graph.constants.count(value.name())) graph.inputs.push_back(valueFrom(value));
    for (const auto& value : proto.output()) graph.outputs.push_back(valueFrom(value));
    for (const auto& node : proto.node()) addNode(node, {}, {}, nullptr, depth, graph);
    order(graph);
    return graph;
  }

  static OnnxValue valueFrom(const onnx::ValueInfoProto& proto) {
    OnnxValue value{.name = proto.name(), .extents = {}};
    if (!proto.type().has_tensor_type()) return value;
    value.type = proto.type().tensor_type().elem_type();
    if (!proto.type().tensor_type().has_shape()) return value;
    value.extents.emplace();
    for (const auto& dim : proto.type().tensor_type().shape().dim()) {
      Extent extent;
      if (dim.has_dim_value() && dim.dim_value() >= 0) extent.value = dim.dim_value();
      if (dim.has_dim_param()) extent.symbol = dim.dim_param();
      value.extents->push_back(std::move(extent));
    }
    return value;
  }

  Attribute attributeFrom(const onnx::AttributeProto& proto) {
    Attribute attribute;
    using Proto = onnx::AttributeProto;
    switch (proto.type()) {
      case Proto::FLOAT:
        return {.kind = Attribute::Kind::real, .real = static_cast<double>(proto.f())};
      case Proto::INT:
        return {.kind = Attribute::Kind::integer, .integer = proto.i()};
      case Proto::STRING:
        return {.kind = Attribute::Kind::text, .text = proto.s()};
      case Proto::TENSOR:
        attribute.kind = Attribute::Kind::tensor;
        if (proto.t().data_type() != onnx::TensorProto::STRING) attribute.tensor = constantFrom(proto.t(), m_path);
        return attribute;
      case Proto::FLOATS:
        return {.kind = Attribute::Kind::reals, .reals = {proto.floats().begin(), proto.floats().end()}};
      case Proto::INTS:
        return {.kind = Attribute::Kind::integers, .integers = {proto.ints().begin(), proto.ints().end()}};
      case Proto::STRINGS:
        return {.kind = Attribute::Kind::texts, .texts = {proto.strings().begin(), proto.strings().end()}};
      default:
        return attribute;
    }
  }

  using Names = std::map<std::string, std::string>;

  // What the attributes of a function stand for where it is called, by their names.
  using Arguments = std::map<std::string, const onnx::AttributeProto*>;

  // The attribute, or what it refers to; null where that was left out.
  static const onnx::AttributeProto* resolved(const onnx::AttributeProto& given, const Arguments* arguments) {
    if (!arguments || given.ref_attr_name().empty()) return &given;
    const auto found = arguments->find(given.ref_attr_name());
    return found == arguments->end() ? nullptr : found->second;
  }

  // `rename`: of a function's values; `call`: what its attributes stand for; null outside of functions.
  void addNode(const onnx::NodeProto& proto, const Names& rename, const std::string& prefix, const Arguments* call,
               int depth, OnnxGraph& graph) {
    if (++m_nodes > kMostNodes) throwError(ErrorCode::badData, "it has more than {} nodes", kMostNodes);
    const auto named = [&](const std::string& value) {
      if (value.empty() || !call) return value;
      const auto found = rename.find(value);
      return found != rename.end() ? found->second : prefix + value;
    };
    const std::string domain = domainOf(proto.domain());
    if (const auto function = m_functions.find({domain, proto.op_type()}); function != m_functions.end()) {
      if (depth >= kDeepest) throwError(ErrorCode::badData, "functions call functions more than {} deep", kDeepest);
      callFunction(*function->second, proto, call, named, depth, graph);
      return;
    }
    OnnxNode node{.name = prefix + proto.name(),
                  .op = domain.empty() ? proto.op_type() : domain + "." + proto.op_type()};
    for (const std::string& input : proto.input()) node.inputs.push_back(named(input));
    for (const std::string& output : proto.output()) node.outputs.push_back(named(output));
    for (const auto& given : proto.attribute()) {
      const onnx::AttributeProto* attribute = resolved(given, call);
      if (!attribute) continue;
      if (attribute->type() == onnx::AttributeProto::GRAPH && !call) {
        node.branches[given.name()] = std::make_shared<OnnxGraph>(readGraph(attribute->g(), depth + 1));
      } else {
        node.attributes[given.name()] = attributeFrom(*attribute);
      }
    }
    if (std::all_of(node.outputs.begin(), node.outputs.end(), [](const std::string& name) { return name.empty(); }))
      return remark(ReportItem::Kind::ignored, node.title(), "It gives nothing.");
    graph.nodes.push_back(std::move(node));
  }

  template <class Named>
  void callFunction(const onnx::FunctionProto& function, const onnx::NodeProto& call, const Arguments* outer,
                    const Named& named, int depth, OnnxGraph& graph) {
    Arguments arguments;
    const gradloom::FunctionDefaults& defaults = defaultsOf(function);
    for (const auto& attribute : defaults.attribute_proto()) arguments[attribute.name()] = &attribute;
    for (const auto& given : call.attribute())
      if (const onnx::AttributeProto* attribute = resolved(given, outer)) arguments[given.name()] = attribute;
    Names rename;
    for (int i = 0; i < function.input_size(); ++i)
      rename[function.input(i)] = i < call.input_size() ? named(call.input(i)) : std::string();
    for (int i = 0; i < function.output_size() && i < call.output_size(); ++i)
      rename[function.output(i)] = named(call.output(i));
    const std::string prefix = fmt::format("{}/{}/", call.name().empty() ? call.op_type() : call.name(), m_calls++);
    for (const auto& node : function.node()) addNode(node, rename, prefix, &arguments, depth + 1, graph);
  }

  const gradloom::FunctionDefaults& defaultsOf(const onnx::FunctionProto& function) {
    const auto [place, isNew] = m_defaults.try_emplace(&function);
    if (isNew && !place->second.ParseFromString(function.SerializeAsString()))
      throwError(ErrorCode::badData, "the defaults of the function '{}' cannot be read", function.name());
    return place->second;
  }

  // Nodes after what they read. A file should have them so already; a circle is a fault.
  static void order(OnnxGraph& graph) {
    std::map<std::string, std::size_t> makers;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const std::string& output : graph.nodes[i].outputs)
        if (!output.empty() && !makers.emplace(output, i).second)
          throwError(ErrorCode::badData, "two nodes make the value '{}'", output.substr(0, 200));
    std::vector<std::vector<std::size_t>> readers(graph.nodes.size());
    std::vector<std::size_t> waits(graph.nodes.size(), 0);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      std::set<std::size_t> sources;
      const auto reads = [&](const std::string& value) {
        if (const auto maker = makers.find(value); maker != makers.end()) sources.insert(maker->second);
      };
      for (const std::string& input : graph.nodes[i].inputs) reads(input);
      for (const auto& [key, branch] : graph.nodes[i].branches)
        for (const OnnxNode& inner : branch->nodes)
          for (const std::string& input : inner.inputs) reads(input);
      sources.erase(i);
      for (const std::size_t source : sources) readers[source].push_back(i);
      waits[i] = sources.size();
      const auto& inputs = graph.nodes[i].inputs;
      for (const std::string& output : graph.nodes[i].outputs)
        if (!output.empty() && std::find(inputs.begin(), inputs.end(), output) != inputs.end())
          throwError(ErrorCode::badData, "the node {} reads what it makes", graph.nodes[i].title());
    }
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < waits.size(); ++i)
      if (waits[i] == 0) ready.insert(i);
    std::vector<OnnxNode> sorted;
    sorted.reserve(graph.nodes.size());
    while (!ready.empty()) {
      const std::size_t next = *ready.begin();
      ready.erase(ready.begin());
      for (const std::size_t reader : readers[next])
        if (--waits[reader] == 0) ready.insert(reader);
      sorted.push_back(std::move(graph.nodes[next]));
    }
    if (sorted.size() != graph.nodes.size()) throwError(ErrorCode::badData, "its nodes read each other in a circle");
    graph.nodes = std::move(sorted);
  }

  const onnx::ModelProto& m_model;
  std::filesystem::path m_path;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> m_functions;
  std::map<const onnx::FunctionProto*, gradloom::FunctionDefaults> m_defaults;
  std::vector<ReportItem> m_remarks;
  int m_opset = 0;
  int m_calls = 0;
  std::size_t m_nodes = 0;
};

}  // namespace

OnnxGraph graphOf(const onnx::ModelProto& model, const std::filesystem::path& path) {
  return Reader(model, path).read();
}

OnnxGraph readModel(const std::filesystem::path& path) {
  const MappedFile file(path);
  if (file.bytes().size() > std::numeric_limits<int>::max())
    throwError(ErrorCode::badData, "{} is larger than 2 GB: weights of such models lie in files beside it",
               path.string());
  onnx::ModelProto model;
  if (!model.ParseFromArray(file.bytes().data(), static_cast<int>(file.bytes().size())))
    throwError(ErrorCode::badData, "{} is no ONNX file, or only a part of one", path.string());
  try {
    return graphOf(model, path);
  } catch (Error& error) {
    throw error.addContext(path.string());
  }
}

}  // namespace loom::onnx_file

#include "engine/exchange/onnx/graph_writer.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/exchange/onnx/model_proto.h"

namespace loom::onnx_file {

struct GraphWriter::Proto {
  onnx::ModelProto model;
};

GraphWriter::GraphWriter(const std::string& name, int opset, const std::string& producerVersion)
    : m_proto(std::make_unique<Proto>()) {
  onnx::ModelProto& model = m_proto->model;
  model.set_ir_version(8);  // the one of the time of version 17 of the operators
  model.set_producer_name("Gradloom");
  model.set_producer_version(producerVersion);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name(name);
}

GraphWriter::~GraphWriter() = default;

std::string GraphWriter::freeName(const std::string& wish) {
  const int number = m_names[wish]++;
  return number == 0 ? wish : freeName(fmt::format("{}_{}", wish, number));
}

namespace {

void describe(onnx::ValueInfoProto& value, const std::string& name, const Extents& extents,
              onnx::TensorProto::DataType type) {
  value.set_name(name);
  auto* tensor = value.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const std::int64_t extent : extents) {
    if (extent < 0)
      tensor->mutable_shape()->add_dim()->set_dim_param("batch");
    else
      tensor->mutable_shape()->add_dim()->set_dim_value(extent);
  }
}

}  // namespace

void GraphWriter::input(const std::string& name, const Extents& extents, bool wholes) {
  ++m_names[name];
  describe(*m_proto->model.mutable_graph()->add_input(), name, extents,
           wholes ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT);
}

void GraphWriter::output(const std::string& name, const Extents& extents) {
  describe(*m_proto->model.mutable_graph()->add_output(), name, extents, onnx::TensorProto::FLOAT);
}

std::string GraphWriter::node(const std::string& op, const std::vector<std::string>& inputs,
                              const Attributes& attributes, int outputs) {
  onnx::NodeProto& node = *m_proto->model.mutable_graph()->add_node();
  const std::string name = freeName(fmt::format("/{}/{}", m_origin, op));
  node.set_name(name);
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  for (int i = 0; i < outputs; ++i) node.add_output(i == 0 ? name + "_output" : fmt::format("{}_output_{}", name, i));
  for (const auto& [key, value] : attributes) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(key);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      attribute.set_type(onnx::AttributeProto::INT);
      attribute.set_i(*integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      attribute.set_type(onnx::AttributeProto::FLOAT);
      attribute.set_f(static_cast<float>(*real));
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      attribute.set_type(onnx::AttributeProto::STRING);
      attribute.set_s(*text);
    } else {
      attribute.set_type(onnx::AttributeProto::INTS);
      for (const std::int64_t each : std::get<std::vector<std::int64_t>>(value)) attribute.add_ints(each);
    }
  }
  return name + "_output";
}

void GraphWriter::alias(const std::string& name, const std::string& value) {
  onnx::NodeProto& node = *m_proto->model.mutable_graph()->add_node();
  node.set_name(freeName("/" + name + "/Identity"));
  node.set_op_type("Identity");
  node.add_input(value);
  node.add_output(name);
}

std::string GraphWriter::constant(const std::string& wish, const Extents& extents, const std::vector<float>& values) {
  onnx::TensorProto& tensor = *m_proto->model.mutable_graph()->add_initializer();
  const std::string name = freeName(wish);
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t extent : extents) tensor.add_dims(extent);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return name;
}

std::string GraphWriter::addWholes(const Extents& extents, const std::vector<std::int64_t>& values) {
  onnx::TensorProto& tensor = *m_proto->model.mutable_graph()->add_initializer();
  const std::string name = freeName("numbers");
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  for (const std::int64_t extent : extents) tensor.add_dims(extent);
  tensor.set_raw_data(values.data(), values.size() * sizeof(std::int64_t));
  return name;
}

std::string GraphWriter::wholes(const std::vector<std::int64_t>& values) {
  std::string& name = m_wholes[values];
  if (name.empty()) name = addWholes({static_cast<std::int64_t>(values.size())}, values);
  return name;
}

std::string GraphWriter::whole(std::int64_t value) {
  return addWholes({}, {value});
}

std::string GraphWriter::number(double value) {
  std::string& name = m_numbers[value];
  if (name.empty()) name = constant("number", {}, {static_cast<float>(value)});
  return name;
}

void GraphWriter::metadata(const std::string& key, const std::string& text) {
  auto& entry = *m_proto->model.add_metadata_props();
  entry.set_key(key);
  entry.set_value(text);
}

OnnxGraph GraphWriter::graph() const {
  return graphOf(m_proto->model, {});
}

void GraphWriter::write(const std::filesystem::path& file) const {
  const std::size_t bytes = m_proto->model.ByteSizeLong();
  if (bytes > 2000000000)
    throwError(ErrorCode::badData,
               "the network's weights would make {} of {} bytes, but an ONNX file holds at most 2 GB", file.string(),
               bytes);
  writeFileAtomically(file, m_proto->model.SerializeAsString());
}

}  // namespace loom::onnx_file

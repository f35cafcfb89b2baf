#pragma once
// An ONNX graph as it is written: nodes with names of their own, constants, inputs and outputs. Hides protobuf.
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/exchange/onnx/model.h"

namespace loom::onnx_file {

class GraphWriter {
 public:
  GraphWriter(const std::string& name, int opset, const std::string& producerVersion);
  ~GraphWriter();
  GraphWriter(const GraphWriter&) = delete;
  GraphWriter& operator=(const GraphWriter&) = delete;

  using Value = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;
  using Attributes = std::map<std::string, Value>;

  // -1 in the extents: open, under the name "batch".
  void input(const std::string& name, const Extents& extents, bool wholes);
  void output(const std::string& name, const Extents& extents);
  // Answers the name of its first output; further ones are that name with "_1", "_2". What follows belongs to the layer
  // `origin`.
  std::string node(const std::string& op, const std::vector<std::string>& inputs, const Attributes& attributes = {},
                   int outputs = 1);
  void alias(const std::string& name, const std::string& value);  // name = value
  std::string constant(const std::string& wish, const Extents& extents, const std::vector<float>& values);
  std::string wholes(const std::vector<std::int64_t>& values);  // a vector
  std::string whole(std::int64_t value);                        // a scalar
  std::string number(double value);                             // a scalar
  void setOrigin(std::string origin) { m_origin = std::move(origin); }
  // A text beside the graph.
  void metadata(const std::string& key, const std::string& text);
  // What a reader of the file will see.
  OnnxGraph graph() const;
  // Atomically.
  void write(const std::filesystem::path& file) const;

 private:
  std::string freeName(const std::string& wish);
  std::string addWholes(const Extents& extents, const std::vector<std::int64_t>& values);
  struct Proto;
  std::unique_ptr<Proto> m_proto;
  std::string m_origin;
  std::map<std::string, int> m_names;
  std::map<std::vector<std::int64_t>, std::string> m_wholes;
  std::map<double, std::string> m_numbers;
};

}  // namespace loom::onnx_file

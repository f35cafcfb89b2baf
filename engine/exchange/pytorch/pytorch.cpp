// The script: a module of the flat network, and the weights beside it under the names of its state_dict.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/exchange/exporter.h"
#include "engine/exchange/pytorch/torch_code.h"
#include "engine/network/flatten.h"
#include "engine/network/graph.h"
#include "engine/run/safetensors.h"

namespace loom {
namespace {

constexpr const char* kHead = R"py("""{title}

Written by Gradloom from the network '{network}'. It needs torch alone:

    from {module} import load
    model = load()          # in evaluation, with the weights of {weights}
    y = model({inputs})
"""
import json
import struct
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
{init}
    def forward(self, {inputs}):
{forward}

def read_safetensors(path):
    """The tensors of a .safetensors file of 32-bit numbers, by name."""
    data = Path(path).read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop('__metadata__', None)
    tensors = {{}}
    for name, entry in header.items():
        first, last = entry['data_offsets']
        numbers = bytearray(data[8 + size + first:8 + size + last])
        tensors[name] = torch.frombuffer(numbers, dtype=torch.float32).reshape(entry['shape']) if numbers else torch.zeros(entry['shape'])
    return tensors


def load(path=Path(__file__).with_name('{weights}')):
    model = Network()
    # strict but for counters that training keeps and prediction does not read
    missing, unexpected = model.load_state_dict(read_safetensors(path), strict=False)
    wrong = unexpected + [name for name in missing if not name.endswith('num_batches_tracked')]
    if wrong:
        raise KeyError(f'{{path}} does not fit this network: {{wrong}}')
    return model.eval()


if __name__ == '__main__':
    model = load()
    print(model)
    print(sum(p.numel() for p in model.parameters()), 'parameters')
)py";

class Script {
 public:
  Script(const ExportSource& source)
      : m_source(source),
        m_flat(flatNetwork(source.project, source.network)),
        m_graph(m_flat, m_problems),
        m_analysis(analyse(m_flat)) {}

  void run() {
    choose();
    for (const bool inputs : {true, false})  // the arguments of forward() first
      for (const std::size_t i : m_graph.order())
        if (m_wanted.count(i) && readsDataset(i) == inputs) write(i);
    std::string results;
    for (const auto& [node, port] : m_results) results += (results.empty() ? "" : ", ") + m_values.at(node);
    m_forward += fmt::format("        return {}\n", results);
  }

  std::string text(const std::string& module, const std::string& weights) const {
    std::string inputs;
    for (const std::string& each : m_inputs) inputs += (inputs.empty() ? "" : ", ") + each;
    return fmt::format(fmt::runtime(kHead), fmt::arg("title", m_source.network), fmt::arg("network", m_source.network),
                       fmt::arg("module", module), fmt::arg("weights", weights), fmt::arg("inputs", inputs),
                       fmt::arg("init", m_init.empty() ? "" : m_init), fmt::arg("forward", m_forward));
  }
  const std::map<std::string, ExportedWeight>& weights() const { return m_weights; }

 private:
  // What a prediction wants, and all that leads there.
  void choose() {
    for (const NamedResult& result : lowerForPrediction(m_flat, {}).results) {
      for (std::size_t i = 0; i < m_graph.nodes().size(); ++i)
        if (m_graph.nodes()[i].node->id == result.name) m_results.emplace_back(i, 0);
    }
    if (m_results.empty())
      throwError(ErrorCode::badProject, "the network '{}' has no output to export", m_source.network);
    for (const auto& [node, port] : m_results) m_wanted.insert(node);
    for (auto i = m_graph.order().rbegin(); i != m_graph.order().rend(); ++i)
      if (m_wanted.count(*i))
        for (const auto& port : m_graph.nodes()[*i].inputs)
          for (const GraphSource& from : port) {
            if (from.port > 0)
              throwError(ErrorCode::badProject, "'{}' has several outputs, which the PyTorch script cannot say yet",
                         m_graph.nodes()[from.node].node->id);
            m_wanted.insert(from.node);
            ++m_uses[from.node];
          }
    for (const auto& [node, port] : m_results) m_uses[node] += 2;  // kept to the end
  }

  std::string pythonName(const std::string& id) {
    static const std::set<std::string, std::less<>> reserved = {
        "h",     "self",     "torch",      "nn",      "F",        "and",    "as",      "assert",   "async",
        "await", "break",    "class",      "def",     "del",      "elif",   "else",    "except",   "for",
        "from",  "if",       "import",     "in",      "is",       "lambda", "not",     "or",       "pass",
        "raise", "return",   "try",        "while",   "with",     "yield",  "None",    "True",     "False",
        "type",  "training", "forward",    "train",   "eval",     "half",   "float",   "double",   "to",
        "apply", "modules",  "parameters", "buffers", "children", "global", "finally", "continue", "nonlocal"};
    std::string name;
    for (const char c : id) name += c == '/' || c == '-' ? '_' : c;
    if (reserved.count(name)) name += '_';
    while (!m_taken.insert(name).second) name += '_';
    return name;
  }

  bool readsDataset(std::size_t i) const {
    const GraphNode& graph = m_graph.nodes()[i];
    return graph.layer->role == LayerRole::input &&
           Values(graph.layer->entry, graph.node->values).text("source") == "dataset";
  }

  void write(std::size_t i) {
    const GraphNode& graph = m_graph.nodes()[i];
    const Node& node = *graph.node;
    const Values values(graph.layer->entry, node.values);
    const NodeFacts& facts = m_analysis.nodes.at(node.id);
    if (readsDataset(i)) {
      m_values[i] = pythonName(node.id);
      m_inputs.push_back(m_values[i]);
      m_types[i] = values.text("type") == "values" ? DataType::f32 : DataType::i32;
      m_last.reset();
      return;
    }
    const std::string scope = node.shares.empty() ? node.id : node.shares;
    const bool known = m_modules.count(scope) > 0;
    if (!known) m_modules[scope] = pythonName(scope);
    torch::NodeCode code{.node = node,
                         .layer = *graph.layer,
                         .values = values,
                         .inputs = {},
                         .types = {},
                         .outputs = facts.outputs,
                         .name = m_modules[scope],
                         .arguments = {},
                         .batch = m_inputs.empty() ? "1" : "len(" + m_inputs.front() + ")"};
    std::size_t wired = 0;
    for (const auto& port : graph.inputs) {
      if (port.empty()) {
        code.inputs.emplace_back();
        code.types.push_back(DataType::f32);
        code.arguments.emplace_back();
      }
      for (const GraphSource& from : port) {
        code.inputs.push_back(facts.inputs.at(wired++));
        code.types.push_back(m_types.count(from.node) ? m_types[from.node] : DataType::f32);
        code.arguments.push_back(m_values.at(from.node));
      }
    }
    if (!torch::writeLayer(code)) {
      code.init.clear(), code.forward.clear(), code.weights.clear(), code.result.clear();
      torch::writeOperations(code);
    }
    heading(node.id);
    if (!known) {
      for (const std::string& line : code.init) m_init += "        " + line + "\n";
      addWeights(code, scope);
    }
    for (const std::string& line : code.forward) m_forward += "        " + line + "\n";
    // What only its neighbour reads goes on under one name, as a person writes a chain.
    m_values[i] = m_uses[i] == 1 && nextReads(i) ? "h" : known ? pythonName(node.id) : localName(code.name);
    m_forward += fmt::format("        {} = {}\n", m_values[i], code.result);
  }

  // A name of a module is free for a local variable as well.
  static std::string localName(const std::string& module) { return module; }

  bool nextReads(std::size_t i) const {
    const auto& order = m_graph.order();
    for (auto at = std::find(order.begin(), order.end(), i) + 1; at != order.end(); ++at) {
      if (!m_wanted.count(*at)) continue;
      const auto& inputs = m_graph.nodes()[*at].inputs;
      return std::any_of(inputs.begin(), inputs.end(), [i](const auto& port) {
        return std::any_of(port.begin(), port.end(), [i](const GraphSource& from) { return from.node == i; });
      });
    }
    return false;
  }

  // Before the first line of each part of the drawing its path.
  void heading(const std::string& id) {
    const std::size_t slash = id.rfind('/');
    const std::string path = slash == id.npos ? "" : id.substr(0, slash);
    if (m_last != path && !(path.empty() && !m_last))
      m_forward += path.empty() ? "\n" : fmt::format("\n        # {}\n", path);
    m_last = path;
  }

  void addWeights(const torch::NodeCode& code, const std::string& scope) {
    for (const torch::NodeCode::Weight& weight : code.weights) {
      const auto found = m_source.weights.find(scope + "/" + weight.leaf);
      if (found == m_source.weights.end())
        throwError(ErrorCode::badProject, "there are no weights '{}/{}' to export", scope, weight.leaf);
      ExportedWeight& written =
          m_weights[weight.key.starts_with('_') ? code.name + weight.key : code.name + "." + weight.key];
      written = found->second;
      if (weight.change == torch::NodeCode::Weight::Change::zeroSecondBias)
        std::fill(written.values.begin(), written.values.end(), 0.0f);
    }
  }

  const ExportSource& m_source;
  Network m_flat;
  std::vector<Problem> m_problems;
  Graph m_graph;
  Analysis m_analysis;
  std::vector<std::pair<std::size_t, std::size_t>> m_results;
  std::set<std::size_t> m_wanted;
  std::map<std::size_t, int> m_uses;
  std::map<std::size_t, std::string> m_values;
  std::map<std::size_t, DataType> m_types;
  std::map<std::string, std::string> m_modules;  // by scope
  std::set<std::string> m_taken;
  std::vector<std::string> m_inputs;
  std::optional<std::string> m_last;
  std::string m_init, m_forward;
  std::map<std::string, ExportedWeight> m_weights;
};

}  // namespace

std::vector<std::filesystem::path> exportPyTorch(const ExportSource& source, const std::filesystem::path& file) {
  Script script(source);
  script.run();
  std::filesystem::path weights = file;
  weights.replace_extension(".safetensors");
  std::vector<TensorFile::Tensor> tensors;
  for (const auto& [name, weight] : script.weights()) tensors.push_back({name, weight.shape, weight.values});
  TensorFile::write(weights, tensors, {{"format", "pt"}});
  writeFileAtomically(file, script.text(file.stem().string(), weights.filename().string()));
  return {file, weights};
}

}  // namespace loom

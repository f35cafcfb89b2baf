// The PyTorch script beside our own numbers: the same network, the same weights, the same outputs. Runs where a Python
// with torch is there: GRADLOOM_TORCH names it, else python3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "engine/base/files.h"
#include "engine/exchange/exporter.h"
#include "engine/network/flatten.h"
#include "engine/run/safetensors.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

std::string python() {
  const char* named = std::getenv("GRADLOOM_TORCH");
  return named && *named ? named : "python3";
}

bool hasTorch() {
  static const bool has = std::system((python() + " -c 'import torch' > /dev/null 2>&1").c_str()) == 0;
  return has;
}

// With weights and running statistics that make every term matter; of a deep network vectors alone, since noise in its
// matrices would grow from layer to layer.
enum class Depth { shallow, deep };
ExportSource sourceOf(const Project& project, Depth depth) {
  const std::string network = project.training.updates.empty() || !project.network(project.training.updates[0].network)
                                  ? "main"
                                  : project.training.updates[0].network;
  ExportSource source{.project = project, .network = network, .weights = {}};
  ParameterStore store(7);
  const Program program = lower(flatNetwork(project, network), {});
  store.ensure(program.parameters);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const auto& entry : store.entries()) {
    std::vector<float> values = entry->value.values();
    if (depth == Depth::shallow || entry->parameter.shape.rank() == 1)
      for (float& value : values) value += 0.2f * normal(random);
    if (entry->parameter.name.ends_with("variance"))
      for (float& value : values) value = 0.5f + std::abs(value);
    source.weights[entry->parameter.name] = {entry->parameter.shape, std::move(values)};
  }
  return source;
}

// What we predict for a batch of 3; also written for the script.
std::vector<float> ours(const ExportSource& source, const std::filesystem::path& inputs) {
  const Network flat = flatNetwork(source.project, source.network);
  ParameterStore store(1);
  Program program = lowerForPrediction(flat, {.batch = 3});
  store.ensure(program.parameters);
  for (const auto& entry : store.entries()) entry->value.write(source.weights.at(entry->parameter.name).values);
  const std::vector<NamedResult> results = program.results;
  const std::vector<Tensor> all = program.tensors;
  const auto executable = cpuBackend().compile(std::move(program), store, {});
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> kept;
  std::vector<TensorFile::Tensor> tensors;
  kept.reserve(8);
  std::string indices;
  for (const DatasetInput& input : datasetInputs(flat)) {
    if (executable->program().findTensor(input.node, TensorRole::input) == kNoTensor) continue;
    std::vector<float>& values = kept.emplace_back(static_cast<std::size_t>(3 * input.shape.elements()));
    const std::span<std::byte> bytes = executable->input(input.node);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = input.type == DataType::f32 ? normal(random) : static_cast<float>(random() % 5);
      const auto whole = static_cast<std::int32_t>(values[i]);
      std::memcpy(bytes.data() + 4 * i, input.type == DataType::f32 ? static_cast<const void*>(&values[i]) : &whole, 4);
    }
    tensors.push_back({input.node, input.shape.prepended(3), values});
    if (input.type != DataType::f32) indices += input.node + "\n";
  }
  TensorFile::write(inputs, tensors, {});
  writeFileAtomically(inputs.parent_path() / "indices.txt", indices);
  const StepNumber step = executable->run({});
  std::vector<float> outputs;
  for (const NamedResult& result : results) {
    std::vector<float> values(static_cast<std::size_t>(all[static_cast<std::size_t>(result.tensor)].shape.elements()));
    executable->readResult(result.name, std::span<float>(values), step);
    outputs.insert(outputs.end(), values.begin(), values.end());
  }
  return outputs;
}

constexpr const char* kHarness = R"py(
import sys, torch
sys.path.insert(0, '.')
import model
net = model.load()
given = model.read_safetensors('inputs.safetensors')
import inspect
names = list(inspect.signature(net.forward).parameters)
values = [given[n] if n in given else given[n.rstrip('_')] for n in names]
indices = open('indices.txt').read().split()
values = [v.long() if n.rstrip('_') in indices else v for n, v in zip(names, values)]
with torch.no_grad():
    out = net(*values)
out = out if isinstance(out, tuple) else (out,)
open('outputs.txt', 'w').write(' '.join('%.9g' % v for o in out for v in o.flatten().tolist()))
)py";

void expectSame(const Project& project, const std::string& name, Depth depth = Depth::shallow) {
  SCOPED_TRACE(name);
  const TestFolder folder("pytorch_" + name);
  const ExportSource source = sourceOf(project, depth);
  const auto written = exportPyTorch(source, folder.path() / "model.py");
  ASSERT_EQ(written.size(), 2u);
  const std::vector<float> wanted = ours(source, folder.path() / "inputs.safetensors");
  writeFileAtomically(folder.path() / "run.py", std::string_view(kHarness));
  ASSERT_EQ(std::system(fmt::format("cd '{}' && '{}' run.py > log.txt 2>&1", folder.path().string(), python()).c_str()),
            0)
      << readFile(folder.path() / "log.txt") << readFile(folder.path() / "model.py");
  std::istringstream text(readFile(folder.path() / "outputs.txt"));
  std::vector<float> found;
  for (std::string word; text >> word;) found.push_back(std::stof(word));
  ASSERT_EQ(found.size(), wanted.size());
  double largest = 0, farthest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max<double>(largest, std::abs(wanted[i]));
    farthest = std::max<double>(farthest, std::abs(wanted[i] - found[i]));
  }
  EXPECT_GT(largest, 1e-3) << "outputs that are all 0 prove nothing";
  EXPECT_LT(farthest, 1e-4 * std::max(largest, 1.0)) << readFile(folder.path() / "model.py");
}

Project chain(const std::string& input, const std::string& nodes) {
  const Json list = parseJson("[" + input + "," + nodes + "]", "nodes");
  Json edges = Json::array();
  for (std::size_t i = 1; i < list.size(); ++i) edges.push_back({list[i - 1]["id"], list[i]["id"]});
  const ReadProject read =
      readProject(Json{{"loom", 1}, {"networks", {{"main", {{"nodes", list}, {"edges", edges}}}}}}.dump(), "chain");
  for (const Problem& problem : read.problems) ADD_FAILURE() << problem.message;
  return read.project;
}

TEST(PyTorch, LayersGiveTheSameNumbers) {
  if (!hasTorch()) GTEST_SKIP() << python() << " has no torch: set GRADLOOM_TORCH to one that has";
  const std::string image = R"({"id":"x","layer":"Input","shape":[2,9,10]})";
  expectSame(
      chain(
          image,
          R"({"id":"c","layer":"Convolution","channels":4,"kernel":[3,5],"stride":[2,1]},{"id":"b","layer":"BatchNormalization","epsilon":0.01},{"id":"r","layer":"ReLU"},
      {"id":"d","layer":"Convolution","channels":6,"groups":2,"dilation":[2,1],"padding":"valid","bias":false},{"id":"e","layer":"ELU","alpha":0.7},{"id":"p","layer":"MaxPooling","padding":"same","stride":[1,2]},
      {"id":"l","layer":"LeakyReLU"},{"id":"f","layer":"Linear","outputs":5},{"id":"s","layer":"Softmax"})"),
      "image");
  expectSame(
      chain(
          image,
          R"({"id":"t","layer":"Deconvolution","channels":3},{"id":"a","layer":"AveragePooling","kernel":[3,3],"padding":"same","include_padding":false},{"id":"g","layer":"GELU"},
      {"id":"n","layer":"LocalResponseNormalization"},{"id":"u","layer":"Deconvolution","channels":2,"kernel":[3,3],"stride":[2,2],"padding":"explicit","pads":[1,0,0,1],"output_padding":[1,1]},
      {"id":"w","layer":"Slice","axis":1,"start":1,"length":5,"step":2},{"id":"k","layer":"Transpose","axes":[2,0,1]},{"id":"v","layer":"GlobalAveragePooling"},{"id":"z","layer":"SELU"})"),
      "shapes");
  expectSame(
      chain(
          R"({"id":"tokens","layer":"Input","shape":[6],"type":"index"})",
          R"({"id":"m","layer":"Embedding","vocabulary":7,"channels":8},{"id":"o","layer":"PositionEmbedding"},{"id":"h","layer":"MultiHeadAttention","heads":2,"causal":true},
      {"id":"n","layer":"LayerNormalization"},{"id":"i","layer":"LSTM","units":5,"direction":"both"},{"id":"g","layer":"GRU","units":4,"direction":"backward"},{"id":"class","layer":"Linear","outputs":3,"base_axis":1},
      {"id":"q","layer":"LSTM","units":3,"returns":"last"},{"id":"y","layer":"SiLU"})"),
      "sequence");
  expectSame(
      chain(
          R"({"id":"x","layer":"Input","shape":[2,5,5]})",
          R"({"id":"a","layer":"ImageAugmentation","distortion":0.5},{"id":"e","layer":"RandomErase"},{"id":"m","layer":"MeanSubtraction","base_axis":1},{"id":"i","layer":"MatrixInverse"},
      {"id":"c","layer":"CumulativeSum","axis":-1,"reverse":true},{"id":"o","layer":"Modulo","value":0.75},{"id":"f","layer":"Modulo","value":0.5,"sign_of_a":true},{"id":"u","layer":"Linear","outputs":3})"),
      "inverse");
}

TEST(PyTorch, BranchesUnitsAndSharedWeights) {
  if (!hasTorch()) GTEST_SKIP() << python() << " has no torch: set GRADLOOM_TORCH to one that has";
  const ReadProject read = readProject(R"({"loom":1,"networks":{"main":{"nodes":[
    {"id":"x","layer":"Input","shape":[3,8,8]},{"id":"one","layer":"Input","shape":[4,8,8],"source":"constant","value":0.25},{"id":"stage","unit":"Residual","channels":4,"repeat":2},{"id":"again","layer":"Convolution","channels":4,"shares":"twin"},
    {"id":"twin","layer":"Convolution","channels":4},{"id":"sum","layer":"Add"},{"id":"both","layer":"Concatenate"},{"id":"fc","layer":"Linear","outputs":3},
    {"id":"y","layer":"Input","shape":[1],"type":"label"},{"id":"loss","layer":"SoftmaxCrossEntropy"}],
    "edges":[["x","stage"],["stage","twin"],["twin","again"],["again","sum"],["stage","sum"],["one","sum"],["sum","both"],["twin","both"],["both","fc"],["fc","loss"],["y","loss.target"]]}},
    "units":{"Residual":{"arguments":{"channels":8},"nodes":[{"id":"in","layer":"Input"},{"id":"a","layer":"Convolution","channels":"=channels"},{"id":"n","layer":"BatchNormalization"},
      {"id":"r","layer":"ReLU"},{"id":"side","layer":"Convolution","channels":"=channels","kernel":[1,1]},{"id":"add","layer":"Add"},{"id":"out","layer":"Output"}],
      "edges":[["in","a"],["a","n"],["n","r"],["r","add"],["in","side"],["side","add"],["add","out"]]}}})",
                                       "units");
  for (const Problem& problem : read.problems) ADD_FAILURE() << problem.message;
  expectSame(read.project, "units");
}

// Drawn with units and repeats: what a person gets who exports a sample.
TEST(PyTorch, SamplesGiveTheSameNumbers) {
  if (!hasTorch()) GTEST_SKIP() << python() << " has no torch: set GRADLOOM_TORCH to one that has";
  for (const char* name : {"resnet_50", "transformer", "digits"}) {
    const std::filesystem::path file =
        std::filesystem::path(GRADLOOM_SOURCE_DIR) / "samples" / name / (std::string(name) + ".loom");
    ASSERT_TRUE(std::filesystem::exists(file)) << file;
    expectSame(loadProject(file), name, Depth::deep);
  }
}

// Noise is drawn anew by torch: the script runs, and its outputs have the shape of ours.
TEST(PyTorch, NoiseIsDrawn) {
  const TestFolder folder("pytorch_noise");
  const Project project = loadProject(std::filesystem::path(GRADLOOM_SOURCE_DIR) / "samples/unet/unet.loom");
  exportPyTorch(sourceOf(project, Depth::deep), folder.path() / "net.py");
  EXPECT_THAT(readFile(folder.path() / "net.py"), testing::HasSubstr("torch.rand"));
}

// A script is read by a person: a module for each layer, chains under one name, the parts of the drawing told apart.
TEST(PyTorch, TheScriptIsReadable) {
  const TestFolder folder("pytorch_text");
  const Project project = chain(
      R"({"id":"x","layer":"Input","shape":[1,8,8]})",
      R"({"id":"conv1","layer":"Convolution","channels":4},{"id":"relu1","layer":"ReLU"},{"id":"fc","layer":"Linear","outputs":2})");
  exportPyTorch(sourceOf(project, Depth::shallow), folder.path() / "net.py");
  const std::string text = readFile(folder.path() / "net.py");
  for (const char* line :
       {"        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)\n", "        self.fc = nn.Linear(256, 2)\n",
        "    def forward(self, x):\n", "        h = self.conv1(x)\n", "        h = F.relu(h)\n",
        "        fc = self.fc(h.flatten(1))\n        return fc\n", "Path(__file__).with_name('net.safetensors')"})
    EXPECT_THAT(text, testing::HasSubstr(line));
  const TensorFile weights(folder.path() / "net.safetensors");
  EXPECT_NE(weights.find("conv1.weight"), nullptr);
}

}  // namespace
}  // namespace loom

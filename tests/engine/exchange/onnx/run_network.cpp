#include "tests/engine/exchange/onnx/run_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/base/error.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/network/analysis.h"
#include "engine/run/safetensors.h"

namespace loom {

ValuesByName runNetwork(const Network& network, const std::vector<ImportedWeight>* weights,
                        const ValuesByName& inputs) {
  const std::int64_t batch = inputs.begin()->second.shape[0];
  Program program = lowerForPrediction(network, {.batch = batch});
  const auto backend = makeCpuBackend(1);
  ParameterStore store(1, backend->makeMemory());
  store.ensure(program.parameters);
  std::size_t used = 0;
  if (weights) {
    for (const ImportedWeight& weight : *weights) {
      if (!store.has(weight.name)) continue;
      EXPECT_EQ(store.at(weight.name).parameter.shape, weight.shape) << weight.name;
      if (store.at(weight.name).parameter.shape != weight.shape) return {};
      store.at(weight.name).value.write(weight.values);
      ++used;
    }
    EXPECT_EQ(used, program.parameters.size()) << "every weight comes from the file";
    EXPECT_EQ(used, weights->size()) << "every weight of the file is used";
  }
  const auto executable = backend->compile(program, store, {.threads = 1});
  for (const Tensor& tensor : program.tensors) {
    if (tensor.role != TensorRole::input) continue;
    const auto given = inputs.find(tensor.name);
    EXPECT_NE(given, inputs.end()) << "no values for the input " << tensor.name;
    if (given == inputs.end()) return {};
    EXPECT_EQ(given->second.shape, tensor.shape) << tensor.name;
    const std::span<std::byte> to = executable->input(tensor.name);
    EXPECT_EQ(to.size(), 4 * given->second.values.size());
    if (tensor.type == DataType::i32) {
      std::vector<std::int32_t> wholes(given->second.values.begin(), given->second.values.end());
      std::memcpy(to.data(), wholes.data(), to.size());
    } else {
      std::memcpy(to.data(), given->second.values.data(), to.size());
    }
  }
  (void)executable->run({});
  ValuesByName outputs;
  for (const NamedResult& result : program.results) {
    const Shape& shape = program.tensor(result.tensor).shape;
    NamedValues& output = outputs[result.name];
    output.shape = shape;
    output.values.resize(static_cast<std::size_t>(shape.elements()));
    executable->readResult(result.name, std::span<float>(output.values));
  }
  return outputs;
}

ValuesByName valuesIn(const std::filesystem::path& file, const std::string& prefix) {
  ValuesByName values;
  const TensorFile tensors(file);
  for (const TensorFile::Tensor& tensor : tensors.tensors())
    if (tensor.name.starts_with(prefix))
      values[tensor.name.substr(prefix.size())] = {tensor.shape, {tensor.values.begin(), tensor.values.end()}};
  return values;
}

double largestDifference(const NamedValues& a, const NamedValues& b) {
  if (a.values.size() != b.values.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a.values[i]) - b.values[i]);
    if (!(difference <= largest)) largest = std::isnan(difference) ? INFINITY : difference;
  }
  return largest;
}

}  // namespace loom

#include "tests/engine/layers/examples.h"

#include "engine/base/error.h"

namespace loom {

const std::vector<LayerExample>& layerExamples() {
  static const std::vector<LayerExample> examples = {
      {"Input", R"({"shape": [3, 5]})", {}, {{3, 5}}},
      {"Input", R"({"shape": [3], "type": "label"})", {}, {{3}}},
      {"Input", R"({"shape": [4], "source": "normal", "deviation": 2})", {}, {{4}}},
      {"Input", R"({"shape": [2, 3], "source": "uniform", "low": 1, "high": 3})", {}, {{2, 3}}},
      {"Input", R"({"shape": [1], "source": "constant", "value": 1})", {}, {{1}}},
      {"Convolution", R"({"channels": 3})", {{2, 5, 4}}, {{3, 5, 4}}},
      {"Convolution",
       R"({"channels": 4, "kernel": [3, 2], "stride": [2, 1], "padding": "valid", "bias": false})",
       {{2, 7, 5}},
       {{4, 3, 4}}},
      {"Convolution",
       R"({"channels": 4, "groups": 2, "dilation": 2, "padding": "explicit", "pads": [2, 1]})",
       {{2, 6, 7}},
       {{4, 6, 5}}},
      {"Convolution", R"({"channels": 2, "padding": "explicit", "pads": [1, 0, 2, 1]})", {{1, 4, 4}}, {{2, 5, 3}}},
      {"Convolution",
       R"({"channels": 2, "kernel": 4, "stride": 3, "initializer": "pytorch_uniform"})",
       {{2, 8}},
       {{2, 3}}},
      {"Convolution", R"({"channels": 2, "kernel": [2, 2, 2], "padding": "valid"})", {{1, 3, 3, 2}}, {{2, 2, 2, 1}}},
      {"Deconvolution", R"({"channels": 3})", {{2, 3, 4}}, {{3, 6, 8}}},
      {"Deconvolution", R"({"channels": 2, "kernel": 3, "stride": 2, "padding": "valid"})", {{3, 3, 2}}, {{2, 7, 5}}},
      {"Deconvolution",
       R"({"channels": 4, "kernel": 3, "stride": 2, "padding": "explicit", "pads": 1, "output_padding": 1, "groups": 2, "bias": false})",
       {{2, 3, 3}},
       {{4, 6, 6}}},
      {"Deconvolution", R"({"channels": 2, "kernel": 2, "stride": 3})", {{1, 4}}, {{2, 12}}},
      {"Linear", R"({"outputs": 4})", {{3, 2, 2}}, {{4}}},
      {"Linear", R"({"outputs": 5, "base_axis": 1, "bias": false})", {{3, 4}}, {{3, 5}}},
      {"Linear", R"({"outputs": 5, "base_axis": 1, "initializer": "pytorch_uniform"})", {{3, 2, 2}}, {{3, 5}}},
      {"Embedding", R"({"vocabulary": 7, "channels": 3})", {{5}}, {{5, 3}}, 7},
      {"PositionEmbedding", "{}", {{4, 3}}, {{4, 3}}},
      {"BatchNormalization", "{}", {{3, 4, 2}}, {{3, 4, 2}}},
      {"BatchNormalization", R"({"scale": false, "axis": -1})", {{4, 3}}, {{4, 3}}},
      {"BatchNormalization", R"({"shift": false, "momentum": 0.5, "epsilon": 0.01})", {{5}}, {{5}}},
      {"LayerNormalization", "{}", {{3, 5}}, {{3, 5}}},
      {"LayerNormalization", R"({"axes": 2, "scale": false, "epsilon": 0.01})", {{2, 3, 4}}, {{2, 3, 4}}},
      {"LayerNormalization", R"({"axes": 2, "shift": false})", {{2, 3, 4}}, {{2, 3, 4}}},
      {"LocalResponseNormalization", R"({"size": 3, "alpha": 0.5, "k": 2})", {{4, 2, 3}}, {{4, 2, 3}}},
      {"Dropout", R"({"probability": 0.3})", {{4, 3}}, {{4, 3}}},
      {"ReLU", "{}", {{3, 4}}, {{3, 4}}},
      {"LeakyReLU", R"({"alpha": 0.2})", {{3, 4}}, {{3, 4}}},
      {"ELU", R"({"alpha": 0.7})", {{3, 4}}, {{3, 4}}},
      {"SELU", "{}", {{3, 4}}, {{3, 4}}},
      {"GELU", "{}", {{3, 4}}, {{3, 4}}},
      {"GELU", R"({"approximate": true})", {{3, 4}}, {{3, 4}}},
      {"SiLU", "{}", {{3, 4}}, {{3, 4}}},
      {"Sigmoid", "{}", {{3, 4}}, {{3, 4}}},
      {"Tanh", "{}", {{3, 4}}, {{3, 4}}},
      {"Softmax", "{}", {{3, 4}}, {{3, 4}}},
      {"Softmax", R"({"axis": 0})", {{3, 2, 2}}, {{3, 2, 2}}},
      {"MaxPooling", "{}", {{2, 5, 4}}, {{2, 2, 2}}},
      {"MaxPooling", R"({"kernel": 3, "stride": 2, "padding": "same"})", {{2, 5, 4}}, {{2, 3, 2}}},
      {"AveragePooling",
       R"({"kernel": 3, "stride": [2, 1], "padding": "explicit", "pads": 1})",
       {{2, 5, 4}},
       {{2, 3, 4}}},
      {"AveragePooling",
       R"({"kernel": 3, "stride": 1, "padding": "same", "include_padding": false})",
       {{2, 5}},
       {{2, 5}}},
      {"GlobalAveragePooling", "{}", {{3, 4, 2}}, {{3}}},
      {"GlobalAveragePooling", R"({"keep_axes": true})", {{3, 4, 2}}, {{3, 1, 1}}},
      {"Add", "{}", {{3, 4}, {3, 4}, {3, 4}}, {{3, 4}}},
      {"Add", "{}", {{1, 4}, {3, 4}}, {{3, 4}}},
      {"Multiply", "{}", {{3, 2, 2}, {3, 1, 1}}, {{3, 2, 2}}},
      {"Concatenate", "{}", {{2, 3}, {1, 3}, {3, 3}}, {{6, 3}}},
      {"Concatenate", R"({"axis": -1})", {{2, 3}, {2, 1}}, {{2, 4}}},
      {"Flatten", "{}", {{2, 3, 2}}, {{12}}},
      {"Flatten", R"({"base_axis": 1})", {{2, 3, 2}}, {{2, 6}}},
      {"Reshape", R"({"shape": [3, -1]})", {{2, 3, 2}}, {{3, 4}}},
      {"Transpose", "{}", {{2, 3, 4}}, {{4, 3, 2}}},
      {"Transpose", R"({"axes": [1, 2, 0]})", {{2, 3, 4}}, {{3, 4, 2}}},
      {"Slice", R"({"axis": -1, "start": 1, "length": 2, "step": 2})", {{2, 5}}, {{2, 2}}},
      {"Slice", R"({"start": -2})", {{5, 2}}, {{2, 2}}},
      {"LSTM", R"({"units": 3})", {{4, 2}}, {{4, 3}}},
      {"LSTM", R"({"units": 2, "returns": "last", "direction": "both"})", {{3, 2}}, {{4}}},
      {"LSTM", R"({"units": 2, "returns": "last", "direction": "backward", "bias": false})", {{3, 2}}, {{2}}},
      {"GRU", R"({"units": 3})", {{4, 2}}, {{4, 3}}},
      {"GRU", R"({"units": 2, "direction": "both"})", {{3, 2}}, {{3, 4}}},
      {"GRU", R"({"units": 2, "returns": "last", "bias": false})", {{3, 2}}, {{2}}},
      {"MultiHeadAttention", R"({"heads": 2})", {{3, 4}, {}, {}}, {{3, 4}}},
      {"MultiHeadAttention", R"({"heads": 3, "causal": true, "bias": false})", {{4, 6}, {4, 6}, {}}, {{4, 6}}},
      {"MultiHeadAttention", R"({"heads": 1})", {{3, 2}, {3, 2}, {3, 2}}, {{3, 2}}},
      {"SoftmaxCrossEntropy", "{}", {{4}, {1}}, {{}}, 4},
      {"SoftmaxCrossEntropy", R"({"smoothing": 0.1, "definition": "sony", "weight": 0.5})", {{3, 4}, {3}}, {{}}, 4},
      {"BinaryCrossEntropy", "{}", {{3, 2}, {3, 2}}, {{}}},
      {"BinaryCrossEntropy", R"({"from": "probabilities", "weight": 2})", {{3}, {3}}, {{}}},
      {"MeanSquaredError", "{}", {{3, 2}, {3, 2}}, {{}}},
      {"HuberLoss", R"({"delta": 0.3})", {{3, 2}, {3, 2}}, {{}}},
      {"Accuracy", "{}", {{4}, {1}}, {{}}, 4},
      {"TopKAccuracy", R"({"k": 2})", {{3, 4}, {3}}, {{}}, 4},
      {"Error", "{}", {{4}, {1}}, {{}}, 4},
      {"BinaryAccuracy", "{}", {{3}, {3}}, {{}}},
      {"BinaryAccuracy", R"({"from": "probabilities", "threshold": 0.4})", {{3}, {3}}, {{}}},
  };
  return examples;
}

LoweredExample lowerExample(const LayerExample& example, std::int64_t batch, bool training) {
  const LayerDefinition* layer = findLayer(example.layer);
  if (!layer) throwError(ErrorCode::internal, "no layer '{}'", example.layer);
  const Json given = parseJson(example.values, example.layer);
  const Values values(layer->entry, given);
  ProgramBuilder builder(batch, 1, training);
  std::vector<Shape> wired;
  std::vector<TensorId> inputs;
  for (std::size_t i = 0; i < example.inputs.size(); ++i) {
    if (example.inputs[i].rank() == 0) {
      inputs.push_back(kNoTensor);
      continue;
    }
    const bool whole = example.labels > 0 && i + 1 == example.inputs.size();
    wired.push_back(example.inputs[i]);
    inputs.push_back(
        builder.input(std::to_string(i), example.inputs[i].prepended(batch), whole ? DataType::i32 : DataType::f32));
  }
  LoweredExample result;
  result.shapes = layer->shapes({"it", values, wired});
  builder.setOrigin("it");
  result.outputs = layer->lower({"it", "it", values, inputs, builder});
  if (builder.program().results.empty()) builder.result("it", "output", result.outputs[0]);
  result.program = builder.take();
  return result;
}

}  // namespace loom

#pragma once
// ONNX nodes to layers, one after the other. Each operator is a rule; rules stand by kind in translate_*.cpp. What a
// rule refuses by an Error is told as untranslatable; where the shape of its output is known all the same, an Input
// stands in for it, so that what follows is drawn.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "engine/exchange/onnx/drawing.h"
#include "engine/exchange/onnx/facts.h"
#include "engine/exchange/onnx/view.h"

namespace loom::onnx_file {

// softmax(scale q kᵀ + mask) on its way to be a MultiHeadAttention: nothing of it is drawn before its values come.
struct Scores {
  View query, key;  // (..., T, d) each
  Extents extents;  // of the ONNX value
  double scale = 1;
  bool causal = false, softmax = false;
};

// Weights of RNN, LSTM, GRU as the file has them, and the sequence that they read, steps x columns.
struct RecurrentWeights {
  const Constant &input, &hidden;
  const Constant* bias;
  Endpoint x;
  std::string direction;
};

class Translator {
 public:
  Translator(OnnxGraph& graph, const Facts& facts, Network& network, ImportReport& report)
      : m_graph(graph), m_facts(facts), m_drawing(network), m_network(network), m_report(report) {}
  void run();
  std::vector<ImportedWeight> takeWeights() { return m_drawing.takeWeights(); }

  using Rule = void (Translator::*)(const OnnxNode&);

 private:
  friend void addLinearRules(std::unordered_map<std::string, Rule>& rules);
  friend void addShapeRules(std::unordered_map<std::string, Rule>& rules);
  friend void addElementwiseRules(std::unordered_map<std::string, Rule>& rules);
  friend void addAxesRules(std::unordered_map<std::string, Rule>& rules);
  friend void addSequenceRules(std::unordered_map<std::string, Rule>& rules);
  friend void addLearningRules(std::unordered_map<std::string, Rule>& rules);

  // translator.cpp
  std::set<const OnnxNode*> countReaders();
  void drawInput(const OnnxValue& input);
  void translate(const OnnxNode& node);
  void standIn(const OnnxNode& node, const std::string& reason);
  void finish();
  void tell(ReportItem::Kind kind, const OnnxNode& node, const std::string& drawn, std::string sentence);
  [[noreturn]] static void refuse(std::string sentence);

  // What rules are written with. A value that was fed: as a view; drawn, with the sample that the view has. All throw
  // where it is not there or not such.
  const View& view(const std::string& value) const;
  Endpoint drawn(const std::string& value, const OnnxNode& node);
  const Constant& constant(const OnnxNode& node, std::size_t input) const;  // must be there and known
  const Constant* optionalConstant(const OnnxNode& node, std::size_t input) const;
  void give(const OnnxNode& node, View view, std::size_t output = 0);
  // A layer with one input and one output of the same axes; reports it.
  void map(const OnnxNode& node, const std::string& layer, Json values = Json::object(),
           ReportItem::Kind kind = ReportItem::Kind::translated, const std::string& sentence = {});
  std::string wish(const OnnxNode& node) const;  // an id: by its weights' name, or its own
  std::size_t readersOf(const std::string& value) const;
  // A constant as a Parameter with this sample; trained where it is a weight of the file.
  Endpoint parameter(const OnnxNode& node, const std::string& value, const Extents& sample);
  // A constant beside a fed value of these axes: without the batch, which it must not depend on. Throws where it does.
  // Alike: it may hold the same once for each sample of a batch that the file fixes; parameter() takes the first.
  enum class OverBatch { absent, alike };
  Extents withoutBatch(const Constant& constant, const View& like, OverBatch over = OverBatch::absent) const;
  // The value with its batch in an axis of its own, in front.
  void wantBatchFirst(const View& view) const;

  // translate_linear.cpp
  void linear(const OnnxNode& node);
  void gemm(const OnnxNode& node);
  void einsum(const OnnxNode& node);
  void matmul(const OnnxNode& node);
  void drawLinear(const OnnxNode& node, const std::string& x, const Constant& weight, bool outputsFirst,
                  std::vector<float> bias, double factor);
  void convolution(const OnnxNode& node);
  void deconvolution(const OnnxNode& node);
  void batchNormalization(const OnnxNode& node);
  void layerNormalization(const OnnxNode& node);
  void channelNormalization(const OnnxNode& node);
  void localResponse(const OnnxNode& node);
  void embedding(const OnnxNode& node);
  // The Input whose numbers these are, just as they are: it becomes one of indices. Throws where they are calculated.
  Endpoint indicesOf(const std::string& value);
  Json windowValues(const OnnxNode& node, const Extents& kernel, const Shape& sample, bool dilates, bool ceiling);

  // translate_shape.cpp
  void reshape(const OnnxNode& node);
  void transpose(const OnnxNode& node);
  void identity(const OnnxNode& node);
  void cast(const OnnxNode& node);
  void quantize(const OnnxNode& node);
  void dequantize(const OnnxNode& node);
  void concat(const OnnxNode& node);
  void split(const OnnxNode& node);
  void slice(const OnnxNode& node);
  void gather(const OnnxNode& node);
  void pooling(const OnnxNode& node);
  void globalPooling(const OnnxNode& node);

  // translate_axes.cpp
  void reduceMean(const OnnxNode& node);
  void reduce(const OnnxNode& node);
  void pad(const OnnxNode& node);
  void resize(const OnnxNode& node);
  void tile(const OnnxNode& node);
  void blocks(const OnnxNode& node);
  void place(const OnnxNode& node);
  void cumulativeSum(const OnnxNode& node);
  void topK(const OnnxNode& node);
  void oneHot(const OnnxNode& node);
  // What a layer gives whose sample is the ONNX value's without the batch, which stands where it stood before.
  void giveAs(const OnnxNode& node, const std::string& id, const View& from, std::size_t output = 0);
  void giveSliced(const OnnxNode& node, const std::vector<Cut>& cuts, std::size_t output);

  // translate_elementwise.cpp
  void activation(const OnnxNode& node);
  void function(const OnnxNode& node);
  void softmax(const OnnxNode& node);
  void dropout(const OnnxNode& node);
  void where(const OnnxNode& node);
  void prelu(const OnnxNode& node);
  void arithmetic(const OnnxNode& node);
  void arithmeticWithConstant(const OnnxNode& node, std::size_t fed);
  void twoValues(const OnnxNode& node, const std::string& layer);
  Endpoint truncated(const Endpoint& x, const OnnxNode& node);  // towards zero

  // translate_recurrent.cpp
  void recurrent(const OnnxNode& node);
  void drawCells(const OnnxNode& node, const RecurrentWeights& weights);

  // translate_learning.cpp: operators of ai.onnx.ml
  void scaler(const OnnxNode& node);
  void imputer(const OnnxNode& node);
  void binarizer(const OnnxNode& node);
  void normalizer(const OnnxNode& node);
  void linearModel(const OnnxNode& node);
  void columns(const OnnxNode& node);
  void mapOfProbabilities(const OnnxNode& node);
  // x with a layer of two inputs and a number for each column, or of one input and a number.
  Endpoint withColumns(const OnnxNode& node, const Endpoint& x, const char* layer, const std::vector<float>& numbers);
  Endpoint transformed(const OnnxNode& node, const Endpoint& x);  // by its post_transform

  // translate_attention.cpp
  void scores(const OnnxNode& node);
  bool onScores(const OnnxNode& node);  // scale, mask, softmax of scores; false: not one of these
  void drawScores(const OnnxNode& node, const std::string& value);  // as layers of their own after all
  void drawProduct(const OnnxNode& node, const View& a, const View& b, bool transposeB);
  void mixed(const OnnxNode& node);
  bool takeOutputProjection(const OnnxNode& node, const std::string& x, const Constant& weight, bool outputsFirst,
                            const std::vector<float>& bias);

  OnnxGraph& m_graph;
  const Facts& m_facts;
  Drawing m_drawing;
  Network& m_network;
  ImportReport& m_report;
  std::map<std::string, View> m_views;
  std::map<std::string, Scores> m_scores;
  std::map<std::string, std::size_t> m_readers;      // of each value, among nodes that an output depends on
  std::set<std::string> m_quantised;                 // values that QuantizeLinear gives
  std::set<std::string> m_spare;                     // drawn nodes that a pattern made needless
  std::set<std::string> m_openAttention;             // MultiHeadAttention whose last projection may still come
  std::map<std::string, std::string> m_wholeInputs;  // nodes of graph inputs of whole numbers, by their names
};

}  // namespace loom::onnx_file

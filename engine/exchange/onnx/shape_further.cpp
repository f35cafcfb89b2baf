// Shapes of operators that have no counterpart here, so that what follows a stand-in is drawn.
#include <functional>
#include <set>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/exchange/onnx/shape_parts.h"

namespace loom::onnx_file {
namespace {

class FurtherRules : public RuleParts {
 public:
  using RuleParts::RuleParts;

  Answer run() {
    static const std::set<std::string> first{"Shrink",
                                             "IsInf",
                                             "BitwiseNot",
                                             "EyeLike",
                                             "ReverseSequence",
                                             "Bernoulli",
                                             "RandomNormalLike",
                                             "RandomUniformLike",
                                             "CumProd",
                                             "RotaryEmbedding",
                                             "ScatterElements",
                                             "ScatterND",
                                             "Scatter",
                                             "TensorScatter",
                                             "QuantizeLinear",
                                             "DequantizeLinear",
                                             "com.microsoft.BiasGelu",
                                             "com.microsoft.SkipLayerNormalization",
                                             "com.microsoft.SkipSimplifiedLayerNormalization",
                                             "com.microsoft.RotaryEmbedding",
                                             "ai.onnx.ml.Scaler",
                                             "ai.onnx.ml.Normalizer",
                                             "ai.onnx.ml.Imputer",
                                             "ai.onnx.ml.Binarizer",
                                             "ai.onnx.ml.LabelEncoder",
                                             "ai.onnx.ml.ZipMap"};
    if (first.count(m_node.op)) return known(0) ? Answer{{of(0)}} : Answer{};
    static const std::set<std::string> pairs{"BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"};
    if (pairs.count(m_node.op)) return together();
    static const std::unordered_map<std::string, Answer (FurtherRules::*)()> table{
        {"GatherElements", &FurtherRules::second},
        {"GatherND", &FurtherRules::gatherPlaces},
        {"Det", &FurtherRules::determinant},
        {"GridSample", &FurtherRules::gridSample},
        {"GlobalLpPool", &FurtherRules::globalPooling},
        {"RoiAlign", &FurtherRules::regions},
        {"MaxRoiPool", &FurtherRules::regions},
        {"DynamicQuantizeLinear", &FurtherRules::dynamicQuantisation},
        {"Attention", &FurtherRules::attention},
        {"AffineGrid", &FurtherRules::affineGrid},
        {"ai.onnx.ml.LinearRegressor", &FurtherRules::regression},
        {"ai.onnx.ml.SVMRegressor", &FurtherRules::regression},
        {"ai.onnx.ml.TreeEnsembleRegressor", &FurtherRules::regression},
        {"ai.onnx.ml.LinearClassifier", &FurtherRules::classification},
        {"ai.onnx.ml.SVMClassifier", &FurtherRules::classification},
        {"ai.onnx.ml.TreeEnsembleClassifier", &FurtherRules::classification},
        {"ai.onnx.ml.ArrayFeatureExtractor", &FurtherRules::columns},
        {"ai.onnx.ml.FeatureVectorizer", &FurtherRules::sideBySide}};
    const auto rule = table.find(m_node.op);
    if (rule != table.end()) return (this->*rule->second)();
    return asAnother();
  }

 private:
  // Those that have the shapes of an operator which is known, with other inputs between.
  Answer asAnother() {
    struct Like {
      const char* op;
      std::vector<std::size_t> inputs;
    };
    static const std::unordered_map<std::string, Like> table{{"QLinearConv", {"Conv", {0, 3}}},
                                                             {"ConvInteger", {"Conv", {0, 1}}},
                                                             {"com.microsoft.FusedConv", {"Conv", {0, 1}}},
                                                             {"QLinearMatMul", {"MatMul", {0, 3}}},
                                                             {"MatMulInteger", {"MatMul", {0, 1}}},
                                                             {"com.microsoft.FusedMatMul", {"MatMul", {0, 1}}},
                                                             {"com.microsoft.FusedGemm", {"Gemm", {0, 1}}}};
    const auto found = table.find(m_node.op);
    if (found == table.end()) return {};
    if (m_node.op == "com.microsoft.FusedMatMul" &&
        (m_node.integer("transA", 0) != 0 || m_node.integer("transB", 0) != 0))
      return {};
    OnnxNode like = m_node;
    like.op = found->second.op;
    like.inputs.clear();
    for (const std::size_t input : found->second.inputs) like.inputs.push_back(m_node.input(input));
    return shapesOf(like, m_facts, m_opset);
  }

  Answer together() {
    if (!known(0) || !known(1)) return {};
    const auto extents = stretched(of(0), of(1));
    return extents ? Answer{{*extents}} : Answer{};
  }

  Answer second() { return known(1) ? Answer{{of(1)}} : Answer{}; }

  Answer gatherPlaces() {
    const std::int64_t shared = m_node.integer("batch_dims", 0);
    if (!known(0) || !known(1) || rank(1) == 0 || holdsBatch(of(1).back()) || shared < 0 ||
        shared > static_cast<std::int64_t>(rank()))
      return {};
    const std::int64_t skipped = shared + of(1).back();
    if (skipped < 0 || skipped > static_cast<std::int64_t>(rank())) return {};
    Extents extents(of(1).begin(), of(1).end() - 1);
    extents.insert(extents.end(), of(0).begin() + skipped, of(0).end());
    return {{extents}};
  }

  Answer determinant() {
    if (!known(0) || rank() < 2) return {};
    return {{Extents(of(0).begin(), of(0).end() - 2)}};
  }

  Answer gridSample() {
    if (!known(0) || !known(1) || rank() < 3 || rank(1) != rank()) return {};
    Extents extents{of(0)[0], of(0)[1]};
    extents.insert(extents.end(), of(1).begin() + 1, of(1).end() - 1);
    return {{extents}};
  }

  Answer globalPooling() {
    if (!known(0) || rank() < 2) return {};
    Extents extents(rank(), 1);
    extents[0] = of(0)[0];
    extents[1] = of(0)[1];
    return {{extents}};
  }

  Answer regions() {
    if (!known(0) || !known(1) || rank() != 4 || rank(1) != 2) return {};
    std::int64_t height = m_node.integer("output_height", 1), width = m_node.integer("output_width", 1);
    if (const auto pooled = m_node.integers("pooled_shape"); pooled.size() == 2) {
      height = pooled[0];
      width = pooled[1];
    }
    if (height < 1 || width < 1) return {};
    return {{{of(1)[0], of(0)[1], height, width}}};
  }

  Answer dynamicQuantisation() {
    if (!known(0)) return {};
    std::vector<Extents> all{of(0), {}, {}};
    all.resize(std::min(all.size(), m_node.outputs.size()));
    return all;
  }

  // Queries as they are, with the width of the values.
  Answer attention() {
    if (!known(0) || !known(2) || rank() != rank(2)) return {};
    Extents extents = of(0);
    if (rank() == 4) {
      extents.back() = of(2).back();
    } else if (rank() == 3) {
      const std::int64_t queries = m_node.integer("q_num_heads", 0), values = m_node.integer("kv_num_heads", 0);
      if (queries < 1 || values < 1 || of(2).back() % values != 0) return {};
      extents.back() = elementsOf({of(2).back() / values, queries});
    } else {
      return {};
    }
    return {{extents}};
  }

  Answer affineGrid() {
    const auto size = wholesOf(constant(1));
    if (!size || size->size() < 4) return {};
    Extents extents{(*size)[0]};
    extents.insert(extents.end(), size->begin() + 2, size->end());
    extents.push_back(static_cast<std::int64_t>(size->size()) - 2);
    return {{extents}};
  }

  Answer regression() {
    const std::int64_t targets = m_node.integer("targets", m_node.integer("n_targets", 1));
    if (!known(0) || rank() == 0 || targets < 1) return {};
    return {{{of(0)[0], targets}}};
  }

  Answer classification() {
    const auto texts = m_node.attributes.find("classlabels_strings");
    const std::size_t labels =
        std::max({m_node.integers("classlabels_ints").size(), m_node.integers("classlabels_int64s").size(),
                  texts == m_node.attributes.end() ? 0 : texts->second.texts.size()});
    if (!known(0) || rank() == 0 || labels == 0) return {};
    std::vector<Extents> all{{of(0)[0]}, {of(0)[0], static_cast<std::int64_t>(labels)}};
    all.resize(std::min(all.size(), m_node.outputs.size()));
    return all;
  }

  Answer columns() {
    if (!known(0) || !known(1) || rank() == 0) return {};
    Extents extents = rank() == 1 ? Extents{1, 1} : of(0);
    extents.back() = elementsOf(of(1));
    return {{extents}};
  }

  Answer sideBySide() {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < m_node.inputs.size(); ++i) {
      if (!known(i) || rank(i) != 2) return {};
      all += of(i)[1];
      (void)elementsOf({all});
    }
    return m_node.inputs.empty() ? Answer{} : Answer{{{of(0)[0], all}}};
  }
};

}  // namespace

RuleParts::Answer furtherShapes(const OnnxNode& node, const Facts& facts, int opset) {
  return FurtherRules(node, facts, opset).run();
}

}  // namespace loom::onnx_file

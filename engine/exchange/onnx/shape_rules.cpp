// The shapes that ONNX's operators give, with the batch's prime in them.
#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/exchange/onnx/einsum.h"
#include "engine/exchange/onnx/shape_parts.h"

namespace loom::onnx_file {

namespace {

std::set<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

class Rules : public RuleParts {
 public:
  using RuleParts::RuleParts;

  Answer run() {
    static const std::set<std::string> first = words(
        "Relu LeakyRelu Elu Selu Sigmoid Tanh Erf Exp Log Sqrt Abs Neg Softplus Softsign HardSigmoid HardSwish Mish "
        "Gelu "
        "Celu ThresholdedRelu Clip Identity Dropout Cast CastLike Softmax LogSoftmax Hardmax LRN BatchNormalization "
        "InstanceNormalization GroupNormalization LayerNormalization RMSNormalization SimplifiedLayerNormalization "
        "PRelu "
        "Reciprocal Floor Ceil Round Sign Not Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh LpNormalization "
        "MeanVarianceNormalization Trilu IsNaN CumSum "
        "com.microsoft.Gelu com.microsoft.FastGelu com.microsoft.QuickGelu Swish");
    static const std::set<std::string> pairs = words(
        "Add Sub Mul Div Pow Min Max Sum Mean Mod Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor Where");
    if (first.count(m_node.op)) return known(0) ? Answer{{of(0)}} : Answer{};
    if (pairs.count(m_node.op)) return together();
    static const std::unordered_map<std::string, Answer (Rules::*)()> table{
        {"MatMul", &Rules::matmul},       {"Gemm", &Rules::gemm},           {"Reshape", &Rules::reshape},
        {"Flatten", &Rules::flatten},     {"Transpose", &Rules::transpose}, {"Squeeze", &Rules::squeeze},
        {"Unsqueeze", &Rules::unsqueeze}, {"Expand", &Rules::expand},       {"Tile", &Rules::tile},
        {"Concat", &Rules::concat},       {"Split", &Rules::split},         {"Slice", &Rules::slice},
        {"Gather", &Rules::gather},       {"TopK", &Rules::topK},           {"OneHot", &Rules::oneHot},
        {"ArgMax", &Rules::argument},     {"ArgMin", &Rules::argument},     {"LSTM", &Rules::recurrent},
        {"GRU", &Rules::recurrent},       {"RNN", &Rules::recurrent},       {"Einsum", &Rules::einsum}};
    if (m_node.op.starts_with("Reduce")) return reduce();
    const auto rule = table.find(m_node.op);
    return rule == table.end() ? windowShapes(m_node, m_facts, m_opset) : (this->*rule->second)();
  }

 private:
  Answer together() {
    Extents extents;
    for (std::size_t i = 0; i < m_node.inputs.size(); ++i) {
      if (!known(i)) return {};
      auto next = stretched(extents, of(i));
      if (!next && m_facts.fixedBatch > 1) next = stretched(batched(extents, of(i)), batched(of(i), extents));
      if (!next)
        throwError(ErrorCode::badData, "its inputs are {} and {}, which do not fit together", Shape(extents).toString(),
                   Shape(of(i)).toString());
      extents = *next;
    }
    return {{extents}};
  }

  // A constant that was stretched over the batch that the file fixes, beside a fed value: there it holds the batch.
  Extents batched(Extents extents, const Extents& other) const {
    for (std::size_t i = 1; i <= extents.size() && i <= other.size(); ++i)
      if (extents[extents.size() - i] == m_facts.fixedBatch && other[other.size() - i] == kBatch)
        extents[extents.size() - i] = kBatch;
    return extents;
  }

  Answer matmul() {
    if (!known(0) || !known(1) || rank(0) == 0 || rank(1) == 0) return {};
    Extents a = of(0), b = of(1);
    const bool rowVector = a.size() == 1, columnVector = b.size() == 1;
    if (rowVector) a.insert(a.begin(), 1);
    if (columnVector) b.push_back(1);
    if (a.back() != b[b.size() - 2])
      throwError(ErrorCode::badData, "it multiplies {} with {}", Shape(a).toString(), Shape(b).toString());
    auto extents = stretched({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    if (!extents) throwError(ErrorCode::badData, "it multiplies {} with {}", Shape(a).toString(), Shape(b).toString());
    if (!rowVector) extents->push_back(a[a.size() - 2]);
    if (!columnVector) extents->push_back(b.back());
    return {{*extents}};
  }

  Answer einsum() {
    std::vector<Extents> operands;
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < m_node.inputs.size(); ++i) {
      if (!known(i)) return {};
      operands.push_back(of(i));
      ranks.push_back(rank(i));
    }
    return {{einsumExtents(equationOf(m_node.text("equation", ""), ranks), operands)}};
  }

  Answer gemm() {
    if (!known(0) || !known(1) || rank(0) != 2 || rank(1) != 2) return {};
    return {{{of(0)[m_node.integer("transA", 0) ? 1 : 0], of(1)[m_node.integer("transB", 0) ? 0 : 1]}}};
  }

  // Where the file fixes the batch, shapes that it names hold that number. With P elements before the batch in what is
  // shaped, its axis afterwards begins behind P elements, or holds some of them too. Of a batch of one this is not
  // sure: an axis of one is taken for it, else what makes the rows of a matrix or, of more axes, what comes behind.
  Extents withBatch(const Extents& from, Extents to) const {
    const auto place = std::find_if(from.begin(), from.end(), [](std::int64_t extent) { return holdsBatch(extent); });
    const std::int64_t fixed = m_facts.fixedBatch,
                       before = elementsOf({from.begin(), place}) * m_facts.of(m_node.input(0)).inside;
    const auto none = to.size();
    std::size_t alone = none, around = none, behind = none;
    std::int64_t product = 1;
    for (std::size_t i = 0; i < to.size() && product > 0; ++i) {
      const bool here = i == static_cast<std::size_t>(place - from.begin());
      if (product == before && to[i] == fixed && (alone == none || here)) alone = i;
      if (product == before && to[i] % fixed == 0 && behind == none) behind = i;
      if (product < before && before % product == 0 && product * to[i] >= before * fixed &&
          (product * to[i]) % (before * fixed) == 0)
        around = i;
      product *= to[i];
    }
    const std::size_t second = to.size() == 2 ? around : behind, third = to.size() == 2 ? behind : around;
    const std::size_t best = alone != none ? alone : second != none ? second : third;
    if (best != none) to[best] = to[best] / fixed * kBatch;
    return to;
  }

  Answer reshape() {
    if (!known(0)) return {};
    auto wanted = wholesOf(constant(1));
    if (!wanted) return {};
    const bool zeros = m_node.integer("allowzero", 0) != 0,
               fixes = m_facts.fixedBatch > 0 && holdsBatch(of(0)) && !holdsBatch(*wanted);
    Extents from = of(0);
    if (fixes)
      for (std::int64_t& extent : from)
        if (holdsBatch(extent)) extent = extent / kBatch * m_facts.fixedBatch;
    std::ptrdiff_t open = -1;
    for (std::size_t i = 0; i < wanted->size(); ++i) {
      if ((*wanted)[i] == 0 && !zeros) {
        if (i >= from.size()) throwError(ErrorCode::badData, "it keeps axis {} of a value with {}", i, from.size());
        (*wanted)[i] = from[i];
      } else if ((*wanted)[i] == -1 && open < 0) {
        open = static_cast<std::ptrdiff_t>(i);
      }
    }
    if (open >= 0) {
      (*wanted)[static_cast<std::size_t>(open)] = 1;
      const std::int64_t rest = elementsOf(*wanted), all = elementsOf(from);
      if (rest == 0 || all % rest != 0) throwError(ErrorCode::badData, "{} numbers cannot be shaped as it wants", all);
      (*wanted)[static_cast<std::size_t>(open)] = all / rest;
    }
    Extents extents = fixes ? withBatch(of(0), *wanted) : *wanted;
    if (elementsOf(extents) != elementsOf(of(0)))
      throwError(ErrorCode::badData, "{} cannot be shaped as {}", Shape(of(0)).toString(), Shape(extents).toString());
    return {{extents}};
  }

  Answer flatten() {
    if (!known(0)) return {};
    std::int64_t axis = m_node.integer("axis", 1);
    if (axis < 0) axis += static_cast<std::int64_t>(rank());
    if (axis < 0 || axis > static_cast<std::int64_t>(rank())) throwError(ErrorCode::badData, "it has no axis {}", axis);
    return {{{elementsOf({of(0).begin(), of(0).begin() + axis}), elementsOf({of(0).begin() + axis, of(0).end()})}}};
  }

  Answer transpose() {
    if (!known(0)) return {};
    std::vector<std::int64_t> axes = m_node.integers("perm");
    if (axes.empty())
      for (std::size_t i = rank(); i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
    Extents extents;
    std::set<std::size_t> seen;
    for (const std::int64_t axis : axes) {
      extents.push_back(of(0)[axisIn(axis, rank())]);
      seen.insert(axisIn(axis, rank()));
    }
    if (seen.size() != rank() || axes.size() != rank())
      throwError(ErrorCode::badData, "its 'perm' does not name each axis once");
    return {{extents}};
  }

  Answer squeeze() {
    if (!known(0) || (!m_node.input(1).empty() && !constant(1))) return {};
    const auto axes = axesOf(m_node, m_facts, 1);
    std::set<std::size_t> gone;
    for (std::size_t i = 0; i < rank(); ++i)
      if (!axes && of(0)[i] == 1) gone.insert(i);
    if (axes)
      for (const std::int64_t axis : *axes) gone.insert(axisIn(axis, rank()));
    Extents extents;
    for (std::size_t i = 0; i < rank(); ++i) {
      if (!gone.count(i))
        extents.push_back(of(0)[i]);
      else if (of(0)[i] != 1)
        throwError(ErrorCode::badData, "axis {} has {} elements and cannot be left out", i, of(0)[i]);
    }
    return {{extents}};
  }

  Answer unsqueeze() {
    if (!known(0)) return {};
    const auto axes = axesOf(m_node, m_facts, 1);
    if (!axes) return {};
    std::set<std::size_t> fresh;
    for (const std::int64_t axis : *axes) fresh.insert(axisIn(axis, rank() + axes->size()));
    Extents extents;
    std::size_t next = 0;
    for (std::size_t i = 0; i < rank() + fresh.size(); ++i) extents.push_back(fresh.count(i) ? 1 : of(0)[next++]);
    return {{extents}};
  }

  Answer expand() {
    auto wanted = wholesOf(constant(1));
    if (!known(0) || !wanted) return {};
    for (const std::int64_t extent : *wanted)
      if (extent < 0) throwError(ErrorCode::badData, "it wants an extent of {}", extent);
    // The batch as a number that the file fixes.
    Extents from = of(0);
    for (std::size_t i = 0; i < wanted->size() && i < rank(); ++i) {
      std::int64_t& extent = (*wanted)[wanted->size() - 1 - i];
      if (holdsBatch(from[rank() - 1 - i]) && !holdsBatch(extent)) extent = 1;
      if (holdsBatch(extent) && from[rank() - 1 - i] == m_facts.fixedBatch) from[rank() - 1 - i] = 1;
    }
    const auto extents = stretched(from, *wanted);
    if (!extents)
      throwError(ErrorCode::badData, "{} cannot be stretched to {}", Shape(of(0)).toString(),
                 Shape(*wanted).toString());
    return {{*extents}};
  }

  Answer tile() {
    const auto times = wholesOf(constant(1));
    if (!known(0) || !times || times->size() != rank()) return {};
    Extents extents = of(0);
    for (std::size_t i = 0; i < extents.size(); ++i) extents[i] = elementsOf({extents[i], (*times)[i]});
    return {{extents}};
  }

  Answer concat() {
    if (!known(0)) return {};
    const std::size_t axis = axisIn(m_node.integer("axis", 1), rank());
    Extents extents = of(0);
    extents[axis] = 0;
    for (std::size_t i = 0; i < m_node.inputs.size(); ++i) {
      if (!known(i)) return {};
      if (rank(i) != extents.size())
        throwError(ErrorCode::badData, "its inputs have {} and {} axes", extents.size(), rank(i));
      extents[axis] += of(i)[axis];
      (void)elementsOf({extents[axis]});
      // A part that is the same for each sample (a class token) is stretched over the batch.
      for (std::size_t k = 0; k < extents.size(); ++k)
        if (k != axis && holdsBatch(of(i)[k])) extents[k] = of(i)[k];
    }
    return {{extents}};
  }

  Answer split() {
    if (!known(0)) return {};
    const std::size_t axis = axisIn(m_node.integer("axis", 0), rank());
    std::vector<std::int64_t> parts = m_node.integers("split");
    if (!m_node.input(1).empty()) {
      const auto given = wholesOf(constant(1));
      if (!given) return {};
      parts = *given;
    }
    const auto count = static_cast<std::int64_t>(m_node.outputs.size()), along = of(0)[axis];
    if (parts.empty()) {
      const std::int64_t each = (along + count - 1) / std::max<std::int64_t>(count, 1);
      for (std::int64_t i = 0; i < count; ++i) parts.push_back(std::min(each, along - i * each));
    }
    std::int64_t sum = 0;
    std::vector<Extents> all;
    for (const std::int64_t part : parts) {
      if (part < 0 || part > along) throwError(ErrorCode::badData, "it cuts a part of {} from {}", part, along);
      sum += part;
      (void)elementsOf({sum});
      all.push_back(of(0));
      all.back()[axis] = part;
    }
    if (sum != along || all.size() != m_node.outputs.size())
      throwError(ErrorCode::badData, "its parts hold {} of {}", sum, along);
    return all;
  }

  Answer slice() {
    if (!known(0)) return {};
    std::vector<const Constant*> inputs;
    for (const std::string& input : m_node.inputs) inputs.push_back(m_facts.constant(input));
    const auto cuts = cutsOf(m_node, inputs, of(0), m_opset);
    if (!cuts) return {};
    Extents extents = of(0);
    for (const Cut& cut : *cuts) extents[cut.axis] = cut.length;
    return {{extents}};
  }

  Answer gather() {
    if (!known(0) || !known(1)) return {};
    const auto axis = static_cast<std::ptrdiff_t>(axisIn(m_node.integer("axis", 0), rank()));
    Extents extents(of(0).begin(), of(0).begin() + axis);
    extents.insert(extents.end(), of(1).begin(), of(1).end());
    extents.insert(extents.end(), of(0).begin() + axis + 1, of(0).end());
    return {{extents}};
  }

  Answer reduce() {
    if (!known(0) || (!m_node.input(1).empty() && !constant(1))) return {};
    const auto axes = axesOf(m_node, m_facts, 1);
    if ((!axes || axes->empty()) && m_node.integer("noop_with_empty_axes", 0)) return {{of(0)}};
    std::set<std::size_t> gone;
    if (axes)
      for (const std::int64_t axis : *axes) gone.insert(axisIn(axis, rank()));
    if (gone.empty())
      for (std::size_t i = 0; i < rank(); ++i) gone.insert(i);
    Extents extents;
    for (std::size_t i = 0; i < rank(); ++i) {
      if (!gone.count(i))
        extents.push_back(of(0)[i]);
      else if (m_node.integer("keepdims", 1))
        extents.push_back(1);
    }
    return {{extents}};
  }

  Answer argument() {
    if (!known(0)) return {};
    const std::size_t axis = axisIn(m_node.integer("axis", 0), rank());
    Extents extents = of(0);
    if (m_node.integer("keepdims", 1))
      extents[axis] = 1;
    else
      extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis));
    return {{extents}};
  }

  Answer topK() {
    const auto count = m_opset >= 10 ? wholesOf(constant(1)) : std::vector<std::int64_t>{m_node.integer("k", 1)};
    if (!known(0) || !count || count->size() != 1) return {};
    Extents extents = of(0);
    std::int64_t& along = extents[axisIn(m_node.integer("axis", -1), rank())];
    if (count->front() < 1 || count->front() > along)
      throwError(ErrorCode::badData, "it takes the first {} of {}", count->front(), along);
    along = count->front();
    return {{extents, extents}};
  }

  Answer oneHot() {
    const auto depth = wholesOf(constant(1));
    if (!known(0) || !depth || depth->size() != 1 || depth->front() < 1) return {};
    Extents extents = of(0);
    extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axisIn(m_node.integer("axis", -1), rank() + 1)),
                   depth->front());
    return {{extents}};
  }

  Answer recurrent() {
    if (!known(0) || !known(1) || !known(2) || rank() != 3 || rank(1) != 3 || rank(2) != 3) return {};
    const bool batchFirst = m_node.integer("layout", 0) != 0;
    const std::int64_t ways = of(1)[0], units = of(2)[2], batch = of(0)[batchFirst ? 0 : 1],
                       steps = of(0)[batchFirst ? 1 : 0];
    std::vector<Extents> all;
    if (batchFirst)
      all = {{batch, steps, ways, units}, {batch, ways, units}, {batch, ways, units}};
    else
      all = {{steps, ways, batch, units}, {ways, batch, units}, {ways, batch, units}};
    all.resize(std::min(all.size(), m_node.outputs.size()));
    return all;
  }
};

}  // namespace

std::optional<std::vector<Extents>> shapesOf(const OnnxNode& node, const Facts& facts, int opset) {
  return Rules(node, facts, opset).run();
}

}  // namespace loom::onnx_file

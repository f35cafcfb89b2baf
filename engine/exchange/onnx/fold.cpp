// Constants calculated while reading: shape arithmetic, masks, tables of positions.
#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/exchange/onnx/einsum.h"
#include "engine/exchange/onnx/fold_parts.h"

namespace loom::onnx_file {
namespace {

using Kind = Constant::Kind;
using Inputs = std::vector<const Constant*>;

class Folder {
 public:
  Folder(const OnnxNode& node, const Inputs& inputs, int opset, std::int64_t most, std::int64_t fixedBatch)
      : m_node(node), m_in(inputs), m_opset(opset), m_most(most), m_fixedBatch(fixedBatch) {}

  std::optional<std::vector<ConstantPointer>> run() {
    const std::string op = m_node.op == "Mod" && m_node.integer("fmod", 0) != 0 ? "loom.Fmod" : m_node.op;
    if (foldsElement(op)) {
      if (m_in.empty() || std::find(m_in.begin(), m_in.end(), nullptr) != m_in.end()) return {};
      return {{foldElement(op, m_in, [this](const Extents& extents, bool uniform) { return room(extents, uniform); })}};
    }
    using Rule = std::optional<std::vector<ConstantPointer>> (Folder::*)();
    static const std::unordered_map<std::string, Rule> rules{{"Constant", &Folder::constant},
                                                             {"ConstantOfShape", &Folder::ofShape},
                                                             {"Identity", &Folder::same},
                                                             {"Cast", &Folder::cast},
                                                             {"CastLike", &Folder::castLike},
                                                             {"Size", &Folder::size},
                                                             {"Gather", &Folder::gather},
                                                             {"Concat", &Folder::concat},
                                                             {"Unsqueeze", &Folder::reshapedByRule},
                                                             {"Squeeze", &Folder::reshapedByRule},
                                                             {"Reshape", &Folder::reshapedByRule},
                                                             {"Flatten", &Folder::reshapedByRule},
                                                             {"Slice", &Folder::slice},
                                                             {"Where", &Folder::where},
                                                             {"Range", &Folder::range},
                                                             {"Expand", &Folder::expand},
                                                             {"Tile", &Folder::expand},
                                                             {"Transpose", &Folder::transpose},
                                                             {"Trilu", &Folder::trilu},
                                                             {"Einsum", &Folder::einsum},
                                                             {"Split", &Folder::split},
                                                             {"ReduceProd", &Folder::reduce},
                                                             {"ReduceSum", &Folder::reduce},
                                                             {"ReduceMean", &Folder::reduce},
                                                             {"ReduceMax", &Folder::reduce},
                                                             {"ReduceMin", &Folder::reduce},
                                                             {"Dropout", &Folder::same},
                                                             {"Clip", &Folder::bounded},
                                                             {"HardSigmoid", &Folder::bounded},
                                                             {"DequantizeLinear", &Folder::dequantize}};
    const auto rule = rules.find(m_node.op);
    if (rule == rules.end()) return {};
    return (this->*rule->second)();
  }

 private:
  using Answer = std::optional<std::vector<ConstantPointer>>;

  const Constant* in(std::size_t i) const { return i < m_in.size() ? m_in[i] : nullptr; }
  std::size_t room(const Extents& extents, bool uniform) const { return storedOf(extents, uniform, m_most); }

  static Answer orNothing(ConstantPointer result) { return result ? Answer{{std::move(result)}} : Answer{}; }
  Answer constant() { return orNothing(foldConstant(m_node)); }
  Answer bounded() { return orNothing(foldBounded(m_node, m_in, m_opset)); }
  Answer dequantize() { return orNothing(foldDequantized(m_node, m_in, m_most)); }

  Answer einsum() {
    std::vector<std::size_t> ranks;
    for (const Constant* operand : m_in) {
      if (operand == nullptr) return {};
      ranks.push_back(operand->extents.size());
    }
    return orNothing(foldEinsum(equationOf(m_node.text("equation", ""), ranks), m_in, m_most));
  }

  Answer ofShape() {
    const Constant* shape = in(0);
    if (!shape) return {};
    Extents extents;
    for (std::int64_t i = 0; i < elementsOf(shape->extents); ++i)
      extents.push_back(shape->whole(static_cast<std::size_t>(i)));
    const auto value = m_node.attributes.find("value");
    const Constant* filling = value != m_node.attributes.end() ? value->second.tensor.get() : nullptr;
    auto result = made(filling ? filling->kind : Kind::real, extents, room(extents, true));
    if (filling && filling->stored() > 0 && result->stored() > 0) put(*result, 0, filling->at(0));
    return {{result}};
  }

  Answer same() { return in(0) ? Answer{{std::make_shared<Constant>(*in(0))}} : Answer{}; }

  // As a whole number of that type, whose higher bits are cut off.
  static std::int64_t wrapped(std::int64_t number, int type) {
    switch (type) {
      case kUint8:
        return static_cast<std::uint8_t>(number);
      case kInt8:
        return static_cast<std::int8_t>(number);
      case kUint16:
        return static_cast<std::uint16_t>(number);
      case kInt16:
        return static_cast<std::int16_t>(number);
      case kUint32:
        return static_cast<std::uint32_t>(number);
      case kInt32:
        return static_cast<std::int32_t>(number);
      default:
        return number;
    }
  }

  Answer castTo(int type) {
    const Constant* x = in(0);
    if (!x || (!isReal(type) && !isWhole(type) && type != kBool)) return {};
    const Kind kind = isReal(type) ? Kind::real : type == kBool ? Kind::truth : Kind::whole;
    auto result = made(kind, x->extents, x->stored());
    result->type = type;
    for (std::size_t i = 0; i < result->stored(); ++i) {
      if (kind == Kind::whole && x->kind != Kind::real)
        result->wholes[i] = x->whole(i);
      else
        put(*result, i, kind == Kind::truth ? (x->at(i) != 0 ? 1 : 0) : x->at(i));
      if (kind == Kind::whole) result->wholes[i] = wrapped(result->wholes[i], type);
    }
    return {{result}};
  }
  Answer cast() { return castTo(static_cast<int>(m_node.integer("to", kFloat) & 0xff)); }
  Answer castLike() { return in(1) ? castTo(in(1)->elementType()) : Answer{}; }

  Answer size() {
    if (!in(0)) return {};
    auto result = made(Kind::whole, {}, 1);
    result->wholes[0] = elementsOf(in(0)->extents);
    return {{result}};
  }

  Answer gather() {
    const Constant *x = in(0), *indices = in(1);
    if (!x || !indices) return {};
    const std::size_t axis = axisIn(m_node.integer("axis", 0), x->extents.size());
    Extents extents(x->extents.begin(), x->extents.begin() + static_cast<std::ptrdiff_t>(axis));
    extents.insert(extents.end(), indices->extents.begin(), indices->extents.end());
    extents.insert(extents.end(), x->extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x->extents.end());
    const std::int64_t outer = elementsOf({x->extents.begin(), x->extents.begin() + static_cast<std::ptrdiff_t>(axis)}),
                       inner =
                           elementsOf({x->extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x->extents.end()}),
                       count = elementsOf(indices->extents), along = x->extents[axis];
    if (x->uniform()) {
      auto result = made(x->kind, extents, room(extents, true));
      if (result->stored() > 0) put(*result, 0, x->at(0));
      return {{result}};
    }
    auto result = made(x->kind, extents, room(extents, false));
    std::size_t at = 0;
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t k = 0; k < count; ++k) {
        std::int64_t index = indices->whole(static_cast<std::size_t>(k));
        if (index < 0) index += along;
        if (index < 0 || index >= along) throwError(ErrorCode::badData, "it takes element {} of {}", index, along);
        for (std::int64_t i = 0; i < inner; ++i)
          copy(*x, static_cast<std::size_t>((o * along + index) * inner + i), *result, at++);
      }
    }
    return {{result}};
  }

  static void copy(const Constant& from, std::size_t i, Constant& to, std::size_t k) {
    const std::size_t place = from.uniform() ? 0 : i;
    if (to.kind == Kind::real)
      to.reals[k] = from.reals[place];
    else
      to.wholes[k] = from.wholes[place];
  }

  Answer concat() {
    if (!in(0)) return {};
    const std::size_t rank = in(0)->extents.size(), axis = axisIn(m_node.integer("axis", 0), rank);
    Extents extents = in(0)->extents;
    extents[axis] = 0;
    for (const Constant* input : m_in) {
      if (!input || input->kind != in(0)->kind) return {};
      for (std::size_t i = 0; i < rank; ++i)
        if (input->extents.size() != rank || (i != axis && input->extents[i] != extents[i]))
          throwError(ErrorCode::badData, "the shapes of its inputs do not fit together");
      extents[axis] += input->extents[axis];
    }
    auto result = made(in(0)->kind, extents, room(extents, false));
    if (elementsOf(extents) == 0) return {{result}};
    const std::int64_t outer = elementsOf({extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(axis)});
    std::size_t at = 0;
    for (std::int64_t o = 0; o < outer; ++o)
      for (const Constant* input : m_in) {
        const auto part = static_cast<std::size_t>(elementsOf(input->extents) / outer);
        for (std::size_t i = 0; i < part; ++i) copy(*input, static_cast<std::size_t>(o) * part + i, *result, at++);
      }
    return {{result}};
  }

  // The shape of the only output, by the rules that hold for values that are not constants too.
  Answer reshapedByRule() {
    if (!in(0)) return {};
    const auto extents = shapeByRule();
    if (!extents) return {};
    if (elementsOf(*extents) != elementsOf(in(0)->extents))
      throwError(ErrorCode::badData, "its shapes do not hold equally many numbers");
    auto result = std::make_shared<Constant>(*in(0));
    result->extents = *extents;
    return {{result}};
  }
  std::optional<std::vector<Extents>> shapesByRule() {
    Facts facts;
    facts.fixedBatch = m_fixedBatch;
    OnnxNode named = m_node;
    for (std::size_t i = 0; i < m_in.size(); ++i) {
      if (!m_in[i]) continue;
      named.inputs[i] = std::to_string(i);
      facts.make(named.inputs[i]) = {true, m_in[i]->extents, ConstantPointer(ConstantPointer(), m_in[i])};
    }
    return shapesOf(named, facts, m_opset);
  }
  std::optional<Extents> shapeByRule() {
    const auto shapes = shapesByRule();
    return shapes && !shapes->empty() ? std::optional(shapes->front()) : std::nullopt;
  }

  Answer slice() {
    const Constant* x = in(0);
    if (!x) return {};
    const auto cuts = cutsOf(m_node, m_in, x->extents, m_opset);
    if (!cuts) return {};
    Extents extents = x->extents;
    for (const Cut& cut : *cuts) extents[cut.axis] = cut.length;
    std::vector<std::int64_t> steps(extents.size(), 1);
    for (std::size_t i = extents.size(); i-- > 1;) steps[i - 1] = steps[i] * x->extents[i];
    std::int64_t start = 0;
    for (const Cut& cut : *cuts) {
      start += cut.start * steps[cut.axis];
      steps[cut.axis] *= cut.step;
    }
    return picked(*x, extents, start, steps);
  }

  // The result of which element (i, j, ...) is x's number start + i steps[0] + j steps[1] + ...
  Answer picked(const Constant& x, const Extents& extents, std::int64_t start, const std::vector<std::int64_t>& steps) {
    auto result = made(x.kind, extents, room(extents, x.uniform()));
    std::vector<std::int64_t> at(extents.size(), 0);
    std::int64_t place = start;
    for (std::size_t i = 0; i < result->stored(); ++i) {
      copy(x, static_cast<std::size_t>(place), *result, i);
      for (std::size_t axis = extents.size(); axis-- > 0;) {
        place += steps[axis];
        if (++at[axis] < extents[axis]) break;
        place -= steps[axis] * extents[axis];
        at[axis] = 0;
      }
    }
    return {{result}};
  }

  Answer transpose() {
    const Constant* x = in(0);
    if (!x) return {};
    const std::size_t rank = x->extents.size();
    std::vector<std::int64_t> axes = m_node.integers("perm");
    if (axes.empty())
      for (std::size_t i = rank; i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
    if (axes.size() != rank)
      throwError(ErrorCode::badData, "its 'perm' has {} axes, but its input {}", axes.size(), rank);
    std::vector<std::int64_t> from(rank, 1), steps;
    for (std::size_t i = rank; i-- > 1;) from[i - 1] = from[i] * x->extents[i];
    Extents extents;
    for (const std::int64_t axis : axes) {
      extents.push_back(x->extents[axisIn(axis, rank)]);
      steps.push_back(from[axisIn(axis, rank)]);
    }
    if (elementsOf(extents) != elementsOf(x->extents)) throwError(ErrorCode::badData, "its 'perm' names an axis twice");
    return picked(*x, extents, 0, steps);
  }

  Answer expand() {
    if (!in(0)) return {};
    const auto extents = shapeByRule();
    if (!extents) return {};
    // The same for each sample: it is not written out for all of them, and stretches where it meets what is fed.
    if (m_node.op == "Expand" && !in(0)->uniform() && holdsBatch(*extents)) return same();
    auto result = made(in(0)->kind, *extents, room(*extents, in(0)->uniform()));
    if (m_node.op == "Expand" || in(0)->uniform()) {
      Walk walk(*extents, in(0)->extents);
      for (std::size_t i = 0; i < result->stored(); ++i, walk.next()) copy(*in(0), walk.place(), *result, i);
      return {{result}};
    }
    std::vector<std::int64_t> at(extents->size(), 0);
    for (std::size_t i = 0; i < result->stored(); ++i) {  // Tile: each axis counts round
      std::int64_t place = 0;
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        place = place * in(0)->extents[axis] + at[axis] % in(0)->extents[axis];
      copy(*in(0), static_cast<std::size_t>(place), *result, i);
      for (std::size_t axis = at.size(); axis-- > 0;) {
        if (++at[axis] < (*extents)[axis]) break;
        at[axis] = 0;
      }
    }
    return {{result}};
  }

  Answer where() {
    if (!in(0) || !in(1) || !in(2)) return {};
    const auto part = stretched(in(1)->extents, in(2)->extents);
    const auto extents = part ? stretched(*part, in(0)->extents) : std::nullopt;
    if (!extents) throwError(ErrorCode::badData, "the shapes of its inputs do not fit together");
    auto result = made(in(1)->kind, *extents, room(*extents, in(0)->uniform() && in(1)->uniform() && in(2)->uniform()));
    Walk choice(*extents, in(0)->extents), yes(*extents, in(1)->extents), no(*extents, in(2)->extents);
    for (std::size_t i = 0; i < result->stored(); ++i, choice.next(), yes.next(), no.next())
      put(*result, i, in(0)->at(choice.place()) != 0 ? in(1)->at(yes.place()) : in(2)->at(no.place()));
    return {{result}};
  }

  Answer range() {
    for (std::size_t i = 0; i < 3; ++i)
      if (!in(i) || in(i)->stored() == 0) return {};
    const double start = in(0)->at(0), limit = in(1)->at(0), step = in(2)->at(0);
    const double count = std::max(0.0, std::ceil((limit - start) / step));
    if (!(count <= static_cast<double>(m_most))) throwError(ErrorCode::badData, "it counts {} numbers", count);
    const Extents extents{static_cast<std::int64_t>(count)};
    auto result = made(in(0)->kind, extents, static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < result->stored(); ++i) put(*result, i, start + static_cast<double>(i) * step);
    return {{result}};
  }

  Answer trilu() {
    const Constant* x = in(0);
    if (!x || x->extents.size() < 2) return {};
    const bool upper = m_node.integer("upper", 1) != 0;
    const std::int64_t k = in(1) && in(1)->stored() > 0 ? in(1)->whole(0) : 0;
    const std::int64_t rows = x->extents[x->extents.size() - 2], columns = x->extents.back();
    auto result = made(x->kind, x->extents, room(x->extents, false));
    for (std::size_t i = 0; i < result->stored(); ++i) {
      const std::int64_t row = static_cast<std::int64_t>(i) / columns % rows,
                         column = static_cast<std::int64_t>(i) % columns;
      if (upper ? column - row >= k : column - row <= k) copy(*x, i, *result, i);
    }
    return {{result}};
  }

  Answer split() {
    const Constant* x = in(0);
    if (!x) return {};
    const auto shapes = shapesByRule();
    if (!shapes) return {};
    const std::size_t axis = axisIn(m_node.integer("axis", 0), x->extents.size());
    std::vector<std::int64_t> steps(x->extents.size(), 1);
    for (std::size_t i = x->extents.size(); i-- > 1;) steps[i - 1] = steps[i] * x->extents[i];
    std::vector<ConstantPointer> results;
    std::int64_t start = 0;
    for (const Extents& extents : *shapes) {
      results.push_back(picked(*x, extents, start * steps[axis], steps)->front());
      start += extents[axis];
    }
    return results;
  }

  Answer reduce() {
    if (!in(0) || (m_in.size() > 1 && !m_in[1])) return {};
    const auto extents = shapeByRule();
    return orNothing(extents ? foldReduction(m_node.op, *in(0), *extents, m_most) : nullptr);
  }

  const OnnxNode& m_node;
  const Inputs& m_in;
  int m_opset;
  std::int64_t m_most, m_fixedBatch;
};

}  // namespace

std::size_t storedOf(const Extents& extents, bool uniform, std::int64_t most) {
  const std::int64_t elements = elementsOf(extents);
  if (uniform && elements > 0) return 1;
  if (elements > most)
    throwError(ErrorCode::badData, "its result would hold {} numbers, more than the file allows for", elements);
  return static_cast<std::size_t>(elements);
}

std::optional<std::vector<ConstantPointer>> fold(const OnnxNode& node, const std::vector<const Constant*>& inputs,
                                                 int opset, std::int64_t mostElements, std::int64_t fixedBatch) {
  return Folder(node, inputs, opset, mostElements, fixedBatch).run();
}

}  // namespace loom::onnx_file

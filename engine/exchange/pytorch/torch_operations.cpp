// A layer that torch has no word for, from what it lowers to: its operations one by one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/exchange/pytorch/torch_code.h"
#include "engine/ops/resample.h"
#include "engine/ops/unary.h"
#include "engine/program/builder.h"

namespace loom::torch {
namespace {

// Batches of this many samples are lowered: an extent of it is the batch.
constexpr std::int64_t kBatch = 97;

class Operations {
 public:
  Operations(NodeCode& code, const Program& program) : m_code(code), m_program(program) {}

  void run(const std::vector<TensorId>& inputs, const std::vector<TensorId>& outputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] != kNoTensor) m_names[inputs[i]] = m_code.arguments[i];
    for (const Parameter& parameter : m_program.parameters) declare(parameter);
    for (const Operation& operation : m_program.operations) {
      const std::string expression = write(operation);
      const TensorId output = operation.outputs[0];
      const bool last = &operation == &m_program.operations.back();
      if (last && outputs.size() == 1 && output == outputs[0]) {
        m_code.result = expression;
        return;
      }
      const std::string name = fmt::format("{}_{}", m_code.name, ++m_count);
      m_code.forward.push_back(fmt::format("{} = {}", name, expression));
      m_names[output] = name;
    }
    m_code.result = of(outputs[0]);
  }

 private:
  void declare(const Parameter& parameter) {
    const std::string leaf = parameter.name.substr(parameter.name.rfind('/') + 1),
                      name = fmt::format("{}_{}", m_code.name, leaf);
    if (parameter.isState)
      m_code.init.push_back(
          fmt::format("self.register_buffer('{}', torch.zeros{})", name, whole(parameter.shape.extents())));
    else
      m_code.init.push_back(
          fmt::format("self.{} = nn.Parameter(torch.zeros{})", name, whole(parameter.shape.extents())));
    m_code.weights.push_back({leaf, "_" + leaf});
    m_names[m_program.findTensor(parameter.name, parameter.isState ? TensorRole::state : TensorRole::parameter)] =
        "self." + name;
  }

  std::string of(TensorId id) const {
    if (id == kNoTensor) return "None";
    if (const auto found = m_names.find(id); found != m_names.end()) return found->second;
    const Tensor& tensor = m_program.tensor(id);
    if (tensor.role == TensorRole::constant) {
      const std::string value = tensor.value == static_cast<double>(static_cast<std::int64_t>(tensor.value))
                                    ? fmt::format("{}.", static_cast<std::int64_t>(tensor.value))
                                    : number(tensor.value);
      std::string extents;
      for (const std::int64_t extent : tensor.shape)
        extents += (extents.empty() ? "" : ", ") + (extent == kBatch ? m_code.batch : fmt::format("{}", extent));
      return tensor.shape.rank() == 0 ? value : fmt::format("torch.full(({},), {})", extents, value);
    }
    throwError(ErrorCode::badProject, "'{}' reads {}, which PyTorch has no counterpart of here", m_code.node.id,
               tensor.name);
  }

  // Extents with the batch, whatever its size.
  std::string extents(const std::vector<std::int64_t>& all) const {
    std::string text;
    for (const std::int64_t extent : all)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", extent == kBatch ? std::int64_t{-1} : extent);
    return "(" + text + (all.size() == 1 ? ",)" : ")");
  }

  std::string write(const Operation& operation) {
    const std::string& op = operation.op->name;
    const Attributes& a = operation.attributes;
    const auto in = [&](std::size_t i) { return of(operation.inputs.at(i)); };
    const auto has = [&](std::size_t i) { return i < operation.inputs.size() && operation.inputs[i] != kNoTensor; };
    const auto rank = [&](std::size_t i) {
      return static_cast<std::int64_t>(m_program.tensor(operation.inputs[i]).shape.rank());
    };
    const auto axis = [&](std::size_t i, std::int64_t otherwise) {
      const std::int64_t given = a.integer("axis", otherwise);
      return given < 0 ? given + rank(i) : given;
    };
    if (op == "unary") return unary(a, in(0));
    if (op == "binary") return binary(a.text("function"), in(0), in(1));
    if (op == "scale") {
      const double factor = a.real("factor", 1.0), offset = a.real("offset", 0.0);
      std::string text = factor == 1 ? in(0) : fmt::format("{} * {}", in(0), number(factor));
      return offset == 0 ? text : fmt::format("{} + {}", text, number(offset));
    }
    if (op == "matmul") {
      const std::string left = a.boolean("transpose_a", false) ? in(0) + ".mT" : in(0),
                        right = a.boolean("transpose_b", false) ? in(1) + ".mT" : in(1);
      return fmt::format("{} @ {}{}", left, right, has(2) ? " + " + in(2) : "");
    }
    if (op == "reshape") return fmt::format("{}.reshape{}", in(0), extents(a.integers("shape")));
    if (op == "inverse") return fmt::format("torch.linalg.inv({})", in(0));
    if (op == "transpose") return fmt::format("{}.permute{}", in(0), whole(a.integers("axes")));
    if (op == "softmax") return fmt::format("F.softmax({}, dim={})", in(0), axis(0, -1));
    if (op == "concatenate") {
      std::string list;
      for (std::size_t i = 0; i < operation.inputs.size(); ++i) list += (i ? ", " : "") + in(i);
      return fmt::format("torch.cat(({}), dim={})", list, axis(0, 1));
    }
    if (op == "slice") {
      const std::int64_t start = a.integer("start", 0), step = a.integer("step", 1), cut = axis(0, 1);
      std::string before;
      for (std::int64_t i = 0; i < cut; ++i) before += ":, ";
      const std::int64_t end = start + (a.integer("length") - 1) * step + 1;
      return fmt::format("{}[{}{}:{}{}]", in(0), before, start, end, step == 1 ? "" : fmt::format(":{}", step));
    }
    if (op == "attention") {
      const std::int64_t heads = a.integer("heads", 1);
      const auto split = [&](std::size_t i) {
        return fmt::format("{}.unflatten(2, ({}, -1)).transpose(1, 2)", in(i), heads);
      };
      return fmt::format("F.scaled_dot_product_attention({}, {}, {}{}).transpose(1, 2).flatten(2)", split(0), split(1),
                         split(2), a.boolean("causal", false) ? ", is_causal=True" : "");
    }
    if (op == "layer_normalization") {
      const std::int64_t axes = a.integer("axes", 1);
      const std::vector<std::int64_t>& all = m_program.tensor(operation.inputs[0]).shape.extents();
      return fmt::format("F.layer_norm({}, {}, {}, {}, {})", in(0), whole({all.end() - axes, all.end()}),
                         has(1) ? in(1) : "None", has(2) ? in(2) : "None", number(a.real("epsilon", 1e-5)));
    }
    if (op == "batch_normalization_inference") {
      std::string place = "(";
      for (std::int64_t i = 0; i < rank(0); ++i) place += i == a.integer("axis", 1) ? "-1, " : "1, ";
      place += ")";
      const auto along = [&](const std::string& text) { return fmt::format("{}.reshape{}", text, place); };
      std::string text = fmt::format("({} - {}) / torch.sqrt({} + {})", in(0), along(in(3)), along(in(4)),
                                     number(a.real("epsilon", 1e-5)));
      if (has(1)) text += " * " + along(in(1));
      if (has(2)) text += " + " + along(in(2));
      return text;
    }
    if (op == "local_response_normalization")
      return fmt::format("F.local_response_norm({}, {}, alpha={}, beta={}, k={})", in(0), a.integer("size", 5),
                         number(a.real("alpha", 1e-4)), number(a.real("beta", 0.75)), number(a.real("k", 1.0)));
    if (op == "random") {
      std::string size;
      for (const std::int64_t extent : a.integers("shape"))
        size += (size.empty() ? "" : ", ") + (extent == kBatch ? m_code.batch : fmt::format("{}", extent));
      return fmt::format("torch.rand{}({})", a.text("distribution") == "normal" ? "n" : "", size);
    }
    if (op == "broadcast") return fmt::format("{}.expand{}", in(0), extents(a.integers("shape")));
    if (op == "select") return fmt::format("torch.where({} != 0, {}, {})", in(0), in(1), in(2));
    if (op == "one_hot") return fmt::format("F.one_hot({}.long(), {}).float()", in(0), a.integer("classes"));
    if (op == "stop_gradient") return in(0) + ".detach()";
    if (op == "resample") return resampled(operation);
    if (op == "gru" || op == "lstm") return recurrent(operation, op);
    if (op == "reduce") return reduced(operation);
    if (op == "convolution_input_gradient") return deconvolution(operation);
    throwError(ErrorCode::badProject, "'{}' computes {}, which the PyTorch script cannot say yet", m_code.node.id, op);
  }

  std::string unary(const Attributes& a, const std::string& x) {
    static const std::map<std::string, std::string, std::less<>> words = {{"relu", "F.relu({})"},
                                                                          {"selu", "F.selu({})"},
                                                                          {"silu", "F.silu({})"},
                                                                          {"sigmoid", "torch.sigmoid({})"},
                                                                          {"tanh", "torch.tanh({})"},
                                                                          {"exp", "torch.exp({})"},
                                                                          {"log", "torch.log({})"},
                                                                          {"square", "torch.square({})"},
                                                                          {"sqrt", "torch.sqrt({})"},
                                                                          {"negative", "-{}"},
                                                                          {"absolute", "torch.abs({})"},
                                                                          {"sin", "torch.sin({})"},
                                                                          {"cos", "torch.cos({})"},
                                                                          {"floor", "torch.floor({})"},
                                                                          {"ceil", "torch.ceil({})"},
                                                                          {"round", "torch.round({})"},
                                                                          {"sign", "torch.sign({})"},
                                                                          {"reciprocal", "torch.reciprocal({})"},
                                                                          {"reciprocal_sqrt", "torch.rsqrt({})"},
                                                                          {"erf", "torch.erf({})"},
                                                                          {"softsign", "F.softsign({})"},
                                                                          {"tan", "torch.tan({})"},
                                                                          {"asin", "torch.asin({})"},
                                                                          {"acos", "torch.acos({})"},
                                                                          {"atan", "torch.atan({})"},
                                                                          {"sinh", "torch.sinh({})"},
                                                                          {"cosh", "torch.cosh({})"},
                                                                          {"asinh", "torch.asinh({})"},
                                                                          {"acosh", "torch.acosh({})"},
                                                                          {"atanh", "torch.atanh({})"}};
    const std::string& function = a.text("function");
    if (function == "gelu")
      return fmt::format("F.gelu({}{})", x, a.boolean("approximate", false) ? ", approximate='tanh'" : "");
    if (function == "leaky_relu") return fmt::format("F.leaky_relu({}, {})", x, number(a.real("alpha", 0.01)));
    if (function == "elu") return fmt::format("F.elu({}, {})", x, number(a.real("alpha", 1.0)));
    if (function == "clamp" || function == "hard_sigmoid" || function == "hard_swish" || function == "softplus") {
      const UnaryNumbers numbers = unaryNumbersOf(a);
      const auto bound = [](double value) { return std::isinf(value) ? std::string("None") : number(value); };
      if (function == "clamp") return fmt::format("{}.clamp({}, {})", x, bound(numbers.alpha), bound(numbers.beta));
      if (function == "softplus") return fmt::format("F.softplus({}, {})", x, number(numbers.alpha));
      const std::string gate =
          fmt::format("({} * {} + {}).clamp(0, 1)", x, number(numbers.alpha), number(numbers.beta));
      return function == "hard_swish" ? fmt::format("{} * {}", x, gate) : gate;
    }
    const auto word = words.find(function);
    if (word == words.end())
      throwError(ErrorCode::badProject, "'{}' computes {}, which the PyTorch script cannot say yet", m_code.node.id,
                 function);
    return fmt::format(fmt::runtime(word->second), x);
  }

  // Padding, repeating, picking: a row for each value of the result. Where each is one value of the input its places
  // are enough; else a matrix says how many of each.
  std::string resampled(const Operation& operation) {
    const Tensor& x = m_program.tensor(operation.inputs[0]);
    const auto rank = static_cast<std::int64_t>(x.shape.rank()), given = operation.attributes.integer("axis", 1),
               axis = given < 0 ? given + rank : given;
    const AxisMap map = axisMapOf(operation.attributes, x.shape[axis]);
    bool picks = map.weights.empty();
    for (std::int64_t row = 0; row < map.length(); ++row)
      picks = picks && map.starts[static_cast<std::size_t>(row) + 1] == map.starts[static_cast<std::size_t>(row)] + 1;
    if (picks) {
      std::string places;
      for (const std::int64_t place : map.places) places += fmt::format("{}{}", places.empty() ? "" : ", ", place);
      return fmt::format("{}.index_select({}, torch.tensor([{}], device={}.device))", of(operation.inputs[0]), axis,
                         places, of(operation.inputs[0]));
    }
    if (map.length() * x.shape[axis] > 100000)
      throwError(ErrorCode::badProject,
                 "'{}' mixes {} places into {}, which is too many for a line of the PyTorch script", m_code.node.id,
                 x.shape[axis], map.length());
    std::string rows, fills;
    for (std::int64_t row = 0; row < map.length(); ++row) {
      std::vector<double> weights(static_cast<std::size_t>(x.shape[axis]));
      const auto begin = map.starts[static_cast<std::size_t>(row)], end = map.starts[static_cast<std::size_t>(row) + 1];
      for (std::int64_t k = begin; k < end; ++k)
        weights[static_cast<std::size_t>(map.places[static_cast<std::size_t>(k)])] += map.weight(k);
      std::string line;
      for (const double weight : weights) line += fmt::format("{}{}", line.empty() ? "" : ", ", number(weight));
      rows += fmt::format("{}[{}]", rows.empty() ? "" : ", ", line);
      fills += fmt::format("{}{}", fills.empty() ? "" : ", ", number(begin == end ? map.fill : 0));
    }
    const std::string matrix = fmt::format("{}_map{}", m_code.name, ++m_count);
    m_code.init.push_back(fmt::format(
        "self.register_buffer('{}', torch.tensor([{}], dtype=torch.float32), persistent=False)", matrix, rows));
    std::string text = fmt::format("({}.transpose({}, -1) @ self.{}.mT", of(operation.inputs[0]), axis, matrix);
    if (map.fill != 0) text += fmt::format(" + torch.tensor([{}])", fills);
    return fmt::format("{}).transpose({}, -1)", text, axis);
  }

  std::string binary(const std::string& function, const std::string& a, const std::string& b) {
    static const std::map<std::string, std::string, std::less<>> words = {{"add", "{} + {}"},
                                                                          {"subtract", "{} - {}"},
                                                                          {"multiply", "{} * {}"},
                                                                          {"divide", "{} / {}"},
                                                                          {"power", "{} ** {}"},
                                                                          {"modulo", "torch.remainder({}, {})"},
                                                                          {"fmod", "torch.fmod({}, {})"},
                                                                          {"maximum", "torch.maximum({}, {})"},
                                                                          {"minimum", "torch.minimum({}, {})"},
                                                                          {"equal", "({} == {}).float()"},
                                                                          {"not_equal", "({} != {}).float()"},
                                                                          {"greater", "({} > {}).float()"},
                                                                          {"less", "({} < {}).float()"},
                                                                          {"greater_equal", "({} >= {}).float()"},
                                                                          {"less_equal", "({} <= {}).float()"}};
    const auto word = words.find(function);
    if (word == words.end())
      throwError(ErrorCode::badProject, "'{}' computes {}, which the PyTorch script cannot say yet", m_code.node.id,
                 function);
    return fmt::format(fmt::runtime(word->second), a, b);
  }

  std::string reduced(const Operation& operation) {
    static const std::map<std::string, std::string, std::less<>> words = {
        {"sum", "sum"}, {"mean", "mean"}, {"maximum", "amax"}, {"minimum", "amin"}, {"max", "amax"}, {"min", "amin"}};
    if (operation.attributes.text("function") == "product") {
      std::string text = of(operation.inputs[0]);
      std::vector<std::int64_t> axes = operation.attributes.integers("axes");
      std::sort(axes.rbegin(), axes.rend());
      for (const std::int64_t axis : axes)
        text += fmt::format(".prod({}, keepdim={})", axis, truth(operation.attributes.boolean("keep", false)));
      return text;
    }
    const auto word = words.find(operation.attributes.text("function"));
    if (word == words.end() || !operation.attributes.has("axes"))
      throwError(ErrorCode::badProject, "'{}' computes {}, which the PyTorch script cannot say yet", m_code.node.id,
                 operation.attributes.text("function"));
    return fmt::format("{}.{}({}, keepdim={})", of(operation.inputs[0]), word->second,
                       whole(operation.attributes.integers("axes")),
                       truth(operation.attributes.boolean("keep", false)));
  }

  // A cell of torch without a module: its weights stay under our names.
  std::string recurrent(const Operation& operation, const std::string& op) {
    const auto in = [&](std::size_t i) { return of(operation.inputs.at(i)); };
    const bool reverse = operation.attributes.boolean("reverse", false), bias = operation.inputs[3] != kNoTensor;
    const bool second = operation.inputs.size() > 4 && operation.inputs[4] != kNoTensor && op == "gru";
    const std::string x = reverse ? in(0) + ".flip(1)" : in(0);
    const std::int64_t units = m_program.tensor(operation.inputs[2]).shape[1];
    const std::string weights =
        fmt::format("{}, {}{}", in(1), in(2),
                    bias ? ", " + in(3) + ", " + (second ? in(4) : "torch.zeros_like(" + in(3) + ")") : "");
    const std::string begin = fmt::format("{}.new_zeros(1, {}, {})", in(0), m_code.batch, units);
    std::string text = op == "gru" ? fmt::format("torch.gru({}, {}, ({}), {}, 1, 0.0, False, False, True)[0]", x, begin,
                                                 weights, truth(bias))
                                   : fmt::format("torch.lstm({}, ({}, {}), ({}), {}, 1, 0.0, False, False, True)[0]", x,
                                                 begin, begin, weights, truth(bias));
    return reverse ? text + ".flip(1)" : text;
  }

  // The deconvolution that torch's own module cannot place: computed without a border and cut.
  std::string deconvolution(const Operation& operation) {
    const Attributes& a = operation.attributes;
    const std::vector<std::int64_t> pads = a.integers("padding"), shape = a.integers("input_shape");
    std::string cut = "[:, :";
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      cut += fmt::format(", {}:{}", pads[axis], pads[axis] + shape[axis]);
    const std::string bias =
        operation.inputs.size() > 2 && operation.inputs[2] != kNoTensor ? of(operation.inputs[2]) : "None";
    std::string more;
    for (std::size_t axis = shape.size(); axis-- > 0;)
      more += fmt::format("0, {}{}", pads[axis] + pads[axis + shape.size()], axis ? ", " : "");
    // The border that is cut off has the bias alone where the kernels do not reach.
    return fmt::format("F.pad(F.conv_transpose{}d({}, {}, None, stride={}, groups={}, dilation={}), ({})){}]{}",
                       shape.size(), of(operation.inputs[0]), of(operation.inputs[1]), tuple(a.integers("strides")),
                       a.integer("groups", 1), tuple(a.integers("dilation")), more, cut,
                       bias == "None" ? "" : fmt::format(" + {}.reshape(-1{})", bias, [&] {
                         std::string ones;
                         for (std::size_t i = 0; i < shape.size(); ++i) ones += ", 1";
                         return ones;
                       }()));
  }

  NodeCode& m_code;
  const Program& m_program;
  std::map<TensorId, std::string> m_names;
  int m_count = 0;
};

}  // namespace

void writeOperations(NodeCode& code) {
  ProgramBuilder builder(kBatch, 1, false);
  std::vector<TensorId> inputs;
  for (std::size_t i = 0; i < code.inputs.size(); ++i)
    inputs.push_back(code.arguments[i].empty()
                         ? kNoTensor
                         : builder.input(fmt::format("input{}", i), code.inputs[i].prepended(kBatch), code.types[i]));
  const std::vector<TensorId> outputs = code.layer.lower({code.node.id, code.name, code.values, inputs, builder});
  const Program program = builder.take();
  Operations(code, program).run(inputs, outputs);
}

}  // namespace loom::torch

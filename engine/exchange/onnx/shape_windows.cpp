// Shapes that windows, margins and resizing give.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/exchange/onnx/shape_parts.h"

namespace loom::onnx_file {
namespace {

// Of a stride, a pad, a kernel: sums of them stay far below 2^63.
constexpr std::int64_t kMostStep = std::int64_t{1} << 24;

class WindowRules : public RuleParts {
 public:
  using RuleParts::RuleParts;

  Answer run() {
    static const std::unordered_map<std::string, Answer (WindowRules::*)()> table{
        {"Conv", &WindowRules::convolution},
        {"ConvTranspose", &WindowRules::deconvolution},
        {"MaxPool", &WindowRules::pooling},
        {"AveragePool", &WindowRules::pooling},
        {"LpPool", &WindowRules::pooling},
        {"GlobalAveragePool", &WindowRules::globalPooling},
        {"GlobalMaxPool", &WindowRules::globalPooling},
        {"Pad", &WindowRules::pad},
        {"Resize", &WindowRules::resize},
        {"Upsample", &WindowRules::resize},
        {"DepthToSpace", &WindowRules::depthToSpace},
        {"SpaceToDepth", &WindowRules::spaceToDepth}};
    const auto rule = table.find(m_node.op);
    return rule == table.end() ? furtherShapes(m_node, m_facts, m_opset) : (this->*rule->second)();
  }

 private:
  std::vector<std::int64_t> filled(const char* key, std::size_t count, std::int64_t otherwise) const {
    std::vector<std::int64_t> numbers = m_node.integers(key);
    if (numbers.empty()) numbers.assign(count, otherwise);
    if (numbers.size() != count)
      throwError(ErrorCode::badData, "its '{}' has {} numbers, but {} are wanted", key, numbers.size(), count);
    for (const std::int64_t number : numbers)
      if (number < -kMostStep || number > kMostStep) throwError(ErrorCode::badData, "its '{}' is {}", key, number);
    return numbers;
  }

  // The spatial extents after a window slid over them.
  Extents slid(const Extents& kernel, bool ceiling) {
    const std::size_t axes = kernel.size();
    const auto strides = filled("strides", axes, 1), dilations = filled("dilations", axes, 1),
               pads = filled("pads", 2 * axes, 0);
    const std::string automatic = m_node.text("auto_pad", "NOTSET");
    Extents extents;
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t in = of(0)[i + 2], step = strides[i];
      if (step < 1 || dilations[i] < 1 || kernel[i] < 1 || kernel[i] > kMostStep)
        throwError(ErrorCode::badData, "its window cannot be");
      const std::int64_t span = dilations[i] * (kernel[i] - 1) + 1;
      if (automatic.starts_with("SAME")) {
        extents.push_back((in + step - 1) / step);
        continue;
      }
      const std::int64_t around = automatic == "VALID" ? 0 : pads[i] + pads[i + axes], room = in + around - span;
      if (room < 0) throwError(ErrorCode::badData, "its window spans {}, but its input has {}", span, in + around);
      std::int64_t out = room / step + 1;
      // A window that would begin behind the input and its padding before does not count.
      if (ceiling && room % step != 0 && (room / step + 1) * step < in + (automatic == "VALID" ? 0 : pads[i])) ++out;
      extents.push_back(out);
    }
    return extents;
  }

  Answer convolution() {
    if (!known(0) || !known(1) || rank(0) < 3 || rank(1) != rank(0)) return {};
    Extents extents = slid({of(1).begin() + 2, of(1).end()}, false);
    extents.insert(extents.begin(), {of(0)[0], of(1)[0]});
    return {{extents}};
  }

  Answer deconvolution() {
    if (!known(0) || !known(1) || rank(0) < 3 || rank(1) != rank(0)) return {};
    const std::size_t axes = rank() - 2;
    const auto strides = filled("strides", axes, 1), dilations = filled("dilations", axes, 1),
               pads = filled("pads", 2 * axes, 0), further = filled("output_padding", axes, 0);
    const auto given = m_node.integers("output_shape");
    const std::string automatic = m_node.text("auto_pad", "NOTSET");
    Extents extents{of(0)[0], elementsOf({of(1)[1], m_node.integer("group", 1)})};
    for (std::size_t i = 0; i < axes; ++i) {
      if (given.size() == axes) {
        extents.push_back(given[i]);
      } else if (automatic.starts_with("SAME")) {
        // As far as its windows reach.
        extents.push_back(std::min(elementsOf({of(0)[i + 2], strides[i]}),
                                   elementsOf({strides[i], std::max<std::int64_t>(of(0)[i + 2] - 1, 0)}) + further[i] +
                                       elementsOf({dilations[i], std::max<std::int64_t>(of(1)[i + 2] - 1, 0)}) + 1));
      } else {
        const std::int64_t around = automatic == "VALID" ? 0 : pads[i] + pads[i + axes];
        extents.push_back(elementsOf({strides[i], std::max<std::int64_t>(of(0)[i + 2] - 1, 0)}) + further[i] +
                          elementsOf({dilations[i], std::max<std::int64_t>(of(1)[i + 2] - 1, 0)}) + 1 - around);
      }
    }
    (void)elementsOf(extents);
    return {{extents}};
  }

  Answer pooling() {
    if (!known(0) || rank() < 3) return {};
    const Extents kernel = m_node.integers("kernel_shape");
    if (kernel.size() + 2 != rank())
      throwError(ErrorCode::badData, "its kernel has {} extents, but its input {}", kernel.size(), rank());
    Extents extents = slid(kernel, m_node.integer("ceil_mode", 0) != 0);
    extents.insert(extents.begin(), {of(0)[0], of(0)[1]});
    return {{extents}};
  }

  Answer globalPooling() {
    if (!known(0) || rank() < 2) return {};
    Extents extents(rank(), 1);
    extents[0] = of(0)[0];
    extents[1] = of(0)[1];
    return {{extents}};
  }

  Answer pad() {
    if (!known(0)) return {};
    std::vector<std::int64_t> pads = m_node.integers("pads");
    if (m_opset >= 11) {
      const auto given = wholesOf(constant(1));
      if (!given || (!m_node.input(3).empty() && !constant(3))) return {};
      pads = *given;
    }
    std::vector<std::int64_t> axes;
    if (const auto given = wholesOf(constant(3)); m_opset >= 11 && given) axes = *given;
    if (axes.empty())
      for (std::size_t i = 0; i < rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (pads.size() != 2 * axes.size())
      throwError(ErrorCode::badData, "it pads by {} numbers, but {} are wanted", pads.size(), 2 * axes.size());
    for (const std::int64_t pad : pads)
      if (pad < -kMostStep || pad > kMostStep) throwError(ErrorCode::badData, "it pads by {}", pad);
    Extents extents = of(0);
    for (std::size_t i = 0; i < axes.size(); ++i) extents[axisIn(axes[i], rank())] += pads[i] + pads[i + axes.size()];
    (void)elementsOf(extents);
    return {{extents}};
  }

  Answer resize() {
    if (!known(0)) return {};
    const bool old = m_node.op == "Upsample" || m_opset < 11;
    const Constant* scales = constant(old ? 1 : 2);
    if (const auto sizes = wholesOf(constant(3)); !old && sizes && sizes->size() == rank()) {
      Extents extents = *sizes;
      if (holdsBatch(of(0)[0]) && !holdsBatch(extents[0])) extents[0] = of(0)[0];
      return {{extents}};
    }
    std::vector<double> factors;
    if (const auto given = m_node.attributes.find("scales"); given != m_node.attributes.end())
      factors = given->second.reals;
    if (scales)
      for (std::int64_t i = 0; i < std::min<std::int64_t>(elementsOf(scales->extents), 16); ++i)
        factors.push_back(scales->at(static_cast<std::size_t>(i)));
    if (factors.size() != rank()) return {};
    Extents extents;
    for (std::size_t i = 0; i < rank(); ++i) {
      // As onnxruntime does, in 32 bits: 10 times 0.7 are 7.
      const bool isBatch = holdsBatch(of(0)[i]) && factors[i] == 1;
      const double extent = isBatch ? static_cast<double>(of(0)[i])
                                    : std::floor(static_cast<float>(of(0)[i]) * static_cast<float>(factors[i]));
      if (!(extent >= 1 && extent < 1e12))
        throwError(ErrorCode::badData, "it makes {} of an extent of {}", extent, of(0)[i]);
      extents.push_back(static_cast<std::int64_t>(extent));
    }
    return {{extents}};
  }

  Answer depthToSpace() {
    const std::int64_t block = m_node.integer("blocksize", 1);
    if (!known(0) || rank() != 4 || block < 1 || block > 4096) return {};
    return {{{of(0)[0], of(0)[1] / (block * block), elementsOf({of(0)[2], block}), elementsOf({of(0)[3], block})}}};
  }

  Answer spaceToDepth() {
    const std::int64_t block = m_node.integer("blocksize", 1);
    if (!known(0) || rank() != 4 || block < 1 || block > 4096) return {};
    return {{{of(0)[0], elementsOf({of(0)[1], block, block}), of(0)[2] / block, of(0)[3] / block}}};
  }
};

}  // namespace

RuleParts::Answer windowShapes(const OnnxNode& node, const Facts& facts, int opset) {
  return WindowRules(node, facts, opset).run();
}

}  // namespace loom::onnx_file

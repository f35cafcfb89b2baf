#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "engine/base/error.h"
#include "tests/engine/cuda/fake/interpreters.h"

namespace loom::cuda::fake {
namespace {

struct Plan final : DnnPlan {
  DnnGraph graph;
};

using Extents = std::vector<std::int64_t>;

const DnnTensor& tensorOf(const DnnGraph& graph, int id) {
  for (const DnnTensor& one : graph.tensors)
    if (one.id == id) return one;
  throwError(ErrorCode::device, "a graph has no tensor {}", id);
}

std::int64_t elementsOf(const Extents& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

// Steps to the next index, the last axis first; false behind the last.
bool next(Extents& index, const Extents& extents) {
  for (std::size_t k = extents.size(); k-- > 0;) {
    if (++index[k] < extents[k]) return true;
    index[k] = 0;
  }
  return false;
}

std::int64_t placeOf(const Extents& index, const Extents& strides) {
  std::int64_t place = 0;
  for (std::size_t k = 0; k < index.size(); ++k) place += index[k] * strides[k];
  return place;
}

Extents plainStrides(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t k = extents.size(); k-- > 1;) strides[k - 1] = strides[k] * extents[k];
  return strides;
}

constexpr std::size_t kAxes = 3;
// Three spatial axes, the first of them 1 where there are two.
std::array<std::int64_t, kAxes> spatial(const Extents& all, std::size_t skipped, std::int64_t missing) {
  std::array<std::int64_t, kAxes> three;
  three.fill(missing);
  for (std::size_t k = skipped; k < all.size(); ++k) three[kAxes - all.size() + k] = all[k];
  return three;
}

// Calls what(place in the image and its step, in the weight, in the result, count) for all products of the convolution,
// in rows of so many: places are plain; the weight's stays, the result's grows by one.
template <class What>
void forProducts(const DnnGraph& graph, const DnnConvolution& one, const What& what) {
  const Extents &image = tensorOf(graph, one.image).extents, &weight = tensorOf(graph, one.weight).extents,
                &result = tensorOf(graph, one.result).extents;
  const auto x = spatial(image, 2, 1), w = spatial(weight, 2, 1), y = spatial(result, 2, 1),
             stride = spatial(one.strides, 0, 1), before = spatial(one.before, 0, 0),
             dilation = spatial(one.dilation, 0, 1);
  const std::int64_t channels = image[1], perGroup = weight[1], outputs = result[1],
                     outputsPerGroup = outputs / (channels / perGroup);
  const std::int64_t taps = w[0] * w[1] * w[2];
  for (std::int64_t n = 0; n < image[0]; ++n)
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t c = 0; c < perGroup; ++c)
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          const std::int64_t from[] = {tap / (w[1] * w[2]) * dilation[0] - before[0],
                                       tap / w[2] % w[1] * dilation[1] - before[1],
                                       tap % w[2] * dilation[2] - before[2]};
          // The columns of the result whose image lies within.
          const std::int64_t first = from[2] >= 0 ? 0 : (-from[2] + stride[2] - 1) / stride[2];
          const std::int64_t last = std::min(y[2], (x[2] - from[2] + stride[2] - 1) / stride[2]);
          if (last <= first) continue;
          for (std::int64_t row = 0; row < y[0] * y[1]; ++row) {
            const std::int64_t depth = row / y[1] * stride[0] + from[0], height = row % y[1] * stride[1] + from[1];
            if (depth < 0 || depth >= x[0] || height < 0 || height >= x[1]) continue;
            const std::int64_t channel = o / outputsPerGroup * perGroup + c;
            const std::int64_t in =
                (((n * channels + channel) * x[0] + depth) * x[1] + height) * x[2] + first * stride[2] + from[2];
            what(in, stride[2], (o * perGroup + c) * taps + tap, ((n * outputs + o) * y[0] * y[1] + row) * y[2] + first,
                 last - first);
          }
        }
}

void expect(const DnnGraph& graph, const DnnConvolution& one) {
  const DnnTensor &image = tensorOf(graph, one.image), &weight = tensorOf(graph, one.weight),
                  &result = tensorOf(graph, one.result);
  const std::size_t rank = image.extents.size();
  if (rank != 4 && rank != 5)
    throwError(ErrorCode::device, "a convolution has 2 or 3 spatial axes, but here {}", static_cast<int>(rank) - 2);
  if (weight.extents.size() != rank || result.extents.size() != rank || one.strides.size() != rank - 2 ||
      one.before.size() != rank - 2 || one.after.size() != rank - 2 || one.dilation.size() != rank - 2)
    throwError(ErrorCode::device, "a convolution's image, weight, result and steps are of different ranks");
  const std::int64_t groups = weight.extents[1] < 1 ? 0 : image.extents[1] / weight.extents[1];
  if (groups < 1 || groups * weight.extents[1] != image.extents[1] || result.extents[1] % groups != 0)
    throwError(ErrorCode::device, "a convolution of {} channels takes {} a group and gives {}", image.extents[1],
               weight.extents[1], result.extents[1]);
  if (weight.extents[0] != result.extents[1] || image.extents[0] != result.extents[0])
    throwError(ErrorCode::device, "a convolution's weight gives {} channels, its result has {}, of {} and {} samples",
               weight.extents[0], result.extents[1], image.extents[0], result.extents[0]);
  for (std::size_t k = 0; k < rank - 2; ++k) {
    const std::int64_t room =
        image.extents[k + 2] + one.before[k] + one.after[k] - one.dilation[k] * (weight.extents[k + 2] - 1) - 1;
    if (one.before[k] < 0 || one.after[k] < 0 || one.strides[k] < 1 || one.dilation[k] < 1 || room < 0 ||
        room / one.strides[k] + 1 != result.extents[k + 2])
      throwError(ErrorCode::device,
                 "a convolution's spatial axis {}: {} + {} + {} under {} taps {} apart in steps of {} is not {}", k,
                 one.before[k], image.extents[k + 2], one.after[k], weight.extents[k + 2], one.dilation[k],
                 one.strides[k], result.extents[k + 2]);
  }
}

void expect(const DnnGraph& graph, const DnnPointwise& one) {
  const DnnTensor &x = tensorOf(graph, one.x), &y = tensorOf(graph, one.y);
  if ((one.mode == DnnPointwise::Mode::add) != (one.b >= 0))
    throwError(ErrorCode::device, "an addition of a graph takes two tensors, all else one");
  bool fits = x.extents == y.extents;
  if (one.b >= 0) {
    const Extents& b = tensorOf(graph, one.b).extents;
    fits &= b.size() == y.extents.size();
    for (std::size_t k = 0; fits && k < b.size(); ++k) fits = b[k] == 1 || b[k] == y.extents[k];
  }
  if (!fits) throwError(ErrorCode::device, "the tensors of a pointwise operation do not fit together");
}

// Of q, k, v: N x heads x T x width.
void expect(const DnnGraph& graph, const DnnAttention& one) {
  const DnnTensor &q = tensorOf(graph, one.q), &k = tensorOf(graph, one.k), &v = tensorOf(graph, one.v),
                  &y = tensorOf(graph, one.y), &statistics = tensorOf(graph, one.statistics),
                  &scale = tensorOf(graph, one.scale);
  if (graph.operations.size() != 1) throwError(ErrorCode::device, "attention is a graph by itself");
  Extents keys = q.extents, column = q.extents;
  if (q.extents.size() == 4) {
    keys[2] = k.extents.size() == 4 ? k.extents[2] : 0;
    column[3] = 1;
  }
  if (q.extents.size() != 4 || k.extents != keys || v.extents != keys || y.extents != q.extents ||
      statistics.extents != column || elementsOf(scale.extents) != 1)
    throwError(ErrorCode::device, "the tensors of an attention do not fit together");
  if (q.type == DataType::f32 || k.type != q.type || v.type != q.type || y.type != q.type ||
      statistics.type != DataType::f32 || scale.type != DataType::f32)
    throwError(ErrorCode::device, "attention is computed of bf16 or f16, its statistics and scale are in f32");
  if (q.extents[3] % 8 != 0)
    throwError(ErrorCode::device, "attention has heads of multiples of 8 channels, not of {}", q.extents[3]);
}

struct Reach {
  std::vector<int> reads, writes;
};
Reach reachOf(const DnnConvolution& one) {
  switch (one.kind) {
    case DnnConvolution::Kind::forward:
      return {{one.image, one.weight}, {one.result}};
    case DnnConvolution::Kind::inputGradient:
      return {{one.weight, one.result}, {one.image}};
    case DnnConvolution::Kind::weightGradient:
      return {{one.image, one.result}, {one.weight}};
  }
  return {};
}
Reach reachOf(const DnnPointwise& one) {
  return one.b >= 0 ? Reach{{one.x, one.b}, {one.y}} : Reach{{one.x}, {one.y}};
}
Reach reachOf(const DnnAttention& one) {
  return {{one.q, one.k, one.v, one.scale}, {one.y, one.statistics}};
}

void expectTensor(const DnnTensor& one) {
  if (one.type != DataType::f32 && one.type != DataType::bf16 && one.type != DataType::f16)
    throwError(ErrorCode::device, "tensor {} of a graph is in {}", one.id, toString(one.type));
  if (one.strides.size() != one.extents.size() || elementsOf(one.extents) < 1)
    throwError(ErrorCode::device, "tensor {} of a graph has {} extents and {} strides, and {} elements", one.id,
               one.extents.size(), one.strides.size(), elementsOf(one.extents));
  // In the order of their strides, each axis must reach over those within it.
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t k = 0; k < one.extents.size(); ++k)
    if (one.extents[k] > 1) axes.emplace_back(one.strides[k], one.extents[k]);
  std::sort(axes.begin(), axes.end());
  std::int64_t within = 1;
  for (const auto& [stride, extent] : axes) {
    if (stride < within) throwError(ErrorCode::device, "the elements of tensor {} of a graph overlap", one.id);
    within = stride * extent;
  }
}

// The numbers of tensors of a graph, plain, while it runs.
class Run {
 public:
  Run(const DnnGraph& graph, const DnnCall& call) : m_graph(graph), m_call(call) {}

  void operator()(const DnnConvolution& one) {
    const Reach reach = reachOf(one);
    const std::vector<double>& a = factor(reach.reads[0]);
    const std::vector<double>& b = factor(reach.reads[1]);
    std::vector<double> sums(static_cast<std::size_t>(elementsOf(tensorOf(m_graph, reach.writes[0]).extents)));
    double* const to = sums.data();
    forProducts(
        m_graph, one,
        [&](std::int64_t image, std::int64_t step, std::int64_t weight, std::int64_t result, std::int64_t count) {
          switch (one.kind) {
            case DnnConvolution::Kind::forward:
              for (std::int64_t i = 0; i < count; ++i) to[result + i] += a.data()[image + i * step] * b.data()[weight];
              break;
            case DnnConvolution::Kind::inputGradient:
              for (std::int64_t i = 0; i < count; ++i) to[image + i * step] += a.data()[weight] * b.data()[result + i];
              break;
            case DnnConvolution::Kind::weightGradient:
              for (std::int64_t i = 0; i < count; ++i) to[weight] += a.data()[image + i * step] * b.data()[result + i];
              break;
          }
        });
    write(reach.writes[0], std::move(sums));
  }

  void operator()(const DnnPointwise& one) {
    std::vector<double> y = read(one.x);
    const DnnTensor& to = tensorOf(m_graph, one.y);
    if (one.mode == DnnPointwise::Mode::relu)
      for (double& value : y) value = value < 0 ? 0 : value;
    if (one.mode == DnnPointwise::Mode::add) {
      const std::vector<double>& b = read(one.b);
      const Extents& extents = tensorOf(m_graph, one.b).extents;
      Extents strides = plainStrides(extents);
      for (std::size_t k = 0; k < strides.size(); ++k)
        if (extents[k] == 1) strides[k] = 0;
      Extents index(to.extents.size());
      std::size_t i = 0;
      do {
        y[i++] += b[static_cast<std::size_t>(placeOf(index, strides))];
      } while (next(index, to.extents));
    }
    write(one.y, std::move(y));
  }

  void operator()(const DnnAttention& one) {
    const Extents &queries = tensorOf(m_graph, one.q).extents, &keys = tensorOf(m_graph, one.k).extents;
    const auto rows = static_cast<std::size_t>(queries[2]), seen = static_cast<std::size_t>(keys[2]),
               width = static_cast<std::size_t>(queries[3]);
    const std::vector<double> q = read(one.q), k = read(one.k), v = read(one.v);
    const double scale = read(one.scale)[0];
    std::vector<double> y(q.size()), statistics(q.size() / width), scores(seen);
    for (std::size_t row = 0; row < statistics.size(); ++row) {
      const std::size_t first = row / rows * seen;  // of its keys
      double highest = -INFINITY, sum = 0;
      for (std::size_t j = 0; j < seen; ++j) {
        scores[j] = 0;
        for (std::size_t c = 0; c < width; ++c) scores[j] += scale * q[row * width + c] * k[(first + j) * width + c];
        highest = std::max(highest, scores[j]);
      }
      for (double& score : scores) sum += score = std::exp(score - highest);
      for (std::size_t j = 0; j < seen; ++j)
        for (std::size_t c = 0; c < width; ++c) y[row * width + c] += scores[j] / sum * v[(first + j) * width + c];
      statistics[row] = highest + std::log(sum);
    }
    write(one.y, std::move(y));
    write(one.statistics, std::move(statistics));
  }

 private:
  std::byte* addressOf(const DnnTensor& tensor) const {
    for (const auto& [id, address] : m_call.tensors)
      if (id == tensor.id && address != nullptr) return address;
    throwError(ErrorCode::internal, "graph '{}' is run without its tensor {}", m_call.plan->name, tensor.id);
  }

  const std::vector<double>& read(int id) {
    const DnnTensor& tensor = tensorOf(m_graph, id);
    const auto found = m_values.find(id);
    if (found != m_values.end()) return found->second;
    std::vector<double> values;
    const std::byte* const from = addressOf(tensor);
    Extents index(tensor.extents.size());
    do {
      values.push_back(loadNumber(from, tensor.type, placeOf(index, tensor.strides)));
    } while (next(index, tensor.extents));
    return m_values[id] = std::move(values);
  }

  const std::vector<double>& factor(int id) {
    const std::vector<double>& values = read(id);
    if (!m_graph.tf32 || tensorOf(m_graph, id).type != DataType::f32) return values;
    std::vector<double>& rounded = m_factors[id];
    rounded = values;
    for (double& value : rounded) value = roundedToTf32(value);
    return rounded;
  }

  // Rounded to the tensor's type, also where it is virtual.
  void write(int id, std::vector<double> values) {
    const DnnTensor& tensor = tensorOf(m_graph, id);
    Extents index(tensor.extents.size());
    std::byte* const to = tensor.isVirtual ? nullptr : addressOf(tensor);
    std::size_t i = 0;
    do {
      std::byte rounded[8];
      storeNumber(rounded, tensor.type, 0, values[i]);
      values[i] = loadNumber(rounded, tensor.type, 0);
      if (to != nullptr) storeNumber(to, tensor.type, placeOf(index, tensor.strides), values[i]);
      ++i;
    } while (next(index, tensor.extents));
    m_values[id] = std::move(values);
  }

  const DnnGraph& m_graph;
  const DnnCall& m_call;
  std::map<int, std::vector<double>> m_values, m_factors;
};

}  // namespace

std::shared_ptr<const DnnPlan> planOf(const DnnGraph& graph, std::size_t workspaceLimit) {
  std::set<int> computed, known;
  for (const DnnTensor& one : graph.tensors) {
    expectTensor(one);
    if (!known.insert(one.id).second) throwError(ErrorCode::device, "a graph has two tensors {}", one.id);
  }
  if (graph.operations.empty()) throwError(ErrorCode::device, "a graph has no operations");
  for (const auto& operation : graph.operations) {
    std::visit([&](const auto& one) { expect(graph, one); }, operation);
    const Reach reach = std::visit([](const auto& one) { return reachOf(one); }, operation);
    for (const int id : reach.reads)
      if (tensorOf(graph, id).isVirtual && !computed.contains(id))
        throwError(ErrorCode::device, "virtual tensor {} of a graph is read before it is computed", id);
    for (const int id : reach.writes)
      if (!computed.insert(id).second) throwError(ErrorCode::device, "tensor {} of a graph is computed twice", id);
  }
  auto plan = std::make_shared<Plan>();
  plan->graph = graph;
  plan->workspaceBytes = std::min<std::size_t>(workspaceLimit, 1024);
  plan->name = fmt::format("{} operations over {} tensors", graph.operations.size(), graph.tensors.size());
  return plan;
}

void interpret(const DnnCall& call) {
  const auto* const plan = dynamic_cast<const Plan*>(call.plan.get());
  if (plan == nullptr) throwError(ErrorCode::internal, "a graph is run by a plan of another device");
  Run run(plan->graph, call);
  for (const auto& operation : plan->graph.operations) std::visit(run, operation);
}

}  // namespace loom::cuda::fake

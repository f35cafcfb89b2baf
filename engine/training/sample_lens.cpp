#include "engine/training/sample_lens.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "engine/base/error.h"
#include "engine/network/analysis.h"
#include "engine/network/lower_tensors.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "engine/program/builder.h"

namespace loom {
namespace {

// A look must not take the memory that a training beside it needs.
constexpr std::size_t kMostLensBytes = std::size_t{4} << 30;
constexpr std::int64_t kAtOnce = 16;        // samples without a window, computed together
constexpr std::int64_t kMostLooks = 20000;  // windows: beyond, a person waits for minutes
// No node is called so: names hold no spaces.
constexpr const char *kChosen = " chosen", *kScore = " score", *kSlope = " slope";

// The part that leads to a node, so that losses, and the labels that they compare with, are not wanted.
Network leadingTo(const Network& network, const std::string& node) {
  std::set<std::string> wanted{node};
  for (bool grew = true; grew;) {
    grew = false;
    for (const Edge& edge : network.edges)
      if (wanted.contains(edge.to.node)) grew |= wanted.insert(edge.from.node).second;
  }
  Network part;
  part.name = network.name;
  for (const Node& each : network.nodes)
    if (wanted.contains(each.id)) part.nodes.push_back(each);
  for (const Edge& each : network.edges)
    if (wanted.contains(each.to.node)) part.edges.push_back(each);
  return part;
}

// The node whose output is called so.
const Node& nodeOf(const Network& network, const std::string& result) {
  for (const Node& node : network.nodes) {
    const LayerDefinition* const layer = findLayer(node.layer);
    for (std::size_t port = 0; layer && port < layer->entry.outputs.size(); ++port)
      if (resultName(node, port) == result) return node;
  }
  throwError(ErrorCode::badArgument, "network '{}' has no output '{}'", network.name, result);
}

// Its value and what it hangs on: the forward part with every layer as a result, and the slopes of the chosen value.
Program withSlopes(Program forward, const std::string& output, const std::string& seen) {
  ProgramBuilder builder(std::move(forward));
  Program& program = builder.program();
  const std::vector<NamedResult> layers = program.results;
  const auto found =
      std::find_if(layers.begin(), layers.end(), [&](const NamedResult& each) { return each.name == output; });
  if (found == layers.end()) throwError(ErrorCode::internal, "nothing is known of what '{}' gives", output);
  if (builder.tensor(found->tensor).type != DataType::f32) return builder.take();  // a choice has no slope
  const TensorId chosen = builder.input(kChosen, builder.shape(found->tensor), DataType::f32);
  const TensorId product = builder.add("binary", {found->tensor, chosen}, {{"function", "multiply"}});
  const TensorId score =
      builder.shape(product).rank() == 0 ? product : builder.add("reduce", {product}, {{"function", "sum"}});
  builder.result(kScore, ResultKind::loss, score);
  std::vector<std::pair<std::string, TensorId>> wanted;
  for (const NamedResult& each : layers) {
    const Tensor& tensor = builder.tensor(each.tensor);
    if (tensor.type == DataType::f32 && tensor.role != TensorRole::parameter &&
        (each.name == seen || tensor.shape.rank() == 4))
      wanted.emplace_back(each.name, each.tensor);
  }
  std::vector<TensorId> targets;
  for (const auto& [name, tensor] : wanted) targets.push_back(tensor);
  const std::vector<TensorId> slopes = gradientsOf(builder, targets);
  for (std::size_t i = 0; i < slopes.size(); ++i)
    if (slopes[i] != kNoTensor) builder.result(wanted[i].first + kSlope, ResultKind::output, slopes[i]);
  eliminateDeadCode(program);
  return builder.take();
}

std::vector<std::int64_t> startsOf(std::int64_t size, std::int64_t window, std::int64_t stride) {
  std::vector<std::int64_t> starts;
  for (std::int64_t at = 0; at + window < size; at += stride) starts.push_back(at);
  starts.push_back(std::max<std::int64_t>(size - window, 0));  // the last one ends where the sample ends
  return starts;
}

// Rows and columns of a sample; what stands before them are channels.
struct Places {
  explicit Places(const Shape& shape)
      : height(shape.rank() < 2 ? 1 : shape[-2]),
        width(shape.rank() == 0 ? 1 : shape[-1]),
        channels(shape.elements() / std::max<std::int64_t>(height * width, 1)) {}
  std::int64_t height, width, channels;
};

}  // namespace

SampleLens::SampleLens(Backend& backend, ParameterStore& store, const Network& network, const std::string& output,
                       std::uint64_t seed, int threads)
    : m_backend(backend),
      m_store(store),
      m_network(leadingTo(network, nodeOf(network, output).id)),
      m_output(output),
      m_seed(seed),
      m_options({.threads = threads}) {
  Program forward = lowerForTensors(m_network, {.batch = 1, .seed = seed, .training = false});
  for (const Tensor& tensor : forward.tensors) {
    if (tensor.role != TensorRole::input) continue;
    m_inputs[tensor.name].resize(static_cast<std::size_t>(tensor.shape.elements()) * bytesOf(tensor.type));
    const bool larger = m_seen.empty() || tensor.shape.elements() > m_seenShape.elements();
    if (tensor.type == DataType::f32 && larger) m_seen = tensor.name, m_seenShape = tensor.shape.withoutFirst();
  }
  // A result of rank 0 is a mean over the batch, which is one sample here.
  for (const NamedResult& each : forward.results) {
    const Shape& shape = forward.tensor(each.tensor).shape;
    m_layers.push_back({each.name, shape.rank() > 0 ? shape.withoutFirst() : shape});
  }
  Program program = withSlopes(std::move(forward), m_output, m_seen);
  const BufferPlan::Extent extent = m_backend.measure(program, m_options);
  if (const std::size_t bytes = extent.shared + extent.lasting; bytes > kMostLensBytes)
    throwError(ErrorCode::device, "all layers of one sample and their slopes take {:.1f} GiB, and a look may take {}",
               static_cast<double>(bytes) / (1 << 30), kMostLensBytes >> 30);
  m_store.ensure(program.parameters);
  m_single = m_backend.compile(std::move(program), m_store, m_options);
}

SampleLens::~SampleLens() = default;

const Program& SampleLens::program() const {
  return m_single->program();
}

std::span<std::byte> SampleLens::input(const std::string& name) {
  m_ran = false;
  return m_inputs.at(name);
}

const SampleLens::Layer& SampleLens::layer(const std::string& name) const {
  std::string names;
  for (const Layer& each : m_layers) {
    if (each.name == name) return each;
    names += (names.empty() ? "" : ", ") + each.name;
  }
  throwError(ErrorCode::badArgument, "'{}' is no layer that leads to '{}': there are {}", name, m_output, names);
}

const SampleLens::Layer& SampleLens::lastWithPlaces() const {
  const auto found = std::find_if(m_layers.rbegin(), m_layers.rend(), [this](const Layer& each) {
    return each.hasPlaces() && each.name != m_output && !m_inputs.contains(each.name);
  });
  if (found == m_layers.rend())
    throwError(ErrorCode::badArgument,
               "Grad-CAM weighs the channels of a layer with places, and '{}' has none before '{}': take the gradient "
               "or occlusion",
               m_network.name, m_output);
  return *found;
}

LensValue SampleLens::checked(LensValue value) const {
  const std::int64_t all = layer(m_output).shape.elements();
  if (value.at < 0 || value.at >= all)
    throwError(ErrorCode::badArgument, "value {} of '{}' was asked for, and it has {}, counted from 0", value.at,
               m_output, all);
  return value;
}

void SampleLens::requireNumbers(const char* what) const {
  if (m_seen.empty())
    throwError(ErrorCode::badArgument,
               "{} asks how what is said changes with the numbers of a sample, and every input of '{}' holds whole "
               "numbers: look at its layers",
               what, m_network.name);
}

void SampleLens::fill(Executable& executable, std::int64_t copies) const {
  for (const auto& [name, bytes] : m_inputs) {
    const std::span<std::byte> to = executable.input(name);
    if (to.size() != bytes.size() * static_cast<std::size_t>(copies))
      throwError(ErrorCode::internal, "input '{}' takes {} bytes, but {} are given", name, to.size(), bytes.size());
    for (std::int64_t i = 0; i < copies; ++i)
      std::memcpy(to.data() + static_cast<std::size_t>(i) * bytes.size(), bytes.data(), bytes.size());
  }
}

void SampleLens::run(LensValue value) {
  if (m_ran && m_value.at == value.at && m_value.every == value.every) return;
  fill(*m_single, 1);
  if (program().findTensor(kChosen, TensorRole::input) != kNoTensor) {
    const std::span<std::byte> chosen = m_single->input(kChosen);
    std::memset(chosen.data(), 0, chosen.size());
    const auto count = static_cast<std::int64_t>(chosen.size() / sizeof(float));
    for (std::int64_t at = value.at; at<count; at += value.every> 0 ? value.every : count)
      reinterpret_cast<float*>(chosen.data())[at] = 1;
  }
  m_single->run({});
  m_ran = true;
  m_value = value;
}

std::vector<float> SampleLens::read(const std::string& result) const {
  const auto& results = program().results;
  const auto found =
      std::find_if(results.begin(), results.end(), [&](const NamedResult& each) { return each.name == result; });
  if (found == results.end()) return {};
  std::vector<float> values(static_cast<std::size_t>(program().tensor(found->tensor).shape.elements()));
  m_single->readResult(result, values);
  return values;
}

std::vector<float> SampleLens::output() {
  run(m_ran ? m_value : LensValue());
  return read(m_output);
}

std::vector<float> SampleLens::valuesOf(const std::string& name) {
  layer(name);
  run(m_ran ? m_value : LensValue());
  return read(name);
}

std::vector<float> SampleLens::slopes(LensValue value) {
  requireNumbers("a gradient");
  run(checked(value));
  std::vector<float> slopes = read(m_seen + kSlope);
  if (slopes.empty()) slopes.assign(static_cast<std::size_t>(m_seenShape.elements()), 0);  // nothing of it arrives
  return slopes;
}

SampleMap SampleLens::gradient(LensValue value) {
  const std::vector<float> slopes = this->slopes(value);
  const Places places(m_seenShape);
  const auto area = static_cast<std::size_t>(places.height * places.width);
  SampleMap map{places.height, places.width, std::vector<float>(area, 0)};
  for (std::size_t i = 0; i < area; ++i) {
    if (places.channels == 1) map.values[i] = slopes[i];
    for (std::size_t c = 0; places.channels > 1 && c < static_cast<std::size_t>(places.channels); ++c)
      map.values[i] = std::max(map.values[i], std::abs(slopes[c * area + i]));
  }
  return map;
}

SampleMap SampleLens::gradCam(LensValue value, const std::string& name) {
  const Layer& chosen = name.empty() ? lastWithPlaces() : layer(name);
  if (!chosen.hasPlaces())
    throwError(ErrorCode::badArgument,
               "Grad-CAM weighs the channels of a layer with places (channels×rows×columns), and '{}' is {}: take '{}'",
               chosen.name, chosen.shape.toString(), lastWithPlaces().name);
  run(checked(value));
  const std::vector<float> values = read(chosen.name), slopes = read(chosen.name + kSlope);
  const auto channels = static_cast<std::size_t>(chosen.shape[0]),
             area = static_cast<std::size_t>(chosen.shape[1] * chosen.shape[2]);
  SampleMap map{chosen.shape[1], chosen.shape[2], std::vector<float>(area, 0)};
  if (slopes.empty()) return map;
  std::vector<double> sums(area, 0);
  for (std::size_t k = 0; k < channels; ++k) {
    double weight = 0;
    for (std::size_t i = 0; i < area; ++i) weight += slopes[k * area + i];
    weight /= static_cast<double>(area);
    for (std::size_t i = 0; i < area; ++i) sums[i] += weight * values[k * area + i];
  }
  for (std::size_t i = 0; i < area; ++i) map.values[i] = static_cast<float>(std::max(sums[i], 0.0));
  return map;
}

SampleMap SampleLens::occlusion(LensValue value, const OcclusionOptions& options) {
  requireNumbers("occlusion");
  checked(value);
  const Places places(m_seenShape);
  const bool row = places.height == 1;
  const std::int64_t shorter = row ? places.width : std::min(places.height, places.width);
  // Columns of a table are left out one by one.
  const std::int64_t usual = m_seenShape.rank() < 2 ? 1 : std::max<std::int64_t>(1, (shorter + 2) / 4);
  const std::int64_t window = options.window > 0 ? options.window : usual;
  const std::int64_t stride = options.stride > 0 ? options.stride : std::max<std::int64_t>(1, window / 2);
  const std::int64_t tall = std::min(window, places.height), wide = std::min(window, places.width);
  std::vector<std::pair<std::int64_t, std::int64_t>> corners;
  const std::vector<std::int64_t> rows = startsOf(places.height, tall, stride),
                                  columns = startsOf(places.width, wide, stride);
  if (static_cast<std::int64_t>(rows.size() * columns.size()) > kMostLooks)
    throwError(ErrorCode::badArgument,
               "windows of {} places every {} are {} of them, and {} are the most: take larger steps", window, stride,
               rows.size() * columns.size(), kMostLooks);
  for (const std::int64_t y : rows)
    for (const std::int64_t x : columns) corners.emplace_back(y, x);

  if (!m_many) {
    Program program = lowerForPrediction(m_network, {.batch = kAtOnce, .seed = m_seed, .training = false});
    m_store.ensure(program.parameters);
    m_many = m_backend.compile(std::move(program), m_store, m_options);
  }
  const auto score = [&](std::span<const float> said) -> double {
    if (options.score) return options.score(said);
    double sum = 0;
    for (std::size_t at = static_cast<std::size_t>(value.at);
         at<said.size(); at += value.every> 0 ? static_cast<std::size_t>(value.every) : said.size())
      sum += said[at];
    return sum;
  };
  const auto width = static_cast<std::size_t>(layer(m_output).shape.elements());
  std::vector<float> said(width * kAtOnce);
  const auto area = static_cast<std::size_t>(places.height * places.width);
  std::vector<double> sums(area, 0);
  std::vector<int> covered(area, 0);
  m_ran = false;  // the machine's memory is the other program's now
  std::optional<double> whole;
  // The sample itself stands before the first window.
  for (std::size_t next = 0; next < corners.size();) {
    if (options.stopped && options.stopped()) throwError(ErrorCode::stopped, "the look was stopped");
    fill(*m_many, kAtOnce);
    auto* const numbers = reinterpret_cast<float*>(m_many->input(m_seen).data());
    const std::size_t from = whole ? 0 : 1, count = std::min(corners.size() - next, std::size_t{kAtOnce} - from);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [top, left] = corners[next + i];
      float* const sample = numbers + (from + i) * area * static_cast<std::size_t>(places.channels);
      for (std::int64_t c = 0; c < places.channels; ++c)
        for (std::int64_t y = top; y < top + tall; ++y)
          std::fill_n(sample + (c * places.height + y) * places.width + left, wide, 0.0F);
    }
    m_many->run({});
    m_many->readResult(m_output, said);
    const auto of = [&](std::size_t i) { return score({said.data() + i * width, width}); };
    if (!whole) whole = of(0);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [top, left] = corners[next + i];
      const double less = *whole - of(from + i);
      for (std::int64_t y = top; y < top + tall; ++y)
        for (std::int64_t x = left; x < left + wide; ++x) {
          const auto at = static_cast<std::size_t>(y * places.width + x);
          sums[at] += less;
          ++covered[at];
        }
    }
    next += count;
  }
  SampleMap map{places.height, places.width, std::vector<float>(area, 0)};
  for (std::size_t i = 0; i < area; ++i)
    map.values[i] = covered[i] > 0 ? static_cast<float>(sums[i] / covered[i]) : 0.0F;
  return map;
}

}  // namespace loom

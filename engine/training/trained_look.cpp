#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/error.h"
#include "engine/network/analysis.h"
#include "engine/training/feed.h"
#include "engine/training/files_to_predict.h"
#include "engine/training/image_input.h"
#include "engine/training/sample_lens.h"
#include "engine/training/trained_network.h"

namespace loom {
namespace {

constexpr std::int64_t kLargestPicture = std::int64_t{1} << 22;  // bytes that are told with an answer
constexpr std::int64_t kMostClasses = 65536;                     // of a place, that are told place by place

constexpr std::pair<const char*, LookMethod> kMethods[] = {
    {"gradient", LookMethod::gradient}, {"grad-cam", LookMethod::gradCam}, {"occlusion", LookMethod::occlusion}};

std::int64_t classesOf(const PredictedOutput& output) {
  return output.shape.rank() == 0 ? 1 : output.shape[-1];
}

// The numbers before the softmax or sigmoid as shares; numbers as they are.
std::vector<float> sharesOf(const PredictedOutput& output, bool logits, std::span<const float> raw) {
  std::vector<float> said(raw.begin(), raw.end());
  if (output.kind == OutputKind::chance && logits)
    for (float& each : said) each = 1 / (1 + std::exp(-each));
  if (output.kind != OutputKind::classes) return said;
  const auto width = static_cast<std::size_t>(classesOf(output));
  for (std::size_t at = 0; at + width <= said.size(); at += width) {
    const auto first = said.begin() + static_cast<std::ptrdiff_t>(at),
               last = first + static_cast<std::ptrdiff_t>(width);
    const float greatest = *std::max_element(first, last);
    double sum = 0;
    for (auto each = first; each != last; ++each) sum += * each = std::exp(*each - greatest);
    for (auto each = first; each != last; ++each) *each = static_cast<float>(*each / sum);
  }
  return said;
}

// Of a picture of classes what is said most at each place, and what is true there.
ClassMap classMapOf(const PredictedOutput& output, std::span<const float> said, const Dataset& data,
                    std::int64_t sample) {
  const std::int64_t width = classesOf(output);
  if (output.kind != OutputKind::classes || output.shape.rank() != 3 || width > kMostClasses) return {};
  ClassMap map{.height = output.shape[0], .width = output.shape[1], .said = {}, .truth = {}};
  for (auto at = said.begin(); at != said.end(); at += width)
    map.said.push_back(static_cast<std::uint16_t>(std::max_element(at, at + width) - at));
  const int variable = data.schema().indexOf(output.target);
  if (variable < 0) return map;
  const std::span<const std::byte> bytes = data.read(sample, static_cast<std::size_t>(variable));
  const bool single = data.schema().variables[static_cast<std::size_t>(variable)].type == DataType::u8;
  if (bytes.size() != map.said.size() * (single ? 1 : sizeof(float))) return map;
  for (std::size_t i = 0; i < map.said.size(); ++i) {
    float truth = static_cast<float>(bytes[i]);
    if (!single) std::memcpy(&truth, bytes.data() + i * sizeof truth, sizeof truth);
    map.truth.push_back(static_cast<std::uint16_t>(truth >= 0 && truth < static_cast<float>(width) ? truth : 0));
  }
  return map;
}

// Which value a person means by a class's word or a number; empty: what is said most.
std::int64_t valueOf(const PredictedOutput& output, const std::vector<float>& said, const std::string& of) {
  const bool classes = output.kind == OutputKind::classes;
  const std::int64_t all = classes ? classesOf(output) : output.shape.elements();
  if (output.kind == OutputKind::chance && all == 1) return 0;  // that of class 1, whichever of the two is named
  if (of.empty()) {
    if (output.kind == OutputKind::numbers || said.empty()) return 0;
    const auto most = std::max_element(said.begin(), said.end(), [](float a, float b) { return a < b; });
    return (most - said.begin()) % std::max<std::int64_t>(all, 1);
  }
  const auto word = std::find(output.classes.begin(), output.classes.end(), of);
  if (classes && word != output.classes.end()) return word - output.classes.begin();
  const bool number = std::all_of(of.begin(), of.end(), [](char c) { return c >= '0' && c <= '9'; }) && of.size() < 10;
  if (!number || std::stoll(of) >= all)
    throwError(ErrorCode::badArgument, "'{}' is none of what is said of a sample: {}", of,
               classes && !output.classes.empty()
                   ? fmt::format("name one of its {} classes, {} say", all, output.classes.front())
                   : fmt::format("name a number from 0 to {}", all - 1));
  return std::stoll(of);
}

SampleMap mapOf(SampleLens& lens, const LookRequest& request, const TrainedNetworkOptions& options, LensValue value,
                std::function<double(std::span<const float>)> share) {
  switch (request.method) {
    case LookMethod::gradient:
      return lens.gradient(value);
    case LookMethod::gradCam:
      return lens.gradCam(value, request.layer);
    case LookMethod::occlusion:
      return lens.occlusion(
          value, {.window = request.window, .stride = request.stride, .score = std::move(share), .stopped = [&options] {
                    return options.stop && *options.stop;
                  }});
    case LookMethod::none:
      break;
  }
  return {};
}

}  // namespace

LookMethod lookMethod(std::string_view word) {
  for (const auto& [name, method] : kMethods)
    if (word == name) return method;
  throwError(ErrorCode::badArgument, "'{}' is no way to look at a sample: there are gradient, grad-cam and occlusion",
             word);
}

const OpenedDataset& TrainedNetwork::openToLook(const LookRequest& request, const std::vector<std::string>& inputs) {
  if (request.file.empty()) return m_data.open(request.dataset.empty() ? usualDataset() : request.dataset, trainedOn());
  if (!m_looked || m_lookedFile != request.file) {
    m_looked.reset();
    m_lookedFiles.reset();
    const std::string input = inputs.size() == 1 ? Feed::variableOf(network(), inputs.front()) : std::string();
    auto files = std::make_unique<FilesToPredict>(std::vector{request.file}, input);
    m_looked = openToPredict(*files, network(), inputs, FileUse::predict);
    m_lookedFiles = std::move(files);
    m_lookedFile = request.file;
  }
  return *m_looked;
}

LookAnswer TrainedNetwork::look(const LookRequest& request) {
  const Network& drawn = network();
  const Program one = lowerForPrediction(drawn, {.batch = 1, .seed = m_settings.seed, .training = false});
  const std::vector<NamedOutput> outputs = outputsOf(one);
  const auto chosen = std::find_if(outputs.begin(), outputs.end(), [&](const NamedOutput& each) {
    return request.output.empty() || each.output.name == request.output;
  });
  if (chosen == outputs.end())
    throwError(ErrorCode::badArgument, "network '{}' says nothing that is called '{}'", drawn.name, request.output);
  std::unique_ptr<SampleLens>& lens = m_lenses[chosen->result];
  if (!lens) {
    lens = std::make_unique<SampleLens>(m_backend, m_store, drawn, chosen->result, m_settings.seed, m_settings.threads);
    restore();
  }

  std::vector<std::string> inputs;
  for (const Tensor& tensor : one.tensors)
    if (tensor.role == TensorRole::input && tensor.name != kSamplesInput) inputs.push_back(tensor.name);
  const OpenedDataset& opened = openToLook(request, inputs);
  if (request.sample < 0 || request.sample >= opened.data->size())
    throwError(ErrorCode::badArgument, "sample {} was asked for, but '{}' has {}", request.sample + 1, opened.name,
               opened.data->size());
  Feed feed(opened.data, {.name = opened.name,
                          .prepare = opened.prepare,
                          .batch = 1,
                          .shuffle = false,
                          .random = false,
                          .seed = m_settings.seed});
  // Of the network's inputs those alone that lead to this output; the lens has one more, which no dataset holds.
  Program bound = one;
  std::erase_if(bound.tensors, [&](const Tensor& tensor) {
    return tensor.role == TensorRole::input && lens->program().findTensor(tensor.name, TensorRole::input) == kNoTensor;
  });
  const auto bindings = feed.bind(drawn, bound);
  feed.start(0, request.sample);
  const Batch& batch = feed.next();
  for (const Feed::Binding& binding : bindings) {
    const std::span<std::byte> to = lens->input(binding.input);
    if (binding.input == kSamplesInput) {
      const std::int64_t numbers[] = {batch.rows.front(), batch.epoch};
      std::memcpy(to.data(), numbers, sizeof numbers);
    } else {
      std::memcpy(to.data(), batch.columns[binding.column].data(), std::min(to.size(), binding.bytesPerSample));
    }
  }

  LookAnswer answer;
  SampleLook& look = answer.look;
  look.checkpoint = m_run.checkpoint().string();
  look.step = m_step;
  look.sample = request.sample;
  look.samples = opened.data->size();
  look.output = chosen->output;
  const auto shares = [&](std::span<const float> raw) { return sharesOf(chosen->output, chosen->logits, raw); };
  look.said = shares(lens->output());
  look.value = valueOf(look.output, look.said, request.of);
  look.classes = classMapOf(look.output, look.said, *opened.data, request.sample);
  const bool positions =
      look.output.kind == OutputKind::classes && look.output.shape.elements() > classesOf(look.output);
  const LensValue value{look.value, positions ? classesOf(look.output) : 0};
  look.input = lens->seen();
  if (!look.input.empty()) look.shape = lens->layer(look.input).shape;
  for (const SampleLens::Layer& each : lens->layers()) look.layers.push_back({each.name, each.shape});
  const auto share = [&, value](std::span<const float> raw) {
    const std::vector<float> said = shares(raw);
    double sum = 0;
    for (auto at = static_cast<std::size_t>(value.at);
         at<said.size(); at += value.every> 0 ? static_cast<std::size_t>(value.every) : said.size())
      sum += said[at];
    return sum;
  };
  look.map = mapOf(*lens, request, m_options, value, share);
  for (const auto& [name, method] : kMethods)
    if (method == request.method) look.method = name;
  // Where nothing has places, what is said is looked at.
  const auto& layers = lens->layers();
  look.layer = !request.layer.empty() ? request.layer
               : std::any_of(layers.begin(), layers.end(),
                             [&](const SampleLens::Layer& each) {
                               return each.hasPlaces() && each.name != chosen->result && each.name != look.input;
                             })
                   ? lens->lastWithPlaces().name
                   : chosen->result;
  if (request.layers) answer.layer = summarise(lens->layer(look.layer).shape, lens->valuesOf(look.layer), false);

  const Variable* const picture =
      look.input.empty() ? nullptr : opened.data->schema().find(Feed::variableOf(drawn, look.input));
  if (picture && static_cast<std::int64_t>(picture->elementLabels.size()) == look.shape.elements())
    look.names = picture->elementLabels;
  if (picture && picture->kind == VariableKind::image && picture->type == DataType::u8) {
    const std::span<const std::byte> bytes = opened.data->read(
        request.sample, static_cast<std::size_t>(opened.data->schema().indexOf(picture->name)), &look.pictureShape);
    if (static_cast<std::int64_t>(bytes.size()) <= kLargestPicture) look.picture.assign(bytes.begin(), bytes.end());
  }
  return answer;
}

}  // namespace loom

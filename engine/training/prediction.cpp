#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/columns/target_meaning.h"
#include "engine/data/prepare.h"
#include "engine/network/analysis.h"
#include "engine/program/builder.h"
#include "engine/training/feed.h"
#include "engine/training/figures.h"
#include "engine/training/files_to_predict.h"
#include "engine/training/image_input.h"
#include "engine/training/prediction_csv.h"
#include "engine/training/row_notes.h"
#include "engine/training/target_unit.h"
#include "engine/training/trained_network.h"

namespace loom {
namespace {

// Executables that stay for the next prediction. Each of a pass stands in it until its batch has been read.
constexpr std::size_t kKeptBatches = 6;

// As the dataset stores it; `to` is written over.
void rawValues(const Dataset& data, std::int64_t row, std::size_t variable, std::vector<float>& to) {
  const std::span<const std::byte> bytes = data.read(row, variable);
  if (data.schema().variables[variable].type == DataType::u8) {
    to.resize(bytes.size());
    std::transform(bytes.begin(), bytes.end(), to.begin(), [](std::byte byte) { return static_cast<float>(byte); });
    return;
  }
  const auto* const numbers = reinterpret_cast<const float*>(bytes.data());
  to.assign(numbers, numbers + bytes.size() / sizeof(float));
}

bool reads(const Schema& schema, const Network& network) {
  const std::vector<DatasetInput> inputs = datasetInputs(network);
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](const DatasetInput& input) { return schema.find(input.variable) != nullptr; });
}

struct Output {
  std::string result;         // in the program
  int variable = -1;          // of the target in the file that is read
  TargetUnit unit;            // of numbers
  TargetUnit trained;         // in which a loss compares
  std::vector<float> values;  // of a batch
};

// As it may be compared with what was said: numbers in their unit, chances as they were trained.
void truthOf(const Dataset& data, std::int64_t row, const Output& output, OutputKind::Kind kind,
             std::vector<float>& truth) {
  truth.clear();
  if (output.variable < 0) return;
  rawValues(data, row, static_cast<std::size_t>(output.variable), truth);
  kind == OutputKind::chance ? output.trained.prepare(truth) : output.unit.restoreColumns(truth);
}

std::vector<std::string> inputsOf(const Program& program) {
  std::vector<std::string> inputs;
  for (const Tensor& tensor : program.tensors)
    if (tensor.role == TensorRole::input && tensor.name != kSamplesInput) inputs.push_back(tensor.name);
  return inputs;
}

}  // namespace

std::vector<TrainedNetwork::NamedOutput> TrainedNetwork::outputsOf(const Program& one) const {
  std::vector<NamedOutput> outputs;
  for (const NamedResult& result : one.results) {
    if (result.kind != ResultKind::output) continue;
    const OutputTarget target = targetOf(network(), result.name);
    NamedOutput named{result.name,
                      {.name = (target.variable.empty() ? result.name : target.variable) + "'",
                       .target = target.variable,
                       .kind = target.softmax                  ? OutputKind::classes
                               : target.chance || target.unary ? OutputKind::chance
                                                               : OutputKind::numbers,
                       .shape = one.tensor(result.tensor).shape.withoutFirst(),
                       .classes = {}},
                      target.unary != nullptr};
    const auto same = [&](const NamedOutput& other) { return other.output.name == named.output.name; };
    if (std::any_of(outputs.begin(), outputs.end(), same)) named.output.name = result.name + "'";
    if (named.output.kind != OutputKind::numbers) named.output.classes = classNames(m_description, target.variable);
    outputs.push_back(std::move(named));
  }
  return outputs;
}

Predictions TrainedNetwork::predict(const PredictionRequest& request) {
  const Network& drawn = network();
  std::map<std::string, OutputTarget> targets;  // by the program's result
  const auto lowered = [&](std::int64_t batch) {
    ProgramBuilder builder(lowerForPrediction(drawn, {.batch = batch, .seed = m_settings.seed, .training = false}));
    for (NamedResult& result : builder.program().results) {
      // What the loss does inside: the reader wants probabilities, not logits.
      const OutputTarget& target = targets.try_emplace(result.name, targetOf(drawn, result.name)).first->second;
      if (target.softmax)
        result.tensor = builder.add("softmax", {result.tensor}, {{"axis", std::int64_t{-1}}});
      else if (target.unary)
        result.tensor = builder.add("unary", {result.tensor}, {{"function", std::string(target.unary)}});
    }
    return builder.take();
  };
  const auto compiled = [&](std::int64_t batch) -> Executable& {
    if (const auto found = m_predicting.find(batch); found != m_predicting.end()) return *found->second;
    Program program = lowered(batch);
    m_store.ensure(program.parameters);
    restore();
    if (m_predicting.size() >= kKeptBatches) m_predicting.erase(m_predicting.begin());
    return *m_predicting.emplace(batch, m_backend.compile(std::move(program), m_store, m_compile)).first->second;
  };

  const Program one = lowered(1);
  const std::vector<std::string> inputs = inputsOf(one);
  const std::string input = inputs.size() == 1 ? Feed::variableOf(drawn, inputs.front()) : std::string();
  std::optional<FilesToPredict> files;
  if (request.dataset.empty()) files.emplace(request.files, input), files->recognised = request.recognised;
  const OpenedDataset opened =
      files ? openToPredict(*files, drawn, inputs, request.use) : m_data.open(request.dataset, trainedOn());
  const std::shared_ptr<const Dataset>& data = opened.data;
  const std::vector<Json>& prepare = opened.prepare;
  m_predicted = {opened.csv, data->contentHash(), input, prepare, data->size()};
  const auto feedOf = [&](std::int64_t batch) {
    return Feed(data, {.name = opened.name,
                       .prepare = prepare,
                       .batch = batch,
                       .shuffle = false,
                       .random = false,
                       .seed = m_settings.seed});
  };
  Feed feed = feedOf(std::min(m_settings.shard(), std::max<std::int64_t>(data->size(), 1)));

  Predictions predictions;
  predictions.checkpoint = m_run.checkpoint().string();
  if (files) predictions.notes = files->notes, predictions.refused = files->refused;
  std::vector<Output> outputs;
  for (NamedOutput& named : outputsOf(one)) {
    PredictedOutput& output = named.output;
    Variable column{.name = output.target,
                    .label = {},
                    .kind = output.shape.elements() == 1 ? VariableKind::scalar : VariableKind::vector,
                    .shape = output.shape,
                    .elementLabels = {}};
    const int variable = data->schema().indexOf(output.target);
    if (variable >= 0) column = data->schema().variables[static_cast<std::size_t>(variable)];
    if (output.kind == OutputKind::numbers)
      outputs.push_back({named.result, variable, TargetUnit(column, prepare), TargetUnit(column, {}), {}});
    else
      outputs.push_back({named.result, variable, TargetUnit(column, {}), TargetUnit(column, prepare), {}});
    predictions.outputs.push_back(std::move(output));
  }
  if (outputs.empty()) throwError(ErrorCode::badProject, "network '{}' has no output to predict", drawn.name);
  if (!request.out.empty()) predictions.columns = predictedColumns(predictions.outputs);

  const auto bindings = feed.bind(drawn, compiled(feed.batch()).program());
  predictions.step = m_step;
  std::optional<PredictionCsv> csv;
  if (!request.out.empty())
    csv.emplace(files ? files->told() : opened.csv, opened.format, request.out, predictions.outputs);
  std::vector<std::span<const float>> values;
  std::vector<std::vector<float>> truth(outputs.size());
  const auto pass = [&](const Append* append) {
    feed.start(0, 0);
    if (append) csv->header(*append);
    for (bool last = false; !last;) {
      if (m_options.stop && m_options.stop->load(std::memory_order_relaxed))
        throwError(ErrorCode::stopped, "the prediction was stopped");
      const Batch& batch = feed.next();
      last = batch.lastOfEpoch;
      Executable& executable = compiled(batch.size);
      feed.fill(executable, bindings, 0, batch.size);
      executable.run({});
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        Output& output = outputs[i];
        output.values.resize(static_cast<std::size_t>(batch.size * predictions.outputs[i].shape.elements()));
        executable.readResult(output.result, output.values);
        output.unit.restore(output.values);
      }
      for (std::int64_t row = 0; row < batch.size; ++row, ++predictions.samples) {
        values.clear();
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          const auto count = static_cast<std::size_t>(predictions.outputs[i].shape.elements());
          values.emplace_back(outputs[i].values.data() + static_cast<std::size_t>(row) * count, count);
        }
        if (append) csv->row(*append, values);
        if (request.each) {
          for (std::size_t i = 0; i < outputs.size(); ++i)
            truthOf(*data, predictions.samples, outputs[i], predictions.outputs[i].kind, truth[i]);
          request.each(predictions, {predictions.samples, data->sourceRow(predictions.samples), values, truth});
        }
        if (predictions.samples >= request.keep) continue;
        PredictedSample sample{.sample = predictions.samples,
                               .source = files ? files->source(predictions.samples) : std::string(),
                               .cells = {},
                               .marks = {},
                               .outputs = {},
                               .loss = {}};
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          sample.outputs.push_back({{values[i].begin(), values[i].end()}, {}});
          if (outputs[i].variable >= 0) {
            std::vector<float>& known = sample.outputs.back().truth;
            rawValues(*data, sample.sample, static_cast<std::size_t>(outputs[i].variable), known);
            outputs[i].unit.restoreColumns(known);
          }
        }
        predictions.kept.push_back(std::move(sample));
      }
    }
  };
  if (csv)
    writeFileAtomically(request.out, [&](const Append& append) { pass(&append); });
  else
    pass(nullptr);

  if (files && !files->areSamples()) {
    std::vector<RowInput> read;
    for (const DatasetInput& each : datasetInputs(drawn))
      if (std::find(inputs.begin(), inputs.end(), each.node) != inputs.end())
        read.push_back({each.variable, each.shape.elements()});
    tellRows(opened.csv, opened.format, prepare, read, predictions);
  }

  // A loss is a mean over its batch: that of one sample is measured on a batch of one.
  if (predictions.kept.empty() || !reads(data->schema(), drawn)) return predictions;
  Executable& evaluation = m_networks.get({.network = &drawn, .phase = Phase::evaluation, .batch = 1});
  restore();
  const auto& results = evaluation.program().results;
  if (std::none_of(results.begin(), results.end(),
                   [](const NamedResult& each) { return each.kind == ResultKind::loss; }))
    return predictions;
  Feed single = feedOf(1);
  const auto all = single.bind(drawn, evaluation.program());
  single.start(0, 0);
  Figures figures;
  for (PredictedSample& sample : predictions.kept) {
    if (m_options.stop && m_options.stop->load(std::memory_order_relaxed))
      throwError(ErrorCode::stopped, "the prediction was stopped");
    single.next();
    single.fill(evaluation, all, 0, 1);
    figures.run(evaluation, {}, 1);
    sample.loss = figures.take().loss;
  }
  return predictions;
}

}  // namespace loom

#include <algorithm>
#include <cstring>
#include <set>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/csv_cells.h"
#include "engine/network/analysis.h"
#include "engine/program/builder.h"
#include "engine/training/feed.h"
#include "engine/training/trained_run.h"

namespace loom {
namespace {

constexpr std::int64_t kMostColumns = 1000;

struct Output {
  std::string result;    // in the program
  std::string variable;  // "y'"
  Shape shape;           // of one sample
  bool inFiles = false;
  std::vector<float> values;  // of a batch
};

struct Target {
  std::string variable;         // that losses and metrics compare the output with; empty when it comes from no Input
  const char* unary = nullptr;  // what the loss applies to the output inside
  bool softmax = false;
};

Target targetOf(const Network& network, const std::string& node) {
  Target target;
  for (const Edge& edge : network.edges) {
    const Node* end = network.find(edge.to.node);
    const LayerDefinition* layer = end ? findLayer(end->layer) : nullptr;
    if (edge.from.node != node || !layer || layer->entry.category != "lossMetric") continue;
    if (layer->entry.id == "SoftmaxCrossEntropy") target.softmax = true;
    if (layer->entry.id == "BinaryCrossEntropy" && Values(layer->entry, end->values).text("from") == "logits")
      target.unary = "sigmoid";
    for (const Edge& other : network.edges) {
      const Node* input = network.find(other.from.node);
      if (other.to.node != edge.to.node || other.from.node == node || !input || input->layer != "Input" ||
          !target.variable.empty())
        continue;
      target.variable = Feed::variableOf(network, input->id);
    }
  }
  return target;
}

// The text of one record after another, as it stands in the file.
class Records {
 public:
  explicit Records(const std::filesystem::path& csv)
      : m_file(csv), m_at(m_file.text().data()), m_end(m_at + m_file.text().size()) {
    if (m_file.text().starts_with("\xEF\xBB\xBF")) m_at += 3;
  }
  std::string_view next() {
    while (const char* behind = skipBlankLine(m_at, m_end)) m_at = behind;
    const char* const begin = m_at;
    std::string scratch;
    while (m_at < m_end && !takeCell(m_at, m_end, scratch).last) {
    }
    std::string_view record(begin, static_cast<std::size_t>(m_at - begin));
    while (!record.empty() && (record.back() == '\n' || record.back() == '\r')) record.remove_suffix(1);
    return record;
  }

 private:
  MappedFile m_file;
  const char* m_at;
  const char* m_end;
};

// NumPy's format 1.0: float32, row-major.
void writeNpy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += fmt::format("{}, ", extent);
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", extents);
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  writeFileAtomically(path, [&](const Append& append) {
    append("\x93NUMPY\x01\x00", 8);
    append(&length, sizeof length);
    append(header.data(), header.size());
    append(values.data(), values.size_bytes());
  });
}

}  // namespace

PredictionResult TrainedRun::predict(const PredictionRequest& request) {
  const Network& drawn = network();
  std::shared_ptr<const Dataset> data =
      openDataset(request.csv, {.threads = m_settings.threads, .progress = [this](const CacheProgress& progress) {
                                  if (m_options.progress) m_options.progress("to predict", progress);
                                  return !(m_options.stop && m_options.stop->load(std::memory_order_relaxed));
                                }});
  const TrainingSpec& training = m_description.project.training;
  const std::string trained = training.updates.empty() ? std::string() : training.updates.front().dataset;
  const auto prepared = m_description.prepared.find(trained);
  Feed feed(data, {.name = request.csv.filename().string(),
                   .prepare = prepared == m_description.prepared.end() ? std::vector<Json>() : prepared->second,
                   .batch = std::min(m_settings.shard(), std::max<std::int64_t>(data->size(), 1)),
                   .shuffle = false,
                   .random = false,
                   .seed = m_settings.seed});

  std::map<std::int64_t, std::unique_ptr<Executable>> executables;  // by batch: the full one and the last
  std::vector<Feed::Binding> bindings;
  std::vector<Output> outputs;
  const auto compiled = [&](std::int64_t batch) -> Executable& {
    if (const auto found = executables.find(batch); found != executables.end()) return *found->second;
    ProgramBuilder builder(lowerForPrediction(drawn, {.batch = batch, .seed = m_settings.seed, .training = false}));
    for (NamedResult& result : builder.program().results) {
      // What the loss does inside: the reader wants probabilities, not logits.
      const Target target = targetOf(drawn, result.name);
      if (target.softmax)
        result.tensor = builder.add("softmax", {result.tensor}, {{"axis", std::int64_t{-1}}});
      else if (target.unary)
        result.tensor = builder.add("unary", {result.tensor}, {{"function", std::string(target.unary)}});
    }
    Program program = builder.take();
    m_store.ensure(program.parameters);
    restore();
    return *executables.emplace(batch, m_backend.compile(std::move(program), m_store, m_compile)).first->second;
  };
  const Program& program = compiled(feed.batch()).program();
  bindings = feed.bind(drawn, program);
  for (const NamedResult& result : program.results) {
    if (result.kind != "output") continue;
    const std::string target = targetOf(drawn, result.name).variable;
    Output output{.result = result.name,
                  .variable = (target.empty() ? result.name : target) + "'",
                  .shape = program.tensor(result.tensor).shape.withoutFirst()};
    output.inFiles = output.shape.rank() > 1 || output.shape.elements() > kMostColumns;
    const auto same = [&output](const Output& other) { return other.variable == output.variable; };
    if (std::any_of(outputs.begin(), outputs.end(), same)) output.variable = output.result + "'";
    outputs.push_back(std::move(output));
  }
  if (outputs.empty()) throwError(ErrorCode::badProject, "network '{}' has no output to predict", drawn.name);

  PredictionResult result;
  const std::filesystem::path files = request.out.parent_path() / (request.out.stem().string() + "_files");
  for (const Output& output : outputs) {
    const std::int64_t values = output.shape.elements();
    if (output.inFiles) std::filesystem::create_directories(files);
    if (output.inFiles || values == 1)
      result.columns.push_back(output.variable);
    else
      for (std::int64_t i = 0; i < values; ++i) result.columns.push_back(fmt::format("{}__{}", output.variable, i));
  }
  Records records(request.csv);
  feed.start(0, 0);
  writeFileAtomically(request.out, [&](const Append& append) {
    std::string text(records.next());
    for (const std::string& column : result.columns) text += "," + column;
    text += "\n";
    for (bool last = false; !last;) {
      if (m_options.stop && m_options.stop->load(std::memory_order_relaxed))
        throwError(ErrorCode::stopped, "the prediction was stopped");
      const Batch& batch = feed.next();
      last = batch.lastOfEpoch;
      Executable& executable = compiled(batch.size);
      feed.fill(executable, bindings, 0, batch.size);
      executable.run({});
      for (Output& output : outputs) {
        output.values.resize(static_cast<std::size_t>(batch.size * output.shape.elements()));
        executable.readResult(output.result, output.values);
      }
      for (std::int64_t row = 0; row < batch.size; ++row, ++result.rows) {
        text += records.next();
        for (const Output& output : outputs) {
          const auto count = static_cast<std::size_t>(output.shape.elements());
          const std::span<const float> values(output.values.data() + static_cast<std::size_t>(row) * count, count);
          if (output.inFiles) {
            const std::string name =
                fmt::format("{}_{:08}.npy", output.variable.substr(0, output.variable.size() - 1), result.rows);
            writeNpy(files / name, output.shape, values);
            text += "," + (files.filename() / name).string();
          } else {
            for (const float value : values) text += fmt::format(",{}", value);
          }
        }
        text += "\n";
      }
      append(text.data(), text.size());
      text.clear();
    }
  });
  return result;
}

}  // namespace loom

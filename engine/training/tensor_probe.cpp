#include "engine/training/tensor_probe.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/network/lower_tensors.h"
#include "engine/program/backend.h"
#include "engine/training/feed.h"
#include "engine/training/settings.h"
#include "engine/training/trained_run.h"

namespace loom {
namespace {

// A look must not take the memory that a training beside it needs.
constexpr std::size_t kMostBytes = std::size_t{4} << 30;
constexpr std::size_t kMostCompiled = 2;  // with initial and with trained weights

// What a network computes, without where it stands on the canvas.
std::string contentOf(const Network& network) {
  Json nodes = Json::array(), edges = Json::array();
  for (const Node& node : network.nodes) nodes.push_back({node.id, node.layer, node.values, node.shares});
  for (const Edge& edge : network.edges) edges.push_back({edge.from.node, edge.from.port, edge.to.node, edge.to.port});
  return Json{nodes, edges}.dump();
}

// The part that leads to a node: faults elsewhere do not stand in its way.
Network upTo(const Network& network, const std::string& node) {
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

bool isSound(const Network& network) {
  return analyse(network).sound();
}

std::string dataKey(const Project& project, const std::filesystem::path& folder) {
  Json key = Json::array({folder.string()});
  for (const DatasetSpec& one : project.datasets)
    key.push_back({one.name, one.csv, one.prepare, one.ownPrepare, one.extra});
  return key.dump();
}

}  // namespace

// Keeps the project that its datasets are those of.
struct TensorProbe::Data {
  Data(const Project& given, const std::filesystem::path& folder)
      : project(given), key(dataKey(given, folder)), folder(folder) {}
  Project project;
  std::string key;
  std::filesystem::path folder;
  std::unique_ptr<ProjectData> data;
  ProbeWatch watch;  // of the question that is being answered
};

struct TensorProbe::Compiled {
  Compiled(std::uint64_t seed, std::unique_ptr<TensorMemory> memory) : store(seed, std::move(memory)) {}
  std::string content;
  bool trained = false;
  Network network;
  ParameterStore store;
  std::unique_ptr<Executable> executable;
  std::string weights;  // file and time of the checkpoint that the store holds
  std::size_t matched = 0;
  std::int64_t step = 0;
  std::string ran;  // the sample and the weights of its newest run
};

TensorProbe::TensorProbe(Backend& backend) : m_backend(backend) {}
TensorProbe::~TensorProbe() = default;

void TensorProbe::setProject(std::string_view text, const std::filesystem::path& folder) {
  ReadProject read = readProject(text, "the project");
  if (!read.readable)
    throwError(ErrorCode::badProject, "{}",
               read.problems.empty() ? "the project cannot be read" : read.problems.front().message);
  m_project = std::make_unique<const Project>(std::move(read.project));
  m_folder = folder;
  if (m_data && m_data->key != dataKey(*m_project, folder)) m_data.reset();
}

// The network in which the wire stands: it, or the first one that uses the unit; or the unit by itself.
TensorProbe::Chosen TensorProbe::choose(const DrawnPin& drawn) const {
  if (!m_project) throwError(ErrorCode::badArgument, "no project was told of");
  const Network* drawing = m_project->drawing(drawn.drawing);
  if (!drawing || !drawing->find(drawn.from.node))
    throwError(ErrorCode::badArgument, "'{}' has no node '{}' any more", drawn.drawing, drawn.from.node);
  std::vector<const Network*> around;
  if (m_project->network(drawn.drawing))
    around.push_back(drawing);
  else
    for (const Network& network : m_project->networks) around.push_back(&network);
  for (const Network* network : around) {
    FlatNetwork flat = flatten(*m_project, *network);
    if (const auto pin = flatPin(*m_project, flat, drawn)) return {network->name, std::move(flat), *pin};
    if (network == drawing && !flat.problems.empty()) throw Error(ErrorCode::badProject, flat.problems.front().message);
  }
  if (m_project->unit(drawn.drawing))
    throwError(
        ErrorCode::badProject,
        "no sample flows here: no network uses the unit '{}' in a way that reaches this wire; put it into a network",
        drawn.drawing);
  throwError(ErrorCode::badProject, "nothing flows out of '{}' yet: wire its inputs", drawn.from.node);
}

// What it is validated on, else what it is trained on.
std::string TensorProbe::datasetFor(const std::string& network) const {
  const TrainingSpec& training = m_project->training;
  const auto known = [&](const std::string& name) { return !name.empty() && m_project->dataset(name) != nullptr; };
  const std::string validated = !training.validationNetwork.empty() ? training.validationNetwork
                                : training.updates.empty()          ? std::string()
                                                                    : training.updates.front().network;
  if (network == validated && known(training.validation)) return training.validation;
  for (const UpdateSpec& update : training.updates)
    if (update.network == network && known(update.dataset)) return update.dataset;
  if (!m_project->datasets.empty()) return m_project->datasets.front().name;
  throwError(ErrorCode::badProject,
             "the project has no dataset, so no sample can flow here: attach one on the page Data");
}

TensorProbe::Compiled& TensorProbe::compiledFor(const Network& network, bool trained, std::uint64_t seed) {
  const std::string content = contentOf(network) + fmt::format(" {}", seed);
  const auto same = [&](const auto& made) { return made->content == content && made->trained == trained; };
  if (const auto found = std::find_if(m_made.begin(), m_made.end(), same); found != m_made.end()) {
    m_made.splice(m_made.begin(), m_made, found);
    return *m_made.front();
  }
  // Networks of another drawing are gone for good; memory is made free before more of it is taken.
  m_made.remove_if([&](const auto& made) { return made->content != content; });
  while (m_made.size() >= kMostCompiled) m_made.pop_back();
  m_newest = nullptr;
  auto made = std::make_unique<Compiled>(seed, m_backend.makeMemory());
  made->content = content;
  made->trained = trained;
  made->network = network;
  Program program = lowerForTensors(made->network, {.batch = 1, .seed = seed, .training = false});
  const BufferPlan::Extent extent = m_backend.measure(program, {});
  std::size_t bytes = extent.shared + extent.lasting;
  for (const Parameter& parameter : program.parameters)
    bytes += static_cast<std::size_t>(parameter.shape.elements()) * sizeof(float) * 2;
  if (bytes > kMostBytes)
    throwError(ErrorCode::device,
               "the tensors of one sample take {:.1f} GiB together with the weights, and a look may take {}: train it, "
               "and use `loom predict`",
               static_cast<double>(bytes) / (1 << 30), kMostBytes >> 30);
  made->store.ensure(program.parameters);
  made->executable = m_backend.compile(std::move(program), made->store, {});
  ++m_compilations;
  m_made.push_front(std::move(made));
  return *m_made.front();
}

void TensorProbe::load(Compiled& made, const std::filesystem::path& run) {
  const std::filesystem::path path = TrainedRun(RunFolder{run}).checkpoint();
  const auto changed = std::filesystem::last_write_time(path).time_since_epoch().count();
  const std::string weights = fmt::format("{} {}", path.string(), changed);
  if (weights == made.weights) return;
  const Checkpoint checkpoint(path);
  made.weights.clear();
  made.matched = checkpoint.restoreMatching(made.store);
  if (made.matched == 0 && !made.store.entries().empty())
    throwError(
        ErrorCode::badProject,
        "no weight of the run {} fits this drawing by name and shape; look with initial weights, or train it again",
        run.filename().string());
  made.step = checkpoint.step();
  made.weights = weights;
}

void TensorProbe::run(Compiled& made, const OpenedDataset& opened, std::int64_t sample) {
  const std::string wanted = fmt::format("{} {} {} {}", opened.csv.string(), opened.name, sample, made.weights);
  if (m_newest == &made && made.ran == wanted) return;
  m_newest = nullptr;
  Feed feed(opened.data,
            {.name = opened.name, .prepare = opened.prepare, .batch = 1, .shuffle = false, .random = false});
  const auto bindings = feed.bind(made.network, made.executable->program());
  feed.start(0, sample);
  feed.next();
  feed.fill(*made.executable, bindings, 0, 1);
  made.executable->run({});
  ++m_runs;
  made.ran = wanted;
  m_newest = &made;
}

TensorAnswer TensorProbe::look(const TensorQuestion& question, const ProbeWatch& watch) {
  Chosen chosen = choose(question.pin);
  const std::string name = datasetFor(chosen.network);
  Network network =
      isSound(chosen.flat.network) ? std::move(chosen.flat.network) : upTo(chosen.flat.network, chosen.pin.pin.node);
  const TrainSettings settings = readSettings(m_project->training.settings);
  if (!m_data) m_data = std::make_unique<Data>(*m_project, m_folder);
  m_data->watch = watch;
  if (!m_data->data)
    m_data->data = std::make_unique<ProjectData>(
        m_data->project,
        ProjectDataOptions{.folder = m_data->folder,
                           .threads = 1,
                           .stop = watch.stop,
                           .progress =
                               [data = m_data.get()](const std::string& dataset, const CacheProgress& progress) {
                                 if (data->watch.progress) data->watch.progress(dataset, progress);
                               },
                           .prepared = {}});
  const auto& updates = m_project->training.updates;
  const OpenedDataset& opened = m_data->data->open(name, updates.empty() ? std::string() : updates.front().dataset);
  if (question.sample < 0 || question.sample >= opened.data->size())
    throwError(ErrorCode::badArgument, "sample {} was asked for, but dataset '{}' has {}", question.sample + 1, name,
               counted(opened.data->size(), "samples"));
  Compiled& made = compiledFor(network, !question.run.empty(), settings.seed);
  if (!question.run.empty()) load(made, question.run);
  run(made, opened, question.sample);

  const Node& node = *made.network.find(chosen.pin.pin.node);
  const std::string result = resultName(node, chosen.pin.port);
  const Program& program = made.executable->program();
  const auto found = std::find_if(program.results.begin(), program.results.end(),
                                  [&](const NamedResult& each) { return each.name == result; });
  if (found == program.results.end()) throwError(ErrorCode::internal, "nothing is known of what '{}' gives", result);
  const Tensor& tensor = program.tensor(found->tensor);
  std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
  made.executable->readResult(result, values);
  TensorAnswer answer;
  // A result of rank 0 is a mean over the batch, which is one sample here.
  const bool batched = tensor.shape.rank() > 0 && tensor.shape[0] == 1;
  answer.tensor = summarise(batched ? tensor.shape.withoutFirst() : tensor.shape, values,
                            tensor.type == DataType::i32 || tensor.type == DataType::i64);
  answer.network = chosen.network;
  answer.pin = result;
  answer.dataset = name;
  answer.sample = question.sample;
  answer.samples = opened.data->size();
  answer.trained = made.trained;
  answer.step = made.step;
  answer.matched = made.matched;
  answer.parameters = made.store.entries().size();
  return answer;
}

}  // namespace loom

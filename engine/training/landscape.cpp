#include "engine/training/landscape.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/base/error.h"
#include "engine/base/philox.h"
#include "engine/network/analysis.h"
#include "engine/network/flatten.h"
#include "engine/training/class_weights.h"
#include "engine/training/compiled_networks.h"
#include "engine/training/evaluation.h"
#include "engine/training/project_data.h"
#include "engine/training/settings.h"

namespace loom {
namespace {

constexpr std::int64_t kMostPointsAlong = 1001;

// So many rows, evenly spread over all.
class SpreadRows final : public Dataset {
 public:
  SpreadRows(std::shared_ptr<const Dataset> whole, std::int64_t rows) : m_whole(std::move(whole)), m_rows(rows) {}
  const Schema& schema() const override { return m_whole->schema(); }
  std::int64_t size() const override { return m_rows; }
  std::span<const std::byte> read(std::int64_t row, std::size_t variable, Shape* shape) const override {
    return m_whole->read(rowOf(row), variable, shape);
  }
  void verify() const override { m_whole->verify(); }
  std::int64_t sourceRow(std::int64_t row) const override { return m_whole->sourceRow(rowOf(row)); }

 private:
  std::int64_t rowOf(std::int64_t row) const { return row * m_whole->size() / m_rows; }
  std::shared_ptr<const Dataset> m_whole;
  std::int64_t m_rows;
};

struct WalkedTensors {
  std::vector<StoredTensor*> stored;
  std::vector<Parameter> parameters;
  std::vector<std::vector<float>> origin;         // the run's
  std::vector<std::vector<float>> directions[2];  // by direction and tensor; empty = it stays
};

// Where the second run is another network, the first thing that tells it.
void requireSameDrawing(const std::string& one, const Program& mine, const std::string& two, const Program& other) {
  const auto refuse = [&](const std::string& why) {
    throwError(ErrorCode::badArgument,
               "the runs '{}' and '{}' have other drawings, so no line leads from one's weights to the other's: {}. "
               "Choose a run of the same network",
               one, two, why);
  };
  for (const Parameter& parameter : mine.parameters) {
    const Parameter* const same = other.findParameter(parameter.name);
    if (!same) refuse(fmt::format("'{}' stands in the first alone", parameter.name));
    if (same->shape != parameter.shape)
      refuse(fmt::format("'{}' is {} in the first and {} in the second", parameter.name, parameter.shape.toString(),
                         same->shape.toString()));
  }
  for (const Parameter& parameter : other.parameters)
    if (!mine.findParameter(parameter.name)) refuse(fmt::format("'{}' stands in the second alone", parameter.name));
  for (std::size_t i = 0; i < std::max(mine.operations.size(), other.operations.size()); ++i) {
    if (i >= mine.operations.size() || i >= other.operations.size()) refuse("one has more layers");
    const Operation &a = mine.operations[i], &b = other.operations[i];
    if (a.op != b.op || a.origin != b.origin || a.inputs != b.inputs)
      refuse(fmt::format("'{}' of the first stands where the second has '{}'", a.origin, b.origin));
  }
  if (mine.toString() != other.toString()) refuse("their layers have the same weights and other settings");
}

class LandscapeWalk {
 public:
  LandscapeWalk(Backend& backend, const LandscapeOptions& options)
      : m_options(options),
        m_run(options.run, options.which),
        m_project(asTrained(m_run.description())),
        m_settings(readSettings(m_project.training.settings)),
        m_store(m_settings.seed, backend.makeMemory()),
        m_networks(backend, m_store,
                   {.precision = m_settings.precision, .tf32 = m_settings.tf32, .threads = m_settings.threads},
                   m_settings.seed),
        m_data(m_run.description().project, {.folder = m_run.description().folder,
                                             .threads = m_settings.threads,
                                             .stop = options.stop,
                                             .prepared = m_run.description().prepared}) {}

  Landscape run(const std::function<void(const LandscapePoint&, std::int64_t, std::int64_t)>& told) {
    check();
    Landscape landscape;
    landscape.run = m_options.run.path.filename().string();
    landscape.directions = m_options.to ? 1 : m_options.directions;
    landscape.points = m_options.points;
    open(landscape);
    landscape.step = m_run.restore(m_store);
    keepOrigin();
    if (m_options.to)
      leadTo(*m_options.to, landscape);
    else
      chooseDirections(landscape.directions);
    const std::int64_t second = landscape.directions == 2 ? m_options.points : 1, all = m_options.points * second;
    for (std::int64_t j = 0; j < second; ++j)
      for (std::int64_t i = 0; i < m_options.points; ++i) {
        landscape.all.push_back(at(place(i), landscape.directions == 2 ? place(j) : 0));
        if (told) told(landscape.all.back(), static_cast<std::int64_t>(landscape.all.size()), all);
      }
    return landscape;
  }

 private:
  void check() const {
    if (m_options.directions < 1 || m_options.directions > 2)
      throwError(ErrorCode::badArgument, "{} directions were asked for; there are 1 or 2", m_options.directions);
    if (m_options.points < 2 || m_options.points > kMostPointsAlong)
      throwError(ErrorCode::badArgument, "{} points along a direction were asked for; 2 to {} are possible",
                 m_options.points, kMostPointsAlong);
    if (!std::isfinite(m_options.from) || !(m_options.from < m_options.until) || !std::isfinite(m_options.until))
      throwError(ErrorCode::badArgument,
                 "a landscape from {} to {} was asked for; the first has to be below the second", m_options.from,
                 m_options.until);
    if (m_options.samples < 0)
      throwError(ErrorCode::badArgument, "{} samples were asked for; 0 takes all", m_options.samples);
  }
  // The ends and the run itself are met exactly.
  double place(std::int64_t i) const {
    const double share = static_cast<double>(i) / static_cast<double>(m_options.points - 1);
    const double value = m_options.from * (1 - share) + m_options.until * share;
    return std::abs(value - std::round(value)) < 1e-12 ? std::round(value) : value;
  }

  void open(Landscape& landscape) {
    const TrainingSpec& training = m_run.description().project.training;
    if (training.updates.empty()) throwError(ErrorCode::badProject, "the run has trained nothing");
    landscape.training = training.updates.front().dataset;
    landscape.validation = training.validation;
    m_training = evaluationOf(landscape.training, training.updates.front().network);
    if (!landscape.validation.empty()) m_validation = evaluationOf(landscape.validation, m_run.networkName());
  }
  std::unique_ptr<Evaluation> evaluationOf(const std::string& dataset, const std::string& name) {
    const Network* const network = m_flat.find(name);
    if (!network) throwError(ErrorCode::badProject, "the run's project has no network '{}'", name);
    const OpenedDataset& opened = m_data.open(dataset, m_project.training.updates.front().dataset);
    std::shared_ptr<const Dataset> data = opened.data;
    if (m_options.samples > 0 && m_options.samples < data->size())
      data = std::make_shared<SpreadRows>(std::move(data), m_options.samples);
    return std::make_unique<Evaluation>(m_networks, *network,
                                        std::make_unique<Feed>(data, FeedOptions{.name = dataset,
                                                                                 .prepare = opened.prepare,
                                                                                 .batch = m_settings.shard(),
                                                                                 .shuffle = false,
                                                                                 .random = false,
                                                                                 .seed = m_settings.seed}));
  }
  void keepOrigin() {
    for (const auto& entry : m_store.entries()) {
      m_tensors.stored.push_back(&entry->value);
      m_tensors.parameters.push_back(entry->parameter);
      m_tensors.origin.push_back(entry->value.values());
    }
  }
  // The direction is the other run's weights less this one's; its end is set, not computed.
  void leadTo(const RunFolder& to, Landscape& landscape) {
    const TrainedRun other(to, m_options.which);
    landscape.to = to.path.filename().string();
    const Project project = asTrained(other.description());
    const FlatNetworks flat(project);
    const std::string name = m_run.networkName();
    const Network* const network = flat.find(other.networkName());
    if (!network) throwError(ErrorCode::badProject, "the run '{}' has no network", landscape.to);
    const auto programOf = [&](const Network& of) { return lower(of, {.batch = 1, .seed = m_settings.seed}); };
    requireSameDrawing(landscape.run, programOf(*m_flat.find(name)), landscape.to, programOf(*network));
    for (const auto& [dataset, steps] : m_run.description().prepared) {
      const auto others = other.description().prepared.find(dataset);
      if (others != other.description().prepared.end() && others->second != steps)
        throwError(ErrorCode::badArgument,
                   "the runs '{}' and '{}' prepared the dataset '{}' in other ways, so their losses are of other "
                   "numbers. Choose a run with the same preparation",
                   landscape.run, landscape.to, dataset);
    }
    landscape.toStep = other.restore(m_store);
    for (const StoredTensor* tensor : m_tensors.stored) m_tensors.directions[0].push_back(tensor->values());
  }
  void chooseDirections(int count) {
    for (int direction = 0; direction < count; ++direction)
      for (std::size_t i = 0; i < m_tensors.parameters.size(); ++i)
        m_tensors.directions[direction].push_back(filterDirection(
            m_tensors.parameters[i], m_tensors.origin[i], m_options.seed * 2 + static_cast<std::uint64_t>(direction)));
  }

  LandscapePoint at(double a, double b) {
    std::vector<float> values;
    for (std::size_t i = 0; i < m_tensors.stored.size(); ++i) {
      const std::vector<float>& origin = m_tensors.origin[i];
      values.resize(origin.size());
      const std::vector<float>* const first = &m_tensors.directions[0][i];
      const std::vector<float>* const second = m_tensors.directions[1].empty() ? nullptr : &m_tensors.directions[1][i];
      for (std::size_t k = 0; k < values.size(); ++k) {
        const double from = m_options.to ? (1 - a) * origin[k] : origin[k];
        values[k] = static_cast<float>(from + a * (*first)[k] + (second ? b * (*second)[k] : 0));
      }
      m_tensors.stored[i]->write(values);
    }
    const auto measure = [this](Evaluation& evaluation) {
      std::optional<Measured> measured = evaluation.run(m_options.stop);
      if (!measured) throwError(ErrorCode::stopped, "the landscape was stopped");
      return *measured;
    };
    LandscapePoint point{.a = a, .b = b, .training = measure(*m_training), .validation = {}};
    if (m_validation) point.validation = measure(*m_validation);
    return point;
  }

  const LandscapeOptions& m_options;
  TrainedRun m_run;
  Project m_project;
  FlatNetworks m_flat{m_project};
  TrainSettings m_settings;
  ParameterStore m_store;
  CompiledNetworks m_networks;
  ProjectData m_data;
  std::unique_ptr<Evaluation> m_training, m_validation;
  WalkedTensors m_tensors;
};

Json measuredPart(const Measured& measured) {
  return {{"loss", numberToJson(measured.loss)}, {"metrics", metricsJson(measured)}};
}

}  // namespace

std::vector<float> filterDirection(const Parameter& parameter, std::span<const float> weights, std::uint64_t seed) {
  std::vector<float> direction(weights.size(), 0);
  if (parameter.isState || parameter.kind != ParameterKind::weight || weights.empty()) return direction;
  const Philox random(seed, parameter.name);
  const std::size_t filters = parameter.shape.rank() > 1 ? static_cast<std::size_t>(parameter.shape[0]) : 1,
                    length = weights.size() / filters;
  for (std::size_t f = 0; f < filters; ++f) {
    double own = 0, drawn = 0;
    for (std::size_t i = f * length; i < (f + 1) * length; ++i) {
      direction[i] = static_cast<float>(random.normal(i));
      own += static_cast<double>(weights[i]) * weights[i];
      drawn += static_cast<double>(direction[i]) * direction[i];
    }
    const double scale = drawn > 0 ? std::sqrt(own / drawn) : 0;
    for (std::size_t i = f * length; i < (f + 1) * length; ++i) direction[i] = static_cast<float>(direction[i] * scale);
  }
  return direction;
}

Landscape measureLandscape(Backend& backend, const LandscapeOptions& options,
                           const std::function<void(const LandscapePoint&, std::int64_t, std::int64_t)>& told) {
  return LandscapeWalk(backend, options).run(told);
}

Json toJson(const LandscapePoint& point) {
  Json json = {{"a", point.a}, {"b", point.b}, {"training", measuredPart(point.training)}};
  if (point.validation) json["validation"] = measuredPart(*point.validation);
  return json;
}

Json toJson(const Landscape& landscape) {
  Json points = Json::array();
  for (const LandscapePoint& point : landscape.all) points.push_back(toJson(point));
  Json json = {{"run", landscape.run},       {"step", landscape.step},         {"directions", landscape.directions},
               {"points", landscape.points}, {"training", landscape.training}, {"values", std::move(points)}};
  if (!landscape.validation.empty()) json["validation"] = landscape.validation;
  if (!landscape.to.empty()) json["to"] = landscape.to, json["to_step"] = landscape.toStep;
  return json;
}

std::string toCsv(const Landscape& landscape) {
  std::string text = "a,b";
  const auto heads = [&](const char* part, const Measured& measured) {
    text += fmt::format(",{}_loss", part);
    for (const auto& [name, value] : measured.metrics) text += fmt::format(",{}_{}", part, name);
  };
  const auto cells = [&](const Measured& measured) {
    text += fmt::format(",{}", measured.loss);
    for (const auto& [name, value] : measured.metrics) text += fmt::format(",{}", value);
  };
  if (!landscape.all.empty()) {
    heads("training", landscape.all.front().training);
    if (landscape.all.front().validation) heads("validation", *landscape.all.front().validation);
  }
  text += '\n';
  for (const LandscapePoint& point : landscape.all) {
    text += fmt::format("{},{}", point.a, point.b);
    cells(point.training);
    if (point.validation) cells(*point.validation);
    text += '\n';
  }
  return text;
}

}  // namespace loom

#include "engine/data/stats.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/base/error.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/prepare.h"
#include "engine/data/prepared_samples.h"

namespace loom {
namespace {

constexpr std::int64_t kMostChannels = 4096, kBins = 64;
constexpr std::int64_t kMostElements = 256, kElementBins = 17;
constexpr std::int64_t kPieces =
    64;  // sums are made by piece and added in their order: the same for any number of threads

// Mean and squared deviations of what was seen, merged pairwise (Chan, Golub, LeVeque, "Updating formulae", 1979).
struct Running {
  double count = 0, mean = 0, squares = 0;
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  void merge(const Running& other) {
    if (other.count == 0) return;
    const double total = count + other.count, difference = other.mean - mean;
    squares += other.squares + difference * difference * count * other.count / total;
    mean += difference * other.count / total;
    count = total;
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
  Moments moments() const {
    if (count == 0) return {};
    return {static_cast<std::int64_t>(count), mean, std::sqrt(std::max(squares / count, 0.0)), low, high};
  }
};

// Mean and squares of `count` numbers `stride` apart, in two passes: exact enough for any offset.
template <class T>
Running runningOf(const T* values, std::int64_t count, std::int64_t stride) {
  Running running;
  running.count = static_cast<double>(count);
  double sum = 0;
  T low = values[0], high = values[0];
  for (std::int64_t i = 0; i < count; ++i) {
    const T value = values[i * stride];
    sum += value;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  running.mean = sum / running.count;
  for (std::int64_t i = 0; i < count; ++i) {
    const double difference = values[i * stride] - running.mean;
    running.squares += difference * difference;
  }
  running.low = low;
  running.high = high;
  return running;
}

struct Piece {
  std::vector<Running> channels;
  std::vector<std::int64_t> classes;
  bool integers = true;
};

struct Job {
  const Dataset& dataset;
  std::size_t variable;
  std::int64_t channels, rows, step;
};

template <class T>
void addSample(const T* values, const SampleLayout& layout, std::int64_t channels, Piece& piece) {
  const std::int64_t spatial = layout.rows * layout.columns * layout.inner;
  if (layout.image) {
    for (std::int64_t c = 0; c < layout.planes; ++c)
      piece.channels[static_cast<std::size_t>(channels > 1 ? c : 0)].merge(runningOf(values + c * spatial, spatial, 1));
  } else if (channels > 1) {
    for (std::int64_t c = 0; c < channels; ++c)
      piece.channels[static_cast<std::size_t>(c)].merge(runningOf(values + c, spatial / channels, channels));
  } else {
    piece.channels[0].merge(runningOf(values, spatial, 1));
  }
}

void measurePiece(const Job& job, std::int64_t begin, std::int64_t end, Piece& piece) {
  const Variable& variable = job.dataset.schema().variables[job.variable];
  piece.channels.resize(static_cast<std::size_t>(std::max<std::int64_t>(job.channels, 1)));
  Shape shape;
  for (std::int64_t i = begin; i < end; ++i) {
    const auto raw = job.dataset.read(i * job.step, job.variable, &shape);
    const SampleLayout layout = layoutOf(variable, shape);
    if (variable.type == DataType::u8) {
      addSample(reinterpret_cast<const std::uint8_t*>(raw.data()), layout, job.channels, piece);
    } else {
      addSample(reinterpret_cast<const float*>(raw.data()), layout, job.channels, piece);
    }
    if (variable.kind != VariableKind::scalar || !piece.integers) continue;
    const float value = *reinterpret_cast<const float*>(raw.data());
    if (value < 0 || value >= kMostLabels || value != std::floor(value)) {
      piece.integers = false;
      continue;
    }
    const auto index = static_cast<std::size_t>(value);
    if (piece.classes.size() <= index) piece.classes.resize(index + 1, 0);
    ++piece.classes[index];
  }
}

void countBins(const Job& job, double low, double high, std::int64_t begin, std::int64_t end,
               std::vector<std::int64_t>& bins) {
  const Variable& variable = job.dataset.schema().variables[job.variable];
  const double scale = high > low ? kBins / (high - low) : 0;
  const auto add = [&](double value) {
    ++bins[static_cast<std::size_t>(
        std::clamp<std::int64_t>(static_cast<std::int64_t>((value - low) * scale), 0, kBins - 1))];
  };
  for (std::int64_t i = begin; i < end; ++i) {
    const auto raw = job.dataset.read(i * job.step, job.variable);
    if (variable.type == DataType::u8) {
      std::int64_t counts[256] = {};
      for (const std::byte b : raw) ++counts[std::to_integer<std::size_t>(b)];
      for (int v = 0; v < 256; ++v) {
        if (counts[v] > 0)
          bins[static_cast<std::size_t>(
              std::clamp<std::int64_t>(static_cast<std::int64_t>((v - low) * scale), 0, kBins - 1))] += counts[v];
      }
    } else {
      const auto* values = reinterpret_cast<const float*>(raw.data());
      for (std::size_t k = 0; k < raw.size() / sizeof(float); ++k) add(values[k]);
    }
  }
}

// Each number of a vector is a column of its own, with a range of its own. `bins`: [element][kElementBins], added to.
void countElements(const Job& job, const std::vector<Moments>& ranges, std::int64_t begin, std::int64_t end,
                   std::vector<std::vector<std::int64_t>>& bins) {
  for (std::int64_t i = begin; i < end; ++i) {
    const auto raw = job.dataset.read(i * job.step, job.variable);
    const auto* values = reinterpret_cast<const float*>(raw.data());
    for (std::size_t e = 0; e < ranges.size(); ++e) {
      const double span = ranges[e].high - ranges[e].low;
      const auto bin = static_cast<std::int64_t>(span > 0 ? (values[e] - ranges[e].low) / span * kElementBins : 0);
      ++bins[e][static_cast<std::size_t>(std::clamp<std::int64_t>(bin, 0, kElementBins - 1))];
    }
  }
}

// Runs work(piece) for every piece on some threads; rethrows the first failure.
void forPieces(int threads, const std::function<void(std::int64_t)>& work) {
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto loop = [&] {
    for (std::int64_t piece; (piece = next.fetch_add(1)) < kPieces;) {
      try {
        work(piece);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = kPieces;
      }
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(loop);
  loop();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

bool areClasses(const Variable& variable, const std::vector<std::int64_t>& counts) {
  if (isLabel(variable)) return true;
  constexpr std::size_t kFew = 64;
  std::int64_t rows = 0;
  std::size_t met = 0;
  for (const std::int64_t count : counts) rows += count, met += count > 0;
  return counts.size() <= kFew && 2 * met >= counts.size() && rows >= 4 * static_cast<std::int64_t>(counts.size());
}

std::string likelyTarget(const std::vector<std::string>& columns,
                         const std::function<bool(const std::string&)>& holdsClasses) {
  if (std::find(columns.begin(), columns.end(), "y") != columns.end()) return "y";
  if (const auto last = std::find_if(columns.rbegin(), columns.rend(), holdsClasses); last != columns.rend())
    return *last;
  return columns.size() > 1 ? columns.back() : std::string();
}

std::vector<VariableStats> measure(const Dataset& dataset, const StatsOptions& options) {
  const std::int64_t size = dataset.size();
  const std::int64_t step = options.rows > 0 && options.rows < size ? size / options.rows : 1;
  const std::int64_t rows = options.rows > 0 ? std::min(options.rows, size / step) : size;
  const int threads =
      options.threads > 0 ? options.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<VariableStats> all;
  std::mutex mutex;
  std::int64_t done = 0;
  const std::int64_t total = 2 * kPieces * static_cast<std::int64_t>(dataset.schema().variables.size());
  const auto tell = [&] {
    const std::lock_guard lock(mutex);
    ++done;
    if (options.progress && !options.progress(done, total))
      throwError(ErrorCode::stopped, "stopped while the dataset was measured");
  };
  for (std::size_t v = 0; v < dataset.schema().variables.size(); ++v) {
    const Variable& variable = dataset.schema().variables[v];
    const std::int64_t channels = layoutOf(variable, variable.shape).channels;
    const Job job{dataset, v, channels <= kMostChannels ? channels : 1, rows, step};
    std::vector<Piece> pieces(static_cast<std::size_t>(kPieces));
    const auto from = [&](std::int64_t piece) { return rows * piece / kPieces; };
    forPieces(threads, [&](std::int64_t p) {
      measurePiece(job, from(p), from(p + 1), pieces[static_cast<std::size_t>(p)]);
      tell();
    });
    VariableStats stats{.variable = variable.name};
    std::vector<Running> merged(static_cast<std::size_t>(std::max<std::int64_t>(job.channels, 1)));
    bool integers = variable.kind == VariableKind::scalar;
    for (const Piece& piece : pieces) {
      for (std::size_t c = 0; c < merged.size(); ++c) merged[c].merge(piece.channels[c]);
      integers = integers && piece.integers;
      if (stats.classes.size() < piece.classes.size()) stats.classes.resize(piece.classes.size(), 0);
      for (std::size_t c = 0; c < piece.classes.size(); ++c) stats.classes[c] += piece.classes[c];
    }
    if (!integers || !areClasses(variable, stats.classes)) stats.classes.clear();
    Running whole;
    for (const Running& channel : merged) whole.merge(channel);
    stats.all = whole.moments();
    if (channels == job.channels) {
      for (const Running& channel : merged) stats.channels.push_back(channel.moments());
    }
    std::vector<std::vector<std::int64_t>> bins(static_cast<std::size_t>(kPieces), std::vector<std::int64_t>(kBins, 0));
    const bool flat = (variable.kind == VariableKind::vector || variable.kind == VariableKind::scalar) &&
                      variable.type == DataType::f32 && stats.channels.size() <= kMostElements;
    if (flat) stats.elements.assign(stats.channels.size(), std::vector<std::int64_t>(kElementBins, 0));
    std::vector<std::vector<std::vector<std::int64_t>>> elements(static_cast<std::size_t>(kPieces), stats.elements);
    forPieces(threads, [&](std::int64_t p) {
      countBins(job, whole.low, whole.high, from(p), from(p + 1), bins[static_cast<std::size_t>(p)]);
      if (flat) countElements(job, stats.channels, from(p), from(p + 1), elements[static_cast<std::size_t>(p)]);
      tell();
    });
    for (const auto& piece : elements) {
      for (std::size_t e = 0; e < stats.elements.size(); ++e) {
        for (std::size_t b = 0; b < stats.elements[e].size(); ++b) stats.elements[e][b] += piece[e][b];
      }
    }
    stats.histogram.assign(kBins, 0);
    for (const auto& piece : bins) {
      for (std::size_t b = 0; b < piece.size(); ++b) stats.histogram[b] += piece[b];
    }
    all.push_back(std::move(stats));
  }
  dataset.verify();
  return all;
}

Json toJson(const VariableStats& stats) {
  const auto moments = [](const Moments& m) {
    return Json{{"count", m.count},
                {"mean", numberToJson(m.mean)},
                {"deviation", numberToJson(m.deviation)},
                {"low", numberToJson(m.low)},
                {"high", numberToJson(m.high)}};
  };
  Json json = {{"variable", stats.variable}, {"all", moments(stats.all)}};
  if (stats.channels.size() > 1) {
    Json channels = Json::array();
    for (const Moments& channel : stats.channels) channels.push_back(moments(channel));
    for (std::size_t e = 0; e < stats.elements.size(); ++e) channels[e]["histogram"] = stats.elements[e];
    json["channels"] = std::move(channels);
  }
  if (!stats.classes.empty()) json["classes"] = stats.classes;
  json["histogram"] = stats.histogram;
  return json;
}

namespace {

// What Normalise does to a variable of which the steps `before` were resolved, with its mean and deviation.
Json resolved(const Json& step, const Dataset& dataset, std::size_t v, const std::vector<Json>& before) {
  const Variable& variable = dataset.schema().variables[v];
  const auto given = [&](const char* key) { return step.contains(key) && !step[key].is_null(); };
  const std::int64_t rows = std::min<std::int64_t>(dataset.size(), 100000),
                     stride = std::max<std::int64_t>(dataset.size() / rows, 1);
  std::optional<PreparedSamples> prepared;
  if (std::any_of(before.begin(), before.end(), [](const Json& each) { return prepareStep(each).computes; }))
    if (Preparation made(variable, before, false, 0); made.computes()) prepared.emplace(dataset, v, std::move(made));
  const Dataset& measured = prepared ? static_cast<const Dataset&>(*prepared) : dataset;
  const std::size_t at = prepared ? 0 : v;
  const Variable& facts = measured.schema().variables[at];
  const std::int64_t channels = layoutOf(facts, facts.shape).channels;
  if (channels > kMostChannels)
    throwError(ErrorCode::badProject,
               "step Normalise of prepare: {} has {} channels, and at most {} are measured; give mean and deviation",
               variable.name, channels, kMostChannels);
  Piece piece;
  measurePiece({measured, at, channels, rows, stride}, 0, rows, piece);
  // The steps before this one change scale and shift, channel by channel: they are applied to the measured numbers.
  std::vector<double> scale(piece.channels.size(), 1), shift(piece.channels.size(), 0);
  for (const Json& each : prepared ? std::vector<Json>() : before) {
    const PrepareStep& kind = prepareStep(each);
    if (!kind.values || !appliesTo(each, kind, variable)) continue;
    const MultiplyAdd by = kind.values(Values(kind.entry, each), scale.size());
    for (std::size_t c = 0; c < scale.size(); ++c) {
      const double factor = by.scale[by.scale.size() == 1 ? 0 : c];
      scale[c] *= factor;
      shift[c] = shift[c] * factor + by.shift[by.shift.size() == 1 ? 0 : c];
    }
  }
  Json answer = step;
  Json means = Json::array(), deviations = Json::array();
  for (std::size_t c = 0; c < scale.size(); ++c) {
    const Moments moments = piece.channels[c].moments();
    const double deviation = moments.deviation * std::fabs(scale[c]);
    means.push_back(moments.mean * scale[c] + shift[c]);
    deviations.push_back(deviation > 1e-12 ? deviation : 1.0);  // a constant becomes 0, not a division by 0
  }
  answer["variable"] = variable.name;
  if (!given("mean")) answer["mean"] = std::move(means);
  if (!given("deviation")) answer["deviation"] = std::move(deviations);
  return answer;
}

bool lacksNumbers(const Json& step) {
  if (isColumnStep(step)) return false;  // measured where columns are read
  const auto given = [&](const char* key) { return step.contains(key) && !step[key].is_null(); };
  return prepareStep(step).measured && !(given("mean") && given("deviation"));
}

}  // namespace

bool needsMeasuring(const std::vector<Json>& prepare) {
  return std::any_of(prepare.begin(), prepare.end(), lacksNumbers);
}

std::vector<Json> measurePrepare(const Dataset& dataset, const std::vector<Json>& prepare) {
  std::vector<Json> answered;
  for (const Json& step : prepare) {
    if (!lacksNumbers(step)) {
      answered.push_back(step);
      continue;
    }
    // A step that means several variables becomes one for each: their numbers differ.
    const PrepareStep& kind = prepareStep(step);
    std::vector<Json> each;
    for (std::size_t v = 0; v < dataset.schema().variables.size(); ++v)
      if (appliesTo(step, kind, dataset.schema().variables[v]))
        each.push_back(resolved(step, dataset, v, sampleStepsOf(answered)));
    if (each.empty()) {
      const std::vector<std::string> names = Values(kind.entry, step).texts("variable");
      throwError(
          ErrorCode::badProject, "step Normalise of prepare: the dataset has no {}",
          names.empty() ? "image, clip or vector to normalise; name a variable" : "variable '" + names.front() + "'");
    }
    answered.insert(answered.end(), each.begin(), each.end());
  }
  return answered;
}

std::int64_t classCount(const Dataset& dataset, std::size_t variable) {
  const Variable& facts = dataset.schema().variables.at(variable);
  if (facts.kind != VariableKind::scalar) return 0;
  float highest = -1;
  for (std::int64_t row = 0; row < dataset.size(); ++row) {
    const float value = *reinterpret_cast<const float*>(dataset.read(row, variable).data());
    if (value < 0 || value != std::floor(value) || value >= 16777216.0f) return 0;
    highest = std::max(highest, value);
  }
  return static_cast<std::int64_t>(highest) + 1;
}

}  // namespace loom

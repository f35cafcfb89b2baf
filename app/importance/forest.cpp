#include "app/importance/forest.h"

#include <dlib/random_forest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace loom {
namespace {

constexpr std::size_t kTrees = 200, kLeastPerLeaf = 3;
constexpr int kShuffles = 3;
constexpr double kFeaturesPerSplit = 0.5;
constexpr std::size_t kMostWords = 12;  // columns of one cause; rarer words count as one another
constexpr std::size_t kMostSamples = 4000;
const std::string kSeed = "gradloom";

using Sample = dlib::matrix<double, 0, 1>;

struct Columns {
  std::vector<Sample> samples;
  std::vector<std::vector<long>> ofCause;
};

// A word is a column for each that there is: which is larger than which means nothing.
Columns columnsOf(const CauseSamples& given) {
  Columns columns;
  const std::size_t count = given.results.size(), causes = given.causes.front().size();
  std::vector<std::vector<double>> values;  // by column
  for (std::size_t cause = 0; cause < causes; ++cause) {
    std::vector<long>& own = columns.ofCause.emplace_back();
    const auto begin = [&] {
      own.push_back(static_cast<long>(values.size()));
      values.emplace_back(count, 0.0);
    };
    std::map<std::string, std::size_t> words;
    bool numbers = false;
    for (const auto& sample : given.causes) {
      if (const auto* word = std::get_if<std::string>(&sample[cause]))
        ++words[*word];
      else
        numbers = true;
    }
    if (numbers) {
      begin();
      for (std::size_t i = 0; i < count; ++i)
        if (const auto* number = std::get_if<double>(&given.causes[i][cause]))
          values.back()[i] = std::isfinite(*number) ? *number : 0;
    }
    std::vector<std::pair<std::size_t, std::string>> order;
    for (const auto& [word, times] : words) order.emplace_back(times, word);
    std::sort(order.rbegin(), order.rend());
    if (order.size() > kMostWords) order.resize(kMostWords);
    if (order.size() == 2 && !numbers) order.resize(1);  // the other is what this one is not
    for (const auto& [times, word] : order) {
      begin();
      for (std::size_t i = 0; i < count; ++i) {
        const auto* own_ = std::get_if<std::string>(&given.causes[i][cause]);
        values.back()[i] = own_ && *own_ == word;
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    Sample& sample = columns.samples.emplace_back(static_cast<long>(values.size()));
    for (std::size_t column = 0; column < values.size(); ++column)
      sample(static_cast<long>(column)) = values[column][i];
  }
  return columns;
}

// Of more runs than anybody looks at a part tells as much.
CauseSamples part(const CauseSamples& all) {
  if (all.results.size() <= kMostSamples) return all;
  std::vector<std::size_t> order(all.results.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  CauseSamples some;
  for (std::size_t i = 0; i < kMostSamples; ++i) {
    some.causes.push_back(all.causes[order[i]]);
    some.results.push_back(all.results[order[i]]);
  }
  return some;
}

struct Forest {
  dlib::random_forest_regression_function<> trained;
  std::vector<double> leftOut;                      // what dlib says of each sample
  std::vector<std::vector<std::uint32_t>> unknown;  // by tree: the samples that it has not learnt from
};

// dlib draws the samples of tree i from a generator of its own that begins with the seed and i; nothing tells
// afterwards which they were, so they are drawn again. leftOutPredictions() shows that they are the same.
Forest grow(const Columns& columns, const std::vector<double>& results) {
  dlib::random_forest_regression_trainer<dlib::dense_feature_extractor> trainer;
  trainer.set_num_trees(kTrees);
  trainer.set_min_samples_per_leaf(kLeastPerLeaf);
  trainer.set_feature_subsampling_fraction(kFeaturesPerSplit);
  trainer.set_seed(kSeed);
  Forest forest;
  forest.trained = trainer.train(columns.samples, results, forest.leftOut);
  for (std::size_t tree = 0; tree < kTrees; ++tree) {
    dlib::rand random(kSeed + std::to_string(tree));
    std::vector<bool> learnt(results.size(), false);
    for (std::size_t i = 0; i < results.size(); ++i)
      learnt[static_cast<std::uint32_t>(random.get_integer(static_cast<long long>(results.size())))] = true;
    std::vector<std::uint32_t>& unknown = forest.unknown.emplace_back();
    for (std::size_t i = 0; i < learnt.size(); ++i)
      if (!learnt[i]) unknown.push_back(static_cast<std::uint32_t>(i));
  }
  return forest;
}

// What one tree says of a sample whose column c stands in valueOf(c).
template <class ValueOf>
double leafOf(const Forest& forest, std::size_t tree, const ValueOf& valueOf) {
  const auto& nodes = forest.trained.get_internal_tree_nodes()[tree];
  const auto& leaves = forest.trained.get_tree_leaves()[tree];
  std::uint32_t at = 0;
  while (at < nodes.size())
    at = valueOf(nodes[at].split_feature) < nodes[at].split_threshold ? nodes[at].left : nodes[at].right;
  return static_cast<double>(leaves[at - nodes.size()]);
}

double meanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// How much a tree's squared error on what it left out grows when a cause's values are shuffled among those samples.
double growthOf(const Forest& forest, const Columns& columns, const std::vector<double>& results, std::size_t tree,
                const std::vector<long>& cause, std::mt19937_64& random) {
  const std::vector<std::uint32_t>& unknown = forest.unknown[tree];
  if (unknown.size() < 2) return 0;
  std::vector<std::uint32_t> others = unknown;
  double growth = 0;
  for (int shuffle = 0; shuffle < kShuffles; ++shuffle) {
    std::shuffle(others.begin(), others.end(), random);
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      const Sample &own = columns.samples[unknown[i]], &other = columns.samples[others[i]];
      const double as = leafOf(forest, tree, [&](std::uint32_t column) { return own(column); });
      const double shuffled = leafOf(forest, tree, [&](std::uint32_t column) {
        const bool isCause = std::find(cause.begin(), cause.end(), static_cast<long>(column)) != cause.end();
        return (isCause ? other : own)(column);
      });
      const double truth = results[unknown[i]];
      growth += (shuffled - truth) * (shuffled - truth) - (as - truth) * (as - truth);
    }
  }
  return growth / (kShuffles * static_cast<double>(unknown.size()));
}

}  // namespace

std::optional<CauseWeights> weighCauses(const CauseSamples& given, const std::atomic<bool>* stop) {
  if (given.results.size() < kLeastSamples || given.causes.front().empty()) return {};
  const CauseSamples samples = part(given);
  const double mean = meanOf(samples.results);
  double spread = 0;
  for (const double each : samples.results) spread += (each - mean) * (each - mean);
  if (!(spread > 0) || !std::isfinite(spread)) return {};
  const Columns columns = columnsOf(samples);
  const Forest forest = grow(columns, samples.results);
  CauseWeights weights;
  double left = 0;
  for (std::size_t i = 0; i < samples.results.size(); ++i)
    left += (forest.leftOut[i] - samples.results[i]) * (forest.leftOut[i] - samples.results[i]);
  weights.explained = 1 - left / spread;
  std::mt19937_64 random(7);
  double sum = 0;
  for (const std::vector<long>& cause : columns.ofCause) {
    double growth = 0;
    for (std::size_t tree = 0; tree < kTrees; ++tree) {
      if (stop && *stop) return {};
      growth += growthOf(forest, columns, samples.results, tree, cause, random);
    }
    weights.shares.push_back(std::max(0.0, growth / static_cast<double>(kTrees)));
    sum += weights.shares.back();
  }
  for (double& each : weights.shares) each = sum > 0 ? each / sum : 0;
  return weights;
}

LeftOut leftOutPredictions(const CauseSamples& samples) {
  const Columns columns = columnsOf(samples);
  const Forest forest = grow(columns, samples.results);
  std::vector<double> sums(samples.results.size(), 0.0), times(samples.results.size(), 0.0);
  for (std::size_t tree = 0; tree < kTrees; ++tree)
    for (const std::uint32_t each : forest.unknown[tree]) {
      sums[each] += leafOf(forest, tree, [&](std::uint32_t column) { return columns.samples[each](column); });
      times[each] += 1;
    }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= std::max(1.0, times[i]);
  return {forest.leftOut, sums};
}

}  // namespace loom

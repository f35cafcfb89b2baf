#pragma once
// What is remembered of each sample that was evaluated, and which of them are looked at first.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace loom {

struct EvaluatedSample {
  std::int64_t sample = 0;  // from 0, of the samples that were evaluated
  std::int64_t row = 0;     // from 0, of the file that they come from
  bool finite = true;       // all that was said of it; else only sample and row hold
  bool right = false;       // of several positions or labels: all of them
  double loss = 0;          // of classes -ln of the truth's share; of numbers and labels the mean of squares
  // Of classes; of several positions those of the worst one. -1: there is none.
  std::int32_t truth = -1, predicted = -1;
  std::int32_t next = -1;  // the most likely one besides the two
  float truthShare = 0, predictedShare = 0, nextShare = 0;
  // Of classes at several positions: the mean over classes of intersection by union, and the share that is right.
  float iou = 1, rightShare = 1;
  // Of numbers, or of labels that are right or wrong by themselves: of the value that is farthest off.
  std::int32_t value = 0;
  float trueValue = 0, predictedValue = 0;

  // How much more likely what was said is than anything else, 0 ... 1.
  double margin() const;
};

struct SampleChoice {
  enum Order { loss, leastSure, iou };
  std::optional<std::int32_t> truth, predicted;  // of a cell of the matrix, of a row or of a column
  bool wrongOnly = false;
  Order order = Order::loss;
};

// What is not finite comes before the greatest loss; equals in the order of their numbers.
bool isWorse(const EvaluatedSample& one, const EvaluatedSample& other);
// Places in `samples`, worst first.
std::vector<std::size_t> choose(std::span<const EvaluatedSample> samples, const SampleChoice& choice);

// The worst `most` of all that were added, however they came.
class WorstSamples {
 public:
  explicit WorstSamples(std::int64_t most) : m_most(most) {}
  void add(const EvaluatedSample& sample);
  void merge(const WorstSamples& other);
  std::vector<EvaluatedSample> finish() const;  // worst first

 private:
  void cut();
  std::int64_t m_most;
  std::vector<EvaluatedSample> m_samples;
};

}  // namespace loom

#pragma once
// The scores of samples, class by class, from which curves and a temperature come. Up to the limit all of them are
// kept; beyond it each class's are counted in bins, and of the samples every 2nd, 4th, 8th ... stays. What is kept
// follows from the samples' numbers alone, never from their order or from which rank had them.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/evaluation/limits.h"

namespace loom {

enum class Question {
  oneOfMany,   // the scores are shares of classes, one of which is true: a truth a sample
  eachItsOwn,  // each score is the chance of a label of its own: a truth (0 or 1) a label
};

struct CurvePoint {
  double threshold = 0;                          // what has at least this score is said to be of the class
  double falsePositives = 0, truePositives = 0;  // shares: of the others, and of the class (recall)
  double precision = 1;
};

struct ScoreCurve {
  double auc = 0;               // area under the receiver operating characteristic; NaN where a side is empty
  double averagePrecision = 0;  // sum over thresholds of (recall - recall before) * precision; NaN without positives
  std::int64_t positives = 0, negatives = 0;
  std::vector<CurvePoint> points;  // from nobody to everybody
};

class ScoreTable {
 public:
  ScoreTable(std::int64_t classes, Question question, const EvaluationLimits& limits = {});

  // `item`: the sample's number in the whole set; scores: a number within 0 and 1 each, finite.
  void add(std::int64_t item, std::span<const float> scores, std::span<const std::int32_t> truth);
  void merge(const ScoreTable& other);

  std::int64_t classes() const { return m_classes; }
  Question question() const { return m_question; }
  bool exact() const { return m_stride == 1; }
  bool hasCurves() const { return exact() || !m_positives.empty(); }
  // Of a class against all others, or of a label. `points` at most; 0 = all. There must be curves.
  ScoreCurve curve(std::int64_t of, std::size_t points = 0) const;

  // The samples that were kept whole.
  std::int64_t rows() const { return static_cast<std::int64_t>(m_items.size()); }
  std::int64_t item(std::int64_t row) const { return m_items[static_cast<std::size_t>(row)]; }
  std::span<const float> scores(std::int64_t row) const;
  std::span<const std::int32_t> truth(std::int64_t row) const;

  int binOf(float score) const;
  double lowerEdge(int bin) const;

 private:
  std::int64_t truths() const { return m_question == Question::oneOfMany ? 1 : m_classes; }
  bool positive(std::int64_t row, std::int64_t of) const;
  void count(std::span<const float> scores, std::span<const std::int32_t> truth);
  void toBins();  // what is kept so far
  void shrink();
  void keepEvery(std::int64_t stride);

  std::int64_t m_classes;
  Question m_question;
  EvaluationLimits m_limits;
  std::int64_t m_stride = 1;
  std::vector<std::int64_t> m_items;
  std::vector<float> m_scores;
  std::vector<std::int32_t> m_truth;
  std::vector<std::uint32_t> m_positives, m_negatives;  // classes x bins, once it is no longer exact
};

}  // namespace loom

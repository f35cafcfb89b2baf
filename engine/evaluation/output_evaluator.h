#pragma once
// What an output of a trained network is worth: every measure that fits it, over samples whose truth is known.
//
//   classes  one of many; or a chance of class 1 of two. Of an output with several positions (a sequence, a picture
//            of classes) each position is counted by itself.
//   labels   several chances, each of a label that is there or not: a question of its own each.
//   numbers  in the unit of their column. Chances whose truth lies between 0 and 1 are numbers.
//
// Each rank adds its samples in batches of any size; what is merged in any order is the same.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/evaluation/calibration.h"
#include "engine/evaluation/class_table.h"
#include "engine/evaluation/confusion.h"
#include "engine/evaluation/limits.h"
#include "engine/evaluation/regression.h"
#include "engine/evaluation/sample_overlap.h"
#include "engine/evaluation/samples.h"
#include "engine/evaluation/score_table.h"
#include "engine/evaluation/top_k.h"
#include "engine/run/predictions.h"

namespace loom {

struct EvaluatedOutput {
  enum Kind { classes, labels, numbers };
  Kind kind = classes;
  std::string name, target;
  std::vector<std::string> words;  // of classes, labels or numbers, in their order
  // Of classes at several positions of a sample: how many there are along each direction, {60} of a sequence, {32, 48}
  // of a map of classes (height, width). Empty where a sample has one class.
  std::vector<std::int64_t> positions;
  bool isMap() const { return positions.size() == 2; }
  std::int64_t samples = 0;    // that were measured
  std::int64_t items = 0;      // of them the positions, labels or numbers that were counted
  std::int64_t notFinite = 0;  // samples of which something that is no number was said: left out of all figures
  double loss = 0;             // mean over items: -ln of the truth's share; of numbers of the square

  // Classes and labels.
  std::int64_t right = 0;
  ShareInterval accuracy;
  std::vector<TopK::Share> top;              // classes
  std::vector<ConfusionMatrix::Cell> cells;  // classes
  ClassTable table;
  bool exactCurves = true;  // else from bins
  std::string noCurves;     // why there are none
  struct NamedCurve {
    std::int64_t of = 0;
    ScoreCurve curve;
  };
  std::vector<NamedCurve> curves;  // of a chance that of class 1 alone; else of each class or label
  double macroAuc = 0, weightedAuc = 0, macroPrecision = 0;  // of the curves that have one; NaN where none has
  CalibrationFigures calibration;
  std::optional<Temperature> temperature;
  std::optional<TemperatureTrial> temperatureTrial;

  // Numbers: over all, and each.
  RegressionFigures regression;
  std::vector<RegressionFigures> values;

  std::vector<EvaluatedSample> worst;  // worst first; `samples` of them, or as many as the limit allows
};

class OutputEvaluator {
 public:
  explicit OutputEvaluator(PredictedOutput output, const EvaluationLimits& limits = {});

  // A sample as PredictedSample::Output has it. Throws Error(badData) that names the row where the truth is no class of
  // the network, or of another size.
  void add(std::int64_t sample, std::int64_t row, std::span<const float> values, std::span<const float> truth);
  void merge(const OutputEvaluator& other);  // of the same output
  EvaluatedOutput finish() const;
  std::int64_t samples() const { return m_samples; }

 private:
  bool ofClasses() const { return m_output.kind == OutputKind::classes || (m_chance && m_width == 1); }
  void addClasses(EvaluatedSample& told, std::span<const float> values, std::span<const float> truth);
  void addLabels(EvaluatedSample& told, std::span<const float> values, std::span<const float> truth);
  void addNumbers(EvaluatedSample& told, std::span<const float> values, std::span<const float> truth);
  void addPosition(EvaluatedSample& told, std::int64_t item, std::span<const float> values, std::int32_t truth);
  void finishClasses(EvaluatedOutput& result) const;
  void finishLabels(EvaluatedOutput& result) const;
  void finishCurves(EvaluatedOutput& result) const;

  PredictedOutput m_output;
  EvaluationLimits m_limits;
  bool m_chance = false;
  std::int64_t m_width = 1;      // values of a position
  std::int64_t m_positions = 1;  // of a sample
  std::int64_t m_classes = 2;
  bool m_onlyLabels = true;  // all truths of several chances were 0 or 1

  std::int64_t m_samples = 0, m_items = 0, m_notFinite = 0, m_right = 0;
  double m_loss = 0;
  ConfusionMatrix m_matrix;
  TopK m_top;
  ScoreTable m_scores;
  Calibration m_calibration;
  SampleOverlap m_overlap;
  struct Label {
    std::int64_t right = 0, predicted = 0, support = 0;
  };
  std::vector<Label> m_labels;
  double m_labelLoss = 0;
  std::int64_t m_labelRight = 0;
  Regression m_regression;
  WorstSamples m_worst;
};

}  // namespace loom

#include "engine/evaluation/output_evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr std::size_t kCurvePoints = 400;

double lossOf(double share) {
  return -std::log(std::max(share, static_cast<double>(std::numeric_limits<float>::min())));
}

bool allFinite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

std::int32_t classOf(float truth, std::int64_t classes, std::int64_t row) {
  if (!(truth >= 0 && truth < static_cast<float>(classes)) || truth != std::floor(truth))
    throwError(ErrorCode::badData,
               "row {}: the truth is {}, but the network knows the classes 0 to {}; evaluate data of these classes",
               row + 1, truth, classes - 1);
  return static_cast<std::int32_t>(truth);
}

}  // namespace

OutputEvaluator::OutputEvaluator(PredictedOutput output, const EvaluationLimits& limits)
    : m_output(std::move(output)),
      m_limits(limits),
      m_chance(m_output.kind == OutputKind::chance),
      m_width(m_output.kind == OutputKind::classes && m_output.shape.rank() > 0 ? m_output.shape[-1]
                                                                                : m_output.shape.elements()),
      m_positions(m_output.shape.elements() / std::max<std::int64_t>(m_width, 1)),
      m_classes(m_output.kind == OutputKind::classes ? m_width : 2),
      m_matrix(ofClasses() ? m_classes : 0),
      m_scores(m_width, m_chance ? Question::eachItsOwn : Question::oneOfMany, limits),
      m_overlap(ofClasses() && m_positions > 1 ? m_classes : 0),
      m_labels(m_chance && m_width > 1 ? static_cast<std::size_t>(m_width) : 0),
      m_regression(ofClasses() ? 0 : static_cast<std::size_t>(m_output.shape.elements())),
      m_worst(limits.samples) {}

void OutputEvaluator::add(std::int64_t sample, std::int64_t row, std::span<const float> values,
                          std::span<const float> truth) {
  EvaluatedSample told{.sample = sample, .row = row};
  const std::int64_t wanted = ofClasses() ? m_positions : m_output.shape.elements();
  if (static_cast<std::int64_t>(truth.size()) != wanted)
    throwError(ErrorCode::badData, "row {}: the truth of '{}' has {} values, but {} are compared with it", row + 1,
               m_output.name, truth.size(), wanted);
  if (!allFinite(values) || !allFinite(truth)) {
    told.finite = false;
    ++m_notFinite;
    m_worst.add(told);
    return;
  }
  ++m_samples;
  if (ofClasses()) {
    addClasses(told, values, truth);
  } else {
    if (m_chance) addLabels(told, values, truth);
    addNumbers(told, values, truth);
  }
  m_worst.add(told);
}

void OutputEvaluator::addClasses(EvaluatedSample& told, std::span<const float> values, std::span<const float> truth) {
  told.right = true;
  double worst = -1, sum = 0;
  std::int64_t rightOnes = 0;
  for (std::int64_t p = 0; p < m_positions; ++p) {
    EvaluatedSample one = told;
    addPosition(one, told.sample * m_positions + p,
                values.subspan(static_cast<std::size_t>(p * m_width), static_cast<std::size_t>(m_width)),
                classOf(truth[static_cast<std::size_t>(p)], m_classes, told.row));
    sum += one.loss;
    rightOnes += one.right;
    if (m_positions > 1) m_overlap.add(one.truth, one.predicted);
    const bool right = told.right && one.right;
    if (one.loss > worst) worst = one.loss, told = one, told.value = static_cast<std::int32_t>(p);
    told.right = right;
  }
  told.loss = sum / static_cast<double>(std::max<std::int64_t>(m_positions, 1));
  if (m_positions <= 1) return;
  told.iou = static_cast<float>(m_overlap.take());
  told.rightShare = static_cast<float>(static_cast<double>(rightOnes) / static_cast<double>(m_positions));
}

void OutputEvaluator::addPosition(EvaluatedSample& told, std::int64_t item, std::span<const float> values,
                                  std::int32_t truth) {
  const float both[2] = {1 - values[0], values[0]};
  const std::span<const float> shares = m_chance ? std::span<const float>(both) : values;
  told.truth = truth;
  told.predicted = static_cast<std::int32_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
  for (std::size_t c = 0; c < shares.size(); ++c) {
    const auto each = static_cast<std::int32_t>(c);
    if (each == truth || each == told.predicted) continue;
    if (told.next < 0 || shares[c] > told.nextShare) told.next = each, told.nextShare = shares[c];
  }
  told.truthShare = shares[static_cast<std::size_t>(truth)];
  told.predictedShare = shares[static_cast<std::size_t>(told.predicted)];
  told.right = told.predicted == truth;
  // Of a chance in double, where 1 - p is more than single precision has of it.
  told.loss = lossOf(m_chance ? (truth == 1 ? values[0] : 1.0 - values[0]) : told.truthShare);
  m_loss += told.loss;
  ++m_items;
  m_right += told.right;
  m_matrix.add(truth, told.predicted);
  m_top.add(TopK::placeOf(shares, truth));
  m_calibration.add(told.predictedShare, told.right);
  m_scores.add(item, values, std::span<const std::int32_t>(&truth, 1));
}

void OutputEvaluator::addLabels(EvaluatedSample& told, std::span<const float> values, std::span<const float> truth) {
  m_onlyLabels = m_onlyLabels && std::all_of(truth.begin(), truth.end(), [](float t) { return t == 0 || t == 1; });
  if (!m_onlyLabels) return;
  std::vector<std::int32_t> there(truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    there[i] = truth[i] == 1;
    const bool said = values[i] > 0.5F, is = there[i] == 1;
    Label& label = m_labels[i];
    label.support += is;
    label.predicted += said;
    label.right += is && said;
    m_labelRight += said == is;
    m_labelLoss += lossOf(is ? values[i] : 1.0 - values[i]);
    m_calibration.add(std::max<double>(values[i], 1.0 - values[i]), said == is);
  }
  m_scores.add(told.sample, values, there);
}

void OutputEvaluator::addNumbers(EvaluatedSample& told, std::span<const float> values, std::span<const float> truth) {
  double farthest = -1, squares = 0;
  bool right = m_chance;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double residual = static_cast<double>(truth[i]) - values[i];
    squares += residual * residual;
    right = right && (values[i] > 0.5F) == (truth[i] > 0.5F);
    if (std::abs(residual) <= farthest) continue;
    farthest = std::abs(residual);
    told.value = static_cast<std::int32_t>(i);
    told.trueValue = truth[i];
    told.predictedValue = values[i];
  }
  told.right = right;
  told.loss = squares / static_cast<double>(std::max<std::size_t>(values.size(), 1));
  m_loss += squares;
  m_items += static_cast<std::int64_t>(values.size());
  m_regression.add(values, truth);
}

void OutputEvaluator::merge(const OutputEvaluator& other) {
  m_onlyLabels = m_onlyLabels && other.m_onlyLabels;
  m_samples += other.m_samples;
  m_items += other.m_items;
  m_notFinite += other.m_notFinite;
  m_right += other.m_right;
  m_loss += other.m_loss;
  m_matrix.merge(other.m_matrix);
  m_top.merge(other.m_top);
  m_scores.merge(other.m_scores);
  m_calibration.merge(other.m_calibration);
  for (std::size_t i = 0; i < m_labels.size(); ++i) {
    m_labels[i].right += other.m_labels[i].right;
    m_labels[i].predicted += other.m_labels[i].predicted;
    m_labels[i].support += other.m_labels[i].support;
  }
  m_labelLoss += other.m_labelLoss;
  m_labelRight += other.m_labelRight;
  m_regression.merge(other.m_regression);
  m_worst.merge(other.m_worst);
}

void OutputEvaluator::finishCurves(EvaluatedOutput& result) const {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  result.exactCurves = m_scores.exact();
  result.macroAuc = result.weightedAuc = result.macroPrecision = none;
  if (!m_scores.hasCurves()) {
    result.noCurves = fmt::format("{} classes and more than {} scores: there is no room for their curves", m_width,
                                  m_limits.exactScores);
    return;
  }
  double auc = 0, weighted = 0, precision = 0;
  std::int64_t count = 0, support = 0;
  for (std::int64_t of = 0; of < m_width; ++of) {
    ScoreCurve curve = m_scores.curve(of, kCurvePoints);
    if (std::isfinite(curve.auc)) {
      auc += curve.auc;
      precision += curve.averagePrecision;
      weighted += curve.auc * static_cast<double>(curve.positives);
      support += curve.positives;
      ++count;
    }
    result.curves.push_back({ofClasses() && m_chance ? 1 : of, std::move(curve)});
  }
  if (count == 0) return;
  result.macroAuc = auc / static_cast<double>(count);
  result.macroPrecision = precision / static_cast<double>(count);
  result.weightedAuc = weighted / static_cast<double>(support);
}

void OutputEvaluator::finishClasses(EvaluatedOutput& result) const {
  result.kind = EvaluatedOutput::classes;
  if (m_positions > 1 && m_output.kind == OutputKind::classes)
    for (int i = 0; i + 1 < m_output.shape.rank(); ++i) result.positions.push_back(m_output.shape[i]);
  result.right = m_right;
  result.top = m_top.finish(m_classes);
  result.cells = m_matrix.cells();
  result.table = classTable(m_matrix);
}

void OutputEvaluator::finishLabels(EvaluatedOutput& result) const {
  result.kind = EvaluatedOutput::labels;
  result.right = m_labelRight;
  result.loss = m_items == 0 ? 0 : m_labelLoss / static_cast<double>(m_items);
  std::vector<ClassFigures> figures;
  for (const Label& each : m_labels) figures.push_back(classFigures(each.right, each.predicted, each.support));
  result.table = classTable(std::move(figures));
}

EvaluatedOutput OutputEvaluator::finish() const {
  EvaluatedOutput result{.name = m_output.name, .target = m_output.target};
  result.samples = m_samples;
  result.items = m_items;
  result.notFinite = m_notFinite;
  result.loss = m_items == 0 ? 0 : m_loss / static_cast<double>(m_items);
  result.worst = m_worst.finish();
  const bool labels = m_chance && !ofClasses() && m_onlyLabels;
  if (ofClasses() || labels) {
    ofClasses() ? finishClasses(result) : finishLabels(result);
    result.accuracy = wilson(result.right, m_items);
    result.calibration = m_calibration.finish();
    result.temperature = fitTemperature(m_scores);
    result.temperatureTrial = tryTemperature(m_scores);
    finishCurves(result);
  } else {
    result.kind = EvaluatedOutput::numbers;
    result.regression = m_regression.all();
    for (std::size_t i = 0; i < m_regression.values(); ++i) result.values.push_back(m_regression.value(i));
  }
  const std::int64_t words = result.kind == EvaluatedOutput::classes ? m_classes : m_output.shape.elements();
  for (std::int64_t i = 0; i < words; ++i) result.words.push_back(className(m_output, i));
  return result;
}

}  // namespace loom

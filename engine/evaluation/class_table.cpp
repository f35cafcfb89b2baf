#include "engine/evaluation/class_table.h"

#include <cmath>
#include <limits>

namespace loom {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void add(ClassTable::Mean& mean, const ClassFigures& figures, double weight) {
  mean.precision += weight * figures.precision;
  mean.recall += weight * figures.recall;
  mean.f1 += weight * figures.f1;
}

}  // namespace

double intersectionOverUnion(const ClassFigures& figures) {
  const std::int64_t either = figures.predicted + figures.support - figures.right;
  return either > 0 ? static_cast<double>(figures.right) / static_cast<double>(either)
                    : std::numeric_limits<double>::quiet_NaN();
}

double meanIntersectionOverUnion(const ClassTable& table) {
  double sum = 0;
  int classes = 0;
  for (const ClassFigures& each : table.classes)
    if (const double share = intersectionOverUnion(each); std::isfinite(share)) sum += share, ++classes;
  return classes > 0 ? sum / classes : std::numeric_limits<double>::quiet_NaN();
}

ClassFigures classFigures(std::int64_t right, std::int64_t predicted, std::int64_t support) {
  return {.precision = ratio(right, predicted),
          .recall = ratio(right, support),
          .f1 = ratio(2 * right, predicted + support),
          .support = support,
          .predicted = predicted,
          .right = right};
}

ClassTable classTable(std::vector<ClassFigures> classes) {
  ClassTable table{.classes = std::move(classes), .macro = {}, .weighted = {}, .micro = {}};
  std::int64_t occurring = 0, right = 0, predicted = 0, support = 0;
  for (const ClassFigures& each : table.classes) {
    if (each.support + each.predicted > 0) ++occurring;
    right += each.right;
    predicted += each.predicted;
    support += each.support;
  }
  for (const ClassFigures& each : table.classes) {
    if (each.support + each.predicted > 0) add(table.macro, each, 1.0 / static_cast<double>(occurring));
    if (support > 0) add(table.weighted, each, ratio(each.support, support));
  }
  add(table.micro, classFigures(right, predicted, support), 1);
  return table;
}

ClassTable classTable(const ConfusionMatrix& matrix) {
  std::vector<ClassFigures> classes;
  for (std::int64_t each = 0; each < matrix.classes(); ++each) {
    const auto place = static_cast<std::size_t>(each);
    classes.push_back(classFigures(matrix.at(each, each), matrix.ofPredicted()[place], matrix.ofTruth()[place]));
  }
  return classTable(std::move(classes));
}

}  // namespace loom

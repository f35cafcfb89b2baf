#pragma once
// Precision, recall and F1 of each class, and their means.
#include <cstdint>
#include <vector>

#include "engine/evaluation/confusion.h"

namespace loom {

struct ClassFigures {
  double precision = 0, recall = 0, f1 = 0;  // 0 where nothing was said of it or none of it was there
  std::int64_t support = 0;                  // samples that are of it
  std::int64_t predicted = 0;                // samples of which it was said
  std::int64_t right = 0;
};

struct ClassTable {
  struct Mean {
    double precision = 0, recall = 0, f1 = 0;
  };
  std::vector<ClassFigures> classes;
  Mean macro;     // over the classes that occur, as truth or as prediction, each alike
  Mean weighted;  // by support
  Mean micro;     // over all samples together
};

// Of the places where it is or is said to be, the share where both hold (Jaccard's index): right / (predicted + support
// - right). NaN where there are none.
double intersectionOverUnion(const ClassFigures& figures);
// Over the classes that occur, each alike; NaN where none does.
double meanIntersectionOverUnion(const ClassTable& table);

// precision = right / predicted, recall = right / support, F1 = 2 right / (predicted + support).
ClassFigures classFigures(std::int64_t right, std::int64_t predicted, std::int64_t support);
ClassTable classTable(std::vector<ClassFigures> classes);
ClassTable classTable(const ConfusionMatrix& matrix);

}  // namespace loom

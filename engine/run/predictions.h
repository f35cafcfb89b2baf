#pragma once
// What a trained network says of samples: the answer of a prediction, for the program that computed it and for the one
// that shows it.
//
// As JSON: {"checkpoint", "step", "samples", "columns": ["y'__0", ...],
//   "outputs": [{"name": "y'", "target": "y", "kind": "classes", "shape": [10], "classes": ["cat", ...]?}],
//   "rows": [{"sample": 0, "source": "a.png"?, "cells": ["3", "oslo"]?, "marks": ["area is empty: ..."]?, "loss": 0.1?,
//             "outputs": [{"values": [...], "truth": [...]?}]}],
//   "heads": ["id", "city"]?, "notes": ["a.wav: ..."]?, "refused": [{"source": "b.png", "reason": "..."}]?}
// Numbers by numberToJson().
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/shape.h"

namespace loom {

struct OutputKind {
  enum Kind {
    numbers,  // in the unit of the target's column
    classes,  // a share for each class
    chance    // of class 1 of two, by each value
  };
};

struct PredictedOutput {
  std::string name;    // "y'": the target and an apostrophe, else the node and one
  std::string target;  // the variable that it was trained towards; empty where it is none of the dataset's
  OutputKind::Kind kind = OutputKind::numbers;
  Shape shape;                       // of one sample
  std::vector<std::string> classes;  // their words; empty where they have none
};

struct PredictedSample {
  struct Output {
    std::vector<float> values;
    std::vector<float> truth;  // as the dataset has it: a class's number, or numbers in their unit; empty = not known
  };
  std::int64_t sample = 0;         // from 0
  std::string source;              // the file, where each is a sample of its own
  std::vector<std::string> cells;  // else its first cells as the CSV has them, under Predictions::heads
  std::vector<std::string> marks;  // what was put in place of its cells: a hole that was filled, a word never met
  std::vector<Output> outputs;
  std::optional<double> loss;  // of this sample by itself
};

// A file that is no sample of the network's: a sentence says why, and what can be done.
struct RefusedSample {
  std::string source, reason;
};

struct Predictions {
  std::string checkpoint;
  std::int64_t step = 0, samples = 0;
  std::vector<std::string> columns;  // that were added to the CSV
  std::vector<PredictedOutput> outputs;
  std::vector<PredictedSample> kept;   // of all samples the first ones, as many as were asked for
  std::vector<std::string> heads;      // columns of the CSV whose cells are told with each
  std::vector<std::string> notes;      // what was done to files so that the network takes them
  std::vector<RefusedSample> refused;  // of several files those that were not predicted
};

struct ClassShare {
  std::string name;
  double share = 0;  // 0 ... 1
};
// Of an output with classes or a chance, the most likely first; empty for numbers.
std::vector<ClassShare> classShares(const PredictedOutput& output, const std::vector<float>& values);
// "cat", or the number where class `index` has no word.
std::string className(const PredictedOutput& output, std::int64_t index);

Json toJson(const Predictions& predictions);
// Throws Error(badData) for what toJson() does not write.
Predictions predictionsFromJson(const Json& json);

}  // namespace loom

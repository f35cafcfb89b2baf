#pragma once
// What a trained network sees in one sample: what it says of it, a number for each place that tells how much one of its
// values hangs on it, and which layers it went through. For the program that computed it and for the one that shows it.
//
// As JSON: {"checkpoint", "step", "sample", "samples", "output": {"name", "target", "kind", "shape", "classes"?},
//   "said": [...], "value": 3, "input": "x", "shape": [1, 28, 28], "names": [...], "method":
//   "gradient"|"grad-cam"|"occlusion"|"", "map": {"height", "width", "values": [...]}, "layer": "conv2", "layers":
//   [{"name", "shape"}], "picture": {"shape", "bytes": "00ff..."}?, "classes": {"height", "width", "said": "0001...",
//   "truth": "..."}?}
// A class of `classes` has four digits, its low byte first; where there are classes, "said" is empty.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/predictions.h"

namespace loom {

// A number for each place of a sample, or of a layer; row by row.
struct SampleMap {
  std::int64_t height = 0, width = 0;  // of a row of numbers height is 1
  std::vector<float> values;
};
// The same as a picture of `height` times `width`, between its places linearly.
SampleMap resized(const SampleMap& map, std::int64_t height, std::int64_t width);

// A class for each place of a sample, row by row.
struct ClassMap {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint16_t> said, truth;  // truth empty: it is not known
  bool isEmpty() const { return said.empty(); }
};

struct SampleLook {
  std::string checkpoint;
  std::int64_t step = 0, sample = 0, samples = 0;  // of how many there are
  PredictedOutput output;
  std::vector<float> said;  // as PredictedSample::Output::values, but numbers as the network computes them
  std::int64_t value = 0;   // of `said`, or of classes at several positions the class: what the map tells of
  // The class that the map tells of; of one chance it is 1. -1 where what is said are numbers.
  std::int64_t classTold() const;
  std::string input;               // the Input node that is looked at
  Shape shape;                     // of it, of one sample
  std::vector<std::string> names;  // of its numbers, where they have some: columns of a table
  std::string method;              // empty: no map
  SampleMap map;
  std::string layer;  // whose values were asked for, and whose channels Grad-CAM weighed
  struct Layer {
    std::string name;
    Shape shape;  // of one sample
  };
  std::vector<Layer> layers;       // in the order in which they are computed
  Shape pictureShape;              // channels first
  std::vector<std::byte> picture;  // as the dataset holds it, 0 to 255; empty where the sample is none
  ClassMap classes;                // of an output that is a class for each place; else empty
};

Json toJson(const SampleLook& look);
// Throws Error(badData) for what toJson() does not write.
SampleLook sampleLookFromJson(const Json& json);

// Bytes as a text of two digits each, and back. Throws Error(badData).
std::string toDigits(std::string_view bytes);
std::string fromDigits(std::string_view digits);

}  // namespace loom

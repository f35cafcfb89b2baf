#pragma once
// What a run recorded of its layers (setting `record_layers`): norms of weights, gradients and updates, dead units, and
// how activations and gradients are distributed, at some of its steps. An event of events.jsonl each, so that it comes
// back from a host as curves do:
//   recorded  {"step", "ms": what it took, "updates": [{"network", "layers": {node of the flat network: layer}}]}
//   layer     {"weight_norm", "gradient_norm", "update_norm" (with weights); "units", "dead" (of rectifiers);
//              "activations", "gradients": {"count", "not_finite", "least", "most", "sum", "squares", "from", "bins"}}
// Numbers by numberToJson(), so NaN stays NaN.
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace loom {

// How numbers are distributed: exact count, extremes and moments of those that are finite, and counts in bins that are
// the same for every layer, step and rank, so that they add up. Four bins an octave from 2^-30 to 2^24 for each sign;
// what is closer to 0 is in the bin of 0, what is further out in the last ones.
class ValueDistribution {
 public:
  static constexpr int kPerOctave = 4, kLeastPower = -30, kMostPower = 24;
  static constexpr int kOfSign = kPerOctave * (kMostPower - kLeastPower), kZero = kOfSign, kBins = 2 * kOfSign + 1;
  static int binOf(float value);  // of a finite one; ascending with it
  // A bin is [lower, upper) where it is positive, (lower, upper] where negative.
  static double lowerOf(int bin);
  static double upperOf(int bin);

  void add(std::span<const float> values);
  void add(const ValueDistribution& other);
  std::int64_t count() const { return m_count; }  // finite ones
  std::int64_t notFinite() const { return m_notFinite; }
  double least() const { return m_least; }  // NaN where there is none
  double most() const { return m_most; }
  double mean() const;
  double deviation() const;  // of the values themselves, not of a sample
  // The value below which a share of them lies, exact but for the width of a bin (within which it is interpolated).
  double quantile(double share) const;
  std::int64_t countOf(int bin) const;
  int firstBin() const { return m_from; }                             // of those that hold any
  const std::vector<std::int64_t>& bins() const { return m_counts; }  // from firstBin() on

  Json toJson() const;
  // Throws Json::exception or Error(badData) for what is none.
  static ValueDistribution fromJson(const Json& json);

 private:
  std::int64_t& place(int bin);
  std::int64_t m_count = 0, m_notFinite = 0;
  double m_least, m_most, m_sum = 0, m_squares = 0;
  int m_from = 0;
  std::vector<std::int64_t> m_counts;

 public:
  ValueDistribution();
};

struct LayerRecord {
  struct Norms {
    double weight = 0, gradient = 0, update = 0;  // over all its weights; the gradient before it is clipped
    double updateRatio() const;                   // of what the step changed to what stood there; NaN of no weights
  };
  std::optional<Norms> norms;            // of a layer with weights that the update changes
  std::int64_t units = 0, dead = 0;      // of a rectifier; dead: never above 0 in the whole batch
  ValueDistribution activations;         // of all its values, over the batch, before the step
  ValueDistribution gradients;           // of the batch's loss by these values
  double largest() const;                // magnitude of an activation; NaN where there is none
  void add(const LayerRecord& another);  // one that stands for several

  Json toJson() const;
  static LayerRecord fromJson(const Json& json);
};

struct RecordedStep {
  std::int64_t step = 0;
  double ms = 0;                                                       // that recording took
  std::map<std::string, std::map<std::string, LayerRecord>> networks;  // layers by the nodes of the flat network

  // Of the body of an event `recorded`. Throws Json::exception, Error(badData).
  static RecordedStep fromJson(const Json& body);
};

// Reads events.jsonl from where it was read to before, and of it only what tells of layers. A resumed run's steps
// behind the one it went on from are forgotten, as in the curves. Beyond kMost steps every second one is left out.
class RecordedSteps {
 public:
  static constexpr std::size_t kMost = 1024;
  explicit RecordedSteps(std::filesystem::path events) : m_file(std::move(events)) {}
  bool read();                                                        // whether anything changed; no file: nothing
  const std::vector<RecordedStep>& steps() const { return m_steps; }  // ascending
  std::int64_t skipped() const { return m_skipped; }                  // lines that say something else than they should

 private:
  void take(std::string_view line);
  std::filesystem::path m_file;
  std::int64_t m_offset = 0, m_skipped = 0;
  std::vector<RecordedStep> m_steps;
  bool m_changed = false;
};

}  // namespace loom

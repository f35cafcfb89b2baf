#pragma once
// The steps of `prepare`, compiled for one variable: cropping, padding and mirroring become one window into the stored
// sample, scaling and normalising one multiply-add per channel, so that a sample is read once and written once. Steps
// that compute pixels anew stand between such passes.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/data/loader.h"
#include "engine/data/prepare_step.h"

namespace loom {

// A sample seen as planes x rows x columns x inner. Images: C x H x W x 1; clips: 1 x 1 x length x the other axes;
// numbers that stand side by side (vectors): 1 x 1 x 1 x elements.
struct SampleLayout {
  std::int64_t planes = 1, rows = 1, columns = 1, inner = 1;
  bool image = false;         // two axes may be cut and padded (rows, columns), else one (columns)
  std::int64_t channels = 1;  // that Normalise may treat apart: planes, or the innermost axis
};
SampleLayout layoutOf(const Variable& variable, const Shape& shape);

// A window and a multiply-add: what stands between two steps that compute pixels, or all there is.
struct SamplePass {
  std::vector<WindowStep> steps;
  std::vector<std::vector<float>> borders;  // by step, by channel in the final scale; empty where it puts nothing
  std::vector<float> scale, shift;          // by channel: prepared = raw * scale + shift
  bool uniform = true;                      // one scale and shift for all channels

  // Overwrites `out`: planes x window.size x inner numbers.
  void apply(const SampleWindow& window, const std::byte* raw, DataType type, const SampleLayout& in, float* out) const;
};

class Preparation {
 public:
  // `random` false: random crops are centred, flips left out. Throws Error(badProject).
  Preparation(const Variable& variable, const std::vector<Json>& prepare, bool random, std::uint64_t seed);

  const Shape& shape() const { return m_shape; }  // after preparation
  // What scaling and normalising come to, by channel: prepared = raw * scale + shift.
  const std::vector<float>& scale() const { return m_last.scale; }
  const std::vector<float>& shift() const { return m_last.shift; }
  // Whether pixels are computed anew. Without that, steps() and borders() say all that a machine needs to do the same.
  bool computes() const { return !m_pictures.empty(); }
  // The steps that move pixels or blot them out, and what each of them puts there, by channel in the final scale (empty
  // where it puts nothing); of those behind the last one that computes.
  const std::vector<WindowStep>& steps() const { return m_last.steps; }
  const std::vector<std::vector<float>>& borders() const { return m_last.borders; }
  // Overwrites `out` (shape().elements() numbers). `row` and `epoch` decide what is random. Throws Error(badData) for a
  // clip that is too short.
  void apply(std::span<const std::byte> raw, const Shape& shape, std::int64_t row, std::int64_t epoch,
             std::span<float> out) const;

 private:
  class Compiling;
  struct PreparedPicture {
    SamplePass before;
    std::shared_ptr<const PictureStep> step;
    std::uint64_t number = 0;
  };
  SampleWindow windowIn(const SamplePass& pass, const SampleLayout& in, const SampleDraw& draw) const;

  Variable m_variable;
  SampleLayout m_layout;
  Shape m_shape;
  std::uint64_t m_seed;
  std::vector<PreparedPicture> m_pictures;
  SamplePass m_last;
};

// The steps at the beginning of `prepare` that may be done once for all, before a picture of this variable is stored.
std::vector<std::shared_ptr<const PictureStep>> stepsBeforePacking(const std::string& variable,
                                                                   const std::vector<Json>& prepare);

}  // namespace loom

#pragma once
// The steps of `prepare`, compiled for one variable: cropping, padding and mirroring become one window into the stored
// sample, scaling and normalising one multiply-add per channel, so that a sample is read once and written once.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/sample_window.h"
#include "engine/data/loader.h"

namespace loom {

// The entry that a step names, by id or alias. Throws Error(badProject) with the nearest name, and for faulty fields.
const Entry& prepareEntry(const Json& step);
// Whether the step applies to the variable: named, or without any name every variable that is no scalar; Crop, Pad,
// Flip and Cutout skip vectors then, Flip and Cutout all but images.
bool appliesTo(const Json& step, const Entry& entry, const Variable& variable);

// A sample seen as planes x rows x columns x inner. Images: C x H x W x 1; clips: 1 x 1 x length x the other axes;
// numbers that stand side by side (vectors): 1 x 1 x 1 x elements.
struct SampleLayout {
  std::int64_t planes = 1, rows = 1, columns = 1, inner = 1;
  bool image = false;         // two axes may be cut and padded (rows, columns), else one (columns)
  std::int64_t channels = 1;  // that Normalise may treat apart: planes, or the innermost axis
};
SampleLayout layoutOf(const Variable& variable, const Shape& shape);

// The name of the random numbers of `prepare`: Philox(seed, name).
inline constexpr const char* kPrepareStream = "prepare";

class Preparation {
 public:
  // `random` false: random crops are centred, flips left out. Throws Error(badProject).
  Preparation(const Variable& variable, const std::vector<Json>& prepare, bool random, std::uint64_t seed);

  const Shape& shape() const { return m_shape; }  // after preparation
  // What scaling and normalising come to, by channel: prepared = raw * scale + shift.
  const std::vector<float>& scale() const { return m_scale; }
  const std::vector<float>& shift() const { return m_shift; }
  // The steps that move pixels or blot them out, and what each of them puts there, by channel in the final scale (empty
  // where it puts nothing): what a machine needs to do the same.
  const std::vector<WindowStep>& steps() const { return m_steps; }
  const std::vector<std::vector<float>>& borders() const { return m_borders; }
  // Overwrites `out` (shape().elements() numbers). `row` and `epoch` decide what is random. Throws Error(badData) for a
  // clip that is too short.
  void apply(std::span<const std::byte> raw, const Shape& shape, std::int64_t row, std::int64_t epoch,
             std::span<float> out) const;

 private:
  struct Extents {
    std::int64_t low = 0, high = 0;
  };
  void addWindow(const Json& step, const Entry& entry, std::uint64_t number, bool random, Extents& rows,
                 Extents& columns);
  void addValues(const Json& step, const Entry& entry);
  void add(const WindowStep& window, std::vector<float> border);
  void finish(const Variable& variable, const Extents& rows, const Extents& columns);

  Variable m_variable;
  SampleLayout m_layout;
  Shape m_shape;
  std::uint64_t m_seed;
  std::vector<WindowStep> m_steps;
  std::vector<std::vector<float>> m_borders;  // by step
  std::vector<float> m_scale, m_shift;        // by channel
  bool m_uniform = true;                      // one scale and shift for all channels
};

}  // namespace loom

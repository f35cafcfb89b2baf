#pragma once
// A kind of step of `prepare`: what it says about itself, what it works on, and what it adds to a preparation that is
// compiled for one variable. One file a kind in steps/, listed in CMakeLists.txt; nothing else knows a step by name.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/philox.h"
#include "engine/base/sample_window.h"
#include "engine/catalogue/entry.h"
#include "engine/data/dataset.h"

namespace loom {

// The name of the random numbers of `prepare`: Philox(seed, name).
inline constexpr const char* kPrepareStream = "prepare";

// A picture between two steps: channels x rows x columns of u8, or of f32 where the file had 16 bits.
struct PictureView {
  DataType type = DataType::u8;
  std::int64_t channels = 0, rows = 0, columns = 0;
  const std::byte* bytes = nullptr;
  std::int64_t pixels() const { return rows * columns; }
};
struct Picture {
  DataType type = DataType::u8;
  std::int64_t channels = 0, rows = 0, columns = 0;
  std::vector<std::byte> bytes;
  PictureView view() const { return {type, channels, rows, columns, bytes.data()}; }
  // Takes the size; what the pixels are is left to the caller.
  void make(DataType of, std::int64_t planes, std::int64_t height, std::int64_t width);
};

// What is random about one sample in one step: four words, and four others for each further `time`.
struct SampleDraw {
  std::uint64_t seed = 0;
  std::int64_t row = 0, epoch = 0;
  std::uint64_t number = 0;  // the step's place in `prepare`
  Philox::Block words(int time = 0) const;
};

// A step that computes pixels anew. Safe from several threads.
class PictureStep {
 public:
  virtual ~PictureStep() = default;
  // Writes all of `out`, which is another picture than `in`.
  virtual void apply(const PictureView& in, const SampleDraw& draw, Picture& out) const = 0;
};

// The smallest and the largest that a sample may have.
struct Extents {
  std::int64_t low = 0, high = 0;
  bool fixed() const { return low == high; }
};

// A preparation while its steps are added: what a step may look at and change.
class PreparationPlan {
 public:
  virtual ~PreparationPlan() = default;
  const Variable& variable;
  const bool random;       // false: what is random is left out or takes the middle
  bool image = false;      // two axes may be cut, padded, computed anew (rows, columns), else one (columns)
  Extents rows, columns;   // of what the step finds; it leaves there what it makes
  Extents channels{1, 1};  // planes of an image
  bool asStored = true;    // no step came before but those that are done before packing

  // Moves pixels or blots them out; `border` is what it puts there (none: it puts nothing).
  virtual void move(WindowStep window, std::optional<double> border) = 0;
  virtual void compute(std::shared_ptr<const PictureStep> step) = 0;

 protected:
  PreparationPlan(const Variable& of, bool withRandom) : variable(of), random(withRandom) {}
};

// value * scale + shift, with one number for all channels or one each.
struct MultiplyAdd {
  std::vector<double> scale, shift;
};

struct PrepareStep {
  // Which variables it means where it names none: all but single numbers; all but single numbers and vectors; images;
  // sounds.
  enum class Means { values, samples, pictures, sounds };

  Entry entry;
  Means means = Means::values;
  bool computes = false;  // pixels anew (PreparationPlan::compute)
  bool measured = false;  // mean and deviation are measured on the training set where they are not given
  bool beforePacking =
      false;  // may be done once for all, before samples are stored: then doing it again changes nothing
  // One of them: numbers that are changed each by itself, or anything else.
  MultiplyAdd (*values)(const Values& given, std::size_t channels) = nullptr;
  void (*add)(const Values& given, PreparationPlan& plan) = nullptr;
};

std::span<const PrepareStep* const> stepTable();

// The kind that a step names, by id or alias. Throws Error(badProject) with the nearest name, and for faulty fields.
const PrepareStep& prepareStep(const Json& step);
// The same without a word: null for what is none, such as a step on the columns of a CSV.
const PrepareStep* sampleStep(const Json& step);
// Whether the step applies to the variable: named, or without any name as `means` says.
bool appliesTo(const Json& step, const PrepareStep& kind, const Variable& variable);

// Whether all its fields can be. A step that is still being filled in is told of where the preparation is compiled;
// samples can be opened all the same.
bool isSound(const Json& step, const PrepareStep& kind);

// What is done to pictures and sounds before they are stored, as a text; empty where nothing is.
std::string packingKey(const std::vector<Json>& prepare);

// The field that names the variables, the same in every kind.
Field variableField();
// Rows and columns as a field gives them: one number for both, of a clip one alone.
struct SizeGiven {
  std::int64_t rows = 0, columns = 0;
};
SizeGiven sizeGiven(const Values& given, std::string_view key, const PreparationPlan& plan);
// Throws Error(badProject) where the variable is no image: `does` says what the step does to one.
void needImage(const PreparationPlan& plan, std::string_view does);

}  // namespace loom

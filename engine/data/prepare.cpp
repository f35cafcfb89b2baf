#include "engine/data/prepare.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/columns/column_step.h"

namespace loom {

SampleLayout layoutOf(const Variable& variable, const Shape& shape) {
  SampleLayout layout;
  if (variable.kind == VariableKind::image || (variable.kind == VariableKind::matrix && shape.rank() == 3)) {
    layout = {.planes = shape[0], .rows = shape[1], .columns = shape[2], .image = true, .channels = shape[0]};
  } else if (variable.kind == VariableKind::wave || variable.kind == VariableKind::matrix) {
    layout.columns = shape[0];
    layout.inner = shape[0] > 0 ? shape.elements() / shape[0] : 1;
    layout.channels = shape.rank() > 1 ? shape[-1] : 1;
  } else {
    layout.inner = layout.channels = shape.elements();
  }
  return layout;
}

class Preparation::Compiling : public PreparationPlan {
 public:
  Compiling(Preparation& made, const Variable& of, bool withRandom) : PreparationPlan(of, withRandom), m_made(made) {
    const SampleLayout &most = made.m_layout, least = layoutOf(of, of.varying() ? of.smallest : of.shape);
    image = most.image;
    rows = {least.rows, most.rows};
    columns = {least.columns, most.columns};
    if (image) channels = {least.planes, most.planes};
    begin(most.channels);
  }

  void add(const Json& step, const PrepareStep& kind, std::uint64_t number) {
    m_number = number;
    const Values given(kind.entry, step);
    if (!kind.beforePacking) asStored = false;
    if (kind.values) return change(kind.values(given, m_made.m_last.scale.size()));
    if (variable.kind == VariableKind::vector || variable.kind == VariableKind::scalar)
      throwError(ErrorCode::badProject, "it needs an image or a clip, but {} is a {}; name another variable",
                 variable.name, toString(variable.kind));
    kind.add(given, *this);
  }

  void move(WindowStep window, std::optional<double> border) override {
    SamplePass& pass = m_made.m_last;
    if (pass.steps.size() == kMostWindows)
      throwError(ErrorCode::badProject, "more than {} steps move pixels; remove some", kMostWindows);
    window.number = m_number;
    pass.steps.push_back(window);
    pass.borders.emplace_back();
    if (border) pass.borders.back().assign(pass.scale.size(), static_cast<float>(*border));
  }

  void compute(std::shared_ptr<const PictureStep> step) override {
    if (m_changed)
      throwError(ErrorCode::badProject,
                 "it works on pixels as they are stored, 0 to 255; move it before Scale and Normalise");
    m_made.m_pictures.push_back({std::move(m_made.m_last), std::move(step), m_number});
    begin(channels.high);
  }

  void finish() {
    if (image && !channels.fixed())
      throwError(ErrorCode::badProject,
                 "{} differs in channels from sample to sample ({} to {}), but a network needs equally many; add the "
                 "step Colours to prepare",
                 variable.name, channels.low, channels.high);
    if (image && !(rows.fixed() && columns.fixed()))
      throwError(
          ErrorCode::badProject,
          "{} differs in size from sample to sample ({}×{} to {}×{} pixels), but a network needs equal sizes; add "
          "the step Resize to prepare",
          variable.name, rows.low, columns.low, rows.high, columns.high);
    if (!columns.fixed())
      throwError(ErrorCode::badProject,
                 "{} differs in length from sample to sample ({} to {} steps), but a network needs equal lengths; add "
                 "the steps Pad and Crop to prepare",
                 variable.name, columns.low, columns.high);
    SamplePass& pass = m_made.m_last;
    for (std::size_t c = 1; c < pass.scale.size(); ++c)
      pass.uniform = pass.uniform && pass.scale[c] == pass.scale[0] && pass.shift[c] == pass.shift[0];
    Shape& shape = m_made.m_shape;
    shape = variable.shape;
    if (image)
      shape = {channels.high, rows.high, columns.high};
    else if (variable.kind == VariableKind::wave || variable.kind == VariableKind::matrix)
      shape[0] = columns.high;
    if (shape.elements() > (std::int64_t{1} << 31))
      throwError(ErrorCode::badProject, "a sample of {} would have the shape {} after preparation; that is too large",
                 variable.name, shape.toString());
  }

 private:
  void begin(std::int64_t planes) {
    m_made.m_last = {};
    m_made.m_last.scale.assign(static_cast<std::size_t>(planes), 1.0f);
    m_made.m_last.shift.assign(static_cast<std::size_t>(planes), 0.0f);
  }

  void change(const MultiplyAdd& given) {
    SamplePass& pass = m_made.m_last;
    m_changed = true;
    for (std::size_t c = 0; c < pass.scale.size(); ++c) {
      const double by = given.scale[given.scale.size() == 1 ? 0 : c],
                   add = given.shift[given.shift.size() == 1 ? 0 : c];
      pass.scale[c] = static_cast<float>(pass.scale[c] * by);
      pass.shift[c] = static_cast<float>(pass.shift[c] * by + add);
      // Borders that were put on before go through this step as the sample itself does.
      for (std::vector<float>& border : pass.borders) {
        if (!border.empty()) border[c] = static_cast<float>(border[c] * by + add);
      }
    }
  }

  Preparation& m_made;
  std::uint64_t m_number = 0;
  bool m_changed = false;  // numbers are no longer as they were stored
};

Preparation::Preparation(const Variable& variable, const std::vector<Json>& prepare, bool random, std::uint64_t seed)
    : m_variable(variable), m_layout(layoutOf(variable, variable.shape)), m_seed(seed) {
  Compiling compiling(*this, m_variable, random);
  std::uint64_t number = 0;
  for (const Json& step : sampleStepsOf(prepare)) {
    const PrepareStep& kind = prepareStep(step);
    try {
      if (appliesTo(step, kind, variable)) compiling.add(step, kind, number);
    } catch (Error& error) {
      error.addContext(fmt::format("step {} of prepare, variable {}", kind.entry.id, variable.name));
      throw;
    }
    ++number;
  }
  compiling.finish();
}

Shape preparedShape(const Variable& variable, const std::vector<Json>& prepare) {
  // Numbers that are still to be measured change no shape.
  std::vector<Json> known;
  for (const Json& step : sampleStepsOf(prepare)) {
    const PrepareStep& kind = prepareStep(step);
    if (kind.measured && (!step.contains("mean") || !step.contains("deviation"))) continue;
    known.push_back(step);
  }
  return Preparation(variable, known, false, 0).shape();
}

}  // namespace loom

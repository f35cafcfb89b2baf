#include "engine/data/prepare.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"

namespace loom {

const Entry& prepareEntry(const Json& step) {
  if (!step.is_object() || !step.contains("step") || !step["step"].is_string())
    throwError(ErrorCode::badProject,
               "a step of prepare is {}, but an object such as {{\"step\": \"Scale\"}} is needed",
               step.dump().substr(0, 100));
  const std::string& name = step["step"].get_ref<const std::string&>();
  static const std::vector<const Entry*> entries = prepareEntries();
  const Entry* found = findNamed<Entry>(entries, name);
  if (!found) {
    const std::vector<std::string> known = idsOf<Entry>(entries);
    const std::string near = nearest(name, known);
    std::string all;
    for (const std::string& id : known) all += (all.empty() ? "" : ", ") + id;
    throwError(ErrorCode::badProject, "unknown step '{}' of prepare: {}", name,
               near.empty() ? "known are " + all : "did you mean '" + near + "'?");
  }
  for (const FieldProblem& problem : validate(*found, step, {"step"})) {
    if (problem.severity == FieldProblem::Severity::error)
      throwError(ErrorCode::badProject, "step {} of prepare: {}", found->id, problem.message);
  }
  return *found;
}

bool appliesTo(const Json& step, const Entry& entry, const Variable& variable) {
  const std::vector<std::string> names = Values(entry, step).texts("variable");
  if (!names.empty()) return std::find(names.begin(), names.end(), variable.name) != names.end();
  if (variable.kind == VariableKind::scalar) return false;
  if (entry.category == "values") return true;
  const bool image = layoutOf(variable, variable.shape).image;
  return entry.id == "Flip" || entry.id == "Cutout" ? image : variable.kind != VariableKind::vector;
}

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

Preparation::Preparation(const Variable& variable, const std::vector<Json>& prepare, bool random, std::uint64_t seed)
    : m_variable(variable), m_layout(layoutOf(variable, variable.shape)), m_seed(seed) {
  m_scale.assign(static_cast<std::size_t>(m_layout.channels), 1.0f);
  m_shift.assign(static_cast<std::size_t>(m_layout.channels), 0.0f);
  Extents rows{m_layout.rows, m_layout.rows}, columns{m_layout.columns, m_layout.columns};
  if (variable.varying && !m_layout.image) columns.low = variable.shortest;
  std::uint64_t number = 0;
  for (const Json& step : prepare) {
    const Entry& entry = prepareEntry(step);
    try {
      if (appliesTo(step, entry, variable)) {
        if (entry.category == "values")
          addValues(step, entry);
        else
          addWindow(step, entry, number, random, rows, columns);
      }
    } catch (Error& error) {
      error.addContext(fmt::format("step {} of prepare, variable {}", entry.id, variable.name));
      throw;
    }
    ++number;
  }
  finish(variable, rows, columns);
}

void Preparation::addValues(const Json& step, const Entry& entry) {
  const Values values(entry, step);
  const std::size_t channels = m_scale.size();
  std::vector<double> scale, shift;
  if (entry.id == "Scale") {
    scale = {values.real("by")};
    shift = {values.real("add")};
  } else {
    if (!values.has("mean") || !values.has("deviation"))
      throwError(
          ErrorCode::badProject,
          "mean and deviation are not known yet: they are measured on the training set, which must be opened first");
    const auto means = values.reals("mean"), deviations = values.reals("deviation");
    const auto fits = [&](std::size_t count) { return count == 1 || count == channels; };
    if (!fits(means.size()) || !fits(deviations.size()))
      throwError(ErrorCode::badProject,
                 "{} means and {} deviations are given, but there {} {} channel{}; give one number, or {}",
                 means.size(), deviations.size(), channels == 1 ? "is" : "are", channels, channels == 1 ? "" : "s",
                 channels);
    const std::size_t count = std::max(means.size(), deviations.size());
    for (std::size_t c = 0; c < count; ++c) {
      const double mean = means[means.size() == 1 ? 0 : c], deviation = deviations[deviations.size() == 1 ? 0 : c];
      scale.push_back(1 / deviation);
      shift.push_back(-mean / deviation);
    }
  }
  for (std::size_t c = 0; c < channels; ++c) {
    const double by = scale[scale.size() == 1 ? 0 : c], add = shift[shift.size() == 1 ? 0 : c];
    m_scale[c] = static_cast<float>(m_scale[c] * by);
    m_shift[c] = static_cast<float>(m_shift[c] * by + add);
    // Borders that were put on before go through this step as the sample itself does.
    for (std::vector<float>& border : m_borders) {
      if (!border.empty()) border[c] = static_cast<float>(border[c] * by + add);
    }
  }
}

void Preparation::addWindow(const Json& step, const Entry& entry, std::uint64_t number, bool random, Extents& rows,
                            Extents& columns) {
  const Values values(entry, step);
  const int axes = m_layout.image ? 2 : 1;
  if (m_variable.kind == VariableKind::vector || m_variable.kind == VariableKind::scalar)
    throwError(ErrorCode::badProject, "it needs an image or a clip, but {} is a {}; name another variable",
               m_variable.name, toString(m_variable.kind));
  if (m_steps.size() == kMostWindows)
    throwError(ErrorCode::badProject, "more than {} steps move pixels; remove some", kMostWindows);
  WindowStep window{.number = number};
  std::vector<float> border;
  const bool flips = entry.id == "Flip", cuts = entry.id == "Cutout";
  if ((flips || cuts) && !m_layout.image)
    throwError(ErrorCode::badProject, "it {} images, but {} is a {}", flips ? "mirrors" : "blots out parts of",
               m_variable.name, toString(m_variable.kind));
  if ((flips || cuts) && !random) return;
  if (flips) {
    window.kind = WindowKind::flip;
    window.probability = values.real("probability");
    add(window, {});
    return;
  }
  const auto extentsOf = [&](std::string_view key) {
    const auto given = values.integers(key, axes);
    window.rows = axes == 2 ? given[0] : 0;
    window.columns = given.back();
  };
  if (cuts) {
    window.kind = WindowKind::cut;
    extentsOf("size");
    add(window, std::vector<float>(m_scale.size(), static_cast<float>(values.real("value"))));
    return;
  }
  const std::string position = values.text("position");
  window.position = position == "start"              ? WindowPosition::start
                    : position == "random" && random ? WindowPosition::random
                                                     : WindowPosition::centre;
  const auto each = [&](auto&& change) {
    if (axes == 2) change(rows, window.rows);
    change(columns, window.columns);
  };
  if (entry.id == "Crop") {
    extentsOf("size");
    each([&](Extents& extents, std::int64_t size) {
      if (extents.low < size)
        throwError(ErrorCode::badProject,
                   "{} is to be cut out, but the {} has {}; put a Pad to {} before it, or cut out less", size,
                   extents.low == extents.high ? "sample" : "shortest sample", extents.low, size);
      extents = {size, size};
    });
  } else {
    if (values.has("by") == values.has("to")) throwError(ErrorCode::badProject, "it needs either 'by' or 'to'");
    border.assign(m_scale.size(), static_cast<float>(values.real("value")));
    window.kind = values.has("by") ? WindowKind::padBy : WindowKind::padTo;
    extentsOf(values.has("by") ? "by" : "to");
    each([&](Extents& extents, std::int64_t size) {
      if (window.kind == WindowKind::padBy)
        extents = {extents.low + 2 * size, extents.high + 2 * size};
      else
        extents = {std::max(extents.low, size), std::max(extents.high, size)};
    });
  }
  add(window, std::move(border));
}

void Preparation::add(const WindowStep& window, std::vector<float> border) {
  m_steps.push_back(window);
  m_borders.push_back(std::move(border));
}

void Preparation::finish(const Variable& variable, const Extents& rows, const Extents& columns) {
  if (columns.low != columns.high)
    throwError(ErrorCode::badProject,
               "{} differs in length from sample to sample ({} to {} steps), but a network needs equal lengths; add "
               "the steps Pad and Crop to prepare",
               variable.name, columns.low, columns.high);
  m_shape = variable.shape;
  if (m_layout.image) {
    m_shape[1] = rows.high;
    m_shape[2] = columns.high;
  } else if (variable.kind == VariableKind::wave || variable.kind == VariableKind::matrix) {
    m_shape[0] = columns.high;
  }
  if (m_shape.elements() > (std::int64_t{1} << 31))
    throwError(ErrorCode::badProject, "a sample of {} would have the shape {} after preparation; that is too large",
               variable.name, m_shape.toString());
  for (std::size_t c = 1; c < m_scale.size(); ++c)
    m_uniform = m_uniform && m_scale[c] == m_scale[0] && m_shift[c] == m_shift[0];
}

bool normalises(const Json& step, const Variable& variable) {
  try {
    const Entry& entry = prepareEntry(step);
    return entry.id == "Normalise" && appliesTo(step, entry, variable);
  } catch (const Error&) {
    return false;
  }
}

Shape preparedShape(const Variable& variable, const std::vector<Json>& prepare) {
  // Numbers that are still to be measured change no shape.
  std::vector<Json> known;
  for (const Json& step : prepare) {
    const Entry& entry = prepareEntry(step);
    if (entry.id == "Normalise" && (!step.contains("mean") || !step.contains("deviation"))) continue;
    known.push_back(step);
  }
  return Preparation(variable, known, false, 0).shape();
}

}  // namespace loom

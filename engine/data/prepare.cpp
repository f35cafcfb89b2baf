#include "engine/data/prepare.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/error.h"
#include "engine/base/philox.h"
#include "engine/data/convert.h"

namespace loom {
namespace {

constexpr std::size_t kMostWindows = 16;

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// A piece of the output, in its coordinates; may reach beyond it.
struct Rectangle {
  std::int64_t top = 0, left = 0, rows = 0, columns = 0;
};

Rectangle intersection(const Rectangle& a, const Rectangle& b) {
  const std::int64_t top = std::max(a.top, b.top), left = std::max(a.left, b.left);
  return {top, left, std::max<std::int64_t>(std::min(a.top + a.rows, b.top + b.rows) - top, 0),
          std::max<std::int64_t>(std::min(a.left + a.columns, b.left + b.columns) - left, 0)};
}

}  // namespace

const Entry& prepareEntry(const Json& step) {
  if (!step.is_object() || !step.contains("step") || !step["step"].is_string())
    throwError(ErrorCode::badProject, "a step of prepare is {}, but an object such as {{\"step\": \"Scale\"}} is needed", step.dump().substr(0, 100));
  const std::string& name = step["step"].get_ref<const std::string&>();
  std::vector<std::string> known;
  const Entry* found = nullptr;
  for (const Entry* entry : prepareEntries()) {
    known.push_back(entry->id);
    if (lowered(entry->id) == lowered(name)) found = entry;
    for (const std::string& alias : entry->aliases) {
      if (lowered(alias) == lowered(name)) found = entry;
    }
  }
  if (!found) {
    const std::string near = nearest(name, known);
    std::string all;
    for (const std::string& id : known) all += (all.empty() ? "" : ", ") + id;
    throwError(ErrorCode::badProject, "unknown step '{}' of prepare: {}", name, near.empty() ? "known are " + all : "did you mean '" + near + "'?");
  }
  for (const FieldProblem& problem : validate(*found, step, {"step"})) {
    if (problem.severity == FieldProblem::Severity::error) throwError(ErrorCode::badProject, "step {} of prepare: {}", found->id, problem.message);
  }
  return *found;
}

bool appliesTo(const Json& step, const Entry& entry, const Variable& variable) {
  const std::string name = Values(entry, step).text("variable");
  if (!name.empty()) return name == variable.name;
  if (variable.kind == VariableKind::scalar) return false;
  if (entry.category == "values") return true;
  const bool image = layoutOf(variable, variable.shape).image;
  return entry.id == "Flip" ? image : variable.kind != VariableKind::vector;
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
        if (entry.category == "values") addValues(step, entry);
        else addWindow(step, entry, number, random, rows, columns);
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
      throwError(ErrorCode::badProject, "mean and deviation are not known yet: they are measured on the training set, which must be opened first");
    const auto means = values.reals("mean"), deviations = values.reals("deviation");
    const auto fits = [&](std::size_t count) { return count == 1 || count == channels; };
    if (!fits(means.size()) || !fits(deviations.size()))
      throwError(ErrorCode::badProject, "{} means and {} deviations are given, but there {} {} channel{}; give one number, or {}", means.size(), deviations.size(),
                 channels == 1 ? "is" : "are", channels, channels == 1 ? "" : "s", channels);
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
    for (Window& window : m_windows) {
      if (!window.border.empty()) window.border[c] = static_cast<float>(window.border[c] * by + add);
    }
  }
}

void Preparation::addWindow(const Json& step, const Entry& entry, std::uint64_t number, bool random, Extents& rows, Extents& columns) {
  const Values values(entry, step);
  const int axes = m_layout.image ? 2 : 1;
  if (m_variable.kind == VariableKind::vector || m_variable.kind == VariableKind::scalar)
    throwError(ErrorCode::badProject, "it needs an image or a clip, but {} is a {}; name another variable", m_variable.name, toString(m_variable.kind));
  if (m_windows.size() == kMostWindows) throwError(ErrorCode::badProject, "more than {} steps move pixels; remove some", kMostWindows);
  Window window{.kind = Kind::crop, .number = number};
  if (entry.id == "Flip") {
    if (!m_layout.image) throwError(ErrorCode::badProject, "it mirrors images, but {} is a {}", m_variable.name, toString(m_variable.kind));
    if (!random) return;
    window.kind = Kind::flip;
    window.probability = values.real("probability");
    m_windows.push_back(std::move(window));
    return;
  }
  const auto extentsOf = [&](std::string_view key) {
    const auto given = values.integers(key, axes);
    window.rows = axes == 2 ? given[0] : 0;
    window.columns = given.back();
  };
  const std::string position = values.text("position");
  window.position = position == "start" ? Position::start : position == "random" && random ? Position::random : Position::centre;
  const auto each = [&](auto&& change) {
    if (axes == 2) change(rows, window.rows);
    change(columns, window.columns);
  };
  if (entry.id == "Crop") {
    extentsOf("size");
    each([&](Extents& extents, std::int64_t size) {
      if (extents.low < size)
        throwError(ErrorCode::badProject, "{} is to be cut out, but the {} has {}; put a Pad to {} before it, or cut out less", size,
                   extents.low == extents.high ? "sample" : "shortest sample", extents.low, size);
      extents = {size, size};
    });
  } else {
    if (values.has("by") == values.has("to")) throwError(ErrorCode::badProject, "it needs either 'by' or 'to'");
    window.border.assign(m_scale.size(), static_cast<float>(values.real("value")));
    window.kind = values.has("by") ? Kind::padBy : Kind::padTo;
    extentsOf(values.has("by") ? "by" : "to");
    each([&](Extents& extents, std::int64_t size) {
      if (window.kind == Kind::padBy) extents = {extents.low + 2 * size, extents.high + 2 * size};
      else extents = {std::max(extents.low, size), std::max(extents.high, size)};
    });
  }
  m_windows.push_back(std::move(window));
}

void Preparation::finish(const Variable& variable, const Extents& rows, const Extents& columns) {
  if (columns.low != columns.high)
    throwError(ErrorCode::badProject,
               "{} differs in length from sample to sample ({} to {} steps), but a network needs equal lengths; add the steps Pad and Crop to prepare",
               variable.name, columns.low, columns.high);
  m_shape = variable.shape;
  if (m_layout.image) {
    m_shape[1] = rows.high;
    m_shape[2] = columns.high;
  } else if (variable.kind == VariableKind::wave || variable.kind == VariableKind::matrix) {
    m_shape[0] = columns.high;
  }
  if (m_shape.elements() > (std::int64_t{1} << 31))
    throwError(ErrorCode::badProject, "a sample of {} would have the shape {} after preparation; that is too large", variable.name, m_shape.toString());
  for (std::size_t c = 1; c < m_scale.size(); ++c) m_uniform = m_uniform && m_scale[c] == m_scale[0] && m_shift[c] == m_shift[0];
}

void Preparation::apply(std::span<const std::byte> raw, const Shape& shape, std::int64_t row, std::int64_t epoch, std::span<float> out) const {
  const SampleLayout in = layoutOf(m_variable, shape);
  // Where the stored sample and what stood before each padding lie in the output: every step moves them all.
  Rectangle size{0, 0, in.rows, in.columns};
  Rectangle content = size;
  bool mirrored = false;
  std::array<Rectangle, kMostWindows> inside{};
  std::array<const Window*, kMostWindows> pads{};
  std::size_t padCount = 0;
  const Philox random(m_seed, "prepare");
  for (const Window& window : m_windows) {
    std::int64_t down = 0, right = 0;
    const auto words = window.kind == Kind::flip || window.position == Position::random
                           ? random(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(epoch) << 8 | window.number)
                           : Philox::Block{};
    switch (window.kind) {
      case Kind::crop: {
        const std::int64_t rows = m_layout.image ? window.rows : size.rows;
        const std::int64_t freeRows = size.rows - rows, freeColumns = size.columns - window.columns;
        if (freeRows < 0 || freeColumns < 0)
          throwError(ErrorCode::badData, "row {}: {} has {} steps, but {} are to be cut out", row, m_variable.name, size.columns, window.columns);
        const auto place = [&](std::int64_t room, std::uint32_t word) {
          if (window.position == Position::random) return static_cast<std::int64_t>(static_cast<std::uint64_t>(word) * static_cast<std::uint64_t>(room + 1) >> 32);
          return window.position == Position::centre ? room / 2 : 0;
        };
        down = -place(freeRows, words[0]);
        right = -place(freeColumns, words[1]);
        size.rows = rows;
        size.columns = window.columns;
        break;
      }
      case Kind::padBy:
      case Kind::padTo: {
        inside[padCount] = size;
        pads[padCount++] = &window;
        const auto grow = [&](std::int64_t& extent, std::int64_t by) {
          const std::int64_t more = window.kind == Kind::padBy ? 2 * by : std::max<std::int64_t>(by - extent, 0);
          extent += more;
          return window.position == Position::start && window.kind == Kind::padTo ? 0 : more / 2;
        };
        if (m_layout.image) down = grow(size.rows, window.rows);
        right = grow(size.columns, window.columns);
        break;
      }
      case Kind::flip:
        if (Philox::toUniform(words[0]) < window.probability) {
          content.left = size.columns - content.left - content.columns;
          for (std::size_t p = 0; p < padCount; ++p) inside[p].left = size.columns - inside[p].left - inside[p].columns;
          mirrored = !mirrored;
        }
        break;
    }
    content.top += down;
    content.left += right;
    for (std::size_t p = 0; p < padCount; ++p) {
      inside[p].top += down;
      inside[p].left += right;
    }
  }

  const std::int64_t inner = in.inner, area = size.rows * size.columns * inner;
  const auto channelOf = [&](std::int64_t plane) { return m_layout.image ? static_cast<std::size_t>(plane) : 0; };
  Rectangle region = size;
  for (std::size_t p = padCount; p-- > 0;) {
    const Rectangle within = intersection(region, inside[p]);
    if (within.rows != region.rows || within.columns != region.columns) {
      const auto& border = pads[p]->border;
      for (std::int64_t plane = 0; plane < in.planes; ++plane) {
        for (std::int64_t y = region.top; y < region.top + region.rows; ++y) {
          float* const to = out.data() + plane * area + (y * size.columns + region.left) * inner;
          if (border.size() == 1 || m_layout.image) {
            std::fill_n(to, region.columns * inner, border[channelOf(plane)]);
          } else {
            for (std::int64_t i = 0; i < region.columns * inner; ++i) to[i] = border[static_cast<std::size_t>(i) % border.size()];
          }
        }
      }
    }
    region = within;
  }
  const Rectangle seen = intersection(region, content);
  if (seen.rows == 0 || seen.columns == 0) return;

  const std::size_t element = bytesOf(m_variable.type);
  const bool whole = seen.columns == size.columns && seen.columns == in.columns && !mirrored;  // rows lie one behind the other on both sides
  for (std::int64_t plane = 0; plane < in.planes; ++plane) {
    const float scale = m_scale[channelOf(plane)], shift = m_shift[channelOf(plane)];
    const std::int64_t rows = whole ? 1 : seen.rows, count = (whole ? seen.rows : 1) * seen.columns * inner;
    for (std::int64_t y = 0; y < rows; ++y) {
      const std::int64_t sourceRow = seen.top - content.top + y;
      const std::int64_t first = mirrored ? content.columns - (seen.left - content.left) - seen.columns : seen.left - content.left;
      const std::byte* const from = raw.data() + static_cast<std::size_t>((plane * in.rows + sourceRow) * in.columns + first) * static_cast<std::size_t>(inner) * element;
      float* const to = out.data() + plane * area + ((seen.top + y) * size.columns + seen.left) * inner;
      if (m_layout.image || m_uniform) {
        if (m_variable.type == DataType::u8) convertBytes(from, to, count, scale, shift);
        else convertFloats(from, to, count, scale, shift);
        if (mirrored) std::reverse(to, to + count);
      } else {
        for (std::int64_t i = 0; i < count; i += m_layout.channels) {
          if (m_variable.type == DataType::u8) convertBytesEach(from + i, to + i, m_layout.channels, m_scale.data(), m_shift.data());
          else convertFloatsEach(from + i * 4, to + i, m_layout.channels, m_scale.data(), m_shift.data());
        }
      }
    }
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

#include "engine/exchange/onnx/view.h"

#include <algorithm>
#include <numeric>

#include "engine/base/error.h"

namespace loom::onnx_file {
namespace {

// Two neighbours as one, where the second fills the steps of the first.
std::optional<Atom> joined(const Atom& outer, const Atom& inner) {
  if (outer.batch || inner.batch || !inner.whole() || outer.step != 1 || outer.stride != inner.stride * inner.full)
    return {};
  return Atom{.extent = outer.extent * inner.extent,
              .stride = inner.stride,
              .full = outer.full * inner.full,
              .start = outer.start * inner.full};
}

// An atom as `outer` times the rest.
std::optional<std::pair<Atom, Atom>> split(const Atom& atom, std::int64_t outer) {
  if (atom.batch || outer < 1 || atom.extent % outer != 0) return {};
  const std::int64_t inner = atom.extent / outer;
  if (inner == 1) return {{atom, Atom{.stride = 1}}};
  if (atom.step != 1 || atom.full % inner != 0 || atom.start % inner != 0) return {};
  return {{Atom{.extent = outer, .stride = atom.stride * inner, .full = atom.full / inner, .start = atom.start / inner},
           Atom{.extent = inner, .stride = atom.stride, .full = inner}}};
}

std::vector<Atom> rowMajor(const Shape& shape) {
  std::vector<Atom> atoms(shape.rank());
  std::int64_t stride = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    atoms[i] = {.extent = shape.extents()[i], .stride = stride, .full = shape.extents()[i]};
    stride *= shape.extents()[i];
  }
  return atoms;
}

std::int64_t extentOf(const std::vector<Atom>& atoms) {
  Extents extents;
  for (const Atom& atom : atoms) extents.push_back(atom.batch ? kBatch : atom.extent);
  return elementsOf(extents);
}

}  // namespace

Extents View::extents() const {
  Extents all;
  for (const auto& axis : axes) all.push_back(extentOf(axis));
  return all;
}

std::int64_t View::batchAxis() const {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (std::any_of(axes[i].begin(), axes[i].end(), [](const Atom& atom) { return atom.batch; }))
      return static_cast<std::int64_t>(i);
  return -1;
}

bool View::hasBatch() const {
  return batchAxis() >= 0;
}

Shape View::sample() const {
  std::vector<std::int64_t> all;
  const std::int64_t batch = batchAxis();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (static_cast<std::int64_t>(i) != batch) {
      all.push_back(extentOf(axes[i]));
      continue;
    }
    for (const Atom& atom : axes[i])
      if (!atom.batch) all.push_back(atom.extent);
  }
  return Shape(std::move(all));
}

std::optional<std::int64_t> View::sampleAxis(std::size_t axis) const {
  const std::int64_t batch = batchAxis();
  if (static_cast<std::int64_t>(axis) == batch) return {};
  std::int64_t place = 0;
  for (std::size_t i = 0; i < axis; ++i)
    place += static_cast<std::int64_t>(i) == batch ? static_cast<std::int64_t>(axes[i].size()) - 1 : 1;
  return place;
}

View plainView(Endpoint source, const Shape& sample, const Extents& extents) {
  View view{.source = std::move(source), .shape = sample};
  const std::vector<Atom> atoms = rowMajor(sample);
  std::size_t next = 0;
  for (const std::int64_t extent : extents) {
    if (extent == kBatch)
      view.axes.push_back({Atom{.batch = true}});
    else if (next < atoms.size() && atoms[next].extent == extent)
      view.axes.push_back({atoms[next++]});
    else
      throwError(ErrorCode::badProject, "a sample of {} is no {}", sample.toString(), Shape(extents).toString());
  }
  return view;
}

View likeView(Endpoint source, const Shape& sample, const View& like) {
  View view{.source = std::move(source), .shape = sample};
  const std::vector<Atom> atoms = rowMajor(sample);
  const std::int64_t batch = like.batchAxis();
  if (like.sample().rank() != sample.rank())
    throwError(ErrorCode::badProject, "a sample of {} has other axes than {}", sample.toString(),
               like.sample().toString());
  std::size_t next = 0;
  for (std::size_t i = 0; i < like.axes.size(); ++i) {
    std::vector<Atom> axis;
    if (static_cast<std::int64_t>(i) != batch) {
      axis.push_back(atoms.at(next++));
    } else {
      for (const Atom& atom : like.axes[i]) axis.push_back(atom.batch ? atom : atoms.at(next++));
    }
    view.axes.push_back(std::move(axis));
  }
  return view;
}

std::optional<View> reshaped(const View& view, const Extents& extents) {
  std::vector<Atom> atoms;
  for (const auto& axis : view.axes)
    for (const Atom& atom : axis)
      if (atom.batch || atom.extent != 1)
        atoms.push_back(atom);
      else if (!atom.whole())
        return {};  // one element of a longer axis: cut first
  // Joined where they lie behind each other, so that an axis that was split can be split otherwise.
  std::vector<Atom> merged;
  for (const Atom& atom : atoms) {
    const auto both = merged.empty() ? std::nullopt : joined(merged.back(), atom);
    if (both)
      merged.back() = *both;
    else
      merged.push_back(atom);
  }
  View result{.source = view.source, .shape = view.shape, .dropped = view.dropped, .factor = view.factor};
  std::size_t next = 0;
  for (const std::int64_t extent : extents) {
    std::vector<Atom> axis;
    std::int64_t left = extent;
    while (left != 1) {
      if (next == merged.size()) return {};
      Atom& atom = merged[next];
      const std::int64_t size = atom.batch ? kBatch : atom.extent;
      if (left % size == 0) {
        axis.push_back(atom);
        left /= size;
        ++next;
        continue;
      }
      // The batch and a part of the next axis: 12 heads of (B, 12 64) are no axis of 6 B.
      if (atom.batch || holdsBatch(left)) return {};
      const auto parts = split(atom, left);
      if (!parts) return {};
      axis.push_back(parts->first);
      atom = parts->second;
      left = 1;
    }
    result.axes.push_back(std::move(axis));
  }
  if (next != merged.size()) return {};
  return result;
}

std::optional<View> transposed(const View& view, const std::vector<std::int64_t>& axes) {
  View result = view;
  for (std::size_t i = 0; i < axes.size(); ++i) result.axes[i] = view.axes[static_cast<std::size_t>(axes[i])];
  return result;
}

std::optional<View> sliced(const View& view, const Cut& cut) {
  View result = view;
  auto& axis = result.axes[cut.axis];
  std::erase_if(axis, [](const Atom& atom) { return !atom.batch && atom.extent == 1 && atom.whole(); });
  if (axis.size() != 1 || axis[0].batch || cut.step < 1 || cut.length < 1) return {};
  Atom& atom = axis[0];
  atom.start += cut.start * atom.step;
  atom.step *= cut.step;
  atom.extent = cut.length;
  return result;
}

std::optional<View> picked(const View& view, std::size_t axis, std::int64_t index) {
  if (index < 0) index += extentOf(view.axes[axis]);
  auto result = sliced(view, {.axis = axis, .start = index, .step = 1, .length = 1});
  if (!result && extentOf(view.axes[axis]) == 1) result = view;
  if (!result) return {};
  for (const Atom& atom : result->axes[axis])
    if (!atom.whole()) result->dropped.push_back(atom);
  result->axes.erase(result->axes.begin() + static_cast<std::ptrdiff_t>(axis));
  return result;
}

DrawingSteps stepsFor(const View& view) {
  DrawingSteps steps;
  std::vector<Atom> order;  // as the view has them
  for (const auto& axis : view.axes)
    for (const Atom& atom : axis)
      if (!atom.batch && atom.full != 1) order.push_back(atom);
  order.insert(order.end(), view.dropped.begin(), view.dropped.end());
  // As the source has them, whole.
  std::vector<std::size_t> places(order.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return order[a].stride > order[b].stride; });
  std::vector<std::int64_t> full, cut, axes(order.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Atom& atom = order[places[i]];
    full.push_back(atom.full);
    cut.push_back(atom.extent);
    axes[places[i]] = static_cast<std::int64_t>(i);
    if (!atom.whole()) steps.cuts.push_back({.axis = i, .start = atom.start, .step = atom.step, .length = atom.extent});
  }
  const bool moves = !std::is_sorted(axes.begin(), axes.end());
  Shape now = view.shape;
  if ((moves || !steps.cuts.empty()) && Shape(full) != now) steps.shape = now = Shape(full);
  if (!steps.cuts.empty()) now = Shape(cut);
  if (moves) {
    std::vector<std::int64_t> extents;
    for (const std::int64_t axis : axes) extents.push_back(cut[static_cast<std::size_t>(axis)]);
    steps.axes = axes;
    now = Shape(extents);
  }
  if (view.sample() != now) steps.last = view.sample();
  return steps;
}

}  // namespace loom::onnx_file

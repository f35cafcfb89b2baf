// reduce, sum_to, broadcast.
#include <algorithm>

#include "engine/cpu/kernels/elementwise.h"
#include "engine/cpu/lowerings/broadcast.h"
#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {
namespace {

// A sum (or maximum, minimum, product) over some axes, in memory order. Axes are joined to groups that are all kept or
// all summed; the innermost group is a row, the others say which rows add up to which result.
struct Reduction {
  struct Group {
    std::int64_t extent = 1, stride = 0;
  };
  std::vector<Group> kept, summed;  // of the groups outside the row
  std::int64_t columns = 1;
  bool rowKept = true;                  // the row's numbers stay apart; else they are summed too
  std::int64_t results = 1, terms = 1;  // products over kept and summed

  static std::int64_t offset(const std::vector<Group>& groups, std::int64_t index) {
    std::int64_t at = 0;
    for (std::size_t i = groups.size(); i-- > 0;) {
      at += index % groups[i].extent * groups[i].stride;
      index /= groups[i].extent;
    }
    return at;
  }
};

Reduction reductionOf(const Shape& physical, const std::vector<bool>& summed) {
  struct Run {
    std::int64_t extent;
    bool summed;
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < physical.rank(); ++i) {
    const std::int64_t extent = physical.extents()[i];
    if (extent == 1) continue;
    if (!runs.empty() && runs.back().summed == summed[i]) {
      runs.back().extent *= extent;
    } else {
      runs.push_back({extent, summed[i]});
    }
  }
  Reduction reduction;
  if (runs.empty()) return reduction;
  reduction.columns = runs.back().extent;
  reduction.rowKept = !runs.back().summed;
  std::int64_t stride = reduction.columns;
  for (std::size_t i = runs.size() - 1; i-- > 0;) {
    auto& groups = runs[i].summed ? reduction.summed : reduction.kept;
    groups.insert(groups.begin(), {runs[i].extent, stride});
    (runs[i].summed ? reduction.terms : reduction.results) *= runs[i].extent;
    stride *= runs[i].extent;
  }
  return reduction;
}

// How terms become one number: sums are multiplied with the factor.
struct Fold {
  ReduceFunction function = ReduceFunction::sum;
  float factor = 1;
  bool sums() const { return isSum(function); }
};

// What sumTerms does, of maxima, minima and products.
void foldTerms(const Reduction& r, ReduceFunction function, Stored x, std::int64_t first, std::int64_t last,
               float* out) {
  std::fill_n(out, r.rowKept ? r.columns : 1, beginningOf(function));
  for (std::int64_t term = first; term < last; ++term) {
    const Stored row = x.from(Reduction::offset(r.summed, term));
    if (r.rowKept)
      foldRows(function, row, 1, r.columns, r.columns, out);
    else
      *out = foldAll(function, row, r.columns, *out);
  }
}

// One result: the terms [first, last) of x (at its own start), into out (one row or one number), which is overwritten.
void sumTerms(const Reduction& r, const Fold& fold, Stored x, std::int64_t first, std::int64_t last, float* out) {
  if (!fold.sums()) return foldTerms(r, fold.function, x, first, last, out);
  const float factor = fold.factor;
  if (!r.rowKept) {
    double total = 0;
    for (std::int64_t term = first; term < last; ++term)
      total += sumAll(x.from(Reduction::offset(r.summed, term)), r.columns);
    *out = static_cast<float>(total * factor);
    return;
  }
  std::fill_n(out, r.columns, 0.0f);
  const std::int64_t inner = r.summed.empty() ? 1 : r.summed.back().extent,
                     stride = r.summed.empty() ? 0 : r.summed.back().stride;
  for (std::int64_t term = first; term < last;) {  // runs of equally spaced rows
    const std::int64_t rows = std::min(last - term, inner - term % inner);
    sumRows(x.from(Reduction::offset(r.summed, term)), rows, r.columns, stride, out);
    term += rows;
  }
  if (factor != 1) scale(out, factor, 0, out, r.columns);
}

void emit(Plan& plan, const std::string& name, const Reduction& r, const StoredRef& from, const Plan::Target& target,
          const Fold& fold) {
  const std::int64_t width = r.rowKept ? r.columns : 1;
  if (r.results == 1) {  // everything into one row: each thread sums some terms (or a part of the only one)
    const bool split = r.terms == 1 && !r.rowKept;
    const auto partial = plan.scratchOfThreads(width);
    plan.stage(name, [=](const Worker& worker) {
      float* mine = partial.of(worker.index);
      if (worker.phase == 0 && split) {
        const auto [first, last] = worker.share(r.columns);
        const Stored part = from.get().from(first);
        *mine = fold.sums() ? static_cast<float>(sumAll(part, last - first))
                            : foldAll(fold.function, part, last - first, beginningOf(fold.function));
      } else if (worker.phase == 0) {
        const auto [first, last] = worker.share(r.terms);
        sumTerms(r, {fold.function}, from.get(), first, last, mine);
      }
      if (worker.phase == 0) return;
      const auto [first, last] = worker.share(width, 16);
      for (std::int64_t i = first; i < last; ++i) {
        double total = 0;
        float folded = beginningOf(fold.function);
        for (int t = 0; t < worker.count; ++t) {
          if (fold.sums())
            total += partial.of(t)[i];
          else
            foldRows(fold.function, inF32(partial.of(t) + i), 1, 1, 1, &folded);
        }
        target.to.get()[i] = (fold.sums() ? static_cast<float>(total * fold.factor) : folded) +
                             (target.adds(worker) ? target.to.get()[i] : 0);
      }
    });
    plan.phases(2);
    return;
  }
  const auto scratch = plan.scratchOfThreads(width);
  plan.stage(name, [=](const Worker& worker) {
    const auto [first, last] = worker.share(r.results);
    for (std::int64_t i = first; i < last; ++i) {
      float* out = target.to.get() + i * width;
      float* sums = target.adds(worker) ? scratch.of(worker.thread) : out;
      sumTerms(r, fold, from.get().from(Reduction::offset(r.kept, i)), 0, r.terms, sums);
      if (sums != out) binary(BinaryFunction::add, out, sums, out, width);
    }
  });
}

}  // namespace

void lowerReduce(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Shape& shape = plan.shape(x);
  std::vector<bool> logical(shape.rank(), !operation.attributes.has("axes"));
  if (operation.attributes.has("axes")) {
    for (std::int64_t axis : operation.attributes.integers("axes"))
      logical[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.rank()) : axis)] = true;
  }
  const Layout layout = plan.layoutOf(x);
  const auto from = plan.readStored(x, layout);
  std::vector<bool> summed;
  double count = 1;
  Layout left;  // the axes that stay, in memory order, with their new numbers
  const bool keep = operation.attributes.boolean("keep", false);
  for (int axis : layout) {
    const auto a = static_cast<std::size_t>(axis);
    summed.push_back(logical[a]);
    if (logical[a]) count *= static_cast<double>(shape[axis]);
    if (keep) left.push_back(axis);
    if (!keep && !logical[a])
      left.push_back(static_cast<int>(std::count(logical.begin(), logical.begin() + axis, false)));
  }
  const bool plain = isPlain(plan.shape(y), left);
  const Plan::Target target = plain ? plan.writeGradient(y) : Plan::Target{plan.write(y, left), false};
  const ReduceFunction function = reduceFunctionOf(operation.attributes);
  emit(plan, "reduce " + operation.attributes.text("function"), reductionOf(physicalShape(shape, layout), summed), from,
       target, {function, function == ReduceFunction::mean ? static_cast<float>(1 / count) : 1.0f});
}

void lowerSumTo(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = plan.layoutOf(x);
  const auto from = plan.readStored(x, layout);
  const Shape &shape = plan.shape(x), &result = plan.shape(y);
  std::vector<bool> summed;
  for (int axis : layout) summed.push_back(result[axis] == 1 && shape[axis] != 1);
  const Plan::Target target =
      isPlain(result, layout) ? plan.writeGradient(y) : Plan::Target{plan.write(y, layout), false};
  emit(plan, "sum_to", reductionOf(physicalShape(shape, layout), summed), from, target, {});
}

void lowerBroadcast(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  // One number a channel may be spread in either layout: what it meets next is an image.
  const std::size_t rank = plan.shape(x).rank();
  const bool image = rank >= 4 && sameMemory(plan.shape(x), plan.layoutOf(x), channelsLast(rank));
  const Layout layout = image ? channelsLast(rank) : plan.layoutOf(x);
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  const Broadcast broadcast = broadcastOver(physicalShape(plan.shape(y), layout), physicalShape(plan.shape(x), layout));
  plan.stage("broadcast", {}, layoutName(plan.shape(y), layout), [=](const Worker& worker) {
    if (broadcast.kind == Broadcast::Kind::same || broadcast.kind == Broadcast::Kind::scalar) {
      const auto [first, last] = worker.share(broadcast.columns, 16);
      if (broadcast.kind == Broadcast::Kind::scalar)
        fillStored(from.get(), to.get().from(first), last - first);
      else
        copyStored(from.get().from(first), to.get().from(first), last - first);
      return;
    }
    const auto [first, last] = worker.share(broadcast.rows);
    for (std::int64_t row = first; row < last; ++row) {
      const Stored source = from.get().from(broadcast.kind == Broadcast::Kind::rows ? 0 : broadcast.offsetOf(row)),
                   out = to.get().from(row * broadcast.columns);
      if (broadcast.follows)
        copyStored(source, out, broadcast.columns);
      else
        fillStored(source, out, broadcast.columns);
    }
  });
}

}  // namespace loom::cpu

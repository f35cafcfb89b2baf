#include "engine/program/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "engine/base/error.h"

namespace loom {
namespace {

// Far beyond any machine, and small enough that sums of bytes cannot overflow.
constexpr std::int64_t kMostPlannedElements = std::int64_t{1} << 44;

constexpr std::size_t roundUp(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

bool overlap(const ArenaItem& a, const ArenaItem& b) {
  return a.first <= b.last && b.first <= a.last;
}

std::size_t peakOf(std::span<const ArenaItem> items, std::size_t alignment) {
  std::int32_t end = 0;
  for (const ArenaItem& item : items) end = std::max(end, item.last + 1);
  std::vector<std::ptrdiff_t> change(static_cast<std::size_t>(end) + 1, 0);
  for (const ArenaItem& item : items) {
    const auto bytes = static_cast<std::ptrdiff_t>(roundUp(item.bytes, alignment));
    change[static_cast<std::size_t>(item.first)] += bytes;
    change[static_cast<std::size_t>(item.last) + 1] -= bytes;
  }
  std::ptrdiff_t alive = 0, peak = 0;
  for (std::ptrdiff_t delta : change) peak = std::max(peak, alive += delta);
  return static_cast<std::size_t>(peak);
}

// Tensors of one piece of memory: a tensor, its views, and those that took its memory over.
struct Storage {
  ArenaItem item;
  bool inArena = true;
};

class Planner {
 public:
  Planner(const Program& program, const MemoryOptions& options) : m_program(program), m_options(options) {}

  MemoryPlan plan() {
    findLifetimes();
    findStorages();
    return layOut();
  }

 private:
  Placement& place(TensorId id) { return m_plan.tensors[static_cast<std::size_t>(id)]; }
  std::int32_t& storageOf(TensorId id) { return m_storageOf[static_cast<std::size_t>(id)]; }
  bool isIntermediate(TensorId id) const { return m_program.tensor(id).role == TensorRole::intermediate; }

  std::size_t bytes(TensorId id) const {
    if (m_options.bytes) return m_options.bytes(id);
    const Tensor& tensor = m_program.tensor(id);
    const std::int64_t elements = tensor.shape.elements();
    if (elements > kMostPlannedElements)
      throwError(ErrorCode::device, "'{}' is {}: its {} values are more than the {} that an arena can hold",
                 tensor.name, tensor.shape.toString(), elements, kMostPlannedElements);
    return static_cast<std::size_t>(elements) * bytesOf(tensor.type);
  }

  void findLifetimes() {
    m_plan.tensors.resize(m_program.tensors.size());
    m_storageOf.assign(m_program.tensors.size(), -1);
    const auto end = static_cast<std::int32_t>(m_program.operations.size());
    for (std::int32_t i = 0; i < end; ++i) {
      const Operation& operation = m_program.operations[static_cast<std::size_t>(i)];
      for (TensorId id : operation.inputs) {
        if (id == kNoTensor) continue;
        place(id).root = id;
        place(id).last = i;
      }
      for (TensorId id : operation.outputs) {
        place(id).root = id;
        place(id).first = place(id).last = i;
      }
    }
    for (const NamedResult& result : m_program.results) {
      place(result.tensor).root = result.tensor;
      place(result.tensor).last = end;
    }
  }

  // Goes through the operations in order and gives each output a storage: its view's, a dying input's, or a new one.
  void findStorages() {
    for (std::size_t i = 0; i < m_program.operations.size(); ++i) {
      const Operation& operation = m_program.operations[i];
      for (std::size_t o = 0; o < operation.outputs.size(); ++o) {
        const TensorId output = operation.outputs[o];
        place(output).bytes = bytes(output);
        if (!isIntermediate(output)) continue;
        m_plan.sumBytes += roundUp(place(output).bytes, m_options.alignment);
        if (o == 0 && operation.op->isView && m_options.views && shareView(output, operation.inputs[0])) continue;
        if (o == 0 && m_options.inPlace && takeOver(i, operation, output)) continue;
        storageOf(output) = static_cast<std::int32_t>(m_storages.size());
        m_storages.push_back({{place(output).bytes, place(output).first, place(output).last}});
      }
    }
  }

  bool shareView(TensorId output, TensorId input) {
    if (place(output).bytes != bytes(input)) return false;
    place(output).root = place(input).root;
    if (!isIntermediate(place(input).root)) return true;  // memory of the caller or of the store
    join(output, input);
    return true;
  }

  bool takeOver(std::size_t index, const Operation& operation, TensorId output) {
    const auto now = static_cast<std::int32_t>(index);
    for (int candidate : operation.op->reusable) {
      const TensorId input = operation.inputs[static_cast<std::size_t>(candidate)];
      if (input == kNoTensor || storageOf(input) < 0 || bytes(input) != place(output).bytes) continue;
      if (m_storages[static_cast<std::size_t>(storageOf(input))].item.last != now)
        continue;  // it or a view of it lives on
      if (!othersAllow(operation, candidate, storageOf(input))) continue;
      if (m_options.mayReuse && !m_options.mayReuse(index, input)) continue;
      join(output, input);
      return true;
    }
    return false;
  }

  // The storage must not be read by the same operation through an input that it needs as a whole.
  bool othersAllow(const Operation& operation, int chosen, std::int32_t storage) {
    const std::vector<int>& reusable = operation.op->reusable;
    for (std::size_t j = 0; j < operation.inputs.size(); ++j) {
      const TensorId other = operation.inputs[j];
      if (static_cast<int>(j) == chosen || other == kNoTensor || storageOf(other) != storage) continue;
      if (std::find(reusable.begin(), reusable.end(), static_cast<int>(j)) == reusable.end()) return false;
    }
    return true;
  }

  void join(TensorId output, TensorId input) {
    storageOf(output) = storageOf(input);
    ArenaItem& item = m_storages[static_cast<std::size_t>(storageOf(input))].item;
    item.last = std::max(item.last, place(output).last);
  }

  MemoryPlan layOut() {
    std::vector<ArenaItem> items;
    for (const Storage& storage : m_storages) items.push_back(storage.item);
    for (std::size_t i = 0; i < m_program.operations.size(); ++i) {
      const std::size_t scratch = m_options.scratch ? m_options.scratch(i) : 0;
      m_plan.sumBytes += roundUp(scratch, m_options.alignment);
      items.push_back({scratch, static_cast<std::int32_t>(i), static_cast<std::int32_t>(i)});
    }
    const ArenaLayout layout = layOutArena(items, m_options.alignment);
    for (std::size_t id = 0; id < m_plan.tensors.size(); ++id) {
      if (m_storageOf[id] < 0) continue;
      m_plan.tensors[id].inArena = true;
      m_plan.tensors[id].offset = layout.offsets[static_cast<std::size_t>(m_storageOf[id])];
    }
    m_plan.scratchOffsets.assign(layout.offsets.begin() + static_cast<std::ptrdiff_t>(m_storages.size()),
                                 layout.offsets.end());
    m_plan.arenaBytes = layout.bytes;
    m_plan.peakBytes = layout.peak;
    return std::move(m_plan);
  }

  const Program& m_program;
  const MemoryOptions& m_options;
  MemoryPlan m_plan;
  std::vector<Storage> m_storages;
  std::vector<std::int32_t> m_storageOf;  // by TensorId; -1 = not in the arena
};

}  // namespace

ArenaLayout layOutArena(std::span<const ArenaItem> items, std::size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    throwError(ErrorCode::internal, "the alignment of an arena must be a power of two, but is {}", alignment);
  ArenaLayout layout;
  layout.offsets.assign(items.size(), 0);
  layout.peak = peakOf(items, alignment);

  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (items[a].bytes != items[b].bytes) return items[a].bytes > items[b].bytes;
    return items[a].last - items[a].first > items[b].last - items[b].first;
  });

  std::vector<std::size_t> placed;  // by offset
  for (std::size_t current : order) {
    const std::size_t bytes = roundUp(items[current].bytes, alignment);
    if (bytes == 0) continue;
    // The smallest gap between those alive at the same time that is large enough; else behind the last of them.
    std::size_t end = 0, best = 0, bestGap = ~std::size_t{0};
    for (std::size_t other : placed) {
      if (!overlap(items[current], items[other])) continue;
      const std::size_t offset = layout.offsets[other];
      if (offset > end && offset - end >= bytes && offset - end < bestGap) {
        bestGap = offset - end;
        best = end;
      }
      end = std::max(end, offset + roundUp(items[other].bytes, alignment));
    }
    layout.offsets[current] = bestGap == ~std::size_t{0} ? end : best;
    layout.bytes = std::max(layout.bytes, layout.offsets[current] + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), current,
                                   [&](std::size_t a, std::size_t b) { return layout.offsets[a] < layout.offsets[b]; }),
                  current);
  }
  return layout;
}

MemoryPlan planMemory(const Program& program, const MemoryOptions& options) {
  return Planner(program, options).plan();
}

}  // namespace loom

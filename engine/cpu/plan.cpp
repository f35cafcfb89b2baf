#include "engine/cpu/plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/error.h"
#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cpu/kernels/permute.h"

namespace loom::cpu {
namespace {

// Smaller packed weights stay: a stage of their own is not worth their memory.
constexpr std::int64_t kLeastPackedInStep = 1 << 16;  // floats
// A step of several passes packs again in each of them only what so many rows are multiplied with: at 2048, packing is
// a hundredth of the products.
constexpr std::int64_t kRowsPackedEachPass = 512;
constexpr std::size_t kCacheLine = 64;  // bytes

}  // namespace

Plan::Plan(const Program& program, ParameterStore& store, int threads, const CompileOptions& options,
           const CpuWays& ways)
    : m_program(program),
      m_store(store),
      m_threads(threads),
      m_ways(ways),
      m_collectives(options.collectives),
      m_bf16(options.precision == DataType::bf16),
      m_learns(std::any_of(program.operations.begin(), program.operations.end(),
                           [](const Operation& operation) { return operation.backward; })),
      m_passes(options.passes),
      m_fusion(planFusion(program, [&program](const Operation& one) { return joinsOf(program, one); })),
      m_buffers(program, kCacheLine) {
  prepareTensors();
}

// Everything that exists before the first stage: inputs, scalars, constants, and what the store owns.
void Plan::prepareTensors() {
  std::vector<bool> computed(m_program.tensors.size());
  for (const Operation& operation : m_program.operations)
    for (TensorId id : operation.outputs)
      if (id != kNoTensor) computed[static_cast<std::size_t>(id)] = true;
  for (std::size_t i = 0; i < m_program.tensors.size(); ++i) {
    const Tensor& tensor = m_program.tensors[i];
    const auto elements = static_cast<std::size_t>(tensor.shape.elements());
    int buffer = -1;
    switch (tensor.role) {
      case TensorRole::parameter:
      case TensorRole::state:
      case TensorRole::slot:
      case TensorRole::parameterGradient:
        if (!computed[i])
          buffer = m_buffers.external(reinterpret_cast<std::byte*>(storedTensor(m_store, tensor)->address()));
        break;
      case TensorRole::input:
      case TensorRole::scalar:
        buffer = m_buffers.make(elements * bytesOf(tensor.type));
        m_buffers.keep(buffer);
        break;
      case TensorRole::constant: {
        const double value = tensor.value;
        const bool whole = tensor.type == DataType::i32;
        buffer = m_buffers.make(elements * sizeof(float));
        m_buffers.keep(buffer);
        onBind([elements, value, whole, at = use(buffer)] {
          if (whole) {
            std::fill_n(at.as<std::int32_t>().get(), elements, static_cast<std::int32_t>(value));
          } else {
            std::fill_n(at.get(), elements, static_cast<float>(value));
          }
        });
        break;
      }
      case TensorRole::intermediate:
        break;
    }
    if (buffer >= 0)
      m_buffers.versions(static_cast<TensorId>(i)).push_back({plainLayout(tensor.shape.rank()), tensor.type, buffer});
  }
}

Ref<float> Plan::read(TensorId id, const Layout& layout) {
  const Layout from = layoutOf(id);
  if (const BufferPlan::Version* found = m_buffers.find(id, layout, wideType(id))) return use(found->buffer);
  auto& versions = m_buffers.versions(id);
  const Ref<float> source = keptInBf16(id) ? widened(id) : use(versions.front().buffer);
  if (keptInBf16(id) && sameMemory(shape(id), from, layout)) return source;
  const int copy = m_buffers.make(wideBytes(id));
  versions.push_back({layout, wideType(id), copy});
  const Ref<float> target = use(copy);
  reorder(id, layout, source, target);
  return target;
}

template <class Number>
void Plan::reorder(TensorId id, const Layout& layout, const Ref<Number>& source, const Ref<Number>& target) {
  const Layout& from = layoutOf(id);
  std::vector<int> order;
  for (int axis : layout) order.push_back(placeOf(from, axis));
  const Permutation permutation(physicalShape(shape(id), from), order);
  stage("reorder", "own", layoutName(shape(id), from) + " to " + layoutName(shape(id), layout),
        [source, target, permutation](const Worker& worker) {
          const auto [first, last] = worker.share(permutation.pieces());
          permutation.run(source.get(), target.get(), first, last);
        });
  moves(id, sizeof(Number), sizeof(Number));
  ++m_reorders;
}

std::size_t Plan::wideBytes(TensorId id) const {
  return static_cast<std::size_t>(shape(id).elements()) * bytesOf(wideType(id));
}

std::size_t Plan::halfBytes(TensorId id) const {
  return static_cast<std::size_t>(shape(id).elements()) * bytesOf(DataType::bf16);
}

// A tensor that is kept in bf16, in f32 and its own layout: for the kernels that know no other type.
Ref<float> Plan::widened(TensorId id) {
  const BufferPlan::Version kept = m_buffers.versions(id).front();
  if (const BufferPlan::Version* found = m_buffers.find(id, kept.layout, DataType::f32)) return use(found->buffer);
  const StoredRef source{m_buffers.use(kept.buffer), true};
  const int copy = m_buffers.make(wideBytes(id));
  m_buffers.versions(id).push_back({kept.layout, DataType::f32, copy});
  const Ref<float> target = use(copy);
  const std::int64_t count = shape(id).elements();
  stage("widen", {}, layoutName(shape(id), kept.layout), [source, target, count](const Worker& worker) {
    const auto [first, last] = worker.share(count, 64);
    widen(source.get().from(first), target.get() + first, last - first);
  });
  moves(id, sizeof(std::uint16_t), sizeof(float));
  return target;
}

StoredRef Plan::readStored(TensorId id, const Layout& layout) {
  if (!keptInBf16(id)) return inF32(read(id, layout));
  if (const BufferPlan::Version* found = m_buffers.find(id, layout, DataType::bf16))
    return {m_buffers.use(found->buffer), true};
  const auto source = use(m_buffers.versions(id).front().buffer).as<std::uint16_t>();
  const int copy = m_buffers.make(halfBytes(id));
  m_buffers.versions(id).push_back({layout, DataType::bf16, copy});
  const StoredRef target{m_buffers.use(copy), true};
  reorder(id, layout, source, target.at.as<std::uint16_t>());
  return target;
}

Ref<std::uint16_t> Plan::readBf16(TensorId id, const Layout& layout) {
  if (keptInBf16(id)) return readStored(id, layout).at.as<std::uint16_t>();
  if (const BufferPlan::Version* found = m_buffers.find(id, layout, DataType::bf16))
    return use(found->buffer).as<std::uint16_t>();
  const Ref<float> source = read(id, layout);
  const std::int64_t count = shape(id).elements();
  const int copy = m_buffers.make(halfBytes(id));
  m_buffers.versions(id).push_back({layout, DataType::bf16, copy});
  const Ref<std::uint16_t> target = use(copy).as<std::uint16_t>();
  stage("round to bf16", {}, layoutName(shape(id), layout), [source, target, count](const Worker& worker) {
    const auto [first, last] = worker.share(count, 64);
    roundToBf16(source.get() + first, target.get() + first, last - first);
  });
  moves(id, sizeof(float), sizeof(std::uint16_t));
  return target;
}

Ref<float> Plan::write(TensorId id, const Layout& layout) {
  const int buffer = m_buffers.make(wideBytes(id));
  if (keptInBf16(id)) {
    writeStored(id, layout);
    m_unrounded.push_back({id, buffer, m_buffers.versions(id).front().buffer});
  } else {
    m_buffers.versions(id).assign(1, {layout, tensor(id).type, buffer});
  }
  if (tensor(id).role == TensorRole::parameterGradient) m_undelivered.push_back(id);
  return use(buffer);
}

StoredRef Plan::writeStored(TensorId id, const Layout& layout) {
  if (!keptInBf16(id)) return inF32(write(id, layout));
  const int buffer = m_buffers.make(halfBytes(id));
  m_buffers.versions(id).assign(1, {layout, DataType::bf16, buffer});
  return {m_buffers.use(buffer), true};
}

void Plan::round(const Rounding& rounding) {
  const Ref<float> from = use(rounding.from);
  const Ref<std::uint16_t> to = use(rounding.to).as<std::uint16_t>();
  const std::int64_t count = shape(rounding.tensor).elements();
  stage("round to bf16", {}, layoutName(shape(rounding.tensor), layoutOf(rounding.tensor)),
        [from, to, count](const Worker& worker) {
          const auto [first, last] = worker.share(count, 64);
          roundToBf16(from.get() + first, to.get() + first, last - first);
        });
  moves(rounding.tensor, sizeof(float), sizeof(std::uint16_t));
}

Plan::Target Plan::writeProduct(TensorId id) {
  if (keptInBf16(id)) return {.half = writeStored(id, plainLayout(shape(id).rank())).at.as<std::uint16_t>()};
  return writeGradient(id);
}

Plan::Target Plan::writeGradient(TensorId id) {
  // Read again by another operation: it must be what this operation computed, not the sum over shards.
  if (tensor(id).role != TensorRole::parameterGradient || !m_fusion.consumers[static_cast<std::size_t>(id)].empty()) {
    return {write(id), false};
  }
  return deliverTo(id);
}

Plan::Target Plan::deliverTo(TensorId id) {
  const int buffer = m_buffers.external(reinterpret_cast<std::byte*>(m_store.gradient(tensor(id).name).address()));
  m_buffers.versions(id).assign(1, {plainLayout(shape(id).rank()), DataType::f32, buffer});
  return {use(buffer), true};
}

void Plan::deliver(TensorId id) {
  const Ref<float> from = read(id);
  float* to = m_store.gradient(tensor(id).name).address();
  const std::int64_t count = shape(id).elements();
  stage("deliver gradient", [from, to, count](const Worker& worker) {
    const auto [first, last] = worker.share(count, 16);
    const float* source = from.get();
    if (worker.step->options.accumulate) {
      for (std::int64_t i = first; i < last; ++i) to[i] += source[i];
    } else if (last > first) {
      std::memcpy(to + first, source + first, static_cast<std::size_t>(last - first) * sizeof(float));
    }
  });
  moves(id, sizeof(float), sizeof(float));
}

void Plan::alias(TensorId to, const Layout& layout, TensorId from, const Layout& fromLayout) {
  const DataType type = keptInBf16(to) ? DataType::bf16 : wideType(from);
  if (type == DataType::bf16)
    readBf16(from, fromLayout);
  else
    read(from, fromLayout);
  m_buffers.versions(to).assign(1, {layout, type, m_buffers.find(from, fromLayout, type)->buffer});
  if (tensor(to).role == TensorRole::parameterGradient) m_undelivered.push_back(to);
}

Ref<float> Plan::scratch(std::int64_t floats) {
  return use(m_buffers.make(static_cast<std::size_t>(std::max<std::int64_t>(floats, 1)) * sizeof(float)));
}

Rooms Plan::scratchOfThreads(std::int64_t floats) {
  constexpr std::int64_t kBetween = 1024;  // 4 KiB: a page, beyond which no core looks ahead by itself
  ThreadMemory& memory = m_ofThreads;
  if (std::exchange(memory.operation, m_buffers.now()) != m_buffers.now()) memory.used = 0;
  const std::int64_t first = memory.used;
  memory.used += (floats + 15) / 16 * 16 + 16;
  memory.apart = std::max(memory.apart, memory.used + kBetween);
  const auto bytes = static_cast<std::size_t>(memory.apart * m_threads) * sizeof(float);
  if (memory.buffer < 0) memory.buffer = m_buffers.make(bytes);
  m_buffers.enlarge(memory.buffer, bytes);
  return {use(memory.buffer).at(first), memory.apart};
}

Ref<float> Plan::persistent(std::int64_t floats) {
  const int index = m_buffers.make(static_cast<std::size_t>(std::max<std::int64_t>(floats, 1)) * sizeof(float));
  m_buffers.keep(index);
  return use(index);
}

Ref<float> Plan::shared(const std::string& key, std::int64_t floats) {
  return use(m_buffers.shared(key, static_cast<std::size_t>(std::max<std::int64_t>(floats, 1)) * sizeof(float)));
}

bool Plan::keepsPacked(TensorId weight, std::int64_t floats, std::int64_t rows) const {
  if (weight == kNoTensor || tensor(weight).role != TensorRole::parameter) return false;
  return !m_learns || floats < kLeastPackedInStep || (m_passes > 1 && rows < kRowsPackedEachPass);
}

Ref<float> Plan::packInStep(TensorId weight, std::int64_t floats, std::string implementation,
                            const std::function<std::function<void(const Worker&)>(const Ref<float>&)>& make) {
  const auto bytes = static_cast<std::size_t>(floats) * sizeof(float);
  if (m_room.first != m_buffers.now()) m_room = {m_buffers.now(), m_buffers.make(bytes)};
  m_buffers.enlarge(m_room.second, bytes);
  const Ref<float> packed = use(m_room.second);
  packStage(weight, std::move(implementation), make(packed));
  return packed;
}

void Plan::packStage(TensorId weight, std::string implementation, std::function<void(const Worker&)> run) {
  const bool changes = weight != kNoTensor && tensor(weight).role == TensorRole::parameter;
  stage(changes ? "pack weights" : "pack", std::move(implementation), {}, std::move(run));
  if (changes) moves(weight, sizeof(float), m_bf16 ? sizeof(std::uint16_t) : sizeof(float));
}

Ref<float> Plan::packedWeight(const std::string& key, std::int64_t floats,
                              const std::function<void(const Ref<float>&)>& make) {
  const auto found = m_packed.find(key);
  if (found != m_packed.end()) return found->second;
  const Ref<float> packed = persistent(floats);
  make(packed);
  m_packed.emplace(key, packed);
  return packed;
}

void Plan::prologue(TensorId parameter, std::function<void()> task) {
  m_prologue.push_back({&m_store.at(tensor(parameter).name).value, std::move(task), shape(parameter).elements()});
}

Ref<float> Plan::filled(std::int64_t floats, std::function<void(float*)> fill) {
  const Ref<float> ref = persistent(floats);
  onBind([ref, fill = std::move(fill)] { fill(ref.get()); });
  return ref;
}

void Plan::pieces(std::int64_t rows, std::int64_t block, double multiplyAdds) {
  constexpr double kLeast = 4e6;  // some 50 to 100 us of a thread
  if (m_threads == 1) return;
  const auto enough = static_cast<std::int64_t>(multiplyAdds / m_threads / kLeast);
  m_stages.back().pieces = static_cast<int>(
      std::clamp<std::int64_t>((rows + block - 1) / block, 1, std::clamp<std::int64_t>(enough, 1, 64)));
}

void Plan::stage(std::string kernel, std::string implementation, std::string layout,
                 std::function<void(const Worker&)> run) {
  if (implementation.empty()) implementation = std::string("own:") + toString(isa());
  std::string origin;
  if (m_buffers.now() < static_cast<int>(m_program.operations.size()))
    origin = m_program.operations[static_cast<std::size_t>(m_buffers.now())].origin;
  m_stages.push_back({std::move(kernel), std::move(implementation), std::move(layout), std::move(origin),
                      std::move(run), m_buffers.now()});
}

void Plan::lowerAll() {
  for (std::size_t i = 0; i < m_program.operations.size(); ++i) {
    m_buffers.setNow(static_cast<int>(i));
    const Operation& operation = m_program.operations[i];
    if (fused().skip) continue;
    try {
      const Lowering lower = findLowering(operation.op->name);
      if (lower == nullptr)
        throwError(ErrorCode::internal, "the CPU backend knows no operation '{}'", operation.op->name);
      lower(*this, operation);
      for (const Rounding& rounding : std::exchange(m_unrounded, {})) round(rounding);
      for (TensorId id : std::exchange(m_undelivered, {})) deliver(id);
    } catch (Error& error) {
      if (!operation.origin.empty()) error.addContext("in layer '" + operation.origin + "'");
      throw;
    }
  }
  m_buffers.setNow(static_cast<int>(m_program.operations.size()));
  if (m_ofThreads.buffer >= 0) m_buffers.use(m_ofThreads.buffer);  // nothing else stands there until the next step
  for (const NamedResult& result : m_program.results) {
    const TensorId id = result.tensor;
    read(id);
    m_buffers.keepBehind(m_buffers.find(id, plainLayout(shape(id).rank()), wideType(id))->buffer);
  }
}

Plan::Result Plan::finish(const BufferPlan::Allocate& allocate) {
  const BufferPlan::Extent bytes = m_buffers.finish(allocate);
  for (auto& call : m_onBind) call();
  m_onBind.clear();
  return {std::move(m_stages), std::move(m_prologue), std::move(m_guards), bytes, m_reorders};
}

}  // namespace loom::cpu

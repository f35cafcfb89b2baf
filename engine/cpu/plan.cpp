#include "engine/cpu/plan.h"

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"
#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cpu/kernels/permute.h"
#include "engine/program/memory_plan.h"

namespace loom::cpu {

Plan::Plan(const Program& program, ParameterStore& store, int threads, const CompileOptions& options)
    : m_program(program),
      m_store(store),
      m_threads(threads),
      m_collectives(options.collectives),
      m_bf16(options.precision == DataType::bf16),
      m_fusion(planFusion(program, [&program](const Operation& one) { return joinsOf(program, one); })) {
  prepareTensors();
}

// Everything that exists before the first stage: inputs, scalars, constants, and what the store owns.
void Plan::prepareTensors() {
  m_versions.resize(m_program.tensors.size());
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
        if (!computed[i]) buffer = newBuffer(0, reinterpret_cast<std::byte*>(storedTensor(m_store, tensor)->address()));
        break;
      case TensorRole::input:
      case TensorRole::scalar:
        buffer = newBuffer(elements * bytesOf(tensor.type));
        keep(buffer);
        break;
      case TensorRole::constant: {
        const double value = tensor.value;
        const bool whole = tensor.type == DataType::i32;
        filled(static_cast<std::int64_t>(elements), [elements, value, whole](float* to) {
          if (whole) {
            std::fill_n(reinterpret_cast<std::int32_t*>(to), elements, static_cast<std::int32_t>(value));
          } else {
            std::fill_n(to, elements, static_cast<float>(value));
          }
        });
        buffer = static_cast<int>(m_buffers.size()) - 1;
        break;
      }
      case TensorRole::intermediate:
        break;
    }
    if (buffer >= 0) m_versions[i].push_back({plainLayout(tensor.shape.rank()), buffer});
  }
}

int Plan::newBuffer(std::size_t bytes, std::byte* external) {
  Buffer buffer;
  buffer.bytes = (bytes + 63) / 64 * 64;
  buffer.external = external;
  m_buffers.push_back(buffer);
  return static_cast<int>(m_buffers.size()) - 1;
}

// From before the first stage until after the last.
void Plan::keep(int index) {
  Buffer& buffer = m_buffers[static_cast<std::size_t>(index)];
  buffer.first = 0;
  buffer.last = static_cast<int>(m_program.operations.size());
  buffer.lasting = true;
}

int Plan::root(int buffer) const {
  while (m_buffers[static_cast<std::size_t>(buffer)].mergedInto >= 0)
    buffer = m_buffers[static_cast<std::size_t>(buffer)].mergedInto;
  return buffer;
}

Ref<float> Plan::use(int index) {
  Buffer& buffer = m_buffers[static_cast<std::size_t>(index)];
  if (buffer.first < 0) buffer.first = m_now;
  buffer.last = std::max(buffer.last, m_now);
  return {&buffer.address, 0};
}

const Layout& Plan::layoutOf(TensorId id) const {
  const auto& versions = m_versions[static_cast<std::size_t>(id)];
  if (versions.empty())
    throwError(ErrorCode::internal, "tensor {} ('{}') is read before it is written", id, tensor(id).name);
  return versions.front().layout;
}

Ref<float> Plan::read(TensorId id, const Layout& layout) {
  const Layout from = layoutOf(id);
  auto& versions = m_versions[static_cast<std::size_t>(id)];
  for (const Version& version : versions) {
    if (!version.bf16 && sameMemory(shape(id), version.layout, layout)) return use(version.buffer);
  }
  const Ref<float> source = keptInBf16(id) ? widened(id) : use(versions.front().buffer);
  if (keptInBf16(id) && sameMemory(shape(id), from, layout)) return source;
  const int copy = newBuffer(bytesInF32(id));
  versions.push_back({layout, copy});
  const Ref<float> target = use(copy);
  std::vector<int> order;
  for (int axis : layout) order.push_back(placeOf(from, axis));
  const Permutation permutation(physicalShape(shape(id), from), order);
  stage("reorder", "own", layoutName(shape(id), from) + " to " + layoutName(shape(id), layout),
        [source, target, permutation](const Worker& worker) {
          const auto [first, last] = worker.share(permutation.pieces());
          permutation.run(source.get(), target.get(), first, last);
        });
  ++m_reorders;
  return target;
}

std::size_t Plan::bytesInF32(TensorId id) const {
  return static_cast<std::size_t>(shape(id).elements()) * (keptInBf16(id) ? sizeof(float) : bytesOf(tensor(id).type));
}

// A tensor that is kept in bf16, in f32 and its own layout: for the kernels that know no other type.
Ref<float> Plan::widened(TensorId id) {
  auto& versions = m_versions[static_cast<std::size_t>(id)];
  const Version kept = versions.front();
  for (const Version& version : versions)
    if (!version.bf16 && sameMemory(shape(id), version.layout, kept.layout)) return use(version.buffer);
  const StoredRef source{use(kept.buffer).as<std::byte>(), true};
  const int copy = newBuffer(bytesInF32(id));
  versions.push_back({kept.layout, copy});
  const Ref<float> target = use(copy);
  const std::int64_t count = shape(id).elements();
  stage("widen", {}, layoutName(shape(id), kept.layout), [source, target, count](const Worker& worker) {
    const auto [first, last] = worker.share(count, 64);
    widen(source.get().from(first), target.get() + first, last - first);
  });
  return target;
}

StoredRef Plan::readStored(TensorId id, const Layout& layout) {
  if (!keptInBf16(id) || !sameMemory(shape(id), layoutOf(id), layout)) return {read(id, layout).as<std::byte>(), false};
  return {use(m_versions[static_cast<std::size_t>(id)].front().buffer).as<std::byte>(), true};
}

Ref<std::uint16_t> Plan::readBf16(TensorId id, const Layout& layout) {
  auto& versions = m_versions[static_cast<std::size_t>(id)];
  for (const Version& version : versions)
    if (version.bf16 && sameMemory(shape(id), version.layout, layout)) return use(version.buffer).as<std::uint16_t>();
  const Ref<float> source = read(id, layout);
  const std::int64_t count = shape(id).elements();
  const int copy = newBuffer(static_cast<std::size_t>(count) * bytesOf(DataType::bf16));
  versions.push_back({layout, copy, true});
  const Ref<std::uint16_t> target = use(copy).as<std::uint16_t>();
  stage("round to bf16", {}, layoutName(shape(id), layout), [source, target, count](const Worker& worker) {
    const auto [first, last] = worker.share(count, 64);
    roundToBf16(source.get() + first, target.get() + first, last - first);
  });
  return target;
}

Ref<float> Plan::write(TensorId id, const Layout& layout) {
  const int buffer = newBuffer(bytesInF32(id));
  if (keptInBf16(id)) {
    writeStored(id, layout);
    m_unrounded.push_back({id, buffer, m_versions[static_cast<std::size_t>(id)].front().buffer});
  } else {
    m_versions[static_cast<std::size_t>(id)].assign(1, {layout, buffer});
  }
  if (tensor(id).role == TensorRole::parameterGradient) m_undelivered.push_back(id);
  return use(buffer);
}

StoredRef Plan::writeStored(TensorId id, const Layout& layout) {
  if (!keptInBf16(id)) return {write(id, layout).as<std::byte>(), false};
  const int buffer = newBuffer(static_cast<std::size_t>(shape(id).elements()) * bytesOf(DataType::bf16));
  m_versions[static_cast<std::size_t>(id)].assign(1, {layout, buffer, true});
  return {use(buffer).as<std::byte>(), true};
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
}

Plan::Target Plan::writeGradient(TensorId id) {
  // Read again by another operation: it must be what this operation computed, not the sum over shards.
  if (tensor(id).role != TensorRole::parameterGradient || !m_fusion.consumers[static_cast<std::size_t>(id)].empty()) {
    return {write(id), false};
  }
  const int buffer = newBuffer(0, reinterpret_cast<std::byte*>(m_store.at(tensor(id).name).gradient.address()));
  m_versions[static_cast<std::size_t>(id)].assign(1, {plainLayout(shape(id).rank()), buffer});
  return {use(buffer), true};
}

void Plan::deliver(TensorId id) {
  const Ref<float> from = read(id);
  float* to = m_store.at(tensor(id).name).gradient.address();
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
}

void Plan::alias(TensorId to, const Layout& layout, TensorId from, const Layout& fromLayout) {
  read(from, fromLayout);
  for (const Version& version : m_versions[static_cast<std::size_t>(from)]) {
    if (version.bf16 || !sameMemory(shape(from), version.layout, fromLayout)) continue;
    m_versions[static_cast<std::size_t>(to)].assign(1, {layout, version.buffer});
    break;
  }
  if (tensor(to).role == TensorRole::parameterGradient) m_undelivered.push_back(to);
}

void Plan::mayOverwrite(TensorId output, TensorId input) {
  const auto& out = m_versions[static_cast<std::size_t>(output)];
  if (out.empty() || out.front().buffer < 0) return;
  for (const Version& version : m_versions[static_cast<std::size_t>(input)]) {
    if (version.bf16 == out.front().bf16 && sameMemory(shape(input), version.layout, out.front().layout))
      m_overwrites.emplace_back(out.front().buffer, version.buffer);
  }
}

Ref<float> Plan::scratch(std::int64_t floats) {
  return use(newBuffer(static_cast<std::size_t>(std::max<std::int64_t>(floats, 1)) * sizeof(float)));
}

Ref<float> Plan::persistent(std::int64_t floats) {
  const int index = newBuffer(static_cast<std::size_t>(std::max<std::int64_t>(floats, 1)) * sizeof(float));
  keep(index);
  return {&m_buffers[static_cast<std::size_t>(index)].address, 0};
}

Ref<float> Plan::shared(const std::string& key, std::int64_t floats) {
  auto found = m_shared.find(key);
  if (found == m_shared.end()) {
    found =
        m_shared.emplace(key, newBuffer(static_cast<std::size_t>(std::max<std::int64_t>(floats, 1)) * sizeof(float)))
            .first;
  }
  return use(found->second);
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
  m_prologue.push_back({&m_store.at(tensor(parameter).name).value, std::move(task)});
}

Ref<float> Plan::filled(std::int64_t floats, std::function<void(float*)> fill) {
  const Ref<float> ref = persistent(floats);
  onBind([ref, fill = std::move(fill)] { fill(ref.get()); });
  return ref;
}

void Plan::stage(std::string kernel, std::string implementation, std::string layout,
                 std::function<void(const Worker&)> run) {
  if (implementation.empty()) implementation = std::string("own:") + toString(isa());
  std::string origin;
  if (m_now < static_cast<int>(m_program.operations.size()))
    origin = m_program.operations[static_cast<std::size_t>(m_now)].origin;
  m_stages.push_back(
      {std::move(kernel), std::move(implementation), std::move(layout), std::move(origin), std::move(run)});
}

void Plan::lowerAll() {
  for (m_now = 0; m_now < static_cast<int>(m_program.operations.size()); ++m_now) {
    const Operation& operation = m_program.operations[static_cast<std::size_t>(m_now)];
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
  for (const NamedResult& result : m_program.results) {
    const Ref<float> ref = read(result.tensor);  // after the step
    for (Buffer& buffer : m_buffers)
      if (&buffer.address == ref.slot) buffer.lasting = true;
  }
}

Plan::Result Plan::finish(const Allocate& allocate) {
  for (const auto& [output, input] : m_overwrites) {
    const int to = root(input);
    Buffer& out = m_buffers[static_cast<std::size_t>(output)];
    Buffer& in = m_buffers[static_cast<std::size_t>(to)];
    if (out.mergedInto >= 0 || output == to || in.external != nullptr || out.external != nullptr) continue;
    if (in.last != out.first || in.bytes < out.bytes) continue;
    out.mergedInto = to;
    in.last = std::max(in.last, out.last);
    in.lasting |= out.lasting;
  }
  std::size_t lastingBytes = 0;
  std::vector<ArenaItem> items;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < m_buffers.size(); ++i) {
    const Buffer& buffer = m_buffers[i];
    if (buffer.external != nullptr || buffer.mergedInto >= 0 || buffer.bytes == 0 || buffer.first < 0) continue;
    if (buffer.lasting) {
      lastingBytes += buffer.bytes;
      continue;
    }
    items.push_back({buffer.bytes, buffer.first, buffer.last});
    owners.push_back(i);
  }
  const ArenaLayout arena = layOutArena(items);
  auto [shared, lasting] = allocate(arena.bytes, lastingBytes);
  for (std::size_t k = 0; k < owners.size(); ++k) m_buffers[owners[k]].address = shared + arena.offsets[k];
  for (std::size_t i = 0; i < m_buffers.size(); ++i) {
    Buffer& buffer = m_buffers[i];
    if (buffer.lasting && buffer.external == nullptr && buffer.mergedInto < 0) {
      buffer.address = lasting;
      lasting += buffer.bytes;
    }
    if (buffer.external != nullptr) buffer.address = buffer.external;
    if (buffer.mergedInto >= 0) buffer.address = m_buffers[static_cast<std::size_t>(root(static_cast<int>(i)))].address;
  }
  for (auto& call : m_onBind) call();
  m_onBind.clear();
  return {std::move(m_stages), std::move(m_prologue), std::move(m_guards), arena.bytes, lastingBytes, m_reorders};
}

}  // namespace loom::cpu

#include "engine/program/buffer_plan.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/program/memory_plan.h"

namespace loom {

int BufferPlan::make(std::size_t bytes) {
  m_buffers.emplace_back();
  const int buffer = static_cast<int>(m_buffers.size()) - 1;
  enlarge(buffer, bytes);
  return buffer;
}

void BufferPlan::enlarge(int buffer, std::size_t bytes) {
  at(buffer).bytes = std::max(at(buffer).bytes, (bytes + m_alignment - 1) / m_alignment * m_alignment);
}

int BufferPlan::external(std::byte* address) {
  const int buffer = make(0);
  at(buffer).external = address;
  return buffer;
}

Ref<std::byte> BufferPlan::use(int index) {
  Buffer& buffer = at(index);
  if (buffer.first < 0 || m_now < buffer.first) buffer.first = m_now;
  buffer.last = std::max(buffer.last, m_now);
  return {&buffer.address, 0};
}

void BufferPlan::keep(int index) {
  Buffer& buffer = at(index);
  buffer.first = 0;
  buffer.last = static_cast<int>(m_program.operations.size());
  buffer.lasting = true;
}

const BufferPlan::Version* BufferPlan::find(TensorId id, const Layout& layout, DataType type) const {
  const Shape& shape = m_program.tensor(id).shape;
  for (const Version& version : versions(id))
    if (version.type == type && sameMemory(shape, version.layout, layout)) return &version;
  return nullptr;
}

const Layout& BufferPlan::layoutOf(TensorId id) const {
  if (versions(id).empty())
    throwError(ErrorCode::internal, "tensor {} ('{}') is read before it is written", id, m_program.tensor(id).name);
  return versions(id).front().layout;
}

void BufferPlan::mayOverwrite(TensorId output, TensorId input) {
  if (versions(output).empty()) return;
  const Version& out = versions(output).front();
  const Shape& shape = m_program.tensor(input).shape;
  for (const Version& version : versions(input))
    if (version.type == out.type && sameMemory(shape, version.layout, out.layout))
      m_overwrites.emplace_back(out.buffer, version.buffer);
}

int BufferPlan::shared(const std::string& key, std::size_t bytes) {
  const auto found = m_shared.find(key);
  return found != m_shared.end() ? found->second : m_shared.emplace(key, make(bytes)).first->second;
}

void BufferPlan::takeBack(Mark mark) {
  while (m_buffers.size() > mark.buffers) m_buffers.pop_back();
  m_overwrites.resize(mark.overwrites);
  m_versions = std::move(mark.versions);
  m_shared = std::move(mark.shared);
}

void BufferPlan::lend(std::byte* const* slot, std::byte* at) {
  for (Buffer& buffer : m_buffers)
    if (&buffer.address == slot) buffer.address = at;
}

int BufferPlan::root(int buffer) const {
  while (m_buffers[static_cast<std::size_t>(buffer)].mergedInto >= 0)
    buffer = m_buffers[static_cast<std::size_t>(buffer)].mergedInto;
  return buffer;
}

// Outputs into the place of inputs that die where they are written.
void BufferPlan::merge() {
  for (const auto& [output, input] : m_overwrites) {
    const int to = root(input);
    Buffer& out = at(output);
    Buffer& in = at(to);
    if (out.mergedInto >= 0 || output == to || in.external != nullptr || out.external != nullptr) continue;
    if (in.last != out.first || in.bytes < out.bytes) continue;
    out.mergedInto = to;
    in.last = std::max(in.last, out.last);
    in.lasting |= out.lasting;
  }
}

BufferPlan::Extent BufferPlan::layOut() {
  merge();
  Extent extent;
  std::vector<ArenaItem> items;
  std::vector<Buffer*> owners;
  for (Buffer& buffer : m_buffers) {
    if (!isPlaced(buffer)) continue;
    if (buffer.lasting) {
      buffer.offset = extent.lasting;
      extent.lasting += buffer.bytes;
      continue;
    }
    items.push_back({buffer.bytes, buffer.first, buffer.last});
    owners.push_back(&buffer);
  }
  const ArenaLayout arena = layOutArena(items, m_alignment);
  for (std::size_t k = 0; k < owners.size(); ++k) owners[k]->offset = arena.offsets[k];
  extent.shared = arena.bytes;
  return extent;
}

BufferPlan::Extent BufferPlan::finish(const Allocate& allocate) {
  const Extent extent = layOut();
  const auto [shared, lasting] = allocate(extent);
  for (Buffer& buffer : m_buffers) {
    if (buffer.external != nullptr)
      buffer.address = buffer.external;
    else if (isPlaced(buffer))
      buffer.address = (buffer.lasting ? lasting : shared) + buffer.offset;
  }
  for (std::size_t i = 0; i < m_buffers.size(); ++i)
    if (m_buffers[i].mergedInto >= 0) m_buffers[i].address = at(root(static_cast<int>(i))).address;
  return extent;
}

}  // namespace loom

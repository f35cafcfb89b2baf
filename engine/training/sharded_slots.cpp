#include "engine/training/sharded_slots.h"

#include <algorithm>

namespace loom {
namespace {

constexpr int kTag = 71;

std::span<std::byte> bytesOf(std::vector<float>& values) {
  return std::as_writable_bytes(std::span(values));
}

}  // namespace

ShardedSlots::ShardedSlots(Communicator& communicator, ParameterStore& store, std::vector<Tensor> tensors)
    : m_communicator(communicator), m_store(store), m_tensors(std::move(tensors)) {
  std::vector<std::size_t> held(static_cast<std::size_t>(communicator.size()));
  for (const Tensor& tensor : m_tensors) {
    held[static_cast<std::size_t>(tensor.owner)] += static_cast<std::size_t>(store.at(tensor.name).value.elements());
    forEachKept(tensor, [&](const std::string& name, const Shape&) { m_names.insert(slotName(tensor.name, name)); });
  }
  m_most = *std::max_element(held.begin(), held.end());
  m_mine.resize(m_most);
  m_all.resize(m_most * held.size());
}

void ShardedSlots::shareWeights() {
  m_communicator.activity().subject.store("stepped weights", std::memory_order_relaxed);
  const int rank = m_communicator.rank();
  std::size_t at = 0;
  for (const Tensor& tensor : m_tensors) {
    if (tensor.owner != rank) continue;
    const StoredTensor& weight = m_store.at(tensor.name).value;
    const auto count = static_cast<std::size_t>(weight.elements());
    weight.read(std::span(m_mine).subspan(at, count));
    at += count;
  }
  m_communicator.allGather(std::as_bytes(std::span(m_mine)), bytesOf(m_all));
  std::vector<std::size_t> places(static_cast<std::size_t>(m_communicator.size()));
  for (std::size_t r = 0; r < places.size(); ++r) places[r] = r * m_most;
  for (const Tensor& tensor : m_tensors) {
    StoredTensor& weight = m_store.at(tensor.name).value;
    const auto count = static_cast<std::size_t>(weight.elements());
    std::size_t& place = places[static_cast<std::size_t>(tensor.owner)];
    if (tensor.owner != rank) weight.write(std::span(m_all).subspan(place, count));
    place += count;
  }
}

StoredTensor& ShardedSlots::kept(const Tensor& tensor, const std::string& name) const {
  const std::string matrix = slotName(tensor.name, name);
  return m_store.has(matrix) ? m_store.at(matrix).value : m_store.slot(tensor.name, name);
}

std::vector<ShardedSlots::Slot> ShardedSlots::gather() {
  m_communicator.activity().subject.store("optimizer state", std::memory_order_relaxed);
  const int rank = m_communicator.rank();
  std::vector<Slot> slots;
  for (const Tensor& tensor : m_tensors) {
    if (tensor.owner == 0 || (rank != 0 && rank != tensor.owner)) continue;
    forEachKept(tensor, [&](const std::string& name, const Shape& shape) {
      if (rank == tensor.owner) {
        std::vector<float> values = kept(tensor, name).values();
        m_communicator.send(bytesOf(values), 0, kTag);
        return;
      }
      Slot& slot = slots.emplace_back(Slot{slotName(tensor.name, name), shape, {}});
      slot.values.resize(static_cast<std::size_t>(shape.elements()));
      m_communicator.receive(bytesOf(slot.values), tensor.owner, kTag);
    });
  }
  return slots;
}

std::vector<std::string> ShardedSlots::spread(
    const std::function<std::vector<float>(const std::string& name)>& valuesOf) {
  m_communicator.activity().subject.store("optimizer state", std::memory_order_relaxed);
  const int rank = m_communicator.rank();
  std::vector<std::string> missing;
  for (const Tensor& tensor : m_tensors) {
    if (rank != 0 && rank != tensor.owner) continue;
    forEachKept(tensor, [&](const std::string& name, const Shape& shape) {
      const auto count = static_cast<std::size_t>(shape.elements());
      std::vector<float> values;
      if (rank == 0) {
        values = valuesOf(slotName(tensor.name, name));
        if (values.size() != count) missing.push_back(slotName(tensor.name, name)), values.clear();
        values.resize(count);
        if (tensor.owner != 0) m_communicator.send(bytesOf(values), tensor.owner, kTag);
      } else {
        values.resize(count);
        m_communicator.receive(bytesOf(values), 0, kTag);
      }
      if (rank == tensor.owner) kept(tensor, name).write(values);
    });
  }
  return missing;
}

bool ShardedSlots::holds(std::string_view tensor, std::string_view slot) const {
  return m_names.contains(slotName(tensor, slot));
}

}  // namespace loom

#include "engine/program/tensor_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr std::size_t kAlignment = 64;

// No tensor that could ever be trained is larger; beyond it a size in bytes could overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

class HostMemory final : public TensorMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory() override {
    for (void* block : m_blocks) ::operator delete (block, std::align_val_t{kAlignment});
  }

  float* allocate(std::int64_t elements) override {
    if (elements > kMostElements)
      throwError(ErrorCode::device, "a tensor of {} values is more than the {} that memory can hold", elements,
                 kMostElements);
    // Whole cache lines, so that no two tensors share one between threads and a vector loop may read to the line's end.
    const std::size_t bytes = std::max<std::size_t>(
        (static_cast<std::size_t>(elements) * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
    m_blocks.push_back(nullptr);
    void*& block = m_blocks.back();
    try {
      block = ::operator new (bytes, std::align_val_t{kAlignment});
    } catch (const std::bad_alloc&) {
      throwError(ErrorCode::device, "no memory for a tensor of {} bytes of the parameter store", bytes);
    }
    std::memset(block, 0, bytes);
    return static_cast<float*>(block);
  }

  void read(const float* from, std::span<float> to) const override { std::copy_n(from, to.size(), to.begin()); }
  void write(std::span<const float> from, float* to) override { std::copy(from.begin(), from.end(), to); }
  void copy(const float* from, float* to, std::int64_t elements) override { std::copy_n(from, elements, to); }
  bool isHost() const override { return true; }

 private:
  std::vector<void*> m_blocks;
};

class AbsentMemory final : public TensorMemory {
 public:
  float* allocate(std::int64_t elements) override {
    const std::uintptr_t at = m_next;
    m_next += (static_cast<std::uintptr_t>(elements) * sizeof(float) / kAlignment + 1) * kAlignment;
    return reinterpret_cast<float*>(at);
  }
  void read(const float*, std::span<float> to) const override { std::fill(to.begin(), to.end(), 0.0f); }
  void write(std::span<const float>, float*) override {}
  void copy(const float*, float*, std::int64_t) override {}
  bool isHost() const override { return false; }

 private:
  std::uintptr_t m_next = std::uintptr_t{1} << 20;
};

}  // namespace

std::unique_ptr<TensorMemory> makeAbsentMemory() {
  return std::make_unique<AbsentMemory>();
}

std::unique_ptr<TensorMemory> makeHostMemory() {
  return std::make_unique<HostMemory>();
}

void StoredTensor::expectSize(std::size_t elements) const {
  if (static_cast<std::size_t>(m_elements) != elements)
    throwError(ErrorCode::internal, "a stored tensor has {} values, but {} are given or asked for", m_elements,
               elements);
}

std::vector<float> StoredTensor::values() const {
  std::vector<float> all(static_cast<std::size_t>(m_elements));
  read(all);
  return all;
}

void StoredTensor::read(std::span<float> to) const {
  expectSize(to.size());
  if (!empty()) m_memory->read(m_address, to);
}

void StoredTensor::write(std::span<const float> from) {
  expectSize(from.size());
  if (!empty()) m_memory->write(from, m_address);
  changed();
}

void StoredTensor::copyFrom(const StoredTensor& from) {
  expectSize(static_cast<std::size_t>(from.m_elements));
  if (m_memory != from.m_memory) throwError(ErrorCode::internal, "a stored tensor is copied between two memories");
  if (!empty()) m_memory->copy(from.m_address, m_address, m_elements);
  changed();
}

std::span<float> StoredTensor::host() const {
  if (empty()) return {};
  if (!m_memory->isHost())
    throwError(ErrorCode::internal, "a stored tensor stands in memory that the host cannot follow");
  return {m_address, static_cast<std::size_t>(m_elements)};
}

}  // namespace loom

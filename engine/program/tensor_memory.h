#pragma once
// Tensors that outlive executables (weights, gradients, slots, running statistics) stand in memory of the machine that
// computes with them. The host reads and writes them by copies; where the machine is the host itself, in place.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace loom {

// One machine's memory. Blocks stay where they are until it ends. One thread.
class TensorMemory {
 public:
  virtual ~TensorMemory() = default;
  // `elements` numbers in f32, all 0, aligned to 64 bytes. Throws Error(device) that names the size.
  virtual float* allocate(std::int64_t elements) = 0;
  // From the machine to the host, from the host to the machine, within the machine; done when they return.
  virtual void read(const float* from, std::span<float> to) const = 0;
  virtual void write(std::span<const float> from, float* to) = 0;
  virtual void copy(const float* from, float* to, std::int64_t elements) = 0;
  // Whether the host may follow the addresses.
  virtual bool isHost() const = 0;
};

std::unique_ptr<TensorMemory> makeHostMemory();
// For a store that is only asked what is in it: addresses differ and lead nowhere, writes are dropped, reads are 0.
std::unique_ptr<TensorMemory> makeAbsentMemory();

// One tensor, row-major in f32. Its memory must outlive it.
class StoredTensor {
 public:
  StoredTensor() = default;  // no tensor: what has no gradient
  StoredTensor(TensorMemory& memory, std::int64_t elements)
      : m_memory(&memory), m_address(memory.allocate(elements)), m_elements(elements) {}

  std::int64_t elements() const { return m_elements; }
  bool empty() const { return m_elements == 0; }
  bool isHost() const { return m_memory == nullptr || m_memory->isHost(); }
  std::vector<float> values() const;
  // Both throw Error(internal) unless `to` or `from` is of this size.
  void read(std::span<float> to) const;
  void write(std::span<const float> from);
  void copyFrom(const StoredTensor& from);  // of the same memory and size

  // For the backend whose memory it is. A kernel that writes here tells it by changed().
  float* address() const { return m_address; }
  // In place, for a machine that is the host: Error(internal) for any other. What is written through host() is told by
  // changed(), too.
  std::span<float> host() const;

  // Grows with every change: what was made of the tensor (a weight in a kernel's layout) is old where it differs.
  std::uint64_t version() const { return m_version; }
  void changed() { ++m_version; }

 private:
  void expectSize(std::size_t elements) const;
  TensorMemory* m_memory = nullptr;
  float* m_address = nullptr;
  std::int64_t m_elements = 0;
  std::uint64_t m_version = 1;
};

}  // namespace loom

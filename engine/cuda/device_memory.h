#pragma once
// The device's memory as the rest of the engine sees it: the store's tensors, and blocks that end with their owner.
#include <memory>
#include <vector>

#include "engine/cuda/device.h"
#include "engine/program/tensor_memory.h"

namespace loom::cuda {

// Ends with its owner; the device must outlive it.
class DeviceBlock {
 public:
  DeviceBlock(std::shared_ptr<Device> device, std::size_t bytes, std::string_view what)
      : m_device(std::move(device)), m_bytes(bytes), m_data(bytes == 0 ? nullptr : m_device->allocate(bytes, what)) {}
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  ~DeviceBlock() {
    if (m_data != nullptr) m_device->release(m_data);
  }
  std::byte* data() const { return m_data; }
  std::size_t bytes() const { return m_bytes; }

 private:
  std::shared_ptr<Device> m_device;
  std::size_t m_bytes;
  std::byte* m_data;
};

// The same of the host's pinned memory; zeros at first.
class PinnedBlock {
 public:
  PinnedBlock(std::shared_ptr<Device> device, std::size_t bytes);
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;
  ~PinnedBlock() {
    if (m_data != nullptr) m_device->releasePinned(m_data);
  }
  std::byte* data() const { return m_data; }
  std::size_t bytes() const { return m_bytes; }

 private:
  std::shared_ptr<Device> m_device;
  std::size_t m_bytes;
  std::byte* m_data;
};

// Reads and writes are ordered behind what the compute stream does, and done when they return.
std::unique_ptr<TensorMemory> makeDeviceMemory(std::shared_ptr<Device> device);

}  // namespace loom::cuda

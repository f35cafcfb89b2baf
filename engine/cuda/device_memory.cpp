#include "engine/cuda/device_memory.h"

#include <algorithm>
#include <cstring>
#include <exception>

namespace loom::cuda {
namespace {

constexpr std::size_t kStaging = std::size_t{4} << 20;  // bytes of pinned memory that larger copies go through in turn

class DeviceMemory final : public TensorMemory {
 public:
  explicit DeviceMemory(std::shared_ptr<Device> device) : m_device(std::move(device)) {}
  ~DeviceMemory() override {
    try {
      m_device->synchronise(Stream::compute);  // zeros may still be on their way
    } catch (const std::exception&) {
      // A device that is lost has told it to whoever used it last.
    }
  }

  float* allocate(std::int64_t elements) override {
    const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
    m_blocks.push_back(std::make_unique<DeviceBlock>(m_device, std::max(bytes, sizeof(float)), "a parameter"));
    std::byte* const data = m_blocks.back()->data();
    const Access access{data, bytes, true};
    if (bytes != 0) m_device->enqueue(Stream::compute, FillCall{data, bytes, 0}, {&access, 1}, "");
    return reinterpret_cast<float*>(data);
  }

  void read(const float* from, std::span<float> to) const override {
    const auto* data = reinterpret_cast<const std::byte*>(from);
    auto* target = reinterpret_cast<std::byte*>(to.data());
    inPieces(to.size_bytes(), [&](std::size_t at, std::size_t bytes) {
      m_device->download(Stream::compute, data + at, staging(), bytes);
      m_device->synchronise(Stream::compute);
      std::memcpy(target + at, staging(), bytes);
    });
  }

  void write(std::span<const float> from, float* to) override {
    const auto* data = reinterpret_cast<const std::byte*>(from.data());
    auto* target = reinterpret_cast<std::byte*>(to);
    inPieces(from.size_bytes(), [&](std::size_t at, std::size_t bytes) {
      std::memcpy(staging(), data + at, bytes);
      m_device->upload(Stream::compute, staging(), target + at, bytes);
      m_device->synchronise(Stream::compute);
    });
  }

  void copy(const float* from, float* to, std::int64_t elements) override {
    const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
    if (bytes == 0) return;
    const auto* data = reinterpret_cast<const std::byte*>(from);
    auto* target = reinterpret_cast<std::byte*>(to);
    const Access accesses[] = {{target, bytes, true}, {data, bytes, false}};
    m_device->enqueue(Stream::compute, CopyCall{data, target, bytes}, accesses, "");
    m_device->synchronise(Stream::compute);
  }

  bool isHost() const override { return false; }

 private:
  std::byte* staging() const {
    if (!m_staging) m_staging = std::make_unique<PinnedBlock>(m_device, kStaging);
    return m_staging->data();
  }
  template <class Work>
  static void inPieces(std::size_t bytes, const Work& work) {
    for (std::size_t at = 0; at < bytes; at += kStaging) work(at, std::min(kStaging, bytes - at));
  }

  std::shared_ptr<Device> m_device;
  std::vector<std::unique_ptr<DeviceBlock>> m_blocks;
  mutable std::unique_ptr<PinnedBlock> m_staging;
};

}  // namespace

PinnedBlock::PinnedBlock(std::shared_ptr<Device> device, std::size_t bytes)
    : m_device(std::move(device)), m_bytes(bytes), m_data(bytes == 0 ? nullptr : m_device->allocatePinned(bytes)) {
  if (m_data != nullptr) std::memset(m_data, 0, bytes);
}

std::unique_ptr<TensorMemory> makeDeviceMemory(std::shared_ptr<Device> device) {
  return std::make_unique<DeviceMemory>(std::move(device));
}

}  // namespace loom::cuda

#pragma once
// cuDNN's backend descriptors, which end with their owner. Every failure names the call and the attribute's meaning.
#include <utility>
#include <vector>

#include "engine/cuda/module/failure.h"

namespace loom::cuda::module {

class Descriptor {
 public:
  Descriptor(cudnnBackendDescriptorType_t type, const char* what) : m_what(what) {
    check(cudnnBackendCreateDescriptor(type, &m_descriptor), std::string("cudnnBackendCreateDescriptor of ") + what);
  }
  Descriptor(Descriptor&& other) noexcept
      : m_what(other.m_what), m_descriptor(std::exchange(other.m_descriptor, nullptr)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (m_descriptor != nullptr) cudnnBackendDestroyDescriptor(m_descriptor);
  }
  cudnnBackendDescriptor_t get() const { return m_descriptor; }

  Descriptor& set(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type, std::int64_t count,
                  const void* values) {
    check(cudnnBackendSetAttribute(m_descriptor, attribute, type, count, values),
          std::string("cudnnBackendSetAttribute ") + std::to_string(attribute) + " of " + m_what);
    return *this;
  }
  template <class Value>
  Descriptor& set(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type, const Value& value) {
    return set(attribute, type, 1, &value);
  }
  Descriptor& set(cudnnBackendAttributeName_t attribute, const Descriptor& other) {
    return set(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.m_descriptor);
  }
  // Answers how many there are, of which at most `room` are written.
  std::int64_t read(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type, std::int64_t room,
                    void* values) const {
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(m_descriptor, attribute, type, room, &count, values),
          std::string("cudnnBackendGetAttribute ") + std::to_string(attribute) + " of " + m_what);
    return count;
  }
  Descriptor& finalise() {
    check(cudnnBackendFinalize(m_descriptor), std::string("cudnnBackendFinalize of ") + m_what);
    return *this;
  }

 private:
  const char* m_what;
  cudnnBackendDescriptor_t m_descriptor = nullptr;
};

}  // namespace loom::cuda::module

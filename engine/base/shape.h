#pragma once
// The extents of a tensor, outermost first. Images are C x H x W per sample; a program's activations lead with N, the
// batch.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace loom {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) : m_extents(extents) {}
  explicit Shape(std::vector<std::int64_t> extents) : m_extents(std::move(extents)) {}

  std::size_t rank() const { return m_extents.size(); }
  // A negative axis counts from the end.
  std::int64_t operator[](std::int64_t axis) const {
    return m_extents[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank()) : axis)];
  }
  std::int64_t& operator[](std::int64_t axis) {
    return m_extents[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank()) : axis)];
  }
  // Product of the extents; 1 for rank 0. Throws Error(badProject) when it overflows 2^62.
  std::int64_t elements() const;
  const std::vector<std::int64_t>& extents() const { return m_extents; }
  bool operator==(const Shape&) const = default;
  auto begin() const { return m_extents.begin(); }
  auto end() const { return m_extents.end(); }

  // This shape with `extent` put before it (a batch), and without its first extent.
  Shape prepended(std::int64_t extent) const;
  Shape withoutFirst() const;
  // "16×32×32" as the interface writes shapes; "scalar" for rank 0.
  std::string toString() const;

 private:
  std::vector<std::int64_t> m_extents;
};

}  // namespace loom

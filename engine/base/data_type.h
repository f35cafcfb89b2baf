#pragma once
#include <cstddef>
#include <string_view>

namespace loom {

// f64 stands in reference computations only. i32 holds labels and token indices, u8 pixels as they were stored.
enum class DataType { f32, f64, bf16, f16, i32, i64, u8 };

constexpr std::size_t bytesOf(DataType type) {
  switch (type) {
    case DataType::f64:
    case DataType::i64:
      return 8;
    case DataType::f32:
    case DataType::i32:
      return 4;
    case DataType::bf16:
    case DataType::f16:
      return 2;
    case DataType::u8:
      return 1;
  }
  return 0;
}

constexpr std::string_view toString(DataType type) {
  constexpr std::string_view names[] = {"f32", "f64", "bf16", "f16", "i32", "i64", "u8"};
  return names[static_cast<int>(type)];
}

}  // namespace loom

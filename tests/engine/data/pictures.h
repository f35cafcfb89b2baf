#pragma once
#include <span>
#include <vector>

#include "engine/base/error.h"
#include "engine/data/dataset.h"

namespace loom {

// Images whose pixels say where they are: row * 16 + y * width + x, one channel or more (plus 100 a channel).
class Pictures : public Dataset {
 public:
  Pictures(std::int64_t rows, std::int64_t channels, std::int64_t height, std::int64_t width,
           DataType type = DataType::u8)
      : m_rows(rows) {
    m_schema.variables = {{.name = "x", .kind = VariableKind::image, .shape = {channels, height, width}, .type = type},
                          {.name = "y", .shape = {1}}};
    for (std::int64_t row = 0; row < rows; ++row) {
      m_labels.push_back(static_cast<float>(row));
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t i = 0; i < height * width; ++i)
          m_pixels.push_back(static_cast<std::byte>((row * 16 + c * 100 + i) & 255));
      }
    }
    m_floats.resize(m_pixels.size());
    for (std::size_t i = 0; i < m_pixels.size(); ++i) m_floats[i] = std::to_integer<std::uint8_t>(m_pixels[i]);
  }
  const Schema& schema() const override { return m_schema; }
  std::int64_t size() const override { return m_rows; }
  std::span<const std::byte> read(std::int64_t row, std::size_t variable, Shape* shape) const override {
    if (row == failingRow) throw Error(ErrorCode::badData, "row 7 is broken");
    const auto at = static_cast<std::size_t>(row);
    if (shape) *shape = m_schema.variables[variable].shape;
    if (variable == 1) return std::as_bytes(std::span(m_labels)).subspan(at * 4, 4);
    const auto bytes = m_schema.variables[0].type == DataType::u8 ? std::span<const std::byte>(m_pixels)
                                                                  : std::as_bytes(std::span(m_floats));
    return bytes.subspan(at * bytes.size() / static_cast<std::size_t>(m_rows),
                         bytes.size() / static_cast<std::size_t>(m_rows));
  }
  std::int64_t failingRow = -1;

 private:
  Schema m_schema;
  std::int64_t m_rows;
  std::vector<std::byte> m_pixels;
  std::vector<float> m_floats, m_labels;
};

}  // namespace loom

#include <algorithm>
#include <bit>

#include "engine/data/pack.h"

namespace loom {
namespace {

static_assert(std::endian::native == std::endian::little, "packs are mapped as they are");
constexpr std::uint64_t kGroupBytes = std::uint64_t{16} << 20;
constexpr std::int64_t kMostRows = 65536;

std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + kPackAlignment - 1) / kPackAlignment * kPackAlignment;
}

}  // namespace

PackWriter::PackWriter(const Append& append, Schema schema, std::vector<VariablePlan> plan,
                       std::vector<Json> columnSteps)
    : m_append(append),
      m_schema(std::move(schema)),
      m_plan(std::move(plan)),
      m_columnSteps(std::move(columnSteps)),
      m_pending(m_plan.size()) {
  unsigned char header[kPackAlignment] = "LOOMPACK";
  std::memcpy(header + 8, &kPackVersion, sizeof kPackVersion);
  m_append(header, sizeof header);
  m_offset = sizeof header;
}

void PackWriter::Pending::take(const Shape& shape) {
  if (largest.rank() == 0) largest = smallest = shape;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.rank()); ++axis) {
    largest[axis] = std::max(largest[axis], shape[axis]);
    smallest[axis] = std::min(smallest[axis], shape[axis]);
  }
}

void PackWriter::put(const void* data, std::size_t bytes) {
  m_append(data, bytes);
  m_hash.add(data, bytes);
  m_offset += bytes;
}

void PackWriter::pad() {
  static constexpr std::byte zeros[kPackAlignment]{};
  put(zeros, padded(m_offset) - m_offset);
}

// The largest power of two of rows that stay under kGroupBytes, judged by the first row: a function of the samples
// alone.
void PackWriter::chooseGroupSize(const RowChunk& chunk) {
  std::uint64_t row = 0;
  for (std::size_t v = 0; v < m_plan.size(); ++v)
    row += m_plan[v].loose() ? m_plan[v].rowBytes(chunk.columns[v].extents[0]) + 16 : m_plan[v].cellBytes();
  m_rowsPerGroup = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::bit_floor(std::max<std::uint64_t>(kGroupBytes / row, 1))), 1, kMostRows);
}

void PackWriter::add(const RowChunk& chunk) {
  if (chunk.rows == 0) return;
  if (m_rowsPerGroup == 0) chooseGroupSize(chunk);
  std::vector<std::size_t> from(m_plan.size(), 0);  // bytes of the chunk already taken
  for (std::int64_t row = 0; row < chunk.rows;) {
    const std::int64_t count = std::min(chunk.rows - row, m_rowsPerGroup - m_pendingRows);
    for (std::size_t v = 0; v < m_plan.size(); ++v) {
      Pending& pending = m_pending[v];
      const RowChunk::Column& column = chunk.columns[v];
      std::size_t bytes = static_cast<std::size_t>(count) * m_plan[v].cellBytes();
      if (m_plan[v].loose()) {
        bytes = 0;
        for (std::int64_t i = row; i < row + count; ++i) {
          const std::uint64_t extents = column.extents[static_cast<std::size_t>(i)];
          pending.extents.push_back(extents);
          pending.take(m_plan[v].shapeOf(extents));
          bytes += m_plan[v].rowBytes(extents);
        }
      }
      const std::byte* data = column.bytes.data() + from[v];
      pending.bytes.insert(pending.bytes.end(), data, data + bytes);
      from[v] += bytes;
    }
    row += count;
    m_pendingRows += count;
    if (m_pendingRows == m_rowsPerGroup) flush();
  }
  for (const auto& [variable, rates] : chunk.rates)
    for (const int rate : rates)
      if (rate > 0) m_rates[variable].insert(rate);
  m_rows += chunk.rows;
}

void PackWriter::flush() {
  if (m_pendingRows == 0) return;
  m_groups.push_back(m_offset);
  std::uint64_t fixed = 0;
  for (std::size_t v = 0; v < m_plan.size(); ++v)
    fixed += padded(m_plan[v].loose() ? static_cast<std::uint64_t>(m_pendingRows) * 16 : m_pending[v].bytes.size());
  std::uint64_t clips = fixed;
  for (std::size_t v = 0; v < m_plan.size(); ++v) {
    if (m_plan[v].loose()) {
      std::vector<std::uint64_t> table;
      std::uint64_t at = clips;
      for (const std::uint64_t extents : m_pending[v].extents) {
        table.push_back(at);
        table.push_back(extents);
        at += m_plan[v].rowBytes(extents);
      }
      clips = padded(at);
      put(table.data(), table.size() * sizeof table[0]);
    } else {
      put(m_pending[v].bytes.data(), m_pending[v].bytes.size());
    }
    pad();
  }
  for (std::size_t v = 0; v < m_plan.size(); ++v) {
    if (m_plan[v].loose()) {
      put(m_pending[v].bytes.data(), m_pending[v].bytes.size());
      pad();
    }
    m_pending[v].bytes.clear();
    m_pending[v].extents.clear();
  }
  m_pendingRows = 0;
}

void PackWriter::finish() {
  flush();
  Json variables = Json::array();
  for (std::size_t v = 0; v < m_plan.size(); ++v) {
    const Variable& variable = m_schema.variables[v];
    const bool loose = m_plan[v].loose() && m_rows > 0;
    const Shape &shape = loose ? m_pending[v].largest : variable.shape,
                &smallest = loose ? m_pending[v].smallest : variable.shape;
    Json entry = {{"name", variable.name},           {"label", variable.label},  {"kind", toString(variable.kind)},
                  {"type", toString(variable.type)}, {"shape", shape.extents()}, {"clip", m_plan[v].clip()},
                  {"shortest", smallest[0]}};
    if (m_plan[v].mixed()) entry["smallest"] = smallest.extents();  // images, each in its own size
    if (const auto rates = m_rates.find(v); rates != m_rates.end() && rates->second.size() == 1)
      entry["rate"] = *rates->second.begin();
    if (!variable.elementLabels.empty()) entry["element_labels"] = variable.elementLabels;
    variables.push_back(std::move(entry));
  }
  Json footer = {{"rows", m_rows},
                 {"rows_per_group", m_rowsPerGroup},
                 {"variables", std::move(variables)},
                 {"groups", m_groups},
                 {"content", fmt::format("{:016x}", m_hash.value())}};
  if (!m_columnSteps.empty()) footer["column_steps"] = m_columnSteps;
  const std::string text = footer.dump();
  unsigned char trailer[kPackAlignment] = "LOOMTAIL";
  const std::uint64_t numbers[] = {m_offset, text.size(), Hash64::of(std::as_bytes(std::span(text)))};
  std::memcpy(trailer + 8, numbers, sizeof numbers);
  m_append(text.data(), text.size());
  m_append(trailer, sizeof trailer);
  m_offset += text.size() + sizeof trailer;
}

}  // namespace loom

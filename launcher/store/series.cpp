#include "launcher/store/series.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "launcher/store/column_codec.h"

namespace loom {
namespace {

const std::vector<bool> kPointColumns{false, true};
const std::vector<bool> kEntryColumns{false, false, false, false, true, true, true, true};

std::uint64_t word(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}
std::uint64_t word(double value) {
  return std::bit_cast<std::uint64_t>(value);
}
double real(std::uint64_t word) {
  return std::bit_cast<double>(word);
}

std::int64_t blockSize(int level) {
  return level == 0 ? Series::kBlockPoints : Series::kBlockEntries;
}

}  // namespace

SeriesSummary SeriesSummary::of(const SeriesPoint& point) {
  SeriesSummary one;
  one.firstStep = one.lastStep = point.step;
  one.count = 1;
  one.last = point.value;
  if (std::isfinite(point.value)) {
    one.min = one.max = point.value;
  } else {
    one.badStep = point.step;
    one.badValue = point.value;
  }
  return one;
}

void SeriesSummary::add(const SeriesSummary& next) {
  if (count == 0) {
    *this = next;
    return;
  }
  lastStep = next.lastStep;
  count += next.count;
  min = std::min(min, next.min);
  max = std::max(max, next.max);
  last = next.last;
  if (badStep < 0 && next.badStep >= 0) {
    badStep = next.badStep;
    badValue = next.badValue;
  }
}

Series::Block& Series::block(int level, std::int64_t index) const {
  if (static_cast<int>(m_levels.size()) <= level) m_levels.resize(level + 1);
  Level& blocks = m_levels[level];
  if (static_cast<std::int64_t>(blocks.size()) <= index) blocks.resize(index + 1);
  auto& slot = blocks[index];
  if (!slot) {
    const bool stored = index * blockSize(level) < entries(level) && m_load;
    slot = stored ? decode(m_load(level, index), level) : std::make_unique<Block>();
    // Two windows may write one store: what lies behind our own count is the other's and comes again from the log.
    const auto known = static_cast<std::size_t>(std::min(blockSize(level), entries(level) - index * blockSize(level)));
    if (stored && slot->points.size() > known) slot->points.resize(known);
    if (stored && slot->entries.size() > known) slot->entries.resize(known);
  }
  slot->used = true;
  return *slot;
}

SeriesPoint Series::point(std::int64_t index) const {
  return block(0, index / kBlockPoints).points.at(index % kBlockPoints);
}

SeriesSummary Series::summary(int level, std::int64_t index) const {
  if (level == 0) return SeriesSummary::of(point(index));
  return block(level, index / kBlockEntries).entries.at(index % kBlockEntries);
}

int Series::levels() const {
  int level = 1;
  while (entries(level) > 0) ++level;
  return level;
}

void Series::add(std::int64_t step, double value) {
  if (m_count == 0 || point(m_count - 1).step < step)
    append(step, value);
  else
    insert(step, value);
}

void Series::append(std::int64_t step, double value) {
  Block& tail = block(0, m_count / kBlockPoints);
  tail.points.push_back({step, value});
  tail.dirty = m_dirty = true;
  ++m_count;
  for (int level = 1; (m_count & ((std::int64_t{1} << (kFanBits * level)) - 1)) == 0; ++level) {
    const std::int64_t index = entries(level) - 1;
    SeriesSummary sum;
    for (int child = 0; child < kFan; ++child) sum.add(summary(level - 1, index * kFan + child));
    // The block is asked for while the count already names the new entry: it must not be looked for in the store.
    Level& blocks = (static_cast<int>(m_levels.size()) <= level ? m_levels.resize(level + 1) : void(), m_levels[level]);
    const std::int64_t place = index / kBlockEntries;
    if (static_cast<std::int64_t>(blocks.size()) <= place) blocks.resize(place + 1);
    if (!blocks[place]) {
      blocks[place] = index % kBlockEntries ? decode(m_load(level, place), level) : std::make_unique<Block>();
      blocks[place]->entries.resize(index % kBlockEntries);
    }
    blocks[place]->entries.push_back(sum);
    blocks[place]->dirty = blocks[place]->used = true;
  }
}

// Rare (lines that come out of order): everything behind the place is written again.
void Series::insert(std::int64_t step, double value) {
  const std::int64_t at = lowerBound(step);
  std::vector<SeriesPoint> points;
  points.reserve(m_count + 1);
  for (std::int64_t i = 0; i < m_count; ++i) points.push_back(point(i));
  if (at < m_count && points[at].step == step)
    points[at].value = value;
  else
    points.insert(points.begin() + at, {step, value});
  m_levels.clear();
  m_count = 0;
  for (const SeriesPoint& each : points) append(each.step, each.value);
}

std::int64_t Series::lowerBound(std::int64_t step) const {
  std::int64_t at = 0;
  for (int level = levels() - 1; level >= 0; --level) {
    while (at < entries(level) && summary(level, at).lastStep < step) ++at;
    if (level > 0) at *= kFan;
  }
  return at;
}

std::int64_t Series::lowerBoundValue(double value) const {
  std::int64_t at = 0;
  for (int level = levels() - 1; level >= 0; --level) {
    while (at < entries(level) && summary(level, at).last < value) ++at;
    if (level > 0) at *= kFan;
  }
  return at;
}

double Series::valueAt(std::int64_t step) const {
  const std::int64_t at = lowerBound(step);
  if (at == m_count) return point(m_count - 1).value;
  const SeriesPoint right = point(at);
  if (right.step == step || at == 0) return right.value;
  const SeriesPoint left = point(at - 1);
  const double share = static_cast<double>(step - left.step) / static_cast<double>(right.step - left.step);
  return left.value + share * (right.value - left.value);
}

void Series::cover(std::int64_t from, std::int64_t to, int level,
                   const std::function<void(const SeriesSummary&, int, std::int64_t)>& visit) const {
  const auto shift = [](int of) { return kFanBits * of; };
  while (from < to) {
    int fit = 0;
    while (fit < level && (from & ((std::int64_t{1} << shift(fit + 1)) - 1)) == 0 &&
           from + (std::int64_t{1} << shift(fit + 1)) <= to)
      ++fit;
    // As many as there are before a higher level has one for them, block by block: a picture asks for thousands.
    std::int64_t end = from + ((to - from) >> shift(fit) << shift(fit));
    if (fit < level) end = std::min(end, ((from >> shift(fit + 1)) + 1) << shift(fit + 1));
    for (std::int64_t at = from >> shift(fit), last = end >> shift(fit); at < last;) {
      const Block& own = block(fit, at / blockSize(fit));
      const auto first = static_cast<std::size_t>(at % blockSize(fit));
      const auto here = static_cast<std::size_t>(std::min(last - at, blockSize(fit) - at % blockSize(fit)));
      if (fit == 0)
        for (std::size_t i = first; i < first + here; ++i) visit(SeriesSummary::of(own.points.at(i)), fit, at++);
      else
        for (std::size_t i = first; i < first + here; ++i) visit(own.entries.at(i), fit, at++);
    }
    from = end;
  }
}

void Series::save(const Store& store) {
  for (int level = 0; level < static_cast<int>(m_levels.size()); ++level)
    for (std::size_t index = 0; index < m_levels[level].size(); ++index) {
      Block* each = m_levels[level][index].get();
      if (!each || !each->dirty) continue;
      store(level, static_cast<std::int64_t>(index), encode(*each, level));
      each->dirty = false;
    }
  m_dirty = false;
}

void Series::touch() {
  m_dirty = true;
  for (Level& level : m_levels)
    for (auto& each : level)
      if (each) each->dirty = true;
}

void Series::dropClean() {
  if (!m_load) return;
  for (Level& level : m_levels)
    for (auto& each : level)
      if (each && !each->dirty) each.reset();
}

void Series::dropIdle() {
  if (!m_load) return;
  for (Level& level : m_levels)
    for (auto& each : level) {
      if (!each || each->dirty) continue;
      if (each->used)
        each->used = false;
      else
        each.reset();
    }
}

std::size_t Series::bytes() const {
  std::size_t sum = 0;
  for (const Level& level : m_levels)
    for (const auto& each : level)
      if (each) sum += each->points.capacity() * sizeof(SeriesPoint) + each->entries.capacity() * sizeof(SeriesSummary);
  return sum;
}

QByteArray Series::encode(const Block& block, int level) {
  WordColumns columns(level == 0 ? kPointColumns.size() : kEntryColumns.size());
  for (const SeriesPoint& point : block.points) {
    columns[0].push_back(word(point.step));
    columns[1].push_back(word(point.value));
  }
  for (const SeriesSummary& entry : block.entries) {
    int column = 0;
    for (const std::int64_t value : {entry.firstStep, entry.lastStep, entry.count, entry.badStep})
      columns[column++].push_back(word(value));
    for (const double value : {entry.min, entry.max, entry.last, entry.badValue})
      columns[column++].push_back(word(value));
  }
  return encodeColumns(columns, level == 0 ? kPointColumns : kEntryColumns);
}

std::unique_ptr<Series::Block> Series::decode(const QByteArray& data, int level) {
  auto block = std::make_unique<Block>();
  const WordColumns columns = decodeColumns(data, level == 0 ? kPointColumns : kEntryColumns);
  const std::size_t rows = columns[0].size();
  for (std::size_t r = 0; r < rows; ++r) {
    const auto integer = [&](int column) { return static_cast<std::int64_t>(columns[column][r]); };
    if (level == 0)
      block->points.push_back({integer(0), real(columns[1][r])});
    else
      block->entries.push_back({integer(0), integer(1), integer(2), integer(3), real(columns[4][r]),
                                real(columns[5][r]), real(columns[6][r]), real(columns[7][r])});
  }
  return block;
}

}  // namespace loom

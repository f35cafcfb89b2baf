#pragma once
// One curve of one attempt of a run: (step, value) points in order of step, with a pyramid above them. Level 0 are the
// points, an entry of level L sums up 16 entries of level L-1: minimum, maximum, last, and the first value that is not
// finite. Only whole entries are kept, so appending never changes one. Points and entries live in blocks that are
// loaded when touched and written when they changed; the store keeps them in SQLite (design: a row a point would cost
// 27 GB for 1,000 runs).
#include <QByteArray>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace loom {

struct SeriesPoint {
  std::int64_t step = 0;
  double value = 0;
};

// What is known of consecutive points. Minimum and maximum are over the finite values alone (+inf, -inf when there is
// none); `last` is the last value as it is, finite or not.
struct SeriesSummary {
  std::int64_t firstStep = 0, lastStep = 0, count = 0;
  std::int64_t badStep = -1;  // first step whose value is not finite, -1 = none
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double last = 0;
  double badValue = 0;

  static SeriesSummary of(const SeriesPoint& point);
  void add(const SeriesSummary& next);  // `next` lies behind this
};

class Series {
 public:
  static constexpr int kFan = 16, kFanBits = 4;
  static constexpr std::int64_t kBlockPoints = 4096, kBlockEntries = 1024;
  // Loads the encoded block; throws when it is not there.
  using Load = std::function<QByteArray(int level, std::int64_t block)>;
  using Store = std::function<void(int level, std::int64_t block, const QByteArray& data)>;

  Series() = default;
  Series(std::int64_t count, Load load) : m_count(count), m_load(std::move(load)) {}

  std::int64_t count() const { return m_count; }
  // Behind the last point, or anywhere: a late point is put in its place (and replaces one of the same step).
  void add(std::int64_t step, double value);

  SeriesPoint point(std::int64_t index) const;
  SeriesSummary summary(int level, std::int64_t index) const;  // level 0: of one point
  std::int64_t entries(int level) const { return m_count >> (kFanBits * level); }
  int levels() const;  // levels that hold an entry, at least 1

  // Index of the first point whose step is not below `step`.
  std::int64_t lowerBound(std::int64_t step) const;
  // Index of the first point whose value is not below `value`, in a series that never falls (the axes).
  std::int64_t lowerBoundValue(double value) const;
  // The value at `step`, between two points on their straight line, beyond the ends that of the end. Not for empty
  // series.
  double valueAt(std::int64_t step) const;
  // Calls visit(summary, level, index) for consecutive entries that cover [from, to) exactly, none above `level`.
  void cover(std::int64_t from, std::int64_t to, int level,
             const std::function<void(const SeriesSummary&, int, std::int64_t)>& visit) const;

  bool dirty() const { return m_dirty; }
  void save(const Store& store);                         // what changed since the last save
  void touch();                                          // counts as changed again: the save was rolled back
  void dropClean();                                      // frees what can be loaded again
  void dropIdle();                                       // of that, what nobody has asked for since the last time
  void setLoad(Load load) { m_load = std::move(load); }  // once it was saved
  std::size_t bytes() const;

 private:
  struct Block {
    std::vector<SeriesPoint> points;
    std::vector<SeriesSummary> entries;
    bool dirty = false;
    bool used = true;  // since dropIdle()
  };
  using Level = std::vector<std::unique_ptr<Block>>;

  Block& block(int level, std::int64_t index) const;
  void append(std::int64_t step, double value);
  void insert(std::int64_t step, double value);
  static QByteArray encode(const Block& block, int level);
  static std::unique_ptr<Block> decode(const QByteArray& data, int level);

  std::int64_t m_count = 0;
  Load m_load;
  mutable std::vector<Level> m_levels;
  bool m_dirty = false;
};

}  // namespace loom

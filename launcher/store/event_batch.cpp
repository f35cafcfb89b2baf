#include "launcher/store/event_batch.h"

#include <unordered_map>

namespace loom {
namespace {

class Builder {
 public:
  explicit Builder(EventBatch& batch) : m_batch(batch) {}

  void add(Event&& event) {
    if (const auto step = stepOfPoints(event)) addRow(event, *step);
    // What is recorded of layers is large and read where it stands (engine/run/layer_record.h).
    if (event.kind != "step" && event.kind != "recorded") m_batch.others.push_back(std::move(event));
  }

 private:
  void addRow(const Event& event, std::int64_t step) {
    EventBatch::Row row{event.sequence,
                        event.attempt,
                        step,
                        event.time,
                        event.kind == "step",
                        static_cast<std::uint32_t>(m_batch.cells.size()),
                        0};
    forEachPoint(event, [this](const std::string& name, double value) { cell(name, value); });
    row.end = static_cast<std::uint32_t>(m_batch.cells.size());
    m_batch.rows.push_back(row);
  }

  void cell(const std::string& name, double value) {
    const auto [at, isNew] = m_index.try_emplace(name, static_cast<std::uint32_t>(m_batch.names.size()));
    if (isNew) m_batch.names.push_back(name);
    m_batch.cells.emplace_back(at->second, value);
  }

  EventBatch& m_batch;
  std::unordered_map<std::string, std::uint32_t> m_index;
};

}  // namespace

EventBatch toBatch(std::vector<Event> events) {
  EventBatch batch;
  Builder builder(batch);
  for (Event& event : events) builder.add(std::move(event));
  return batch;
}

EventBatch readBatch(const std::filesystem::path& eventsFile, std::int64_t from, std::size_t limit,
                     const std::string& mark) {
  if (!mark.empty() && logMark(eventsFile, from) != mark) {
    EventBatch another;
    another.from = another.to = from;
    another.isAnother = std::filesystem::exists(eventsFile);
    return another;
  }
  EventReader reader(eventsFile, from);
  std::vector<Event> events = reader.read(limit);
  const bool full = events.size() >= limit;
  EventBatch batch = toBatch(std::move(events));
  batch.from = from;
  batch.to = reader.offset();
  batch.mark = logMark(eventsFile, batch.to);
  batch.skipped = reader.skipped();
  batch.atEnd = !full;
  return batch;
}

}  // namespace loom

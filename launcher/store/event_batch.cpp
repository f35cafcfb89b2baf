#include "launcher/store/event_batch.h"

#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

namespace loom {
namespace {

// A number as the log may write it: itself, or "nan", "inf", "-inf". Anything else is none (never an exception: the log
// may come from elsewhere).
std::optional<double> numberOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return {};
  const auto& text = value.get_ref<const std::string&>();
  if (text == "nan") return std::nan("");
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return {};
}

class Builder {
 public:
  explicit Builder(EventBatch& batch) : m_batch(batch) {}

  void add(Event&& event) {
    const bool isStep = event.kind == "step";
    if (isStep || event.kind == "validation" || event.kind == "epoch") {
      const auto step = event.body.find("step");
      if (step != event.body.end() && step->is_number()) addRow(event, step->get<std::int64_t>(), isStep);
    }
    if (!isStep) m_batch.others.push_back(std::move(event));
  }

 private:
  void addRow(const Event& event, std::int64_t step, bool isStep) {
    EventBatch::Row row{
        event.sequence, event.attempt, step, event.time, isStep, static_cast<std::uint32_t>(m_batch.cells.size()), 0};
    const std::string prefix = isStep ? "training." : event.kind + ".";
    for (const auto& [key, value] : event.body.items()) {
      if (key == "metrics" && value.is_object()) {
        for (const auto& [name, each] : value.items())
          if (const auto number = numberOf(each)) cell(prefix + name, *number);
        continue;
      }
      if (key == "v" || key == "seq" || key == "attempt" || key == "time" || key == "kind" || key == "step") continue;
      const auto number = numberOf(value);
      if (!number) continue;
      if (key == "loss")
        cell(prefix + "loss", *number);
      else if (!isStep) {
        if (key != "epoch" && key != "samples" && key != "ms") cell(prefix + key, *number);
      } else if (key == "epoch")
        cell(series::kEpochAxis, *number);
      else if (key == "samples")
        cell(series::kSamplesAxis, *number);
      else if (key == "learning_rate")
        cell(series::kRate, *number);
      else
        cell("step." + key, *number);
    }
    if (isStep) cell(series::kTimeAxis, event.time);
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

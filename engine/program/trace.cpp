#include "engine/program/trace.h"

#include <algorithm>
#include <cstring>

#include "engine/base/json.h"

namespace loom {
namespace {

std::int64_t microseconds(Trace::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

template <std::size_t size>
void keep(char (&kept)[size], const char* text) {
  const std::size_t length = ::strnlen(text, size - 1);
  std::memcpy(kept, text, length);
  kept[length] = '\0';
}

}  // namespace

void Trace::add(Lane lane, const char* name, const char* detail, Clock::time_point begin, Clock::time_point end,
                std::int64_t bytes) {
  const std::size_t at = m_next.fetch_add(1, std::memory_order_relaxed);
  if (at >= m_events.size()) return;
  Event& event = m_events[at];
  keep(event.name, name);
  keep(event.detail, detail);
  event.begin = begin;
  event.end = end;
  event.bytes = bytes;
  event.lane = lane;
}

std::string Trace::events(int rank, const std::string& host) const {
  std::string text;
  const auto add = [&text](const Json& event) {
    text += (text.empty() ? "" : ",\n") + event.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  add({{"ph", "M"},
       {"pid", rank},
       {"name", "process_name"},
       {"args", {{"name", "rank " + std::to_string(rank) + " on " + host}}}});
  static const char* const lanes[] = {"compute", "communication", "data"};
  for (int lane = 0; lane < 3; ++lane)
    add({{"ph", "M"}, {"pid", rank}, {"tid", lane}, {"name", "thread_name"}, {"args", {{"name", lanes[lane]}}}});
  const std::size_t count = std::min(m_next.load(std::memory_order_acquire), m_events.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Event& event = m_events[i];
    Json arguments = Json::object();
    if (*event.detail) arguments["of"] = event.detail;
    if (event.bytes >= 0) arguments["bytes"] = event.bytes;
    add({{"ph", "X"},
         {"pid", rank},
         {"tid", static_cast<int>(event.lane)},
         {"name", event.name},
         {"ts", microseconds(event.begin)},
         {"dur", std::max<std::int64_t>(microseconds(event.end) - microseconds(event.begin), 0)},
         {"args", std::move(arguments)}});
  }
  return text;
}

std::string Trace::file(const std::vector<std::string>& ofRanks) {
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  for (std::size_t i = 0; i < ofRanks.size(); ++i) text += (i ? ",\n" : "") + ofRanks[i];
  return text + "\n]}\n";
}

}  // namespace loom

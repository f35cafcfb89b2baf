#include "engine/exchange/sdcproj/sdc_repeats.h"

#include <algorithm>
#include <iterator>

namespace loom::sdc {
namespace {

using Neighbours = std::map<std::int64_t, std::vector<std::int64_t>>;

// All that can be reached from `from`, without going on behind `until`.
std::set<std::int64_t> reached(std::int64_t from, std::int64_t until, const Neighbours& neighbours) {
  std::set<std::int64_t> found;
  std::vector<std::int64_t> open{from};
  while (!open.empty()) {
    const std::int64_t at = open.back();
    open.pop_back();
    const auto next = neighbours.find(at);
    if (at == until || next == neighbours.end()) continue;
    for (const std::int64_t each : next->second)
      if (found.insert(each).second) open.push_back(each);
  }
  return found;
}

// More repeats than this are no drawing of a person; each costs a walk over the tab.
constexpr std::size_t kMostRepeats = 1000;

}  // namespace

Repeats findRepeats(const Network& tab) {
  Repeats repeats;
  Neighbours forward, backward;
  for (const Link& link : tab.links) {
    forward[link.source].push_back(link.destination);
    backward[link.destination].push_back(link.source);
  }
  for (const Layer& start : tab.layers) {
    if (start.type != "RepeatStart" || repeats.all.size() >= kMostRepeats) continue;
    for (const Layer& end : tab.layers) {
      const std::string* id = end.property("ID");
      if (end.type != "RepeatEnd" || repeats.paired.count(end.id) || !id || *id != start.name) continue;
      Repeat repeat{start.id, end.id, {}};
      const std::set<std::int64_t> behind = reached(start.id, end.id, forward),
                                   before = reached(end.id, start.id, backward);
      std::set_intersection(behind.begin(), behind.end(), before.begin(), before.end(),
                            std::inserter(repeat.members, repeat.members.end()));
      repeat.members.erase(start.id);
      repeat.members.erase(end.id);
      repeats.paired.insert({start.id, end.id});
      repeats.all.push_back(std::move(repeat));
      break;
    }
  }
  const auto smaller = [&](std::size_t a, std::size_t b) {
    return repeats.all[a].members.size() < repeats.all[b].members.size();
  };
  for (std::size_t i = 0; i < repeats.all.size(); ++i) {
    for (const std::int64_t member : repeats.all[i].members) {
      const auto [known, isNew] = repeats.innermost.emplace(member, i);
      if (!isNew && smaller(i, known->second)) known->second = i;
    }
    for (std::size_t other = 0; other < repeats.all.size(); ++other) {
      std::ptrdiff_t& parent = repeats.all[i].parent;
      if (other == i || !repeats.all[other].members.count(repeats.all[i].start)) continue;
      if (parent < 0 || smaller(other, static_cast<std::size_t>(parent))) parent = static_cast<std::ptrdiff_t>(other);
    }
  }
  return repeats;
}

}  // namespace loom::sdc

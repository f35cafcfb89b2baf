// ProjectDelta found by comparing two states: for changes that are no edits, and for those that touch much of a drawing
// at once.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>

#include "widgets/document/project_delta.h"

namespace loom {

namespace {

// A step that replaces one stretch by another, as elements that went and elements that came.
template <class T>
std::pair<ListStep<T>, ListStep<T>> stretch(const std::vector<T>& from, const std::vector<T>& to) {
  std::size_t head = 0, tail = 0;
  const std::size_t least = std::min(from.size(), to.size());
  while (head < least && from[head] == to[head]) ++head;
  while (tail < least - head && from[from.size() - 1 - tail] == to[to.size() - 1 - tail]) ++tail;
  ListStep<T> went{ListChange::went, {}, {}, {}}, came{ListChange::came, {}, {}, {}};
  for (std::size_t i = head; i < from.size() - tail; ++i) {
    went.at.push_back(i);
    went.before.push_back(from[i]);
  }
  for (std::size_t i = head; i < to.size() - tail; ++i) {
    came.at.push_back(i);
    came.after.push_back(to[i]);
  }
  return {std::move(went), std::move(came)};
}

// The same, element by element, where those that stay keep their order; `less` orders by what an element is called,
// which stands once in each list. Nothing where they do not: then it is one stretch for another.
template <class T>
struct Comings {
  ListStep<T> went{ListChange::went, {}, {}, {}}, came{ListChange::came, {}, {}, {}};
  std::vector<std::pair<std::size_t, std::size_t>> stayed;  // where each stood, and stands
};

template <class T, class Less>
std::optional<Comings<T>> comings(const std::vector<T>& from, const std::vector<T>& to, Less less) {
  // What stands alike at the beginning and at the end, most of it, is not sorted.
  const auto alike = [&](const T& a, const T& b) { return !less(a, b) && !less(b, a); };
  std::size_t head = 0, tail = 0;
  const std::size_t least = std::min(from.size(), to.size());
  while (head < least && alike(from[head], to[head])) ++head;
  while (tail < least - head && alike(from[from.size() - 1 - tail], to[to.size() - 1 - tail])) ++tail;
  const auto sorted = [&](const std::vector<T>& list) {
    std::vector<std::size_t> at(list.size() - head - tail);
    std::iota(at.begin(), at.end(), head);
    std::sort(at.begin(), at.end(), [&](std::size_t a, std::size_t b) { return less(list[a], list[b]); });
    return at;
  };
  const std::vector<std::size_t> before = sorted(from), after = sorted(to);
  const auto twice = [&](const std::vector<T>& list, const std::vector<std::size_t>& at) {
    for (std::size_t i = 1; i < at.size(); ++i)
      if (!less(list[at[i - 1]], list[at[i]])) return true;
    return false;
  };
  if (twice(from, before) || twice(to, after)) return std::nullopt;
  Comings<T> found;
  for (std::size_t i = 0; i < head; ++i) found.stayed.emplace_back(i, i);
  for (std::size_t i = 1; i <= tail; ++i) found.stayed.emplace_back(from.size() - i, to.size() - i);
  std::size_t next = 0;
  for (const std::size_t old : before) {
    for (; next < after.size() && less(to[after[next]], from[old]); ++next) found.came.at.push_back(after[next]);
    if (next < after.size() && !less(from[old], to[after[next]]))
      found.stayed.emplace_back(old, after[next++]);
    else
      found.went.at.push_back(old);
  }
  for (; next < after.size(); ++next) found.came.at.push_back(after[next]);
  std::sort(found.stayed.begin(), found.stayed.end());
  if (!std::is_sorted(found.stayed.begin(), found.stayed.end(),
                      [](const auto& a, const auto& b) { return a.second < b.second; }))
    return std::nullopt;
  std::sort(found.went.at.begin(), found.went.at.end());
  std::sort(found.came.at.begin(), found.came.at.end());
  for (const std::size_t at : found.went.at) found.went.before.push_back(from[at]);
  for (const std::size_t at : found.came.at) found.came.after.push_back(to[at]);
  return found;
}

}  // namespace

void ProjectDelta::addBetween(DrawingPlace place, const Network& from, const Network& to) {
  ListStep<Edge> wiresWent, wiresCame;
  if (from.edges != to.edges) {
    if (auto found = comings(from.edges, to.edges, std::less<>()))
      std::tie(wiresWent, wiresCame) = std::pair(std::move(found->went), std::move(found->came));
    else
      std::tie(wiresWent, wiresCame) = stretch(from.edges, to.edges);
  }
  if (!wiresWent.empty()) addWires(place, std::move(wiresWent));
  // Those that stay are told each by itself, or a listener would take all of a stretch for new.
  if (auto found = comings(from.nodes, to.nodes, [](const Node& a, const Node& b) { return a.id < b.id; })) {
    if (!found->went.empty()) addNodes(place, std::move(found->went));
    if (!found->came.empty()) addNodes(place, std::move(found->came));
    ListStep<CardPlace> moved;
    ListStep<Node> changed;
    for (const auto& [was, is] : found->stayed) {
      const Node &before = from.nodes[was], &after = to.nodes[is];
      if (before == after) continue;
      if (!(placeOf(before) == placeOf(after))) {
        moved.at.push_back(is);
        moved.before.push_back(placeOf(before));
        moved.after.push_back(placeOf(after));
      }
      if (sameContent(before, after)) continue;
      changed.at.push_back(is);
      changed.before.push_back(before);
      changed.after.push_back(after);
    }
    if (!moved.empty()) addPlaces(place, std::move(moved));
    if (!changed.empty()) addNodes(place, std::move(changed));
  } else {
    auto [went, came] = stretch(from.nodes, to.nodes);
    if (!went.empty()) addNodes(place, std::move(went));
    if (!came.empty()) addNodes(place, std::move(came));
  }
  if (!wiresCame.empty()) addWires(place, std::move(wiresCame));
  if (from.groups != to.groups) addWhole(place, from.groups, to.groups);
  if (from.comments != to.comments) addWhole(place, from.comments, to.comments);
  if (from.arguments != to.arguments) addWhole(place, from.arguments, to.arguments);
  if (from.words != to.words) addWhole(place, from.words, to.words);
}

ProjectDelta ProjectDelta::between(const Project& before, const Project& after) {
  ProjectDelta delta;
  for (const bool units : {false, true}) {
    const std::vector<Network>&from = units ? before.units : before.networks,
          &to = units ? after.units : after.networks;
    if (!std::equal(from.begin(), from.end(), to.begin(), to.end(),
                    [](const Network& a, const Network& b) { return a.name == b.name; })) {
      auto [went, came] = stretch(from, to);
      if (!went.empty()) delta.addDrawings(units, std::move(went));
      if (!came.empty()) delta.addDrawings(units, std::move(came));
      continue;
    }
    for (std::size_t i = 0; i < from.size(); ++i) delta.addBetween({units, i}, from[i], to[i]);
  }
  if (!same(before.datasets, after.datasets)) delta.addWhole(before.datasets, after.datasets);
  if (!same(before.training, after.training)) delta.addWhole(before.training, after.training);
  if (before.notes != after.notes) delta.addWhole(before.notes, after.notes);
  return delta;
}

}  // namespace loom

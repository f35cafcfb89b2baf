#pragma once
// One step of a list's history, exact in both directions: elements that changed where they stand, that came, or that
// went.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace loom {

enum class ListChange { changed, came, went };

template <class T>
struct ListStep {
  ListChange kind = ListChange::changed;
  std::vector<std::size_t> at;   // ascending: where they stand when they are there
  std::vector<T> before, after;  // changed: one each; came: `after` alone; went: `before` alone

  bool empty() const { return at.empty(); }
};

template <class T>
void insertAt(std::vector<T>& list, const std::vector<std::size_t>& at, const std::vector<T>& come) {
  if (at.empty()) return;
  if (at.front() == list.size()) {
    list.insert(list.end(), come.begin(), come.end());
    return;
  }
  const std::size_t old = list.size();
  list.resize(old + at.size());
  // From the back, so that every element moves once.
  std::size_t from = old, next = at.size();
  for (std::size_t place = list.size(); next > 0; --place) {
    if (at[next - 1] == place - 1)
      list[place - 1] = come[--next];
    else
      list[place - 1] = std::move(list[--from]);
  }
}

template <class T>
void eraseAt(std::vector<T>& list, const std::vector<std::size_t>& at) {
  if (at.empty()) return;
  std::size_t next = 0, kept = at.front();
  for (std::size_t old = kept; old < list.size(); ++old) {
    if (next < at.size() && at[next] == old) {
      ++next;
      continue;
    }
    if (kept != old) list[kept] = std::move(list[old]);
    ++kept;
  }
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(kept), list.end());
}

template <class T>
void apply(const ListStep<T>& step, std::vector<T>& list, bool forward) {
  if (step.kind == ListChange::changed) {
    for (std::size_t i = 0; i < step.at.size(); ++i) list[step.at[i]] = forward ? step.after[i] : step.before[i];
  } else if ((step.kind == ListChange::came) == forward) {
    insertAt(list, step.at, step.kind == ListChange::came ? step.after : step.before);
  } else {
    eraseAt(list, step.at);
  }
}

// `next`, which follows `step` directly, made one with it; both change elements where they stand.
template <class T>
void mergeChanged(ListStep<T>& step, ListStep<T> next) {
  if (next.empty()) return;
  if (step.empty() || step.at.back() < next.at.front()) {
    step.at.insert(step.at.end(), next.at.begin(), next.at.end());
    std::move(next.before.begin(), next.before.end(), std::back_inserter(step.before));
    std::move(next.after.begin(), next.after.end(), std::back_inserter(step.after));
    return;
  }
  // Those of both first; what is new is merged in, all of it at once: it may be most of a drawing.
  std::vector<std::size_t> fresh;
  std::size_t place = 0;
  for (std::size_t i = 0; i < next.at.size(); ++i) {
    place = static_cast<std::size_t>(
        std::lower_bound(step.at.begin() + static_cast<std::ptrdiff_t>(place), step.at.end(), next.at[i]) -
        step.at.begin());
    if (place < step.at.size() && step.at[place] == next.at[i])
      step.after[place] = std::move(next.after[i]);
    else
      fresh.push_back(i);
  }
  if (fresh.empty()) return;
  std::size_t old = step.at.size(), to = old + fresh.size();
  step.at.resize(to);
  step.before.resize(to);
  step.after.resize(to);
  while (!fresh.empty()) {
    --to;
    const std::size_t i = fresh.back();
    if (old > 0 && step.at[old - 1] > next.at[i]) {
      --old;
      step.at[to] = step.at[old];
      step.before[to] = std::move(step.before[old]);
      step.after[to] = std::move(step.after[old]);
    } else {
      step.at[to] = next.at[i];
      step.before[to] = std::move(next.before[i]);
      step.after[to] = std::move(next.after[i]);
      fresh.pop_back();
    }
  }
}

// Leaves out what is as it was.
template <class T, class Unchanged>
void dropUnchanged(ListStep<T>& step, Unchanged unchanged) {
  if (step.kind != ListChange::changed) return;
  std::vector<std::size_t> same;
  for (std::size_t i = 0; i < step.at.size(); ++i)
    if (unchanged(step.before[i], step.after[i])) same.push_back(i);
  eraseAt(step.at, same);
  eraseAt(step.before, same);
  eraseAt(step.after, same);
}

}  // namespace loom

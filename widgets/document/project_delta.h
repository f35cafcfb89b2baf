#pragma once
// The difference of two projects, small enough to keep a thousand of them: of nodes and edges only the stretch that differs.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/network/project.h"
#include "widgets/document/project_change.h"

namespace loom {

// before[at, at + before.size()) was replaced by `after`.
template <class T>
struct Splice {
  std::size_t at = 0;
  std::vector<T> before, after;

  bool empty() const { return before.empty() && after.empty(); }
  static Splice between(const std::vector<T>& from, const std::vector<T>& to) {
    std::size_t head = 0, tail = 0;
    const std::size_t least = std::min(from.size(), to.size());
    while (head < least && from[head] == to[head]) ++head;
    while (tail < least - head && from[from.size() - 1 - tail] == to[to.size() - 1 - tail]) ++tail;
    const auto slice = [&](const std::vector<T>& all) {
      return std::vector<T>(all.begin() + static_cast<std::ptrdiff_t>(head), all.end() - static_cast<std::ptrdiff_t>(tail));
    };
    return {head, slice(from), slice(to)};
  }
  void apply(std::vector<T>& all, bool forward) const {
    const std::vector<T>& gone = forward ? before : after;
    const std::vector<T>& come = forward ? after : before;
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
    const auto where = all.erase(first, first + static_cast<std::ptrdiff_t>(gone.size()));
    all.insert(where, come.begin(), come.end());
  }
};

class ProjectDelta {
 public:
  static ProjectDelta between(const Project& before, const Project& after);
  bool empty() const;
  void apply(Project& project, bool forward) const;
  ProjectChange change(bool forward) const;

 private:
  struct OfNetwork {
    std::string name;
    Splice<Node> nodes;
    Splice<Edge> edges;
  };
  template <class T>
  using Swap = std::optional<std::pair<T, T>>;

  std::vector<OfNetwork> m_networks;
  Swap<std::vector<Network>> m_list;  // set when networks came, went or changed their names; m_networks is then empty
  Swap<std::vector<DatasetSpec>> m_datasets;
  Swap<TrainingSpec> m_training;
  Swap<std::string> m_notes;
};

}  // namespace loom

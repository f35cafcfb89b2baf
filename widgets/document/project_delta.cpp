#include "widgets/document/project_delta.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <unordered_map>

namespace loom {

namespace {

auto parts(const DatasetSpec& spec) {
  return std::tie(spec.name, spec.csv, spec.prepare, spec.ownPrepare, spec.extra);
}
auto parts(const UpdateSpec& spec) {
  return std::tie(spec.network, spec.dataset, spec.parameters, spec.decayExclude, spec.optimizer, spec.schedule,
                  spec.warmup, spec.every);
}
template <class T>
bool sameParts(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return parts(x) == parts(y); });
}

// As values of JSON 1 and 1.0 are the same; as text of a file they are not, and undo gives that back byte for byte.
std::string written(const std::vector<Json>& values) {
  std::string text;
  for (const Json& value : values) text += value.dump() + '\n';
  return text;
}
std::string written(const std::string&) {
  return {};
}
std::string written(const CardPlace&) {
  return {};
}
std::string written(const Edge&) {
  return {};
}
std::string written(const Comment&) {
  return {};
}
std::string written(const UnitWords&) {
  return {};
}
std::string written(const Node& node) {
  return written(std::vector{node.values, node.repeat});
}
std::string written(const Group& group) {
  return written(std::vector{group.repeat});
}
std::string written(const Argument& argument) {
  return written(std::vector{argument.defaultValue, argument.range});
}
std::string written(const DatasetSpec& spec) {
  return written(spec.prepare) + written(std::vector{spec.extra});
}
std::string written(const UpdateSpec& spec) {
  return written(std::vector{spec.optimizer, spec.schedule, spec.warmup});
}
template <class T>
requires(!std::is_same_v<T, Json>) std::string written(const std::vector<T>& list) {
  std::string text;
  for (const T& each : list) text += written(each);
  return text;
}
std::string written(const TrainingSpec& training) {
  return written(training.updates) + written(std::vector{training.settings});
}

template <class T>
bool alike(const T& a, const T& b) {
  return a == b;
}
bool alike(const std::vector<DatasetSpec>& a, const std::vector<DatasetSpec>& b) {
  return same(a, b);
}
bool alike(const TrainingSpec& a, const TrainingSpec& b) {
  return same(a, b);
}
template <class T>
bool unchanged(const T& a, const T& b) {
  return alike(a, b) && written(a) == written(b);
}

std::vector<Group>& whole(Network& network, const std::vector<Group>*) {
  return network.groups;
}
std::vector<Comment>& whole(Network& network, const std::vector<Comment>*) {
  return network.comments;
}
std::vector<Argument>& whole(Network& network, const std::vector<Argument>*) {
  return network.arguments;
}
UnitWords& whole(Network& network, const UnitWords*) {
  return network.words;
}
std::string& whole(Network& network, const std::string*) {
  return network.name;
}
std::vector<DatasetSpec>& whole(Project& project, const std::vector<DatasetSpec>*) {
  return project.datasets;
}
TrainingSpec& whole(Project& project, const TrainingSpec*) {
  return project.training;
}
std::string& whole(Project& project, const std::string*) {
  return project.notes;
}

}  // namespace

bool sameContent(const Node& a, const Node& b) {
  return a.id == b.id && a.layer == b.layer && a.values == b.values && a.shares == b.shares && a.unit == b.unit &&
         a.repeat == b.repeat && a.group == b.group;
}

bool same(const std::vector<DatasetSpec>& a, const std::vector<DatasetSpec>& b) {
  return sameParts(a, b);
}
bool same(const TrainingSpec& a, const TrainingSpec& b) {
  return sameParts(a.updates, b.updates) && std::tie(a.validation, a.validationNetwork, a.settings) ==
                                                std::tie(b.validation, b.validationNetwork, b.settings);
}

ProjectIndex::ProjectIndex(const Project& project) {
  for (const Network& network : project.networks) networks.emplace_back(network);
  for (const Network& unit : project.units) units.emplace_back(unit);
}

// What each kind of step does.
struct DeltaSteps {
  template <class T>
  using OfDrawing = ProjectDelta::OfDrawing<T>;
  using Drawings = ProjectDelta::Drawings;
  template <class T>
  using WholeOf = ProjectDelta::WholeOf<T>;
  template <class T>
  using Swap = ProjectDelta::Swap<T>;

  struct Apply {
    Project& project;
    ProjectIndex& index;
    bool forward;

    void operator()(const OfDrawing<Node>& step) const {
      Network& network = step.drawing.in(project);
      NetworkIndex& links = step.drawing.in(index);
      if (step.list.kind == ListChange::changed) {
        for (std::size_t i = 0; i < step.list.at.size(); ++i) {
          Node& node = network.nodes[step.list.at[i]];
          const CardPlace place = placeOf(node);
          const std::string was = node.id;
          node = forward ? step.list.after[i] : step.list.before[i];
          setPlace(node, place);
          if (node.id != was) links.nodeRenamed(network, step.list.at[i], was);
        }
        return;
      }
      loom::apply(step.list, network.nodes, forward);
      if ((step.list.kind == ListChange::came) == forward)
        links.nodesCame(network, step.list.at);
      else
        links.nodesWent(network, step.list.at);
    }
    void operator()(const OfDrawing<CardPlace>& step) const {
      Network& network = step.drawing.in(project);
      for (std::size_t i = 0; i < step.list.at.size(); ++i)
        setPlace(network.nodes[step.list.at[i]], forward ? step.list.after[i] : step.list.before[i]);
    }
    void operator()(const OfDrawing<Edge>& step) const {
      Network& network = step.drawing.in(project);
      NetworkIndex& links = step.drawing.in(index);
      loom::apply(step.list, network.edges, forward);
      if (step.list.kind == ListChange::changed) {
        for (const std::size_t at : step.list.at) links.wireChanged(network, at);
      } else if ((step.list.kind == ListChange::came) == forward) {
        links.wiresCame(network, step.list.at);
      } else {
        links.wiresWent(step.list.at);
      }
    }
    void operator()(const Drawings& step) const {
      std::vector<Network>& drawings = step.units ? project.units : project.networks;
      std::vector<NetworkIndex>& indexes = step.units ? index.units : index.networks;
      loom::apply(step.list, drawings, forward);
      if ((step.list.kind == ListChange::came) == forward) {
        std::vector<NetworkIndex> made;
        for (const std::size_t at : step.list.at) made.emplace_back(drawings[at]);
        insertAt(indexes, step.list.at, made);
      } else {
        eraseAt(indexes, step.list.at);
      }
    }
    template <class T>
    void operator()(const WholeOf<T>& step) const {
      whole(step.drawing.in(project), static_cast<const T*>(nullptr)) = forward ? step.after : step.before;
    }
    template <class T>
    void operator()(const Swap<T>& step) const {
      whole(project, static_cast<const T*>(nullptr)) = forward ? step.after : step.before;
    }
  };

  // Steps after which everything stands where it stood: what they change in a row may be taken together.
  struct MovesNothing {
    template <class T>
    bool operator()(const OfDrawing<T>& step) const {
      return step.list.kind == ListChange::changed;
    }
    bool operator()(const Drawings&) const { return false; }
    template <class T>
    bool operator()(const T&) const {
      return true;
    }
  };

  struct Join {  // true: `next` is in `step` now
    template <class T>
    bool operator()(OfDrawing<T>& step, OfDrawing<T>& next) const {
      if (!(step.drawing == next.drawing) || next.list.kind != ListChange::changed ||
          step.list.kind != ListChange::changed)
        return false;
      mergeChanged(step.list, std::move(next.list));
      return true;
    }
    template <class T>
    bool operator()(WholeOf<T>& step, WholeOf<T>& next) const {
      if (!(step.drawing == next.drawing)) return false;
      step.after = std::move(next.after);
      return true;
    }
    template <class T>
    bool operator()(Swap<T>& step, Swap<T>& next) const {
      step.after = std::move(next.after);
      return true;
    }
    template <class T, class U>
    bool operator()(T&, U&) const {
      return false;
    }
  };

  struct Tidy {  // true: nothing is left
    template <class T>
    bool operator()(OfDrawing<T>& step) const {
      dropUnchanged(step.list, [](const T& a, const T& b) { return unchanged(a, b); });
      return step.list.empty();
    }
    bool operator()(Drawings& step) const { return step.list.empty(); }
    template <class T>
    bool operator()(T& step) const {
      return unchanged(step.before, step.after);
    }
  };

  // What became of a drawing, over all steps.
  struct Seen {
    struct One {
      std::string id;
      bool was = false, is = false, content = false, place = false;
    };
    std::vector<One> nodes;  // as they were first met
    std::unordered_map<std::string, std::size_t> places;
    std::vector<const ListStep<CardPlace>*> moves;  // looked at in the end: they may name every node of a large drawing
    std::vector<std::pair<const Edge*, int>> wires;
    NetworkChange change;

    One& meet(const std::string& id, bool before, bool after) {
      const auto [place, isNew] = places.emplace(id, nodes.size());
      if (isNew) nodes.push_back({id, before});
      nodes[place->second].is = after;
      return nodes[place->second];
    }

    void tell() {
      // The longest list is told as it stands; a node of another is met, so that none is told twice.
      std::stable_sort(moves.begin(), moves.end(),
                       [](const auto* a, const auto* b) { return a->at.size() > b->at.size(); });
      for (std::size_t list = moves.size(); list-- > 0;)
        for (std::size_t i = 0; i < moves[list]->at.size(); ++i) {
          const CardPlace &before = moves[list]->before[i], &after = moves[list]->after[i];
          if (before.x == after.x && before.y == after.y) continue;  // only the file says so now
          const auto known = places.empty() ? places.end() : places.find(after.node);
          if (known != places.end())
            nodes[known->second].place = true;
          else if (list > 0)
            meet(after.node, true, true).place = true;
          else
            change.moved.push_back(after.node);
        }
      for (One& one : nodes) {
        if (!one.was && one.is) change.added.push_back(one.id);
        if (one.was && !one.is) change.removed.push_back(one.id);
        if (!one.was || !one.is) continue;
        if (one.content) change.changed.push_back(one.id);
        if (one.place) change.moved.push_back(std::move(one.id));
      }
      std::sort(wires.begin(), wires.end(), [](const auto& a, const auto& b) { return *a.first < *b.first; });
      for (std::size_t i = 0; i < wires.size();) {
        const Edge& edge = *wires[i].first;
        int count = 0;
        for (; i < wires.size() && *wires[i].first == edge; ++i) count += wires[i].second;
        if (count >= 0) change.wired.push_back(edge);
        if (count <= 0) change.unwired.push_back(edge);
      }
    }
  };
  struct Fold {
    bool forward;
    ProjectChange& change;
    std::vector<std::pair<DrawingPlace, Seen>> drawings;

    Seen& of(DrawingPlace place) {
      for (auto& [other, seen] : drawings)
        if (other == place) return seen;
      return drawings.emplace_back(place, Seen{}).second;
    }
    void operator()(const OfDrawing<Node>& step) {
      Seen& seen = of(step.drawing);
      if (step.list.kind == ListChange::changed) {
        for (std::size_t i = 0; i < step.list.at.size(); ++i) {
          const std::string &before = (forward ? step.list.before : step.list.after)[i].id,
                            &after = (forward ? step.list.after : step.list.before)[i].id;
          if (before != after) seen.meet(before, true, false);
          seen.meet(after, before == after, true).content = true;
        }
        return;
      }
      const bool came = (step.list.kind == ListChange::came) == forward;
      for (const Node& node : step.list.kind == ListChange::came ? step.list.after : step.list.before) {
        Seen::One& one = seen.meet(node.id, !came, came);
        one.content = one.place = true;
      }
    }
    void operator()(const OfDrawing<CardPlace>& step) { of(step.drawing).moves.push_back(&step.list); }
    void operator()(const OfDrawing<Edge>& step) {
      Seen& seen = of(step.drawing);
      seen.change.edges = true;
      for (const Edge& edge : step.list.before) seen.wires.emplace_back(&edge, forward ? -1 : 1);
      for (const Edge& edge : step.list.after) seen.wires.emplace_back(&edge, forward ? 1 : -1);
    }
    void operator()(const Drawings& step) {
      change.networkList = true;
      const bool came = (step.list.kind == ListChange::came) == forward;
      if (came)
        for (const Network& drawing : step.list.kind == ListChange::came ? step.list.after : step.list.before)
          change.came.push_back(drawing.name);
      // What is known already stands elsewhere now, or has gone.
      std::erase_if(drawings, [&](auto& known) {
        auto& [unit, at] = known.first;
        if (unit != step.units) return false;
        std::size_t now = at;
        for (const std::size_t place : step.list.at) {
          if (came && place <= now) ++now;
          if (!came && place == at) return true;
          if (!came && place < at) --now;
        }
        at = now;
        return false;
      });
    }
    void operator()(const WholeOf<std::string>&) { change.networkList = true; }
    void operator()(const WholeOf<std::vector<Group>>& step) { of(step.drawing).change.groups = true; }
    void operator()(const WholeOf<std::vector<Comment>>& step) { of(step.drawing).change.comments = true; }
    void operator()(const WholeOf<std::vector<Argument>>& step) { of(step.drawing).change.arguments = true; }
    void operator()(const WholeOf<UnitWords>& step) { of(step.drawing).change.arguments = true; }
    void operator()(const Swap<std::vector<DatasetSpec>>&) { change.datasets = true; }
    void operator()(const Swap<TrainingSpec>&) { change.training = true; }
    void operator()(const Swap<std::string>&) { change.notes = true; }
  };
};

void ProjectDelta::add(Step step) {
  const auto moves = [](const Step& each) { return !std::visit(DeltaSteps::MovesNothing(), each); };
  if (!moves(step))
    for (auto earlier = m_steps.rbegin(); earlier != m_steps.rend() && !moves(*earlier); ++earlier)
      if (std::visit(DeltaSteps::Join(), *earlier, step)) return;
  m_steps.push_back(std::move(step));
}

void ProjectDelta::append(ProjectDelta next) {
  for (Step& step : next.m_steps) add(std::move(step));
  tidy();
}

void ProjectDelta::tidy() {
  std::erase_if(m_steps, [](Step& step) { return std::visit(DeltaSteps::Tidy(), step); });
}

void ProjectDelta::apply(Project& project, ProjectIndex& index, bool forward) const {
  const DeltaSteps::Apply apply{project, index, forward};
  if (forward)
    for (const Step& step : m_steps) std::visit(apply, step);
  else
    for (auto step = m_steps.rbegin(); step != m_steps.rend(); ++step) std::visit(apply, *step);
}

ProjectChange ProjectDelta::change(const Project& project, bool forward) const {
  ProjectChange change;
  DeltaSteps::Fold fold{forward, change, {}};
  if (forward)
    for (const Step& step : m_steps) std::visit(fold, step);
  else
    for (auto step = m_steps.rbegin(); step != m_steps.rend(); ++step) std::visit(fold, *step);
  for (auto& [place, seen] : fold.drawings) {
    seen.tell();
    seen.change.network = place.in(project).name;
    change.networks.push_back(std::move(seen.change));
  }
  return change;
}

}  // namespace loom

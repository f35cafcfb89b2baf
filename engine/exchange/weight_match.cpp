#include "engine/exchange/weight_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/base/words.h"

namespace loom {
namespace {

// What a tensor is within its layer, whoever named it.
std::string roleOf(std::string_view leaf) {
  static const std::map<std::string, std::string, std::less<>> roles = {{"gamma", "weight"},
                                                                        {"scale", "weight"},
                                                                        {"kernel", "weight"},
                                                                        {"beta", "bias"},
                                                                        {"offset", "bias"},
                                                                        {"running_mean", "mean"},
                                                                        {"moving_mean", "mean"},
                                                                        {"running_var", "variance"},
                                                                        {"moving_variance", "variance"},
                                                                        {"running_variance", "variance"},
                                                                        {"var", "variance"}};
  const auto found = roles.find(leaf);
  return found == roles.end() ? std::string(leaf) : found->second;
}

std::vector<std::string> splitPath(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.' || c == '/' || c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  std::erase(parts, "");
  return parts;
}

// A layer with the tensors that it holds.
struct Module {
  std::vector<std::string> path;
  std::map<std::string, std::size_t> tensors;  // by role
  std::string spelling;                        // the path without what spellings differ in
};

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

std::vector<Module> modulesOf(std::span<const NamedShape> named, const std::vector<bool>& taken) {
  std::vector<Module> modules;
  std::map<std::vector<std::string>, std::size_t> places;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (taken[i]) continue;
    std::vector<std::string> path = splitPath(named[i].name);
    if (path.empty()) continue;
    const std::string role = roleOf(path.back());
    path.pop_back();
    const auto [place, isNew] = places.emplace(path, modules.size());
    if (isNew) {
      Module& module = modules.emplace_back();
      module.path = path;
      for (const std::string& part : path)
        for (const char c : lower(part))
          if (c != '_' && c != '-') module.spelling += c;
    }
    modules[place->second].tensors.emplace(role, i);
  }
  return modules;
}

// "conv12" is the stem "conv" and the number 12; "0" an empty stem.
std::pair<std::string, std::optional<std::int64_t>> stemAndNumber(const std::string& part) {
  const std::size_t last = part.find_last_not_of("0123456789");
  const std::size_t digits = last == part.npos ? 0 : last + 1;
  if (digits == part.size() || part.size() - digits > 15) return {part, {}};
  return {part.substr(0, digits), std::stoll(part.substr(digits))};
}

// Whether numbers say that `a` stands before `b`: layer1.0.conv2 before layer1.2.conv1, but nothing of conv1 and bn1.
bool numberedBefore(const Module& a, const Module& b) {
  for (std::size_t i = 0; i < std::min(a.path.size(), b.path.size()); ++i) {
    if (a.path[i] == b.path[i]) continue;
    const auto [stemA, numberA] = stemAndNumber(a.path[i]);
    const auto [stemB, numberB] = stemAndNumber(b.path[i]);
    return stemA == stemB && numberA && numberB && *numberA < *numberB;
  }
  return false;
}

// Steps from the one to the other in the tree of modules: what stands nearer was used sooner after it.
std::size_t distance(const Module& a, const Module& b) {
  std::size_t common = 0;
  while (common < std::min(a.path.size(), b.path.size()) && a.path[common] == b.path[common]) ++common;
  return a.path.size() + b.path.size() - 2 * common;
}

class Matcher {
 public:
  Matcher(std::span<const NamedShape> parameters, std::span<const NamedShape> tensors)
      : m_parameters(parameters), m_tensors(tensors), m_have(parameters.size()), m_used(tensors.size()) {}

  WeightMatch run() {
    byName();
    byPath();
    byOrder();
    for (std::size_t i = 0; i < m_have.size(); ++i)
      if (!m_have[i]) m_match.missing.push_back(i);
    for (std::size_t i = 0; i < m_used.size(); ++i)
      if (!m_used[i]) m_match.leftOver.push_back(i);
    for (auto* pairs : {&m_match.pairs, &m_match.shapeDiffers})
      std::sort(pairs->begin(), pairs->end(),
                [](const WeightPair& a, const WeightPair& b) { return a.parameter < b.parameter; });
    return std::move(m_match);
  }

 private:
  void pair(std::size_t parameter, std::size_t tensor, MatchedBy by) {
    if (m_have[parameter] || m_used[tensor]) return;
    m_have[parameter] = m_used[tensor] = true;
    const bool equal = m_parameters[parameter].shape == m_tensors[tensor].shape;
    (equal ? m_match.pairs : m_match.shapeDiffers).push_back({parameter, tensor, by});
  }

  void byName() {
    std::map<std::string_view, std::size_t> tensors;
    for (std::size_t i = 0; i < m_tensors.size(); ++i) tensors.emplace(m_tensors[i].name, i);
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
      if (const auto found = tensors.find(m_parameters[i].name); found != tensors.end())
        pair(i, found->second, MatchedBy::name);
  }

  void byPath() {
    const std::vector<Module> ours = modulesOf(m_parameters, m_have), theirs = modulesOf(m_tensors, m_used);
    std::map<std::string, std::vector<const Module*>> bySpelling;
    for (const Module& module : theirs) bySpelling[module.spelling].push_back(&module);
    std::map<std::string, int> own;
    for (const Module& module : ours) ++own[module.spelling];
    for (const Module& module : ours) {
      const auto found = bySpelling.find(module.spelling);
      if (found == bySpelling.end() || found->second.size() != 1 || own[module.spelling] != 1) continue;
      for (const auto& [role, parameter] : module.tensors)
        if (const auto tensor = found->second[0]->tensors.find(role); tensor != found->second[0]->tensors.end())
          pair(parameter, tensor->second, MatchedBy::path);
    }
  }

  // What has to be equal for one layer to take the weights of another: the roles of its tensors and their shapes.
  static std::string signature(const Module& module, std::span<const NamedShape> named) {
    std::string text;
    for (const auto& [role, index] : module.tensors) text += role + named[index].shape.toString() + ';';
    return text;
  }

  void byOrder() {
    const std::vector<Module> ours = modulesOf(m_parameters, m_have), theirs = modulesOf(m_tensors, m_used);
    // Quadratic: no network that people draw has so many layers, but a hostile file may.
    if (ours.empty() || theirs.empty() || ours.size() > kMostModules || theirs.size() > kMostModules) return;
    std::map<std::string, std::vector<std::size_t>> alike;  // those of theirs that may take each other's place
    std::set<std::string> wanted;
    for (const Module& module : ours) wanted.insert(signature(module, m_parameters));
    for (std::size_t i = 0; i < theirs.size(); ++i)
      if (std::string text = signature(theirs[i], m_tensors); wanted.count(text)) alike[std::move(text)].push_back(i);
    // How many have to come first, of those that have a place here at all.
    std::vector<int> before(theirs.size());
    const auto eachPlaceable = [&alike](auto call) {
      for (const auto& [text, members] : alike)
        for (const std::size_t member : members) call(member);
    };
    eachPlaceable([&](std::size_t a) {
      eachPlaceable([&](std::size_t b) { before[b] += numberedBefore(theirs[a], theirs[b]); });
    });

    std::vector<std::pair<const Module*, const Module*>> found;
    const Module* last = nullptr;
    for (const Module& module : ours) {
      const auto members = alike.find(signature(module, m_parameters));
      if (members == alike.end()) continue;
      const std::vector<std::size_t> nearest = nearestOf(members->second, theirs, before, last);
      if (nearest.empty()) continue;
      if (nearest.size() > 1) {
        m_match.doubt = fmt::format(
            "{} could be {} or {}: shapes and order leave more than one answer, so it and what follows are not matched",
            joined(module), joined(theirs[nearest[0]]), joined(theirs[nearest[1]]));
        break;
      }
      last = &theirs[nearest[0]];
      std::erase(members->second, nearest[0]);
      eachPlaceable([&](std::size_t other) { before[other] -= numberedBefore(*last, theirs[other]); });
      found.emplace_back(&module, last);
    }
    // A few layers that happen to fit are no answer.
    if (2 * found.size() < std::min(ours.size(), theirs.size())) return;
    for (const auto& [own, other] : found)
      for (const auto& [role, parameter] : own->tensors) pair(parameter, other->tensors.at(role), MatchedBy::order);
  }

  // Of the members before which no other has to come those that stand nearest to the last one.
  static std::vector<std::size_t> nearestOf(const std::vector<std::size_t>& members, const std::vector<Module>& theirs,
                                            const std::vector<int>& before, const Module* last) {
    std::vector<std::size_t> nearest;
    std::size_t least = 0;
    for (const std::size_t i : members) {
      if (before[i] > 0) continue;
      const std::size_t far = last ? distance(*last, theirs[i]) : theirs[i].path.size();
      if (far < least || nearest.empty()) {
        nearest.assign(1, i);
        least = far;
      } else if (far == least) {
        nearest.push_back(i);
      }
    }
    return nearest;
  }

  static std::string joined(const Module& module) {
    std::string text;
    for (const std::string& part : module.path) text += (text.empty() ? "" : "/") + part;
    return text;
  }

  static constexpr std::size_t kMostModules = 2000;
  std::span<const NamedShape> m_parameters, m_tensors;
  std::vector<bool> m_have, m_used;
  WeightMatch m_match;
};

Json names(const std::vector<std::size_t>& indices, std::span<const NamedShape> named) {
  Json list = Json::array();
  for (const std::size_t index : indices) list.push_back(named[index].name);
  return list;
}

}  // namespace

WeightMatch matchWeights(std::span<const NamedShape> parameters, std::span<const NamedShape> tensors) {
  return Matcher(parameters, tensors).run();
}

bool isWeightName(std::string_view tensor) {
  return tensor.find('#') == tensor.npos && !tensor.ends_with("num_batches_tracked");
}

std::string matchText(const WeightMatch& match, std::span<const NamedShape> parameters,
                      std::span<const NamedShape> tensors) {
  const auto byOrder = std::count_if(match.pairs.begin(), match.pairs.end(),
                                     [](const WeightPair& pair) { return pair.by == MatchedBy::order; });
  std::string text = fmt::format("{} matched{}, {} of another shape, {} missing, {} left over\n",
                                 counted(static_cast<std::int64_t>(match.pairs.size()), "weights"),
                                 byOrder ? fmt::format(" ({} by their order)", byOrder) : "", match.shapeDiffers.size(),
                                 match.missing.size(), match.leftOver.size());
  if (!match.doubt.empty()) text += "  " + match.doubt + "\n";
  for (const WeightPair& pair : match.shapeDiffers)
    text += fmt::format("  {} is {}, but {} of the file is {}\n", parameters[pair.parameter].name,
                        parameters[pair.parameter].shape.toString(), tensors[pair.tensor].name,
                        tensors[pair.tensor].shape.toString());
  for (const std::size_t index : match.missing)
    text += fmt::format("  missing: {} {}\n", parameters[index].name, parameters[index].shape.toString());
  for (const std::size_t index : match.leftOver)
    text += fmt::format("  left over: {} {}\n", tensors[index].name, tensors[index].shape.toString());
  return text;
}

Json toJson(const WeightMatch& match, std::span<const NamedShape> parameters, std::span<const NamedShape> tensors) {
  Json differs = Json::array();
  for (const WeightPair& pair : match.shapeDiffers)
    differs.push_back({{"parameter", parameters[pair.parameter].name}, {"tensor", tensors[pair.tensor].name}});
  Json json = {{"matched", match.pairs.size()},
               {"shape_differs", std::move(differs)},
               {"missing", names(match.missing, parameters)},
               {"left_over", names(match.leftOver, tensors)}};
  if (!match.doubt.empty()) json["doubt"] = match.doubt;
  return json;
}

}  // namespace loom

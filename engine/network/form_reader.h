#pragma once
// The form of a project's file: which keys stand where and of which type they are. Every fault is told with its place.
#include <fmt/format.h>

#include <algorithm>

#include "engine/catalogue/text.h"
#include "engine/network/graph.h"
#include "engine/network/project.h"

namespace loom {

class FormReader {
 protected:
  void report(std::string field, std::string message, std::string network = {}, std::string node = {}) {
    m_problems.push_back({.network = std::move(network),
                          .node = std::move(node),
                          .field = std::move(field),
                          .message = std::move(message)});
  }

  static std::string join(const std::string& path, std::string_view key) {
    return path.empty() ? clipped(key) : path + "." + clipped(key);
  }

  static std::string_view nameOf(Json::value_t type) {
    return type == Json::value_t::object    ? "an object"
           : type == Json::value_t::array   ? "a list"
           : type == Json::value_t::boolean ? "true or false"
                                            : "a text";
  }

  // The value under `key` when it is there and of the type; a problem when it is of another.
  const Json* child(const Json& object, const std::string& path, const char* key, Json::value_t type) {
    const auto found = object.find(key);
    if (found == object.end()) return nullptr;
    if (found->type() == type) return &*found;
    report(join(path, key), fmt::format("{} is {}, but {} is wanted", join(path, key), shown(*found), nameOf(type)));
    return nullptr;
  }

  bool text(const Json& object, const std::string& path, const char* key, std::string& into) {
    const Json* found = child(object, path, key, Json::value_t::string);
    if (found) into = found->get<std::string>();
    return found != nullptr;
  }

  void onlyKeys(const Json& object, const std::string& path, const std::vector<std::string>& known,
                std::string_view network = {}, const std::vector<std::string>& elsewhere = {}) {
    for (const auto& [key, value] : object.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      report(join(path, key), (path.empty() ? "" : path + ": ") + unknownKey(key, known, elsewhere),
             std::string(network));
    }
  }

  void checkName(const std::string& kind, const std::string& name, const std::string& path) {
    if (!isValidId(name))
      report(path, fmt::format("'{}' is no name for a {}: a letter, then letters, digits, '_' and '-', at most 128",
                               clipped(name), kind));
  }

  std::vector<Problem> m_problems;
};

// `networks` and `units` of a project's file; `problems` gains what is wrong with their form.
void readDrawings(const Json& file, Project& project, std::vector<Problem>& problems);

}  // namespace loom

#pragma once
// What a step through the undo history changed, by ids. Listeners refresh just that.
#include <string>
#include <utility>
#include <vector>

#include <QMetaType>

namespace loom {

struct NetworkChange {
  std::string network;
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> changed;  // layer, fields or sharing
  std::vector<std::string> moved;    // only their place
  bool edges = false;

  bool structure() const { return edges || !added.empty() || !removed.empty() || !changed.empty(); }
};

struct ProjectChange {
  std::vector<NetworkChange> networks;
  bool networkList = false;  // networks came, went or changed their names: `networks` is then empty, rebuild from the project
  bool datasets = false;
  bool training = false;
  bool notes = false;
};

}  // namespace loom

Q_DECLARE_METATYPE(loom::NetworkChange)
Q_DECLARE_METATYPE(loom::ProjectChange)

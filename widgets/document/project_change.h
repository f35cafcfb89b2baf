#pragma once
// What a step through the undo history changed, by ids. Listeners refresh just that.
#include <QMetaType>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/network.h"

namespace loom {

struct NetworkChange {
  std::string network;  // or unit
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> changed;  // layer, fields, sharing: anything of a node but its place
  std::vector<std::string> moved;    // their place; also of those in `changed`
  std::vector<Edge> wired;  // wires that are drawn now and were not, or were at another place among those of their port
  std::vector<Edge> unwired;  // and the other way round
  bool edges = false;         // wires came, went or changed their order
  bool groups = false, comments = false, arguments = false;

  // What may change shapes and faults.
  bool structure() const {
    return edges || groups || arguments || !added.empty() || !removed.empty() || !changed.empty();
  }
};

struct ProjectChange {
  std::vector<NetworkChange> networks;
  bool networkList = false;       // networks or units came, went or changed their names
  std::vector<std::string> came;  // with networkList: those that came, also in the place of one that was called so
  bool datasets = false;
  bool training = false;
  bool notes = false;
};

}  // namespace loom

Q_DECLARE_METATYPE(loom::NetworkChange)
Q_DECLARE_METATYPE(loom::ProjectChange)

#pragma once
// Who reads whom in a drawing: the one derived graph of it. Speaks in positions within Network::nodes and
// Network::edges, which change sets keep right: after each change of the network the call that tells of it, with the
// positions that changed. Then a question costs what its answer is long, however large the drawing. Holds no reference
// to the network. One thread at a time (order() remembers its answer). Throws nothing.
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/number_table.h"
#include "engine/network/network.h"

namespace loom {

class NetworkIndex {
 public:
  using Position = std::uint32_t;
  static constexpr Position kNone = std::numeric_limits<Position>::max();

  NetworkIndex() = default;
  explicit NetworkIndex(const Network& network) { rebuild(network); }
  void rebuild(const Network& network);

  // Change sets, told right after the network changed; positions ascend. Of what came: where it stands now; of what
  // went: where it stood. A wire to a node that is not there hangs loose, and is tied when the node comes.
  void nodesCame(const Network& network, std::span<const std::size_t> at);
  void nodesWent(const Network& network, std::span<const std::size_t> at);
  void nodeRenamed(const Network& network, std::size_t at, const std::string& was);
  void wiresCame(const Network& network, std::span<const std::size_t> at);
  void wiresWent(std::span<const std::size_t> at);
  void wireChanged(const Network& network, std::size_t at);

  std::size_t nodeCount() const { return m_links.size(); }
  Position node(std::string_view id) const;  // kNone where there is none; of two of one name the first
  const Node* find(const Network& network, std::string_view id) const {
    const Position at = node(id);
    return at == kNone ? nullptr : &network.nodes[at];
  }
  // Wires that end and begin at a node, in the order of the file.
  std::span<const Position> into(Position node) const { return m_links[node].in; }
  std::span<const Position> outOf(Position node) const { return m_links[node].out; }
  // The nodes at a wire's ends; kNone where it hangs loose.
  Position from(std::size_t wire) const { return m_ends[wire].from; }
  Position to(std::size_t wire) const { return m_ends[wire].to; }
  Position wire(const Network& network, const Edge& edge) const;  // its position; kNone where it is not drawn

  // Everything that a node's output comes to, and everything that its inputs come from; `node` itself among them. By
  // position, 0 or 1. As if the wire `without` were not drawn.
  std::vector<char> behind(Position node, std::size_t without = kNone) const;
  std::vector<char> before(Position node, std::size_t without = kNone) const;
  // The same as a list without the node itself, nearest first.
  std::vector<Position> downstream(Position node) const;
  // The shortest way along wires, both ends included; empty when there is none. From a node to itself: the node alone.
  std::vector<Position> way(Position from, Position to, std::size_t without = kNone) const;

  // Topological, the earlier in the file the earlier where there is a choice; leaves out what stands on circles and
  // behind them. A wire that stands twice counts once each; loose ones do not count.
  const std::vector<Position>& order() const;

  // The same answers as of an index made anew: for tests.
  bool operator==(const NetworkIndex& other) const;

 private:
  struct Links {
    std::vector<Position> in, out;
    bool operator==(const Links&) const = default;
  };
  struct Ends {
    Position from = kNone, to = kNone;
    bool operator==(const Ends&) const = default;
  };
  bool add(const Network& network, std::size_t at);  // under its name; false where another is called so
  static std::size_t hash(std::string_view id) { return std::hash<std::string_view>()(id); }
  template <bool kForward>
  std::vector<char> cone(Position start, std::size_t without) const;
  void tie(const Network& network, std::size_t wire);
  void untie(std::size_t wire);
  void tieLoose(const Network& network);
  void changed() { m_ordered = false; }

  std::vector<std::string> m_ids;  // by node
  NumberTable m_byId;              // of two of one name the first alone
  std::vector<Links> m_links;      // by node
  std::vector<Ends> m_ends;        // by wire
  std::size_t m_loose = 0;         // wires with an end that is not there
  bool m_twice = false;            // two nodes of one name: then changes of nodes make the index anew
  mutable std::vector<Position> m_order;
  mutable bool m_ordered = false;
};

}  // namespace loom

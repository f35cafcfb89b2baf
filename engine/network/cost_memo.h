#pragma once
// What a layer of these values makes of these inputs: shapes and costs, found out once for all nodes that are alike.
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/network/graph.h"

namespace loom {

struct LayerCost {
  struct Weight {
    std::string name;  // behind "<scope>/"
    Shape shape;
    bool isState = false;
  };
  std::vector<Shape> outputs;
  std::int64_t outputValues = 0;
  double multiplyAdds = 0;
  std::vector<Weight> weights;
};

class CostMemo {
 public:
  // Layer and values, as a part of the key: asked for once when a node changes.
  static std::string kindOf(const Node& node) { return node.layer + '\n' + node.values.dump() + '\n'; }
  // Null when the shapes disagree or lowering fails: `problem` then says so. `types`: whether each input is whole
  // numbers.
  std::shared_ptr<const LayerCost> of(const GraphNode& node, const std::string& kind, const std::string& network,
                                      const std::vector<Shape>& inputs, const std::vector<DataType>& types,
                                      NodeFacts& facts, std::vector<Problem>& problems);

 private:
  std::unordered_map<std::string, std::shared_ptr<const LayerCost>> m_known;
};

}  // namespace loom

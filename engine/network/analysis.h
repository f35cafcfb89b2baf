#pragma once
// What follows from a drawing: shapes, problems (all of them, not the first), order, statistics. Fast enough for every
// keystroke: under 2 ms for 200 nodes.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/network/network.h"

namespace loom {

enum class Severity { error, warning };

// What a button can do about a problem. The document (widgets/document) knows how to carry each out.
struct Remedy {
  enum class Kind { none, setField, removeField, removeEdge, addEdge, renameLayer, addNodes } kind = Kind::none;
  std::string label;          // "Set stride of conv_s to 2"
  std::string node;           // setField, removeField, renameLayer: whose; empty = the problem's own
  std::string field;          // setField, removeField
  Json value;                 // setField, renameLayer
  Edge edge;                  // removeEdge, addEdge
  std::vector<Node> nodes{};  // addNodes: under ids that are free
  std::vector<Edge> edges{};  // addNodes: to them and from them
  std::string network{};      // the drawing in which all this is done; empty = the problem's own
};

struct Problem {
  Severity severity = Severity::error;
  std::string network;  // or the unit in which the node stands
  std::string node;     // empty: the network as a whole, or the place named by `field`
  std::string field;    // key of a field of the node, or a path such as "training.optimizer.learning_rate"
  std::optional<Edge> edge;
  std::string message;  // "conv2: the kernel is 5×5, but the input is only 3×3"
  Remedy remedy{};
  // Of what stands in a unit or a repeat: the network that uses it, and the path of the first use with the fault
  // ("stage1/2"), whose first part is a node or a group of that network. Empty otherwise.
  std::string user{};
  std::string use{};
};

struct NodeFacts {
  std::vector<Shape> inputs;   // of one sample
  std::vector<Shape> outputs;  // empty when not known
  bool known = false;
  std::int64_t parameters = 0;
  double multiplyAdds = 0;        // of one sample, forward
  std::int64_t outputValues = 0;  // of one sample
};

struct Analysis {
  std::map<std::string, NodeFacts> nodes;
  std::vector<std::string> order;  // topological, stable by file order; leaves out nodes on cycles
  std::vector<Problem> problems;   // errors first, then by file order
  std::int64_t parameters = 0;     // shared ones once
  double multiplyAdds = 0;
  bool sound() const;  // no error
};

// Of a flat network (flatten.h): no units, no repeats, no expressions.
Analysis analyse(const Network& network);

// An Input that takes a variable of the dataset.
struct DatasetInput {
  std::string node;               // also the name of the program's input tensor
  std::string variable;           // of the dataset
  Shape shape;                    // of one sample
  DataType type = DataType::f32;  // i32 for labels and indices
};
// In file order; those of a sound network, and of an unsound one as far as their fields can be read.
std::vector<DatasetInput> datasetInputs(const Network& network);

struct LowerOptions {
  std::int64_t batch = 1;
  std::uint64_t seed = 1;
  bool training = false;  // behave as in training; the backward part is differentiate()'s work
};

// Throws Error(badProject) with the first problem when the network is not sound. Nodes that lead to no result are left
// out when `training`; otherwise outputs of nodes that nothing consumes become results of kind "output".
Program lower(const Network& network, const LowerOptions& options);
// For prediction: losses and metrics left out; the tensors that fed the losses become results of kind "output".
Program lowerForPrediction(const Network& network, const LowerOptions& options);

}  // namespace loom

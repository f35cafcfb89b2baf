#pragma once
// An ONNX file as plain values: nothing of protobuf is seen outside of the files that
// include model_proto.h or tensor_data.h. Functions of the model
// are written out, so that one flat list of nodes is left; every value has one name.
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/exchange/importer.h"

namespace loom::onnx_file {

using Extents = std::vector<std::int64_t>;

// Product of the extents. Throws Error(badData) where it is negative or above 2^60.
std::int64_t elementsOf(const Extents& extents);

// TensorProto.DataType: what a value is made of.
enum ElementType : int {
  kUnknownType = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16
};
bool isReal(int type);   // a number with a fraction; one of unknown type counts as such
bool isWhole(int type);  // a whole number, signed or not

// A tensor that is known before anything runs. One number may stand for all of them (`uniform`): what shape arithmetic
// makes, a state of zeros for each sample, costs nothing.
struct Constant {
  enum class Kind { real, whole, truth } kind = Kind::real;
  Extents extents;
  int type = kUnknownType;           // as the file has it
  std::vector<float> reals;          // of kind real
  std::vector<std::int64_t> wholes;  // of the others

  std::size_t stored() const { return kind == Kind::real ? reals.size() : wholes.size(); }
  bool uniform() const { return stored() == 1; }
  int elementType() const;  // the file's, or by its kind
  double at(std::size_t i) const;
  std::int64_t whole(std::size_t i) const;
  // Every number, written out.
  std::vector<float> allReals() const;
};
using ConstantPointer = std::shared_ptr<const Constant>;

struct Attribute {
  enum class Kind { real, integer, text, tensor, reals, integers, texts, other } kind = Kind::other;
  double real = 0;
  std::int64_t integer = 0;
  std::string text;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
  ConstantPointer tensor;
};

struct OnnxGraph;

struct OnnxNode {
  std::string name;                 // as the file says; empty where it says none
  std::string op;                   // "Conv"; with its domain before where it is not ONNX's own: "com.microsoft.Gelu"
  std::vector<std::string> inputs;  // names of values, "" = left out
  std::vector<std::string> outputs;
  std::map<std::string, Attribute> attributes;
  std::map<std::string, std::shared_ptr<OnnxGraph>> branches;  // of an If: "then_branch", "else_branch"
  std::vector<std::size_t> standsFor;  // places (in OnnxGraph::nodes) of what a pattern joined into this one

  bool has(const std::string& key) const { return attributes.count(key) > 0; }
  std::int64_t integer(const std::string& key, std::int64_t otherwise) const;
  double real(const std::string& key, double otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  std::vector<std::int64_t> integers(const std::string& key) const;
  const std::string& input(std::size_t i) const;  // "" where there are fewer
  std::string title() const;                      // "/conv1/Conv (Conv)": how a report names it
};

struct Extent {
  std::int64_t value = -1;  // -1: not said, or a name
  std::string symbol;
};

struct OnnxValue {
  std::string name;
  int type = kUnknownType;
  std::optional<std::vector<Extent>> extents;
};

struct OnnxGraph {
  std::string name, producer;
  int opset = 0;
  std::vector<OnnxNode> nodes;                       // in an order in which each comes after what it reads
  std::map<std::string, ConstantPointer> constants;  // initializers
  std::vector<OnnxValue> inputs, outputs;            // inputs without initializers
  std::map<std::string, OnnxValue> known;            // types and shapes that the file tells of values between
  std::vector<ReportItem> remarks;                   // what reading left out
  std::map<std::string, std::string> metadata;       // texts that tools keep beside the graph
};

inline constexpr int kNewestOpset = 25;  // of the operators' versions, from 1 on

// Reads and checks the file and the files of weights that it names, which must lie in its folder or below it. Throws
// Error(badData, missingFile, newerVersion); memory and time are in proportion to the files.
OnnxGraph readModel(const std::filesystem::path& path);

}  // namespace loom::onnx_file

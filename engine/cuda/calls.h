#pragma once
// What a device is asked to do, as values: a plan can be printed, checked for order and overlap, run by an emulator or
// handed to the vendor's libraries, and is the same each time.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/data_type.h"
#include "engine/cuda/kernels/kernel_row.h"
#include "engine/program/stream_ranks.h"

namespace loom::cuda {

// A call's reach into the device's memory. What is read and written stands in two of them.
struct Access {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool write = false;
};

// One of our own kernels: a row of the tables in engine/cuda/kernels, by name.
struct KernelCall {
  std::string kernel;
  Launch launch;
  std::vector<std::byte> arguments;  // one plain struct, passed by value
};

// c = epilogue(alpha op(a) op(b) + beta addend), in cuBLASLt's terms: all matrices are column-major, so a row-major
// product is the product of the transposes with m and n exchanged. op(a) is m x k, op(b) is k x n, c is m x n. Sums in
// f32.
struct MatmulCall {
  enum class Epilogue { none, bias, relu, biasRelu };
  std::int64_t m = 0, n = 0, k = 0;
  bool transposeA = false, transposeB = false;
  DataType factors = DataType::f32;  // of a and b
  DataType result = DataType::f32;   // of c
  bool tf32 = false;                 // f32 factors may be rounded to 11 bits
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t batch = 1, strideA = 0, strideB = 0, strideC = 0;  // elements from one product to the next; 0 = shared
  float alpha = 1, beta = 0;
  Epilogue epilogue = Epilogue::none;
  const std::byte *a = nullptr, *b = nullptr, *bias = nullptr;  // bias: m numbers in c's type, along the columns
  const std::byte* addend = nullptr;                            // as c in all; null: c itself
  std::byte* c = nullptr;
  std::byte* workspace = nullptr;
  std::size_t workspaceBytes = 0;
};

// A graph for cuDNN: the same value goes to the library, to its deviceless finalisation and to an interpreter.
struct DnnTensor {
  int id = 0;
  std::vector<std::int64_t> extents, strides;  // N, C (or O, I), spatial axes; in elements
  DataType type = DataType::f32;
  bool isVirtual = false;  // between two operations of the graph: it has no memory
};
struct DnnConvolution {
  enum class Kind { forward, inputGradient, weightGradient };
  Kind kind = Kind::forward;
  std::vector<std::int64_t> strides, before, after, dilation;  // by spatial axis
  int image = 0, weight = 0, result = 0;  // x, w, y of the forward convolution, whichever of them is computed
};
struct DnnPointwise {
  enum class Mode { add, relu, identity };
  Mode mode = Mode::identity;
  int x = 0, b = -1, y = 0;  // b is broadcast where its extents are 1
};
// y = softmax(scale q k^T) v of each sample and head, without a mask: a graph by itself. q and y are N x heads x
// queries x width, k and v have keys instead of queries, `statistics` is the natural logarithm of the sum of e^(scale
// s), in f32, N x heads x queries x 1; `scale` is one number in f32, on the device.
struct DnnAttention {
  int q = 0, k = 0, v = 0, y = 0, statistics = 0, scale = 0;
};
struct DnnGraph {
  std::vector<DnnTensor> tensors;
  std::vector<std::variant<DnnConvolution, DnnPointwise, DnnAttention>> operations;  // in order; computed in f32
  bool deterministic = false;
  bool tf32 = false;
};
// What a device made of a graph.
struct DnnPlan {
  virtual ~DnnPlan() = default;
  std::size_t workspaceBytes = 0;
  std::string name;  // the engine's, for plans and bug reports
};
struct DnnCall {
  std::shared_ptr<const DnnPlan> plan;
  std::vector<std::pair<int, std::byte*>> tensors;  // id, address
  std::byte* workspace = nullptr;
};

struct FillCall {  // bytes
  std::byte* to = nullptr;
  std::size_t bytes = 0;
  unsigned char value = 0;
};
struct CopyCall {  // within the device
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t bytes = 0;
};

// What this rank does together with others. A graph that holds it keeps `ranks`.
struct CollectiveCall {
  std::shared_ptr<StreamRanks> ranks;  // null: through the host, which no device is asked for
  RankExchange what;
};

using Call = std::variant<KernelCall, MatmulCall, DnnCall, FillCall, CopyCall, CollectiveCall>;

// "kernel 'softmax.f32'", "product 3 x 4 x 5"; for messages.
std::string nameOf(const Call& call);

}  // namespace loom::cuda

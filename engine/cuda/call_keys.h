#pragma once
// All that a call computes and how its tensors stand, without where: equal keys, equal plans.
#include <algorithm>
#include <cstdint>
#include <string>

#include "engine/cuda/calls.h"

namespace loom::cuda {

namespace keys {

inline void put(std::string& key, std::int64_t number) {
  key += std::to_string(number) + ' ';
}
inline void put(std::string& key, const std::vector<std::int64_t>& numbers) {
  for (const std::int64_t one : numbers) key += std::to_string(one) + ',';
  key += ' ';
}
inline void put(std::string& key, DataType type) {
  key += std::string(toString(type)) + ' ';
}

}  // namespace keys

// "graph 1 0 t0 bf16 0 8,64,56,56, ... c0 0 1 2 ..."
inline std::string keyOf(const DnnGraph& graph) {
  std::string key = "graph ";
  const auto put = [&key](const auto&... parts) { (keys::put(key, parts), ...); };
  put(graph.deterministic, graph.tf32);
  for (const DnnTensor& one : graph.tensors) {
    key += 't';
    put(one.id, one.type, one.isVirtual, one.extents, one.strides);
  }
  struct {
    decltype(put)& append;
    std::string& text;
    void operator()(const DnnConvolution& one) const {
      text += 'c';
      append(static_cast<std::int64_t>(one.kind), one.image, one.weight, one.result, one.strides, one.before, one.after,
             one.dilation);
    }
    void operator()(const DnnPointwise& one) const {
      text += 'p';
      append(static_cast<std::int64_t>(one.mode), one.x, one.b, one.y);
    }
    void operator()(const DnnAttention& one) const {
      text += 'a';
      append(one.q, one.k, one.v, one.y, one.statistics, one.scale);
    }
  } const append{put, key};
  for (const auto& one : graph.operations) std::visit(append, one);
  return key;
}

inline bool hasBias(const MatmulCall& call) {
  return call.epilogue == MatmulCall::Epilogue::bias || call.epilogue == MatmulCall::Epilogue::biasRelu;
}

// Of a GPU's address, as far as it matters to a library.
inline std::uint32_t alignmentOf(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return static_cast<std::uint32_t>(std::min<std::uintptr_t>(address & (~address + 1), 256));
}

inline std::string keyOf(const MatmulCall& p) {
  std::string key = "product ";
  const auto put = [&key](const auto&... parts) { (keys::put(key, parts), ...); };
  put(p.factors, p.result, p.tf32, p.transposeA, p.transposeB, static_cast<std::int64_t>(p.epilogue), p.m, p.n, p.k,
      p.lda, p.ldb, p.ldc, p.batch, p.strideA, p.strideB, p.strideC, p.beta != 0, alignmentOf(p.a), alignmentOf(p.b),
      alignmentOf(p.c), alignmentOf(p.addend != nullptr ? p.addend : p.c), static_cast<std::int64_t>(p.workspaceBytes));
  return key;
}

}  // namespace loom::cuda

#pragma once
// What a rule keeps for each weight, shared among ranks (ZeRO 1, or one rank a matrix): a tensor's slots and matrices
// stand on one rank, which alone steps it and gives its new values to the others.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/optimizers/product_rule.h"
#include "engine/program/parameter_store.h"

namespace loom {

class ShardedSlots {
 public:
  struct Tensor {
    std::string name;
    int owner = 0;
    std::vector<std::string> slots;       // on the owner
    std::vector<ProductMatrix> matrices;  // there, too
  };
  // All ranks give the same tensors in the same order.
  ShardedSlots(Communicator& communicator, ParameterStore& store, std::vector<Tensor> tensors);

  // Every rank has each tensor as its owner has it. By all ranks together, as all that follows.
  void shareWeights();

  // Rank 0's view of what stands elsewhere.
  struct Slot {
    std::string name;  // "conv1/weight#momentum"
    Shape shape;
    std::vector<float> values;
  };
  // Those of other ranks; on rank 0, nothing elsewhere.
  std::vector<Slot> gather();
  // `valuesOf(name)` on rank 0: what a slot is to be; empty: as it is. Answers the names of those that were empty.
  std::vector<std::string> spread(const std::function<std::vector<float>(const std::string& name)>& valuesOf);

  // Whether a slot of the store is one of these.
  bool holds(std::string_view tensor, std::string_view slot) const;
  const std::vector<Tensor>& tensors() const { return m_tensors; }

 private:
  // Calls work(name, shape) for what a tensor's owner keeps, by all ranks in the same order.
  template <class Work>
  void forEachKept(const Tensor& tensor, const Work& work) const {
    for (const std::string& slot : tensor.slots) work(slot, m_store.at(tensor.name).parameter.shape);
    for (const ProductMatrix& matrix : tensor.matrices) work(matrix.name, matrix.shape);
  }
  StoredTensor& kept(const Tensor& tensor, const std::string& name) const;  // on the owner
  Communicator& m_communicator;
  ParameterStore& m_store;
  std::vector<Tensor> m_tensors;
  std::set<std::string, std::less<>> m_names;  // of all slots and matrices
  std::size_t m_most = 0;                      // numbers of the rank that has most
  std::vector<float> m_mine, m_all;
};

}  // namespace loom

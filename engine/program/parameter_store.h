#pragma once
// Owns weights, their gradients, optimizer slots and running state by name, in f32, row-major, in the memory of the
// machine that trains. It outlives executables, which are compiled per input shape and bind to its addresses: a tensor
// never moves once made. One thread.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/shape.h"
#include "engine/program/program.h"
#include "engine/program/tensor_memory.h"

namespace loom {

class ParameterStore {
 public:
  struct Entry {
    Parameter parameter;
    StoredTensor value;
    StoredTensor gradient;                                   // of states: empty until a program averages them
    std::map<std::string, StoredTensor, std::less<>> slots;  // "momentum", "m", "v": zero at first
  };

  // `memory`: Backend::makeMemory() of the machine that computes with it.
  explicit ParameterStore(std::uint64_t seed, std::unique_ptr<TensorMemory> memory = makeHostMemory())
      : m_seed(seed), m_memory(std::move(memory)) {}
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  // Makes and initialises what is not there yet; throws Error(badProject) when a name exists with another shape.
  void ensure(const std::vector<Parameter>& parameters);
  // Makes the slot (zero) when it is not there yet.
  StoredTensor& slot(std::string_view parameter, std::string_view slot);

  // Makes it (zero) when it is not there yet: a state's, which is what becomes of it after the step.
  StoredTensor& gradient(std::string_view parameter);

  bool has(std::string_view name) const;
  Entry& at(std::string_view name);  // throws Error(internal)
  const Entry& at(std::string_view name) const;
  // In order of creation.
  const std::vector<std::unique_ptr<Entry>>& entries() const { return m_entries; }
  std::vector<std::unique_ptr<Entry>>& entries() { return m_entries; }
  std::int64_t parameterCount() const;  // elements of all that are no state

 private:
  std::uint64_t m_seed;
  std::unique_ptr<TensorMemory> m_memory;
  std::vector<std::unique_ptr<Entry>> m_entries;
  std::map<std::string, Entry*, std::less<>> m_byName;
};

}  // namespace loom

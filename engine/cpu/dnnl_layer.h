#pragma once
// The one place that knows how oneDNN is called. Primitives run on one thread each (the pool divides the batch),
// scratchpads come from the arena, and arguments are bound before the first step.
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/cpu/stage.h"

namespace loom::cpu {

const dnnl::engine& dnnlEngine();

// The attributes of every primitive: scratchpad from outside; a ReLU behind it where asked.
dnnl::primitive_attr dnnlAttributes(bool relu = false);

// Calls oneDNN and turns its exception into an Error(internal) that says what was asked.
template <class F>
auto withDnnl(const std::string& what, F&& call) {
  try {
    return call();
  } catch (const dnnl::error& error) {
    throwError(ErrorCode::internal, "oneDNN cannot make {}: {} (status {})", what, error.message,
               static_cast<int>(error.status));
  }
}

// One primitive with one thread's arguments.
class DnnlTask {
 public:
  explicit DnnlTask(dnnl::primitive primitive);
  // `memory` of this description will lie at `at`.
  template <class T>
  DnnlTask& argument(int name, const dnnl::memory::desc& description, Ref<T> at) {
    return place(name, description, {at.slot, at.offset * static_cast<std::int64_t>(sizeof(T))});
  }
  void bind();
  void run();

 private:
  dnnl::primitive m_primitive;
  dnnl::stream m_stream;
  struct Argument {
    int name;
    dnnl::memory memory;
    Ref<std::byte> at;
  };
  DnnlTask& place(int name, const dnnl::memory::desc& description, Ref<std::byte> at);

  std::vector<Argument> m_arguments;
  std::vector<dnnl_exec_arg_t> m_list;
};
using DnnlTasks = std::shared_ptr<std::vector<DnnlTask>>;  // by thread

inline std::int64_t floatsOf(const dnnl::memory::desc& description) {
  return static_cast<std::int64_t>((description.get_size() + sizeof(float) - 1) / sizeof(float));
}

}  // namespace loom::cpu

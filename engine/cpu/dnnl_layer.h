#pragma once
// The one place that knows how oneDNN is called, and what its releases call differently: what is asked for is written
// as release 3 takes it, and told to release 2 in its words. Primitives run on one thread each (the pool divides the
// batch), scratchpads come from the arena, and arguments are bound before the first step.
#include <oneapi/dnnl/dnnl_version.h>

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/cpu/stage.h"

namespace loom::cpu {

// Limited to the instructions that GRADLOOM_ISA allows (kernels/isa.h); to be asked for before anything else of oneDNN.
const dnnl::engine& dnnlEngine();
// "oneDNN 2.6.3", and where GRADLOOM_ISA is set what that leaves it: "oneDNN 2.6.3 with avx2".
std::string dnnlWords();

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

// What a primitive is made of: its arguments in the order of release 3, from the kind of propagation or the algorithm
// to the padding.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc describeForward(const dnnl::primitive_attr& attributes,
                                                   const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(dnnlEngine(), arguments..., attributes);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), attributes, dnnlEngine());
#endif
}
// Of a gradient, which oneDNN wants to see beside the forward primitive that it belongs to.
template <class Primitive, class Forward, class... Arguments>
typename Primitive::primitive_desc describeBackward(const Forward& forward, const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(dnnlEngine(), arguments..., forward, dnnlAttributes());
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), dnnlAttributes(), dnnlEngine(),
                                            forward);
#endif
}

// The bytes that tell a layout from others: layouts have no order.
std::string bytesOf(const dnnl::memory::desc& description);

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

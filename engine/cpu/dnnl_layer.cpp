#include "engine/cpu/dnnl_layer.h"

namespace loom::cpu {

const dnnl::engine& dnnlEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);  // holds no state of ours
  return engine;
}

dnnl::primitive_attr dnnlAttributes(bool relu) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (relu) {
    dnnl::post_ops after;
    // A slope of 0 would make oneDNN take the maximum with 0, which hides a NaN; with 1e-30 it multiplies, and a NaN
    // stays one.
#if DNNL_VERSION_MAJOR >= 3
    after.append_eltwise(dnnl::algorithm::eltwise_relu, 1e-30f, 0.0f);
#else
    after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 1e-30f, 0.0f);
#endif
    attributes.set_post_ops(after);
  }
  return attributes;
}

std::string bytesOf(const dnnl::memory::desc& description) {
#if DNNL_VERSION_MAJOR >= 3
  const std::vector<std::uint8_t> bytes = const_cast<dnnl::memory::desc&>(description).get_blob();
  return {bytes.begin(), bytes.end()};
#else
  return {reinterpret_cast<const char*>(&description.data), sizeof description.data};
#endif
}

DnnlTask::DnnlTask(dnnl::primitive primitive) : m_primitive(std::move(primitive)), m_stream(dnnlEngine()) {}

DnnlTask& DnnlTask::place(int name, const dnnl::memory::desc& description, Ref<std::byte> at) {
  m_arguments.push_back({name, dnnl::memory(description, dnnlEngine(), nullptr), at});
  return *this;
}

void DnnlTask::bind() {
  m_list.clear();
  for (Argument& argument : m_arguments) {
    argument.memory.set_data_handle(argument.at.get());
    m_list.push_back({argument.name, argument.memory.get()});
  }
}

void DnnlTask::run() {
  // The C call: the C++ one builds a map and a vector each time.
  const dnnl_status_t status =
      dnnl_primitive_execute(m_primitive.get(), m_stream.get(), static_cast<int>(m_list.size()), m_list.data());
  if (status != dnnl_success)
    throwError(ErrorCode::internal, "oneDNN failed while computing: status {}", static_cast<int>(status));
}

}  // namespace loom::cpu

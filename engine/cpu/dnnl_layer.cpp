#include "engine/cpu/dnnl_layer.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include <cstdlib>

#include "engine/cpu/kernels/isa.h"

namespace loom::cpu {
namespace {

// What narrows our own kernels narrows oneDNN's, too; of any value, it leaves out the tiles of AMX. oneDNN takes this
// once, before it makes its first primitive.
void narrowDnnl() {
  if (std::getenv("GRADLOOM_ISA") == nullptr) return;
  const dnnl::cpu_isa most = isa() == Isa::avx512 ? dnnl::cpu_isa::avx512_core_bf16
                             : isa() == Isa::avx2 ? dnnl::cpu_isa::avx2
                                                  : dnnl::cpu_isa::sse41;
  if (dnnl::set_max_cpu_isa(most) != dnnl::status::success)
    throwError(ErrorCode::internal, "oneDNN was at work before GRADLOOM_ISA={} could narrow it",
               std::getenv("GRADLOOM_ISA"));
}

}  // namespace

const dnnl::engine& dnnlEngine() {
  static const dnnl::engine engine = [] {
    narrowDnnl();
    return dnnl::engine(dnnl::engine::kind::cpu, 0);  // holds no state of ours
  }();
  return engine;
}

std::string dnnlWords() {
  const dnnl_version_t* const version = dnnl_version();
  std::string words = "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
                      std::to_string(version->patch);
  if (std::getenv("GRADLOOM_ISA") == nullptr) return words;
  dnnlEngine();
  const std::string most = dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa());
  return words + " with " + most.substr(most.starts_with("cpu_isa_") ? 8 : 0);
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

#include "tests/engine/cuda/fake/fake_call.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "engine/base/error.h"
#include "engine/cuda/device.h"
#include "engine/cuda/kernels/kernel_tables.h"
#include "tests/engine/cuda/fake/interpreters.h"

namespace loom::cuda::fake {
namespace {

const KernelRow* findKernel(std::string_view name) {
  static const auto rows = [] {
    std::map<std::string_view, const KernelRow*> all;
    for (const KernelTable& table : kernelTables())
      for (std::size_t k = 0; k < table.count; ++k)
        if (!all.emplace(table.rows[k].name, &table.rows[k]).second)
          throwError(ErrorCode::internal, "two kernels are named '{}'", table.rows[k].name);
    return all;
  }();
  const auto found = rows.find(name);
  return found == rows.end() ? nullptr : found->second;
}

// A library may write anywhere in its workspace: at least to both ends.
void overwriteEnds(std::byte* workspace, std::size_t bytes) {
  const std::size_t end = std::min<std::size_t>(bytes, 1024);
  if (end == 0) return;
  std::memset(workspace, 0x5b, end);
  std::memset(workspace + bytes - end, 0x5b, end);
}

// As cuBLASLt demands of its own.
void expectWorkspace(const std::byte* workspace, std::size_t bytes, const std::string& who) {
  if (bytes == 0) return;
  if (workspace == nullptr) throwError(ErrorCode::internal, "{} lacks its workspace", who);
  if (const auto at = reinterpret_cast<std::uintptr_t>(workspace); at % kMemoryAlignment != 0)
    throwError(ErrorCode::internal, "{}: its workspace lies {} bytes behind a multiple of {}", who,
               at % kMemoryAlignment, kMemoryAlignment);
}

struct Runner {
  const emulator::Run& how;

  void operator()(const KernelCall& call) const {
    findKernel(call.kernel)->start(call.launch, call.arguments.data(), const_cast<emulator::Run*>(&how));
  }
  void operator()(const MatmulCall& call) const {
    expectWorkspace(call.workspace, call.workspaceBytes, how.kernel);
    overwriteEnds(call.workspace, call.workspaceBytes);
    interpret(call);
  }
  void operator()(const DnnCall& call) const {
    expectWorkspace(call.workspace, call.plan->workspaceBytes, how.kernel);
    overwriteEnds(call.workspace, call.plan->workspaceBytes);
    interpret(call);
  }
  void operator()(const FillCall& call) const { std::memset(call.to, call.value, call.bytes); }
  void operator()(const CopyCall& call) const {
    if (call.from < call.to + call.bytes && call.to < call.from + call.bytes)
      throwError(ErrorCode::internal, "{} copies {} bytes onto themselves", how.kernel, call.bytes);
    std::memcpy(call.to, call.from, call.bytes);
  }
  void operator()(const CollectiveCall&) const {
    throwError(ErrorCode::internal, "{} is for several ranks: the device runs it", how.kernel);
  }
};

}  // namespace

void expectKernel(const KernelCall& call) {
  const KernelRow* const row = findKernel(call.kernel);
  if (row == nullptr) throwError(ErrorCode::internal, "there is no kernel '{}'", call.kernel);
  if (row->argumentBytes != call.arguments.size())
    throwError(ErrorCode::internal, "kernel '{}' takes {} bytes of arguments, but is given {}", call.kernel,
               row->argumentBytes, call.arguments.size());
}

void run(const Call& call, const emulator::Run& how) {
  std::visit(Runner{how}, call);
}

}  // namespace loom::cuda::fake

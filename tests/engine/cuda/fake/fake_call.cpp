#include "tests/engine/cuda/fake/fake_call.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "engine/base/error.h"
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

struct Runner {
  const emulator::Run& how;

  void operator()(const KernelCall& call) const {
    findKernel(call.kernel)->start(call.launch, call.arguments.data(), const_cast<emulator::Run*>(&how));
  }
  void operator()(const MatmulCall& call) const {
    overwriteEnds(call.workspace, call.workspaceBytes);
    interpret(call);
  }
  void operator()(const DnnCall& call) const {
    if (call.plan->workspaceBytes != 0) {
      if (call.workspace == nullptr) throwError(ErrorCode::internal, "{} lacks its workspace", how.kernel);
      overwriteEnds(call.workspace, call.plan->workspaceBytes);
    }
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

std::string nameOf(const Call& call) {
  struct {
    std::string operator()(const KernelCall& one) const { return fmt::format("kernel '{}'", one.kernel); }
    std::string operator()(const MatmulCall& one) const {
      return fmt::format("product {} x {} x {}", one.m, one.n, one.k);
    }
    std::string operator()(const DnnCall& one) const { return fmt::format("graph '{}'", one.plan->name); }
    std::string operator()(const FillCall& one) const { return fmt::format("fill of {} bytes", one.bytes); }
    std::string operator()(const CopyCall& one) const { return fmt::format("copy of {} bytes", one.bytes); }
    std::string operator()(const CollectiveCall& one) const {
      std::size_t bytes = 0;
      for (const auto& part : one.what.parts) bytes += part.bytes;
      return fmt::format("{} of {} bytes", toString(one.what.kind), bytes);
    }
  } const name;
  return std::visit(name, call);
}

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

#include "engine/cuda/calls.h"

#include <fmt/format.h>

namespace loom::cuda {

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

}  // namespace loom::cuda

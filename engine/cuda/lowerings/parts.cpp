#include "engine/cuda/lowerings/parts.h"

namespace loom::cuda {

Operand scratchOf(Plan& plan, std::int64_t elements, DataType type) {
  Operand made = plan.scratch(static_cast<std::size_t>(elements) * bytesOf(type));
  made.type = type;
  return made;
}

Operand part(const Operand& whole, std::int64_t first, std::int64_t elements) {
  if (!whole) return whole;
  const auto bytes = static_cast<std::int64_t>(bytesOf(whole.type));
  return {whole.at.at(first * bytes), static_cast<std::size_t>(elements * bytes), whole.type};
}

void emitConversion(Plan& plan, const Operand& from, const Operand& to, ConvertArguments how) {
  how.fromType = from.type;
  how.toType = to.type;
  how.count = static_cast<std::int64_t>(to.bytes / bytesOf(to.type));
  how.packed = canPack(how);
  plan.kernel("convert", overElements(how.count, how.packed ? kConvertPack : 1), {from}, {to}, [=]() mutable {
    how.from = from.address();
    how.to = to.address();
    return how;
  });
}

}  // namespace loom::cuda

#include "engine/loom/bench/inputs.h"

#include "engine/base/error.h"
#include "engine/base/philox.h"

namespace loom {

void fillInputs(Executable& executable, const std::map<std::string, std::int64_t>& classes) {
  for (const Tensor& tensor : executable.program().tensors) {
    if (tensor.role != TensorRole::input) continue;
    const std::span<std::byte> bytes = executable.input(tensor.name);
    const Philox random(0, tensor.name);
    const auto count = static_cast<std::uint64_t>(tensor.shape.elements());
    if (tensor.type == DataType::i32) {
      const auto found = classes.find(tensor.name);
      if (found == classes.end())
        throwError(ErrorCode::internal, "nobody says how many classes there are of input '{}'", tensor.name);
      auto* to = reinterpret_cast<std::int32_t*>(bytes.data());
      for (std::uint64_t i = 0; i < count; ++i)
        to[i] = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(found->second), i));
    } else {
      auto* to = reinterpret_cast<float*>(bytes.data());
      for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<float>(random.normal(i));
    }
  }
}

}  // namespace loom

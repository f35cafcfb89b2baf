#pragma once
// TensorProto to Constant. Included by the files that know protobuf and by no others.
#include <filesystem>

#include "engine/exchange/onnx/model.h"
#include "onnx.pb.h"

namespace loom::onnx_file {

// Throws Error(badData) where the data do not fill the shape, or lie in a file outside of `folder`.
ConstantPointer constantFrom(const onnx::TensorProto& tensor, const std::filesystem::path& folder);

}  // namespace loom::onnx_file

#pragma once
// TensorProto to Constant. Included by the files that know protobuf and by no others.
#include <filesystem>

#include "engine/exchange/onnx/model.h"
#include "onnx.pb.h"

namespace loom::onnx_file {

// Throws Error(badData) where the data do not fill the shape, or lie in a file that is not below the folder of `model`,
// the path of the ONNX file, or of what that path's links lead to.
ConstantPointer constantFrom(const onnx::TensorProto& tensor, const std::filesystem::path& model);

}  // namespace loom::onnx_file

#pragma once
// A model of protobuf's classes as plain values. Included by the files that know protobuf and by no others.
#include <filesystem>

#include "engine/exchange/onnx/model.h"
#include "onnx.pb.h"

namespace loom::onnx_file {

// `path`: of the file; its files of weights lie beside it. Throws as readModel() does.
OnnxGraph graphOf(const onnx::ModelProto& model, const std::filesystem::path& path);

}  // namespace loom::onnx_file

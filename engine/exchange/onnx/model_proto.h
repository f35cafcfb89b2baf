#pragma once
// A model of protobuf's classes as plain values. Included by the files that know protobuf and by no others.
#include <filesystem>

#include "engine/exchange/onnx/model.h"
#include "onnx.pb.h"

namespace loom::onnx_file {

// `folder`: where its files of weights lie. Throws as readModel() does.
OnnxGraph graphOf(const onnx::ModelProto& model, const std::filesystem::path& folder);

}  // namespace loom::onnx_file

#pragma once
// Ops that take several nodes to say: recurrence, attention, resampling.
#include "engine/exchange/onnx/export_ops.h"

namespace loom::onnx_file {

// x with these extents, of which one may hold the batch.
std::string reshapeTo(const OpExport& given, const std::string& x, Extents extents);

std::vector<std::string> writeLstm(const OpExport& given);
std::vector<std::string> writeGru(const OpExport& given);
std::vector<std::string> writeAttention(const OpExport& given);
std::vector<std::string> writeResample(const OpExport& given);

}  // namespace loom::onnx_file

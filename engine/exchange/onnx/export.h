#pragma once
// A network with its weights as an ONNX file, for prediction: losses and metrics are left out. It is written from the
// lowered program, op by op, so that every layer whose ops are known can be written; the table of ops stands in
// export_ops.cpp.
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/exchange/exporter.h"
#include "engine/exchange/onnx/model.h"
#include "engine/network/network.h"
#include "engine/program/program.h"

namespace loom {

inline constexpr int kWrittenOpset = 17;
inline constexpr std::int64_t kLargestBatch = 1000000;

// The values of a parameter or state, row-major: of a checkpoint, or the initial ones.
using WeightSource = std::function<std::vector<float>(const Parameter& parameter)>;
// Those with which a run of this seed begins.
WeightSource initialWeights(std::uint64_t seed);

struct OnnxOptions {
  std::int64_t batch = 0;  // 0: left open in the file
  std::string producerVersion;
  std::map<std::string, std::string> metadata;         // texts that travel beside the graph
  std::map<std::string, std::vector<UnitStep>> units;  // as of ExportSource
};

// `network`: flat (network/flatten.h). Overwrites the file, atomically. Throws Error(badProject) where the network is
// not sound or an op has no counterpart in ONNX, naming the layer; Error(badData) where its weights are more than one
// file of 2 GB holds.
void writeOnnx(const Network& network, const WeightSource& weights, const OnnxOptions& options,
               const std::filesystem::path& file);
// What a reader of that file would see.
onnx_file::OnnxGraph onnxGraph(const Network& network, const WeightSource& weights, const OnnxOptions& options);

}  // namespace loom

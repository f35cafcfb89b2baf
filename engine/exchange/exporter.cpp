#include "engine/exchange/exporter.h"

#include "engine/run/safetensors.h"

namespace loom {

std::vector<std::filesystem::path> exportSafetensors(const ExportSource& source, const std::filesystem::path& file) {
  std::vector<TensorFile::Tensor> tensors;
  for (const auto& [name, weight] : source.weights) tensors.push_back({name, weight.shape, weight.values});
  TensorFile::write(file, tensors, {{"format", "pt"}});
  return {file};
}

}  // namespace loom

#include "engine/base/error.h"
#include "engine/exchange/exporter.h"
#include "engine/exchange/onnx/carried.h"
#include "engine/exchange/onnx/export.h"
#include "engine/network/flatten.h"

namespace loom {

std::vector<std::filesystem::path> exportOnnx(const ExportSource& source, const std::filesystem::path& file,
                                              std::int64_t batch, Carried carried) {
  const WeightSource weights = [&source](const Parameter& parameter) {
    const auto found = source.weights.find(parameter.name);
    if (found == source.weights.end())
      throwError(ErrorCode::badData, "there is no weight '{}', which the network has", parameter.name);
    return found->second.values;
  };
  OnnxOptions options{.batch = batch, .producerVersion = {}, .metadata = {}, .units = source.units};
  if (carried == Carried::project) {
    options.metadata = onnx_file::carriedTexts(source);
    if (!source.preparation.is_null()) options.metadata["gradloom.preparation"] = source.preparation.dump();
  }
  writeOnnx(flatNetwork(source.project, source.network), weights, options, file);
  return {file};
}

}  // namespace loom

#include "engine/exchange/laid_over.h"

#include "engine/base/error.h"
#include "engine/network/analysis.h"
#include "engine/network/flatten.h"

namespace loom {

LaidOverWeights layOver(const std::filesystem::path& file, std::vector<NamedShape> parameters) {
  LaidOverWeights over{
      .file = TensorFile(file), .sources = {}, .parameters = std::move(parameters), .tensors = {}, .match = {}};
  for (const TensorFile::Tensor& tensor : over.file.tensors()) {
    if (!isWeightName(tensor.name)) continue;
    over.tensors.push_back({tensor.name, tensor.shape});
    over.sources.push_back(&tensor);
  }
  over.match = matchWeights(over.parameters, over.tensors);
  return over;
}

LaidOverWeights layOver(const std::filesystem::path& file, const Project& project, const std::string& network) {
  std::vector<NamedShape> parameters;
  const std::string name = network.empty() ? trainedNetworkOf(project) : network;
  for (const Parameter& parameter : lower(flatNetwork(project, name), {}).parameters)
    parameters.push_back({parameter.name, parameter.shape});
  return layOver(file, std::move(parameters));
}

std::string trainedNetworkOf(const Project& project) {
  if (!project.training.updates.empty() && project.network(project.training.updates[0].network))
    return project.training.updates[0].network;
  if (project.networks.empty()) throwError(ErrorCode::badProject, "the project has no network");
  return project.networks[0].name;
}

}  // namespace loom

#include "engine/training/checkpoint.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace loom {
namespace {

constexpr const char* kPositionKey = "gradloom";
constexpr const char* kKeptFile = "kept.json";

std::string fileName(std::int64_t step) {
  return fmt::format("step-{:08}.safetensors", step);
}
const char* pointerFile(Which which) {
  return which == Which::last ? "last.json" : "best.json";
}

// The file name in last.json or best.json; empty when there is none or it cannot be read.
std::string pointed(const RunFolder& folder, Which which) {
  const std::filesystem::path path = folder.checkpoints() / pointerFile(which);
  if (!std::filesystem::exists(path)) return {};
  const Json pointer = Json::parse(readFile(path, 1 << 20), nullptr, false);
  if (!pointer.is_object() || !pointer.contains("file") || !pointer["file"].is_string()) return {};
  // A name only: a pointer must not lead out of the folder.
  return std::filesystem::path(pointer["file"].get<std::string>()).filename().string();
}

bool isCheckpoint(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("step-") && name.ends_with(".safetensors");
}

}  // namespace

Snapshot takeSnapshot(const ParameterStore& store, std::int64_t step, Json position) {
  Snapshot snapshot{.step = step, .tensors = {}, .position = std::move(position)};
  for (const auto& entry : store.entries()) {
    const Parameter& parameter = entry->parameter;
    snapshot.tensors.push_back({parameter.name, parameter.shape, entry->value.values()});
    for (const auto& [slot, tensor] : entry->slots)
      snapshot.tensors.push_back({parameter.name + "#" + slot, parameter.shape, tensor.values()});
  }
  return snapshot;
}

Checkpoint::Checkpoint(const std::filesystem::path& path) : m_path(path), m_file(path) {
  const auto text = m_file.metadata().find(kPositionKey);
  if (text == m_file.metadata().end())
    throwError(ErrorCode::badData, "{} holds tensors, but no training state: Gradloom did not write it", path.string());
  m_position = parseJson(text->second, path.string());
  const int version = m_position.value("version", 0);
  if (version > kCheckpointVersion)
    throwError(ErrorCode::newerVersion,
               "{} was written by a newer Gradloom (version {} of the format; this one reads up to {})", path.string(),
               version, kCheckpointVersion);
}

std::vector<std::string> Checkpoint::restore(ParameterStore& store) const {
  std::vector<std::string> missing;
  const auto fill = [this](const std::string& name, const Shape& shape, StoredTensor& to) {
    const TensorFile::Tensor* tensor = m_file.find(name);
    if (!tensor) return false;
    if (tensor->shape != shape)
      throwError(ErrorCode::badData, "{}: '{}' is {}, but the network wants {}; it belongs to another network",
                 m_path.string(), name, tensor->shape.toString(), shape.toString());
    to.write(tensor->values);
    return true;
  };
  for (const auto& entry : store.entries()) {
    const Parameter& parameter = entry->parameter;
    if (!fill(parameter.name, parameter.shape, entry->value))
      throwError(ErrorCode::badData, "{} holds no '{}', which the network has; it belongs to another network",
                 m_path.string(), parameter.name);
    for (auto& [slot, held] : entry->slots)
      if (const std::string name = parameter.name + "#" + slot; !fill(name, parameter.shape, held))
        missing.push_back(name);
  }
  return missing;
}

std::size_t Checkpoint::restoreMatching(ParameterStore& store) const {
  std::size_t filled = 0;
  for (const auto& entry : store.entries()) {
    const TensorFile::Tensor* tensor = m_file.find(entry->parameter.name);
    if (!tensor || tensor->shape != entry->parameter.shape) continue;
    entry->value.write(tensor->values);
    ++filled;
  }
  return filled;
}

std::optional<std::filesystem::path> findCheckpoint(const RunFolder& folder, Which which,
                                                    std::vector<std::string>* refused) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder.checkpoints(), none)) return {};
  std::vector<std::filesystem::path> candidates;
  if (const std::string name = pointed(folder, which); !name.empty()) candidates.push_back(folder.checkpoints() / name);
  if (which == Which::last) {
    std::vector<std::filesystem::path> others;
    for (const auto& item : std::filesystem::directory_iterator(folder.checkpoints()))
      if (isCheckpoint(item.path()) && std::find(candidates.begin(), candidates.end(), item.path()) == candidates.end())
        others.push_back(item.path());
    // Step numbers have eight digits and more: the longer name is the later step.
    std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) {
      const std::string x = a.filename().string(), y = b.filename().string();
      return x.size() != y.size() ? x.size() > y.size() : x > y;
    });
    candidates.insert(candidates.end(), others.begin(), others.end());
  }
  for (const std::filesystem::path& candidate : candidates) {
    try {
      const Checkpoint whole(candidate);
      return candidate;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::newerVersion) throw;
      if (refused) refused->push_back(error.what());
    }
  }
  return {};
}

CheckpointKeeper::CheckpointKeeper(const RunFolder& folder) : m_folder(folder) {
  std::error_code fault;
  std::filesystem::create_directories(folder.checkpoints(), fault);
  if (fault) throwErrno(fault.value(), "make the folder", folder.checkpoints());
  m_last = pointed(folder, Which::last);
  m_best = pointed(folder, Which::best);
  if (const auto path = folder.checkpoints() / kKeptFile; std::filesystem::exists(path)) {
    const Json kept = Json::parse(readFile(path, 16 << 20), nullptr, false);
    if (kept.is_array())
      for (const Json& name : kept)
        if (name.is_string()) m_kept.insert(name.get<std::string>());
  }
}

CheckpointKeeper::Written CheckpointKeeper::write(const Snapshot& snapshot, bool last,
                                                  const std::optional<Json>& bestOf, bool keep) {
  const std::string name = fileName(snapshot.step);
  std::vector<TensorFile::Tensor> tensors;
  for (const Snapshot::Tensor& tensor : snapshot.tensors) tensors.push_back({tensor.name, tensor.shape, tensor.values});
  TensorFile::write(m_folder.checkpoints() / name, tensors,
                    {{"format", "gradloom"}, {kPositionKey, snapshot.position.dump()}});
  const Json pointer = {{"file", name}, {"step", snapshot.step}};
  if (keep && m_kept.insert(name).second)
    writeFileAtomically(m_folder.checkpoints() / kKeptFile,
                        formatJson(Json(std::vector<std::string>(m_kept.begin(), m_kept.end()))));
  if (bestOf) {
    Json best = pointer;
    best.update(*bestOf);
    writeFileAtomically(m_folder.checkpoints() / pointerFile(Which::best), formatJson(best));
    m_best = name;
  }
  if (last) {
    writeFileAtomically(m_folder.checkpoints() / pointerFile(Which::last), formatJson(pointer));
    m_last = name;
  }
  removeUnnamed();
  return {.file = "checkpoints/" + name, .step = snapshot.step, .best = bestOf.has_value()};
}

void CheckpointKeeper::removeUnnamed() {
  std::error_code ignored;  // what cannot be removed now goes with the next one
  std::vector<std::filesystem::path> doomed;
  for (const auto& item : std::filesystem::directory_iterator(m_folder.checkpoints(), ignored)) {
    const std::string name = item.path().filename().string();
    const bool leftOver = name.find(".partial-") != std::string::npos;  // of a process that was killed while it wrote
    if (leftOver || (isCheckpoint(item.path()) && name != m_last && name != m_best && !m_kept.count(name)))
      doomed.push_back(item.path());
  }
  for (const std::filesystem::path& path : doomed) std::filesystem::remove(path, ignored);
}

}  // namespace loom

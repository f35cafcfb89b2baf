#include "engine/training/checkpoint.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/training/evaluated_weights.h"
#include "engine/training/update_program.h"

namespace loom {
namespace {

constexpr const char* kPositionKey = "gradloom";
constexpr const char* kEvaluatedKey = "evaluated";  // in the position
constexpr const char* kKeptFile = "kept.json";
constexpr const char* kDamaged = ".damaged";

std::string fileName(std::int64_t step) {
  return fmt::format("step-{:08}.safetensors", step);
}
const char* pointerFile(Which which) {
  return which == Which::last ? "last.json" : "best.json";
}

// What stands in last.json, best.json or kept.json; null when it is not there or is no JSON.
Json readNames(const RunFolder& folder, const char* file) {
  const std::filesystem::path path = folder.checkpoints() / file;
  if (!std::filesystem::exists(path)) return nullptr;
  Json names = Json::parse(readFile(path, 16 << 20), nullptr, false);
  return names.is_discarded() ? Json() : names;
}

// The file name under a key of last.json or best.json; empty when there is none.
std::string named(const Json& pointer, const char* key) {
  if (!pointer.is_object() || !pointer.contains(key) || !pointer[key].is_string()) return {};
  // A name only: a pointer must not lead out of the folder.
  return std::filesystem::path(pointer[key].get<std::string>()).filename().string();
}

bool isCheckpoint(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("step-") && name.ends_with(".safetensors");
}

// Whether a checkpoint of the run was on disk at any time: files say so, else the log does.
bool everWritten(const RunFolder& folder) {
  std::error_code none;
  for (const auto& item : std::filesystem::directory_iterator(folder.checkpoints(), none)) {
    const std::string name = item.path().filename().string();
    if (name.find(".partial-") == std::string::npos && (name.starts_with("step-") || name.ends_with(".json")))
      return true;
  }
  EventReader log(folder.eventsFile());
  for (std::vector<Event> some = log.read(); !some.empty(); some = log.read())
    for (const Event& event : some)
      if (event.kind == "checkpoint") return true;
  return false;
}

}  // namespace

Snapshot takeSnapshot(const ParameterStore& store, std::int64_t step, Json position, const EvaluatedInPlace* shown) {
  if (shown)
    if (const Json slots = shown->shownSlots(); shown->any()) position[kEvaluatedKey] = slots;
  Snapshot snapshot{.step = step, .tensors = {}, .position = std::move(position)};
  for (const auto& entry : store.entries()) {
    const Parameter& parameter = entry->parameter;
    snapshot.tensors.push_back({parameter.name, parameter.shape, entry->value.values()});
    for (const auto& [slot, tensor] : entry->slots)
      if (!shown || !shown->isShown(parameter.name, slot))
        snapshot.tensors.push_back({parameter.name + "#" + slot, parameter.shape, tensor.values()});
    if (const std::vector<float>* trained = shown ? shown->trained(parameter.name) : nullptr)
      snapshot.tensors.push_back({parameter.name + kTrainedSuffix, parameter.shape, *trained});
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

std::vector<std::string> Checkpoint::restore(ParameterStore& store,
                                             const std::function<bool(const std::string&)>& mayLack) const {
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
    if (isMatrix(parameter)) {  // another rule's, or in blocks of another size, it begins anew
      const TensorFile::Tensor* tensor = m_file.find(parameter.name);
      if (tensor && tensor->shape == parameter.shape)
        entry->value.write(tensor->values);
      else
        missing.push_back(parameter.name);
      continue;
    }
    if (!fill(parameter.name, parameter.shape, entry->value) && !(mayLack && mayLack(parameter.name)))
      throwError(ErrorCode::badData, "{} holds no '{}', which the network has; it belongs to another network",
                 m_path.string(), parameter.name);
    for (auto& [slot, held] : entry->slots)
      if (const std::string name = parameter.name + "#" + slot; !fill(name, parameter.shape, held))
        missing.push_back(name);
  }
  return missing;
}

// Slots that stand under the weights' names. Checkpoints of earlier versions had but one, and did not name it.
std::set<std::string> Checkpoint::evaluatedSlots() const {
  if (const auto names = m_position.find(kEvaluatedKey); names != m_position.end() && names->is_array())
    return names->get<std::set<std::string>>();
  const bool any = std::any_of(m_file.tensors().begin(), m_file.tensors().end(),
                               [](const TensorFile::Tensor& tensor) { return tensor.name.ends_with(kTrainedSuffix); });
  return any ? std::set<std::string>{kAverageSlot} : std::set<std::string>();
}

std::vector<std::string> Checkpoint::restoreTraining(ParameterStore& store,
                                                     const std::function<bool(const std::string&)>& mayLack) const {
  std::vector<std::string> missing = restore(store, mayLack);
  const std::set<std::string> evaluated = evaluatedSlots();
  std::set<std::string> found;
  for (const auto& entry : store.entries()) {
    const std::string& name = entry->parameter.name;
    const TensorFile::Tensor* trained = m_file.find(name + kTrainedSuffix);
    if (!trained) continue;
    for (auto& [slot, tensor] : entry->slots) {
      if (!evaluated.contains(slot) || m_file.find(name + "#" + slot)) continue;
      tensor.write(entry->value.values());
      found.insert(name + "#" + slot);
    }
    entry->value.write(trained->values);
  }
  std::erase_if(missing, [&found](const std::string& slot) { return found.contains(slot); });
  return missing;
}

std::vector<float> Checkpoint::slotValues(const std::string& name) const {
  const TensorFile::Tensor* tensor = m_file.find(name);
  return tensor ? std::vector<float>(tensor->values.begin(), tensor->values.end()) : std::vector<float>();
}

std::set<std::string> Checkpoint::slots() const {
  std::set<std::string> names = evaluatedSlots();
  for (const TensorFile::Tensor& tensor : m_file.tensors())
    if (const std::size_t mark = tensor.name.find('#');
        mark != std::string::npos && !tensor.name.ends_with(kTrainedSuffix))
      names.insert(tensor.name.substr(mark + 1));
  return names;
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
                                                    std::vector<RefusedCheckpoint>* refused) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder.checkpoints(), none)) return {};
  std::vector<std::filesystem::path> candidates;
  if (const std::string name = named(readNames(folder, pointerFile(which)), "file"); !name.empty())
    candidates.push_back(folder.checkpoints() / name);
  if (which == Which::last) {
    std::vector<std::filesystem::path> others;
    std::error_code fault;
    for (const auto& item : std::filesystem::directory_iterator(folder.checkpoints(), fault))
      if (isCheckpoint(item.path()) && std::find(candidates.begin(), candidates.end(), item.path()) == candidates.end())
        others.push_back(item.path());
    if (fault)
      throwError(ErrorCode::inputOutput, "cannot read {}: {}; see that it can be read and try again",
                 folder.checkpoints().string(), fault.message());
    // Step numbers have eight digits and more: the longer name is the later step.
    std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) {
      const std::string x = a.filename().string(), y = b.filename().string();
      return x.size() != y.size() ? x.size() > y.size() : x > y;
    });
    candidates.insert(candidates.end(), others.begin(), others.end());
  }
  for (const std::filesystem::path& candidate : candidates) {
    if (!std::filesystem::exists(std::filesystem::symlink_status(candidate, none))) continue;
    try {
      const Checkpoint whole(candidate);
      return candidate;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::newerVersion) throw;
      if (error.code() != ErrorCode::badData)
        throwError(ErrorCode::inputOutput,
                   "{}. It may be whole: see that it can be read and try again, or move it out of its folder to go on "
                   "without it",
                   error.what());
      if (refused) refused->push_back({candidate, error.what()});
    }
  }
  return {};
}

Continuation continuationOf(const RunFolder& folder) {
  Continuation found;
  std::vector<RefusedCheckpoint> refused;
  std::error_code none;
  found.checkpoint = findCheckpoint(folder, Which::last, &refused);
  for (const RefusedCheckpoint& each : refused) found.warnings.push_back(each.reason);
  if (!found.checkpoint) {
    if (everWritten(folder))
      throwError(ErrorCode::badData,
                 "checkpoints of this run were written, but none in {} can be read: {}. Bring one back and resume "
                 "again, or start a new run",
                 folder.checkpoints().string(), refused.empty() ? "none is there" : refused.front().reason);
    found.warnings.push_back("the run has no checkpoint yet: it begins anew");
    return found;
  }
  // The run comes by their steps again, and must not write over them.
  for (const RefusedCheckpoint& each : refused) {
    std::filesystem::path aside = each.file;
    aside += kDamaged;
    for (int number = 2; std::filesystem::exists(aside); ++number)
      aside = fmt::format("{}{}-{}", each.file.string(), kDamaged, number);
    std::filesystem::rename(each.file, aside, none);  // where that cannot be, nothing can be written over it either
  }
  return found;
}

CheckpointKeeper::CheckpointKeeper(const RunFolder& folder) : m_folder(folder) {
  std::error_code fault;
  std::filesystem::create_directories(folder.checkpoints(), fault);
  if (fault) throwErrno(fault.value(), "make the folder", folder.checkpoints());
  const auto read = [&](const char* file) {
    const Json names = readNames(folder, file);
    if (names.is_null() && std::filesystem::exists(folder.checkpoints() / file)) m_allKnown = false;
    return names;
  };
  const Json last = read(pointerFile(Which::last));
  m_last = named(last, "file");
  m_before = named(last, "before");
  m_best = named(read(pointerFile(Which::best)), "file");
  if (const Json kept = read(kKeptFile); kept.is_array())
    for (const Json& name : kept)
      if (name.is_string()) m_kept.insert(name.get<std::string>());
}

void CheckpointKeeper::goOnFrom(const std::filesystem::path& checkpoint) {
  m_last = checkpoint.filename().string();
}

CheckpointKeeper::Written CheckpointKeeper::write(const Snapshot& snapshot, bool last,
                                                  const std::optional<Json>& bestOf, bool keep) {
  const std::string name = fileName(snapshot.step);
  std::vector<TensorFile::Tensor> tensors;
  for (const Snapshot::Tensor& tensor : snapshot.tensors) tensors.push_back({tensor.name, tensor.shape, tensor.values});
  TensorFile::write(m_folder.checkpoints() / name, tensors,
                    {{"format", "gradloom"}, {kPositionKey, snapshot.position.dump()}});
  m_written.insert(name);
  Json pointer = {{"file", name}, {"step", snapshot.step}};
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
    if (m_last != name) m_before = m_last;
    if (!m_before.empty()) pointer["before"] = m_before;
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
    const bool named = name == m_last || name == m_before || name == m_best || m_kept.count(name);
    if (leftOver || (isCheckpoint(item.path()) && !named && (m_allKnown || m_written.count(name))))
      doomed.push_back(item.path());
  }
  for (const std::filesystem::path& path : doomed) std::filesystem::remove(path, ignored);
}

}  // namespace loom

#include "engine/loom/tensor_service.h"

#include <chrono>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/loom/verbs.h"
#include "engine/program/backend.h"

namespace loom {
namespace {

constexpr std::chrono::milliseconds kTellEvery{200};
constexpr int kThreads = 2;  // a look must not slow down a training beside it

std::string wordOf(const Json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end()) return {};
  if (!found->is_string()) throwError(ErrorCode::badArgument, "tensor: \"{}\" is to be a text", key);
  return found->get<std::string>();
}

// ["main", "stage1"]
std::pair<std::string, std::string> pairOf(const Json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end()) return {};
  if (!found->is_array() || found->size() != 2 || !(*found)[0].is_string() || !(*found)[1].is_string())
    throwError(ErrorCode::badArgument, "tensor: \"{}\" is to be two texts", key);
  return {(*found)[0].get<std::string>(), (*found)[1].get<std::string>()};
}

std::int64_t idOf(const Json& request) {
  const auto found = request.find("id");
  return found != request.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

TensorService::TensorService() = default;
TensorService::~TensorService() = default;

void TensorService::heard(const Json& request) {
  const auto whose = request.find("for");
  const std::lock_guard lock(m_mutex);
  m_newest[whose != request.end() && whose->is_string() ? whose->get<std::string>() : std::string()] = idOf(request);
  if (m_newest.size() > 64) m_newest.clear();  // nobody has so many places to show one
}

bool TensorService::isOld(const Json& request) {
  const std::lock_guard lock(m_mutex);
  const auto newest = m_newest.find(wordOf(request, "for"));
  return newest != m_newest.end() && newest->second > idOf(request);
}

Json TensorService::perform(const Json& request, const std::string& bytes, std::string& more, const Tell& tell) {
  const std::string project = wordOf(request, "project");
  if (!m_probe) {
    m_backend = makeBackend("auto", kThreads);
    m_probe = std::make_unique<TensorProbe>(*m_backend);
  }
  if (!bytes.empty()) {
    m_project.clear();
    m_probe->setProject(bytes, wordOf(request, "folder"));
    m_project = project;
  }
  if (project.empty() || project != m_project)
    throwError(ErrorCode::badArgument, "tensor: the text of the project '{}' was not told", project);
  if (isOld(request)) throwError(ErrorCode::stopped, "a newer question has come");
  const auto [node, port] = pairOf(request, "from");
  const auto [useDrawing, useNode] = pairOf(request, "use");
  TensorQuestion question{.pin = {.drawing = wordOf(request, "drawing"),
                                  .from = {node, port},
                                  .to = wordOf(request, "to"),
                                  .useDrawing = useDrawing,
                                  .useNode = useNode},
                          .run = wordOf(request, "run")};
  if (const auto sample = request.find("sample"); sample != request.end()) {
    if (!sample->is_number_integer()) throwError(ErrorCode::badArgument, "tensor: \"sample\" is to be a whole number");
    question.sample = sample->get<std::int64_t>();
  }
  std::chrono::steady_clock::time_point told{};
  const TensorAnswer answer = m_probe->look(
      question,
      {.stop = &m_stop, .progress = [&](const std::string& dataset, const CacheProgress& progress) {
         const auto now = std::chrono::steady_clock::now();
         if (now - told < kTellEvery) return;
         told = now;
         tell({{"tensor", "reading"}, {"dataset", dataset}, {"done", progress.rowsDone}, {"total", progress.rowsTotal}},
              {});
       }});
  more.assign(answer.tensor.pixels.begin(), answer.tensor.pixels.end());
  return {{"tensor", toJson(answer.tensor)},
          {"network", answer.network},
          {"pin", answer.pin},
          {"dataset", answer.dataset},
          {"sample", answer.sample},
          {"samples", answer.samples},
          {"weights",
           {{"trained", answer.trained},
            {"step", answer.step},
            {"matched", answer.matched},
            {"parameters", answer.parameters}}}};
}

}  // namespace loom

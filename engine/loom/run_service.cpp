#include "engine/loom/run_service.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/loom/trained_runs.h"
#include "engine/loom/verbs.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

std::int64_t numberOf(const Json& request, const char* key) {
  const auto found = request.find(key);
  return found != request.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

std::vector<std::string> wordsOf(const Json& request) {
  const auto found = request.find("words");
  std::vector<std::string> words;
  const bool texts = found != request.end() && found->is_array() && !found->empty() &&
                     std::all_of(found->begin(), found->end(), [](const Json& each) { return each.is_string(); });
  if (!texts) throwError(ErrorCode::badArgument, "ask: \"words\" are to be texts: a verb, and what follows it");
  for (const Json& each : *found) words.push_back(each.get<std::string>());
  return words;
}

}  // namespace

RunService::RunService() : m_runs(std::make_unique<TrainedRuns>(m_stop)) {}
RunService::~RunService() = default;

void RunService::heard(const Json& request) {
  if (request.value("verb", std::string()) != "unask") return;
  const std::int64_t id = numberOf(request, "question");
  const std::lock_guard lock(m_mutex);
  if (m_now == id)
    m_stop = true;
  else if (id > m_now)
    m_dropped.insert(id);
}

Json RunService::perform(const Json& request, const std::string&, std::string&, const Tell& tell) {
  if (request["verb"] == "unask") return Json::object();
  const std::int64_t id = numberOf(request, "question");
  {
    const std::lock_guard lock(m_mutex);
    m_now = id;
    m_stop = m_ending || m_dropped.erase(id) > 0;
    std::erase_if(m_dropped, [&](std::int64_t each) { return each < id; });
  }
  if (m_stop) throwError(ErrorCode::stopped, "it was called off");
  CLI::App app{"", "loom"};
  app.require_subcommand(1);
  Session session{.stop = m_stop, .chosen = {}, .runs = m_runs.get(), .say = [&](std::string_view text) {
                    for (; !text.empty(); text.remove_prefix(std::min(text.size(), kPiece)))
                      tell({{"ask", id}}, text.substr(0, kPiece));
                  }};
  addEvaluate(app, session);
  addPredict(app, session);
  addLook(app, session);
  std::vector<std::string> words = wordsOf(request);
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& fault) {
    throwError(ErrorCode::badArgument, "{}", fault.what());
  }
  session.chosen();
  return Json::object();
}

}  // namespace loom

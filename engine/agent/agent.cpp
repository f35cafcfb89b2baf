#include "engine/agent/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <optional>

#include "engine/agent/facts.h"
#include "engine/agent/frame.h"
#include "engine/agent/jobs.h"
#include "engine/agent/store.h"
#include "engine/agent/tail.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/run/exit_code.h"
#include "engine/run/process.h"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLookMs = 40;

std::filesystem::path homeFolder() {
  const char* home = std::getenv("HOME");
  if (home && *home == '/') return home;
  const passwd* person = ::getpwuid(::geteuid());
  return person ? person->pw_dir : "/";
}

std::string textOf(const Json& request, const char* key) {
  const auto found = request.find(key);
  return found != request.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t integerOf(const Json& request, const char* key) {
  const auto found = request.find(key);
  return found != request.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

double timeNow() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class Agent {
 public:
  explicit Agent(const AgentOptions& options) : m_options(options), m_decoder(FrameDecoder::Start::atOnce) {
    settle("~/.cache/gradloom");
  }

  int serve() {
    write("\n");
    write(kStartMarker);
    auto heard = Clock::now();
    while (!m_gone) {
      pollfd file{m_options.in, POLLIN, 0};
      const int ready = ::poll(&file, 1, m_tails.empty() ? 1000 : kLookMs);
      if (ready > 0) {
        char buffer[65536];
        const ssize_t got = ::read(m_options.in, buffer, sizeof buffer);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) break;
        if (got > 0) {
          heard = Clock::now();
          m_decoder.feed(std::string_view(buffer, static_cast<std::size_t>(got)));
          while (m_decoder.next()) answer(m_decoder.header(), m_decoder.bytes());
        }
      }
      if (Clock::now() - heard > std::chrono::seconds(m_options.silenceSeconds)) break;
      look();
    }
    return kExitDone;
  }

 private:
  void settle(std::string base) {
    if (base == "~" || base.starts_with("~/")) base = homeFolder().string() + base.substr(1);
    m_base = std::filesystem::path(base);
    if (m_base.is_relative()) m_base = homeFolder() / m_base;
    if (!isPlainPath(m_base.string()))
      throwError(ErrorCode::badArgument,
                 "the folder '{}' is named in job scripts, where spaces and signs have a meaning: choose one of "
                 "letters, digits and ._-/+@%=,",
                 m_base.string());
    m_store = std::make_unique<DataStore>(m_base / "data",
                                          [this](const Json& header, std::string_view bytes) { tell(header, bytes); });
    m_jobs.emplace(m_base / "runs");
  }

  void answer(const Json& request, const std::string& bytes) {
    const Json id = request.contains("id") ? request["id"] : Json();
    std::string more;
    Json reply;
    try {
      reply = perform(request, bytes, more);
      reply["ok"] = true;
    } catch (const Error& error) {
      reply = {{"ok", false}, {"code", toString(error.code())}, {"message", error.what()}};
    } catch (const std::exception& fault) {
      reply = {{"ok", false}, {"code", toString(ErrorCode::internal)}, {"message", fault.what()}};
    }
    reply["re"] = id;
    tell(reply, more);
  }

  Json perform(const Json& request, const std::string& bytes, std::string& more) {
    const std::string verb = textOf(request, "verb"), job = textOf(request, "job");
    if (verb == "hello") return hello(request);
    if (verb == "ping") return {{"time", timeNow()}};
    if (verb == "facts") return machineFacts(m_base, integerOf(request, "need"));
    if (verb == "stat") return stat(textOf(request, "path"));
    if (verb == "put") return m_store->put(textOf(request, "sha256"), integerOf(request, "size"));
    if (verb == "chunk") return m_store->chunk(textOf(request, "sha256"), integerOf(request, "offset"), bytes);
    if (verb == "start")
      return m_jobs->start(job, request.value("launch", Json::object()), textOf(request, "script"), bytes);
    if (verb == "jobs") return {{"jobs", m_jobs->list()}};
    if (verb == "state") return {{"state", toJson(m_jobs->folder(job).state())}};
    if (verb == "control") return m_jobs->control(job, request.value("command", Json())), Json::object();
    if (verb == "cancel") return m_jobs->cancel(job, textOf(request, "how")), Json::object();
    if (verb == "files") return {{"files", m_jobs->files(job)}};
    if (verb == "get") return m_jobs->get(job, textOf(request, "file"), integerOf(request, "offset"), more);
    if (verb == "hash")
      return m_jobs->hash(job, textOf(request, "file"), [this] { tell({{"busy", true}}, {}); });
    if (verb == "tail") {
      m_tails.insert_or_assign(job,
                               JobTail(m_jobs->folder(job), integerOf(request, "events"), integerOf(request, "log")));
      return Json::object();
    }
    if (verb == "untail") return m_tails.erase(job), Json::object();
    throwError(ErrorCode::badArgument, "this engine ({}) knows no '{}'; the launcher is of another version",
               m_options.version, verb);
  }

  Json hello(const Json& request) {
    if (integerOf(request, "protocol") != kAgentProtocol)
      throwError(ErrorCode::newerVersion,
                 "the launcher speaks version {} of the agent's language, this engine ({}) version {}",
                 integerOf(request, "protocol"), m_options.version, kAgentProtocol);
    if (const std::string base = textOf(request, "base"); !base.empty()) settle(base);
    const passwd* person = ::getpwuid(::geteuid());
    return {{"protocol", kAgentProtocol},    {"version", m_options.version},
            {"machine", machineName()},      {"user", person ? person->pw_name : ""},
            {"home", homeFolder().string()}, {"base", m_base.string()},
            {"program", ownProgram()},       {"time", timeNow()}};
  }

  Json stat(const std::string& given) const {
    std::filesystem::path path = given.starts_with("~/") ? homeFolder() / given.substr(2) : m_base / given;
    std::error_code fault;
    const auto status = std::filesystem::status(path, fault);
    const bool folder = std::filesystem::is_directory(status), file = std::filesystem::is_regular_file(status);
    const bool readable = ::access(path.c_str(), R_OK) == 0;
    return {{"exists", std::filesystem::exists(status)},
            {"kind", folder ? "folder"
                     : file ? "file"
                            : "other"},
            {"readable", readable},
            {"size", file ? std::filesystem::file_size(path, fault) : 0},
            {"path", path.string()}};
  }

  void look() {
    for (auto each = m_tails.begin(); each != m_tails.end() && !m_gone;) {
      bool ended = false;
      try {
        ended =
            each->second.look(each->first, [this](const Json& header, std::string_view bytes) { tell(header, bytes); });
      } catch (const Error& error) {
        tell({{"job", each->first}, {"fault", error.what()}}, {});
        ended = true;
      }
      each = ended ? m_tails.erase(each) : std::next(each);
    }
  }

  void tell(const Json& header, std::string_view bytes) { write(encodeFrame(header, bytes)); }

  void write(std::string_view bytes) {
    while (!bytes.empty() && !m_gone) {
      const ssize_t put = ::write(m_options.out, bytes.data(), bytes.size());
      if (put > 0)
        bytes.remove_prefix(static_cast<std::size_t>(put));
      else if (put < 0 && errno == EAGAIN) {
        pollfd file{m_options.out, POLLOUT, 0};
        ::poll(&file, 1, 1000);
      } else if (put < 0 && errno != EINTR)
        m_gone = true;
    }
  }

  AgentOptions m_options;
  FrameDecoder m_decoder;
  std::filesystem::path m_base;
  std::unique_ptr<DataStore> m_store;
  std::optional<Jobs> m_jobs;
  std::map<std::string, JobTail> m_tails;
  bool m_gone = false;
};

}  // namespace

int serveAgent(const AgentOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  Agent agent(options);
  return agent.serve();
}

}  // namespace loom

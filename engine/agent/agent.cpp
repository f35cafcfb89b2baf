#include "engine/agent/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>

#include "engine/agent/facts.h"
#include "engine/agent/frame.h"
#include "engine/agent/held_jobs.h"
#include "engine/agent/jobs.h"
#include "engine/agent/own_engine.h"
#include "engine/agent/store.h"
#include "engine/agent/tail.h"
#include "engine/agent/wall_clock.h"
#include "engine/agent/worker.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/run/exit_code.h"
#include "engine/run/process.h"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kShortestMs = 5, kLongestMs = 1000;  // between two looks at the jobs
constexpr std::chrono::milliseconds kBusyEvery{1500};
constexpr const char* kUsual = "~/.cache/gradloom";

// Nothing is wrong with a request that failed so: a batch system or a file server did not answer.
bool mayBeAskedAgain(ErrorCode code) {
  return code == ErrorCode::communication;
}

// Nothing of a launcher that knows no "cut".
std::optional<LogMarks> marksOf(const Json& request) {
  const auto found = request.find("marks");
  if (found == request.end() || !found->is_array()) return {};
  LogMarks marks;
  for (const Json& each : *found)
    if (each.is_array() && each.size() == 2 && each[0].is_number_integer() && each[1].is_string())
      marks.emplace_back(each[0].get<std::int64_t>(), each[1].get<std::string>());
  return marks;
}

std::string architecture() {
  utsname system{};
  return ::uname(&system) == 0 ? system.machine : "";
}

// What lies in the base is run and believed: nobody else may have put it there.
void requireOwn(const std::filesystem::path& base) {
  struct stat status {};
  if (::stat(base.c_str(), &status) != 0) return;  // it is made when something is to be kept there
  const auto refuse = [&](const std::string& why) {
    throwError(ErrorCode::badArgument,
               "the folder {} on {} {}: programs and runs that lie there could be another person's; name a folder of "
               "your own for this host",
               base.string(), machineName(), why);
  };
  if (status.st_uid != ::geteuid()) {
    const passwd* owner = ::getpwuid(status.st_uid);
    refuse("belongs to " + (owner ? std::string(owner->pw_name) : std::to_string(status.st_uid)));
  }
  if ((status.st_mode & S_IWOTH) && !(status.st_mode & S_ISVTX)) refuse("may be written by everyone");
}

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

class Agent {
 public:
  explicit Agent(const AgentOptions& options) : m_options(options), m_decoder(FrameDecoder::Start::atOnce) {}

  int serve() {
    write("\n");
    write(kStartMarker);
    auto heard = Clock::now();
    while (!m_gone) {
      pollfd file{m_options.in, POLLIN, 0};
      const int ready = ::poll(&file, 1, pause());
      if (ready > 0) {
        char buffer[65536];
        const ssize_t got = ::read(m_options.in, buffer, sizeof buffer);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) break;
        if (got > 0) {
          heard = Clock::now();
          m_decoder.feed(std::string_view(buffer, static_cast<std::size_t>(got)));
          while (m_decoder.next()) take(m_decoder.header(), m_decoder.bytes());
        }
      }
      if (Clock::now() - heard > std::chrono::seconds(m_options.silenceSeconds)) break;
      look();
      tellBusy();
    }
    if (m_gone) m_files.drop(), m_starts.drop();
    m_looks.drop();
    if (m_options.service) m_options.service->stop();
    return kExitDone;
  }

 private:
  static std::filesystem::path folderOf(std::string base) {
    if (base == "~" || base.starts_with("~/")) base = homeFolder().string() + base.substr(1);
    std::filesystem::path path(base);
    if (path.is_relative()) path = homeFolder() / path;
    if (!isPlainPath(path.string()))
      throwError(ErrorCode::badArgument,
                 "the folder '{}' is named in job scripts, where spaces and signs have a meaning: name another folder "
                 "for this host, of letters, digits and ._-/+@%=,",
                 path.string());
    return path;
  }

  void settle(const std::filesystem::path& base) {
    m_base = base;
    m_store = std::make_unique<DataStore>(m_base / "data",
                                          [this](const Json& header, std::string_view bytes) { tell(header, bytes); });
    m_jobs.emplace(m_base / "runs", m_desk);
  }

  int pause() const {
    auto next = Clock::now() + std::chrono::milliseconds(kLongestMs);
    for (const auto& [id, tail] : m_tails) next = std::min(next, tail.next());
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left + 1, kShortestMs, kLongestMs));
  }

  // Which thread does it: what is asked of a batch system is not to hold up what is asked of the disk.
  void take(const Json& request, const std::string& bytes) {
    const std::string verb = textOf(request, "verb"), job = textOf(request, "job");
    const bool served = m_options.service && m_options.service->knows(verb);
    if (served) m_options.service->heard(request);
    Worker* const worker = served                                                                       ? &m_looks
                           : verb == "start" || verb == "cancel" || verb == "settle" || verb == "place" ? &m_starts
                           : verb == "facts" || verb == "put" || verb == "chunk" || verb == "jobs" || verb == "state" ||
                                   verb == "files" || verb == "get" || verb == "stat"
                               ? &m_files
                               : nullptr;
    if (!worker) return answer(request, bytes);
    worker->add(job.empty() ? verb : verb + " " + job, [this, request, bytes] { answer(request, bytes); });
  }

  void tellBusy() {
    if (Clock::now() < m_busyAt) return;
    m_busyAt = Clock::now() + kBusyEvery;
    for (const Worker* each : {&m_starts, &m_files, &m_looks})
      if (const auto busy = each->busy(kBusyEvery))
        tell({{"busy", true}, {"doing", busy->name}, {"seconds", busy->since.count()}, {"waiting", busy->waiting}}, {});
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
      if (mayBeAskedAgain(error.code())) reply["again"] = true;
    } catch (const std::exception& fault) {
      reply = {{"ok", false}, {"code", toString(ErrorCode::internal)}, {"message", fault.what()}};
    }
    reply["re"] = id;
    tell(reply, more);
  }

  Json perform(const Json& request, const std::string& bytes, std::string& more) {
    const std::string verb = textOf(request, "verb"), job = textOf(request, "job");
    if (m_options.service && m_options.service->knows(verb))
      return m_options.service->perform(request, bytes, more,
                                        [this](const Json& header, std::string_view told) { tell(header, told); });
    if (verb == "hello") return hello(request);
    if (verb == "ping") return {{"time", wallClock()}};
    if (!m_jobs) throwError(ErrorCode::badArgument, "'{}' comes before 'hello', which names the folder", verb);
    if (verb == "facts") {
      Json facts = machineFacts(m_base, integerOf(request, "need"), textOf(request, "libraries"));
      facts["damaged"] = engineFault(ownEngine(), EngineLook::isTheSame);
      return facts;
    }
    if (verb == "stat") return stat(textOf(request, "path"));
    if (verb == "put") return m_store->put(textOf(request, "sha256"), integerOf(request, "size"));
    if (verb == "chunk") return m_store->chunk(textOf(request, "sha256"), integerOf(request, "offset"), bytes);
    if (verb == "start")
      return m_jobs->start(job, request.value("launch", Json::object()), textOf(request, "script"), bytes);
    if (verb == "place") return m_jobs->place(job, request.value("files", Json::object()), *m_store), Json::object();
    if (verb == "jobs") return {{"jobs", m_jobs->list()}};
    if (verb == "state") return {{"state", toJson(m_jobs->state(job))}};
    if (verb == "control") return m_jobs->control(job, request.value("command", Json())), Json::object();
    if (verb == "cancel") return m_jobs->cancel(job, textOf(request, "how")), Json::object();
    if (verb == "settle")
      return {{"state", toJson(m_jobs->settle(job, static_cast<int>(integerOf(request, "start"))))}};
    if (verb == "files") return {{"files", m_jobs->files(job)}};
    if (verb == "get") return m_jobs->get(job, textOf(request, "file"), integerOf(request, "offset"), more);
    if (verb == "hash") return m_jobs->hash(job, textOf(request, "file"), [this] { tell({{"busy", true}}, {}); });
    if (verb == "tail") {
      const JobFolder folder = m_jobs->folder(job);
      m_tails.insert_or_assign(job, JobTail(folder, std::max<std::int64_t>(integerOf(request, "events"), 0),
                                            std::max<std::int64_t>(integerOf(request, "log"), 0), marksOf(request),
                                            lookAndRelease(folder, m_desk)));
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
    const std::string named = textOf(request, "base");
    const std::filesystem::path base =
        named.empty() && !m_base.empty() ? m_base : folderOf(named.empty() ? kUsual : named);
    requireOwn(base);
    if (base != m_base) {
      m_starts.drain();
      m_files.drain();
      settle(base);
    }
    const passwd* person = ::getpwuid(::geteuid());
    return {{"protocol", kAgentProtocol},
            {"version", m_options.version},
            {"machine", machineName()},
            {"architecture", architecture()},
            {"user", person ? person->pw_name : ""},
            {"home", homeFolder().string()},
            {"base", m_base.string()},
            {"program", ownProgram()},
            {"damaged", engineFault(ownEngine(), EngineLook::isThere)},
            {"time", wallClock()}};
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
        Json fault = {{"job", each->first}, {"fault", error.what()}};
        if (mayBeAskedAgain(error.code())) fault["again"] = true;
        tell(fault, {});
        ended = true;
      }
      each = ended ? m_tails.erase(each) : std::next(each);
    }
  }

  void tell(const Json& header, std::string_view bytes) { write(encodeFrame(header, bytes)); }

  // A frame is written whole, whichever thread has it to say.
  void write(std::string_view bytes) {
    const std::lock_guard lock(m_writing);
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
  BatchDesk m_desk;
  std::optional<Jobs> m_jobs;
  std::map<std::string, JobTail> m_tails;
  Clock::time_point m_busyAt{};
  std::mutex m_writing;
  std::atomic<bool> m_gone{false};
  Worker m_looks, m_files, m_starts;  // last: they end before what they work on
};

}  // namespace

int serveAgent(const AgentOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  ::umask(077);  // logs, projects and module lines are nobody else's
  Agent agent(options);
  return agent.serve();
}

}  // namespace loom

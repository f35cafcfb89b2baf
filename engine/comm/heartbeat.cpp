#include "engine/comm/heartbeat.h"

#include <unistd.h>

#include <cstdlib>

#include "engine/base/json.h"

namespace loom {
namespace {

constexpr auto kPause = std::chrono::seconds(1);
constexpr std::size_t kLongestText = 400;  // a line stays below what a pipe takes whole

}  // namespace

std::string toLine(const RankSign& sign) {
  Json json = {{"rank", sign.rank},      {"ranks", sign.ranks},       {"host", sign.host},
               {"pid", sign.pid},        {"step", sign.step},         {"entered", sign.entered},
               {"left", sign.left},      {"progress", sign.progress}, {"operation", sign.operation},
               {"subject", sign.subject}};
  if (sign.done) json["done"] = true;
  if (!sign.failed.empty()) json["failed"] = sign.failed.substr(0, kLongestText);
  return std::string(kHeartbeatMark) + json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::optional<RankSign> parseSign(std::string_view line) {
  const std::size_t mark = line.find(kHeartbeatMark);
  if (mark == std::string_view::npos) return {};
  const Json json = Json::parse(line.substr(mark + kHeartbeatMark.size()), nullptr, false);
  if (!json.is_object()) return {};
  try {
    return RankSign{.rank = json.at("rank").get<int>(),
                    .ranks = json.at("ranks").get<int>(),
                    .host = json.at("host").get<std::string>(),
                    .pid = json.at("pid").get<long>(),
                    .step = json.at("step").get<std::int64_t>(),
                    .entered = json.at("entered").get<std::uint64_t>(),
                    .left = json.at("left").get<std::uint64_t>(),
                    .progress = json.at("progress").get<std::uint64_t>(),
                    .operation = json.at("operation").get<std::string>(),
                    .subject = json.at("subject").get<std::string>(),
                    .done = json.value("done", false),
                    .failed = json.value("failed", std::string())};
  } catch (const Json::exception&) {
    return {};
  }
}

Heartbeat::Heartbeat(const Communicator& communicator, std::string host)
    : m_communicator(communicator), m_host(std::move(host)) {
  if (!std::getenv(kSupervisedVariable)) return;
  m_thread = std::thread([this] {
    std::unique_lock lock(m_mutex);
    while (!m_ending) {
      write(false, {});
      m_wake.wait_for(lock, kPause, [this] { return m_ending; });
    }
  });
}

Heartbeat::~Heartbeat() {
  if (!m_thread.joinable()) return;
  {
    const std::lock_guard lock(m_mutex);
    m_ending = true;
  }
  m_wake.notify_all();
  m_thread.join();
  write(true, {});
}

void Heartbeat::failed(const std::string& message) {
  const std::lock_guard lock(m_mutex);
  if (m_thread.joinable()) write(false, message);
}

void Heartbeat::write(bool done, const std::string& failed) {
  const CollectiveActivity& activity = m_communicator.activity();
  const std::string line = toLine({.rank = m_communicator.rank(),
                                   .ranks = m_communicator.size(),
                                   .host = m_host,
                                   .pid = static_cast<long>(::getpid()),
                                   .step = activity.step.load(std::memory_order_relaxed),
                                   .entered = activity.entered.load(std::memory_order_acquire),
                                   .left = activity.left.load(std::memory_order_acquire),
                                   .progress = activity.progress.load(std::memory_order_relaxed),
                                   .operation = activity.operation.load(std::memory_order_relaxed),
                                   .subject = activity.subject.load(std::memory_order_relaxed),
                                   .done = done,
                                   .failed = failed}) +
                           "\n";
  // One write(): a line is never torn by another thread's. A supervisor that went away is no reason to end.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace loom

#pragma once
// A host that answers what a test wants it to: an agent without a machine behind it.
#include <sys/eventfd.h>
#include <unistd.h>

#include <QMutex>
#include <functional>

#include "engine/agent/agent.h"
#include "engine/agent/frame.h"
#include "engine/base/json.h"
#include "launcher/ssh/local_transport.h"

namespace loom {

class ScriptedHost {
 public:
  // Bytes to send on a request: answer(...) of it, or anything. Called on the line's thread alone, and still when the
  // test's function has returned: it holds what it needs by value.
  std::function<QByteArray(const Json& request)> script;

  std::atomic<bool> chatters{false};  // it has something to tell whenever it is listened to

  static QByteArray frame(const Json& header, const QByteArray& bytes = {}) {
    return QByteArray::fromStdString(encodeFrame(header, bytes.toStdString()));
  }
  static QByteArray answer(const Json& request, Json reply) {
    reply["re"] = request["id"];
    if (!reply.contains("ok")) reply["ok"] = true;
    return frame(reply);
  }
  // What every test wants: a greeting, and data that is taken in.
  static QByteArray usual(const Json& request) {
    const std::string verb = request.value("verb", "");
    if (verb == "hello")
      return answer(request, {{"version", "scripted"}, {"base", "/there"}, {"program", "/there/loom"}});
    if (verb == "put") return answer(request, {{"have", 0}, {"done", false}});
    if (verb == "chunk") return answer(request, {{"have", 1}, {"done", true}, {"path", "/there/data/x.pack"}});
    return answer(request, Json::object());
  }
  void forget() {
    const QMutexLocker lock(&m_mutex);
    m_asked.clear();
  }
  int count(const char* verb) {
    const QMutexLocker lock(&m_mutex);
    return static_cast<int>(
        std::count_if(m_asked.begin(), m_asked.end(), [&](const Json& each) { return each["verb"] == verb; }));
  }
  Json last(const char* verb) {
    const QMutexLocker lock(&m_mutex);
    const auto found =
        std::find_if(m_asked.rbegin(), m_asked.rend(), [&](const Json& each) { return each["verb"] == verb; });
    return found == m_asked.rend() ? Json::object() : *found;
  }
  std::unique_ptr<HostTransport> transport() { return std::make_unique<Transport>(*this); }

 private:
  class Channel : public ByteChannel {
   public:
    explicit Channel(ScriptedHost& host)
        : m_host(host), m_wake(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)), m_decoder(FrameDecoder::Start::atOnce) {
      m_out = QByteArray(kStartMarker.data(), static_cast<qsizetype>(kStartMarker.size()));
    }
    ~Channel() override { ::close(m_wake); }
    int descriptor() const override { return m_wake; }
    QByteArray read() override {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto got = ::read(m_wake, &count, sizeof count);
      return std::exchange(m_out, {}) + (m_host.chatters ? frame({{"job", "a"}, {"warning", "x"}}) : QByteArray());
    }
    qint64 write(const char* data, qint64 size) override {
      m_decoder.feed(std::string_view(data, static_cast<std::size_t>(size)));
      while (m_decoder.next()) {
        {
          const QMutexLocker lock(&m_host.m_mutex);
          m_host.m_asked.push_back(m_decoder.header());
        }
        m_out += m_host.script(m_decoder.header());
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto put = ::write(m_wake, &one, sizeof one);
      }
      return size;
    }
    void closeInput() override {}
    bool ended() const override { return false; }
    std::optional<int> exitCode() const override { return {}; }
    QByteArray complaint() const override { return {}; }

   private:
    ScriptedHost& m_host;
    int m_wake;
    FrameDecoder m_decoder;
    QByteArray m_out;
  };
  class Transport : public LocalTransport {
   public:
    explicit Transport(ScriptedHost& host) : m_host(host) {}
    std::unique_ptr<ByteChannel> execute(const QByteArray&) override { return std::make_unique<Channel>(m_host); }

   private:
    ScriptedHost& m_host;
  };

  QMutex m_mutex;
  std::vector<Json> m_asked;
};

}  // namespace loom

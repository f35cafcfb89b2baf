#pragma once
// A launcher's end of the line to one `loom agent` (engine/agent/agent.h): requests and their answers, what it tells by
// itself, and noticing that it no longer speaks. Lives on the line's thread.
#include <QByteArray>
#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QSocketNotifier>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>

#include "engine/agent/frame.h"
#include "launcher/ssh/byte_channel.h"

namespace loom {

struct AgentTimes {
  int pingMs = 5000;      // without a word to it until it is asked whether it is there
  int silenceMs = 20000;  // until the line counts as broken
  int startMs = 40000;    // until its first word: a login shell with modules takes its time
  int checkMs = 180000;   // for an answer that a check waits for: busy for ever is no answer
};

class AgentClient : public QObject {
 public:
  // header["ok"] tells whether it was done; otherwise "code" and "message".
  using Reply = std::function<void(const Json& header, const QByteArray& bytes)>;
  struct Loss {
    QString sentence;
    bool neverSpoke = false;      // the agent did not start
    std::optional<int> exitCode;  // of its program
  };

  AgentClient(std::unique_ptr<ByteChannel> channel, AgentTimes times = {});
  ~AgentClient() override;

  void ask(const Json& request, Reply reply);
  void ask(const Json& request, const QByteArray& bytes, Reply reply);

  // Nothing is asked or told any more. Closing the channel waits for its program: where that may not be, elsewhere.
  std::unique_ptr<ByteChannel> takeChannel();

  std::function<void(const Json& header, const QByteArray& bytes)> told;  // not an answer
  std::function<void(const Loss&)> lost;                                  // once; nothing comes afterwards

 private:
  void readable();
  void flush();
  void watch();
  void take(const Json& header, const QByteArray& bytes);
  void lose(const QString& sentence);

  std::unique_ptr<ByteChannel> m_channel;
  AgentTimes m_times;
  std::unique_ptr<FrameDecoder> m_decoder;
  std::unique_ptr<QSocketNotifier> m_notifier;
  QTimer m_watch, m_flush;
  QElapsedTimer m_heard, m_said;
  QByteArray m_out;
  qsizetype m_written = 0;
  QHash<int, Reply> m_replies;
  int m_last = 0;
  bool m_lost = false;
};

}  // namespace loom

#include "launcher/remote/agent_client.h"

#include <QPointer>

#include "engine/base/error.h"
#include "engine/base/foreign.h"
#include "engine/base/json.h"

namespace loom {
namespace {

constexpr int kWatchMs = 250;
constexpr int kFlushMs = 5;
constexpr std::size_t kLongestWord = 300;

QString lastLineOf(const QByteArray& text) {
  const QList<QByteArray> lines = text.trimmed().split('\n');
  return QString::fromStdString(
      shownText(lines.isEmpty() ? std::string() : lines.back().trimmed().toStdString(), kLongestWord));
}

}  // namespace

AgentClient::AgentClient(std::unique_ptr<ByteChannel> channel, AgentTimes times)
    : m_channel(std::move(channel)),
      m_times(times),
      m_decoder(std::make_unique<FrameDecoder>(FrameDecoder::Start::afterMarker)),
      m_notifier(std::make_unique<QSocketNotifier>(m_channel->descriptor(), QSocketNotifier::Read)),
      m_watch(this),
      m_flush(this) {
  connect(m_notifier.get(), &QSocketNotifier::activated, this, &AgentClient::readable);
  connect(&m_watch, &QTimer::timeout, this, &AgentClient::watch);
  connect(&m_flush, &QTimer::timeout, this, &AgentClient::flush);
  m_watch.start(kWatchMs);
  m_flush.setInterval(kFlushMs);
  m_heard.start();
  m_said.start();
}

AgentClient::~AgentClient() {
  m_notifier.reset();  // before the channel closes its descriptor
}

std::unique_ptr<ByteChannel> AgentClient::takeChannel() {
  m_lost = true;
  m_watch.stop();
  m_flush.stop();
  m_notifier.reset();
  m_replies.clear();
  return std::move(m_channel);
}

void AgentClient::ask(const Json& request, Reply reply) {
  ask(request, QByteArray(), std::move(reply));
}

void AgentClient::ask(const Json& wish, const QByteArray& bytes, Reply reply) {
  if (m_lost) return;
  m_said.restart();
  Json request = wish;
  request["id"] = ++m_last;
  m_replies.insert(m_last, std::move(reply));
  const std::string frame =
      encodeFrame(request, std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
  m_out.append(frame.data(), static_cast<qsizetype>(frame.size()));
  flush();
}

void AgentClient::flush() {
  if (m_lost) return;
  try {
    while (m_written < m_out.size()) {
      const qint64 put = m_channel->write(m_out.constData() + m_written, m_out.size() - m_written);
      if (put <= 0) break;
      m_written += put;
    }
  } catch (const Error& error) {
    // Not at once: the caller is in the middle of asking.
    QMetaObject::invokeMethod(
        this, [this, text = QString::fromStdString(error.what())] { lose(text); }, Qt::QueuedConnection);
    return;
  }
  if (m_written == m_out.size()) {
    m_out.clear();
    m_written = 0;
    m_flush.stop();
  } else {
    if (m_written > (1 << 20)) m_out.remove(0, std::exchange(m_written, 0));
    if (!m_flush.isActive()) m_flush.start();
  }
}

void AgentClient::readable() {
  if (m_lost) return;
  const QPointer<AgentClient> self(this);  // an answer may end this line
  try {
    const QByteArray bytes = m_channel->read();
    if (!bytes.isEmpty()) {
      m_heard.restart();
      m_decoder->feed(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
      while (m_decoder->next()) {
        Json header = m_decoder->header();
        makeShowable(header);
        take(header, QByteArray::fromStdString(m_decoder->bytes()));
        if (!self || m_lost) return;
      }
    }
    if (m_channel->ended()) {
      const QString word = lastLineOf(m_channel->complaint());
      lose(word.isEmpty() ? QStringLiteral("the program on the host ended")
                          : QStringLiteral("the program on the host ended: %1").arg(word));
    }
  } catch (const Error& error) {
    if (self) lose(QString::fromStdString(error.what()));
  } catch (const std::exception& fault) {  // a value of another type than it should be
    if (self) lose(QStringLiteral("the host says what cannot be understood: %1").arg(QString::fromUtf8(fault.what())));
  }
}

void AgentClient::watch() {
  readable();  // what a library holds decrypted makes no descriptor readable
  if (m_lost) return;
  const qint64 silence = m_heard.elapsed();
  if (!m_decoder->started()) {
    if (silence > m_times.startMs) lose(QStringLiteral("no word of the agent within %1 s").arg(m_times.startMs / 1000));
  } else if (silence > m_times.silenceMs) {
    lose(QStringLiteral("the host has not answered for %1 s").arg(silence / 1000));
  } else if (m_said.elapsed() > m_times.pingMs) {  // the agent, too, takes silence for the end, however much it tells
    ask({{"verb", "ping"}}, [](const Json&, const QByteArray&) {});
  }
}

void AgentClient::take(const Json& header, const QByteArray& bytes) {
  const auto re = header.find("re");
  if (re == header.end()) {
    if (told && !header.contains("busy")) told(header, bytes);
    return;
  }
  const Reply reply = m_replies.take(re->is_number_integer() ? re->get<int>() : 0);
  if (reply) reply(header, bytes);
}

void AgentClient::lose(const QString& sentence) {
  if (m_lost) return;
  m_lost = true;
  m_watch.stop();
  m_flush.stop();
  m_notifier->setEnabled(false);
  Loss loss{sentence, !m_decoder->started(), m_channel->exitCode()};
  if (loss.neverSpoke) {
    const QString said = lastLineOf(m_channel->complaint() + '\n' + QByteArray::fromStdString(m_decoder->preamble()));
    if (!said.isEmpty() && !sentence.contains(said)) loss.sentence += QStringLiteral("; it said: %1").arg(said);
  }
  m_replies.clear();
  if (lost) lost(loss);
}

}  // namespace loom

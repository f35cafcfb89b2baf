#include "launcher/remote/upload.h"

#include "engine/base/json.h"

namespace loom {
namespace {

constexpr qint64 kPiece = 256 << 10;
constexpr qint64 kAhead = 4 << 20;  // fills a line of 100 ms at 40 MB/s

}  // namespace

void Upload::begin() {
  if (!m_file.open(QIODevice::ReadOnly))
    return fail(QStringLiteral("%1 cannot be read: %2").arg(m_data.file, m_file.errorString()));
  m_agent.ask({{"verb", "put"}, {"sha256", m_data.sha256.toStdString()}, {"size", m_data.size}},
              [self = shared_from_this()](const Json& header, const QByteArray&) {
                if (self->m_over) return;
                if (header.value("ok", false)) self->m_sent = header.value("have", qint64{0});
                self->taken(header);
              });
}

void Upload::fail(const QString& sentence) {
  if (std::exchange(m_over, true)) return;
  m_listener.failed(sentence);
}

void Upload::taken(const Json& header) {
  if (m_over) return;
  if (!header.value("ok", false))
    return fail(QString::fromStdString(header.value("message", std::string("the host does not say why"))));
  const qint64 have = header.value("have", qint64{0});
  if (have < 0 || have > m_data.size)
    return fail(QStringLiteral("the host says that it has %1 bytes of %2").arg(have).arg(m_data.size));
  m_acknowledged = have;
  m_listener.progress(m_acknowledged);
  if (header.value("done", false)) {
    m_over = true;
    m_listener.done(QString::fromStdString(header.value("path", std::string())));
    return;
  }
  sendMore();
}

void Upload::sendMore() {
  while (!m_over && m_sent < m_data.size && m_sent - m_acknowledged < kAhead) {
    if (!m_file.seek(m_sent))
      return fail(QStringLiteral("%1 cannot be read: %2").arg(m_data.file, m_file.errorString()));
    const QByteArray piece = m_file.read(std::min(kPiece, m_data.size - m_sent));
    if (piece.isEmpty()) return fail(QStringLiteral("%1 became shorter while it was sent").arg(m_data.file));
    const qint64 at = std::exchange(m_sent, m_sent + piece.size());
    m_agent.ask({{"verb", "chunk"}, {"sha256", m_data.sha256.toStdString()}, {"offset", at}}, piece,
                [self = shared_from_this()](const Json& header, const QByteArray&) { self->taken(header); });
  }
}

}  // namespace loom

#include "launcher/remote/host_lines.h"

namespace loom {

HostLines::HostLines(HostStore& store, LineOptions options, QObject* parent)
    : QObject(parent), m_store(store), m_options(std::move(options)) {
  connect(&m_store, &HostStore::hostChanged, this, [this](const QString& id) {
    if (HostLine* const line = m_lines.value(id)) line->setHost(*m_store.find(id));
  });
  connect(&m_store, &HostStore::hostRemoved, this, [this](const QString& id) {
    HostLine* const line = m_lines.take(id);
    if (!line) return;
    Q_EMIT removed(id, line);
    line->disconnectNow();
    // Not at once: whoever took the host from the list may be answering a signal of this very line.
    line->deleteLater();
  });
}

HostLines::~HostLines() {
  for (HostLine* const each : std::as_const(m_lines)) each->end();  // all at once, before each is waited for
}

HostLine* HostLines::line(const QString& host) {
  if (HostLine* const known = m_lines.value(host)) return known;
  const Host* const found = m_store.find(host);
  if (!found) return nullptr;
  auto* const line = new HostLine(*found, m_options, this);
  m_lines.insert(host, line);
  connect(line, &HostLine::question, this,
          [this, host](int id, const SshQuestion& question) { Q_EMIT this->question(host, id, question); });
  connect(line, &HostLine::stateChanged, this, [this, host] { Q_EMIT stateChanged(host); });
  return line;
}

}  // namespace loom

#include "launcher/remote/questions.h"

#include <QElapsedTimer>

#include "engine/base/foreign.h"

namespace loom {
namespace {

constexpr std::size_t kLongestQuestion = 1000;

}  // namespace

Questions::~Questions() {
  for (QHash<QString, QString>* each : {&m_known, &m_fresh})
    for (QString& secret : *each) secret.fill(QChar(0));
}

void Questions::begin(Mode mode) {
  const QMutexLocker lock(&m_mutex);
  m_mode = mode;
  m_gaveUp = false;
  m_waitedMs = 0;
  m_fresh.clear();
  m_used.clear();
}

std::optional<QString> Questions::ask(const SshQuestion& asked) {
  SshQuestion question = asked;
  for (QString* each : {&question.host, &question.text, &question.note, &question.fingerprint, &question.refused})
    *each = QString::fromStdString(shownText(each->toStdString(), kLongestQuestion));
  QMutexLocker lock(&m_mutex);
  if (question.kind == SshQuestion::Kind::notice) {
    if (m_mode == Mode::mustNotAsk || m_gaveUp) return {};
    lock.unlock();
    m_show(0, question);
    return QString();
  }
  const QString key = keyOf(question);
  // A code is good once; a second question with the same words means that the first answer was wrong.
  const bool lasting = question.kind == SshQuestion::Kind::password || question.kind == SshQuestion::Kind::passphrase;
  if (lasting && m_known.contains(key) && !m_used.contains(key)) {
    m_used.insert(key);
    return m_known.value(key);
  }
  if (m_mode == Mode::mustNotAsk || m_gaveUp) return {};
  const int id = m_open = ++m_last;
  m_given = false;
  QElapsedTimer clock;
  clock.start();
  lock.unlock();
  m_show(id, question);
  lock.relock();
  while (!m_given && !m_gaveUp) m_answered.wait(&m_mutex);
  m_open = 0;
  m_waitedMs += static_cast<double>(clock.nsecsElapsed()) / 1e6;
  if (!m_given) {
    lock.unlock();
    m_withdraw(id);
    return {};
  }
  const auto text = std::exchange(m_text, std::nullopt);
  if (text && lasting) m_fresh.insert(key, *text);
  return text;
}

void Questions::accepted() {
  const QMutexLocker lock(&m_mutex);
  for (auto each = m_fresh.begin(); each != m_fresh.end(); ++each) m_known.insert(each.key(), each.value());
  m_fresh.clear();
}

void Questions::refused() {
  const QMutexLocker lock(&m_mutex);
  for (const QString& each : m_used) m_known.remove(each);
  m_fresh.clear();
}

double Questions::waitedMs() {
  const QMutexLocker lock(&m_mutex);
  return m_waitedMs;
}

void Questions::answer(int id, const std::optional<QString>& text) {
  const QMutexLocker lock(&m_mutex);
  if (id != m_open || m_given) return;
  m_text = text;
  m_given = true;
  m_answered.wakeAll();
}

void Questions::giveUp() {
  const QMutexLocker lock(&m_mutex);
  m_gaveUp = true;
  m_answered.wakeAll();
}

}  // namespace loom

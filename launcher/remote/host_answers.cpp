#include "launcher/remote/host_answers.h"

#include <QDir>
#include <QFileInfo>

namespace loom {
namespace {

// Of all that ask one host: its line tells everybody of every answer.
int newNumber() {
  static int last = 0;
  return ++last;
}

}  // namespace

HostAnswers::HostAnswers(HostLine& line, const QString& name, const QString& run, QObject* parent)
    : RunAnswers(parent), m_line(&line), m_name(name), m_run(run) {
  connect(&line, &HostLine::stateChanged, this, &HostAnswers::lineChanged);
  connect(&line, &HostLine::said, this, [this](int question, const QByteArray& bytes) {
    if (m_waiting.contains(question)) Q_EMIT told(question, bytes);
  });
  connect(&line, &HostLine::askAnswered, this, [this](int question) {
    if (m_waiting.remove(question) > 0) Q_EMIT answered(question);
  });
  connect(&line, &HostLine::askRefused, this, &HostAnswers::end);
  connect(&line, &HostLine::fetched, this, [this](const QString& run, const QString&, const QString& to) {
    if (run != m_run) return;
    for (const int question : m_waiting.keys()) {
      Question& each = m_waiting[question];
      if (each.files.isEmpty() || each.files.first().here != to) continue;
      each.files.removeFirst();
      each.sent = false;
      if (!each.files.isEmpty()) return send(question);
      m_waiting.remove(question);
      Q_EMIT brought(question);
      return;
    }
  });
  connect(&line, &HostLine::fetchFailed, this,
          [this](const QString& run, const QString& file, const QString& sentence) {
            if (run != m_run) return;
            for (const int question : m_waiting.keys())
              if (!m_waiting[question].files.isEmpty() && m_waiting[question].files.first().there == file)
                end(question, tr("%1 did not come from there: %2").arg(file, sentence));
          });
}

int HostAnswers::ask(const QStringList& words) {
  const int question = newNumber();
  m_waiting[question].words = words;
  // Queued, so that whoever asks knows the number before anything is said.
  QMetaObject::invokeMethod(this, &HostAnswers::lineChanged, Qt::QueuedConnection);
  return question;
}

int HostAnswers::bring(const QList<File>& files) {
  const int question = newNumber();
  m_waiting[question].files = files;
  QMetaObject::invokeMethod(this, &HostAnswers::lineChanged, Qt::QueuedConnection);
  return question;
}

void HostAnswers::unask(int question) {
  if (m_waiting.remove(question) > 0 && m_line) m_line->unask(question);
}

void HostAnswers::lineChanged() {
  if (m_waiting.isEmpty()) return;
  if (!m_line) {
    for (const int question : m_waiting.keys()) end(question, tr("it was taken from the list of hosts"));
    return;
  }
  const LineState state = m_line->state();
  bool waits = false;
  for (const int question : m_waiting.keys()) {
    const bool sent = m_waiting[question].sent;
    if (!sent && state == LineState::online) send(question);
    waits |= !sent && state != LineState::online;
    // What was sent ends with the line, which says so by itself.
    if (!sent && state == LineState::needsPerson) end(question, m_line->sentence());
  }
  if (waits && (state == LineState::offline || state == LineState::waiting)) {
    if (!m_line->sentence().isEmpty() && state == LineState::offline && m_tried) {
      for (const int question : m_waiting.keys()) end(question, m_line->sentence());
      return;
    }
    m_tried = true;
    m_line->connectNow();
  }
  if (state == LineState::online) m_tried = false;
}

void HostAnswers::send(int question) {
  Question& each = m_waiting[question];
  each.sent = true;
  if (each.files.isEmpty()) return m_line->ask(question, m_run, each.words);
  QDir().mkpath(QFileInfo(each.files.first().here).absolutePath());
  m_line->fetch(m_run, each.files.first().there, each.files.first().here);
}

void HostAnswers::end(int question, const QString& sentence) {
  if (m_waiting.remove(question) > 0) Q_EMIT refused(question, tr("On %1: %2").arg(m_name, sentence));
}

}  // namespace loom

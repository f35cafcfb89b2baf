#include "launcher/preview/run_line.h"

#include <utility>

#include "engine/base/json.h"
#include "launcher/preview/own_agent.h"
#include "launcher/remote/agent_client.h"

namespace loom {
namespace {

constexpr int kIdleMs = 10 * 60 * 1000, kLetGoMs = 3000;

Json wordsOf(const QStringList& words) {
  Json all = Json::array();
  for (const QString& each : words) all.push_back(each.toStdString());
  return all;
}

}  // namespace

RunLine::RunLine(const QString& program, QObject* parent)
    : RunLine([program] { return startOwnAgent(program); }, parent) {}

RunLine::RunLine(Start begin, QObject* parent) : RunAnswers(parent), m_start(std::move(begin)) {
  m_idle.setSingleShot(true);
  m_idle.setInterval(kIdleMs);
  connect(&m_idle, &QTimer::timeout, this, &RunLine::retire);
  m_patience.setSingleShot(true);
  m_patience.setInterval(kLetGoMs);
  connect(&m_patience, &QTimer::timeout, this, [this] {
    // It does not let go (a disk, a first reading of a dataset): another engine answers what still waits.
    retire();
    if (!m_waiting.isEmpty() && start())
      for (const int question : m_waiting.keys()) send(question);
  });
}

RunLine::~RunLine() {
  retire();
}

void RunLine::retire() {
  m_sent.clear();
  m_patience.stop();
  letGo(m_client);
}

bool RunLine::start() {
  m_idle.stop();
  if (m_client) return true;
  try {
    m_client = std::make_unique<AgentClient>(m_start());
  } catch (const std::exception& error) {
    fail(QString::fromUtf8(error.what()));
    return false;
  }
  ++m_starts;
  m_client->told = [this](const Json& header, const QByteArray& bytes) {
    const auto question = header.find("ask");
    if (question == header.end() || !question->is_number_integer()) return;
    if (m_waiting.contains(question->get<int>())) Q_EMIT told(question->get<int>(), bytes);
  };
  m_client->lost = [this](const AgentClient::Loss& loss) {
    m_client.release()->deleteLater();  // it is in the middle of telling this
    m_sent.clear();
    m_patience.stop();
    fail(tr("The engine that evaluates and predicts ended (%1). The next question starts it again").arg(loss.sentence));
  };
  return true;
}

int RunLine::ask(const QStringList& words) {
  const int question = ++m_last;
  m_waiting[question] = words;
  // Queued, so that whoever asks knows the number before anything is said.
  QMetaObject::invokeMethod(
      this,
      [this, question] {
        if (m_waiting.contains(question) && start()) send(question);
      },
      Qt::QueuedConnection);
  return question;
}

void RunLine::send(int question) {
  m_sent.insert(question);
  m_client->ask({{"verb", "ask"}, {"question", question}, {"words", wordsOf(m_waiting.value(question))}},
                [this, question](const Json& header, const QByteArray&) {
                  const bool good = isGood(header);
                  take(question, good,
                       good ? QString() : refusalIn(header, QStringLiteral("the engine refused, and told no reason")));
                });
}

void RunLine::unask(int question) {
  if (m_waiting.remove(question) == 0 || !m_client || m_sent.count(question) == 0) return;
  m_client->ask({{"verb", "unask"}, {"question", question}}, [](const Json&, const QByteArray&) {});
  if (question == *m_sent.begin()) m_patience.start();
}

void RunLine::take(int question, bool good, const QString& sentence) {
  m_sent.erase(question);
  m_patience.stop();
  const bool wanted = m_waiting.remove(question) > 0;
  if (m_waiting.isEmpty()) m_idle.start();
  if (!wanted) return;
  if (good)
    Q_EMIT answered(question);
  else
    Q_EMIT refused(question, sentence);
}

void RunLine::fail(const QString& sentence) {
  const auto waiting = std::exchange(m_waiting, {});
  for (const int question : waiting.keys()) Q_EMIT refused(question, sentence);
}

void RunCall::start(RunAnswers& answers, const QStringList& words) {
  cancel();
  m_output.clear();
  m_told = 0;
  if (m_answers != &answers) {
    if (m_answers) m_answers->disconnect(this);
    m_answers = &answers;
    connect(&answers, &RunAnswers::told, this, [this](int question, const QByteArray& bytes) {
      if (question != m_question) return;
      m_output += bytes;
      for (qsizetype end; (end = m_output.indexOf('\n', m_told)) >= 0;) {
        const QByteArray line = m_output.mid(m_told, end - m_told);
        m_told = end + 1;
        Q_EMIT told(line);
        if (question != m_question) return;  // whoever listens has called it off
      }
    });
    connect(&answers, &RunAnswers::answered, this, [this](int question) {
      if (question != m_question) return;
      m_question = 0;
      Q_EMIT answered(std::exchange(m_output, {}));
    });
    connect(&answers, &RunAnswers::refused, this, [this](int question, const QString& sentence) {
      if (question != m_question) return;
      m_question = 0;
      Q_EMIT refused(sentence);
    });
  }
  m_question = answers.ask(words);
}

void RunCall::cancel() {
  if (const int question = std::exchange(m_question, 0); question != 0 && m_answers) m_answers->unask(question);
}

}  // namespace loom

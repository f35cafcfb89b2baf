// Questions about runs that lie on the host, over its line: the words of `loom`, answered by the agent's resident
// engine.
#include <utility>

#include "engine/base/json.h"
#include "launcher/remote/line_worker.h"

namespace loom {

void LineWorker::ask(int question, const QString& run, const QStringList& words) {
  if (!m_agent) return refuse(question, QStringLiteral("there is no connection now"));
  Json all = Json::array();
  for (QString each : words)
    all.push_back(each.replace(QStringLiteral("<run>"), m_facts.base + "/runs/" + run).toStdString());
  m_asked.insert(question);
  m_agent->ask({{"verb", "ask"}, {"question", question}, {"words", all}}, [this, question](const Json& header,
                                                                                           const QByteArray&) {
    if (m_asked.erase(question) == 0) return;
    if (!header.value("ok", false))
      return refuse(question,
                    QString::fromStdString(header.value("message", std::string("the host does not say why"))));
    toLine([question](HostLine& line) { Q_EMIT line.askAnswered(question); });
  });
}

void LineWorker::unask(int question) {
  if (m_asked.erase(question) > 0 && m_agent)
    m_agent->ask({{"verb", "unask"}, {"question", question}}, [](const Json&, const QByteArray&) {});
}

bool LineWorker::takeSaid(const Json& header, const QByteArray& bytes) {
  const auto question = header.find("ask");
  if (question == header.end() || !question->is_number_integer()) return false;
  if (const int number = question->get<int>(); m_asked.count(number) > 0)
    toLine([number, bytes](HostLine& line) { Q_EMIT line.said(number, bytes); });
  return true;
}

void LineWorker::refuse(int question, const QString& sentence) {
  toLine([question, sentence](HostLine& line) { Q_EMIT line.askRefused(question, sentence); });
}

void LineWorker::endQuestions(const QString& sentence) {
  for (const int question : std::exchange(m_asked, {})) refuse(question, sentence);
}

}  // namespace loom

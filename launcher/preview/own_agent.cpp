#include "launcher/preview/own_agent.h"

#include <QCoreApplication>
#include <QThreadPool>
#include <memory>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "launcher/local_process.h"
#include "launcher/remote/agent_client.h"
#include "launcher/ssh/local_transport.h"

namespace loom {

namespace {

constexpr qsizetype kLongestRefusal = 4000;

// Threads that wait for programs to end. A pool of their own: what QPainter fills it divides among the threads of the
// application's, and the window would wait for a program after all.
std::unique_ptr<QThreadPool>& farewells() {
  static std::unique_ptr<QThreadPool> pool;
  return pool;
}

}  // namespace

std::unique_ptr<ByteChannel> startOwnAgent(const QString& given) {
  const QString program = given.isEmpty() ? findLoom() : given;
  if (program.isEmpty())
    throwError(ErrorCode::missingFile,
               "there is no program `loom` beside this one or in PATH: set GRADLOOM_PROGRAM to it");
  return startProgram({program.toLocal8Bit(), "agent"});
}

bool isGood(const Json& answer) {
  const auto ok = answer.find("ok");
  return ok != answer.end() && ok->is_boolean() && ok->get<bool>();
}

QString refusalIn(const Json& answer, const QString& otherwise) {
  const auto found = answer.find("message");
  const QString said = found != answer.end() && found->is_string()
                           ? QString::fromStdString(found->get<std::string>()).left(kLongestRefusal)
                           : QString();
  return said.isEmpty() ? otherwise : said;
}

void letGo(std::unique_ptr<AgentClient>& client) {
  if (!client) return;
  client->lost = nullptr;
  client->told = nullptr;
  std::shared_ptr<ByteChannel> channel = client->takeChannel();
  client.release()->deleteLater();
  // Moved, so that the window does not keep the last hold of it.
  std::unique_ptr<QThreadPool>& pool = farewells();
  if (!pool) {
    constexpr int kAtOnce = 4;
    pool = std::make_unique<QThreadPool>();
    pool->setMaxThreadCount(kAtOnce);
    qAddPostRoutine([] { farewells().reset(); });  // which waits until all have ended
  }
  pool->start([channel = std::move(channel)]() mutable { channel.reset(); });
}

}  // namespace loom

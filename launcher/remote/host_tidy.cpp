#include "launcher/remote/host_tidy.h"

#include <QRegularExpression>

#include "engine/agent/job_folder.h"
#include "engine/base/error.h"
#include "launcher/remote/engine_installer.h"

namespace loom {
namespace {

QByteArray inBase(const QString& base) {
  if (!isPlainPath(base.toStdString()))
    throwError(ErrorCode::badArgument, "the folder '{}' on the host may hold only letters, digits and ._-/~+@%=,",
               base.toStdString());
  return "exec 2>/dev/null; cd; cd " + base.toUtf8() + " || { say none; exit; }; ";
}

}  // namespace

QVector<HostRemain> tidyHost(HostTransport& transport, const QString& base, const QString& check) {
  QByteArray script = inBase(base);
  if (isJobId(check.toStdString()) && check.startsWith("check-")) script += "rm -rf runs/" + check.toUtf8() + "; ";
  const QString answer =
      askShell(transport, script +
                              "find runs -maxdepth 1 -name 'check-*' -mtime +1 -exec rm -rf {} +; "
                              "find data engine -maxdepth 1 -name '*.part*' -mtime +7 -exec rm -rf {} +; "
                              "say list $(du -sk engine/* runs/* data/* | sort -rn | head -n 500 | tr '\\t\\n' ' |')");
  QVector<HostRemain> remains;
  for (const QString& each : answer.section(' ', 1).split('|', Qt::SkipEmptyParts)) {
    const HostRemain remain{.path = each.trimmed().section(' ', 1),
                            .bytes = each.trimmed().section(' ', 0, 0).toLongLong() * 1024};
    if (!remain.path.isEmpty() && !remain.path.contains('*')) remains.append(remain);
  }
  return remains;
}

void removeFromHost(HostTransport& transport, const QString& base, const QStringList& paths) {
  static const QRegularExpression ours("^(engine|runs|data)/[A-Za-z0-9][A-Za-z0-9._-]*$");
  for (const QString& each : paths) {
    if (!ours.match(each).hasMatch())
      throwError(ErrorCode::badArgument, "'{}' is nothing that Gradloom left in {}", each.toStdString(),
                 base.toStdString());
    if (askShell(transport, inBase(base) + "rm -rf " + each.toUtf8() + " && say gone || say kept") != "gone")
      throw SshError(SshFault::refused, fmt::format("{}/{} cannot be removed", base.toStdString(), each.toStdString()));
  }
}

}  // namespace loom

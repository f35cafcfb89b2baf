// Files of a run on their way here, over its line: announced with their hash, piece by piece under a name of their own,
// verified, and only then in their place.
#include <unistd.h>

#include <QFile>
#include <filesystem>

#include "engine/agent/sha256.h"
#include "engine/base/json.h"
#include "launcher/remote/line_worker.h"

namespace loom {
namespace {

constexpr qint64 kFetchPiece = 1 << 20;

QString complaintOf(const Json& header) {
  return QString::fromStdString(header.value("message", std::string("the host does not say why")));
}

std::string hashOf(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  Sha256 hash;
  for (QByteArray piece = file.read(kFetchPiece); !piece.isEmpty(); piece = file.read(kFetchPiece))
    hash.add({piece.constData(), static_cast<std::size_t>(piece.size())});
  return hash.finish();
}

}  // namespace

struct LineWorker::Fetch {
  QString run, file, to;
  QFile part;
  Sha256 hash;            // of what stands in the part
  std::string announced;  // of the whole file, as the host says
  qint64 size = 0;
  bool wentOn = false;  // the part is from an earlier try: bytes that do not fit may be its fault

  Json request(const char* verb) const {
    return {{"verb", verb}, {"job", run.toStdString()}, {"file", file.toStdString()}};
  }
};

void LineWorker::fetch(const QString& run, const QString& file, const QString& to) {
  auto fetch = std::make_shared<Fetch>();
  fetch->run = run;
  fetch->file = file;
  fetch->to = to;
  if (!m_agent) return failFetch(fetch, QStringLiteral("there is no connection now"));
  if (m_fetches.count(to)) return;  // it is on its way
  fetch->part.setFileName(to + ".part");
  m_fetches[to] = fetch;
  announceFetch(fetch);
}

void LineWorker::announceFetch(const std::shared_ptr<Fetch>& fetch) {
  m_agent->ask(fetch->request("hash"), [this, fetch](const Json& header, const QByteArray&) {
    if (!m_fetches.count(fetch->to)) return;
    if (!header.value("ok", false)) return failFetch(fetch, complaintOf(header));
    fetch->announced = header.value("sha256", std::string());
    fetch->size = header.value("size", qint64{0});
    if (QFile::exists(fetch->to) && hashOf(fetch->to) == fetch->announced) {  // the very same is here
      return fetched(*fetch);
    }
    QFile& part = fetch->part;
    fetch->hash = Sha256();
    if (!part.open(QIODevice::ReadWrite) || (part.size() > fetch->size && !part.resize(0)))
      return failFetch(fetch, QStringLiteral("%1 cannot be written: %2").arg(part.fileName(), part.errorString()));
    fetch->wentOn = part.size() > 0;
    for (QByteArray piece = part.read(kFetchPiece); !piece.isEmpty(); piece = part.read(kFetchPiece))
      fetch->hash.add({piece.constData(), static_cast<std::size_t>(piece.size())});
    nextPiece(fetch);
  });
}

void LineWorker::nextPiece(const std::shared_ptr<Fetch>& fetch) {
  const qint64 have = fetch->part.pos();
  if (have >= fetch->size) return finishFetch(fetch);
  Json request = fetch->request("get");
  request["offset"] = have;
  m_agent->ask(request, [this, fetch](const Json& header, const QByteArray& bytes) {
    if (!m_fetches.count(fetch->to)) return;
    if (!header.value("ok", false)) return failFetch(fetch, complaintOf(header));
    if (bytes.isEmpty())
      return failFetch(fetch, QStringLiteral("%1 became shorter on the host while it was fetched").arg(fetch->file));
    QFile& part = fetch->part;
    if (part.write(bytes) != bytes.size() || !part.flush())
      return failFetch(fetch, QStringLiteral("%1 cannot be written: %2").arg(part.fileName(), part.errorString()));
    fetch->hash.add({bytes.constData(), static_cast<std::size_t>(bytes.size())});
    const double share = static_cast<double>(part.pos()) / static_cast<double>(std::max<qint64>(1, fetch->size));
    toLine(
        [run = fetch->run, file = fetch->file, share](HostLine& line) { Q_EMIT line.fetchProgress(run, file, share); });
    nextPiece(fetch);
  });
}

void LineWorker::finishFetch(const std::shared_ptr<Fetch>& fetch) {
  QFile& part = fetch->part;
  if (fetch->hash.finish() != fetch->announced) {
    part.close();
    part.remove();
    if (fetch->wentOn) return announceFetch(fetch);  // from the beginning
    return failFetch(
        fetch,
        QStringLiteral("the bytes of %1 that came are not those on the host (their hashes differ): fetch it again")
            .arg(fetch->file));
  }
  const bool safe = part.flush() && ::fsync(part.handle()) == 0;
  part.close();
  std::error_code fault;
  if (safe) std::filesystem::rename(part.fileName().toStdString(), fetch->to.toStdString(), fault);
  if (!safe || fault)
    return failFetch(fetch, QStringLiteral("%1 cannot be written: %2")
                                .arg(fetch->to, safe ? QString::fromStdString(fault.message()) : part.errorString()));
  fetched(*fetch);
}

void LineWorker::fetched(const Fetch& fetch) {
  toLine([run = fetch.run, file = fetch.file, to = fetch.to](HostLine& line) { Q_EMIT line.fetched(run, file, to); });
  m_fetches.erase(QString(fetch.to));
}

void LineWorker::failFetch(const std::shared_ptr<Fetch>& fetch, const QString& sentence) {
  m_fetches.erase(fetch->to);
  toLine([run = fetch->run, file = fetch->file, sentence](HostLine& line) {
    Q_EMIT line.fetchFailed(run, file, sentence);
  });
}

void LineWorker::endFetches(const QString& sentence) {
  for (const auto& [to, fetch] : std::exchange(m_fetches, {})) failFetch(fetch, sentence);
}

}  // namespace loom

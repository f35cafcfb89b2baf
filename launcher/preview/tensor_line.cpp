#include "launcher/preview/tensor_line.h"

#include <cmath>

#include "engine/agent/frame.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "launcher/preview/own_agent.h"
#include "launcher/remote/agent_client.h"

namespace loom {
namespace {

constexpr int kPatienceMs = 60000;
constexpr qsizetype kLongestSentence = 2000;

qint64 countOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer() || *found < 0)
    throwError(ErrorCode::badData, "an answer without \"{}\"", key);
  return found->get<qint64>();
}

QString textOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) throwError(ErrorCode::badData, "an answer without \"{}\"", key);
  return QString::fromStdString(found->get<std::string>()).left(kLongestSentence);
}

SeenTensor readSeen(const Json& header, const QByteArray& pixels) {
  SeenTensor seen;
  const auto tensor = header.find("tensor"), weights = header.find("weights");
  if (tensor == header.end() || weights == header.end() || !weights->is_object())
    throwError(ErrorCode::badData, "an answer without a tensor or without its weights");
  seen.tensor =
      readTensorSummary(*tensor, std::string_view(pixels.constData(), static_cast<std::size_t>(pixels.size())));
  seen.network = textOf(header, "network");
  seen.pin = textOf(header, "pin");
  seen.dataset = textOf(header, "dataset");
  seen.sample = countOf(header, "sample");
  seen.samples = countOf(header, "samples");
  const auto trained = weights->find("trained");
  if (trained == weights->end() || !trained->is_boolean())
    throwError(ErrorCode::badData, "an answer without \"trained\"");
  seen.trained = trained->get<bool>();
  seen.step = countOf(*weights, "step");
  seen.matched = countOf(*weights, "matched");
  seen.parameters = countOf(*weights, "parameters");
  return seen;
}

}  // namespace

TensorLine::TensorLine(const QString& program, QObject* parent)
    : TensorLine([program] { return startOwnAgent(program); }, parent) {}

TensorLine::TensorLine(Start start, QObject* parent) : QObject(parent), m_start(std::move(start)) {
  m_patience.setSingleShot(true);
  m_patience.setInterval(kPatienceMs);
  connect(&m_patience, &QTimer::timeout, this, [this] {
    letGo(m_client);
    fail(tr("No values have come for %1 s. The program that computes them was ended; the next look starts it again")
             .arg(m_patience.interval() / 1000));
  });
}

TensorLine::~TensorLine() {
  letGo(m_client);
}

void TensorLine::setProject(const QByteArray& text, const QString& folder) {
  if (text == m_text && folder == m_folder && m_project > 0) return;
  m_text = text;
  m_folder = folder;
  ++m_project;
}

bool TensorLine::start() {
  if (m_client) return true;
  try {
    m_client = std::make_unique<AgentClient>(m_start());
  } catch (const std::exception& error) {
    fail(QString::fromUtf8(error.what()));
    return false;
  }
  m_sent = 0;
  m_client->told = [this](const Json& header, const QByteArray&) { told(header); };
  m_client->lost = [this](const AgentClient::Loss& loss) {
    m_client.release()->deleteLater();  // it is in the middle of telling this
    fail(tr("The program that computes values ended (%1). The next look starts it again").arg(loss.sentence));
  };
  return true;
}

void TensorLine::ask(const TensorWish& wish) {
  const int number = ++m_last;
  m_asked[wish.place] = number;
  if (!start()) return;
  Json request = {{"verb", "tensor"},
                  {"for", wish.place.toStdString()},
                  {"project", std::to_string(m_project)},
                  {"drawing", wish.drawing.toStdString()},
                  {"from", {wish.node.toStdString(), wish.port.toStdString()}},
                  {"to", wish.to.toStdString()},
                  {"sample", wish.sample}};
  if (!wish.useNode.isEmpty()) request["use"] = {wish.useDrawing.toStdString(), wish.useNode.toStdString()};
  if (!wish.run.isEmpty()) request["run"] = wish.run.toStdString();
  QByteArray text;
  if (m_sent != m_project) {
    if (m_text.size() > static_cast<qsizetype>(kLongestBytes))
      return fail(tr("The project is larger than a look at its tensors can take: %1 MiB").arg(m_text.size() >> 20));
    request["folder"] = m_folder.toStdString();
    text = m_text;
    m_sent = m_project;
  }
  m_patience.start();
  m_client->ask(request, text, [this, place = wish.place, number](const Json& header, const QByteArray& bytes) {
    take(place, number, header, bytes);
  });
}

void TensorLine::forget(const QString& place) {
  m_asked.remove(place);
  if (m_asked.isEmpty()) m_patience.stop();
}

void TensorLine::take(const QString& place, int number, const Json& header, const QByteArray& bytes) {
  if (m_asked.value(place) != number) return;  // nobody wants it any more
  forget(place);
  if (!isGood(header)) {
    m_sent = 0;  // it may be the project that could not be read: the next question brings it again
    return Q_EMIT refused(place,
                          refusalIn(header, QStringLiteral("the values cannot be computed, and no reason was told")));
  }
  try {
    const SeenTensor seen = readSeen(header, bytes);
    Q_EMIT answered(place, seen);
  } catch (const std::exception& fault) {
    Q_EMIT refused(place, tr("The answer cannot be understood: %1").arg(QString::fromUtf8(fault.what())));
  }
}

void TensorLine::told(const Json& header) {
  const auto what = header.find("tensor");
  if (what == header.end() || *what != "reading" || m_asked.isEmpty()) return;
  m_patience.start();
  const auto dataset = header.find("dataset"), done = header.find("done"), total = header.find("total");
  if (dataset == header.end() || !dataset->is_string()) return;
  const bool known =
      done != header.end() && total != header.end() && done->is_number() && total->is_number() && *total > 0;
  const double share = known ? done->get<double>() / total->get<double>() : -1;
  Q_EMIT reading(QString::fromStdString(dataset->get<std::string>()).left(200), std::isfinite(share) ? share : -1);
}

void TensorLine::fail(const QString& sentence) {
  m_patience.stop();
  const QHash<QString, int> asked = std::exchange(m_asked, {});
  for (auto each = asked.begin(); each != asked.end(); ++each) Q_EMIT refused(each.key(), sentence);
}

}  // namespace loom

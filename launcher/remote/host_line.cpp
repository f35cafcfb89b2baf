#include "launcher/remote/host_line.h"

#include "engine/base/json.h"
#include "launcher/remote/line_worker.h"

namespace loom {

HostLine::HostLine(const Host& host, LineOptions options, QObject* parent)
    : Executor(parent), m_host(host), m_worker(new LineWorker(*this, host, std::move(options))) {
  qRegisterMetaType<CheckLine>();
  m_worker->moveToThread(&m_thread);
  connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
  m_thread.setObjectName("line to " + host.name);
  m_thread.start();
}

void HostLine::end() {
  m_worker->callOff(LineWorker::Call::forGood);
}

HostLine::~HostLine() {
  end();
  m_thread.quit();
  m_thread.wait();
}

// Everything below is queued to the line's thread, in order.
namespace {
template <class Work>
void queue(LineWorker* worker, Work work) {
  QMetaObject::invokeMethod(
      worker, [worker, work] { work(*worker); }, Qt::QueuedConnection);
}
}  // namespace

void HostLine::setState(LineState state, const QString& sentence, qint64 nextTry) {
  m_state = state;
  m_sentence = sentence;
  m_nextTry = nextTry;
  Q_EMIT stateChanged();
}

void HostLine::setHost(const Host& host) {
  m_host = host;
  queue(m_worker, [host](LineWorker& worker) { worker.setHost(host); });
}

void HostLine::connectNow() {
  queue(m_worker, [](LineWorker& worker) { worker.open(Questions::Mode::mayAsk); });
}

void HostLine::disconnectNow() {
  m_worker->callOff();
  queue(m_worker, [](LineWorker& worker) { worker.close(); });
}

void HostLine::answer(int question, const std::optional<QString>& text) {
  m_worker->questions().answer(question, text);
}

void HostLine::check(qint64 bytesNeeded) {
  queue(m_worker, [bytesNeeded](LineWorker& worker) { worker.check(bytesNeeded); });
}

void HostLine::tidy(const QStringList& remove) {
  queue(m_worker, [remove](LineWorker& worker) { worker.tidy(remove); });
}

void HostLine::fetch(const QString& run, const QString& file, const QString& to) {
  queue(m_worker, [=](LineWorker& worker) { worker.fetch(run, file, to); });
}

void HostLine::ask(int question, const QString& run, const QStringList& words) {
  queue(m_worker, [=](LineWorker& worker) { worker.ask(question, run, words); });
}

void HostLine::unask(int question) {
  queue(m_worker, [=](LineWorker& worker) { worker.unask(question); });
}

void HostLine::measureLinks(int ranks, double seconds) {
  queue(m_worker, [=](LineWorker& worker) { worker.measureLinks(ranks, seconds); });
}

void HostLine::stopMeasuring() {
  queue(m_worker, [](LineWorker& worker) { worker.stopMeasuring(); });
}

void HostLine::start(const JobOrder& order) {
  queue(m_worker, [order](LineWorker& worker) {
    worker.jobs().add(order, RemoteJobs::Age::fresh);
    worker.open(Questions::Mode::mayAsk);
  });
}

bool HostLine::follow(const JobOrder& order) {
  queue(m_worker, [order](LineWorker& worker) {
    worker.jobs().add(order, RemoteJobs::Age::older);
    worker.open(Questions::Mode::mustNotAsk);
  });
  return true;
}

void HostLine::forget(const QString& id) {
  queue(m_worker, [id](LineWorker& worker) { worker.jobs().forget(id); });
}

void HostLine::giveUp(const QString& id) {
  queue(m_worker, [id](LineWorker& worker) { worker.jobs().settle(id); });
}

void HostLine::command(const JobOrder& order, const Json& command) {
  queue(m_worker, [id = order.id, command](LineWorker& worker) { worker.jobs().command(id, command); });
}

void HostLine::interrupt(const QString& id) {
  queue(m_worker, [id](LineWorker& worker) { worker.jobs().cancel(id, "stop"); });
}

void HostLine::kill(const QString& id) {
  queue(m_worker, [id](LineWorker& worker) { worker.jobs().cancel(id, "kill"); });
}

bool HostLine::mayStartAgain() const {
  return m_host.kind == HostKind::slurm;
}

// Slurm has a queue of its own, with room for all.
int HostLine::atOnce() const {
  return m_host.kind == HostKind::slurm ? 1000 : 1;
}

}  // namespace loom

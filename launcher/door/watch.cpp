#include "launcher/door/watch.h"

#include <QFile>
#include <QRegularExpression>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/foreign.h"
#include "engine/base/words.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"
#include "launcher/door/terminal.h"
#include "launcher/job.h"
#include "launcher/store/metric_layers.h"

namespace loom {
namespace {

constexpr int kAskMs = 600, kNeedsPersonMs = 2500;

std::string textOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Json askState(Errand& errand, const QString& id) {
  return errand.ask({{"order", "state"}, {"run", id.toStdString()}});
}

class Watch {
 public:
  Watch(Errand& errand, const RunRecord& run, const WatchOptions& options)
      : m_errand(errand), m_run(run), m_options(options), m_events((run.folder + "/events.jsonl").toStdString()) {
    if (!options.quiet)
      m_progress.emplace(m_console.emplace()).setShares([this](const std::string& metric) {
        return m_layers.isShare(m_run, QString::fromStdString(metric));
      });
    if (options.fromHere) passOver();
  }

  int go() {
    for (;;) {
      const Json state = askState(m_errand, m_run.id);
      const RunState now = runStateFromKey(QString::fromStdString(textOf(state, "state")));
      const bool ended = !isLive(now) && now != RunState::queued && !state.value("reading", false);
      tellEvents();
      if (ended) return end(now, state);
      if (!m_options.toTheEnd && (state.value("accepted", false) || m_events.offset() > 0)) return accepted();
      // A batch system starts it once more: how that stands is told as before its first step.
      if (now == RunState::starting && !m_finished.empty()) m_begun = false;
      tellStage(state);
      checkDoubt(state);
      checkPatience(state);
      pause();
      if (Interrupts::came()) return detach(now, state);
    }
  }

 private:
  // New points come as they are written, whoever keeps the run.
  void pause() {
    for (int waited = 0; waited < (m_errand.isOurs() ? kDoorLookMs : kAskMs) && !Interrupts::came();
         waited += kDoorLookMs) {
      m_errand.wait(kDoorLookMs);
      tellEvents();
    }
  }

  void say(const QString& text) {
    if (m_console) m_console->line(text.toStdString());
  }

  void take(const Event& event) {
    if (event.kind == "finished") m_finished = event.body;
    if (event.kind == "error") m_code = textOf(event.body, "code");
    if (event.kind == "started") {  // what an earlier attempt said of its end
      m_code.clear();
      m_finished = Json::object();
    }
  }

  void passOver() {
    std::optional<Event> started;
    for (std::vector<Event> some = m_events.read(); !some.empty(); some = m_events.read())
      for (const Event& each : some) {
        take(each);
        if (each.kind == "started") started = each;
      }
    // What it is about is told, unless it ended: then another start says so itself, or it goes on all the same.
    if (started && m_progress && isLive(m_run.state))
      (*m_progress)(*started);
    else
      m_started = std::move(started);
  }

  void tellEvents() {
    for (std::vector<Event> some = m_events.read(); !some.empty(); some = m_events.read())
      for (const Event& each : some) {
        take(each);
        m_begun = true;
        if (const auto started = std::exchange(m_started, {}); started && each.kind != "started" && m_progress)
          (*m_progress)(*started);
        if (m_progress) (*m_progress)(each);
      }
  }

  void tellStage(const Json& state) {
    const QString text = QString::fromStdString(textOf(state, "stage"));
    if (!m_console || text.isEmpty() || text == m_stage || (m_begun && !state.value("stuck", false))) return;
    // Of what only counts on, one line; on a terminal each count.
    const bool another = text.section(':', 0, 0) != m_stage.section(':', 0, 0);
    m_stage = text;
    if (m_console->terminal())
      m_console->live(text.toStdString());
    else if (another)
      say(text);
  }

  // Its host is there and cannot tell how it goes: only a person ends that.
  void checkDoubt(const Json& state) {
    const std::string doubt = textOf(state, "doubt");
    if (doubt.empty()) return m_doubted.invalidate();
    if (!m_doubted.isValid()) m_doubted.start();
    if (std::exchange(m_doubt, doubt) != doubt) say(QString::fromStdString("warning: " + doubt));
    if (m_doubted.hasExpired(m_options.patienceMs))
      throwError(ErrorCode::communication,
                 "{} `gradloom follow {}` looks again, `gradloom give-up {}` counts it as ended", doubt,
                 m_run.id.toStdString(), m_run.id.toStdString());
  }

  void checkPatience(const Json& state) {
    const bool stuck = state.value("stuck", false), person = state.value("needs_person", false);
    // A line that breaks at each try is as far as one that is never reached: trying does not begin the time anew.
    if (!stuck && !state.value("trying", false)) m_stuck.invalidate();
    if (!person) m_person.invalidate();
    if (!stuck) return;
    if (!m_stuck.isValid()) m_stuck.start();
    if (person && !m_person.isValid()) m_person.start();
    const bool there = state.value("accepted", false);
    if (person ? !m_person.hasExpired(kNeedsPersonMs) : there || !m_stuck.hasExpired(m_options.patienceMs)) return;
    throwError(ErrorCode::communication,
               "{}. {} is kept{}; `gradloom follow {}` tries again, `gradloom stop {}` takes it back",
               QString::fromStdString(textOf(state, "stage")).remove(QRegularExpression("\\.$")).toStdString(),
               m_run.name.toStdString(), there ? " and goes on there" : ", and begins when its host is reached",
               m_run.id.toStdString(), m_run.id.toStdString());
  }

  int accepted() {
    say(QStringLiteral("follow    gradloom follow %1").arg(m_run.id));
    return kExitDone;
  }

  int detach(RunState now, const Json& state) {
    if (m_console) {
      const bool begun = state.value("accepted", false) || m_begun || now == RunState::running;
      say(begun ? QStringLiteral("%1 goes on without this terminal.").arg(m_run.name)
                : QStringLiteral("%1 has not begun; it does when Gradloom, or gradloom follow, is there.")
                      .arg(m_run.name));
      say(QStringLiteral("follow    gradloom follow %1").arg(m_run.id));
      say(QStringLiteral("stop it   gradloom stop %1").arg(m_run.id));
    }
    return kExitDetached;
  }

  int end(RunState now, Json state) {
    const std::int64_t step = wholeIn(m_finished, "step");
    if (now == RunState::finished) say(QString::fromStdString("done after " + counted(step, "steps")));
    if (now == RunState::stopped)
      say(m_finished.contains("step")
              ? QString::fromStdString("stopped after " + counted(step, "steps") +
                                       (textOf(state, "message").empty() ? "" : ". " + textOf(state, "message")))
              : QStringLiteral("stopped. %1").arg(QString::fromStdString(textOf(state, "message"))));
    if (const auto best = m_finished.find("best"); m_progress && best != m_finished.end() && best->is_object())
      say(QString::fromStdString(fmt::format("best      {} at epoch {:g}",
                                             m_progress->measure(textOf(*best, "metric"), numberIn(*best, "value")),
                                             numberIn(*best, "epoch"))));
    while (state.value("fetching", false) && !Interrupts::came()) {
      if (m_console && state.value("share", -1.0) >= 0)
        m_console->live(fmt::format("fetching its best checkpoint: {:.0f} %", state.value("share", 0.0) * 100));
      m_errand.wait(kDoorLookMs);
      state = askState(m_errand, m_run.id);
    }
    if (const std::string fault = textOf(state, "fetch_fault"); !fault.empty())
      say(QString::fromStdString("warning: " + fault));
    const QString model = QString::fromStdString(textOf(state, "model"));
    if (!model.isEmpty()) say("model     " + model);
    if (model.startsWith("on ")) say(QStringLiteral("bring it  gradloom fetch %1").arg(m_run.id));
    if (now == RunState::finished) return kExitDone;
    if (now == RunState::stopped) {
      if (step > 0) say(QStringLiteral("go on     gradloom resume %1").arg(m_run.id));
      return exitCode(ErrorCode::stopped);
    }
    if (m_console) m_console.reset();
    const std::string sentence = textOf(state, "message");
    throw Error(codeOfFailure(), sentence.empty() ? "the run failed and does not say why; see " +
                                                        (m_run.folder + "/log.txt").toStdString()
                                                  : sentence);
  }

  // As its last error says, or the shell around it noted.
  ErrorCode codeOfFailure() const {
    for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i)
      if (m_code == toString(static_cast<ErrorCode>(i))) return static_cast<ErrorCode>(i);
    QFile exit(m_run.folder + "/exit");
    if (exit.open(QIODevice::ReadOnly))
      if (const auto known = errorOfExit(exit.readAll().trimmed().toInt())) return *known;
    // Nothing of it was ever heard: its host refused it, or could not take it.
    RunRecord read;
    JobFile file;
    readJobFile(m_run.folder, read, file);
    return file.host.isEmpty() || m_events.offset() > 0 ? ErrorCode::internal : ErrorCode::communication;
  }

  Errand& m_errand;
  const RunRecord& m_run;
  const WatchOptions& m_options;
  std::optional<Console> m_console;
  std::optional<Progress> m_progress;
  MetricLayers m_layers;
  EventReader m_events;
  Json m_finished = Json::object();
  std::string m_code;
  QString m_stage;
  QElapsedTimer m_stuck, m_person;  // since the host is not reached; since only a person can help
  bool m_begun = false;
  std::optional<Event> m_started;  // of the newest attempt that was passed over, until something of it is told
  std::string m_doubt;
  QElapsedTimer m_doubted;
};

}  // namespace

int watchRun(Errand& errand, const RunRecord& run, const WatchOptions& options) {
  return Watch(errand, run, options).go();
}

QString fetchModel(Errand& errand, const RunRecord& run, bool quiet, Models::Which which) {
  std::optional<Console> console;
  if (!quiet) console.emplace();
  errand.ask({{"order", "fetch"}, {"run", run.id.toStdString()}, {"newest", which == Models::Which::newest}});
  for (;;) {
    const Json state = askState(errand, run.id);
    if (const std::string fault = textOf(state, "fetch_fault"); !fault.empty())
      throw Error(ErrorCode::communication, fault);
    if (!state.value("fetching", false))
      return QString::fromStdString(textOf(errand.ask({{"order", "model"}, {"run", run.id.toStdString()}}), "model"));
    const double share = state.value("share", -1.0);
    if (console) console->live(share < 0 ? textOf(state, "stage") : fmt::format("fetching: {:.0f} %", share * 100));
    errand.wait(kDoorLookMs);
    if (Interrupts::came())
      throw Error(ErrorCode::stopped, "not fetched; what came is kept, and the next fetch goes on from there");
  }
}

}  // namespace loom

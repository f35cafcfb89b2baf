#include "engine/training/trainer.h"

#include <new>
#include <optional>

#include "engine/base/error.h"
#include "engine/comm/communicator.h"
#include "engine/run/run_lock.h"
#include "engine/training/training_session.h"

namespace loom {
namespace {

// The last word of a run that failed. A full disk may refuse even that; the first error is the one to tell.
void writeFailure(EventWriter* events, const std::function<void(const Event&)>& observer, const Error& error,
                  std::int64_t step) {
  if (!events) return;
  try {
    const auto tell = [&](std::string_view kind, const Json& fields) {
      const Event event = events->write(kind, fields);
      if (observer) observer(event);
    };
    const bool stopped = error.code() == ErrorCode::stopped;  // while the data was prepared: nothing was trained yet
    if (!stopped)
      tell("error", {{"message", error.what()}, {"code", std::string(toString(error.code()))}, {"step", step}});
    tell("finished", {{"reason", stopped ? "stopped" : "failed"}, {"step", step}, {"message", error.what()}});
  } catch (const Error&) {
  }
}

// What was trained since the last checkpoint, where it is sound. Another error on the way must not hide the first.
void salvage(TrainingSession& session) {
  try {
    session.salvage();
  } catch (const Error&) {
  }
}

// Rank 0's part: the lock on the folder, and its events.
struct Ownership {
  std::optional<RunLock> lock;
  std::optional<EventWriter> events;

  explicit Ownership(const TrainerOptions& options) {
    lock.emplace(options.run);
    const std::optional<Event> before = lastEvent(options.run);
    if (before && !options.resume)
      throwError(ErrorCode::badArgument,
                 "{} holds a run already; go on with it by --resume, or choose another folder with --run",
                 options.run.path.string());
    events.emplace(options.run, before ? before->attempt + 1 : 1);
  }
};

}  // namespace

TrainResult train(Backend& backend, TrainerOptions options) {
  const bool first = !options.communicator || options.communicator->rank() == 0;
  std::optional<Ownership> ownership;
  if (first) ownership.emplace(options);
  EventWriter* const events = first ? &*ownership->events : nullptr;
  const auto observer = options.observer;
  std::int64_t step = 0;
  std::optional<TrainingSession> session;
  const auto fail = [&](const Error& error, bool sound) {
    if (session && sound && first) salvage(*session);
    writeFailure(events, observer, error, step);
  };
  // Inside the handlers: unwinding would wait for collectives that other ranks never enter.
  const auto endJob = [&](const Error& error) {
    if (options.failed) options.failed(error);
  };
  try {
    TrainerOptions own = options;
    session.emplace(backend, std::move(own), events, step);
    return session->run();
  } catch (const Error& error) {
    fail(error, error.code() != ErrorCode::diskFull);
    endJob(error);
    throw;
  } catch (const std::bad_alloc&) {
    const Error error(ErrorCode::device,
                      "there is not enough memory for this run; a smaller batch or more accumulation passes need less");
    fail(error, false);
    endJob(error);
    throw error;
  } catch (const std::exception& fault) {
    const Error error(ErrorCode::internal, fault.what());
    fail(error, false);
    endJob(error);
    throw error;
  }
}

}  // namespace loom

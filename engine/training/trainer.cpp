#include "engine/training/trainer.h"

#include <new>
#include <optional>

#include "engine/base/error.h"
#include "engine/run/run_lock.h"
#include "engine/training/training_session.h"

namespace loom {
namespace {

// The last word of a run that failed. A full disk may refuse even that; the first error is the one to tell.
void writeFailure(EventWriter& events, const std::function<void(const Event&)>& observer, const Error& error,
                  std::int64_t step) {
  try {
    const auto tell = [&](std::string_view kind, const Json& fields) {
      const Event event = events.write(kind, fields);
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

}  // namespace

TrainResult train(Backend& backend, TrainerOptions options) {
  const RunLock lock(options.run);
  const std::optional<Event> before = lastEvent(options.run);
  if (before && !options.resume)
    throwError(ErrorCode::badArgument,
               "{} holds a run already; go on with it by --resume, or choose another folder with --run",
               options.run.path.string());
  EventWriter events(options.run, before ? before->attempt + 1 : 1);
  const auto observer = options.observer;
  std::int64_t step = 0;
  std::optional<TrainingSession> session;
  try {
    session.emplace(backend, std::move(options), events, step);
    return session->run();
  } catch (const Error& error) {
    if (session && error.code() != ErrorCode::diskFull) salvage(*session);
    writeFailure(events, observer, error, step);
    throw;
  } catch (const std::bad_alloc&) {
    const Error error(ErrorCode::device,
                      "there is not enough memory for this run; a smaller batch or more accumulation passes need less");
    writeFailure(events, observer, error, step);
    throw error;
  } catch (const std::exception& fault) {
    const Error error(ErrorCode::internal, fault.what());
    writeFailure(events, observer, error, step);
    throw error;
  }
}

}  // namespace loom

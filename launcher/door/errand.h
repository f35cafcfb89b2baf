#pragma once
// Whoever carries out what a verb asks for: this process, when nobody else keeps the data folder, else the one that
// does (an open window, another terminal), by orders (launcher/orders.h). It may change hands at any time; a verb sees
// no difference.
#include <QElapsedTimer>
#include <memory>
#include <optional>

#include "engine/base/json.h"
#include "launcher/door/door.h"
#include "launcher/folder_lock.h"
#include "launcher/store/run_store.h"

namespace loom {

inline constexpr int kDoorLookMs = 50;  // how often a verb looks on

class Errand {
 public:
  explicit Errand(const DoorOptions& options);  // throws Error
  ~Errand();

  // Throws the Error that it is answered with; Error(stopped) after Ctrl+C.
  Json ask(const Json& order);
  bool isOurs() const { return m_desk != nullptr; }
  // Lets things happen. Throws what went wrong meanwhile.
  void wait(int ms);

 private:
  struct Desk;
  bool becomeKeeper();

  const DoorOptions& m_options;
  FolderLock m_lock;
  std::unique_ptr<Desk> m_desk;
  bool m_yields = false;
  QElapsedTimer m_yielded;
  std::optional<QString> m_fault;  // of a question that could not be asked
};

// Says on standard error where the list had to be built anew.
void tellNotice(const RunStore& store);

LineOptions doorLine(const DoorOptions& options);

// The run that a person means: its id, the beginning of one, or its name (the newest of that name). Throws
// Error(badArgument).
RunRecord meantRun(const DoorOptions& options, const QString& text);

}  // namespace loom

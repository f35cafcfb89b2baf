#pragma once
// Questions from a line's thread to the person, and their answers back. What was answered is remembered in memory for
// as long as the line lives, so that a reconnect has it; a reconnect never asks, and an answer that was not accepted is
// forgotten.
#include <QHash>
#include <QMutex>
#include <QSet>
#include <QWaitCondition>
#include <functional>
#include <optional>

#include "launcher/ssh/ssh_connection.h"

namespace loom {

class Questions {
 public:
  enum class Mode { mayAsk, mustNotAsk };
  explicit Questions(std::function<void(int id, const SshQuestion&)> show, std::function<void(int id)> withdraw)
      : m_show(std::move(show)), m_withdraw(std::move(withdraw)) {}
  ~Questions();

  void begin(Mode mode);                                    // of a connection
  std::optional<QString> ask(const SshQuestion& question);  // blocks the line's thread; a notice is shown with id 0
  void accepted();                                          // signed in: what was answered is kept
  void refused();                                           // what was answered led nowhere
  double waitedMs();                                        // how long the person took to answer, since begin()
  // Window's thread.
  void answer(int id, const std::optional<QString>& text);
  void giveUp();  // declines what is being asked and all that follows until begin()

 private:
  QString keyOf(const SshQuestion& question) const { return question.host + '\n' + question.text; }
  QMutex m_mutex;
  QWaitCondition m_answered;
  std::function<void(int, const SshQuestion&)> m_show;
  std::function<void(int)> m_withdraw;
  Mode m_mode = Mode::mustNotAsk;
  int m_last = 0, m_open = 0;
  double m_waitedMs = 0;
  bool m_given = false, m_gaveUp = false;
  std::optional<QString> m_text;
  QHash<QString, QString> m_known, m_fresh;
  QSet<QString> m_used;
};

}  // namespace loom

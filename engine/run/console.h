#pragma once
// What a run says while it trains: on a terminal one line that is redrawn and lines that stay; elsewhere plain lines.
// The lines that stay also go to the run's log.txt, unless standard output is that file already.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/run/run_folder.h"

namespace loom {

class Console {
 public:
  Console();
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void logInto(const RunFolder& folder);  // from now on
  void line(const std::string& text);     // stays
  void live(const std::string& text);     // redrawn; nothing off a terminal
  bool terminal() const { return m_terminal; }
  int width() const;  // of the terminal, 80 elsewhere

 private:
  void clearLive();
  bool m_terminal = false, m_drawn = false;
  std::FILE* m_log = nullptr;
};

// How a program that ends by an error says so: one clear block on standard error, what kind of fault and what to do
// about it. Answers the exit code.
int tellError(const char* program, const Error& error);

// Follows the events of a run and tells them through a console.
class Progress {
 public:
  explicit Progress(Console& console) : m_console(console) {}
  void operator()(const Event& event);
  // Which metrics are shares from 0 to 1: they are told in percent.
  void setShares(std::function<bool(const std::string& metric)> isShare) { m_isShare = std::move(isShare); }
  std::string measure(const std::string& name, double value) const;  // "accuracy 91.85 %", "loss 0.2714"

 private:
  using Clock = std::chrono::steady_clock;
  void step(const Json& body);
  void epoch(const Json& body);
  void validation(const Json& body);
  std::string rateAndTime(const Json& body) const;
  std::string measures(const Json& body) const;
  std::string epochText(const Json& body, int digits = 0) const;

  Console& m_console;
  std::function<bool(const std::string& metric)> m_isShare;
  double m_epochs = 0;
  std::int64_t m_stepsTotal = 0, m_firstStep = 0, m_firstSamples = 0;
  std::optional<Clock::time_point> m_begin;  // of the first step that was seen: without setting up
  Clock::time_point m_drawn{}, m_printed{};
  std::string m_epochLine;  // waits for its validation
};

}  // namespace loom

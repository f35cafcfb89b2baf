#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/base/foreign.h"
#include "engine/base/json.h"
#include "engine/base/words.h"
#include "engine/run/console.h"

namespace loom {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(66);
constexpr auto kPlainLine = std::chrono::seconds(10);

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(seconds, 0.0)));
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

std::string count(double number) {
  if (number >= 1e5) return fmt::format("{:.0f}k", number / 1e3);
  return fmt::format("{:.0f}", number);
}

// Eighths of a column, so that the bar moves smoothly.
std::string bar(double share, int columns) {
  static const char* const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::clamp(share, 0.0, 1.0) * columns * 8);
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  int used = eighths / 8;
  if (eighths % 8 && used < columns) {
    text += parts[eighths % 8];
    ++used;
  }
  return text + std::string(static_cast<std::size_t>(columns - used), ' ');
}

}  // namespace

std::string Progress::measure(const std::string& name, double value) const {
  return m_isShare && m_isShare(name) ? fmt::format("{} {:.2f} %", name, 100 * value)
                                      : fmt::format("{} {:.4f}", name, value);
}

std::string Progress::measures(const Json& body) const {
  std::string text = measure("loss", numberIn(body, "loss"));
  if (const auto metrics = body.find("metrics"); metrics != body.end() && metrics->is_object())
    for (const auto& [name, value] : metrics->items()) text += "  " + measure(name, numberIn(*metrics, name.c_str()));
  return text;
}

void Progress::operator()(const Event& event) {
  const Json& body = event.body;
  if (event.kind == "preparing") {
    const double done = numberIn(body, "rows"), total = numberIn(body, "rows_total");
    const std::string text =
        fmt::format("preparing dataset '{}': {:.0f} of about {:.0f} rows", textIn(body, "dataset"), done, total);
    if (m_console.terminal())
      m_console.live(text);
    else if (Clock::now() - m_printed > kPlainLine) {
      m_console.line(text);
      m_printed = Clock::now();
    }
  } else if (event.kind == "started") {
    m_epochs = numberIn(body, "epochs");
    m_stepsTotal = wholeIn(body, "steps_total");
    const bool resumed = body.contains("resumed_from");
    m_firstStep = wholeIn(body, "resumed_from");
    m_console.line(fmt::format("{} {}, batch {}, {}, {} {} = {}, on {}",
                               resumed ? fmt::format("going on from step {}:", m_firstStep) : std::string("training"),
                               counted(wholeIn(body, "samples"), "samples"), wholeIn(body, "batch"),
                               counted(wholeIn(body, "parameters"), "parameters"), m_epochs,
                               m_epochs == 1 ? "epoch" : "epochs", counted(m_stepsTotal, "steps"),
                               textIn(body, "device")));
    m_printed = Clock::now();
  } else if (event.kind == "step") {
    step(body);
  } else if (event.kind == "epoch") {
    epoch(body);
  } else if (event.kind == "validation") {
    validation(body);
  } else if (event.kind == "control") {
    m_console.line(fmt::format("step {}: {}{}", wholeIn(body, "step"), textIn(body, "command"),
                               body.contains("value") ? " " + body["value"].dump() : std::string()));
  } else if (event.kind == "warning") {
    m_console.line("warning: " + textIn(body, "message"));
  } else if (event.kind == "finished" && !m_epochLine.empty()) {
    m_console.line(m_epochLine);
    m_epochLine.clear();
  }
}

std::string Progress::rateAndTime(const Json& body) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - *m_begin).count();
  const double first = static_cast<double>(m_firstStep), steps = static_cast<double>(wholeIn(body, "step")) - first;
  if (steps < 1 || seconds <= 0) return {};
  const double perSecond =
      (static_cast<double>(wholeIn(body, "samples")) - static_cast<double>(m_firstSamples)) / seconds;
  const double left = seconds / steps * (static_cast<double>(m_stepsTotal) - first - steps);
  return fmt::format("{} left, {} samples/s", duration(left), count(perSecond));
}

// Whoever comes in the middle has not heard how many there will be.
std::string Progress::epochText(const Json& body, int digits) const {
  const double epoch = numberIn(body, "epoch");
  const std::string at = digits > 0 ? fmt::format("epoch {:.{}f}", epoch, digits) : fmt::format("epoch {:g}", epoch);
  return m_epochs > 0 ? fmt::format("{} of {}", at, m_epochs) : at;
}

void Progress::step(const Json& body) {
  const auto now = Clock::now();
  if (!m_epochLine.empty()) m_console.line(std::exchange(m_epochLine, {}));  // no validation followed
  if (!m_begin) {
    m_begin = now;
    m_firstStep = wholeIn(body, "step");
    m_firstSamples = wholeIn(body, "samples");
  }
  if (m_console.terminal() ? now - m_drawn < kRedraw : now - m_printed < kPlainLine) return;
  m_drawn = m_printed = now;
  const std::int64_t step = wholeIn(body, "step");
  const std::string where = epochText(body, 2);
  if (!m_console.terminal()) {
    m_console.line(fmt::format("{}  {}  {}", where, measures(body), rateAndTime(body)));
    return;
  }
  const double share = m_stepsTotal > 0 ? static_cast<double>(step) / static_cast<double>(m_stepsTotal) : 0;
  // What matters most comes first: a narrow terminal cuts the end off.
  m_console.live(fmt::format("▕{}▏{:3.0f} %  {}  {}  {}", bar(share, std::clamp(m_console.width() / 8, 8, 24)),
                             share * 100, rateAndTime(body), measures(body), where));
}

// One line an epoch: it waits for the validation that follows at once.
void Progress::epoch(const Json& body) {
  if (!m_epochLine.empty()) m_console.line(m_epochLine);
  m_epochLine = epochText(body) + "  " + measures(body);
  if (m_begin) m_console.live(m_epochLine + "  validating …");
}

void Progress::validation(const Json& body) {
  const std::string text = "validation " + measures(body);
  if (m_epochLine.empty())
    m_console.line(epochText(body, 2) + "  " + text);
  else
    m_console.line(m_epochLine + "  |  " + text);
  m_epochLine.clear();
  m_printed = Clock::now();
}

}  // namespace loom

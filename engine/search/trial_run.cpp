#include <algorithm>

#include "engine/base/error.h"
#include "engine/search/study.h"

namespace loom {
namespace {

double numberOf(const Json& body, const char* key, double otherwise) {
  const auto found = body.find(key);
  if (found == body.end()) return otherwise;
  try {
    return numberFromJson(*found);
  } catch (const Error&) {
    return otherwise;
  }
}

}  // namespace

TrialRun::TrialRun(std::filesystem::path folder, TrialFile file)
    : m_folder(std::move(folder)), m_file(std::move(file)), m_events(RunFolder{m_folder}.eventsFile()) {
  m_trial.number = m_file.number;
  m_trial.point = m_file.point;
  m_trial.state = m_file.verdict;
}

void TrialRun::judge(TrialState verdict, const std::string& message) {
  m_file.verdict = verdict;
  m_file.message = message;
  writeTrialFile(m_folder, m_file);
}

void TrialRun::keepRefused(std::vector<RefusedCandidate> next) {
  m_file.refusedNext = std::move(next);
  writeTrialFile(m_folder, m_file);
}

void TrialRun::remember(std::int64_t process, std::int64_t start) {
  m_file.process = process;
  m_file.processStart = start;
  writeTrialFile(m_folder, m_file);
}

void TrialRun::take(const Event& event) {
  const Json& body = event.body;
  const double step = numberOf(body, "step", -1);
  if (event.kind == "step") {
    if (!m_first) m_stepMs += numberOf(body, "ms", 0), ++m_steps;
    m_first = false;
  } else if (event.kind == "started") {
    m_end.clear();
    m_first = true;
    m_stepsTotal = numberOf(body, "steps_total", 0);
    // What lies behind the checkpoint is trained, and measured, once more.
    const double from = numberOf(body, "resumed_from", 0) / std::max(m_stepsTotal, 1.0);
    for (auto* curve : {&m_validations, &m_epochs})
      std::erase_if(*curve, [from](const TrialResult& each) { return each.at > from + 1e-9; });
  } else if (event.kind == "validation" || event.kind == "epoch") {
    double value = std::nan("");
    if (m_file.plan.metric == "loss")
      value = numberOf(body, "loss", value);
    else if (const auto metrics = body.find("metrics"); metrics != body.end() && metrics->is_object())
      value = numberOf(*metrics, m_file.plan.metric.c_str(), value);
    const TrialResult measured{std::min(step / std::max(m_stepsTotal, 1.0), 1.0), m_file.plan.higher ? value : -value};
    (event.kind == "validation" ? m_validations : m_epochs).push_back(measured);
  } else if (event.kind == "error") {
    m_message = body.value("message", std::string());
  } else if (event.kind == "finished") {
    m_end = body.value("reason", std::string());
    if (const std::string words = body.value("message", std::string()); !words.empty()) m_message = words;
  }
  if (step >= 0 && m_stepsTotal > 0) m_trial.spent = std::min(step / m_stepsTotal, 1.0);
}

double TrialRun::stepSeconds() const {
  return m_steps > 0 ? m_stepMs / 1000 / static_cast<double>(m_steps) : std::nan("");
}

const Trial& TrialRun::look(bool lives) {
  for (std::vector<Event> some = m_events.read(); !some.empty(); some = m_events.read())
    for (const Event& event : some) take(event);
  m_trial.curve = m_validations.empty() ? m_epochs : m_validations;
  if (m_end == "failed" && !lives && m_file.verdict == TrialState::running) judge(TrialState::failed, m_message);
  if (m_file.verdict == TrialState::failed)
    m_trial.state = TrialState::failed;
  else if (m_end == "done")
    m_trial.state = TrialState::done;
  else if (m_file.verdict == TrialState::weak && !lives)
    m_trial.state = TrialState::weak;
  else
    m_trial.state = lives ? TrialState::running : TrialState::interrupted;
  return m_trial;
}

}  // namespace loom

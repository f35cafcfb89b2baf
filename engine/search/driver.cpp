#include "engine/search/driver.h"

#include <algorithm>
#include <chrono>

#include "engine/base/error.h"

namespace loom {

SearchDriver::SearchDriver(Study study, TrialBench& bench, int atOnce, std::shared_ptr<const CandidateScreen> screen)
    : m_study(std::move(study)),
      m_bench(bench),
      m_rule(stopRuleNamed(m_study.plan.stopWeak)),
      m_strategy(strategyNamed(m_study.plan.strategy)),
      m_atOnce(std::max(atOnce, 1)),
      m_screen(std::move(screen)) {}

SearchDriver::~SearchDriver() {
  m_outdated = true;
  dropDrawing();
}

// Nobody wants it any more, whatever it is; but what was refused on the way is not looked at a second time.
void SearchDriver::dropDrawing() {
  if (!m_drawing.valid()) return;
  try {
    DrawnCandidate drawn = m_drawing.get();
    keepRefused(drawn);
  } catch (const std::exception&) {
    // What cannot be drawn or written is drawn again.
  }
}

void SearchDriver::keepRefused(DrawnCandidate& drawn) {
  if (m_study.trials.empty()) return;
  TrialRun& last = *m_study.trials.back();
  if (drawn.refused.size() <= last.file().refusedNext.size()) return;
  last.keepRefused(std::move(drawn.refused));
  m_dirty = true;
}

void SearchDriver::stop() {
  m_stopping = m_outdated = true;
}

void SearchDriver::look(TrialRun& run) {
  const int number = run.file().number;
  const bool lives = !run.trial().ended() && m_bench.lives(run);
  const Trial& trial = run.look(lives);
  if (const auto known = m_known.find(number); known == m_known.end() || known->second != trial.state) {
    const bool lived = known != m_known.end() && known->second == TrialState::running;
    if (trial.state == TrialState::interrupted && lived && !m_asked.count(number)) {
      // One that a person stopped has said what it has to say. One that this driver began and that went without a word
      // would go the same way again; what it found alive may have gone with its host, and is taken up once.
      if (!run.ended().empty())
        run.judge(TrialState::weak);
      else if (m_begun.count(number))
        run.judge(TrialState::failed, m_bench.lastWords(run));
      run.look(false);
    }
    m_known[number] = trial.state;
    m_dirty = true;
    if (changed) changed(run);
  }
  if (trial.state != TrialState::running || m_asked.count(number)) return;
  bool weak = run.file().verdict == TrialState::weak;
  if (const std::size_t measured = trial.curve.size(); m_measured[number] != measured) {
    m_measured[number] = measured;
    weak = weak || m_rule.isWeak(trial, m_study.state());
  }
  if (!weak && !m_stopping) return;
  if (weak && run.file().verdict != TrialState::weak) run.judge(TrialState::weak);
  m_asked[number] = true;
  m_bench.stop(run);
}

// One that was interrupted lives again. False where there is none.
bool SearchDriver::goOn() {
  for (const auto& run : m_study.trials) {
    if (run->trial().state != TrialState::interrupted || m_asked.count(run->file().number)) continue;
    m_known[run->file().number] = TrialState::running;
    m_begun.insert(run->file().number);
    m_bench.start(*run, true);
    run->look(true);
    if (changed) changed(*run);
    return true;
  }
  return false;
}

void SearchDriver::draw() {
  DrawQuestion question{.plan = m_study.plan, .trials = m_study.state(), .refused = {}, .drawings = {}};
  if (!m_study.trials.empty()) question.drawn = m_study.trials.back()->file().refusedNext;
  for (const auto& run : m_study.trials) {
    for (const RefusedCandidate& each : run->file().refused) question.refused.push_back(each.point);
    if (!run->file().drawing.empty()) question.drawings.insert(run->file().drawing);
  }
  const auto task = [question = std::move(question), strategy = &m_strategy, screen = m_screen,
                     outdated = &m_outdated] { return drawCandidate(question, *strategy, screen.get(), *outdated); };
  m_drawing = std::async(m_screen ? std::launch::async : std::launch::deferred, task);
}

// Begins the next trial as far as it is known. Nothing while it is still being drawn.
void SearchDriver::begin() {
  if (!m_drawing.valid()) {
    if (goOn()) return;
    if (static_cast<int>(m_study.trials.size()) >= m_study.plan.trials) {
      m_exhausted = true;
      return;
    }
    draw();
  }
  // Most are drawn in less than this; one that has to be planned is looked for at the next step.
  constexpr auto kWait = std::chrono::milliseconds(15);
  if (m_drawing.wait_for(kWait) != std::future_status::timeout) take(m_drawing.get());
}

void SearchDriver::take(DrawnCandidate drawn) {
  if (m_stopping || !drawn.point) keepRefused(drawn);
  if (m_stopping) return;
  if (!drawn.point) {
    m_exhausted = true;
    m_ending = drawn.ending;
    if (m_study.trials.empty() && !m_ending.empty()) throwError(ErrorCode::badArgument, "{}", m_ending);
    return;
  }
  const TrialFile file{.plan = m_study.plan,
                       .number = nextNumber(m_study.state()),
                       .point = *drawn.point,
                       .cost = drawn.cost,
                       .drawing = drawn.drawing,
                       .refused = std::move(drawn.refused)};
  const std::filesystem::path folder = m_bench.place(m_study.plan, file.number);
  writeTrialFile(folder, file);
  m_study.trials.push_back(std::make_unique<TrialRun>(folder, file));
  TrialRun& run = *m_study.trials.back();
  m_known[file.number] = TrialState::running;
  m_begun.insert(file.number);
  m_bench.start(run, false);
  m_dirty = true;
  if (changed) changed(run);
}

bool SearchDriver::step() {
  const auto living = [this] {
    return std::count_if(m_study.trials.begin(), m_study.trials.end(),
                         [](const auto& run) { return run->trial().state == TrialState::running; });
  };
  for (const auto& run : m_study.trials)
    if (!run->trial().ended() || !m_known.count(run->file().number)) look(*run);
  // A trial that waits for others to end leaves its place to nobody: `atOnce` counts those too.
  while (!m_stopping && living() < m_atOnce) {
    // Where nothing more is drawn, one that was taken for alive may still turn out to be interrupted.
    if (m_exhausted && !goOn()) break;
    if (!m_exhausted) begin();
    if (m_drawing.valid()) break;
  }
  if (m_stopping && m_drawing.valid() && m_drawing.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    dropDrawing();
  if (m_dirty && !m_study.trials.empty()) {
    m_study.save();
    m_dirty = false;
  }
  return living() > 0 || m_drawing.valid();
}

}  // namespace loom

// Candidates are a class of units (what costs little for its memory, up to everything) and a size of segments: at the
// end of each, what is read behind it is kept, so that a segment is repeated from there alone (Chen et al., "Training
// deep nets with sublinear memory cost", 2016); those that need least again with single units changed. The cheapest
// that fits by an estimate is thinned out, laid out by the backend and judged by that; then the estimate's target is
// corrected.
#include "engine/passes/recomputation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/error.h"
#include "engine/passes/repetition.h"

namespace loom {
namespace {

constexpr int kClasses = 8;
constexpr double kSegmentGrowth = 1.3;  // from one size of segments to the next
constexpr int kMostTries = 8;           // layouts by the backend for one budget
constexpr std::size_t kLastResorts = 4;
constexpr double kCloseEnough = 0.93;  // of the budget: nothing is gained by repeating less

struct Candidate {
  Repetition::Chosen chosen;
  Repetition::Outlook outlook;
};

class Search {
 public:
  explicit Search(const Repetition& repetition) : m_repetition(repetition), m_units(repetition.units()) {
    add(Repetition::Chosen(m_units.size()));
    for (const double most : classes()) addSegments(most);
    for (Candidate& one : smallest()) m_candidates.push_back(lowered(std::move(one)));
  }

  double estimate() const { return m_candidates[0].outlook.peak; }

  // The cheapest whose peak is at most this.
  std::optional<Candidate> cheapest(double target) const {
    const Candidate* best = nullptr;
    for (const Candidate& one : m_candidates)
      if (one.outlook.peak <= target && (best == nullptr || one.outlook.cost < best->outlook.cost)) best = &one;
    if (best == nullptr) return std::nullopt;
    return thinned(*best, target);
  }

  // Those that need least, by the estimate.
  std::vector<Candidate> smallest() const {
    std::vector<Candidate> all = m_candidates;
    std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return a.outlook.peak != b.outlook.peak ? a.outlook.peak < b.outlook.peak : a.outlook.cost < b.outlook.cost;
    });
    all.erase(std::unique(all.begin(), all.end(),
                          [](const Candidate& a, const Candidate& b) { return a.chosen == b.chosen; }),
              all.end());
    all.resize(std::min(all.size(), kLastResorts));
    return all;
  }

 private:
  void add(Repetition::Chosen chosen) {
    const Repetition::Outlook outlook = m_repetition.outlook(chosen);
    m_candidates.push_back({std::move(chosen), outlook});
  }

  // What a unit's memory costs; infinite where it gives none back.
  static double price(const Unit& unit) {
    return unit.again.empty() || unit.isView || unit.bytes == 0 ? HUGE_VAL : unit.cost / unit.bytes;
  }

  // The highest price of each class.
  std::vector<double> classes() const {
    std::vector<double> prices;
    for (const Unit& unit : m_units)
      if (std::isfinite(price(unit))) prices.push_back(price(unit));
    std::sort(prices.begin(), prices.end());
    std::vector<double> limits;
    for (std::size_t k = 1; k <= kClasses && !prices.empty(); ++k) {
      const double limit = prices[(prices.size() * k - 1) / kClasses];
      if (limits.empty() || limits.back() != limit) limits.push_back(limit);
    }
    return limits;
  }

  void addSegments(double most) {
    Repetition::Chosen all(m_units.size());
    double largest = 0, sum = 0;
    for (std::size_t u = 0; u < m_units.size(); ++u) {
      all[u] = price(m_units[u]) <= most;
      if (!all[u] || !m_repetition.isReadLate(static_cast<int>(u))) continue;
      largest = std::max(largest, m_units[u].bytes);
      sum += m_units[u].bytes;
    }
    for (double bytes = largest; bytes < sum; bytes *= kSegmentGrowth) add(segmented(all, bytes));
    add(std::move(all));
  }

  // `all`, but for what is read behind the end of its segment; a segment holds about so many bytes.
  Repetition::Chosen segmented(const Repetition::Chosen& all, double bytes) const {
    Repetition::Chosen chosen = all;
    const auto bytesOf = [&](std::size_t u) {
      return all[u] && m_repetition.isReadLate(static_cast<int>(u)) ? m_units[u].bytes : 0;
    };
    std::size_t begin = 0;  // of the segment
    double held = 0;
    for (std::size_t u = 0; u < m_units.size() && !m_units[u].late; ++u) {
      held += bytesOf(u);
      if (held <= bytes) continue;
      begin = cut(chosen, begin, u, held);
      held = 0;
      for (std::size_t k = begin; k <= u; ++k) held += bytesOf(k);
    }
    return chosen;
  }

  // Ends a segment in front of the unit that is answered, in the later half of [begin, last], where least is read
  // across; that is kept.
  std::size_t cut(Repetition::Chosen& chosen, std::size_t begin, std::size_t last, double held) const {
    const auto crosses = [&](std::size_t u, std::size_t end) {
      return chosen[u] && m_repetition.lastReader(static_cast<int>(u)) >= static_cast<int>(end);
    };
    std::size_t best = last;
    double least = HUGE_VAL, before = 0;
    for (std::size_t end = begin + 1; end <= last; ++end) {
      if (chosen[end - 1] && m_repetition.isReadLate(static_cast<int>(end - 1))) before += m_units[end - 1].bytes;
      if (2 * before < held) continue;
      double across = 0;
      for (std::size_t u = begin; u < end; ++u)
        if (crosses(u, end)) across += m_units[u].bytes;
      if (across > least) continue;
      least = across;
      best = end;
    }
    best = std::max(best, begin + 1);
    for (std::size_t u = 0; u < best; ++u)
      if (crosses(u, best)) chosen[u] = false;
    return best;
  }

  // With single units kept or repeated otherwise, as long as that lowers the peak.
  Candidate lowered(Candidate candidate) const {
    for (bool better = true; better;) {
      better = false;
      for (std::size_t u = 0; u < m_units.size(); ++u) {
        if (!std::isfinite(price(m_units[u]))) continue;
        candidate.chosen[u] = !candidate.chosen[u];
        const Repetition::Outlook outlook = m_repetition.outlook(candidate.chosen);
        if (outlook.peak < candidate.outlook.peak) {
          candidate.outlook = outlook;
          better = true;
        } else {
          candidate.chosen[u] = !candidate.chosen[u];
        }
      }
    }
    return candidate;
  }

  // Without the repetitions that are not needed for the target, the dearest first.
  Candidate thinned(Candidate candidate, double target) const {
    std::vector<std::size_t> order;
    for (std::size_t u = 0; u < m_units.size(); ++u)
      if (candidate.chosen[u]) order.push_back(u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return m_units[a].cost > m_units[b].cost; });
    for (const std::size_t u : order) {
      candidate.chosen[u] = false;
      const Repetition::Outlook outlook = m_repetition.outlook(candidate.chosen);
      if (outlook.peak <= target)
        candidate.outlook = outlook;
      else
        candidate.chosen[u] = true;
    }
    return candidate;
  }

  const Repetition& m_repetition;
  const std::vector<Unit>& m_units;
  std::vector<Candidate> m_candidates;  // the first repeats nothing
};

struct Found {
  Program program;
  std::size_t bytes = 0;
  double cost = 0;
};

std::string mebibytes(std::size_t bytes, double (*rounded)(double) = std::round) {
  return fmt::format("{}", rounded(static_cast<double>(bytes) / (1 << 20) * 1000) / 1000);
}

[[noreturn]] void refuse(std::size_t budget, std::size_t least, std::size_t without) {
  const std::string enough = mebibytes(least, std::ceil);  // as a setting that is typed
  throwError(ErrorCode::badProject,
             "what lives during a step takes {} MiB, and {} MiB where all that can be is computed again, but "
             "memory_budget is {} MiB: set it to {} or more, or compute fewer samples at once (batch, accumulate)",
             mebibytes(without), enough, mebibytes(budget), enough);
}

Found fitting(const Program& program, const RecomputationRequest& request, std::size_t without) {
  const Repetition repetition(program, planFusion(program, request.joinsOf));
  const Search search(repetition);
  const auto laidOut = [&](const Candidate& candidate) {
    Found found{.program = repetition.rewritten(candidate.chosen), .cost = candidate.outlook.cost};
    found.bytes = request.arenaOf(found.program);
    return found;
  };
  const double budget = static_cast<double>(request.budget);
  std::optional<Found> best;
  double target = budget * search.estimate() / static_cast<double>(without);
  for (int tries = 0; tries < kMostTries; ++tries) {
    const std::optional<Candidate> candidate = search.cheapest(target);
    if (!candidate) break;
    Found found = laidOut(*candidate);
    const double missed = budget / static_cast<double>(found.bytes);
    if (found.bytes > request.budget) {
      if (best) break;
      target *= std::min(missed, 0.98);
      continue;
    }
    const bool close = missed * kCloseEnough <= 1 || tries > 0;
    if (!best || found.cost < best->cost) best = std::move(found);
    if (close) break;
    target *= missed;
  }
  if (best) return std::move(*best);
  std::size_t least = without;
  for (const Candidate& candidate : search.smallest()) {
    Found found = laidOut(candidate);
    if (found.bytes <= request.budget) return found;
    least = std::min(least, found.bytes);
  }
  refuse(request.budget, least, without);
}

}  // namespace

Recomputation recomputeWithin(Program& program, const RecomputationRequest& request) {
  Recomputation told;
  const bool learns = std::any_of(program.operations.begin(), program.operations.end(),
                                  [](const Operation& operation) { return operation.backward; });
  if (!learns) return told;
  told.without = told.with = request.arenaOf(program);
  if (told.without <= request.budget) return told;
  Found found = fitting(program, request, told.without);
  program = std::move(found.program);
  told.with = found.bytes;
  for (const Operation& operation : program.operations) {
    if (repetitionOf(operation) == 0) continue;
    ++told.operations;
    if (operation.op->multiplyAdds != nullptr)
      told.multiplyAdds += operation.op->multiplyAdds(program.wideSpecs(operation.inputs),
                                                      program.wideSpecs(operation.outputs), operation.attributes);
  }
  return told;
}

}  // namespace loom

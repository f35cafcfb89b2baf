#pragma once
// What of a run's steps each of its ranks computes, exchanges and waits, as the run's newest event of it tells; looked
// at before it is believed. No widgets.
#include <QString>
#include <vector>

#include "launcher/store/run_record.h"

namespace loom {

struct Event;

struct RankShare {
  QString host;
  double computing = 0, exchanging = 0, waiting = 0, data = 0;  // milliseconds of a mean step
  double whole() const { return computing + exchanging + waiting + data; }
  double own() const { return computing + data; }  // what it takes where nobody else would be
};

struct RankShares {
  qint64 step = 0;
  int steps = 0;                 // over which these are means
  std::vector<RankShare> ranks;  // empty: nothing was told
  int told = 1;                  // ranks that the newest attempt began with
  bool live = false;

  int slowest() const;                                  // -1: nothing was told
  double behind() const;                                // by what share of the others' mean the slowest takes longer
  double othersWait() const;                            // milliseconds a step, mean of the others
  bool hasLaggard() const { return behind() >= 0.03; }  // less is nobody's fault
  QString words() const;                                // who is slowest, or why there is none: a sentence
  QString consequence() const;                          // what the others wait; empty where nothing was told
  QString wordsOf(int rank) const;
};

// `events`: as the store has them, oldest first. `run` null: of none.
RankShares rankShares(const RunRecord* run, const std::vector<Event>& events);

}  // namespace loom

#pragma once
// Runs that were never trained: as folders with their logs, and with their curves straight in the store's database.
#include <QString>
#include <string>

namespace loom::bench {

extern const char* const kProject;

void write(const QString& path, const std::string& text);
// The project's file and its data, in `folder`/p.
void writeProject(const QString& folder);
// Four seeds of each pair of rate and batch; a run in 40 stops early.
void writeRun(const QString& folder, int number, int points);

// Runs whose curves the store has and no log: that would be many times as large.
struct StoredRuns {
  int runs = 0, points = 0;         // of the curves of steps
  int noise = 0;                    // curves of steps beside the loss, each value another
  int measured = 10, metrics = 1;   // points of each metric of the validation, and how many there are
  double bestFrom = 0, bestTo = 0;  // accuracy, of the first to the last
};
// Into the project and the store of `folder`; `name` begins the names of all. Answers the bytes of their blocks.
double storeRuns(const QString& folder, const QString& name, const StoredRuns& what);

}  // namespace loom::bench

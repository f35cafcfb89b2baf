#pragma once
// The verbs of `loom`, each in its file: it declares its arguments and what runs when it is chosen. A verb answers an
// exit code or throws Error, whose code becomes one (engine/run/exit_code.h).
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/training/parallel.h"

namespace CLI {
class App;
}

namespace loom {

class Backend;
class TrainedRuns;

// What a verb may use.
struct Session {
  const std::atomic<bool>& stop;  // true after SIGINT or SIGTERM
  std::function<int()> chosen;    // set by the verb that the command line names
  TrainedRuns* runs = nullptr;    // networks that stay ready; null: this process ends with its answer
  // Where evaluate, predict and look say what they have to say; empty: on standard output.
  std::function<void(std::string_view)> say = {};
};

void addTrain(CLI::App& app, Session& session);
void addEvaluate(CLI::App& app, Session& session);
void addPredict(CLI::App& app, Session& session);
void addLook(CLI::App& app, Session& session);
void addCheck(CLI::App& app, Session& session);
void addPlan(CLI::App& app, Session& session);
void addPresets(CLI::App& app, Session& session);
void addRangeTest(CLI::App& app, Session& session);
void addNoiseScale(CLI::App& app, Session& session);
void addAdvise(CLI::App& app, Session& session);
void addLandscape(CLI::App& app, Session& session);
void addCatalogue(CLI::App& app, Session& session);
void addImport(CLI::App& app, Session& session);
void addExport(CLI::App& app, Session& session);
void addData(CLI::App& app, Session& session);
void addBench(CLI::App& app, Session& session);
void addDoctor(CLI::App& app, Session& session);
void addSearch(CLI::App& app, Session& session);
void addSupervise(CLI::App& app, Session& session);
void addAgent(CLI::App& app, Session& session);

// Runs a whole command line; what main() does after it has set up the process.
int runLoom(int count, const char* const* arguments, const std::atomic<bool>& stop);

// "auto", "cpu", "cuda", "reference". `timesEngines`: of what a GPU's libraries offer the fastest is found out by
// trying it once, and kept. Throws Error(device) for what this machine or build lacks.
std::unique_ptr<Backend> makeBackend(const std::string& device, int threads, bool timesEngines = false);

// For ranks with a GPU each: NCCL on its streams. Null for other devices. `tell`: why ranks exchange through the host.
ConnectStreams makeConnection(const std::string& device, std::function<void(const std::string&)> tell);

std::string versionText();

}  // namespace loom

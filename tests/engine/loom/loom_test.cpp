// The program itself: exit codes, messages, signals, a killed process, a full disk, two on one folder.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>

#include "engine/base/files.h"
#include "engine/loom/bench/calibration.h"
#include "engine/run/exit_code.h"
#include "engine/run/predictions.h"
#include "engine/run/safetensors.h"
#include "engine/training/checkpoint.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Ended {
  int code = -1;  // or minus the signal
  std::string out, error;
};

class Process {
 public:
  Process(const Workshop& workshop, std::vector<std::string> arguments, std::int64_t largestFile = 0,
          const char* out = nullptr)
      : m_path(workshop.path()) {
    m_pid = ::fork();
    if (m_pid == 0) {
      if (::chdir(m_path.c_str()) != 0) ::_exit(120);
      const int o = ::open(out ? out : "stdout.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644),
                e = ::open("stderr.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
      ::dup2(o, 1);
      ::dup2(e, 2);
      if (largestFile > 0) {
        const rlimit limit{static_cast<rlim_t>(largestFile), static_cast<rlim_t>(largestFile)};
        ::setrlimit(RLIMIT_FSIZE, &limit);
      }
      std::vector<char*> pointers{const_cast<char*>("loom")};
      for (std::string& argument : arguments) pointers.push_back(argument.data());
      pointers.push_back(nullptr);
      ::execv(LOOM_PROGRAM, pointers.data());
      ::_exit(121);
    }
  }
  void signal(int number) const { ::kill(m_pid, number); }
  Ended wait() {
    int status = 0;
    ::waitpid(m_pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), text("stdout.txt"), text("stderr.txt")};
  }

 private:
  std::string text(const char* file) const {
    return std::filesystem::exists(m_path / file) ? readFile(m_path / file) : std::string();
  }
  std::filesystem::path m_path;
  pid_t m_pid = -1;
};

Ended loom(const Workshop& workshop, std::vector<std::string> arguments) {
  return Process(workshop, std::move(arguments)).wait();
}

// Waits until the run has logged this step (or any later one).
void waitForStep(const std::filesystem::path& run, std::int64_t step) {
  EventReader reader(run / "events.jsonl");
  for (int tries = 0; tries < 3000; ++tries) {
    for (const Event& event : reader.read())
      if (event.kind == "step" && event.body["step"] >= step) return;
    ::usleep(5000);
  }
  FAIL() << "step " << step << " never came";
}

class Loom : public testing::Test {
 protected:
  void SetUp() override { m_workshop.write("p.loom", formatJson(perceptron())); }
  // A run that takes long enough to be disturbed.
  void writeLong(double checkpointEvery = 0) {
    Json project = perceptron();
    project["training"]["epochs"] = 100000;
    if (checkpointEvery > 0) project["training"]["checkpoint_every"] = checkpointEvery;
    m_workshop.write("long.loom", formatJson(project));
  }
  Workshop m_workshop{"loom"};
};

TEST_F(Loom, TrainsAndSaysWhereEverythingIs) {
  const Ended ended = loom(m_workshop, {"train", "p.loom"});
  EXPECT_EQ(ended.code, 0) << ended.error;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("epoch 3 of 3"), HasSubstr("validation"), HasSubstr("runs/p-001/events.jsonl"),
                               HasSubstr("runs/p-001/checkpoints/step-")));
  EXPECT_THAT(ended.out, testing::ContainsRegex("validation loss [0-9.]+  accuracy [0-9.]+ %"));
  EXPECT_EQ(ended.error, "");
  EXPECT_THAT(readFile(m_workshop.path() / "runs/p-001/log.txt"), HasSubstr("epoch 3 of 3"))
      << "the log holds what was printed";
  EXPECT_EQ(loom(m_workshop, {"train", "p.loom", "--device", "reference"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(m_workshop.path() / "runs/p-002/run.json")) << "the next one has the next number";
  const Ended evaluated = loom(m_workshop, {"evaluate", "runs/p-001", "--json"});
  EXPECT_EQ(Json::parse(evaluated.out)["samples"], 21);
  const double share = Json::parse(evaluated.out)["metrics"]["accuracy"];
  EXPECT_THAT(loom(m_workshop, {"evaluate", "runs/p-001"}).out,
              HasSubstr(fmt::format("accuracy    {:.2f} %", 100 * share)));
  EXPECT_EQ(loom(m_workshop, {"predict", "runs/p-001", "val.csv"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(m_workshop.path() / "val_predicted.csv"));
  const Ended told = loom(m_workshop, {"predict", "runs/p-001", "val.csv", "--json", "--rows", "2"});
  EXPECT_EQ(predictionsFromJson(Json::parse(told.out)).kept.size(), 2u);
  // One of two is no sample: the other is predicted, and the exit code says that something is missing.
  std::string array("\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 10 + 57);
  array.resize(127, ' ');
  m_workshop.write("good.npy", array + '\n' + std::string(12, '\0'));
  m_workshop.write("torn.npy", "nothing");
  const Ended partly = loom(m_workshop, {"predict", "runs/p-001", "good.npy", "torn.npy"});
  EXPECT_EQ(partly.code, 20);
  EXPECT_THAT(partly.out, AllOf(HasSubstr("good.npy  y'"), HasSubstr("1 of 2 files were not predicted:\ntorn.npy: ")));
  const Ended listed = loom(m_workshop, {"predict", "runs/p-001", "good.npy", "torn.npy", "--json"});
  EXPECT_EQ(listed.code, 20);
  EXPECT_EQ(predictionsFromJson(Json::parse(listed.out)).refused.size(), 1u);
}

TEST_F(Loom, AnEvaluationIsAReportAndFiguresOnTheTerminal) {
  ASSERT_EQ(loom(m_workshop, {"train", "p.loom"}).code, 0);
  ASSERT_EQ(loom(m_workshop, {"train", "p.loom", "--set", "epochs=1"}).code, 0);
  const Ended told = loom(m_workshop, {"evaluate", "runs/p-001", "--report", "out", "--against", "runs/p-002"});
  EXPECT_EQ(told.code, 0) << told.error;
  EXPECT_THAT(told.out, AllOf(HasSubstr("accuracy"), HasSubstr("of 21; 95 %"), HasSubstr("AUC"), HasSubstr("McNemar"),
                              HasSubstr("confusion.csv, classes.csv, samples.csv")));
  const Json report = Json::parse(readFile(m_workshop.path() / "out/report.json"));
  EXPECT_EQ(report["samples"], 21);
  EXPECT_EQ(report["outputs"][0]["worst"]["sample"].size(), 21u);
  EXPECT_THAT(readFile(m_workshop.path() / "out/samples.csv"), HasSubstr("row,true,predicted,loss"));
  const Ended lines =
      loom(m_workshop, {"evaluate", "runs/p-001", "--part", "training", "--report", "out", "--json", "--progress"});
  EXPECT_EQ(lines.out.rfind("{\"done\":", 0), 0u) << lines.out;
  const Json last = Json::parse(lines.out.substr(lines.out.find("\n{\"version") + 1));
  EXPECT_EQ(last["samples"], 50);
  EXPECT_EQ(last["report"]["files"].size(), 6u);
  EXPECT_FALSE(last["outputs"][0].contains("worst"));
  EXPECT_EQ(Json::parse(loom(m_workshop, {"evaluate", "runs/p-001", "--part", "training", "--json"}).out)["samples"],
            50);
  EXPECT_EQ(loom(m_workshop, {"evaluate", "runs/p-001", "--data", "val.csv"}).code, 0);
  EXPECT_EQ(loom(m_workshop, {"evaluate", "runs/p-001", "--data", "val.csv", "--part", "training"}).code,
            exitCode(ErrorCode::badArgument));
  Json alone = perceptron(false);
  m_workshop.write("alone.loom", formatJson(alone));
  ASSERT_EQ(loom(m_workshop, {"train", "alone.loom"}).code, 0);
  const Ended refused = loom(m_workshop, {"evaluate", "runs/alone-001", "--part", "validation", "--report", "out"});
  EXPECT_EQ(refused.code, exitCode(ErrorCode::badProject));
  EXPECT_THAT(refused.error, HasSubstr("--part training"));
}

TEST_F(Loom, ALookAtASampleIsTextAndJsonAndPictures) {
  ASSERT_EQ(loom(m_workshop, {"train", "p.loom"}).code, 0);
  const Ended told = loom(
      m_workshop, {"look", "runs/p-001", "--sample", "4", "--saliency", "occlusion", "--of", "2", "--png", "map.png"});
  EXPECT_EQ(told.code, 0) << told.error;
  EXPECT_THAT(told.out, AllOf(HasSubstr("4 of 21"), HasSubstr("occlusion   of 2: 1×3 places"),
                              HasSubstr("most at place"), HasSubstr("layers      x 3, fc1 8"), HasSubstr("map.png")));
  EXPECT_EQ(readFile(m_workshop.path() / "map.png").substr(1, 3), "PNG");
  const Json json = Json::parse(loom(m_workshop, {"look", "runs/p-001", "--data", "train.csv", "--sample", "50",
                                                  "--saliency", "gradient", "--layer", "fc1", "--json"})
                                    .out);
  EXPECT_EQ(json["look"]["samples"], 50);
  EXPECT_EQ(json["look"]["map"]["values"].size(), 3u);
  EXPECT_EQ(json["layer"]["shape"], Json({8}));
  EXPECT_FALSE(Json::parse(loom(m_workshop, {"look", "runs/p-001", "--json", "--no-layer"}).out).contains("layer"));
  const Ended beyond = loom(m_workshop, {"look", "runs/p-001", "--sample", "22"});
  EXPECT_EQ(beyond.code, exitCode(ErrorCode::badArgument));
  EXPECT_THAT(beyond.error, HasSubstr("has 21"));
  EXPECT_THAT(loom(m_workshop, {"look", "runs/p-001", "--png", "map.png"}).error, HasSubstr("--saliency"));
  EXPECT_THAT(loom(m_workshop, {"look", "runs/p-001", "--layer", "fc1", "--layer-png", "c.png"}).error,
              HasSubstr("rows and columns"));
}

TEST_F(Loom, ExitCodesTellTheKindsApart) {
  EXPECT_EQ(loom(m_workshop, {"dance"}).code, exitCode(ErrorCode::badArgument));
  EXPECT_EQ(loom(m_workshop, {"train"}).code, exitCode(ErrorCode::badArgument));
  EXPECT_EQ(loom(m_workshop, {"train", "p.loom", "--set", "epochs"}).code, exitCode(ErrorCode::badArgument));
  EXPECT_EQ(loom(m_workshop, {"--help"}).code, 0);
  EXPECT_EQ(loom(m_workshop, {"train", "none.loom"}).code, exitCode(ErrorCode::missingFile));
  EXPECT_EQ(loom(m_workshop, {"train", "p.loom", "--set", "datasets.training.csv=none.csv"}).code,
            exitCode(ErrorCode::missingFile));
  ::setenv("GRADLOOM_CUDA_MODULE", "/nowhere/loom_cuda.so", 1);  // whatever this machine has
  EXPECT_EQ(loom(m_workshop, {"train", "p.loom", "--device", "cuda"}).code, exitCode(ErrorCode::device));
  ::unsetenv("GRADLOOM_CUDA_MODULE");
  m_workshop.write("newer.loom", "{\"loom\": 9}");
  EXPECT_EQ(loom(m_workshop, {"check", "newer.loom"}).code, exitCode(ErrorCode::newerVersion));
  m_workshop.write("broken.loom", "{\"loom\": 1,");
  EXPECT_EQ(loom(m_workshop, {"check", "broken.loom"}).code, exitCode(ErrorCode::badProject));
  m_workshop.write("train.csv", "x__0,x__1,x__2,y:label\n1,2,3,0\n1,2\n");
  const Ended ragged = loom(m_workshop, {"train", "p.loom"});
  EXPECT_EQ(ragged.code, exitCode(ErrorCode::badData));
  EXPECT_THAT(ragged.error, AllOf(HasSubstr("bad data"), HasSubstr("line 3")));
  EXPECT_EQ(loom(m_workshop, {"data", "check", "train.csv"}).code, exitCode(ErrorCode::badData));
}

// As if this processor had been measured, with products in bf16 that take `bf16` times as long as in f32.
void keepTimes(const std::filesystem::path& cache, double bf16) {
  ProcessorTimes times{.machine = processorWords(1), .program = "this test", .date = "2026-11-23"};
  const auto point = [&times](const char* op, StageKind kind, DataType factors, double seconds) {
    const bool multiplies = kind == StageKind::product;
    times.points.push_back({.op = op,
                            .kernel = op,
                            .kind = kind,
                            .factors = factors,
                            .bytes = 1e6,
                            .operations = multiplies ? 1e6 : 0,
                            .seconds = seconds});
  };
  point("matmul", StageKind::product, DataType::f32, 1);
  point("matmul", StageKind::product, DataType::bf16, bf16);
  point("relu", StageKind::memory, DataType::f32, 1e-6);
  point("update", StageKind::update, DataType::f32, 1e-6);
  std::filesystem::create_directories(cache / "gradloom");
  keepProcessorTimes(cache / "gradloom/processors.json", times);
}

TEST_F(Loom, APrecisionLeftToTheMachineIsChosenByWhatWasMeasuredOnIt) {
  const std::filesystem::path cache = m_workshop.path() / "cache";
  ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  for (const auto& [bf16, run] : {std::pair(0.5, "pays"), std::pair(2.0, "costs")}) {
    SCOPED_TRACE(run);
    keepTimes(cache, bf16);
    const char* wanted = bf16 < 1 ? "bf16" : "f32";
    const Ended trained = loom(m_workshop, {"train", "p.loom", "--precision", "auto", "--threads", "1", "--run", run});
    EXPECT_EQ(trained.code, 0) << trained.error;
    EXPECT_THAT(trained.out,
                AllOf(HasSubstr(fmt::format("precision {}: a step in bf16", wanted)), HasSubstr("2026-11-23")));
    const Json kept = parseJson(readFile(m_workshop.path() / run / "run.json"), "run.json");
    EXPECT_EQ(kept["precision"], wanted);
    EXPECT_EQ(kept["project"]["training"].value("precision", "f32"), wanted)
        << "going on elsewhere must not choose again";
    const Ended planned = loom(m_workshop, {"plan", "p.loom", "--set", "precision=auto", "threads=1"});
    EXPECT_THAT(planned.out, AllOf(HasSubstr(fmt::format("precision auto is {}:", wanted)),
                                   HasSubstr(fmt::format("samples in {} on", wanted))));
  }
  ::unsetenv("XDG_CACHE_HOME");
}

TEST_F(Loom, BesideASampleNothingIsWritten) {
  const std::filesystem::path samples = m_workshop.path() / "samples", one = samples / "one",
                              own = m_workshop.path() / "own";
  std::filesystem::create_directories(one);
  for (const char* file : {"p.loom", "train.csv", "val.csv"})
    std::filesystem::copy_file(m_workshop.path() / file, one / file);
  m_workshop.write("samples/.gradloom-samples", "");
  ::setenv("XDG_DATA_HOME", (own / "data").c_str(), 1);
  ::setenv("XDG_CACHE_HOME", (own / "cache").c_str(), 1);
  const Ended ended = loom(m_workshop, {"train", "samples/one"});
  ::unsetenv("XDG_DATA_HOME");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(ended.code, 0) << ended.error;
  EXPECT_THAT(ended.out, HasSubstr("own/data/gradloom/runs/p-001/events.jsonl"));
  std::set<std::string> there;
  for (const auto& each : std::filesystem::directory_iterator(one)) there.insert(each.path().filename());
  EXPECT_THAT(there, testing::UnorderedElementsAre("p.loom", "train.csv", "val.csv"));
}

// What ranks exchange is told before the run; what cannot be is refused by check, plan and train alike, with the
// remedy.
TEST_F(Loom, AReductionIsPlannedAndRefusedBeforeTheRun) {
  const auto planned = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"plan", "p.loom"});
    return loom(m_workshop, more);
  };
  const Ended torus =
      planned({"--ranks", "8", "--per-host", "4", "--between", "100", "1000", "--json", "--set", "reduction=torus"});
  ASSERT_EQ(torus.code, 0) << torus.error;
  const Json exchange = parseJson(torus.out, "the plan")["exchange"][0];
  EXPECT_EQ(exchange["reduction"], "torus");
  EXPECT_EQ(exchange["phases"][0]["ranks"], 4) << "rows are hosts";
  EXPECT_GT(exchange["seconds"].get<double>(), 2 * 100e-6);
  const Ended step = planned({"--ranks", "2", "--between", "100", "1", "--computing", "50", "--json"});
  ASSERT_EQ(step.code, 0) << step.error;
  const Json ranks = parseJson(step.out, "the plan")["rank_step"];
  EXPECT_EQ(ranks["samples"].get<int>(), 8) << "of a batch of 16";
  EXPECT_DOUBLE_EQ(ranks["computing"].get<double>(), 0.05);
  EXPECT_GT(ranks["waited"].get<double>(), 0);
  EXPECT_LE(ranks["waited"].get<double>(), ranks["exchange"].get<double>());
  EXPECT_DOUBLE_EQ(ranks["seconds"].get<double>(), 0.05 + ranks["waited"].get<double>());
  EXPECT_THAT(planned({"--ranks", "2", "--within", "2", "40000"}).out,
              HasSubstr("a step of 2 ranks with 8 samples each"));
  EXPECT_THAT(planned({"--ranks", "2", "--computing", "50"}).error, HasSubstr("give --ranks and --between"));
  EXPECT_THAT(planned({"--ranks", "8"}).out, HasSubstr("what 8 ranks exchange in a step"));
  EXPECT_THAT(planned({}).out, testing::Not(HasSubstr("ranks exchange in a step")));
  const Ended prime = planned({"--ranks", "7", "--set", "reduction=torus"});
  EXPECT_EQ(prime.code, exitCode(ErrorCode::badProject));
  EXPECT_THAT(prime.error, HasSubstr("start 8 ranks, or set reduction to ring"));
  EXPECT_THAT(planned({"--ranks", "8", "--per-host", "3"}).error, HasSubstr("--per-host takes a divisor of 8"));
  for (const char* verb : {"train", "plan"}) {
    const Ended refused = loom(m_workshop, {verb, "p.loom", "--set", "reduction=ring", "wire=bf16"});
    EXPECT_EQ(refused.code, exitCode(ErrorCode::badProject)) << verb;
    EXPECT_THAT(refused.error, HasSubstr("set reduction to automatic, or wire to f32")) << verb;
  }
  const Ended unknown = loom(m_workshop, {"train", "p.loom", "--set", "reduction=rign"});
  EXPECT_EQ(unknown.code, exitCode(ErrorCode::badProject));
  EXPECT_THAT(unknown.error, HasSubstr("ring"));
  const Ended alone = loom(m_workshop, {"bench", "allreduce"});
  EXPECT_EQ(alone.code, exitCode(ErrorCode::badArgument));
  EXPECT_THAT(alone.error, HasSubstr("mpirun -n 4 loom bench allreduce"));
}

TEST_F(Loom, AFolderWithOneProjectIsThatProject) {
  EXPECT_EQ(loom(m_workshop, {"check", "."}).code, 0);
  EXPECT_EQ(loom(m_workshop, {"plan", m_workshop.path().string()}).code, 0);
  EXPECT_EQ(loom(m_workshop, {"train", "."}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(m_workshop.path() / "runs/p-001/run.json")) << "in the folder's runs";
  m_workshop.write("q.loom", formatJson(perceptron()));
  const Ended two = loom(m_workshop, {"train", "."});
  EXPECT_EQ(two.code, exitCode(ErrorCode::badArgument));
  EXPECT_THAT(two.error, HasSubstr("2 projects: name one of p.loom, q.loom"));
  const Ended none = loom(m_workshop, {"check", "runs"});
  EXPECT_EQ(none.code, exitCode(ErrorCode::missingFile));
  EXPECT_THAT(none.error, HasSubstr("holds no project"));
}

TEST_F(Loom, AllFaultsOfAProjectInOneBlock) {
  Json project = perceptron();
  project["networks"]["main"]["nodes"][1]["layer"] = "Liner";
  project["training"]["batch"] = -4;
  m_workshop.write("p.loom", formatJson(project));
  const Ended ended = loom(m_workshop, {"check", "p.loom"});
  EXPECT_EQ(ended.code, exitCode(ErrorCode::badProject));
  EXPECT_THAT(ended.error, AllOf(HasSubstr("Linear"), HasSubstr("-4"), HasSubstr("faults")));
}

TEST_F(Loom, SetChangesTheRunAndNotTheFile) {
  const std::string before = readFile(m_workshop.path() / "p.loom");
  const Ended ended = loom(m_workshop, {"train", "p.loom", "--run", "r", "--set", "epochs=1",
                                        "optimizer.learning_rate=0.5", "networks.main.nodes.fc1.outputs=5"});
  ASSERT_EQ(ended.code, 0) << ended.error;
  const Json run = Json::parse(readFile(m_workshop.path() / "r/run.json"));
  EXPECT_EQ(run["settings"]["epochs"], 1);
  EXPECT_EQ(run["project"]["training"]["optimizer"]["learning_rate"], 0.5);
  EXPECT_EQ(run["project"]["networks"]["main"]["nodes"][1]["outputs"], 5);
  EXPECT_EQ(readFile(m_workshop.path() / "p.loom"), before);
}

TEST_F(Loom, ASignalStopsWithACheckpointAndResumeGoesOn) {
  for (const int number : {SIGINT, SIGTERM}) {
    writeLong();
    const std::string run = "run" + std::to_string(number);
    Process program(m_workshop, {"train", "long.loom", "--run", run});
    waitForStep(m_workshop.path() / run, 20);
    program.signal(number);
    const Ended ended = program.wait();
    EXPECT_EQ(ended.code, exitCode(ErrorCode::stopped)) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("--resume " + run));
    const auto last = lastEvent({m_workshop.path() / run});
    EXPECT_EQ(last->kind, "finished");
    EXPECT_EQ(last->body["reason"], "stopped");
    const std::int64_t step = last->body["step"].get<std::int64_t>();
    EXPECT_EQ(Checkpoint(*findCheckpoint({m_workshop.path() / run}, Which::last)).step(), step);
    const Ended again = loom(m_workshop, {"train", "--resume", run, "--set", "max_steps=" + std::to_string(step + 5)});
    EXPECT_EQ(again.code, 0) << again.error;
    EXPECT_EQ(lastEvent({m_workshop.path() / run})->body["step"], step + 5);
  }
}

// kill -9 at any moment: what was logged stays, the newest whole checkpoint is gone on from, and views see each step
// once.
TEST_F(Loom, AKilledProcessLosesNothingThatWasLogged) {
  writeLong(2);
  Process whole(m_workshop, {"train", "long.loom", "--run", "whole", "--set", "max_steps=600"});
  ASSERT_EQ(whole.wait().code, 0);
  std::vector<std::string> arguments{"train", "long.loom", "--run", "killed"};
  for (int attempt = 1; attempt <= 3; ++attempt) {
    Process program(m_workshop, arguments);
    waitForStep(m_workshop.path() / "killed", attempt * 90);
    program.signal(SIGKILL);
    EXPECT_EQ(program.wait().code, -SIGKILL);
    EXPECT_FALSE((RunFolder{m_workshop.path() / "killed"}.running()));
    arguments = {"train", "--resume", "killed"};
  }
  arguments.insert(arguments.end(), {"--set", "max_steps=600"});
  ASSERT_EQ(loom(m_workshop, arguments).code, 0);
  const auto losses = [&](const char* run) {
    std::map<std::int64_t, double> byStep;
    std::int64_t sequence = 0;
    EventReader reader(m_workshop.path() / run / "events.jsonl");
    for (const Event& event : reader.read()) {
      EXPECT_EQ(event.sequence, sequence++) << "no number is missing or doubled";
      if (event.kind == "step" && event.body["step"] <= 600)
        byStep[event.body["step"].get<std::int64_t>()] = event.body["loss"].get<double>();
    }
    return byStep;
  };
  const auto a = losses("whole"), b = losses("killed");
  EXPECT_EQ(a.size(), 600u);
  EXPECT_EQ(a, b) << "and the numbers are those of a run that was never disturbed";
}

TEST_F(Loom, TheSecondOnOneFolderIsRefused) {
  writeLong();
  Process first(m_workshop, {"train", "long.loom", "--run", "run"});
  waitForStep(m_workshop.path() / "run", 1);
  const Ended second = loom(m_workshop, {"train", "--resume", "run"});
  EXPECT_EQ(second.code, exitCode(ErrorCode::badArgument));
  EXPECT_THAT(second.error, AllOf(HasSubstr("being trained by another process"), HasSubstr("--run")));
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().code, exitCode(ErrorCode::stopped));
}

TEST_F(Loom, AFileThatMayNotGrowIsAClearErrorAndWhatWasWholeStaysWhole) {
  writeLong(1);
  const Ended ended = Process(m_workshop, {"train", "long.loom", "--run", "run"}, 20000).wait();
  EXPECT_THAT(ended.code, testing::AnyOf(exitCode(ErrorCode::diskFull), exitCode(ErrorCode::inputOutput)))
      << ended.error;
  EXPECT_THAT(ended.error, HasSubstr("events.jsonl"));
  EventReader reader(m_workshop.path() / "run/events.jsonl");
  EXPECT_GT(reader.read().size(), 20u);
  EXPECT_EQ(reader.skipped(), 0);
  EXPECT_EQ(reader.offset(),
            static_cast<std::int64_t>(std::filesystem::file_size(m_workshop.path() / "run/events.jsonl")))
      << "no half line";
  const auto checkpoint = findCheckpoint({m_workshop.path() / "run"}, Which::last);
  ASSERT_TRUE(checkpoint);
  // With room again it goes on from there.
  const Ended again = loom(m_workshop, {"train", "--resume", "run", "--set", "max_steps=150"});
  EXPECT_EQ(again.code, 0) << again.error;
}

TEST_F(Loom, AFullDiskUnderTheOutputIsTold) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(Process(m_workshop, {"catalogue", "--json"}, 0, "/dev/full").wait().code, exitCode(ErrorCode::diskFull));
}

TEST_F(Loom, AnOutputThatCannotBeWrittenDoesNotEndATraining) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  Process(m_workshop, {"train", "p.loom", "--run", "run"}, 0, "/dev/full").wait();
  EXPECT_EQ(lastEvent({m_workshop.path() / "run"})->body["reason"], "done");
}

// What tests/bench/agreement.py reads: enough to compute the same in another program.
TEST_F(Loom, BenchRecordsWhatAStepBeganWithAndWhatItGave) {
  const Ended ended = loom(m_workshop, {"bench", "mnist-cnn", "--threads", "1", "--batch", "2", "--record",
                                        "r.safetensors", "--steps", "3"});
  ASSERT_EQ(ended.code, 0) << ended.error;
  const TensorFile file(m_workshop.path() / "r.safetensors");
  ASSERT_NE(file.find("losses"), nullptr);
  const auto losses = file.find("losses")->values;
  ASSERT_EQ(losses.size(), 3U);
  EXPECT_LT(losses[2], losses[0]);
  EXPECT_EQ(file.find("input:x")->shape, Shape({2, 1, 28, 28}));
  // Without dropout the loss is what the recorded weights make of the recorded batch: the last layer's gradient of the
  // bias is (p - y) / batch, whose sum is 0, and -1 is the least that all labels together give.
  std::string names = file.metadata().at("parameters"), last = names.substr(names.rfind(' ') + 1);
  const TensorFile::Tensor* gradient = file.find("gradient:" + last);
  ASSERT_NE(gradient, nullptr) << names;
  ASSERT_EQ(gradient->shape, Shape({10}));
  EXPECT_NE(file.find("weight:" + last), nullptr);
  double sum = 0, least = 0;
  for (const float value : gradient->values) {
    sum += value;
    least += std::min(value, 0.0f);
  }
  EXPECT_NEAR(sum, 0, 1e-6);
  EXPECT_LT(least, -0.5);
  EXPECT_GT(least, -1.0);
  // From weights of its own choice: with all of the last layer's at 0 each of ten classes is as likely.
  std::vector<TensorFile::Tensor> tensors = file.tensors();
  const std::vector<float> zeros(10 * 128);
  for (TensorFile::Tensor& tensor : tensors)
    if (tensor.name.starts_with("weight:" + last.substr(0, last.find('/'))))
      tensor.values = std::span(zeros).first(tensor.values.size());
  TensorFile::write(m_workshop.path() / "w.safetensors", tensors, file.metadata());
  const std::vector<std::string> again{"bench", "mnist-cnn", "--threads",     "1",        "--batch",
                                       "2",     "--weights", "w.safetensors", "--record", "again.safetensors"};
  const Ended second = loom(m_workshop, again);
  ASSERT_EQ(second.code, 0) << second.error;
  EXPECT_NEAR(TensorFile(m_workshop.path() / "again.safetensors").find("losses")->values[0], std::log(10.0), 1e-6);
  std::erase_if(tensors, [&](const TensorFile::Tensor& tensor) { return tensor.name == "weight:" + last; });
  TensorFile::write(m_workshop.path() / "w.safetensors", tensors, file.metadata());
  const Ended without = loom(m_workshop, again);
  EXPECT_EQ(without.code, exitCode(ErrorCode::badData));
  EXPECT_THAT(without.error, HasSubstr("'weight:" + last + "'"));
  const Ended two = loom(m_workshop, {"bench", "mlp", "lstm", "--record", "r.safetensors"});
  EXPECT_EQ(two.code, exitCode(ErrorCode::badArgument));
  EXPECT_THAT(two.error, HasSubstr("one workload"));
}

TEST_F(Loom, TheCatalogueIsWholeJson) {
  const Json catalogue = Json::parse(loom(m_workshop, {"catalogue", "--json"}).out);
  EXPECT_GE(catalogue["layers"].size(), 40u);
  EXPECT_EQ(catalogue["optimizers"].size(), 21u);
  EXPECT_EQ(catalogue["schedules"].size(), 10u);
  EXPECT_EQ(catalogue["metrics"].size(), 20u);
  // A script that builds projects of it asks nobody else: each kind is there, each field says what it takes.
  for (const char* kind : {"layers", "metrics", "optimizers", "schedules", "warmup", "prepare", "settings"})
    for (const Json& entry : catalogue[kind]) {
      for (const char* key :
           {"id", "label", "category", "icon", "aliases", "summary", "help", "inputs", "outputs", "fields"})
        EXPECT_TRUE(entry.contains(key)) << kind << " " << entry["id"] << " lacks " << key;
      for (const Json& field : entry["fields"]) {
        for (const char* key : {"key", "label", "type", "default", "help"})
          EXPECT_TRUE(field.contains(key)) << entry["id"] << " " << field.dump();
        EXPECT_FALSE(field["help"] == "") << entry["id"] << " " << field["key"];
        if (field["type"] == "choice") {
          EXPECT_GE(field["choices"].size(), 2u) << entry["id"] << " " << field["key"];
        }
      }
    }
  const auto metric = [&](const char* id) {
    for (const Json& entry : catalogue["metrics"])
      if (entry["id"] == id) return entry;
    return Json();
  };
  EXPECT_EQ(metric("Accuracy")["better"], "higher");
  EXPECT_EQ(metric("Error")["better"], "lower");
  EXPECT_EQ(metric("Error")["share"], true);
  EXPECT_EQ(metric("R2")["better"], "higher");
  EXPECT_EQ(metric("R2")["share"], false);
  EXPECT_EQ(metric("RootMeanSquaredError")["better"], "lower");
}

// A shell with tight limits, as batch systems give.
TEST_F(Loom, DoctorNamesWhatLargeJobsDieOf) {
  const auto doctor = [this](const std::string& limits) {
    const std::string command =
        fmt::format("cd {} && {} {} doctor --json > d.json", m_workshop.path().string(), limits, LOOM_PROGRAM);
    EXPECT_EQ(std::system(command.c_str()), 0);
    return Json::parse(readFile(m_workshop.path() / "d.json"));
  };
  const Json wide = doctor("ulimit -n 2048; ulimit -s 8192;"), tight = doctor("ulimit -n 100; ulimit -s 1024;");
  for (const char* key : {"shared memory", "disk", "clock", "network", "mpi", "nccl", "cuda driver"})
    EXPECT_TRUE(wide.contains(key)) << key;
  EXPECT_EQ(wide["open files"], "2048");
  EXPECT_EQ(wide["stack"], "8192 KiB");
  EXPECT_THAT(wide.value("advice", Json::array()).dump(), testing::Not(HasSubstr("ulimit")));
  EXPECT_THAT(tight["advice"].dump(), AllOf(HasSubstr("ulimit -n 4096"), HasSubstr("ulimit -s 8192")));
}

TEST_F(Loom, DoctorAndVersionAnswer) {
  EXPECT_THAT(loom(m_workshop, {"doctor"}).out, AllOf(HasSubstr("threads"), HasSubstr("memory"), HasSubstr("mpi")));
  EXPECT_THAT(loom(m_workshop, {"version"}).out, HasSubstr("loom 0."));
}

}  // namespace
}  // namespace loom

// The house as design allows it: which room may include which, what may stand at the root, how long a file may be.
// Reads the sources themselves, so that a wrong arrow fails here before it is habit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

const fs::path kRoot = GRADLOOM_SOURCE_DIR;
const std::set<std::string> kTop = {"app",     "engine",    "widgets", "launcher",
                                    "samples", "resources", "tests",   "installer"};

struct Source {
  std::string path;  // from the root
  std::vector<std::string> lines;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    std::vector<Source> found;
    for (const std::string& top : kTop) {
      for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
        const std::string extension = entry.path().extension();
        if (!entry.is_regular_file() || !std::set<std::string>{".h", ".cpp", ".cu", ".cuh"}.count(extension)) continue;
        Source source{fs::relative(entry.path(), kRoot).generic_string(), {}};
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) source.lines.push_back(line);
        found.push_back(std::move(source));
      }
    }
    return found;
  }();
  return all;
}

// "engine/cpu/kernels/x.h" -> "engine/cpu"; "widgets/chart/x.h" -> "widgets"; rooms of their own are the launcher's
// store of runs, ways to add gradients up with what they stand on, which know no library, and what happens around a
// rule, which knows no training.
std::string roomOf(const std::string& path) {
  const auto first = path.find('/');
  const std::string top = path.substr(0, first);
  if (path.rfind("launcher/store/", 0) == 0) return "launcher/store";
  for (const char* own : {"engine/comm/reductions/", "engine/comm/communicator.", "engine/comm/wire."})
    if (path.rfind(own, 0) == 0) return "engine/comm/reductions";
  if (path.rfind("engine/training/methods/", 0) == 0) return "engine/training/methods";
  if (top != "engine") return top;
  const auto second = path.find('/', first + 1);
  return second == std::string::npos ? top : path.substr(0, second);
}

std::vector<std::string> includesOf(const Source& source, char open) {
  std::vector<std::string> found;
  for (const std::string& line : source.lines) {
    static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    if (line.find("include") == std::string::npos) continue;  // the expression takes a microsecond a letter
    std::smatch match;
    if (std::regex_search(line, match, include) && match[1].str()[0] == open) found.push_back(match[2]);
  }
  return found;
}

// Each room and the rooms that it may include; `base` is everybody's.
const std::map<std::string, std::set<std::string>> kArrows = {
    {"engine/base", {}},
    {"engine/catalogue", {}},
    {"engine/run", {}},
    {"engine/evaluation", {"engine/run"}},
    {"engine/agent", {"engine/run"}},
    {"engine/program", {}},                                   // what an op is, and programs of them
    {"engine/ops", {"engine/optimizers", "engine/program"}},  // the ops; gradients emit through ProgramBuilder
    {"engine/passes", {"engine/ops", "engine/program"}},
    {"engine/layers", {"engine/catalogue", "engine/ops", "engine/program"}},
    {"engine/metrics", {"engine/catalogue", "engine/ops", "engine/program", "engine/layers"}},
    {"engine/optimizers", {"engine/catalogue", "engine/program"}},  // a rule with products is a program
    {"engine/schedules", {"engine/catalogue"}},
    {"engine/network",
     {"engine/catalogue", "engine/layers", "engine/metrics", "engine/ops", "engine/program", "engine/optimizers",
      "engine/schedules", "engine/data", "engine/comm/reductions", "engine/training/methods"}},
    {"engine/data", {"engine/catalogue"}},
    {"engine/planner",
     {"engine/catalogue", "engine/layers", "engine/network", "engine/passes", "engine/ops", "engine/program",
      "engine/optimizers", "engine/schedules", "engine/comm/reductions", "engine/training/methods"}},
    {"engine/exchange",
     {"engine/catalogue", "engine/layers", "engine/metrics", "engine/network", "engine/ops", "engine/program",
      "engine/passes", "engine/optimizers", "engine/schedules", "engine/data", "engine/run"}},
    {"engine/search",
     {"engine/catalogue", "engine/layers", "engine/metrics", "engine/network", "engine/optimizers", "engine/schedules",
      "engine/run"}},
    {"engine/cpu", {"engine/passes", "engine/ops", "engine/optimizers", "engine/program"}},
    {"engine/cuda", {"engine/passes", "engine/ops", "engine/optimizers", "engine/program"}},
    {"engine/comm/reductions", {"engine/catalogue"}},
    {"engine/training/methods", {"engine/catalogue", "engine/optimizers", "engine/program"}},
    {"engine/comm", {"engine/ops", "engine/program", "engine/comm/reductions"}},
    {"engine/training",
     {"engine/catalogue", "engine/layers", "engine/metrics", "engine/network", "engine/passes", "engine/ops",
      "engine/program", "engine/optimizers", "engine/schedules", "engine/data", "engine/run", "engine/planner",
      "engine/exchange", "engine/comm", "engine/comm/reductions", "engine/training/methods", "engine/evaluation"}},
    {"engine/loom",
     {"engine/catalogue", "engine/layers",          "engine/metrics",    "engine/network",   "engine/passes",
      "engine/ops",       "engine/program",         "engine/optimizers", "engine/schedules", "engine/data",
      "engine/run",       "engine/planner",         "engine/exchange",   "engine/cpu",       "engine/cuda",
      "engine/comm",      "engine/comm/reductions", "engine/training",   "engine/agent",     "engine/evaluation",
      "engine/search"}},
};
// What Qt's side may include of the engine: every room that knows no machine.
const std::set<std::string> kCore = {
    "engine/base",       "engine/catalogue",        "engine/run",    "engine/ops",
    "engine/program",    "engine/passes",           "engine/layers", "engine/metrics",
    "engine/network",    "engine/schedules",        "engine/data",   "engine/planner",
    "engine/optimizers", "engine/exchange",         "engine/agent",  "engine/comm/reductions",
    "engine/evaluation", "engine/training/methods", "engine/search"};

bool mayInclude(const std::string& from, const std::string& to) {
  if (from == to || from == "tests" || to == "engine/base") return from != "engine/base" || to == "engine/base";
  if (from == "samples") return to.rfind("engine/", 0) == 0;
  if (from.rfind("engine", 0) == 0) {
    const auto arrows = kArrows.find(from);
    return arrows != kArrows.end() && arrows->second.count(to) > 0;
  }
  if (kCore.count(to)) return from == "widgets" || from == "launcher" || from == "launcher/store" || from == "app";
  if (to == "launcher/store") return from == "launcher" || from == "app";
  return from == "app" && (to == "widgets" || to == "launcher");
}

TEST(Architecture, IncludesFollowTheOneDirection) {
  std::vector<std::string> wrong;
  int seen = 0;
  for (const Source& source : sources()) {
    for (const std::string& include : includesOf(source, '"')) {
      if (!kTop.count(include.substr(0, include.find('/')))) continue;  // a file beside it, or generated
      ++seen;
      const std::string from = roomOf(source.path), to = roomOf(include);
      if (to != "tests" && !mayInclude(from, to)) wrong.push_back(source.path + " includes " + include);
      if (to == "tests" && from != "tests") wrong.push_back(source.path + " includes " + include);
    }
  }
  EXPECT_GT(seen, 20);
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Architecture, RefusesAWrongArrow) {  // the rule itself, so that the test above cannot pass by being blind
  EXPECT_FALSE(mayInclude("engine/layers", "engine/cpu"));
  EXPECT_FALSE(mayInclude("widgets", "launcher"));
  EXPECT_FALSE(mayInclude("launcher", "widgets"));
  EXPECT_FALSE(mayInclude("app", "engine/cpu"));
  EXPECT_FALSE(mayInclude("app", "engine/comm"));
  EXPECT_FALSE(mayInclude("engine/comm/reductions", "engine/comm"));
  EXPECT_FALSE(mayInclude("launcher/store", "launcher"));
  EXPECT_FALSE(mayInclude("engine/base", "engine/catalogue"));
  EXPECT_FALSE(mayInclude("engine/unheard_of", "engine/ops"));
  EXPECT_TRUE(mayInclude("app", "engine/network"));
}

// Whatever way round: from no room do the arrows lead back to it.
TEST(Architecture, NoTwoRoomsIncludeEachOther) {
  std::vector<std::string> wrong;
  for (const auto& [room, arrows] : kArrows) {
    std::set<std::string> reached = arrows;
    std::vector<std::string> open(arrows.begin(), arrows.end());
    while (!open.empty()) {
      const auto found = kArrows.find(open.back());
      open.pop_back();
      if (found == kArrows.end()) continue;
      for (const std::string& next : found->second)
        if (reached.insert(next).second) open.push_back(next);
    }
    if (reached.count(room)) wrong.push_back(room);
  }
  EXPECT_THAT(wrong, IsEmpty());
}

// Passes ask what an op is (OpDefinition) and emit what they need by what it does (ops/emissions.h).
TEST(Architecture, PassesKnowNoOpByName) {
  std::set<std::string> names;
  static const std::regex definition(R"rx(\.name = "([a-z_]+)")rx");
  for (const Source& source : sources()) {
    if (roomOf(source.path) != "engine/ops") continue;
    for (const std::string& line : source.lines) {
      std::smatch match;
      if (std::regex_search(line, match, definition)) names.insert(match[1]);
    }
  }
  EXPECT_GT(names.size(), 50U);
  std::vector<std::string> wrong;
  for (const Source& source : sources()) {
    if (roomOf(source.path) != "engine/passes") continue;
    for (const std::string& line : source.lines)
      for (const std::string& name : names)
        if (line.find('"' + name + '"') != line.npos) wrong.push_back(source.path + ": " + line);
  }
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Architecture, VendorsStayInTheirRooms) {
  const std::vector<std::pair<std::regex, std::string>> homes = {
      {std::regex("^Eigen/"), "engine/optimizers"},
      {std::regex("^(dnnl|oneapi)"), "engine/cpu"},
      {std::regex("^(cuda|cublas|cudnn|curand)"), "engine/cuda"},
      {std::regex("^(mpi|nccl)\\.h"), "engine/comm"},
      {std::regex("^sqlite3"), "launcher/store"},
      {std::regex("^libssh/"), "launcher"},
      {std::regex("^(png|jpeglib|turbojpeg|zlib)\\.h"), "engine/data"},
      {std::regex("^sndfile"), "engine/data"},
      {std::regex("^xxhash"), "engine/base"},
      {std::regex("^openssl/"), "engine/agent"},
      {std::regex("^(onnx\\.pb|google/protobuf)"), "engine/exchange"},
      {std::regex("^(CLI/)"), "engine/loom"},
      {std::regex("^QtCharts/|^QChart"), "widgets"}};
  const std::regex ofQt("^(Qt[A-Z]|Q[A-Z])"),
      ofWindows("^(QtWidgets|QtGui|QtCharts|QWidget|QApplication|QMainWindow|QDialog|QPainter|QGraphics)");
  std::vector<std::string> wrong;
  for (const Source& source : sources()) {
    const std::string room = roomOf(source.path);
    for (char open : {'<', '"'}) {
      for (const std::string& include : includesOf(source, open)) {
        // The module that binds NCCL names the streams of CUDA, in which its calls stand.
        if (include == "cuda_runtime_api.h" && source.path.rfind("engine/comm/nccl/", 0) == 0) continue;
        for (const auto& [vendor, home] : homes)
          if (std::regex_search(include, vendor) && room != home && room != "tests" && room != "samples")
            wrong.push_back(source.path + " includes " + include);
        const bool qt = std::regex_search(include, ofQt);
        if (qt && room.rfind("engine", 0) == 0) wrong.push_back(source.path + " includes " + include);
        const bool windows = std::regex_search(include, ofWindows);
        if (windows && room.rfind("launcher", 0) == 0) wrong.push_back(source.path + " includes " + include);
      }
    }
  }
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Architecture, TheRootHoldsWhatTheUserFixed) {
  std::vector<std::string> extra;
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    const std::string name = entry.path().filename();
    if (name[0] == '.' || name == "CMakeLists.txt" || name == "README.md" || kTop.count(name) ||
        name.rfind("build", 0) == 0)
      continue;
    extra.push_back(name);
  }
  EXPECT_THAT(extra, IsEmpty());
}

TEST(Architecture, FilesStaySmall) {
  std::vector<std::string> wrong;
  for (const Source& source : sources())
    if (source.lines.size() > 600)
      wrong.push_back(source.path + " has " + std::to_string(source.lines.size()) + " lines");
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Architecture, SeamHeadersStayShort) {
  std::vector<std::string> wrong;
  for (const char* seam :
       {"engine/base/error.h", "engine/catalogue/entry.h", "engine/program/op.h", "engine/program/backend.h",
        "engine/program/program.h", "engine/program/builder.h", "engine/layers/layer.h", "engine/network/network.h",
        "engine/network/analysis.h", "engine/network/project.h", "engine/data/dataset.h", "engine/data/loader.h",
        "engine/optimizers/optimizer.h", "engine/schedules/schedule.h", "engine/run/run_folder.h",
        "engine/comm/communicator.h", "engine/exchange/importer.h"}) {
    std::ifstream file(kRoot / seam);
    ASSERT_TRUE(file) << seam << " is gone";
    const auto lines = std::count(std::istreambuf_iterator<char>(file), {}, '\n');
    if (lines > 150) wrong.push_back(std::string(seam) + " has " + std::to_string(lines) + " lines");
  }
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Architecture, EveryRoomHasAReadme) {
  std::vector<std::string> lacking;
  for (const std::string top : {"app", "engine", "widgets", "launcher", "samples", "resources", "tests", "installer"})
    if (!fs::exists(kRoot / top / "README.md")) lacking.push_back(top);
  for (const auto& entry : fs::directory_iterator(kRoot / "engine")) {
    if (!entry.is_directory() || fs::is_empty(entry.path())) continue;
    if (!fs::exists(entry.path() / "README.md")) lacking.push_back("engine/" + entry.path().filename().string());
  }
  EXPECT_THAT(lacking, IsEmpty());
}

}  // namespace

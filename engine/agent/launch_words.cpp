#include "engine/agent/launch_words.h"

#include <fmt/format.h>

#include "engine/agent/scheduler.h"
#include "engine/base/json.h"

namespace loom {
namespace {

std::vector<std::string> wordsOf(const Json& launch, const char* key) {
  std::vector<std::string> words;
  const auto found = launch.find(key);
  if (found != launch.end() && found->is_array())
    for (const Json& each : *found)
      if (each.is_string()) words.push_back(each.get<std::string>());
  return words;
}

void add(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

RankPlaces placesOf(const Json& launch) {
  RankPlaces places{.ranks = launch.value("ranks", 1)};
  const auto hosts = launch.find("hosts");
  if (hosts != launch.end() && hosts->is_array())
    for (const Json& each : *hosts) places.hosts.push_back({each.value("name", std::string()), each.value("ranks", 1)});
  return places;
}

}  // namespace

std::string modulesScript(const Json& launch) {
  std::string lines;
  for (const std::string& each : wordsOf(launch, "modules")) lines += each + "\n";
  return lines.empty() ? lines : lines + "exec \"$@\"\n";
}

std::vector<std::string> modulesWords(const JobFolder& job, const Json& launch) {
  if (modulesScript(launch).empty()) return {};
  return {"bash", "-l", job.modulesFile().string()};
}

std::string hostLines(const Json& launch) {
  std::string lines;
  for (const RankPlaces::Host& each : placesOf(launch).hosts)
    lines += fmt::format("{} slots={}\n", each.name, each.ranks);
  return lines;
}

std::vector<std::string> librariesWords(const std::string& folder) {
  if (folder.empty()) return {};
  return {"sh", "-c", R"(LD_LIBRARY_PATH=$0${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}; export LD_LIBRARY_PATH; exec "$@")",
          folder};
}

bool needsMpi(const Json& launch) {
  const auto hosts = launch.find("hosts");
  return launch.value("ranks", 1) > 1 || (hosts != launch.end() && hosts->is_array() && !hosts->empty());
}

bool isWatched(const Json& launch) {
  return needsMpi(launch) && !launch.value("probe", false);
}

std::vector<std::string> mpirunOf(const Json& launch) {
  std::vector<std::string> words = wordsOf(launch, "mpirun");
  if (words.empty()) words.push_back("mpirun");
  return words;
}

std::vector<std::string> launchWords(const JobFolder& job, const Json& launch, const std::string& program,
                                     RankLauncher launcher) {
  std::vector<std::string> words = modulesWords(job, launch);
  if (isWatched(launch)) {
    add(words, {program, "supervise", "--run", job.path().string()});
    if (const int seconds = launch.value("stalled_after", 0); seconds > 0)
      add(words, {"--stalled-after", std::to_string(seconds)});
    if (schedulerOf(launch)) words.push_back("--batch");
    words.push_back("--");
  }
  if (needsMpi(launch)) {
    RankPlaces places = placesOf(launch);
    if (!places.hosts.empty()) places.hostsFile = job.hostsFile().string();
    add(words, rankWords(launcher, mpirunOf(launch), places));
  }
  add(words, wordsOf(launch, "prefix"));
  add(words, librariesWords(launch.value("libraries", std::string())));
  if (launch.value("probe", false)) {
    if (const double seconds = launch.value("sweep", 0.0); seconds > 0)
      add(words, {program, "bench", "allreduce", "--json", "--seconds", fmt::format("{}", seconds)});
    else
      add(words, {program, "agent", "--probe"});
    return words;
  }
  add(words, {program, "train", job.projectFile().string(), "--run", job.path().string()});
  for (const std::string& each : wordsOf(launch, "overrides")) add(words, {"--set", each});
  for (const std::string& each : wordsOf(launch, "data")) add(words, {"--data", each});
  // Without a checkpoint, or before its first word, there is nothing to go on from: the run begins.
  if (launch.value("resume", false) && std::filesystem::exists(job.run().runFile()))
    add(words, {"--resume", job.path().string()});
  return words;
}

}  // namespace loom

#pragma once
// Slurm's commands as small programs over a table of jobs, first in PATH while this lives. A line of the table is
// number|state|reason|name. Files beside it change how they behave: "hang" (squeue gives no answer while it is there),
// "deaf" (sbatch takes the job and gives no answer while it is there), "accounting" (lines for sacct),
// "cluster" (its name, which sbatch then adds), "words" (what sbatch says instead of the number), "stubborn" (what is
// released is held again at once), "slots" (so many jobs are run at a time, in the order of the queue; without it
// none).
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace loom {

class FakeSlurm {
 public:
  explicit FakeSlurm(const std::filesystem::path& folder) : m_folder(folder), m_path(std::getenv("PATH")) {
    std::filesystem::create_directories(m_folder);
    program("sbatch", R"sh(name=none; for each; do case $each in --job-name=*) name=${each#*=};; esac; done
for script; do :; done
exec 9> lock; flock 9; n=$(( $(wc -l < jobs) + 101 )); echo "$n|PENDING|Priority|$name" >> jobs; exec 9>&-
[ ! -e slots ] || setsid ./job $n "$script" < /dev/null > /dev/null 2>&1 &
while [ -e deaf ]; do sleep 0.05; done
if [ -e words ]; then cat words; exit; fi
if [ -e cluster ]; then echo "$n;$(cat cluster)"; else echo $n; fi)sh");
    program("squeue", R"sh(while [ -e hang ]; do sleep 0.05; done
name=; for each; do case $each in --name=*) name=${each#*=};; esac; done
while IFS='|' read -r n s r j; do [ -z "$name" ] || [ "$name" = "$j" ] || continue; echo "$n|$s|$r"; done < jobs)sh");
    program("sacct",
            R"sh([ -e accounting ] || { echo "Slurm accounting storage is disabled" >&2; exit 1; }; cat accounting)sh");
    program("scontrol", R"sh(for each; do n=$each; done
case "$*" in *release*) [ -e stubborn ] || flock lock sed -i "s/^$n|PENDING|[^|]*|/$n|PENDING|Priority|/" jobs; exit;; esac
echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1)sh");
    program("scancel", R"sh(for each; do n=$each; done
grep -q "^$n|" jobs || { echo "scancel: error: Kill job error on job id $n: Invalid job id specified" >&2; exit 1; }
case "$*" in *--signal*) [ ! -e "pid-$n" ] || kill -INT "$(cat "pid-$n")";;
*) flock lock sed -i "s/^$n|[A-Z]*|/$n|CANCELLED|/" jobs; [ ! -e "pid-$n" ] || kill -TERM -"$(cat "pid-$n")";; esac)sh");
    program("job", R"sh(n=$1; while [ -z "$slot" ]; do grep -q "^$n|PENDING|" jobs || exit 0
if [ "$(grep -m1 '|PENDING|' jobs | cut -d'|' -f1)" = "$n" ]; then
for each in $(seq "$(cat slots)"); do mkdir "slot-$each" 2> /dev/null && slot=slot-$each && break; done; fi
[ "$slot" ] || sleep 0.05; done
flock lock sed -i "s/^$n|PENDING|[^|]*|/$n|RUNNING|None|/" jobs
if grep -q "^$n|RUNNING|" jobs; then
SLURM_JOB_ID=$n setsid sh "$2" < /dev/null >> "$(sed -n 's/^#SBATCH --output=//p' "$2")" 2>&1 &
echo $! > "pid-$n"; wait $! && end=COMPLETED || end=FAILED; rm "pid-$n"
flock lock sed -i "s/^$n|RUNNING|/$n|$end|/" jobs; fi
rmdir "$slot")sh");
    put("jobs", "");
    put("calls", "");
    ::setenv("PATH", (m_folder.string() + ":" + m_path).c_str(), 1);
  }
  ~FakeSlurm() {
    for (const char* each : {"hang", "deaf"}) std::filesystem::remove(m_folder / each);
    put("jobs", "");  // nothing that waits begins
    for (const auto& each : std::filesystem::directory_iterator(m_folder))
      if (const std::string name = each.path().filename(); name.starts_with("pid-")) kill(name);
    ::setenv("PATH", m_path.c_str(), 1);
  }
  FakeSlurm(const FakeSlurm&) = delete;
  FakeSlurm& operator=(const FakeSlurm&) = delete;

  // At once: whoever reads meanwhile finds what was there or what is.
  void put(const std::string& name, const std::string& text) const {
    const std::filesystem::path part = m_folder / (name + ".part");
    std::ofstream(part) << text;
    if (std::filesystem::exists(m_folder / name))  // a program stays one
      std::filesystem::permissions(part, std::filesystem::status(m_folder / name).permissions());
    std::filesystem::rename(part, m_folder / name);
  }
  void remove(const std::string& name) const { std::filesystem::remove(m_folder / name); }
  std::string text(const std::string& name) const {
    std::ostringstream all;
    all << std::ifstream(m_folder / name).rdbuf();
    return all.str();
  }
  // How often a command was called; its words, one call a line, stand in "calls".
  int calls(const std::string& command) const {
    std::istringstream lines(text("calls"));
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.starts_with(command + " ");
    return count;
  }
  // Its job, with everything of it, goes without a word.
  void nodeFails(const std::string& number) const {
    const std::string mark = "s/^" + number + "|RUNNING|/" + number + "|NODE_FAIL|/";
    if (std::system(("cd '" + m_folder.string() + "' && flock lock sed -i '" + mark + "' jobs").c_str()) == 0)
      kill("pid-" + number);
  }

 private:
  void kill(const std::string& file) const {
    const int process = std::atoi(text(file).c_str());
    if (process > 1) ::kill(-process, SIGKILL);
  }
  void program(const std::string& name, const std::string& body) const {
    put(name, "#!/bin/sh\ncd '" + m_folder.string() + "'\necho \"" + name + " $*\" >> calls\n" + body + "\n");
    ::chmod((m_folder / name).c_str(), 0755);
  }
  std::filesystem::path m_folder;
  std::string m_path;
};

}  // namespace loom

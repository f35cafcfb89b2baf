#pragma once
// Slurm's commands as small programs over a table of jobs, first in PATH while this lives. A line of the table is
// number|state|reason|name. Files beside it change how they behave: "hang" (squeue gives no answer while it is there),
// "deaf" (sbatch takes the job and gives no answer while it is there), "accounting" (lines for sacct),
// "cluster" (its name, which sbatch then adds), "words" (what sbatch says instead of the number), "stubborn" (what is
// released is held again at once).
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
n=$(( $(wc -l < jobs) + 101 )); echo "$n|PENDING|Priority|$name" >> jobs
while [ -e deaf ]; do sleep 0.05; done
if [ -e words ]; then cat words; exit; fi
if [ -e cluster ]; then echo "$n;$(cat cluster)"; else echo $n; fi)sh");
    program("squeue", R"sh(while [ -e hang ]; do sleep 0.05; done
name=; for each; do case $each in --name=*) name=${each#*=};; esac; done
while IFS='|' read -r n s r j; do [ -z "$name" ] || [ "$name" = "$j" ] || continue; echo "$n|$s|$r"; done < jobs)sh");
    program("sacct",
            R"sh([ -e accounting ] || { echo "Slurm accounting storage is disabled" >&2; exit 1; }; cat accounting)sh");
    program("scontrol", R"sh(for each; do n=$each; done
case "$*" in *release*) [ -e stubborn ] || sed -i "s/^$n|PENDING|[^|]*|/$n|PENDING|Priority|/" jobs; exit;; esac
echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1)sh");
    program("scancel", R"sh(for each; do n=$each; done
grep -q "^$n|" jobs || { echo "scancel: error: Kill job error on job id $n: Invalid job id specified" >&2; exit 1; }
case "$*" in *--signal*) ;; *) sed -i "s/^$n|[A-Z]*|/$n|CANCELLED|/" jobs;; esac)sh");
    put("jobs", "");
    put("calls", "");
    ::setenv("PATH", (m_folder.string() + ":" + m_path).c_str(), 1);
  }
  ~FakeSlurm() {
    for (const char* each : {"hang", "deaf"}) std::filesystem::remove(m_folder / each);
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

 private:
  void program(const std::string& name, const std::string& body) const {
    put(name, "#!/bin/sh\ncd '" + m_folder.string() + "'\necho \"" + name + " $*\" >> calls\n" + body + "\n");
    ::chmod((m_folder / name).c_str(), 0755);
  }
  std::filesystem::path m_folder;
  std::string m_path;
};

}  // namespace loom

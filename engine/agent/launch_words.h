#pragma once
// The words that start a job: [bash -l SCRIPT, which loads modules] [loom supervise --run RUN -- mpirun ...] [prefix]
// loom train ... `loom supervise` sits between mpirun and us: it hears the ranks' signs of life and names the one that
// fell.
#include <string>
#include <vector>

#include "engine/agent/job_folder.h"
#include "engine/agent/rank_launcher.h"

namespace loom {

// Module lines are the host's own settings, and the only thing that a shell reads; everything of the job comes behind
// them as words that no shell looks into. They stand in a file, since lines often hold what nobody else is to read, and
// the words of a process are for everyone on the machine. Empty where there are no lines.
std::string modulesScript(const Json& launch);
std::vector<std::string> modulesWords(const JobFolder& job, const Json& launch);

// The hosts of launch.json as Open MPI's mpirun reads them from a file, "name slots=2" a line; empty where it names
// none.
std::string hostLines(const Json& launch);

// Words before a program that has it find libraries in `folder` first; empty for an empty folder. Every rank has them,
// since launchers carry no such variable to other hosts. No shell looks into the folder's name.
std::vector<std::string> librariesWords(const std::string& folder);

bool needsMpi(const Json& launch);
// A check's ranks only say who they are; those of a run are watched over.
bool isWatched(const Json& launch);
std::vector<std::string> mpirunOf(const Json& launch);

std::vector<std::string> launchWords(const JobFolder& job, const Json& launch, const std::string& program,
                                     RankLauncher launcher = RankLauncher::openMpi);

}  // namespace loom

#pragma once
// What a host is told of a job: launch.json of engine/agent/job_folder.h, and under Slurm the script.
#include <QString>

#include "launcher/executor.h"
#include "launcher/hosts/host.h"

namespace loom {

// `ranks` 0 = as many as the host offers; fewer are spread over its places in their order.
Json launchOrder(const Host& host, const JobFile& job);

// The whole script as sbatch gets it, and as a person sees it before the first submission. `program`, `run`: on the
// host.
QString slurmScript(const Host& host, const QString& id, const JobFile& job, const QString& program,
                    const QString& run);

}  // namespace loom

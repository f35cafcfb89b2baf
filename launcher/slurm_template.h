#pragma once
namespace loom {
extern const char* const kSlurmTemplate;  // resources/slurm_job.sh
}

#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node={ranks_per_node}
#SBATCH --signal=B:USR1@{signal_seconds}
#SBATCH --output={run}/log.txt
#SBATCH --open-mode=append
{options}

# Modules of this host:
{modules}

# From here on Slurm's signals reach Gradloom's own process: shortly before the time limit it has the run write a checkpoint.
# What the job is stands in {run}/launch.json; no shell reads any of it.
exec {program} agent --job {run}

#!/bin/bash -l
#SBATCH --job-name={name}
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node={ranks_per_node}
#SBATCH --signal=B:USR1@{signal_seconds}
#SBATCH --requeue
#SBATCH --output={run}/log.txt
#SBATCH --open-mode=append
{options}

# Modules of this host (the shell above is a login shell, since many clusters only make `module` known there):
{modules}

# From here on Slurm's signals reach Gradloom's own process: shortly before the time limit it has the run write a checkpoint.
# A job that Slurm starts anew (preempted, or its node failed) goes on from the newest one.
# What the job is stands in {run}/launch.json; no shell reads any of it.
umask 077
exec {program} agent --job {run}

#!/usr/bin/env bash
# A real cluster on one machine: hosts in network namespaces with an sshd each, or Slurm on loopback.
#   cluster.sh up FOLDER COUNT       hosts gl1 .. glCOUNT at 10.77.0.N; FOLDER/ssh_config reaches them, from here and from each other
#   cluster.sh slurm FOLDER          munged, slurmctld, slurmd; FOLDER/slurm.conf
#   cluster.sh login FOLDER LINE     after up: one more sshd, of this machine itself, at 10.77.0.254:2222; LINE of its configuration
#   cluster.sh disk FOLDER NAME SIZE before up: FOLDER/disk-NAME is a file system of its own, with so much room
#   cluster.sh down FOLDER           ends what FOLDER names, and nothing else
# Needs root. Every process that is started leaves its number in FOLDER/*.pid. Whoever starts this with OWNER=PID gets `down` by
# itself when that process has ended, in whatever way.
set -euo pipefail
verb=$1 folder=$2

guard() {
  [ -n "${OWNER:-}" ] || return 0
  setsid bash -c 'tail --pid="$1" -f /dev/null; exec "$2" down "$3"' guard "$OWNER" "$(readlink -f "$0")" "$folder" >/dev/null 2>&1 &
}

up() {
  local count=$1 i
  mkdir -p "$folder" /run/sshd
  ssh-keygen -q -t ed25519 -N '' -f "$folder/id"
  cp "$folder/id.pub" "$folder/authorized"
  ip link add glbr type bridge
  echo "$count" >"$folder/count"  # from here on they are ours to take away; another test's that stand already are not
  ip addr add 10.77.0.254/24 dev glbr
  ip link set glbr up
  printf 'Host *\n  User root\n  IdentityFile %s\n  IdentityAgent none\n  UserKnownHostsFile %s\n  BatchMode yes\n' "$folder/id" "$folder/known_hosts" >"$folder/ssh_config"
  for ((i = 1; i <= count; ++i)); do
    ip netns add "gl$i"
    ip link add "glv$i" type veth peer name eth0 netns "gl$i"
    ip link set "glv$i" master glbr up
    ip -n "gl$i" addr add "10.77.0.$i/24" dev eth0
    ip -n "gl$i" link set eth0 up
    ip -n "gl$i" link set lo up
    ssh-keygen -q -t ed25519 -N '' -f "$folder/host$i"
    echo "10.77.0.$i $(cut -d' ' -f1,2 "$folder/host$i.pub")" >>"$folder/known_hosts"
    printf 'ListenAddress 10.77.0.%s\nHostKey %s\nPidFile %s\nAuthorizedKeysFile %s\nStrictModes no\nPermitRootLogin yes\nUsePAM no\n' \
      "$i" "$folder/host$i" "$folder/sshd$i.pid" "$folder/authorized" >"$folder/sshd$i.conf"
    ip netns exec "gl$i" unshare --uts sh -c "hostname gl$i; exec /usr/sbin/sshd -f '$folder/sshd$i.conf' -E '$folder/sshd$i.log'"
  done
  for ((i = 1; i <= count; ++i)); do
    for _ in $(seq 100); do ssh -F "$folder/ssh_config" "10.77.0.$i" true 2>/dev/null && continue 2; sleep 0.1; done
    echo "gl$i does not answer" >&2; exit 1
  done
}

login() {
  ssh-keygen -q -t ed25519 -N '' -f "$folder/login"
  echo "[10.77.0.254]:2222 $(cut -d' ' -f1,2 "$folder/login.pub")" >>"$folder/known_hosts"
  printf 'Port 2222\nListenAddress 10.77.0.254\nHostKey %s\nPidFile %s\nAuthorizedKeysFile %s\nStrictModes no\nPermitRootLogin yes\nUsePAM no\n%s\n' \
    "$folder/login" "$folder/login.pid" "$folder/authorized" "$1" >"$folder/login.conf"
  /usr/sbin/sshd -f "$folder/login.conf" -E "$folder/login.log"
}

slurm() {
  local host cores
  host=$(hostname -s) cores=$(nproc)
  mkdir -p "$folder"/{state,spool,munge}
  chmod 700 "$folder/munge"
  head -c 1024 /dev/urandom >"$folder/munge/key"
  chmod 400 "$folder/munge/key"
  munged --force --key-file "$folder/munge/key" --socket "$folder/munge/socket" --pid-file "$folder/munge.pid" --log-file "$folder/munge/log" --seed-file "$folder/munge/seed"
  cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CryptoType=crypto/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
SlurmctldPort=16817
SlurmdTimeout=30
SlurmdPort=16818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
ReturnToService=2
KillWait=5
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF=$folder/slurm.conf
  slurmctld
  slurmd
  for _ in $(seq 200); do [ "$(sinfo -h -o %t 2>/dev/null)" = idle ] && return; sleep 0.1; done
  echo "Slurm's node does not become idle" >&2; exit 1
}

# A daemon by the number that it wrote down, and the whole of what it started.
end_by_file() {
  local file=$1 number
  [ -s "$file" ] || return 0
  number=$(cat "$file")
  kill "$number" 2>/dev/null || true
  for _ in $(seq 50); do kill -0 "$number" 2>/dev/null || return 0; sleep 0.1; done
  kill -KILL "$number" 2>/dev/null || true
}

down() {
  local i file number
  if [ -e "$folder/slurm.conf" ]; then
    export SLURM_CONF=$folder/slurm.conf
    timeout 5 scancel --full -u root 2>/dev/null || true
    for file in slurmd slurmctld munge; do end_by_file "$folder/$file.pid"; done
  fi
  for file in "$folder"/disk-*; do umount -l "$file" 2>/dev/null || true; done
  [ -e "$folder/count" ] || return 0
  end_by_file "$folder/login.pid"
  for ((i = 1; i <= $(cat "$folder/count"); ++i)); do
    for number in $(ip netns pids "gl$i" 2>/dev/null); do kill -KILL "$number" 2>/dev/null || true; done
    ip link del "glv$i" 2>/dev/null || true
    ip netns del "gl$i" 2>/dev/null || true
  done
  ip link del glbr 2>/dev/null || true
}

case $verb in
  up) guard; up "$3" ;;
  slurm) guard; slurm ;;
  login) login "$3" ;;
  disk) mkdir -p "$folder/disk-$3" && mount -t tmpfs -o "size=$4,mode=700" gradloom-test "$folder/disk-$3" ;;
  down) down ;;
  *) echo "usage: $0 up FOLDER COUNT | slurm FOLDER | login FOLDER LINE | disk FOLDER NAME SIZE | down FOLDER" >&2; exit 2 ;;
esac

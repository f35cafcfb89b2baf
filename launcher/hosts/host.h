#pragma once
// A place where runs can go: what a person types once. Nothing secret stands here, ever; signing in asks.
#include <QByteArray>
#include <QString>
#include <QStringList>
#include <QVector>

#include "engine/base/json_fwd.h"

namespace loom {

enum class HostKind { mpirun, slurm };

// Where ranks of an mpirun host start: itself, and others that it reaches by SSH without a question.
struct RankPlace {
  QString name;
  int ranks = 1;
};

struct SlurmSettings {
  QString account, partition, gres;
  QString time;  // "08:00:00"; empty = the partition's own
  int nodes = 1;
  int ranksPerNode = 1;
  int coresPerRank = 0;     // 0 = the partition's own
  int signalSeconds = 120;  // before the time limit a checkpoint is asked for
  int continuations = 0;    // how often a run whose time was over is submitted again
  QStringList lines;        // further "#SBATCH ..." lines
};

struct Host {
  QString id;              // for life, chosen when it is added: [a-z0-9-]
  QString name;            // shown; unique
  QString address;         // a name of ~/.ssh/config, a host name or an address
  QString user;            // empty = the configuration's, or this person's
  int port = 0;            // 0 = the configuration's, or 22
  bool systemSsh = false;  // reached by the system's own ssh rather than the library
  QString key;  // file of a private key here, "~/.ssh/cluster"; empty = the configuration's, or the usual ones
  HostKind kind = HostKind::mpirun;
  QVector<RankPlace> places;  // mpirun: empty = the host itself, with `ranks`
  int ranks = 1;
  QStringList mpirun;           // words: the program and further options; empty = "mpirun"
  QStringList modules;          // lines that a shell reads before a job: "module load openmpi"
  QStringList containerPrefix;  // words before loom: "apptainer", "exec", "image.sif"
  SlurmSettings slurm;
  int stalledAfter = 0;  // seconds after which a rank that the others wait for ends the job; 0 = the engine's own 40
  QString folder = QStringLiteral("~/.cache/gradloom");  // engine, runs and data there; plain characters only
  bool bringBest = false;                                // the best checkpoint is brought here when a run ends
  QString dataFolder;  // where the data already lies, laid out as beside the project; empty = it is sent
  QString libraries;   // folder of NVIDIA's libraries (cuDNN, cuBLAS), searched first; empty = as the loader has them

  QByteArray further;  // JSON: keys of the file that this version does not know; written back as they were

  int totalRanks() const;
};

Json toJson(const Host& host);
// Throws Error(badData) naming the key that is missing, unknown or of a wrong type.
enum class UnknownKeys { refuse, keep };
Host hostFromJson(const Json& json, UnknownKeys unknown = UnknownKeys::refuse);

// What stands in the way of using it, each with its remedy; empty = nothing. Looks at the text alone.
QStringList problems(const Host& host);

// "mara@head.atlas.example:2222" or a name of the configuration, as typed in the one field of Add host.
Host hostFromText(const QString& text);

}  // namespace loom

#include "launcher/remote/launch_order.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "launcher/slurm_template.h"

namespace loom {
namespace {

Json listOf(const QStringList& texts) {
  Json list = Json::array();
  for (const QString& each : texts) list.push_back(each.toStdString());
  return list;
}

int ranksOf(const Host& host, const JobFile& job) {
  const int most = host.totalRanks();
  if (job.ranks <= 0) return most;
  if (job.ranks > most)
    throwError(ErrorCode::badArgument, "{} ranks are asked for, but {} offers {}; change its ranks on the page Hosts",
               job.ranks, host.name.toStdString(), most);
  return job.ranks;
}

}  // namespace

Json launchOrder(const Host& host, const JobFile& job) {
  const int ranks = ranksOf(host, job);
  Json launch = {{"start", job.start}, {"resume", job.resume}, {"overrides", listOf(job.overrides)}, {"ranks", ranks}};
  if (!host.mpirun.isEmpty()) launch["mpirun"] = listOf(host.mpirun);
  if (!host.containerPrefix.isEmpty()) launch["prefix"] = listOf(host.containerPrefix);
  if (!host.libraries.isEmpty()) launch["libraries"] = host.libraries.toStdString();
  if (host.stalledAfter > 0) launch["stalled_after"] = host.stalledAfter;
  if (host.kind == HostKind::slurm) {
    launch["slurm"] = {{"continue", host.slurm.continuations}};
    return launch;
  }
  if (!host.modules.isEmpty()) launch["modules"] = listOf(host.modules);
  if (ranks == 1 && host.places.size() <= 1) return launch;
  // mpirun counts cores where nobody names slots, and would refuse more ranks than that.
  QVector<RankPlace> places = host.places;
  if (places.isEmpty()) places.append({QStringLiteral("localhost"), ranks});
  int left = ranks;
  for (const RankPlace& each : places) {
    const int here = std::min(left, each.ranks);
    if (here > 0) launch["hosts"].push_back({{"name", each.name.toStdString()}, {"ranks", here}});
    left -= here;
  }
  return launch;
}

QString slurmScript(const Host& host, const QString& id, const JobFile& job, const QString& program,
                    const QString& run) {
  const SlurmSettings& slurm = host.slurm;
  const int ranks = ranksOf(host, job), perNode = std::max(1, std::min(ranks, slurm.ranksPerNode)),
            nodes = (ranks + perNode - 1) / perNode;
  QStringList options;
  const auto option = [&options](const char* name, const QString& value) {
    if (!value.isEmpty()) options << QStringLiteral("#SBATCH --%1=%2").arg(QLatin1String(name), value);
  };
  option("account", slurm.account);
  option("partition", slurm.partition);
  option("gres", slurm.gres);
  option("time", slurm.time);
  if (slurm.coresPerRank > 0) option("cpus-per-task", QString::number(slurm.coresPerRank));
  options << slurm.lines;
  QString script = QString::fromUtf8(kSlurmTemplate);
  const auto put = [&script](const char* key, const QString& value) {
    script.replace(QStringLiteral("{%1}").arg(QLatin1String(key)), value);
  };
  put("name", id);
  put("nodes", QString::number(nodes));
  put("ranks_per_node", QString::number(perNode));
  put("signal_seconds", QString::number(slurm.signalSeconds));
  put("options", options.isEmpty() ? QStringLiteral("# (no further options)") : options.join('\n'));
  put("modules", host.modules.isEmpty() ? QStringLiteral("# (none)") : host.modules.join('\n'));
  put("run", run);
  put("program", program);
  return script;
}

}  // namespace loom

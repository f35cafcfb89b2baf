// Runs whose curves go straight into the blocks of the store: some shapes are encoded once, by the store's own code,
// and stand under all runs in turn.
#include <QDir>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "launcher/found_run.h"
#include "launcher/store/database.h"
#include "launcher/store/run_store.h"
#include "launcher/store/series.h"
#include "tests/bench/runs/made_runs.h"

namespace loom::bench {

namespace {

constexpr int kMostShapes = 8;
constexpr std::int64_t kPointsOfShapes = 2'000'000;  // of each curve, over all shapes: more would take its time to make

struct EncodedBlock {
  int level = 0;
  std::int64_t block = 0;
  QByteArray data;
};
struct EncodedSeries {
  std::string name;
  std::int64_t count = 0;
  std::vector<EncodedBlock> blocks;
};

EncodedSeries encode(std::string name, std::int64_t count, std::int64_t apart,
                     const std::function<double(std::int64_t step)>& valueAt) {
  Series series;
  for (std::int64_t i = 1; i <= count; ++i) series.add(i * apart, valueAt(i * apart));
  EncodedSeries encoded{std::move(name), count, {}};
  series.save([&](int level, std::int64_t block, const QByteArray& data) {
    encoded.blocks.push_back({level, block, data});
  });
  return encoded;
}

std::vector<EncodedSeries> makeShape(const StoredRuns& what, int shape) {
  std::mt19937_64 random(static_cast<std::uint64_t>(shape) + 1);
  std::normal_distribution<double> noise;
  std::vector<EncodedSeries> all;
  const double points = what.points, slope = 3.0 + shape;
  const auto loss = [&](std::int64_t step) {
    return 0.1 + 2.2 / (1 + slope * 10 * static_cast<double>(step) / points) + 0.02 * std::abs(noise(random));
  };
  double time = 1.7e9;
  all.push_back(encode("training.loss", what.points, 1, loss));
  all.push_back(
      encode("axis.epoch", what.points, 1, [&](auto step) { return 10 * static_cast<double>(step) / points; }));
  all.push_back(encode("axis.samples", what.points, 1, [](auto step) { return 64 * static_cast<double>(step); }));
  all.push_back(
      encode("axis.time", what.points, 1, [&](auto) { return time += 0.01 + 0.001 * std::abs(noise(random)); }));
  for (int i = 0; i < what.noise; ++i)
    all.push_back(encode("step.noise_" + std::to_string(i), what.points, 1, [&](auto) { return noise(random); }));
  const std::int64_t apart = std::max(1, what.points / what.measured);
  for (int i = 0; i < what.metrics; ++i)
    all.push_back(encode(i == 0 ? "validation.accuracy" : "validation.metric_" + std::to_string(i), what.measured,
                         apart, [&](std::int64_t step) { return 1 - loss(step) / 3; }));
  return all;
}

// As far as a list of runs says it: the folder has what was trained, and no log.
void addRecord(RunStore& store, const QString& project, const QString& folder, const StoredRuns& what, int number) {
  writeRun(folder, number, 1);
  RunRecord run = foundRun(store, folder, project).record;
  run.state = RunState::finished;
  run.created = run.started = 1.7e9 + number;
  run.ended = run.lastTime = run.started + 600;
  run.duration = 600;
  run.attempt = 1;
  run.stepsTotal = run.step = what.points;
  run.stepsPerEpoch = std::max(1, what.points / 10);
  run.epochs = run.epoch = 10;
  run.parameters = 6;
  run.loss = 0.1 + 0.0001 * (number % 97);
  run.metric = "accuracy";
  run.metricOfValidation = true;
  run.best = what.bestFrom + (what.bestTo - what.bestFrom) * number / std::max(1, what.runs - 1);
  run.last = run.best - 0.001;
  run.bestEpoch = 9;
  run.bestStep = what.points;
  store.add(run, RunStore::OnDisk::soon);
}

double storeCurves(Database& database, std::int64_t row, const std::vector<EncodedSeries>& shape) {
  double bytes = 0;
  std::int64_t last = 0;
  for (const EncodedSeries& each : shape) last = std::max(last, each.count);
  Statement(database,
            "INSERT INTO attempts (run, attempt, seen, first_step, last_step, start_time, last_time) "
            "VALUES (?, 1, ?, 1, ?, 1.7e9, 1.7e9)")
      .with(row, QStringLiteral("0-%1").arg(last), last)
      .run();
  Statement series(database, "INSERT INTO series (run, attempt, name, count) VALUES (?, 1, ?, ?)"),
      block(database, "INSERT INTO blocks (series, level, block, data) VALUES (?, ?, ?, ?)");
  for (const EncodedSeries& each : shape) {
    series.with(row, QString::fromStdString(each.name), each.count).run();
    const std::int64_t id = database.lastId();
    for (const EncodedBlock& part : each.blocks) {
      block.with(id, part.level, part.block, part.data).run();
      bytes += static_cast<double>(part.data.size());
    }
  }
  return bytes;
}

}  // namespace

double storeRuns(const QString& folder, const QString& name, const StoredRuns& what) {
  const QString project = QDir(folder).canonicalPath() + "/p/project.loom";
  const auto place = [&](int number) {
    return QStringLiteral("%1/p/runs/%2-%3").arg(folder, name).arg(number, 5, 10, QChar('0'));
  };
  {
    RunStore store(folder + "/data");
    for (int i = 0; i < what.runs; ++i) addRecord(store, project, place(i), what, i);
  }
  Database database(folder + "/data/runs.db");
  // It is thrown away where this fails.
  database.run("PRAGMA journal_mode = OFF");
  database.run("PRAGMA synchronous = OFF");
  Transaction transaction(database);
  const int shapes =
      static_cast<int>(std::clamp<std::int64_t>(kPointsOfShapes / std::max(1, what.points), 1, kMostShapes));
  double bytes = 0;
  for (int shape = 0; shape < shapes; ++shape) {
    const std::vector<EncodedSeries> made = makeShape(what, shape);
    for (int i = shape; i < what.runs; i += shapes) {
      Statement find(database, "SELECT row FROM runs WHERE folder = ?");
      if (!find.with(QDir(place(i)).canonicalPath()).step()) qFatal("%s is not in the store", qPrintable(place(i)));
      bytes += storeCurves(database, find.integer(0), made);
    }
  }
  transaction.commit();
  database.run("PRAGMA journal_mode = WAL");
  return bytes;
}

}  // namespace loom::bench

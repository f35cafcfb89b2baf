// Thousands of runs on the Runs page, every figure of it in one go: how fast they come in from their folders while the
// page is open, what 5,000 of them cost in the table, how curves of a million points move, what a live run leaves of
// the window's time. Makes what it needs itself, 6 GB of it, in a folder that it removes; each part is a process of its
// own, so that its memory is its own. Prints CSV.
//
//   cmake --build build --target runs_figures
//   runs_bench [--folder F] [--out results/runs.csv] [--scale 0.05] [--parts incoming,live,opening,many,long]
#include <QApplication>
#include <QCommandLineParser>
#include <QDateTime>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QThread>
#include <cstdio>
#include <map>

#include "tests/bench/runs/opened.h"

using namespace loom;
using namespace loom::bench;

namespace {

const QStringList kParts{"incoming", "live", "opening", "many", "long"};
const QString kHead = QStringLiteral("date,commit,processor,beside,what,value,unit,goal\n");

QString firstLine(const QString& file, const QString& begin = {}) {
  QFile open(file);
  if (!open.open(QIODevice::ReadOnly)) return {};
  for (const QByteArray& line : open.readAll().split('\n'))
    if (line.startsWith(begin.toUtf8())) return QString::fromUtf8(line);
  return {};
}

// "2026-11-27,7305d72d,AMD EPYC (2 virtual cores),nothing,": what stands before each figure.
QString heading(const QString& commit) {
  const double load = firstLine("/proc/loadavg").section(' ', 0, 0).toDouble();
  return QStringLiteral("%1,%2,%3 (%4 virtual cores),%5,")
      .arg(QDate::currentDate().toString(Qt::ISODate), commit,
           firstLine("/proc/cpuinfo", "model name").section(':', 1).simplified().remove(','))
      .arg(QThread::idealThreadCount())
      .arg(load < 0.7 ? QStringLiteral("nothing") : QStringLiteral("busy: load %1").arg(load, 0, 'f', 1));
}

void measurePart(const QString& name, const Part& part) {
  if (name == "make-many") return makeMany(part);
  if (name == "make-long") return makeLong(part);
  Theme theme(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  if (name == "incoming") measureIncoming(part, theme);
  if (name == "live") measureLive(part, theme);
  if (name == "many") measureMany(part, theme);
  if (name == "opening") measureOpening(part, theme);
  if (name == "long") measureLong(part, theme);
}

// The lines that a process with this one part prints; empty where it failed.
QStringList ask(const QString& name, const Part& part) {
  QProcess process;
  process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
  process.start(QCoreApplication::applicationFilePath(),
                {"--part", name, "--folder", part.folder, "--scale", QString::number(part.scale), "--page", part.page,
                 "--pictures", part.pictures});
  process.waitForFinished(-1);
  if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) {
    std::fprintf(stderr, "part '%s' failed\n", qPrintable(name));
    return {};
  }
  return QString::fromUtf8(process.readAllStandardOutput()).split('\n', Qt::SkipEmptyParts);
}

// What a part needs first, and in which folder it finds it.
const std::map<QString, QString> kPlaces{{"incoming", "incoming"}, {"live", "incoming"}, {"make-many", "many"},
                                         {"many", "many"},         {"opening", "many"},  {"make-long", "long"},
                                         {"long", "long"}};

QStringList withWhatTheyNeed(const QStringList& wanted) {
  QStringList all;
  for (const QString& each : kParts) {
    if (!wanted.contains(each)) continue;
    const QString first = each == "live" ? "incoming" : each == "long" ? "make-long" : "make-many";
    if (each != "incoming" && !all.contains(first)) all << first;
    all << each;
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QCommandLineParser line;
  line.addOptions({{"folder", "Where the runs are made, and removed from.", "folder"},
                   {"out", "Also writes the figures there.", "file"},
                   {"commit", "What was measured.", "hash"},
                   {"scale", "Of the number of runs and points.", "x", "1"},
                   {"parts", "Which: " + kParts.join(", ") + '.', "parts", kParts.join(',')},
                   {"page", "Page that is open while runs come in.", "id", "runs"},
                   {"pictures", "Also takes pictures into it.", "folder"},
                   {"part", "One part alone, in this process.", "name"}});
  line.process(application);
  Part part{line.value("folder"), line.value("scale").toDouble(), line.value("page"), line.value("pictures")};
  if (line.isSet("part")) {
    measurePart(line.value("part"), part);
    return 0;
  }
  const QString in = line.isSet("folder") ? line.value("folder") : QDir::tempPath();
  QDir().mkpath(in);
  const QTemporaryDir place(in + "/runs_bench-XXXXXX");
  if (!place.isValid()) qFatal("no folder can be made for the runs: %s", qPrintable(place.errorString()));
  const QString head = heading(line.value("commit"));
  QString figures = kHead;
  std::printf("%s", qPrintable(kHead));
  bool whole = true;
  QElapsedTimer clock;
  clock.start();
  const QStringList parts = withWhatTheyNeed(line.value("parts").split(','));
  for (const QString& name : parts) {
    part.folder = place.path() + '/' + kPlaces.at(name);
    QDir().mkpath(part.folder);
    const QStringList said = ask(name, part);
    whole = whole && (!said.isEmpty() || name == "make-many");
    for (const QString& each : said) {
      figures += head + each + '\n';
      std::printf("%s%s\n", qPrintable(head), qPrintable(each));
    }
    std::fflush(stdout);
    // What no later part needs goes at once.
    const auto needs = [&](const QString& other) { return kPlaces.at(other) == kPlaces.at(name); };
    if (std::none_of(parts.begin() + parts.indexOf(name) + 1, parts.end(), needs))
      QDir(part.folder).removeRecursively();
  }
  std::fprintf(stderr, "measured in %.0f s\n", static_cast<double>(clock.elapsed()) / 1000);
  if (line.isSet("out") && whole) {
    QFile file(line.value("out"));
    if (!file.open(QIODevice::WriteOnly) || file.write(figures.toUtf8()) < 0)
      qFatal("%s cannot be written", qPrintable(line.value("out")));
  }
  return whole ? 0 : 1;
}

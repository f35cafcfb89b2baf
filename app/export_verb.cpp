#include "app/export_verb.h"

#include <QApplication>
#include <QFileInfo>
#include <QProcess>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/network/project_arguments.h"
#include "engine/run/exit_code.h"
#include "launcher/local_process.h"
#include "widgets/canvas/drawing_export.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

int refuse(ErrorCode code, const QString& sentence) {
  std::fprintf(stderr, "gradloom export: %s\n", qPrintable(sentence));
  return exitCode(code);
}

}  // namespace

int runExport(int& argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  QCoreApplication::setApplicationName("gradloom");
  QStringList words = QCoreApplication::arguments().mid(2), drawings, others;
  QString source, network;
  double scale = 2;
  while (!words.isEmpty()) {
    const QString word = words.takeFirst();
    const bool drawn = word == "--svg" || word == "--png" || word == "--pdf",
               valued = drawn || word == "--network" || word == "--scale";
    if (word.startsWith("--") && words.isEmpty()) return refuse(ErrorCode::badArgument, word + " wants a value");
    if (!valued && word.startsWith("--")) {
      others << word << words.takeFirst();
    } else if (!valued) {
      source = word;
    } else if (const QString value = words.takeFirst(); drawn) {
      if (QFileInfo(value).suffix().toLower() != word.mid(2))
        return refuse(ErrorCode::badArgument,
                      QStringLiteral("%1 wants a file that ends in .%2, but this is %3").arg(word, word.mid(2), value));
      drawings << value;
    } else if (word == "--network") {
      network = value;
    } else {
      scale = value.toDouble();
    }
  }
  if (source.isEmpty() || (drawings.isEmpty() && others.isEmpty()))
    return refuse(ErrorCode::badArgument,
                  "usage: gradloom export PROJECT [--network NAME] --svg FILE | --png FILE [--scale 2] | --pdf FILE, "
                  "or what loom export writes");
  if (!others.isEmpty()) {
    const int code = QProcess::execute(
        findLoom(), QStringList{"export", source} +
                        (network.isEmpty() ? QStringList() : QStringList{"--network", network}) + others);
    if (code != 0 || drawings.isEmpty()) return code;
  }
  try {
    const QString path = QString::fromStdString(projectFile(source.toStdString()).string());
    Theme theme(application, {.mode = ThemeMode::light});
    ProjectDocument document;
    if (const Outcome opened = document.open(path); !opened) return refuse(ErrorCode::badProject, opened.reason);
    const Project& project = document.project();
    std::string name = network.toStdString();
    if (name.empty())
      name = project.training.updates.empty() ? project.networks.empty() ? "" : project.networks.front().name
                                              : project.training.updates.front().network;
    for (const QString& file : drawings) {
      if (const Outcome written = exportDrawing(document, {.network = name, .file = file, .scale = scale}); !written)
        return refuse(ErrorCode::inputOutput, written.reason);
      std::printf("written to %s\n", qPrintable(file));
    }
  } catch (const Error& error) {
    return refuse(error.code(), QString::fromUtf8(error.what()));
  }
  return kExitDone;
}

}  // namespace loom

// The IDE. `gradloom [PROJECT] [--page NAME] [--theme light|dark] [--train]`
#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QSocketNotifier>
#include <QStandardPaths>
#include <QTimer>
#include <csignal>
#include <cstdio>
#include <sys/eventfd.h>
#include <unistd.h>

#include "app/main_window.h"
#include "app/pages/page_table.h"
#include "app/preferences.h"
#include "engine/base/error.h"

namespace {

int g_signalled = -1;

// SIGTERM, SIGINT, SIGHUP end the program as closing its window does: what is unsaved is saved, runs go on.
void leaveOnSignals(loom::MainWindow& window) {
  g_signalled = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  auto* notifier = new QSocketNotifier(g_signalled, QSocketNotifier::Read, &window);
  QObject::connect(notifier, &QSocketNotifier::activated, &window, [&window] {
    if (loom::ProjectDocument* const document = window.workspace().document(); document && document->isModified())
      window.workspace().save();  // where it cannot be saved, its recovery file stands
    window.workspace().store().flush();
    QCoreApplication::exit(0);
  });
  struct sigaction action{};
  action.sa_handler = [](int) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(g_signalled, &one, sizeof one);
  };
  action.sa_flags = SA_RESTART;
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(each, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QCoreApplication::setApplicationName("gradloom");
  QCoreApplication::setApplicationVersion(GRADLOOM_VERSION);
  QGuiApplication::setApplicationDisplayName("Gradloom");
  QGuiApplication::setDesktopFileName("gradloom");

  QStringList pages;
  for (const loom::PageEntry& each : loom::pageTable()) pages << QString::fromLatin1(each.id);
  QCommandLineParser line;
  line.setApplicationDescription("Draw a network, attach a CSV, train it, watch it.");
  line.addHelpOption();
  line.addVersionOption();
  line.addPositionalArgument("project", "A .loom file or a folder that holds one.", "[PROJECT]");
  const QCommandLineOption page("page", "Show this page: " + pages.join(", ") + ".", "name");
  const QCommandLineOption theme("theme", "light, dark or system.", "theme");
  const QCommandLineOption train("train", "Press Train when the project is open.");
  const QCommandLineOption data("data-folder", "Keep the list of runs and the preferences here.", "folder");
  line.addOptions({page, theme, train, data});
  line.process(application);
  if (line.isSet(page) && !pages.contains(line.value(page))) {
    std::fprintf(stderr, "gradloom: there is no page '%s'; there are %s\n", qPrintable(line.value(page)), qPrintable(pages.join(", ")));
    return 2;
  }

  const QString dataFolder = line.isSet(data) ? line.value(data) : QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  QDir().mkpath(dataFolder);
  loom::Preferences preferences(dataFolder + "/gradloom.ini");
  loom::ThemeMode mode = preferences.themeMode();
  if (line.value(theme) == "light") mode = loom::ThemeMode::light;
  if (line.value(theme) == "dark") mode = loom::ThemeMode::dark;
  loom::Theme look(application, {.mode = mode, .textSize = preferences.textSize(), .reducedMotion = preferences.reducedMotion()});
  QObject::connect(&preferences, &loom::Preferences::changed, &look, [&] {
    look.setMode(preferences.themeMode());
    look.setTextSize(preferences.textSize());
    look.setReducedMotion(preferences.reducedMotion());
  });

  try {
    loom::Workspace workspace({.dataFolder = dataFolder}, look, preferences);
    loom::MainWindow window(workspace);
    leaveOnSignals(window);
    if (const QStringList named = line.positionalArguments(); !named.isEmpty()) window.openProject(named.first());
    if (line.isSet(page)) window.showPage(line.value(page));
    window.show();
    // After the first picture: runs of the last session, then what was asked for on the command line.
    QTimer::singleShot(0, &window, [&] {
      workspace.launcher().attach();
      if (line.isSet(train)) window.train();
    });
    return QApplication::exec();
  } catch (const loom::Error& error) {
    std::fprintf(stderr, "gradloom: %s\n", error.what());
    return 1;
  }
}

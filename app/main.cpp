// The IDE. `gradloom [PROJECT] [--page NAME] [--theme light|dark] [--train]`; with a verb of launcher/door, or
// `export`, there is no window.
#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QSocketNotifier>
#include <QStandardPaths>
#include <QTimer>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/eventfd.h>
#include <unistd.h>

#include "app/export_verb.h"
#include "app/main_window.h"
#include "app/pages/page_table.h"
#include "app/preferences.h"
#include "engine/base/error.h"
#include "launcher/door/door.h"

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
  struct sigaction action {};
  action.sa_handler = [](int) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(g_signalled, &one, sizeof one);
  };
  action.sa_flags = SA_RESTART;
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(each, &action, nullptr);
}

struct CommandLine {
  QCommandLineParser parser;
  QStringList pages;
  QCommandLineOption page, theme{"theme", "light, dark or system.", "theme"},
      train{"train", "Press Train when the project is open."},
      data{"data-folder", "Keep the list of runs and the preferences here.", "folder"};

  CommandLine() : pages(pageNames()), page("page", "Show this page: " + pages.join(", ") + ".", "name") {
    parser.setApplicationDescription("Draw a network, attach a CSV, train it, watch it.\n\n" + loom::doorVerbs());
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument("project", "A .loom file or a folder that holds one.", "[PROJECT]");
    parser.addOptions({page, theme, train, data});
  }
  static QStringList pageNames() {
    QStringList names;
    for (const loom::PageEntry& each : loom::pageTable()) names << QString::fromLatin1(each.id);
    return names;
  }
};

// Help and version are told where there is no display, too; and that there is none.
void answerInTheTerminal(int argc, char** argv, QCommandLineParser& parser) {
  const QStringList words(argv + 1, argv + argc);
  const bool asked = std::any_of(words.begin(), words.end(), [](const QString& word) {
    return word == "--help" || word == "-h" || word == "--help-all" || word == "--version" || word == "-v";
  });
  const bool display = qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ||
                       qEnvironmentVariableIsSet("QT_QPA_PLATFORM") || words.contains("-platform");
  if (display && !asked) return;
  const QCoreApplication application(argc, argv);
  QCoreApplication::setApplicationName("gradloom");
  QCoreApplication::setApplicationVersion(GRADLOOM_VERSION);
  parser.process(application);
  std::fprintf(stderr,
               "gradloom: there is no display (DISPLAY and WAYLAND_DISPLAY are empty); 'loom train PROJECT' trains in "
               "the terminal, "
               "'gradloom submit PROJECT --host NAME' on a host\n");
  std::exit(2);
}

// A verb instead of a window. --data-folder may stand anywhere, as it may for the window.
int atTheDoor(int argc, char** argv) {
  const QCoreApplication application(argc, argv);
  QCoreApplication::setApplicationName("gradloom");
  QCoreApplication::setApplicationVersion(GRADLOOM_VERSION);
  loom::DoorOptions options{.dataFolder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)};
  QStringList words = QCoreApplication::arguments().mid(1);
  for (qsizetype i = 0; i < words.size();) {
    if (words[i] == "--data-folder" && i + 1 < words.size()) {
      options.dataFolder = words[i + 1];
      words.remove(i, 2);
    } else if (words[i].startsWith("--data-folder=")) {
      options.dataFolder = words.takeAt(i).section('=', 1);
    } else {
      ++i;
    }
  }
  return loom::runDoor(words, options);
}

}  // namespace

int main(int argc, char** argv) {
  // A program or a host that is gone is an error to be told, not the end of the window.
  std::signal(SIGPIPE, SIG_IGN);
#ifdef __GLIBC__
  // One heap for all threads: a block that one thread fills and another frees leaves holes in heaps of their own, which
  // grew by 100 bytes a step of a followed run.
  mallopt(M_ARENA_MAX, 1);
#endif
  if (argc > 1 && std::string_view(argv[1]) == "export") return loom::runExport(argc, argv);
  if (argc > 1 && loom::isDoorVerb(QString::fromLocal8Bit(argv[1]))) return atTheDoor(argc, argv);
  CommandLine line;
  answerInTheTerminal(argc, argv, line.parser);
  QApplication application(argc, argv);
  QCoreApplication::setApplicationName("gradloom");
  QCoreApplication::setApplicationVersion(GRADLOOM_VERSION);
  QGuiApplication::setApplicationDisplayName("Gradloom");
  QGuiApplication::setDesktopFileName("gradloom");
  line.parser.process(application);
  if (line.parser.isSet(line.page) && !line.pages.contains(line.parser.value(line.page))) {
    std::fprintf(stderr, "gradloom: there is no page '%s'; there are %s\n", qPrintable(line.parser.value(line.page)),
                 qPrintable(line.pages.join(", ")));
    return 2;
  }

  const QString dataFolder = line.parser.isSet(line.data)
                                 ? line.parser.value(line.data)
                                 : QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  QDir().mkpath(dataFolder);
  loom::Preferences preferences(dataFolder + "/gradloom.ini");
  loom::ThemeMode mode = preferences.themeMode();
  if (line.parser.value(line.theme) == "light") mode = loom::ThemeMode::light;
  if (line.parser.value(line.theme) == "dark") mode = loom::ThemeMode::dark;
  loom::Theme look(application,
                   {.mode = mode, .textSize = preferences.textSize(), .reducedMotion = preferences.reducedMotion()});
  QObject::connect(&preferences, &loom::Preferences::changed, &look, [&] {
    look.setMode(preferences.themeMode());
    look.setTextSize(preferences.textSize());
    look.setReducedMotion(preferences.reducedMotion());
  });

  try {
    loom::Workspace workspace({.dataFolder = dataFolder}, look, preferences);
    loom::MainWindow window(workspace);
    leaveOnSignals(window);
    if (const QStringList named = line.parser.positionalArguments(); !named.isEmpty())
      window.openProject(named.first());
    if (line.parser.isSet(line.page)) window.showPage(line.parser.value(line.page));
    window.show();
    // After the first picture: runs of the last session, then what was asked for on the command line.
    QTimer::singleShot(0, &window, [&] {
      workspace.launcher().attach();
      window.offerUnsaved();
      if (line.parser.isSet(line.train)) window.train();
    });
    return QApplication::exec();
  } catch (const loom::Error& error) {
    std::fprintf(stderr, "gradloom: %s\n", error.what());
    return 1;
  }
}

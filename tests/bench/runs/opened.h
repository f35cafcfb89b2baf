#pragma once
// A window of 1440 x 900 on the store and the project of a folder, as the figures are measured in it.
#include <QString>

#include "app/main_window.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/runs_page.h"
#include "app/preferences.h"
#include "app/workspace.h"
#include "tests/bench/runs/figures.h"
#include "widgets/table/data_table.h"
#include "widgets/theme/theme.h"

namespace loom::bench {

struct Opened {
  Preferences preferences;
  Workspace workspace;
  MainWindow window;
  Opened(const QString& folder, Theme& theme)
      : preferences(folder + "/gradloom.ini"),
        workspace(WorkspaceOptions{.dataFolder = folder + "/data", .program = "/bin/true", .line = {}}, theme,
                  preferences),
        window(workspace) {
    window.resize(1440, 900);
    window.show();
  }
  void openProject(const QString& folder) {
    window.openProject(folder + "/p/project.loom");
    if (!until([&] { return workspace.document() != nullptr; }, 60000)) qFatal("the project does not open");
  }
  RunsPage& page() { return *static_cast<RunsPage*>(window.page("runs")); }
  // Nothing is read, drawn or counted any more.
  bool settle(int ms = 60000) {
    const bool was = until([&] { return window.settled(); }, ms);
    forMs(300);
    return was && until([&] { return window.settled(); }, ms);
  }
};

// The parts, each in a process of its own; `scale`: of the number of runs and points, 1 = as the issue has them.
struct Part {
  QString folder;
  double scale = 1;
  QString page;      // that is open while runs come in
  QString pictures;  // folder for pictures; empty = none
  int of(int whole) const { return std::max(8, static_cast<int>(whole * scale)); }
};
void measureIncoming(const Part& part, Theme& theme);
void measureLive(const Part& part, Theme& theme);
void makeMany(const Part& part);
void measureMany(const Part& part, Theme& theme);
void measureOpening(const Part& part, Theme& theme);
void makeLong(const Part& part);
void measureLong(const Part& part, Theme& theme);

}  // namespace loom::bench

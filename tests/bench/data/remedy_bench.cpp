// How soon the Data page shows what a remedy did: from the click on its button until what is shown was painted anew, on
// a table of --rows rows with dates, words and holes. Prints CSV; the window is real, QT_QPA_PLATFORM=offscreen will
// do.
//
//   remedy_bench [--rows 100000]
#include <QApplication>
#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QListView>
#include <QPushButton>
#include <cstdio>
#include <random>

#include "app/pages/data/findings_list.h"
#include "tests/app/opened_window.h"
#include "widgets/preview/column_change.h"
#include "widgets/table/column_list.h"

using namespace loom;

namespace {

constexpr int kPatience = 120000;

QByteArray table(int rows) {
  std::mt19937 random(7);
  const char* const towns[] = {"Ulm", "Bern", "Chur"};
  QByteArray all = "sold,town,area,rooms,humidity,price\n";
  for (int i = 0; i < rows; ++i) {
    const double area = 30 + static_cast<double>(random() % 17000) / 100;
    all += "2024-" + QByteArray::number(1 + i % 12).rightJustified(2, '0') + '-' +
           QByteArray::number(1 + i % 28).rightJustified(2, '0') + ',' + towns[random() % 3] + ',' +
           QByteArray::number(area, 'f', 2) + ',' + QByteArray::number(1 + static_cast<int>(area / 30)) + ',' +
           (i % 26 == 3 ? QByteArray() : QByteArray::number(30 + static_cast<int>(random() % 40))) + ',' +
           QByteArray::number(3 * area, 'f', 1) + '\n';
  }
  return all;
}

// When what is watched is painted.
struct Painted : QObject {
  std::function<void()> then;
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::Paint && then) then();
    return false;
  }
};

void fail(const QString& why) {
  qFatal("%s", qPrintable(why));
}

}  // namespace

int main(int count, char** arguments) {
  QApplication application(count, arguments);
  qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM);
  QCommandLineParser line;
  line.addOption({"rows", "of the table", "rows", "100000"});
  line.process(application);
  OpenedWindow open;
  open.click("new-network");
  QDir().mkpath(open.path("project"));
  if (!open.workspace().saveAs(open.path("project/project.loom"))) fail("the project cannot be saved");
  open.window().showPage("data");
  open.drop({open.write("downloads/houses.csv", table(line.value("rows").toInt()))});
  open.click("copy-into-project");
  auto& list = *open.window().findChild<FindingsList*>();
  auto& columns = *open.window().findChild<ColumnList*>();
  auto& change = *open.window().findChild<ColumnChange*>();
  Painted painted;
  change.installEventFilter(&painted);
  const auto waitFor = [](const char* what, const std::function<bool()>& done) {
    if (!QTest::qWaitFor(done, kPatience)) fail(what);
  };
  const auto rowOf = [&](const QString& title) {
    for (int row = 0; row < list.findings().rowCount(); ++row)
      if (list.findings().finding(row).title.contains(title)) return row;
    return -1;
  };
  const auto button = [&](const QString& title, const QString& text) -> QPushButton* {
    const int row = rowOf(title);
    QWidget* const place = row < 0 ? nullptr : list.indexWidget(list.model()->index(row, 0));
    for (QPushButton* each : place ? place->findChildren<QPushButton*>() : QList<QPushButton*>())
      if (each->text().startsWith(text)) return each;
    return nullptr;
  };
  struct Remedy {
    const char *column, *finding, *text;
  };
  std::printf("remedy,finding_gone_ms,column_redrawn_ms,all_settled_ms\n");
  for (const Remedy& remedy :
       {Remedy{"humidity", "humidity: ", "Fill with median"}, Remedy{"sold", "sold is a date", "Day of the year"},
        Remedy{"town", "town is text", "One column a class"}}) {
    waitFor(remedy.text, [&] { return button(remedy.finding, remedy.text) && open.window().settled(); });
    QListView& view = columns.view();
    const QModelIndex at = view.model()->index(columns.rowOf(remedy.column), 0);
    view.scrollTo(at);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(at).center());
    waitFor("the page settles", [&] { return open.window().settled(); });
    list.scrollTo(list.model()->index(rowOf(remedy.finding), 0));
    waitFor("the button is shown", [&] { return button(remedy.finding, remedy.text) != nullptr; });
    const auto before = change.shown().after;
    const auto changed = [&] {
      const auto& now = change.shown().after;
      if (now.size() != before.size()) return true;
      for (std::size_t i = 0; i < now.size(); ++i)
        if (now[i].cells != before[i].cells || now[i].mean != before[i].mean || now[i].name != before[i].name)
          return true;
      return false;
    };
    QElapsedTimer time;
    double gone = -1, redrawn = -1;
    const auto now = [&] { return static_cast<double>(time.nsecsElapsed()) / 1e6; };
    painted.then = [&] {
      if (redrawn < 0 && changed()) redrawn = now();
    };
    time.start();
    QTest::mouseClick(button(remedy.finding, remedy.text), Qt::LeftButton);
    while (time.elapsed() < kPatience) {
      if (gone < 0 && rowOf(remedy.finding) < 0) gone = now();
      if (gone >= 0 && redrawn >= 0 && open.window().settled()) break;
      QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
    }
    painted.then = nullptr;
    std::printf("%s,%.1f,%.1f,%.1f\n", remedy.text, gone, redrawn, now());
    std::fflush(stdout);
  }
  open.document().discardRecovery();
  return 0;
}

// Drags through a real X server: Qt's own drag and drop, as a hand with a mouse does it. Skipped, with the reason,
// where there is no Xvfb, no xdotool or no plugin for X.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <QProcess>

#include "app/pages/network/network_side.h"
#include "tests/app/network/page_alone.h"
#include "tests/patience.h"
#include "widgets/outline/outline_panel.h"
#include "widgets/palette/layer_palette.h"

namespace loom {

class RealDragTest : public QObject, private PageAlone {
  Q_OBJECT

 private:
  // A hand at the pointer, while this process answers it.
  void pull(QPoint from, QPoint to) {
    const QPoint third = from + (to - from) / 3;
    QStringList words;
    for (const QPoint& at : {from, from + QPoint(4, 4), from + QPoint(14, 14), third, to - QPoint(3, 3), to, to}) {
      words << "mousemove" << QString::number(at.x()) << QString::number(at.y()) << "sleep"
            << "0.15";
      if (at == from && !words.contains("mousedown"))
        words << "mousedown"
              << "1"
              << "sleep"
              << "0.15";
    }
    words << "mouseup"
          << "1";
    QProcess hand;
    hand.start("xdotool", words);
    QTRY_VERIFY(hand.state() == QProcess::NotRunning);
    QCOMPARE(hand.exitCode(), 0);
    QTest::qWait(200);
  }

 private Q_SLOTS:
  void initTestCase() {
    if (QGuiApplication::platformName() != "xcb") QSKIP("there is no X server: install xvfb and xdotool");
  }
  void init() { openPage(); }
  void cleanup() { closePage(); }

  // A row onto a group: the node stands in it, and one undo brings it back.
  void aRowOfTheOutlineIsPulledIntoAGroup() {
    open(R"({"loom": 1, "networks": {"main": {"nodes": [
      {"id": "x", "layer": "Input", "shape": [4], "at": [0, 0]}, {"id": "fc", "layer": "Linear", "outputs": 3, "at": [0, 84]},
      {"id": "relu", "layer": "ReLU", "at": [0, 168]}], "edges": [["x", "fc"], ["fc", "relu"]]}}})");
    const std::string group = document().makeGroup("main", {"fc"}, "Body");
    m_page->side().showOutline(true);
    settle();
    OutlinePanel& outline = m_page->side().outline();
    OutlineTree& tree = outline.tree();
    tree.expandAll();
    settle();
    const auto middle = [&](const QModelIndex& row) {
      return tree.viewport()->mapToGlobal(tree.visualRect(row).center());
    };
    const int steps = document().undoStack().index();
    pull(middle(outline.row("main", "relu")), middle(outline.row("main", group)));
    QCOMPARE(drawn().find("relu")->group, group);
    QCOMPARE(document().undoStack().index(), steps + 1);
    document().undoStack().undo();
    QVERIFY(drawn().find("relu")->group.empty());
  }

  // From the palette to where there is room: the layer stands there.
  void aLayerIsPulledOntoTheCanvas() {
    open(
        R"({"loom": 1, "networks": {"main": {"nodes": [{"id": "x", "layer": "Input", "shape": [4], "at": [0, 0]}], "edges": []}}})");
    auto* list = m_page->findChild<LayerList*>();
    const QList<QListWidgetItem*> rows = list->findItems("Linear", Qt::MatchExactly);
    QCOMPARE(rows.size(), 2);  // the heading of its category, too
    list->scrollToItem(rows.back());
    settle();
    const QPoint place(view().viewport()->width() / 2, view().viewport()->height() * 3 / 4);
    pull(list->viewport()->mapToGlobal(list->visualItemRect(rows.back()).center()),
         view().viewport()->mapToGlobal(place));
    QCOMPARE(drawn().nodes.size(), std::size_t(2));
    QCOMPARE(drawn().nodes.back().layer, std::string("Linear"));
    const QPointF wanted = view().mapToScene(place), put(drawn().nodes.back().x, drawn().nodes.back().y);
    QVERIFY2(QLineF(wanted, put).length() < 120, qPrintable(QString("%1, %2").arg(put.x()).arg(put.y())));
    document().undoStack().undo();
    QCOMPARE(drawn().nodes.size(), std::size_t(1));
  }
};

}  // namespace loom

namespace {

// The number of the display of a server that ends with this process; empty: there is none.
QByteArray startServer() {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const std::string to = std::to_string(ends[1]);
    execlp("Xvfb", "Xvfb", "-displayfd", to.c_str(), "-screen", "0", "1440x900x24", "-nolisten", "tcp", nullptr);
    _exit(127);
  }
  close(ends[1]);
  QByteArray number;
  for (char one = 0; child > 0 && read(ends[0], &one, 1) == 1 && one != '\n';) number += one;
  close(ends[0]);
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  const bool moves = !QStandardPaths::findExecutable("xdotool").isEmpty();
  if (const QByteArray display = moves ? startServer() : QByteArray(); !display.isEmpty()) {
    qputenv("DISPLAY", ":" + display);
    qputenv("QT_QPA_PLATFORM", "xcb");
  }
  QApplication app(argc, argv);
  loom::RealDragTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "real_drag_test.moc"

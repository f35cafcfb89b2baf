// How quick the canvas and the document are on large drawings: every figure beside its goal, in one go.
//   cmake --build build --target canvas_figures        or        QT_QPA_PLATFORM=offscreen canvas_bench [nodes wires
//   [part ...]]
// Parts: analysis arrange looking dragging wiring editing arranging; all where none is named.
#include <fmt/format.h>

#include <QApplication>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTest>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "engine/base/files.h"
#include "engine/network/incremental_analysis.h"
#include "tests/bench/canvas/drawing.h"
#include "tests/bench/canvas/measured.h"
#include "widgets/canvas/network_view.h"
#include "widgets/document/arrange.h"
#include "widgets/theme/theme.h"

namespace loom::bench {

namespace {

constexpr int kColumns = 20;
constexpr double kFrame = 1000.0 / 60, kDragFrame = 1000.0 / 30, kAtOnce = 16, kStall = 50;

void analysis() {
  for (const auto& [layers, goal] : {std::pair{500, 1.0}, std::pair{5000, 16.0}}) {
    Network network = chain(layers);
    IncrementalAnalysis kept;
    const double first = milliseconds([&] { kept.update(network); });
    Measured middle, top;
    Node& half = network.nodes[static_cast<std::size_t>(layers / 2 / 3 * 3 + 1)];
    for (int i = 0; i < 21; ++i) {
      half.values["channels"] = 8 + i % 9;
      middle.time([&] { kept.update(network); });
    }
    for (int i = 0; i < 21; ++i) {
      network.nodes[0].values["shape"] = {3, 64, 48 + i % 5};
      top.time([&] { kept.update(network); });
    }
    print(fmt::format("shapes and faults of {} layers, a field half-way", layers), middle, goal);
    print(fmt::format("the same, all shapes are other ones ({:.1f} ms the first time)", first), top, goal);
  }
}

class Canvas {
 public:
  Canvas(const std::string& text, const QString& path) {
    writeFileAtomically(path.toStdString(), text);
    m_scene = std::make_unique<NetworkScene>(m_document);
    m_view = std::make_unique<NetworkView>(*m_scene);
    m_view->resize(1180, 820);
    m_view->show();
    QTest::qWait(50);
    Measured open, save;
    open.time([&] {
      m_document.open(path);
      frame();
    });
    waitForChecks();
    save.time([&] { m_document.save(); });
    const Network& drawn = m_scene->network();
    fmt::print("{} nodes, {} wires\n", drawn.nodes.size(), drawn.edges.size());
    print("open, drawn once", open, 500);
    print("save", save, 500);
  }
  ~Canvas() {
    m_view.reset();
    m_scene.reset();
    m_document.discardRecovery();
  }

  void looking() {
    const QRectF all = m_scene->cardsRect();
    for (const double zoom : {2.0, 1.0, 0.7, 0.45, 0.25, 0.1}) {
      m_view->setZoom(zoom);
      m_view->centerOn(all.center());
      frame();
      Measured pan;
      for (int i = 0; i < 60; ++i)
        pan.time([&] {
          m_view->horizontalScrollBar()->setValue(m_view->horizontalScrollBar()->value() + (i < 30 ? 7 : -7));
          m_view->verticalScrollBar()->setValue(m_view->verticalScrollBar()->value() + 11);
          frame();
        });
      print(fmt::format("pan at {} %", static_cast<int>(zoom * 100)), pan, kFrame);
    }
    Measured in;
    m_view->setZoom(0.1);
    m_view->centerOn(all.center());
    while (m_view->zoom() < 3.9)
      in.time([&] {
        m_view->setZoom(m_view->zoom() * 1.04, QPointF(500, 400));
        frame();
      });
    print("zoom from 10 to 390 %", in, kFrame);
  }

  void dragging() {
    const auto& nodes = m_scene->network().nodes;
    const std::size_t begin = nodes.size() / 3;
    for (const double zoom : {1.0, 0.1}) {
      Picked picked;
      for (std::size_t i = begin; i < begin + 1000; ++i) picked.nodes.insert(nodes[i].id);
      m_scene->pick(picked);
      m_view->setZoom(zoom);
      m_view->centerOn(m_scene->card(nodes[begin + 500].id)->pos());
      frame();
      const QPoint at = m_view->mapFromScene(m_scene->card(nodes[begin + 500].id)->pos());
      QTest::mousePress(m_view->viewport(), Qt::LeftButton, {}, at);
      Measured drag, drop;
      for (int i = 1; i <= 40; ++i)
        drag.time([&] {
          QTest::mouseMove(m_view->viewport(), at + QPoint(i * 13, (i % 7) * 12));
          QCoreApplication::processEvents();
          frame();
        });
      drop.time([&] {
        QTest::mouseRelease(m_view->viewport(), Qt::LeftButton, {}, at + QPoint(520, 60));
        frame();
      });
      print(fmt::format("drag 1,000 selected, a move, at {} %", static_cast<int>(zoom * 100)), drag, kDragFrame);
      print("drop them", drop, kStall);
      m_document.undoStack().undo();
    }
    m_scene->pick({});
  }

  void wiring() {
    const auto& nodes = m_scene->network().nodes;
    const std::string id = nodes[nodes.size() / 2].id;
    m_view->setZoom(1);
    m_view->centerOn(m_scene->card(id)->pos());
    frame();
    Measured start, move;
    for (int i = 0; i < 9; ++i) {
      const QPoint pin = m_view->mapFromScene(m_scene->card(id)->pos() + m_scene->card(id)->outputs().front().at);
      start.time([&] { QTest::mousePress(m_view->viewport(), Qt::LeftButton, {}, pin); });
      move.time([&] {
        QTest::mouseMove(m_view->viewport(), pin + QPoint(60, 80 + i));
        frame();
      });
      QTest::keyClick(m_view.get(), Qt::Key_Escape);
      QTest::mouseRelease(m_view->viewport(), Qt::LeftButton, {}, pin);
    }
    print("start a wire", start, kAtOnce);
    print("move its end", move, kFrame);
  }

  void editing() {
    const std::string network = "main";
    const auto node = [&](double share) {
      return m_scene->network()
          .nodes[static_cast<std::size_t>(share * static_cast<double>(m_scene->network().nodes.size()))]
          .id;
    };
    const auto ofLayer = [&](const char* layer) {
      const auto& nodes = m_scene->network().nodes;
      for (std::size_t i = nodes.size() / 2; i < nodes.size(); ++i)
        if (nodes[i].layer == layer) return nodes[i].id;
      return nodes.front().id;
    };
    const auto wire = [&](double share) {
      return m_scene->network()
          .edges[static_cast<std::size_t>(share * static_cast<double>(m_scene->network().edges.size()))];
    };
    const auto chainAt = [&](double share) {  // convolution, normalisation, activation
      const auto& nodes = m_scene->network().nodes;
      auto at = nodes.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(nodes.size()));
      while (at->layer != "Convolution" || (at + 2)->layer != "ReLU") ++at;
      return std::vector<std::string>{at->id, (at + 1)->id, (at + 2)->id};
    };
    std::vector<std::string> thousand;
    for (std::size_t i = 3000; i < 4000 && i < m_scene->network().nodes.size(); ++i)
      thousand.push_back(m_scene->network().nodes[i].id);
    std::map<std::string, QPointF> shifted;
    for (const std::string& id : thousand) shifted[id] = m_scene->card(id)->pos() + QPointF(600, 12);
    const std::string copied = m_document.copyNodes(network, thousand);
    const QRectF all = m_scene->cardsRect();
    const std::vector<std::pair<const char*, std::function<void()>>> edits{
        {"set a field",
         [&] {
           m_document.setField(network, ofLayer("Convolution"), "kernel", Json::array({5, 5}));
         }},
        {"set a field that makes all behind it faulty",
         [&] { m_document.setField(network, ofLayer("Convolution"), "channels", 7); }},
        {"add a node",
         [&] { m_document.addNode({.network = network, .layer = "ReLU", .at = all.center() + QPointF(3000, 0)}); }},
        {"put a node into a wire at the top",
         [&] {
           m_document.addNode(
               {.network = network, .layer = "Dropout", .at = m_scene->card(node(0.01))->pos(), .into = wire(0.01)});
         }},
        {"put a node into a wire near the end",
         [&] {
           m_document.addNode(
               {.network = network, .layer = "Dropout", .at = m_scene->card(node(0.97))->pos(), .into = wire(0.97)});
         }},
        {"remove a node and heal", [&] { m_document.removeNodes(network, {node(0.9)}, true); }},
        {"remove a node", [&] { m_document.removeNodes(network, {node(0.5)}, false); }},
        {"remove a wire", [&] { m_document.removeWires(network, {wire(0.5)}); }},
        {"draw a wire",
         [&] {
           m_document.addWire(network, {{node(0.4), "output"}, {node(0.402), "input"}});
         }},
        {"draw a wire across the whole drawing",
         [&] {
           m_document.addWire(network, {{node(0.001), "output"}, {"fc", "input"}});
         }},
        {"rename a node", [&] { m_document.renameNode(network, node(0.5), "another"); }},
        {"make it another layer", [&] { m_document.setLayer(network, node(0.5), "Sigmoid"); }},
        {"move one node",
         [&] {
           m_document.moveNodes(network, {{node(0.5), m_scene->card(node(0.5))->pos() + QPointF(480, 0)}});
         }},
        {"move 1,000 nodes", [&] { m_document.moveNodes(network, shifted); }},
        {"cut 1,000 nodes", [&] { m_document.cutNodes(network, thousand); }},
        {"paste 1,000 nodes", [&] { m_document.pasteNodes(network, copied, all.center() + QPointF(4000, 0)); }},
        {"write a comment",
         [&] { m_document.addComment(network, {.text = "words", .x = all.center().x(), .y = all.bottom() + 200}); }},
        {"group three nodes near the end", [&] { m_document.makeGroup(network, chainAt(0.95), "Group"); }},
        {"make a unit of three nodes near the end", [&] { m_document.makeUnit(network, chainAt(0.95), "Unit"); }},
        {"add a network", [&] { m_document.addNetwork("other"); }},
        {"set the batch", [&] { m_document.setSetting("batch", 96); }},
    };
    m_view->setZoom(1);
    m_view->centerOn(m_scene->card(node(0.5))->pos());
    frame();
    for (const auto& [what, edit] : edits) {
      Measured done, undone;
      for (int i = 0; i < 5; ++i) {
        waitForChecks();
        done.time(edit);
        waitForChecks();
        undone.time([&] { m_document.undoStack().undo(); });
      }
      print(what, done, kAtOnce);
      print("  its undo", undone, kAtOnce);
    }
    {
      // While a group is folded the canvas shows another drawing than the file has.
      const std::string group = m_document.makeGroup(network, chainAt(0.5), "Group");
      waitForChecks();
      Measured fold, open, done, undone;
      for (int i = 0; i < 5; ++i) {
        fold.time([&] { m_document.setFolded(network, group, true); });
        waitForChecks();
        done.time([&] { m_document.setField(network, ofLayer("Convolution"), "kernel", Json::array({5, 5})); });
        waitForChecks();
        undone.time([&] { m_document.undoStack().undo(); });
        waitForChecks();
        open.time([&] { m_document.undoStack().undo(); });
        waitForChecks();
      }
      print("fold a group", fold, kAtOnce);
      print("  its undo", open, kAtOnce);
      print("set a field beside a folded group", done, kAtOnce);
      print("  its undo", undone, kAtOnce);
      m_document.undoStack().undo();
      waitForChecks();
    }
    Measured typed;
    typed.add(longestStall(
        [&] {
          for (int i = 0; i < 20; ++i) {
            m_document.setField(network, ofLayer("BatchNormalization"), "epsilon", 0.001 * (i + 1));
            QTest::qWait(15);
          }
        },
        [&] { return m_document.checksAreCurrent(); }));
    print("longest stall of the window while typing 20 digits", typed, kStall);
    m_document.undoStack().undo();
  }

  // All of them somewhere else first: the drawing comes arranged, and arranging it again would move nothing.
  void arranging() {
    const Network& drawn = m_document.project().networks.front();
    std::map<std::string, QPointF> apart;
    for (const Node& node : drawn.nodes) apart[node.id] = QPointF(node.x * 1.25, node.y * 1.25);
    m_document.moveNodes(drawn.name, apart);
    frame();
    waitForChecks();
    const int steps = m_document.undoStack().index();
    bool done = false;
    Measured stall, undo;
    stall.add(longestStall([&] { m_document.arrange("main", [&] { done = true; }); }, [&] { return done; }));
    print("longest stall of the window while all are arranged", stall, kStall);
    if (m_document.undoStack().index() == steps)
      std::fputs("arranging moved nothing: the figures above and below are none\n", stdout);
    undo.time([&] { m_document.undoStack().undo(); });
    print("undo of arranging all", undo, kAtOnce);
    waitForChecks();
  }

 private:
  void frame() { m_view->viewport()->repaint(); }
  void waitForChecks() {
    while (!m_document.checksAreCurrent()) QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
    for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();
  }

  ProjectDocument m_document;
  std::unique_ptr<NetworkScene> m_scene;
  std::unique_ptr<NetworkView> m_view;
};

void arrange5000() {
  const Project project = readProject(residualProject(5000, 6000, 1), "bench").project;
  const NetworkIndex index(project.networks.front());
  Measured arrange;
  for (int i = 0; i < 3; ++i) arrange.time([&] { arranged(Drawing{project, project.networks.front(), index}); });
  print("arrange 5,000 nodes", arrange, 2000);
}

int run(int nodes, int wires, const std::set<std::string>& parts) {
  const auto wanted = [&](const char* part) { return parts.empty() || parts.contains(part); };
  fmt::print("{}, Qt {}, {} platform\n", processor(), qVersion(), QGuiApplication::platformName().toStdString());
  if (wanted("analysis")) analysis();
  if (wanted("arrange")) arrange5000();
  QTemporaryDir folder;
  Canvas canvas(residualProject(nodes, wires, kColumns), folder.filePath("large.loom"));
  if (wanted("looking")) canvas.looking();
  if (wanted("dragging")) canvas.dragging();
  if (wanted("wiring")) canvas.wiring();
  if (wanted("editing")) canvas.editing();
  if (wanted("arranging")) canvas.arranging();
  fmt::print("{}\n", missed() == 0 ? "all goals held" : fmt::format("{} goals missed", missed()));
  return missed() == 0 ? 0 : 1;
}

}  // namespace

}  // namespace loom::bench

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  loom::Theme theme(application, loom::ThemeOptions{.mode = loom::ThemeMode::light, .reducedMotion = true});
  const int nodes = argc > 1 ? std::atoi(argv[1]) : 10000, wires = argc > 2 ? std::atoi(argv[2]) : 12000;
  return loom::bench::run(nodes, wires, std::set<std::string>(argv + std::min(argc, 3), argv + argc));
}

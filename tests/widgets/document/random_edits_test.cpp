// Whatever is done to a project, undoing all of it gives the first file byte for byte, and redoing it the last; on the way the index of
// each drawing answers as one made anew, and the change names what a comparison would find.
#include <random>
#include <set>

#include <QTest>

#include "tests/widgets/document/drawings.h"
#include "widgets/document/project_document.h"

namespace loom {

namespace {

struct Monkey {
  ProjectDocument& document;
  std::mt19937 random;

  std::size_t below(std::size_t count) { return count == 0 ? 0 : random() % count; }
  const Network& any() {
    const auto& project = document.project();
    const std::size_t at = below(project.networks.size() + project.units.size());
    return at < project.networks.size() ? project.networks[at] : project.units[at - project.networks.size()];
  }
  std::string node(const Network& network) { return network.nodes.empty() ? std::string() : network.nodes[below(network.nodes.size())].id; }
  std::vector<std::string> some(const Network& network) {
    std::set<std::string> ids;
    for (std::size_t i = 0, count = 1 + below(4); i < count && !network.nodes.empty(); ++i) ids.insert(node(network));
    return {ids.begin(), ids.end()};
  }
  std::string layer() { return layerTable()[below(layerTable().size())]->entry.id; }
  QPointF place() { return {12.0 * static_cast<double>(below(120)), 12.0 * static_cast<double>(below(120))}; }
  Edge wire(const Network& network) {
    if (!network.edges.empty() && below(2) == 0) return network.edges[below(network.edges.size())];
    return {{node(network), "output"}, {node(network), below(5) == 0 ? "target" : "input"}};
  }

  void step() {
    const Network& drawn = any();
    const std::string network = drawn.name, one = node(drawn);
    switch (below(24)) {
      case 0: document.addNode({.network = network, .layer = layer(), .at = place()}); break;
      case 1: document.addNode({.network = network, .layer = layer(), .after = one}); break;
      case 2:
        if (!drawn.edges.empty()) document.addNode({.network = network, .layer = layer(), .at = place(), .into = drawn.edges[below(drawn.edges.size())]});
        break;
      case 3: document.removeNodes(network, some(drawn), true); break;
      case 4: document.removeNodes(network, some(drawn), false); break;
      case 5: {
        std::map<std::string, QPointF> places;
        for (const std::string& id : some(drawn)) places[id] = place();
        document.moveNodes(network, places, static_cast<int>(below(3)));
        break;
      }
      case 6: document.setField(network, one, below(2) == 0 ? "channels" : "outputs", static_cast<int>(below(64))); break;
      case 7: document.setFieldOfMany(network, some(drawn), "kernel", Json::array({1 + below(5), 3})); break;
      case 8: document.resetField(network, one, "channels"); break;
      case 9: document.setShares(network, one, node(drawn)); break;
      case 10: document.setLayer(network, one, layer()); break;
      case 11: document.renameNode(network, one, "r" + std::to_string(below(200))); break;
      case 12: document.addWire(network, wire(drawn)); break;
      case 13: document.removeWires(network, {wire(drawn), wire(drawn)}); break;
      case 14: document.rewire(network, wire(drawn), wire(drawn)); break;
      case 15: document.cutNodes(network, some(drawn)); break;
      case 16: document.pasteNodes(any().name, document.copyNodes(network, some(drawn)), place()); break;
      case 17: document.duplicateNodes(network, some(drawn)); break;
      case 18: document.arrange(network); break;
      case 19: document.setSetting("epochs", static_cast<int>(1 + below(9))); break;
      case 20:
        if (below(3) == 0) document.addNetwork("extra");
        else if (below(2) == 0) document.renameNetwork(network, "n" + std::to_string(below(9)));
        else if (below(3) == 0) document.removeNetwork(network);
        break;
      case 21:
        document.edit("Groups", [&](ProjectEdit& edit) {
          edit.drawing(network, [&](DrawingEdit& drawing) {
            drawing.groups().push_back({.id = "g" + std::to_string(below(1000)), .title = "group"});
            drawing.comments().push_back({.id = "c" + std::to_string(below(1000)), .text = "words", .x = 12});
            if (!one.empty()) drawing.change(one, [&](Node& changed) { changed.group = drawing.network().groups.back().id; });
          });
          if (below(4) == 0 && !edit.project().unit("block"))
            edit.addUnit({.name = "block", .nodes = {{.id = "in", .layer = "Input"}, {.id = "out", .layer = "Output"}},
                          .edges = {{{"in", "output"}, {"out", "input"}}}, .arguments = {{.name = "channels", .defaultValue = 4}}});
          if (edit.project().unit("block") != nullptr && network != "block")
            edit.drawing(network, [&](DrawingEdit& drawing) {
              const std::string id = drawing.network().freeId(std::string("use"));
              drawing.addNode({.id = id, .layer = "", .placed = true, .unit = "block", .repeat = 3});
            });
        });
        break;
      case 22:
        document.editDrawing("Turn around", network, [&](Network& changed) {
          std::reverse(changed.nodes.begin(), changed.nodes.end());
          if (!changed.groups.empty()) changed.groups.pop_back();
        });
        break;
      default: document.edit("Notes and data", [&](ProjectEdit& edit) {
        edit.notes() = std::to_string(below(100));
        if (below(3) == 0) edit.datasets().push_back({.name = "d" + std::to_string(below(1000)), .csv = "a.csv"});
      });
    }
  }
};

}  // namespace

class RandomEditsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void twoHundredEditsComeBackExactly_data();
  void twoHundredEditsComeBackExactly();
  void changesNameWhatAComparisonFinds();
};

void RandomEditsTest::twoHundredEditsComeBackExactly_data() {
  QTest::addColumn<unsigned>("seed");
  for (unsigned seed = 1; seed <= 6; ++seed) QTest::addRow("seed %u", seed) << seed;
}

void RandomEditsTest::twoHundredEditsComeBackExactly() {
  QFETCH(unsigned, seed);
  ProjectDocument document;
  QVERIFY(document.openText(drawings::residual(3), "start"));
  Monkey monkey{document, std::mt19937(seed)};
  const std::string first = document.text();
  std::map<int, std::string> texts{{0, first}};
  const auto sound = [&] {
    for (const auto* drawings : {&document.project().networks, &document.project().units})
      for (const Network& drawn : *drawings)
        if (!(document.index(drawn.name) == NetworkIndex(drawn))) return false;
    return true;
  };
  for (int done = 0; done < 200; ++done) {
    monkey.step();
    QVERIFY2(sound(), qPrintable(QStringLiteral("the index differs after edit %1").arg(done)));
    texts[document.undoStack().index()] = document.text();
  }
  QVERIFY2(document.undoStack().index() > 80, qPrintable(QString::number(document.undoStack().index())));
  const std::string last = document.text();
  while (document.undoStack().canUndo()) {
    document.undoStack().undo();
    QVERIFY(sound());
    QCOMPARE(QString::fromStdString(document.text()), QString::fromStdString(texts.at(document.undoStack().index())));
  }
  QCOMPARE(document.text(), first);
  while (document.undoStack().canRedo()) document.undoStack().redo();
  QVERIFY(sound());
  QCOMPARE(document.text(), last);
  document.discardRecovery();
}

void RandomEditsTest::changesNameWhatAComparisonFinds() {
  ProjectDocument document;
  QVERIFY(document.openText(drawings::residual(2), "start"));
  Monkey monkey{document, std::mt19937(7)};
  Project before = document.project();
  int compared = 0;
  connect(&document, &ProjectDocument::changed, this, [&](const ProjectChange& change) {
    const Project& now = document.project();
    if (change.networkList) {
      before = now;
      return;
    }
    for (const Network& drawn : now.networks) {
      const Network& was = *before.drawing(drawn.name);
      const auto told = std::find_if(change.networks.begin(), change.networks.end(), [&](const NetworkChange& each) { return each.network == drawn.name; });
      std::set<std::string> added, removed, differing;
      for (const Node& node : drawn.nodes) {
        const Node* old = was.find(node.id);
        if (old == nullptr) added.insert(node.id);
        else if (!(*old == node) && !(old->placed != node.placed && [&] { Node same = *old; same.placed = node.placed; return same == node; }())) differing.insert(node.id);
      }
      for (const Node& node : was.nodes)
        if (drawn.find(node.id) == nullptr) removed.insert(node.id);
      if (told == change.networks.end()) {
        QVERIFY(added.empty() && removed.empty() && differing.empty() && was.edges == drawn.edges);
        continue;
      }
      QCOMPARE(std::set<std::string>(told->added.begin(), told->added.end()), added);
      QCOMPARE(std::set<std::string>(told->removed.begin(), told->removed.end()), removed);
      std::set<std::string> named(told->changed.begin(), told->changed.end());
      named.insert(told->moved.begin(), told->moved.end());
      QVERIFY(std::includes(named.begin(), named.end(), differing.begin(), differing.end()));
      const std::set<Edge> wired(told->wired.begin(), told->wired.end()), unwired(told->unwired.begin(), told->unwired.end());
      const std::set<Edge> old(was.edges.begin(), was.edges.end());
      for (const Edge& edge : drawn.edges) QVERIFY(old.contains(edge) || wired.contains(edge));
      const std::set<Edge> fresh(drawn.edges.begin(), drawn.edges.end());
      for (const Edge& edge : old) QVERIFY(fresh.contains(edge) || unwired.contains(edge));
      ++compared;
    }
    before = now;
  });
  for (int done = 0; done < 300; ++done) monkey.step();
  while (document.undoStack().canUndo()) document.undoStack().undo();
  QVERIFY2(compared > 200, qPrintable(QString::number(compared)));
  document.discardRecovery();
}

}  // namespace loom

QTEST_GUILESS_MAIN(loom::RandomEditsTest)
#include "random_edits_test.moc"

// Whatever is done to a project, undoing all of it gives the first file byte for byte, and redoing it the last; on the
// way the index of each drawing answers as one made anew, and the change names what a comparison would find.
#include "tests/widgets/document/random_edits.h"

#include <QTest>
#include <set>

#include "tests/widgets/document/drawings.h"
#include "tests/widgets/document/unit_drawings.h"

namespace loom {

class RandomEditsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void twoHundredEditsComeBackExactly_data();
  void twoHundredEditsComeBackExactly();
  void everyKindOfEditTookPart();
  void changesNameWhatAComparisonFinds();
  void stepsOfOneListMakeOne();

 private:
  std::map<std::string, int> m_done;
};

void RandomEditsTest::twoHundredEditsComeBackExactly_data() {
  QTest::addColumn<unsigned>("seed");
  QTest::addColumn<QByteArray>("drawing");
  for (unsigned seed = 1; seed <= 6; ++seed)
    QTest::addRow("residual blocks, seed %u", seed) << seed << QByteArray::fromStdString(drawings::residual(3));
  for (unsigned seed = 7; seed <= 12; ++seed)
    QTest::addRow("units, seed %u", seed) << seed << QByteArray(drawings::kUnits);
}

// Now and then some steps are taken back before the next edit, as a person does: what was done after them is then
// forgotten.
void RandomEditsTest::twoHundredEditsComeBackExactly() {
  QFETCH(unsigned, seed);
  QFETCH(QByteArray, drawing);
  ProjectDocument document;
  QVERIFY(document.openText(drawing.toStdString(), "start"));
  RandomEdits edits(document, seed);
  QUndoStack& stack = document.undoStack();
  const std::string first = document.text();
  std::map<int, std::string> texts{{0, first}};
  const auto sound = [&] {
    for (const auto* drawings : {&document.project().networks, &document.project().units})
      for (const Network& drawn : *drawings)
        if (!(document.index(drawn.name) == NetworkIndex(drawn))) return false;
    return true;
  };
  // Some edits are several steps.
  const auto keeping =
      connect(&stack, &QUndoStack::indexChanged, this, [&](int index) { texts[index] = document.text(); });
  for (int done = 0; stack.index() < 200; ++done) {
    QVERIFY2(done < 2000, qPrintable(QStringLiteral("%1 steps alone came of it").arg(stack.index())));
    if (edits.below(40) == 0)
      for (std::size_t back = edits.below(5); back > 0; --back) stack.undo();
    edits.step();
    QVERIFY2(sound(), qPrintable(QStringLiteral("the index differs after edit %1").arg(done)));
    texts[stack.index()] = document.text();
  }
  disconnect(keeping);
  const std::string last = document.text();
  while (stack.canUndo()) {
    const QString step = stack.undoText();
    stack.undo();
    QVERIFY(sound());
    QVERIFY2(document.text() == texts.at(stack.index()),
             qPrintable(QStringLiteral("undo of '%1', step %2").arg(step).arg(stack.index())));
  }
  QCOMPARE(document.text(), first);
  while (stack.canRedo()) {
    const QString step = stack.redoText();
    stack.redo();
    QVERIFY2(document.text() == texts.at(stack.index()),
             qPrintable(QStringLiteral("redo of '%1', step %2").arg(step).arg(stack.index())));
  }
  QVERIFY(sound());
  QCOMPARE(document.text(), last);
  for (const auto& [kind, times] : edits.done()) m_done[kind] += times;
  document.discardRecovery();
}

// Over all seeds each kind of edit has changed the project: else the test above says nothing of it.
void RandomEditsTest::everyKindOfEditTookPart() {
  if (m_done.empty()) QSKIP("the seeds were not run");
  for (const auto& [kind, times] : m_done) QVERIFY2(times > 0, kind.c_str());
}

void RandomEditsTest::changesNameWhatAComparisonFinds() {
  ProjectDocument document;
  QVERIFY(document.openText(drawings::residual(2), "start"));
  RandomEdits edits(document, 7);
  Project before = document.project();
  int compared = 0;
  connect(&document, &ProjectDocument::changed, this, [&](const ProjectChange& change) {
    const Project& now = document.project();
    for (const Network& drawn : now.networks) {
      // One that came is told by its name alone; one that was renamed is not compared.
      if (before.drawing(drawn.name) == nullptr ||
          std::find(change.came.begin(), change.came.end(), drawn.name) != change.came.end())
        continue;
      const Network& was = *before.drawing(drawn.name);
      const auto told = std::find_if(change.networks.begin(), change.networks.end(),
                                     [&](const NetworkChange& each) { return each.network == drawn.name; });
      std::set<std::string> added, removed, differing;
      for (const Node& node : drawn.nodes) {
        const Node* old = was.find(node.id);
        if (old == nullptr)
          added.insert(node.id);
        else if (!(*old == node) && !(old->placed != node.placed && [&] {
                   Node same = *old;
                   same.placed = node.placed;
                   return same == node;
                 }()))
          differing.insert(node.id);
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
      QCOMPARE(std::set<std::string>(told->moved.begin(), told->moved.end()).size(), told->moved.size());  // each once
      for (const std::string& id : told->moved) QVERIFY(drawn.find(id) != nullptr && was.find(id) != nullptr);
      const std::set<Edge> wired(told->wired.begin(), told->wired.end()),
          unwired(told->unwired.begin(), told->unwired.end());
      const std::set<Edge> old(was.edges.begin(), was.edges.end());
      for (const Edge& edge : drawn.edges) QVERIFY(old.contains(edge) || wired.contains(edge));
      const std::set<Edge> fresh(drawn.edges.begin(), drawn.edges.end());
      for (const Edge& edge : old) QVERIFY(fresh.contains(edge) || unwired.contains(edge));
      ++compared;
    }
    before = now;
  });
  for (int done = 0; done < 900; ++done) edits.step();
  while (document.undoStack().canUndo()) document.undoStack().undo();
  QVERIFY2(compared > 200, qPrintable(QString::number(compared)));
  document.discardRecovery();
}

// Two changes of elements where they stand, made one: it does what both did, there and back, and names each element
// once.
void RandomEditsTest::stepsOfOneListMakeOne() {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> start(40);
    for (int& each : start) each = static_cast<int>(random() % 100);
    std::vector<int> now = start;
    const unsigned often = 1 + random() % 8;
    const auto change = [&] {
      ListStep<int> step;
      for (std::size_t i = 0; i < now.size(); ++i) {
        if (random() % often != 0) continue;
        step.at.push_back(i);
        step.before.push_back(now[i]);
        step.after.push_back(now[i] = static_cast<int>(random() % 100));
      }
      return step;
    };
    ListStep<int> merged = change();
    mergeChanged(merged, change());
    QVERIFY(std::is_sorted(merged.at.begin(), merged.at.end()) &&
            std::adjacent_find(merged.at.begin(), merged.at.end()) == merged.at.end());
    std::vector<int> done = start;
    apply(merged, done, true);
    QCOMPARE(done, now);
    apply(merged, done, false);
    QCOMPARE(done, start);
  }
}

}  // namespace loom

QTEST_GUILESS_MAIN(loom::RandomEditsTest)
#include "random_edits_test.moc"

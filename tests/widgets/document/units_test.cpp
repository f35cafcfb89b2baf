// Units, groups and comments as edits of the document. What a drawing means is asked of the flat network: it must not
// change where only its form does.
#include <QTest>
#include <random>

#include "engine/network/flatten.h"
#include "tests/widgets/document/drawings.h"
#include "tests/widgets/document/unit_drawings.h"
#include "widgets/document/argument_text.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/expression_names.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/project_document.h"
#include "widgets/document/unit_edits.h"

namespace loom {

class UnitsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void init() { m_document = std::make_unique<ProjectDocument>(); }
  void cleanup() {
    m_document->discardRecovery();
    m_document.reset();
  }

  void aUnitMeansWhatItsNodesMeant_data();
  void aUnitMeansWhatItsNodesMeant();
  void argumentsFollowWhatIsTakenFromAround();
  void whatCannotBeAUnitSaysWhy();
  void dissolvingPutsValuesInPlace();
  void aRepeatedUseBecomesARepeatedGroup();
  void argumentsAreRenamedAndRemovedWithTheirUses();
  void unitsAreRenamedAndKeptWhileUsed();
  void groupsNestFoldAndGo();
  void foldingBringsBackWhatItTook();
  void aRepeatNeedsOneWayInAndOut();
  void commentsMoveWithPlaces();
  void namesInExpressions();
  void valuesAsTyped();
  void anyOrderOfEditsIsTakenBackExactly_data();
  void anyOrderOfEditsIsTakenBackExactly();

 private:
  void open(const char* text) { QVERIFY(m_document->openText(text, "units")); }
  Analysis flat() const { return analyse(flatten(m_document->project(), "main").network); }
  const Network& main() const { return *m_document->drawing("main"); }
  std::unique_ptr<ProjectDocument> m_document;
};

void UnitsTest::aUnitMeansWhatItsNodesMeant_data() {
  QTest::addColumn<QStringList>("ids");
  QTest::newRow("chain") << QStringList{"conv", "relu", "pool"};
  QTest::newRow("one") << QStringList{"conv"};
  QTest::newRow("the end, with its loss") << QStringList{"fc", "loss"};
  QTest::newRow("all, the inputs stay") << QStringList{"x", "conv", "relu", "pool", "fc", "loss", "y"};
}

void UnitsTest::aUnitMeansWhatItsNodesMeant() {
  QFETCH(QStringList, ids);
  open(drawings::kSmall);
  std::vector<std::string> nodes;
  for (const QString& id : ids) nodes.push_back(id.toStdString());
  const std::string before = m_document->text();
  const Analysis was = flat();
  const std::string use = m_document->makeUnit("main", nodes, "Block");
  QCOMPARE(use, std::string("block"));
  QCOMPARE(m_document->undoStack().count(), 1);
  Analysis now = flat();
  QVERIFY(now.sound());
  QCOMPARE(now.parameters, was.parameters);
  QCOMPARE(now.multiplyAdds, was.multiplyAdds);
  const std::string made = m_document->text();
  std::vector<std::string> came;
  QVERIFY(m_document->dissolveUnit("main", use, &came));
  now = flat();
  QCOMPARE(now.parameters, was.parameters);
  QCOMPARE(now.multiplyAdds, was.multiplyAdds);
  QVERIFY(now.sound());
  // The same ids, the same wires.
  std::set<Edge> wires(main().edges.begin(), main().edges.end()), old;
  m_document->undoStack().undo();
  QCOMPARE(m_document->text(), made);
  m_document->undoStack().undo();
  QCOMPARE(m_document->text(), before);
  old.insert(main().edges.begin(), main().edges.end());
  QVERIFY(wires == old);
}

void UnitsTest::argumentsFollowWhatIsTakenFromAround() {
  open(drawings::kUnits);
  const Analysis was = flat();
  QVERIFY(was.sound());
  const std::string use = m_document->makeUnit("ResidualDown", {"conv_a", "bn_a", "relu_a"}, "Front");
  const Network* front = m_document->project().unit("Front");
  QVERIFY(front != nullptr);
  QCOMPARE(front->arguments.size(), std::size_t(2));
  QVERIFY(front->argument("channels") != nullptr && front->argument("stride") != nullptr);
  const Node* node = m_document->drawing("ResidualDown")->find(use);
  QCOMPARE(node->values["channels"], Json("=channels"));
  const Analysis now = flat();
  QVERIFY(now.sound());
  QCOMPARE(now.parameters, was.parameters);
  QCOMPARE(now.multiplyAdds, was.multiplyAdds);
}

void UnitsTest::whatCannotBeAUnitSaysWhy() {
  open(drawings::kUnits);
  QVERIFY(m_document->mayMakeUnit("ResidualDown", {"conv_a", "relu_a"}).reason.contains("bn_a"));
  QVERIFY(!m_document->mayMakeUnit("main", {"x"}));
  QVERIFY(!m_document->mayMakeUnit("main", {}));
  QVERIFY(m_document->makeUnit("main", {"conv1"}, "Residual").empty());
  QVERIFY(m_document->makeUnit("main", {"conv1"}, "Convolution").empty());
  QVERIFY(m_document->makeUnit("main", {"conv1"}, "1x").empty());
  QCOMPARE(m_document->undoStack().count(), 0);
}

void UnitsTest::dissolvingPutsValuesInPlace() {
  open(drawings::kUnits);
  const Analysis was = flat();
  QVERIFY(m_document->dissolveUnit("main", "down3"));
  const Node* conv = main().find("conv_a");
  QVERIFY(conv != nullptr);
  QCOMPARE(conv->values["channels"], Json(64));
  QCOMPARE(conv->values["stride"], Json(2));
  QVERIFY(main().find("down3") == nullptr);
  const Analysis now = flat();
  QVERIFY(now.sound());
  QCOMPARE(now.parameters, was.parameters);
  QCOMPARE(now.multiplyAdds, was.multiplyAdds);
  // A second one of the same unit gets names of its own.
  QVERIFY(m_document->dissolveUnit("main", "down2"));
  QVERIFY(main().find("down2_conv_a") != nullptr);
  QCOMPARE(flat().parameters, was.parameters);
  for (const Node& a : main().nodes)
    for (const Node& b : main().nodes)
      if (&a != &b)
        QVERIFY2(!cardRect(a).intersects(cardRect(b)), qPrintable(QString::fromStdString(a.id + " covers " + b.id)));
}

void UnitsTest::aRepeatedUseBecomesARepeatedGroup() {
  open(drawings::kUnits);
  const Analysis was = flat();
  QVERIFY(m_document->dissolveUnit("main", "stage1"));
  QCOMPARE(main().groups.size(), std::size_t(1));
  QCOMPARE(main().groups.front().repeat, Json(3));
  QCOMPARE(main().find("conv_a")->group, main().groups.front().id);
  const Analysis now = flat();
  QVERIFY2(now.sound(), now.problems.empty() ? "" : now.problems.front().message.c_str());
  QCOMPARE(now.parameters, was.parameters);
}

void UnitsTest::argumentsAreRenamedAndRemovedWithTheirUses() {
  open(drawings::kUnits);
  const Analysis was = flat();
  const std::string before = m_document->text();
  Argument argument = *m_document->project().unit("Residual")->argument("channels");
  argument.name = "width";
  QVERIFY(m_document->setArgument("Residual", "channels", argument));
  QCOMPARE(main().find("stage2")->values["width"], Json(32));
  QCOMPARE(m_document->drawing("Residual")->find("conv_b")->values["channels"], Json("=width"));
  QCOMPARE(main().find("down3")->values["channels"], Json(64));  // another unit's
  QCOMPARE(flat().parameters, was.parameters);
  m_document->undoStack().undo();
  QCOMPARE(m_document->text(), before);
  QVERIFY(m_document->removeArgument("ResidualDown", "stride"));
  QCOMPARE(m_document->drawing("ResidualDown")->find("conv_s")->values["stride"], Json(2));
  QCOMPARE(flat().parameters, was.parameters);
  QVERIFY(m_document->addArgument("ResidualDown", {.name = "momentum", .defaultValue = 0.9}));
  QVERIFY(!m_document->addArgument("ResidualDown", {.name = "momentum", .defaultValue = 0.9}));
  QVERIFY(!m_document->addArgument("ResidualDown", {.name = "repeat", .defaultValue = 1}));
  QVERIFY(!m_document->addArgument("ResidualDown", {.name = "2nd", .defaultValue = 1}));
}

void UnitsTest::unitsAreRenamedAndKeptWhileUsed() {
  open(drawings::kUnits);
  QVERIFY(m_document->renameNetwork("Residual", "Block"));
  QCOMPARE(main().find("stage1")->unit, std::string("Block"));
  QVERIFY(flat().sound());
  QVERIFY(m_document->removeNetwork("Block").reason.contains("stage1"));
  QVERIFY(!m_document->renameNetwork("Block", "main"));
  const std::string unused = m_document->addUnit("Spare");
  QVERIFY(m_document->removeNetwork(unused));
  QVERIFY(m_document->project().unit(unused) == nullptr);
}

void UnitsTest::groupsNestFoldAndGo() {
  open(drawings::kSmall);
  const std::string before = m_document->text();
  const std::string inner = m_document->makeGroup("main", {"relu", "pool"}, "Inner");
  const std::string outer = m_document->makeGroup("main", {"conv", "relu", "pool"}, "Outer");
  QCOMPARE(main().group(inner)->parent, outer);
  QCOMPARE(main().find("relu")->group, inner);
  QCOMPARE(main().find("conv")->group, outer);
  QVERIFY(groupFrame(main(), outer).contains(groupFrame(main(), inner)));
  QCOMPARE(hiddenIn(main(), *main().find("relu")), std::string());
  m_document->setFolded("main", outer, true);
  QCOMPARE(hiddenIn(main(), *main().find("relu")), outer);
  m_document->dissolveGroups("main", {outer});
  QCOMPARE(main().group(inner)->parent, std::string());
  QCOMPARE(main().find("conv")->group, std::string());
  m_document->moveToGroup("main", {"conv"}, inner);
  QCOMPARE(main().find("conv")->group, inner);
  m_document->moveToGroup("main", {"conv", "relu", "pool"}, {});
  QVERIFY(main().groups.empty());  // nothing is left in it
  while (m_document->undoStack().canUndo()) m_document->undoStack().undo();
  QCOMPARE(m_document->text(), before);
}

void UnitsTest::foldingBringsBackWhatItTook() {
  open(drawings::kSmall);
  const std::string group = m_document->makeGroup("main", {"conv", "relu", "pool"}, "Front");
  const std::string opened = m_document->text();
  const double fc = main().find("fc")->y;
  // Room for the head and the foot: no card lies in the frame but its own.
  for (const Node& node : main().nodes)
    if (node.group.empty()) QVERIFY2(!cardRect(node).intersects(groupFrame(main(), group)), node.id.c_str());
  m_document->setFolded("main", group, true);
  QCOMPARE(main().find("fc")->y, fc - 120);  // three rows became one: what stood below came nearer by two
  m_document->setFolded("main", group, false);
  QCOMPARE(m_document->text(), opened);
}

void UnitsTest::aRepeatNeedsOneWayInAndOut() {
  open(drawings::kUnits);
  QVERIFY(m_document->mayRepeat("main", {"bn1", "relu1"}));
  QVERIFY(!m_document->mayRepeat("main", {"x", "conv1"}));
  QVERIFY(!m_document->mayRepeat("main", {"fc", "loss"}));
  QVERIFY(m_document->mayRepeat("ResidualDown", {"conv_a", "relu_a"}).reason.contains("bn_a"));
  const std::int64_t before = flat().parameters;
  const std::string group = m_document->makeGroup("main", {"bn1", "relu1"}, "Twice", 2);
  QCOMPARE(main().group(group)->repeat, Json(2));
  const Analysis now = flat();
  QVERIFY(now.sound());
  QVERIFY(now.parameters > before);
}

void UnitsTest::commentsMoveWithPlaces() {
  open(drawings::kSmall);
  const std::string id = m_document->addComment("main", {.text = "Why", .x = 300, .y = 60});
  m_document->moveNodes("main", {{id, {360, 120}}, {"conv", {12, 60}}});
  QCOMPARE(main().comment(id)->x, 360.0);
  QCOMPARE(main().find("conv")->x, 12.0);
  m_document->undoStack().undo();
  QCOMPARE(main().comment(id)->x, 300.0);
  m_document->removeThings("main", {"conv"}, {id}, true);
  QVERIFY(main().comments.empty() && main().find("conv") == nullptr);
  m_document->undoStack().undo();
  QVERIFY(main().comment(id) != nullptr && main().find("conv") != nullptr);
}

void UnitsTest::namesInExpressions() {
  Json value = "=channels*4 + Input[0] - max(channels, 2e3)/channels_b";
  QCOMPARE(namesUsed(value), (std::set<std::string>{"channels", "channels_b"}));
  renameIn(value, "channels", "width");
  QCOMPARE(value, Json("=width*4 + Input[0] - max(width, 2e3)/channels_b"));
  substituteIn(value, {{"width", "=a+b"}, {"channels_b", 3}});
  QCOMPARE(value, Json("=(a+b)*4 + Input[0] - max((a+b), 2e3)/3"));
  Json whole = Json::array({"=width", 28});
  substituteIn(whole, {{"width", 7}});
  QCOMPARE(whole, Json::array({7, 28}));
}

void UnitsTest::valuesAsTyped() {
  const std::set<std::string> names{"channels"};
  QCOMPARE(readArgument("32", names), Json(32));
  QCOMPARE(readArgument("0.5", names), Json(0.5));
  QCOMPARE(readArgument("on", names), Json(true));
  QCOMPARE(readArgument("3×5", names), Json::array({3, 5}));
  QCOMPARE(readArgument("channels*2", names), Json("=channels*2"));
  QCOMPARE(readArgument("=i+1", names), Json("=i+1"));
  QCOMPARE(readArgument("2*16", names), Json("=2*16"));
  QCOMPARE(readArgument("same", names), Json("same"));
  QCOMPARE(readArgument("  ", names), Json());
  for (const Json& value : {Json(32), Json(0.5), Json(true), Json::array({3, 5}), Json("=channels*2"), Json("same")})
    QCOMPARE(readArgument(argumentText(value), names), value);
}

void UnitsTest::anyOrderOfEditsIsTakenBackExactly_data() {
  QTest::addColumn<unsigned>("seed");
  for (unsigned seed = 1; seed <= 6; ++seed) QTest::addRow("seed %u", seed) << seed;
}

// 200 edits of any kind: undo gives the first file byte for byte, redo the last; and no edit loses the network's
// weights by itself.
void UnitsTest::anyOrderOfEditsIsTakenBackExactly() {
  QFETCH(unsigned, seed);
  open(drawings::kUnits);
  const std::string first = m_document->text();
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t count) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(1, count));
  };
  for (int step = 0; step < 200; ++step) {
    const Project& project = m_document->project();
    std::vector<std::string> drawings;
    for (const Network& network : project.networks) drawings.push_back(network.name);
    for (const Network& unit : project.units) drawings.push_back(unit.name);
    const std::string name = drawings[pick(drawings.size())];
    const Network& drawing = *project.drawing(name);
    if (drawing.nodes.empty()) continue;
    const std::string node = drawing.nodes[pick(drawing.nodes.size())].id;
    std::vector<std::string> some{node};
    for (std::size_t i = pick(4); i > 0; --i) some.push_back(drawing.nodes[pick(drawing.nodes.size())].id);
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
    const std::string group = drawing.groups.empty() ? std::string() : drawing.groups[pick(drawing.groups.size())].id;
    const std::string comment =
        drawing.comments.empty() ? std::string() : drawing.comments[pick(drawing.comments.size())].id;
    switch (pick(18)) {
      case 0:
        m_document->makeUnit(name, some, freeDrawingName(project, "Made"));
        break;
      case 1:
        m_document->dissolveUnit(name, node);
        break;
      case 2:
        m_document->makeGroup(name, some, "G" + std::to_string(step));
        break;
      case 3:
        if (m_document->mayRepeat(name, some)) m_document->makeGroup(name, some, "R", 2);
        break;
      case 4:
        if (!group.empty()) m_document->dissolveGroups(name, {group});
        break;
      case 5:
        if (!group.empty()) m_document->setFolded(name, group, !drawing.group(group)->folded);
        break;
      case 6:
        m_document->addComment(name,
                               {.text = "c" + std::to_string(step), .x = double(pick(500)), .y = double(pick(500))});
        break;
      case 7:
        if (!comment.empty()) m_document->removeThings(name, {}, {comment}, false);
        break;
      case 8:
        m_document->moveNodes(name, {{node, QPointF(12.0 * double(pick(60)), 12.0 * double(pick(60)))}});
        break;
      case 9:
        m_document->removeNodes(name, {node}, pick(2) == 0);
        break;
      case 10:
        m_document->addNode({.network = name, .layer = "ReLU", .after = node});
        break;
      case 11:
        m_document->renameNode(name, node, node + "_r");
        break;
      case 12:
        m_document->moveToGroup(name, some, group);
        break;
      case 13:
        if (!drawing.find(node)->unit.empty()) m_document->setRepeat(name, node, int(pick(4)) + 1);
        break;
      case 14:
        if (!drawing.arguments.empty()) {
          Argument argument = drawing.arguments[pick(drawing.arguments.size())];
          const std::string old = argument.name;
          argument.name += "_n";
          m_document->setArgument(name, old, argument);
        }
        break;
      case 15:
        m_document->duplicateNodes(name, some);
        break;
      case 16:
        m_document->renameNetwork(name, freeDrawingName(project, "Named"));
        break;
      case 17:
        m_document->setAllFolded(name, pick(2) == 0);
        break;
    }
    (void)m_document->problems();  // nothing that can be drawn brings the analysis down
  }
  const std::string last = m_document->text();
  QVERIFY(m_document->undoStack().count() > 60);
  while (m_document->undoStack().canUndo()) m_document->undoStack().undo();
  QCOMPARE(m_document->text(), first);
  while (m_document->undoStack().canRedo()) m_document->undoStack().redo();
  QCOMPARE(m_document->text(), last);
}

}  // namespace loom

QTEST_GUILESS_MAIN(loom::UnitsTest)
#include "units_test.moc"

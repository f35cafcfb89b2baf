#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "engine/base/files.h"
#include "tests/patience.h"
#include "tests/widgets/document/drawings.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/project_document.h"

namespace loom {

namespace {

Edge wire(const std::string& from, const std::string& to, const std::string& port = "input") {
  return {{from, "output"}, {to, port}};
}

bool has(const ProjectDocument& document, const Edge& edge) {
  const auto& edges = document.network("main")->edges;
  return std::find(edges.begin(), edges.end(), edge) != edges.end();
}

}  // namespace

class DocumentTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void init() {
    m_document = std::make_unique<ProjectDocument>();
    QVERIFY(m_document->openText(drawings::kSmall, "small"));
  }
  void cleanup() {
    m_document->discardRecovery();
    m_document.reset();
  }

  void everyEditIsOneStepAndComesBackExactly();
  void aNodeGoesAfterAnother();
  void aLossIsHungOnNotPutBetween();
  void aNodeGoesIntoAWire();
  void removingHeals();
  void removingAnOwnerPassesItsWeightsOn();
  void everyRefusedWireSaysWhy_data();
  void everyRefusedWireSaysWhy();
  void aFullInputTakesTheNewWire();
  void renamingIsFollowed();
  void badNamesAreRefused();
  void typingMergesIntoOneStep();
  void aDefaultIsNotWritten();
  void copiesGetNewNames();
  void copiesTravelBetweenNetworks();
  void changesNameTheirIds();
  void analysisFollowsAtOnce();
  void settingsGoByPath();
  void remediesMend();
  void everyRemedyMendsItsFault_data();
  void everyRemedyMendsItsFault();
  void sentencesNameFieldsByTheirLabels();
  void healingClosesTheGap();
  void whatIsPutInAndHealedStandsAsItStood();
  void aNodePutIntoAWireCoversNothing();
  void whatStandsBesideComesBackWithTheStep();
  void networksAreRenamedWithWhatNamesThem();
  void aLargeDrawingIsArrangedBesideTheWindow();
  void unitsGroupsAndCommentsComeBackExactly();

 private:
  ProjectDocument& document() { return *m_document; }
  std::unique_ptr<ProjectDocument> m_document;
};

void DocumentTest::everyEditIsOneStepAndComesBackExactly() {
  ProjectDocument& d = document();
  std::string linear;
  const std::vector<std::function<void()>> edits{
      [&] { d.addNode({.layer = "Dropout", .after = "fc"}); },
      [&] {
        linear = d.addNode({.layer = "Dense", .at = {500, 0}});
      },
      [&] {
        d.addNode({.layer = "BatchNormalization", .at = {0, 90}, .into = wire("conv", "relu")});
      },
      [&] { d.setField("main", "conv", "channels", 7); },
      [&] {
        d.setField("main", "conv", "kernel", Json::array({5, 5}));
      },
      [&] { d.resetField("main", "conv", "channels"); },
      [&] { d.renameNode("main", "conv", "first"); },
      [&] { d.addWire("main", wire("x", linear)); },
      [&] { d.removeWires("main", {wire("x", linear)}); },
      [&] {
        d.moveNodes("main", {{"y", {600, 600}}});
      },
      [&] {
        d.duplicateNodes("main", {"first", "relu"});
      },
      [&] { d.removeNodes("main", {"pool"}, true); },
      [&] { d.removeNodes("main", {"relu"}, false); },
      [&] { d.arrange("main"); },
      [&] { d.addNetwork("second"); },
      [&] {
        d.pasteNodes("second", d.copyNodes("main", {"fc", "loss"}), {0, 0});
      },
      [&] { d.renameNetwork("main", "classifier"); },
      [&] { d.setSetting("epochs", 3); },
      [&] {
        d.setOptimizer(0, {{"name", "Adam"}, {"learning_rate", 0.01}});
      },
      [&] {
        d.setSchedule(0, {{"name", "Cosine"}});
      },
      [&] {
        d.setWarmup(0, {{"epochs", 1}});
      },
      [&] { d.addDataset({.name = "validation", .csv = "test.csv"}); },
      [&] { d.setValidation("validation"); },
      [&] {
        d.setPrepare("training", {Json{{"step", "Scale"}}});
      },
      [&] { d.removeDataset("validation"); },
      [&] { d.setNotes("a note"); },
      [&] { d.removeNetwork("second"); }};
  std::vector<std::string> texts{d.text()};
  for (std::size_t i = 0; i < edits.size(); ++i) {
    edits[i]();
    QVERIFY2(d.undoStack().index() == static_cast<int>(i) + 1,
             qPrintable(QStringLiteral("edit %1 made %2 steps").arg(i).arg(d.undoStack().index())));
    QVERIFY(!d.undoStack().undoText().isEmpty());
    texts.push_back(d.text());
    QVERIFY2(texts[i] != texts[i + 1], qPrintable(QStringLiteral("edit %1 changed nothing").arg(i)));
  }
  for (std::size_t i = edits.size(); i > 0; --i) {
    d.undoStack().undo();
    QCOMPARE(QString::fromStdString(d.text()), QString::fromStdString(texts[i - 1]));
  }
  QVERIFY(!d.isModified());
  for (std::size_t i = 1; i <= edits.size(); ++i) {
    d.undoStack().redo();
    QCOMPARE(QString::fromStdString(d.text()), QString::fromStdString(texts[i]));
  }
}

void DocumentTest::aNodeGoesAfterAnother() {
  const std::string id = document().addNode({.layer = "BatchNormalization", .after = "conv"});
  QVERIFY(has(document(), wire("conv", id)));
  QVERIFY(has(document(), wire(id, "relu")));
  QVERIFY(!has(document(), wire("conv", "relu")));
  // What follows made room, and y, which would be covered by nothing, stayed.
  QCOMPARE(document().network("main")->find(id)->y, 120.0);
  QCOMPARE(document().network("main")->find("relu")->y, 180.0);
  QCOMPARE(document().undoStack().undoText(), QStringLiteral("Add ") + QString::fromStdString(id));
}

void DocumentTest::aLossIsHungOnNotPutBetween() {
  const std::string id = document().addNode({.layer = "Accuracy", .after = "fc"});
  QVERIFY(has(document(), wire("fc", id)));
  QVERIFY(has(document(), wire("fc", "loss")));
}

void DocumentTest::aNodeGoesIntoAWire() {
  const std::string id = document().addNode({.layer = "Dropout", .at = {3, 150}, .into = wire("relu", "pool")});
  QVERIFY(has(document(), wire("relu", id)));
  QVERIFY(has(document(), wire(id, "pool")));
  const Network& network = *document().network("main");
  QVERIFY(network.find("pool")->y >= network.find(id)->y + 60);
}

void DocumentTest::removingHeals() {
  document().removeNodes("main", {"relu", "pool"}, true);
  QVERIFY(has(document(), wire("conv", "fc")));
  QCOMPARE(document().network("main")->edges.size(), std::size_t{4});
  document().undoStack().undo();
  document().removeNodes("main", {"relu", "pool"}, false);
  QVERIFY(!has(document(), wire("conv", "fc")));
  QCOMPARE(document().network("main")->edges.size(), std::size_t{3});
}

void DocumentTest::removingAnOwnerPassesItsWeightsOn() {
  const std::string second = document().addNode({.layer = "Convolution", .at = {600, 0}});
  const std::string third = document().addNode({.layer = "Convolution", .at = {600, 100}});
  QVERIFY(document().setShares("main", second, "conv"));
  QVERIFY(document().setShares("main", third, "conv"));
  document().removeNodes("main", {"conv"}, true);
  QCOMPARE(document().network("main")->find(second)->shares, std::string());
  QCOMPARE(document().network("main")->find(third)->shares, second);
}

void DocumentTest::everyRefusedWireSaysWhy_data() {
  QTest::addColumn<QString>("from");
  QTest::addColumn<QString>("to");
  QTest::addColumn<QString>("port");
  QTest::addColumn<QString>("word");
  QTest::newRow("itself") << "conv"
                          << "conv"
                          << "input"
                          << "cannot read its own output";
  QTest::newRow("twice") << "conv"
                         << "relu"
                         << "input"
                         << "reads conv already";
  QTest::newRow("loop") << "fc"
                        << "conv"
                        << "input"
                        << "conv → relu → pool → fc → conv";
  QTest::newRow("an input takes none") << "conv"
                                       << "x"
                                       << "input"
                                       << "x takes no input";
  QTest::newRow("no such port") << "conv"
                                << "loss"
                                << "scores"
                                << "no input 'scores'";
  QTest::newRow("no such node") << "conv"
                                << "nobody"
                                << "input"
                                << "nobody is not in this network";
}

void DocumentTest::everyRefusedWireSaysWhy() {
  QFETCH(QString, from);
  QFETCH(QString, to);
  QFETCH(QString, port);
  QFETCH(QString, word);
  const std::string before = document().text();
  const Outcome outcome = document().addWire("main", wire(from.toStdString(), to.toStdString(), port.toStdString()));
  QVERIFY(!outcome);
  QVERIFY2(outcome.reason.contains(word), qPrintable(outcome.reason));
  QCOMPARE(document().text(), before);
  QCOMPARE(document().undoStack().count(), 0);
}

void DocumentTest::aFullInputTakesTheNewWire() {
  QVERIFY(document().addWire("main", wire("conv", "pool")));
  QVERIFY(has(document(), wire("conv", "pool")));
  QVERIFY(!has(document(), wire("relu", "pool")));
  // One that takes several keeps all, in order.
  const std::string add = document().addNode({.layer = "Add", .at = {600, 0}});
  QVERIFY(document().addWire("main", wire("relu", add)));
  QVERIFY(document().addWire("main", wire("conv", add)));
  QVERIFY(has(document(), wire("relu", add)) && has(document(), wire("conv", add)));
}

void DocumentTest::renamingIsFollowed() {
  const std::string second = document().addNode({.layer = "Convolution", .at = {600, 0}});
  document().setShares("main", second, "conv");
  UpdateSpec update = document().project().training.updates.front();
  update.parameters = {"conv.*", "conv2.weight", "*"};
  document().setUpdate(0, update);
  QVERIFY(document().renameNode("main", "conv", "stem"));
  QVERIFY(has(document(), wire("x", "stem")) && has(document(), wire("stem", "relu")));
  QCOMPARE(document().network("main")->find(second)->shares, std::string("stem"));
  const std::vector<std::string> expected{"stem.*", "conv2.weight", "*"};
  QCOMPARE(document().project().training.updates.front().parameters, expected);
}

void DocumentTest::badNamesAreRefused() {
  for (const char* bad : {"", "1st", "a b", "relu", "größe"}) {
    const Outcome outcome = document().renameNode("main", "conv", bad);
    QVERIFY2(!outcome, bad);
  }
  QCOMPARE(document().undoStack().count(), 0);
}

void DocumentTest::typingMergesIntoOneStep() {
  for (const int channels : {1, 12, 128}) document().setField("main", "conv", "channels", channels);
  QCOMPARE(document().undoStack().count(), 1);
  document().setField("main", "fc", "outputs", 11);
  QCOMPARE(document().undoStack().count(), 2);
  document().undoStack().undo();
  document().undoStack().undo();
  QVERIFY(document().network("main")->find("conv")->values["channels"] == Json(4));
  // Back to where it was: no step at all is left.
  document().setField("main", "conv", "channels", 9);
  document().setField("main", "conv", "channels", 4);
  QCOMPARE(document().undoStack().index(), 0);
  // A drag is one step too.
  for (int i = 1; i < 9; ++i) document().moveNodes("main", {{"y", {264.0 + 12 * i, 240}}}, 7);
  QCOMPARE(document().undoStack().index(), 1);
}

void DocumentTest::aDefaultIsNotWritten() {
  document().setField("main", "conv", "channels", 16);
  QVERIFY(!document().network("main")->find("conv")->values.contains("channels"));
  document().setField("main", "conv", "groups", nullptr);
  QVERIFY(!document().network("main")->find("conv")->values.contains("groups"));
}

void DocumentTest::copiesGetNewNames() {
  const auto made = document().duplicateNodes("main", {"conv", "relu"});
  QCOMPARE(made.size(), std::size_t{2});
  QCOMPARE(made[0], std::string("conv2"));
  QCOMPARE(made[1], std::string("relu2"));
  QVERIFY(has(document(), wire("conv2", "relu2")));
  QVERIFY(!has(document(), wire("x", "conv2")));
  const auto again = document().duplicateNodes("main", {"conv2"});
  QCOMPARE(again.front(), std::string("conv3"));
  QVERIFY(document().pasteNodes("main", "some other text", {}).empty());
  QVERIFY(document().pasteNodes("main", "{\"gradloom\": \"nodes\", \"nodes\": 3}", {}).empty());
}

void DocumentTest::copiesTravelBetweenNetworks() {
  document().addNetwork("second");
  const std::string copied = document().copyNodes("main", {"x", "conv", "relu"});
  const auto made = document().pasteNodes("second", copied, {100, 100});
  QCOMPARE(made.size(), std::size_t{3});
  const Network& second = *document().network("second");
  QCOMPARE(second.edges.size(), std::size_t{2});
  QVERIFY(second.find("conv")->values["channels"] == Json(4));
}

void DocumentTest::changesNameTheirIds() {
  QSignalSpy spy(&document(), &ProjectDocument::changed);
  document().setField("main", "conv", "channels", 5);
  auto change = spy.takeFirst().front().value<ProjectChange>();
  QCOMPARE(change.networks.size(), std::size_t{1});
  QCOMPARE(change.networks[0].changed, std::vector<std::string>{"conv"});
  QVERIFY(!change.training && !change.datasets && change.networks[0].added.empty());
  document().moveNodes("main", {{"y", {300, 300}}});
  change = spy.takeFirst().front().value<ProjectChange>();
  QCOMPARE(change.networks[0].moved, std::vector<std::string>{"y"});
  QVERIFY(!change.networks[0].structure());
  document().setSetting("epochs", 2);
  change = spy.takeFirst().front().value<ProjectChange>();
  QVERIFY(change.training && change.networks.empty());
}

void DocumentTest::analysisFollowsAtOnce() {
  QCOMPARE(document().analysis("main").nodes.at("conv").outputs.front(), (Shape{4, 8, 8}));
  document().setField("main", "conv", "channels", 6);
  QCOMPARE(document().analysis("main").nodes.at("conv").outputs.front(), (Shape{6, 8, 8}));
  QSignalSpy spy(&document(), &ProjectDocument::analysisChanged);
  for (int i = 0; i < 5; ++i) document().setField("main", "conv", "channels", 20 + i);
  QTRY_COMPARE(spy.count(), 1);
}

void DocumentTest::settingsGoByPath() {
  QVERIFY(document().setPath("training.batch", 96));
  QVERIFY(document().project().training.settings["batch"] == Json(96));
  QVERIFY(document().setPath("training.optimizer.learning_rate", 0.25));
  QVERIFY(document().project().training.updates[0].optimizer["learning_rate"] == Json(0.25));
  QVERIFY(document().setPath("datasets.training.csv", "other.csv"));
  // In memory a path is absolute, so that it means the same file wherever the project is saved.
  QVERIFY(std::filesystem::path(document().project().dataset("training")->csv).is_absolute());
  QCOMPARE(std::filesystem::path(document().project().dataset("training")->csv).filename().string(),
           std::string("other.csv"));
  QVERIFY(!document().setPath("datasets.nobody.csv", "other.csv"));
  QVERIFY(!document().setPath("elsewhere", 1));
}

void DocumentTest::remediesMend() {
  QVERIFY(document().openText(R"({"loom": 1, "networks": {"main": {"nodes": [
      {"id": "x", "layer": "Input", "shape": [1, 8, 8]}, {"id": "conv", "layer": "Convolutoin"}], "edges": [["x", "conv"]]}}})",
                              "typo"));
  const auto unknown =
      std::find_if(document().problems().begin(), document().problems().end(),
                   [](const Problem& problem) { return problem.remedy.kind == Remedy::Kind::renameLayer; });
  QVERIFY(unknown != document().problems().end());
  QVERIFY(document().applyRemedy(Problem(*unknown)));
  QCOMPARE(document().network("main")->find("conv")->layer, std::string("Convolution"));
}

// A small project with one thing wrong, and the button that must mend it: as a person presses it.
// clang-format off
void DocumentTest::everyRemedyMendsItsFault_data() {
  QTest::addColumn<QString>("nodes");
  QTest::addColumn<QString>("edges");
  QTest::addColumn<QString>("rest");
  QTest::addColumn<QString>("button");
  const QString input = R"({"id": "x", "layer": "Input", "shape": [10]})", label = R"({"id": "y", "layer": "Input", "shape": [1], "type": "label"})",
                loss = R"({"id": "loss", "layer": "SoftmaxCrossEntropy"})", fc = R"({"id": "fc", "layer": "Linear", "outputs": 10})";
  const QString classifier = input + ", " + fc + ", " + label + ", " + loss, wires = R"(["x", "fc"], ["fc", "loss"], ["y", "loss.target"])";
  const QString data = R"("datasets": {"training": {"csv": "t.csv"}})";
  const auto drawing = [&](const char* name, const QString& nodes, const QString& edges, const char* button) { QTest::newRow(name) << nodes << edges << data << QString(button); };
  drawing("type of an Input elsewhere", input + R"(, {"id": "x2", "layer": "Input", "shape": [1]}, )" + loss, R"(["x", "loss"], ["x2", "loss.target"])", "Set type of x2 to label");
  drawing("stride of another layer", R"({"id": "x", "layer": "Input", "shape": [4, 8, 8]}, {"id": "a", "layer": "Convolution", "channels": 4, "stride": 2},
          {"id": "b", "layer": "Convolution", "channels": 4}, {"id": "add", "layer": "Add"}, {"id": "t", "layer": "Input", "shape": [4, 4, 4]}, {"id": "loss", "layer": "MeanSquaredError"})",
          R"(["x", "a"], ["x", "b"], ["a", "add"], ["b", "add"], ["add", "loss"], ["t", "loss.target"])", "Set stride of b to 2");
  drawing("shape of a target", input + R"(, {"id": "y", "layer": "Input", "shape": [10], "type": "label"}, )" + fc + ", " + loss, wires, "Set shape of y to 1");
  drawing("a wire that is missing", classifier, R"(["x", "fc"], ["fc", "loss"])", "Wire y to loss.target");
  drawing("a target that is missing", input + ", " + fc + ", " + loss, R"(["x", "fc"], ["fc", "loss"])", "Add label Input");
  drawing("no loss", input + ", " + fc, R"(["x", "fc"])", "Add SoftmaxCrossEntropy");
  drawing("an empty network", "", "", "Begin with a small classifier");
  drawing("a slip in a layer", input + R"(, {"id": "fc", "layer": "Linaer", "outputs": 10}, )" + label + ", " + loss, wires, "Make it Linear");
  drawing("a text for a number", input + R"(, {"id": "fc", "layer": "Linear", "outputs": "10"}, )" + label + ", " + loss, wires, "Set outputs to 10");
  drawing("an unknown field", input + R"(, {"id": "fc", "layer": "Linear", "outputs": 10, "bais": true}, )" + label + ", " + loss, wires, "Remove bais");
  drawing("a wire to nowhere", classifier, wires + R"(, ["fc", "gone"])", "Remove the wire");
  drawing("values where labels are wanted", classifier, R"(["x", "fc"], ["fc", "loss"], ["fc", "loss.target"])", "Remove the wire");
  drawing("a softmax twice", input + R"(, {"id": "fc", "layer": "Sigmoid"}, {"id": "y", "layer": "Input", "shape": [10]}, {"id": "loss", "layer": "BinaryCrossEntropy"})", wires, "Set from to probabilities");
  const auto settings = [&](const char* name, const QString& rest, const char* button) { QTest::newRow(name) << classifier << wires << rest << QString(button); };
  settings("a setting out of range", data + R"(, "training": {"batch": 0})", "Set batch to 1");
  settings("a field of the optimizer", data + R"(, "training": {"optimizer": {"name": "Adam", "learning_rate": -1}})", "Set learning rate to 0");
  settings("an unknown field of the optimizer", data + R"(, "training": {"optimizer": {"name": "Adam", "learning_rat": 1}})", "Remove learning_rat");
  settings("the name of the optimizer", data + R"(, "training": {"optimizer": {"name": "Adma"}})", "Set it to Adam");
  settings("the name of a dataset", data + R"(, "training": {"dataset": "trainnig"})", "Set it to training");
  settings("the name of a network", data + R"(, "training": {"network": "mian"})", "Set it to main");
  settings("the warm-up", data + R"(, "training": {"warmup": {"epochs": -1}})", "Set epochs to 0");
  settings("what decides the best", data + R"(, "training": {"monitor": "lsos"})", "Set it to loss");
  settings("a field of a dataset", R"("datasets": {"training": {"csv": "t.csv", "rows": 0}})", "Set rows to 1");
  settings("a step of the preparation", R"("datasets": {"training": {"csv": "t.csv", "prepare": [{"step": "Scael"}]}})", "Set it to Scale");
  settings("a field of a step", R"("datasets": {"training": {"csv": "t.csv", "prepare": [{"step": "Flip", "probability": 2}]}})", "Set probability to 1");
  settings("an update of a list", data + R"(, "training": [{"optimizer": {"name": "Adam"}}, {"optimizer": {"name": "Adma"}}])", "Set it to Adam");
}
// clang-format on

void DocumentTest::everyRemedyMendsItsFault() {
  QFETCH(QString, nodes);
  QFETCH(QString, edges);
  QFETCH(QString, rest);
  QFETCH(QString, button);
  const QString text = QStringLiteral(R"({"loom": 1, "networks": {"main": {"nodes": [%1], "edges": [%2]}}, %3})")
                           .arg(nodes, edges, rest);
  QVERIFY(document().openText(text.toStdString(), "faulty"));
  const std::vector<Problem> before = document().problems();
  const auto fault = std::find_if(before.begin(), before.end(), [&](const Problem& problem) {
    return QString::fromStdString(problem.remedy.label) == button;
  });
  QStringList all;
  for (const Problem& problem : before)
    all += QString::fromStdString(problem.message + " [" + problem.remedy.label + "]");
  QVERIFY2(fault != before.end(), qPrintable(all.join('\n')));
  const Outcome outcome = document().applyRemedy(*fault);
  QVERIFY2(outcome, qPrintable(outcome.reason));
  for (const Problem& problem : document().problems())
    QVERIFY2(problem.message != fault->message, problem.message.c_str());
  document().undoStack().undo();
  QCOMPARE(document().problems().size(), before.size());
}

// Beside a form a key of the file says little.
void DocumentTest::sentencesNameFieldsByTheirLabels() {
  QVERIFY(
      document().openText(R"({"loom": 1, "networks": {"main": {"nodes": [{"id": "x", "layer": "Input", "shape": [4]},
      {"id": "fc", "layer": "Linear", "outputs": 0}], "edges": [["x", "fc"]]}},
      "training": {"base_batch": 0, "optimizer": {"name": "Adam", "learning_rate": -1}}})",
                          "faulty"));
  std::string all;
  for (const Problem& problem : document().problems()) all += problem.message + "\n";
  for (const char* key : {"learning_rate", "base_batch", "training", "'outputs'"})
    QVERIFY2(all.find(key) == std::string::npos, all.c_str());
  for (const char* said : {"Optimizer: Learning rate is -1", "Base batch is 0", "fc: Outputs is 0"})
    QVERIFY2(all.find(said) != std::string::npos, all.c_str());
}

void DocumentTest::healingClosesTheGap() {
  ProjectDocument& d = document();
  d.removeNodes("main", {"relu", "pool"}, true);
  const Network& network = *d.network("main");
  QCOMPARE(network.find("fc")->y, 120.0);    // right below conv, where relu stood
  QCOMPARE(network.find("loss")->y, 204.0);  // what follows keeps its distance
  QCOMPARE(network.find("y")->y, 120.0);     // and so does the label beside it
  d.undoStack().undo();
  QCOMPARE(d.network("main")->find("fc")->y, 240.0);
}

void DocumentTest::whatIsPutInAndHealedStandsAsItStood() {
  ProjectDocument& d = document();
  const auto places = [&] {
    std::map<std::string, double> places;
    for (const Node& node : d.network("main")->nodes) places[node.id] = node.y;
    return places;
  };
  const auto before = places();
  const std::string id = d.addNode({.layer = "Dropout", .at = {30, 144}, .into = wire("relu", "pool")});
  QCOMPARE(places()["y"], before.at("y") + kPitch);  // beside what it feeds
  d.removeNodes("main", {id}, true);
  QVERIFY(places() == before);
}

void DocumentTest::aNodePutIntoAWireCoversNothing() {
  ProjectDocument& d = document();
  // Dropped on the wire right below conv: 16 px of room, for a card of 44.
  const std::string id = d.addNode({.layer = "BatchNormalization", .at = {30, 84}, .into = wire("conv", "relu")});
  const Network& network = *d.network("main");
  QCOMPARE(network.find(id)->x, 0.0);
  for (const Node& a : network.nodes)
    for (const Node& b : network.nodes)
      QVERIFY2(a.id == b.id || !cardRect(a).intersects(cardRect(b)), (a.id + " covers " + b.id).c_str());
  QVERIFY(network.find("conv")->y < network.find(id)->y && network.find(id)->y < network.find("relu")->y);
}

void DocumentTest::whatStandsBesideComesBackWithTheStep() {
  ProjectDocument& d = document();
  int ranks = 1;
  const auto set = [&](int value) { return [&ranks, value] { ranks = value; }; };
  d.edit("ranks", [](Project& project) { project.training.settings["batch"] = 128; }, "ranks", {set(2), set(1)});
  d.edit("ranks", [](Project& project) { project.training.settings["batch"] = 256; }, "ranks", {set(4), set(2)});
  QCOMPARE(ranks, 4);
  d.undoStack().undo();  // both were typed in one go
  QCOMPARE(ranks, 1);
  QVERIFY(!d.project().training.settings.contains("batch"));
  d.undoStack().redo();
  QCOMPARE(ranks, 4);
}

void DocumentTest::networksAreRenamedWithWhatNamesThem() {
  QVERIFY(document().renameNetwork("main", "classifier"));
  QCOMPARE(document().project().training.updates.front().network, std::string("classifier"));
  QVERIFY(!document().renameNetwork("classifier", "no name"));
  QVERIFY(!document().removeNetwork("classifier"));
}

void DocumentTest::aLargeDrawingIsArrangedBesideTheWindow() {
  ProjectDocument& d = document();
  d.edit("Draw", [](Project& project) {
    Network& network = project.networks.front();
    network = {network.name, {}, {}};
    for (int i = 0; i < 400; ++i) {
      network.nodes.push_back({.id = "n" + std::to_string(i), .layer = "ReLU", .placed = true});
      if (i > 0) network.edges.push_back(wire("n" + std::to_string(i - 1), "n" + std::to_string(i)));
    }
  });
  const int before = d.undoStack().index();
  bool done = false;
  d.arrange("main", [&] { done = true; });
  QVERIFY(!done);
  QCOMPARE(d.undoStack().index(), before);
  // What is drawn meanwhile is arranged with the rest, not lost.
  const std::string added = d.addNode({.layer = "Dropout", .at = {5000, 5000}});
  QTRY_VERIFY(done);
  QCOMPARE(d.undoStack().index(), before + 2);
  QVERIFY(d.network("main")->find(added) != nullptr);
  QVERIFY(d.network("main")->find("n1")->y > d.network("main")->find("n0")->y);
  d.undoStack().undo();
  QCOMPARE(d.network("main")->find("n1")->y, 0.0);
}

void DocumentTest::unitsGroupsAndCommentsComeBackExactly() {
  ProjectDocument& d = document();
  const auto unit = [](const std::string& name) {
    Network made{.name = name};
    made.nodes = {{.id = "x", .layer = "Input"}, {.id = "y", .layer = "Output"}};
    made.edges = {wire("x", "y")};
    made.arguments = {{.name = "channels", .defaultValue = 16}};
    return made;
  };
  const std::vector<std::function<void(Project&)>> edits{
      [&](Project& p) { p.units.push_back(unit("Residual")); },
      [&](Project& p) {
        p.networks[0].nodes.push_back({.id = "stage", .values = {{"channels", 4}}, .unit = "Residual"});
      },
      [](Project& p) { p.networks[0].find("stage")->repeat = "=2+1"; },
      [](Project& p) { p.units[0].arguments.push_back({.name = "stride", .defaultValue = 1, .help = "of the first"}); },
      [](Project& p) { p.units[0].nodes.push_back({.id = "relu", .layer = "ReLU"}); },
      [](Project& p) { p.units[0].groups.push_back({.id = "g", .title = "twice", .repeat = 2}); },
      [](Project& p) { p.units[0].find("relu")->group = "g"; },
      [](Project& p) { p.networks[0].comments.push_back({.id = "c", .text = "look", .x = 3, .width = 90}); },
      [](Project& p) { p.networks[0].comments[0].text = "look here"; },
      [](Project& p) { p.networks[0].groups.push_back({.id = "frame", .colour = "blue", .folded = true}); },
      [](Project& p) {
        p.units[0].name = "Block";
        p.networks[0].find("stage")->unit = "Block";
      },
      [](Project& p) { p.units.clear(); },
  };
  std::vector<std::string> states{d.text()};
  for (std::size_t i = 0; i < edits.size(); ++i) {
    d.edit(QString::number(i), edits[i]);
    states.push_back(d.text());
    QVERIFY2(states[i + 1] != states[i], std::to_string(i).c_str());
  }
  for (std::size_t i = edits.size(); i-- > 0;) {
    d.undoStack().undo();
    QCOMPARE(d.text(), states[i]);
  }
  for (std::size_t i = 0; i < edits.size(); ++i) {
    d.undoStack().redo();
    QCOMPARE(d.text(), states[i + 1]);
  }
  QSignalSpy changes(&d, &ProjectDocument::changed);
  for (int i = 0; i < 5; ++i) d.undoStack().undo();  // back to where `relu` was put into its group
  const auto told = [&](int at) { return changes.at(at).at(0).value<ProjectChange>(); };
  QVERIFY(told(0).networkList && told(1).networkList);
  QCOMPARE(told(2).networks.at(0).network, std::string("main"));
  QVERIFY(told(2).networks.at(0).groups && !told(2).networks.at(0).comments);
  QVERIFY(told(3).networks.at(0).comments && !told(3).networks.at(0).structure());
  d.undoStack().undo();
  QCOMPARE(told(5).networks.at(0).network, std::string("Residual"));
  QCOMPARE(told(5).networks.at(0).changed, std::vector<std::string>{"relu"});
}

}  // namespace loom

QTEST_GUILESS_MAIN(loom::DocumentTest)
#include "document_test.moc"

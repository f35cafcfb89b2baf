// Layers of a person's own as files: whole ways there and back, files that are none, and what a project makes of them.
#include "widgets/library/own_layers.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "engine/network/flatten.h"
#include "tests/patience.h"
#include "tests/widgets/document/unit_drawings.h"
#include "widgets/document/project_document.h"
#include "widgets/document/unit_edits.h"
#include "widgets/library/own_layer_edits.h"

namespace loom {

namespace {

Project projectOf(const std::string& text) {
  return readProject(text, "test").project;
}

// An Outer that uses an Inner with this many channels.
std::string nested(int channels) {
  return R"({"loom": 1, "networks": {"main": {"nodes": [{"id": "x", "layer": "Input", "shape": [3, 8, 8]}, {"id": "a", "unit": "Outer", "scale": 2}],
    "edges": [["x", "a"]]}}, "units": {
    "Inner": {"nodes": [{"id": "input", "layer": "Input"}, {"id": "conv", "layer": "Convolution", "channels": )" +
         std::to_string(channels) + R"(}, {"id": "output", "layer": "Output"}],
      "edges": [["input", "conv"], ["conv", "output"]]},
    "Outer": {"help": "Twice an Inner. Nothing more.", "icon": "convolution",
      "arguments": {"scale": {"default": 1, "help": "by how much", "range": [1, 8]}},
      "nodes": [{"id": "input", "layer": "Input"}, {"id": "one", "unit": "Inner"}, {"id": "two", "unit": "Inner"}, {"id": "output", "layer": "Output"}],
      "edges": [["input", "one"], ["one", "two"], ["two", "output"]]}}})";
}

}  // namespace

class OwnLayersTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_home;
  std::unique_ptr<OwnLayers> m_library;

  QString path(const QString& name) { return m_home->filePath("layers/" + name); }
  void write(const QString& name, const QByteArray& text) {
    QDir().mkpath(m_home->filePath("layers"));
    QFile file(path(name));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
  }

 private Q_SLOTS:
  void init() {
    m_home = std::make_unique<QTemporaryDir>();
    m_library = std::make_unique<OwnLayers>(m_home->filePath("layers"));
  }

  void aUnitComesBackAsItWasSaved() {
    const Project project = projectOf(nested(8));
    QVERIFY(project.unit("Outer")->words.icon == "convolution");
    QCOMPARE(m_library->save(project, "Outer"), QString());
    QVERIFY(QFile::exists(path("Outer.loom")));
    OwnLayers again(m_home->filePath("layers"));
    const OwnLayer* const layer = again.find("Outer");
    QVERIFY(layer != nullptr);
    QCOMPARE(layer->definition.units.size(), std::size_t(2));
    QCOMPARE(definitionText(layer->definition, "Outer"), definitionText(project, "Outer"));
    QCOMPARE(layer->entry.id, std::string("own:Outer"));
    QCOMPARE(layer->entry.summary, std::string("Twice an Inner."));
    QCOMPARE(layer->entry.icon, std::string("convolution"));
    QCOMPARE(layer->entry.fields.size(), std::size_t(1));
    QCOMPARE(layer->entry.fields[0].help, std::string("by how much"));
    QVERIFY(layer->entry.fields[0].hard && layer->entry.fields[0].hard->low == 1 &&
            layer->entry.fields[0].hard->high == 8);
    QCOMPARE(layer->entry.inputs.size(), std::size_t(1));
  }

  void whatItUsesComesAlongAndTheProjectNeedsNoLibrary() {
    QCOMPARE(m_library->save(projectOf(nested(8)), "Outer"), QString());
    Project other;
    other.networks.push_back({"main", {}, {}});
    QCOMPARE(bringOwnLayer(other, *m_library->find("Outer")), std::string("Outer"));
    QCOMPARE(other.units.size(), std::size_t(2));
    QCOMPARE(other.unit("Outer")->words.origin, std::string("Outer"));
    QCOMPARE(bringOwnLayer(other, *m_library->find("Outer")), std::string("Outer"));
    QCOMPARE(other.units.size(), std::size_t(2));
    const Project read = projectOf(writeProject(other));
    QCOMPARE(definitionText(read, "Outer"), definitionText(m_library->find("Outer")->definition, "Outer"));
    QVERIFY(!isOutdated(read, *read.unit("Outer"), *m_library->find("Outer")));
  }

  // Both names are taken by something else: neither is touched, and what comes uses what came with it.
  void aNameThatIsTakenIsLeftAlone() {
    QCOMPARE(m_library->save(projectOf(nested(8)), "Outer"), QString());
    Project other = projectOf(nested(16));
    const std::string before = definitionText(other, "Outer");
    const std::string name = bringOwnLayer(other, *m_library->find("Outer"));
    QCOMPARE(name, std::string("Outer2"));
    QCOMPARE(definitionText(other, "Outer"), before);
    QCOMPARE(definitionText(other, "Outer2"), definitionText(m_library->find("Outer")->definition, "Outer"));
    QCOMPARE(other.unit("Outer2")->find("one")->unit, std::string("Inner2"));
    QCOMPARE(other.unit("Inner2")->find("conv")->values["channels"], Json(8));
  }

  void anUpdateKeepsWhatStillFits() {
    Project project = projectOf(
        R"({"loom": 1, "networks": {"main": {"nodes": [{"id": "x", "layer": "Input", "shape": [4]}, {"id": "z", "layer": "Input", "shape": [4]},
      {"id": "u", "unit": "Pair", "width": 3, "old": 7}], "edges": [["x", "u"], ["z", "u.right"]]}}, "units": {"Pair": {"origin": "Pair", "arguments": {"width": 1, "old": 2},
      "nodes": [{"id": "left", "layer": "Input"}, {"id": "right", "layer": "Input"}, {"id": "add", "layer": "Add"}, {"id": "output", "layer": "Output"}],
      "edges": [["left", "add"], ["right", "add"], ["add", "output"]]}}})");
    QVERIFY(project.unit("Pair") != nullptr && project.networks[0].edges.size() == 2);
    const OwnLayer layer =
        ownLayerOf(R"({"loom": 1, "layer": "Pair", "units": {"Pair": {"arguments": {"width": 1, "deep": 5},
      "nodes": [{"id": "left", "layer": "Input"}, {"id": "fc", "layer": "Linear", "outputs": "=width"}, {"id": "output", "layer": "Output"}],
      "edges": [["left", "fc"], ["fc", "output"]]}}})",
                   "Pair.loom");
    QCOMPARE(layer.fault, QString());
    QVERIFY(isOutdated(project, *project.unit("Pair"), layer));
    const Updated went = updateFromLibrary(project, "Pair", layer);
    QCOMPARE(went.values, 1);
    QCOMPARE(went.wires, 1);
    QCOMPARE(project.networks[0].find("u")->values, Json({{"width", 3}}));
    QCOMPARE(project.networks[0].edges.size(), std::size_t(1));
    QVERIFY(!isOutdated(project, *project.unit("Pair"), layer));
  }

  // Each is listed with a reason that names what is wrong; none can be used, and none harms the others.
  void filesThatAreNoLayersSayWhy() {
    QCOMPARE(m_library->save(projectOf(nested(8)), "Outer"), QString());
    write("a-list.loom", "[1, 2]");
    write("binary.loom", QByteArray("\xff\xfe\x00garbage", 10));
    write(
        "circle.loom",
        R"({"loom": 1, "layer": "A", "units": {"A": {"nodes": [{"id": "b", "unit": "B"}], "edges": []}, "B": {"nodes": [{"id": "a", "unit": "A"}], "edges": []}}})");
    write("empty.loom", "");
    write("foreign.loom",
          R"({"loom": 1, "layer": "F", "units": {"F": {"nodes": [{"id": "f", "layer": "Flux"}], "edges": []}}})");
    write("keys.loom", R"({"loom": 1, "layer": "K", "units": {"K": {"nodes": [], "edges": [], "shape": 3}}})");
    write("lacks.loom",
          R"({"loom": 1, "layer": "L", "units": {"L": {"nodes": [{"id": "u", "unit": "Gone"}], "edges": []}}})");
    write("name.loom", R"({"loom": 1, "layer": "Convolution", "units": {}})");
    write("newer.loom", R"({"loom": 9, "layer": "N"})");
    write("nobody.loom", R"({"loom": 1, "units": {}})");
    write(
        "range.loom",
        R"({"loom": 1, "layer": "R", "units": {"R": {"arguments": {"a": {"default": 1, "range": [5, 2]}}, "nodes": [], "edges": []}}})");
    write("same.loom", QByteArray::fromStdString(ownLayerText(projectOf(nested(9)), "Outer")));
    QFile large(path("large.loom"));
    QVERIFY(large.open(QIODevice::WriteOnly) && large.resize(qint64(5) << 20));
    large.close();
    OwnLayers again(m_home->filePath("layers"));
    QHash<QString, QString> faults;
    int sound = 0;
    for (const OwnLayer& each : again.layers()) {
      if (each.fault.isEmpty())
        ++sound;
      else
        faults.insert(QFileInfo(each.file).completeBaseName(), each.fault);
    }
    QCOMPARE(sound, 1);
    QVERIFY(again.find("Outer") != nullptr);
    const std::pair<const char*, const char*> reasons[] = {{"a-list", "no JSON object"},
                                                           {"binary", "no JSON object"},
                                                           {"circle", "uses itself"},
                                                           {"empty", "no JSON object"},
                                                           {"foreign", "Flux"},
                                                           {"keys", "shape"},
                                                           {"lacks", "Gone"},
                                                           {"name", "Convolution"},
                                                           {"newer", "version"},
                                                           {"nobody", "which of its units"},
                                                           {"range", "range"},
                                                           {"same", "Outer.loom"},
                                                           {"large", "4 MiB"}};
    for (const auto& [file, words] : reasons)
      QVERIFY2(faults.value(file).contains(words), qPrintable(QString("%1: %2").arg(file, faults.value(file))));
    QCOMPARE(faults.size(), static_cast<qsizetype>(std::size(reasons)));
  }

  void theFolderIsWatched() {
    QSignalSpy changed(m_library.get(), &OwnLayers::changed);
    write("Outer.loom", QByteArray::fromStdString(ownLayerText(projectOf(nested(8)), "Outer")));
    QTRY_VERIFY(m_library->find("Outer") != nullptr);
    const std::string first = definitionText(m_library->find("Outer")->definition, "Outer");
    QTest::qWait(20);
    write("Outer.loom", QByteArray::fromStdString(ownLayerText(projectOf(nested(12)), "Outer")));
    QTRY_VERIFY(m_library->find("Outer") != nullptr &&
                definitionText(m_library->find("Outer")->definition, "Outer") != first);
    QVERIFY(QFile::remove(path("Outer.loom")));
    QTRY_VERIFY(m_library->layers().empty());
    QVERIFY(changed.count() >= 3);
  }

  void renamingAndRemoving() {
    QCOMPARE(m_library->save(projectOf(nested(8)), "Outer"), QString());
    const std::string before = definitionText(m_library->find("Outer")->definition, "Outer");
    QVERIFY(m_library->rename("Outer", "Linear").contains("is a layer"));
    QVERIFY(m_library->rename("Outer", "no name").contains("no name"));
    QCOMPARE(m_library->rename("Outer", "Twice"), QString());
    QVERIFY(m_library->find("Outer") == nullptr);
    QCOMPARE(definitionText(m_library->find("Twice")->definition, "Twice"), before);
    QCOMPARE(QDir(m_home->filePath("layers")).entryList(QDir::Files), QStringList{"Twice.loom"});
    const std::string text = m_library->find("Twice")->text;
    QCOMPARE(m_library->remove("Twice"), QString());
    QVERIFY(m_library->layers().empty());
    QCOMPARE(m_library->put("Twice", text), QString());
    QVERIFY(m_library->find("Twice") != nullptr);
    QVERIFY(!m_library->remove("Nothing").isEmpty());
  }

  // The words of a unit are part of the project: undo and redo take them along.
  void wordsAndRangesAreUndone() {
    ProjectDocument document;
    QVERIFY(document.openText(nested(8), "nested"));
    const std::string before = document.text();
    document.edit("Words", [](Project& project) {
      project.unit("Outer")->words = {"Other words.", "linear", "Outer"};
      project.unit("Outer")->arguments[0].range = Json::array({1, 4});
    });
    const std::string after = document.text();
    QVERIFY(after.find("Other words.") != std::string::npos && after != before);
    document.undoStack().undo();
    QCOMPARE(document.text(), before);
    document.undoStack().redo();
    QCOMPARE(document.text(), after);
    document.discardRecovery();
  }
};

}  // namespace loom

QTEST_MAIN(loom::OwnLayersTest)
#include "own_layers_test.moc"

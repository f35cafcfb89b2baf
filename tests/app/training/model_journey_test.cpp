#include <QPainter>
#include <cmath>

#include "app/pages/network/inspector.h"
#include "app/pages/network/network_page.h"
#include "app/shell/export_card.h"
#include "engine/exchange/importer.h"
#include "engine/run/safetensors.h"
#include "launcher/remote/models.h"
#include "tests/app/menu_and_dialogue.h"
#include "tests/app/training/journey_acts.h"
#include "tests/app/training/journey_test.h"
#include "tests/patience.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/canvas/network_view.h"
#include "widgets/controls/segmented_control.h"

namespace loom {
namespace {

using Weights = std::map<std::string, std::vector<float>>;

Weights weightsOf(const Imported& imported) {
  Weights weights;
  for (const ImportedWeight& each : imported.weights) weights[each.name] = {each.values.begin(), each.values.end()};
  return weights;
}
Weights weightsOf(const QString& checkpoint) {
  Weights weights;
  const TensorFile file(checkpoint.toStdString());
  for (const TensorFile::Tensor& each : file.tensors())
    if (each.name.find('#') == std::string::npos) weights[each.name] = {each.values.begin(), each.values.end()};
  return weights;
}

// A red apple, a green leaf or a blue patch of sky, a little elsewhere each time.
QImage shown(int kind, int number, QSize size) {
  QImage image(size, QImage::Format_RGB888);
  image.fill(QColor(10, 10, 10 + number));
  QPainter painter(&image);
  painter.setPen(Qt::NoPen);
  painter.setBrush(kind == 0 ? QColor(230, 60, 50) : kind == 1 ? QColor(60, 200, 70) : QColor(60, 90, 230));
  painter.drawEllipse(2 + number % 4, 2 + number % 3, 11, 11);
  return image;
}

}  // namespace

// (f) A model that another tool trained learns a person's own pictures and goes back to that tool.
class ModelJourneyTest : public JourneyActs {
  Q_OBJECT

  NetworkPage& network() { return *static_cast<NetworkPage*>(window().page("network")); }
  void clickNode(const char* id) {
    NetworkView& view = network().view();
    QTRY_VERIFY(window().settled());
    view.fit();
    QTRY_VERIFY(window().settled());
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.mapFromScene(view.networkScene().card(id)->pos()));
    QTRY_COMPARE(network().inspector().name().text(), QString(id));
  }
  QString bestOf(const RunRecord& run) { return workspace().context().models->place(run.id).here; }

 private Q_SLOTS:
  void init() {
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    begin();
  }
  void cleanup() { end(); }

  void aModelFromPyTorchLearnsOwnPicturesAndGoesBack() {
    const QString given = QStringLiteral(CLASSIFIER_ONNX);
    for (int i = 0; i < 30; ++i) {
      const char* const kinds[] = {"apple", "leaf", "sky"};
      const QString file = m_open->path(QStringLiteral("downloads/mine/%1/%2.png").arg(kinds[i % 3]).arg(i));
      QDir().mkpath(QFileInfo(file).absolutePath());
      QVERIFY(shown(i % 3, i / 3, i % 5 ? QSize(20, 20) : QSize(24, 20)).save(file));
    }
    m_open->drop({given});
    QTRY_VERIFY_WITH_TIMEOUT(m_open->part<QWidget>("import-card") && m_open->part<QWidget>("import-card")->isVisible(),
                             kJourneyPatience);
    picture("model-imported");
    QTest::keyClick(m_open->part<QWidget>("import-card"), Qt::Key_Escape);
    QTRY_VERIFY(!m_open->part<QWidget>("import-card")->isVisible());
    m_open->activate();
    QCOMPARE(drawn().find("classifier")->values.at("outputs"), Json(10));
    pressText("Add SoftmaxCrossEntropy");
    QTRY_VERIFY(drawn().find("y"));

    goTo("data");
    m_open->drop({m_open->path("downloads/mine")});
    press("x: of several sizes", "Bring all to 16×16");  // what the model takes, not what most pictures have
    m_open->click("mend-input");
    QTRY_COMPARE(drawn().find("input")->values.value("variable", ""), std::string("x"));
    QTRY_COMPARE(faultsOfFeeds(), QString());
    picture("model-data");

    goTo("network");
    clickNode("classifier");
    QVERIFY(network().inspector().focusField("outputs"));
    m_open->type("3");
    QTRY_COMPARE(drawn().find("classifier")->values.at("outputs"), Json(3));
    m_open->document().setSetting("batch", 10);
    m_open->document().setSetting("epochs", 40);
    waitUntilSound();
    train(1);
    if (QTest::currentTestFailed()) return;
    const RunRecord run = workspace().runs().back();
    // It began with the file's weights: those of fresh random numbers would lie far off.
    const Weights before = weightsOf(importFile({.file = given.toStdString()})), after = weightsOf(bestOf(run));
    double moved = 0;
    for (std::size_t i = 0; i < after.at("features_0/weight").size(); ++i)
      moved =
          std::max<double>(moved, std::abs(after.at("features_0/weight")[i] - before.at("features_0/weight").at(i)));
    QVERIFY2(moved > 0 && moved < 0.15, qPrintable(QString::number(moved)));
    QVERIFY(shown(2, 12, {16, 16}).save(m_open->path("downloads/new.png")));
    predict(m_open->path("downloads/new.png"), 1);
    if (QTest::currentTestFailed()) return;
    QCOMPARE(predicted().item(0, 1)->text(), QString("sky"));
    const std::vector<float> said = prediction().predictions()->kept.at(0).outputs.at(0).values;
    picture("model-predicted");

    window().exportDialog();
    QTRY_VERIFY(m_open->part<QWidget>("export-card") && m_open->part<QWidget>("export-card")->isVisible());
    auto* const form = m_open->part<SegmentedControl>("export-form");
    QTest::mouseClick(form, Qt::LeftButton, {}, form->segment(1).center());
    nameTheFile(m_open->path("downloads/back.onnx"));
    m_open->click("export-start");
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(m_open->path("downloads/back.onnx")), kJourneyPatience);
    const Imported back = importFile({.file = m_open->path("downloads/back.onnx").toStdString()});
    QCOMPARE(weightsOf(back), after);

    // Opened again it says the same of the picture as the run did.
    m_open->activate();
    m_open->drop({m_open->path("downloads/back.onnx")});
    QTRY_COMPARE_WITH_TIMEOUT(m_open->document().name(), QString("back"), kJourneyPatience);
    QTest::keyClick(m_open->part<QWidget>("import-card"), Qt::Key_Escape);
    m_open->activate();
    QVERIFY(m_open->document().setPath("training.optimizer.learning_rate", 1e-12));
    m_open->document().setSetting("epochs", 1);
    waitUntilSound();
    train(1);
    if (QTest::currentTestFailed()) return;
    predict(m_open->path("downloads/new.png"), 1);
    if (QTest::currentTestFailed()) return;
    const std::vector<float> again = prediction().predictions()->kept.at(0).outputs.at(0).values;
    QCOMPARE(again.size(), said.size());
    for (std::size_t i = 0; i < said.size(); ++i) QVERIFY(std::abs(again[i] - said[i]) < 1e-5);
  }
};

int testModelJourney(int argc, char** argv) {
  ModelJourneyTest journey;
  return QTest::qExec(&journey, argc, argv);
}

}  // namespace loom

#include "model_journey_test.moc"

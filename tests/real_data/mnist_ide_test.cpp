// The main job, as a person does it, on real data: MNIST imported by `loom data import`, a LeNet-like network drawn by
// mouse and keys in the real window, its CSVs dropped on it, trained by a click on Train, with points in the chart
// while it trains.
#include <QAbstractButton>
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QLineEdit>
#include <QMimeData>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

#include "app/main_window.h"
#include "app/pages/network/inspector.h"
#include "app/pages/network/network_page.h"
#include "app/pages/training/run_curves.h"
#include "app/pages/training/training_page.h"
#include "app/preferences.h"
#include "launcher/local_process.h"
#include "tests/patience.h"
#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/network_view.h"
#include "widgets/document/card_geometry.h"
#include "widgets/theme/theme.h"

namespace loom {

class MnistIdeTest : public QObject {
  Q_OBJECT

 private:
  NetworkPage& page() { return *static_cast<NetworkPage*>(m_window->page("network")); }
  NetworkView& view() { return page().view(); }
  const Network& drawn() { return page().scene().network(); }
  void key(Qt::Key which, Qt::KeyboardModifiers modifiers = {}) {
    QTest::keyClick(QApplication::focusWidget(), which, modifiers);
  }
  void type(const QString& text) { QTest::keyClicks(QApplication::focusWidget(), text); }
  void settle() {
    for (int i = 0; i < 5; ++i) QCoreApplication::processEvents();
  }
  void drag(QPoint from, QPoint to) {
    QTest::mousePress(view().viewport(), Qt::LeftButton, {}, from);
    QTest::mouseMove(view().viewport(), (from + to) / 2);
    QTest::mouseMove(view().viewport(), to);
    QTest::mouseRelease(view().viewport(), Qt::LeftButton, {}, to);
  }
  // Shift+A, the name, Enter: the new node follows the selected one and is wired to it.
  std::string add(const QString& name) {
    view().setFocus();
    key(Qt::Key_A, Qt::ShiftModifier);
    type(name);
    key(Qt::Key_Return);
    const auto picked = page().scene().pickedNodes();
    return picked.empty() ? std::string() : picked.front();
  }
  void set(const std::string& node, const char* field, const QString& value) {
    view().reveal(node);
    QCoreApplication::processEvents();
    QVERIFY2(page().inspector().focusField(field), field);
    if (auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget())) line->selectAll();
    type(value);
    key(Qt::Key_Return);
    QCoreApplication::processEvents();
  }
  QPoint outPin(const std::string& id) { return view().mapFromScene(outputPin(*drawn().find(id), "output")); }
  QPoint inPin(const std::string& id, std::size_t index) {
    const CardItem* item = page().scene().card(id);
    return view().mapFromScene(item->pos() + item->inputs()[index].at);
  }
  void wire(const std::string& from, const std::string& to, std::size_t port) {
    view().fit();
    settle();
    drag(outPin(from), inPin(to, port));
  }
  void drop(const QStringList& paths) {
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& path : paths) urls += QUrl::fromLocalFile(path);
    data.setUrls(urls);
    const QPoint middle = m_window->rect().center();
    QDragEnterEvent enter(middle, Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(m_window.get(), &enter);
    QDropEvent event(QPointF(middle), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(m_window.get(), &event);
  }
  void clickOn(const char* name) {
    auto* button = m_window->findChild<QAbstractButton*>(name);
    QVERIFY2(button && button->isVisible() && button->isEnabled(), name);
    QTest::mouseClick(button, Qt::LeftButton);
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<Preferences> m_preferences;
  std::unique_ptr<Workspace> m_workspace;
  std::unique_ptr<MainWindow> m_window;

 private Q_SLOTS:
  void lenetDrawnFedAndTrainedByClicks();
};

void MnistIdeTest::lenetDrawnFedAndTrainedByClicks() {
  const QDir data(QStringLiteral(GRADLOOM_SOURCE_DIR "/../shared/data/mnist"));
  if (!data.exists()) QSKIP("needs ../shared/data/mnist");
  m_folder = std::make_unique<QTemporaryDir>();
  QProcess import;
  import.setProcessChannelMode(QProcess::MergedChannels);
  import.start(QStringLiteral(LOOM_PROGRAM),
               {"data", "import", "idx", data.path(), "--out", m_folder->filePath("mnist")});
  QVERIFY(import.waitForFinished(180000));
  QVERIFY2(import.exitCode() == 0, import.readAll().constData());

  qputenv("GRADLOOM_PROJECTS", m_folder->filePath("own").toUtf8());
  m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  m_preferences = std::make_unique<Preferences>(m_folder->filePath("gradloom.ini"));
  m_workspace = std::make_unique<Workspace>(
      WorkspaceOptions{.dataFolder = m_folder->filePath("data"), .program = QStringLiteral(LOOM_PROGRAM)}, *m_theme,
      *m_preferences);
  m_window = std::make_unique<MainWindow>(*m_workspace);
  m_window->resize(1440, 900);
  m_window->show();
  m_window->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_window.get()));

  clickOn("new-network");
  QVERIFY(m_workspace->document());
  QVERIFY(m_workspace->saveAs(m_folder->filePath("mnist.loom")));
  m_window->showPage("network");
  settle();

  const std::string x = add("Input");
  set(x, "shape", "1, 28, 28");
  std::string last = x, fc = x;
  const auto follow = [&](const char* layer) {
    view().reveal(last);
    last = add(layer);
  };
  follow("Convolution");
  set(last, "channels", "16");
  set(last, "kernel", "5, 5");
  for (const char* layer : {"ReLU", "MaxPooling", "Convolution"}) follow(layer);
  set(last, "channels", "32");
  set(last, "kernel", "5, 5");
  for (const char* layer : {"ReLU", "MaxPooling", "Linear"}) follow(layer);
  set(last, "outputs", "128");
  for (const char* layer : {"ReLU", "Linear"}) follow(layer);
  fc = last;
  set(fc, "outputs", "10");
  follow("SoftmaxCrossEntropy");
  const std::string loss = last;
  last = fc;
  follow("Accuracy");
  const std::string accuracy = last;
  page().scene().pick({});
  const std::string y = add("Input");
  set(y, "shape", "1");
  view().reveal(y);
  QVERIFY(page().inspector().focusField("type"));
  type("Label");
  wire(y, loss, 1);
  wire(y, accuracy, 1);
  view().setFocus();
  key(Qt::Key_L, Qt::ControlModifier);
  settle();
  // The Inputs take the columns of their names.
  QCOMPARE(drawn().nodes.size(), std::size_t{13});
  for (const auto& [node, column] : {std::pair(x, std::string("x")), std::pair(y, std::string("y"))})
    if (node != column) set(node, "variable", QString::fromStdString(column));

  m_window->showPage("data");
  drop({m_folder->filePath("mnist/train/index.csv")});
  drop({m_folder->filePath("mnist/t10k/index.csv")});
  QCOMPARE(m_workspace->document()->project().datasets.size(), std::size_t{2});
  QCOMPARE(m_workspace->document()->project().training.validation, std::string("validation"));
  m_workspace->document()->setPrepare("training", {Json{{"step", "Scale"}, {"by", 1.0 / 255}}});

  m_window->go({.page = "settings", .field = "training.epochs"});
  settle();
  auto* epochs = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  QVERIFY(epochs);
  epochs->selectAll();
  type("1");
  m_window->go({.page = "settings", .field = "training.optimizer.learning_rate"});
  settle();
  auto* rate = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  QVERIFY(rate);
  rate->selectAll();
  type("0.0015");
  m_window->go({.page = "settings", .field = "training.schedule"});
  settle();
  type("Cosine");
  QCOMPARE(m_workspace->document()->project().training.updates.front().schedule.value("name", ""),
           std::string("Cosine"));
  const auto& problems = m_workspace->document()->problems();
  QTRY_VERIFY2(problems.empty(), problems.empty() ? "" : problems.front().message.c_str());

  clickOn("train");
  QCOMPARE(m_window->currentPage(), QString("training"));
  auto& training = *static_cast<TrainingPage*>(m_window->page("training"));
  const auto run = [this]() -> const RunRecord& { return *m_workspace->store().find(m_workspace->currentRun()); };
  QTRY_VERIFY_WITH_TIMEOUT(training.curves().points() > 0 || run().state == RunState::failed, 120000);
  QVERIFY2(run().state != RunState::failed, qPrintable(run().message));
  // Points keep arriving while it trains: three looks, each with more than the one before.
  std::int64_t seen = training.curves().points();
  for (int look = 0; look < 3; ++look) {
    QTRY_VERIFY_WITH_TIMEOUT(training.curves().points() > seen, 60000);
    QVERIFY2(run().state == RunState::running, qPrintable(run().message));
    seen = training.curves().points();
  }
  QTRY_VERIFY_WITH_TIMEOUT(run().state != RunState::running, 600000);
  QVERIFY2(run().state == RunState::finished, qPrintable(run().message));
  QCOMPARE(run().step, run().stepsTotal);
  QCOMPARE(static_cast<std::int64_t>(m_workspace->store().points(run().id, series::kLoss).size()), run().stepsTotal);
  qInfo("accuracy on the 10,000 test digits after an epoch: %.4f", run().best);
  QVERIFY2(run().best >= 0.975, qPrintable(QString::number(run().best)));
  m_window.reset();
  m_workspace.reset();
}

}  // namespace loom

QTEST_MAIN(loom::MnistIdeTest)
#include "mnist_ide_test.moc"

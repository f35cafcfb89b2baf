#pragma once
// The window with a folder of projects, as the tests of the shell begin.
#include <QAbstractButton>
#include <QPushButton>

#include "app/shell/message_bar.h"
#include "tests/app/opened_window.h"

namespace loom {

constexpr int kPatience = 60000;

inline const char* const kProject = R"({
  "loom": 1,
  "networks": { "main": {
    "nodes": [ {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]},
               {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [260, 120]},
               {"id": "out", "layer": "Linear", "outputs": 2, "at": [0, 60]},
               {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 120]} ],
    "edges": [ ["x", "out"], ["out", "loss"], ["y", "loss.target"] ] } },
  "datasets": { "training": {"csv": "train.csv"} },
  "training": { "network": "main", "dataset": "training", "epochs": EPOCHS, "batch": 4,
                "optimizer": {"name": "Momentum", "learning_rate": 0.05} } })";

inline QByteArray projectOf(int epochs) {
  return QByteArray(kProject).replace("EPOCHS", QByteArray::number(epochs));
}

// What the window does about files, in the same program (files_test.cpp).
int testFiles(int argc, char** argv);

class ShellFixture {
 protected:
  std::unique_ptr<OpenedWindow> m_open;

  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  QString message(const char* key) { return window().messages().text(key); }
  int epochs() { return m_open->project().training.settings.value("epochs", 0); }
  QString write(const QString& name, int epochs) {
    m_open->write(name + "/train.csv",
                  "x__0,x__1,y:label\n1,0,1\n-1,0,0\n1,1,1\n-1,1,0\n1,2,1\n-1,2,0\n1,3,1\n-1,3,0\n");
    return m_open->write(name + '/' + name + ".loom", projectOf(epochs));
  }
  QByteArray read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  void open(const QString& path) {
    window().openProject(path);
    QVERIFY2(workspace().document(), qPrintable(message("open")));
  }
  void press(const QString& text) {
    for (QPushButton* each : window().messages().findChildren<QPushButton*>())
      if (each->text() == text && each->isVisible()) return QTest::mouseClick(each, Qt::LeftButton);
    QFAIL(qPrintable("no button " + text));
  }
  void keys(const char* sequence) {
    QTest::keySequence(&window(), QKeySequence(QString::fromLatin1(sequence)));
    QCoreApplication::processEvents();
  }
  static void forgetOrphans() {
    for (const Orphan& each : RecoveryFile::orphans()) RecoveryFile::remove(each);
  }
  void openWindow() {
    m_open = std::make_unique<OpenedWindow>();
    qputenv("GRADLOOM_PROJECTS", m_open->path("own").toUtf8());
  }
  void closeWindow() {
    if (workspace().document()) workspace().document()->discardRecovery();
    m_open.reset();
    qunsetenv("GRADLOOM_SAMPLES");
  }
};

}  // namespace loom

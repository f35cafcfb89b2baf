#pragma once
// A person's window on hosts: this machine's shell stands for each of them, behind a line that a test can break.
#include <QLabel>
#include <QSignalSpy>
#include <atomic>
#include <mutex>

#include "app/host_checks.h"
#include "app/pages/hosts/check_row.h"
#include "app/pages/hosts/host_list.h"
#include "app/pages/hosts/host_view.h"
#include "app/pages/hosts/hosts_page.h"
#include "app/pages/hosts/queue_panel.h"
#include "launcher/ssh/local_transport.h"
#include "launcher/ssh/ssh_connection.h"
#include "tests/app/opened_window.h"
#include "widgets/controls/button.h"

namespace loom {

inline constexpr int kPatience = 60000;  // ms: a machine may be busy; a quiet one needs a second

inline const char* const kHostsProject = R"({
  "loom": 1,
  "networks": { "main": {
    "nodes": [ {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]},
               {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [260, 120]},
               {"id": "out", "layer": "Linear", "outputs": 2, "at": [0, 60]},
               {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 120]} ],
    "edges": [ ["x", "out"], ["out", "loss"], ["y", "loss.target"] ] } },
  "datasets": { "training": {"csv": "train.csv"} },
  "training": { "network": "main", "dataset": "training", "epochs": 2, "batch": 2,
                "optimizer": {"name": "Momentum", "learning_rate": 0.05} } })";

// What the far side does, set by the test and read on the line's thread.
struct FarSide {
  std::mutex mutex;
  QString fault;  // open() fails with it
  SshFault kind = SshFault::unreachable;
  std::vector<SshQuestion> questions;
  std::vector<std::optional<QString>> answers;
};

class FarTransport : public LocalTransport {
 public:
  FarTransport(FarSide& side, SshAsk ask) : m_side(side), m_ask(std::move(ask)) {}
  void open() override {
    std::vector<SshQuestion> questions;
    {
      const std::lock_guard lock(m_side.mutex);
      if (!m_side.fault.isEmpty()) throw SshError(m_side.kind, m_side.fault.toStdString());
      questions = m_side.questions;
    }
    for (const SshQuestion& each : questions) {
      const auto answer = m_ask(each);
      {
        const std::lock_guard lock(m_side.mutex);
        m_side.answers.push_back(answer);
      }
      if (!answer) throw SshError(SshFault::signIn, "nobody answered");
    }
  }
  QString fingerprint() const override { return QStringLiteral("ED25519 SHA256:9kQ2"); }

 private:
  FarSide& m_side;
  SshAsk m_ask;
};

class HostsWindow : public QObject {
 protected:
  std::unique_ptr<FarSide> m_side;
  std::unique_ptr<QTemporaryDir> m_home;
  std::unique_ptr<OpenedWindow> m_open;

  HostsPage& page() { return *static_cast<HostsPage*>(m_open->window().page("hosts")); }
  HostStore& hosts() { return m_open->workspace().hosts(); }
  const HostReport& report(const QString& host) { return m_open->workspace().checks().report(host); }
  void fail(const QString& sentence, SshFault kind) {
    const std::lock_guard lock(m_side->mutex);
    m_side->fault = sentence;
    m_side->kind = kind;
  }
  void addHost(const QString& text) {
    m_open->click("add-host");
    QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget*>(m_open->part<QLineEdit>("new-host")));
    m_open->type(text);
  }
  CheckRow* row(const QString& name) {
    for (CheckRow* each : page().view().findChildren<CheckRow*>())
      if (each->line().name == name && each->isVisible()) return each;
    return nullptr;
  }
  void fill(const char* name, const QString& text) {
    auto* field = m_open->part<QLineEdit>(name);
    QVERIFY2(field && field->isVisible(), name);
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, text);
  }
  // By its words, as a person presses it; of hidden cards none.
  Button* button(QWidget* in, const char* name) {
    for (Button* each : in->findChildren<Button*>(name))
      if (each->isVisible()) return each;
    return nullptr;
  }
  // On the card of a run, as soon as it stands there.
  void press(const QString& run, const char* name) {
    Button* found = nullptr;
    const auto there = [&] {
      for (QWidget* card : page().queue().findChildren<QWidget*>("run-" + run))
        if (card->isVisible() && (found = button(card, name))) return true;
      return false;
    };
    QTRY_VERIFY2(there(), name);
    QTest::mouseClick(found, Qt::LeftButton);
  }
  void openProject() {
    m_open->write("p/train.csv", "x__0,x__1,y:label\n1,0,0\n0,1,1\n1,1,1\n0,0,0\n");
    m_open->window().openProject(m_open->write("p/project.loom", kHostsProject));
    QTRY_VERIFY(m_open->workspace().document());
    QTRY_COMPARE(m_open->workspace().errors(), 0);
  }
  void takeDown() {
    if (m_open) {
      for (const RunRecord& each : m_open->workspace().store().runs())
        if (isLive(each.state)) m_open->workspace().launcher().kill(each.id);
      QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().launcher().running(), 0, kPatience);
    }
    m_open.reset();
  }
  void setUp() {
    m_side = std::make_unique<FarSide>();
    m_home = std::make_unique<QTemporaryDir>();
    qputenv("HOME", m_home->path().toUtf8());
    QFile config(m_home->filePath("config"));
    QVERIFY(config.open(QIODevice::WriteOnly));
    config.write("Host vega\n  HostName vega.lab.example\n  User mara\nHost *\n  Port 22\n");
    config.close();
    m_open = std::make_unique<OpenedWindow>(LineOptions{
        .program = QStringLiteral(LOOM_PROGRAM),
        .sshConfig = config.fileName(),
        .transport = [side = m_side.get()](const SshAsk& ask) { return std::make_unique<FarTransport>(*side, ask); },
        .firstWaitMs = 50,
        .longestWaitMs = 200});
    QTest::keyClick(&m_open->window(), Qt::Key_6, Qt::ControlModifier);
    QTRY_COMPARE(m_open->window().currentPage(), QString("hosts"));
  }
};

int testHostLinks(int argc, char** argv);

}  // namespace loom

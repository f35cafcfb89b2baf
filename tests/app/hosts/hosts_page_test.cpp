// A person at the Hosts page and the host chooser: hosts are added, checked, changed, removed, asked for; runs are sent
// to one.
#include <QClipboard>
#include <QDialog>
#include <QDirIterator>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QTabBar>

#include "app/pages/training/training_page.h"
#include "app/shell/host_button.h"
#include "app/shell/message_bar.h"
#include "app/shell/top_bar.h"
#include "launcher/job.h"
#include "tests/app/hosts/hosts_window.h"
#include "tests/patience.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/segmented_control.h"

namespace loom {

class HostsPageTest : public HostsWindow {
  Q_OBJECT

 private Q_SLOTS:
  void init() { setUp(); }
  void cleanup() {
    takeDown();
    m_home.reset();
  }

  void addingAHostChecksItAtOnce() {
    QVERIFY(hosts().hosts().isEmpty());
    addHost("mara@head.atlas.example:2222");
    QCOMPARE(hosts().hosts().size(), 1);
    const Host host = hosts().hosts().first();
    QCOMPARE(host.user, QString("mara"));
    QCOMPARE(host.port, 2222);
    QCOMPARE(page().list().current(), host.id);
    // Names stand there before anything is known of them.
    QVERIFY(row("Host key"));
    QTRY_VERIFY_WITH_TIMEOUT(report(host.id).at > 0, kPatience);
    QVERIFY(report(host.id).reached());
    QVERIFY(row("Host key")->line().finding.contains("SHA256:9kQ2"));
    QVERIFY(row("Real start")->line().finding.startsWith("1 of 1 ranks"));
    QVERIFY(m_open->part<QLabel>("host-checked")->text().contains("fake loom"));
    QVERIFY(m_open->part<QLabel>("host-place")->text().startsWith("mara@head.atlas.example:2222"));
    QVERIFY(!m_open->workspace().checks().sign(host.id).words.isEmpty());
    // It is remembered: another window knows what this one found out.
    const HostChecks other(m_open->workspace().lines(), {}, m_open->workspace().preferences());
    QCOMPARE(other.report(host.id).lines.size(), report(host.id).lines.size());
  }

  // What is said where no host is known stands on the same ground as this machine above it, in both themes.
  void theEmptyStateStandsOnThePagesGround() {
    auto* empty = page().findChild<EmptyState*>();
    QVERIFY(empty && empty->isVisible());
    for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
      Theme::of().setMode(mode);
      QCoreApplication::processEvents();
      const QImage picture = page().grab().toImage();
      QCOMPARE(picture.pixelColor(empty->mapTo(&page(), QPoint(3, empty->height() - 3))),
               Theme::of().colour(Colour::app));
    }
    Theme::of().setMode(ThemeMode::light);
  }

  void whatIsNoAddressIsSaidAtTheField() {
    addHost("two words");
    QVERIFY(hosts().hosts().isEmpty());
    auto* fault = m_open->part<QLabel>("new-host-fault");
    QVERIFY(fault->isVisible());
    QVERIFY(fault->text().contains("two words"));
    QTest::keyClick(m_open->part<QLineEdit>("new-host"), Qt::Key_Escape);
    QVERIFY(!m_open->part<QLineEdit>("new-host")->isVisible());
  }

  void hostsOfTheConfigurationAreOffered() {
    m_open->click("add-vega");
    QCOMPARE(hosts().hosts().size(), 1);
    QCOMPARE(hosts().hosts().first().address, QString("vega"));
    QTRY_VERIFY_WITH_TIMEOUT(report("vega").at > 0, kPatience);
    // What is in the list is not offered again.
    QTRY_VERIFY(!m_open->part<QAbstractButton>("add-vega"));
  }

  void thisMachineIsCheckedToo() {
    QVERIFY(page().list().current().isEmpty());
    QVERIFY(!m_open->part<QAbstractButton>("edit-host")->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(report({}).at > 0, kPatience);  // at the first look, by itself
    const double first = report({}).at;
    m_open->click("check-host");
    QTRY_VERIFY_WITH_TIMEOUT(report({}).at > first, kPatience);
    QVERIFY(row("Real start"));
    QVERIFY(!row("SSH"));
  }

  void aFailedLineStandsOpenWithItsRemedy() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    const auto passed = report("there").lines.size();
    m_open->workspace().lines().line("there")->disconnectNow();
    QTRY_COMPARE(m_open->workspace().lines().line("there")->state(), LineState::offline);
    fail("the key of there has changed: it shows ED25519 SHA256:aaaa, but known_hosts has ED25519 SHA256:9kQ2",
         SshFault::hostKey);
    m_open->click("check-host");
    QTRY_VERIFY(row("Host key") && row("Host key")->line().status == CheckLine::Status::failed);
    CheckRow* const failed = row("Host key");
    QTRY_VERIFY(failed->copyButton()->isVisible());
    QTest::mouseClick(failed->copyButton(), Qt::LeftButton);
    QCOMPARE(QApplication::clipboard()->text(), failed->line().remedy);
    // Both fingerprints stand there, and on the other pages in a bar.
    QTRY_VERIFY(m_open->part<QLabel>("host-fault-text")->isVisible());
    for (const char* each : {"SHA256:aaaa", "SHA256:9kQ2"})
      QVERIFY(m_open->part<QLabel>("host-fault-text")->text().contains(each));
    QTest::keyClick(&m_open->window(), Qt::Key_0, Qt::ControlModifier);
    QTRY_VERIFY(m_open->window().messages().text("hosts").contains("SHA256:aaaa"));
    // The sentence names the host itself.
    QCOMPARE(m_open->window().messages().text("hosts").count("there"), 1);
    QVERIFY(m_open->window().messages().text("hosts").startsWith("The key of there"));
    QTest::keyClick(&m_open->window(), Qt::Key_6, Qt::ControlModifier);
    QVERIFY(m_open->window().messages().text("hosts").isEmpty());
    // What was known stays, with its age.
    QVERIFY(report("there").before.size() == passed);
    QTRY_VERIFY(row("Disk"));
    fail({}, SshFault::unreachable);
    m_open->click("check-host");
    QTRY_VERIFY_WITH_TIMEOUT(!report("there").checking && report("there").reached(), kPatience);
    QTRY_VERIFY(!m_open->part<QLabel>("host-fault-text")->isVisible());
  }

  // One bar for all of them; closed, it stays closed on every page until another host needs somebody.
  void hostsThatNeedSomebodyShareABarThatStaysClosed() {
    fail("signing in on mara@there failed: denied", SshFault::signIn);
    addHost("there");
    QTRY_VERIFY(row("SSH") && row("SSH")->line().status == CheckLine::Status::failed);
    addHost("far");
    QTRY_VERIFY_WITH_TIMEOUT(m_open->workspace().checks().sign("far").status == Status::failed, kPatience);
    MessageBars& bars = m_open->window().messages();
    const auto key = [&](Qt::Key page) {
      QTest::keyClick(&m_open->window(), page, Qt::ControlModifier);
      QCoreApplication::processEvents();
    };
    const auto crosses = [&] {
      QList<QAbstractButton*> found;
      for (auto* each : bars.findChildren<QAbstractButton*>())
        if (each->isVisible() && each->accessibleName() == "Close this message") found << each;
      return found;
    };
    key(Qt::Key_0);
    QTRY_VERIFY2(bars.text("hosts").startsWith("2 hosts need you: "), qPrintable(bars.text("hosts")));
    QCOMPARE(crosses().size(), 1);
    QTest::mouseClick(crosses().front(), Qt::LeftButton);
    QVERIFY(bars.text("hosts").isEmpty());
    key(Qt::Key_6);
    m_open->click("check-host");
    QTRY_VERIFY(row("SSH") && row("SSH")->line().status == CheckLine::Status::failed);
    key(Qt::Key_0);
    QTest::qWait(50);
    QVERIFY2(bars.text("hosts").isEmpty(), qPrintable(bars.text("hosts")));
    key(Qt::Key_6);
    addHost("third");
    QTRY_VERIFY_WITH_TIMEOUT(m_open->workspace().checks().sign("third").status == Status::failed, kPatience);
    key(Qt::Key_0);
    QTRY_VERIFY2(bars.text("hosts").startsWith("3 hosts need you: "), qPrintable(bars.text("hosts")));
  }

  void theRemedyIsTheCommandOfTheSentence() {
    fail(
        "signing in on mara@there failed: denied; tried: key a. Put your public key there with: ssh-copy-id -p 2222 "
        "mara@there",
        SshFault::signIn);
    addHost("mara@there:2222");
    QTRY_VERIFY(row("SSH") && row("SSH")->line().status == CheckLine::Status::failed);
    QCOMPARE(row("SSH")->line().remedy, QString("ssh-copy-id -p 2222 mara@there"));
  }

  void aKeyOfOnesOwnIsRemembered() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    m_open->click("edit-host");
    fill("host-form-key", "~/.ssh/cluster");
    QCOMPARE(hosts().find("there")->key, QString("~/.ssh/cluster"));
    QCOMPARE(hostFromJson(toJson(*hosts().find("there"))).key, QString("~/.ssh/cluster"));
  }

  void theSystemsSshAndTheLimitOfAStalledRankAreChosenInTheForm() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    m_open->click("edit-host");
    m_open->click("host-form-system-ssh");
    QVERIFY(hosts().find("there")->systemSsh);
    fill("host-form-stalled", "2");
    QVERIFY(m_open->part<QLabel>("fault-host-form-stalled")->isVisible());
    QCOMPARE(hosts().find("there")->stalledAfter, 0);
    fill("host-form-stalled", "90");
    QVERIFY(!m_open->part<QLabel>("fault-host-form-stalled")->isVisible());
    QCOMPARE(hosts().find("there")->stalledAfter, 90);
    // What was chosen stands there again when the form is opened anew.
    m_open->click("edit-host");
    m_open->click("edit-host");
    QVERIFY(m_open->part<QAbstractButton>("host-form-system-ssh")->isChecked());
    m_open->click("host-form-system-ssh");
    QVERIFY(!hosts().find("there")->systemSsh);
    auto* stalled = m_open->part<QLineEdit>("host-form-stalled");
    stalled->setFocus();
    stalled->selectAll();
    QTest::keyClick(stalled, Qt::Key_Delete);
    QCOMPARE(hosts().find("there")->stalledAfter, 0);
  }

  void aFolderOfNvidiasLibrariesIsNamedInTheForm() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    m_open->click("edit-host");
    fill("host-form-libraries", "nvidia/lib");
    QVERIFY(m_open->part<QLabel>("fault-host-form-libraries")->isVisible());
    QVERIFY(hosts().find("there")->libraries.isEmpty());
    fill("host-form-libraries", "/opt/nvidia/lib");
    QVERIFY(!m_open->part<QLabel>("fault-host-form-libraries")->isVisible());
    QCOMPARE(hosts().find("there")->libraries, QString("/opt/nvidia/lib"));
  }

  void ranksAreAskedForAlsoOfOne() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    openProject();
    m_open->workspace().chooseHost("there");
    m_open->click("host-chooser");
    auto* ranks = m_open->part<QLineEdit>("ranks");
    QVERIFY(ranks && ranks->isVisible());
    ranks->selectAll();
    QTest::keyClicks(ranks, "4");
    QVERIFY2(m_open->part<QLabel>("ranks-fault")->text().contains("Hosts page"),
             qPrintable(m_open->part<QLabel>("ranks-fault")->text()));
  }

  void anUnknownKeyIsAcceptedByHandAlone() {
    m_side->questions = {{.kind = SshQuestion::Kind::newHostKey,
                          .host = "there",
                          .text = "there is not known yet.",
                          .fingerprint = "ED25519 SHA256:9kQ2"}};
    addHost("there");
    QTRY_VERIFY(m_open->part<QDialog>("host-question"));
    auto* dialog = m_open->part<QDialog>("host-question");
    QVERIFY(dialog->isModal());
    QCOMPARE(dialog->findChild<QLabel*>("fingerprint")->text(), QString("ED25519 SHA256:9kQ2"));
    QTest::keyClick(dialog, Qt::Key_Return);  // a careless Enter declines
    QTRY_VERIFY(!m_open->part<QDialog>("host-question"));
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    QVERIFY(m_side->answers.size() == 1 && !m_side->answers[0]);
    QElapsedTimer clock;
    clock.start();
    m_open->click("check-host");
    QTRY_VERIFY(m_open->part<QDialog>("host-question"));
    QTest::qWait(400);  // somebody compares the key
    m_open->click("accept");
    QTRY_VERIFY_WITH_TIMEOUT(!report("there").checking && report("there").reached(), kPatience);
    // That is no part of how long the host took.
    QVERIFY2(report("there").took <= static_cast<double>(clock.elapsed()) / 1000 - 0.4,
             qPrintable(QString::number(report("there").took)));
    QCOMPARE(m_side->answers.back(), std::optional<QString>("yes"));
  }

  void passwordAndCodeAreAskedInTheirOrder() {
    m_side->questions = {
        {.kind = SshQuestion::Kind::password, .host = "there", .text = "Password:"},
        {.kind = SshQuestion::Kind::code, .host = "there", .text = "Verification code:", .visible = true}};
    addHost("there");
    QTRY_VERIFY(m_open->part<QLineEdit>("answer"));
    QCOMPARE(m_open->part<QLineEdit>("answer")->echoMode(), QLineEdit::Password);
    QTest::keyClicks(m_open->part<QLineEdit>("answer"), "hunter2");
    m_open->click("accept");
    QTRY_VERIFY(m_open->part<QLineEdit>("answer") &&
                m_open->part<QLineEdit>("answer")->echoMode() == QLineEdit::Normal);
    QTest::keyClicks(m_open->part<QLineEdit>("answer"), "123456");
    m_open->click("accept");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    const std::vector<std::optional<QString>> wanted{"hunter2", "123456"};
    QVERIFY(m_side->answers == wanted);
    // Nothing that was typed is on the disk.
    QDirIterator files(m_open->path("."), QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
      QFile file(files.next());
      QVERIFY(file.open(QIODevice::ReadOnly));
      QVERIFY2(!file.readAll().contains("hunter2"), qPrintable(file.fileName()));
    }
  }

  // Whoever is asked again is told why.
  void aPasswordThatTheHostRefusedIsAskedAgainWithAWord() {
    m_side->questions = {{.kind = SshQuestion::Kind::password, .host = "there", .text = "Password:"},
                         {.kind = SshQuestion::Kind::password,
                          .host = "there",
                          .text = "Password:",
                          .refused = "there refused the password."}};
    addHost("there");
    QTRY_VERIFY(m_open->part<QLineEdit>("answer"));
    QVERIFY(!m_open->part<QLabel>("question-refused"));
    QTest::keyClicks(m_open->part<QLineEdit>("answer"), "hunter2");
    m_open->click("accept");
    QTRY_VERIFY(m_open->part<QLabel>("question-refused"));
    QVERIFY(m_open->part<QLabel>("question-refused")->isVisible());
    QCOMPARE(m_open->part<QLabel>("question-refused")->text(), QString("there refused the password."));
    QTest::keyClicks(m_open->part<QLineEdit>("answer"), "hunter3");
    m_open->click("accept");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    QCOMPARE(m_side->answers.back(), std::optional<QString>("hunter3"));
  }

  void whatIsTypedInTheFormHoldsUnlessItIsWrong() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    m_open->click("edit-host");
    fill("host-form-port", "70000");
    auto* fault = m_open->part<QLabel>("fault-host-form-port");
    QVERIFY(fault->isVisible());
    QVERIFY2(fault->text().contains("70000"), qPrintable(fault->text()));
    QCOMPARE(hosts().find("there")->port, 7000);  // the last good one, as typed so far
    fill("host-form-port", "2200");
    QVERIFY(!fault->isVisible());
    QCOMPARE(hosts().find("there")->port, 2200);
    fill("host-form-folder", "/data/two words");
    QVERIFY(m_open->part<QLabel>("fault-host-form-folder")->isVisible());
    QVERIFY(!m_open->part<QLabel>("fault-host-form-port")->isVisible());
    fill("host-form-folder", "/data/loom");
    auto* places = m_open->part<QPlainTextEdit>("host-form-places");
    QCOMPARE(places->grab().toImage().pixelColor(places->width() / 2, 0),
             Theme::of().colour(Colour::control));  // a field, and seen to be one
    QTest::keyClicks(places, "a01 8");
    QTest::keyClick(places, Qt::Key_Return);
    QTest::keyClicks(places, "a02 8");
    QCOMPARE(hosts().find("there")->totalRanks(), 16);
    fill("host-form-mpirun", "/opt/mpi/bin/mpirun --mca \"btl tcp\"");
    QCOMPARE(hosts().find("there")->mpirun, (QStringList{"/opt/mpi/bin/mpirun", "--mca", "btl tcp"}));
    // Slurm: its fields, and the script as it will be submitted.
    QTest::mouseClick(m_open->part<SegmentedControl>("host-kind"), Qt::LeftButton, {},
                      m_open->part<SegmentedControl>("host-kind")->segment(1).center());
    QCOMPARE(hosts().find("there")->kind, HostKind::slurm);
    fill("host-form-partition", "cpu");
    fill("host-form-nodes", "4");
    auto* script = m_open->part<QLabel>("job-script");
    QVERIFY(script->isVisible());
    QVERIFY(script->text().contains("#SBATCH --partition=cpu"));
    QVERIFY(script->text().contains("#SBATCH --nodes=4"));
    fill("host-form-partition", "c p u");
    QVERIFY(m_open->part<QLabel>("fault-host-form-partition")->isVisible());
    QCOMPARE(hosts().find("there")->slurm.partition, QString("c"));
  }

  void removingIsTakenBackByUndo() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    auto* list = m_open->part<QListWidget>("host-list");
    list->setFocus();
    QTest::keyClick(list, Qt::Key_Delete);
    QVERIFY(hosts().hosts().isEmpty());
    m_open->undo();
    QCOMPARE(hosts().hosts().size(), 1);
    QCOMPARE(page().list().current(), QString("there"));
    m_open->click("edit-host");
    m_open->click("remove-host");
    QVERIFY(hosts().hosts().isEmpty());
  }

  void trainSendsTheRunToTheChosenHost() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    Host wide = *hosts().find("there");
    wide.name = "lab cluster";
    wide.ranks = 4;
    hosts().change(wide);
    openProject();
    m_open->click("host-chooser");
    QTRY_VERIFY(m_open->part<QAbstractButton>("choose-there"));
    m_open->click("choose-there");
    QCOMPARE(m_open->workspace().host(), QString("there"));
    QCOMPARE(m_open->workspace().ranks(), 4);
    auto* ranks = m_open->part<QLineEdit>("ranks");
    QVERIFY(ranks->isVisible());
    ranks->selectAll();
    QTest::keyClicks(ranks, "9");
    QVERIFY(m_open->part<QLabel>("ranks-fault")->isVisible());
    QCOMPARE(m_open->workspace().ranks(), 4);
    ranks->selectAll();
    QTest::keyClicks(ranks, "1");
    QTest::keyClick(ranks, Qt::Key_Return);
    QCOMPARE(m_open->workspace().ranks(), 1);
    QVERIFY(m_open->window().topBar().hostButton().accessibleName().contains("lab cluster 1 rank"));
    QVERIFY(m_open->part<QAbstractButton>("status-host")->text().startsWith("lab cluster"));

    m_open->window().train({.overrides = {"steps=4000", "ms=5"}});
    QTRY_COMPARE(m_open->workspace().runs().size(), 1);
    const QString id = m_open->workspace().runs().first().id;
    RunRecord read;
    JobFile job;
    QVERIFY(readJobFile(m_open->workspace().store().find(id)->folder, read, job));
    QCOMPARE(job.host, QString("there"));
    QCOMPARE(job.ranks, 1);
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().store().find(id)->state, RunState::running, kPatience);
    QCOMPARE(m_open->window().currentPage(), QString("training"));

    // The queue: progress, curves, what waits, stop.
    m_open->window().train({.overrides = {"steps=20"}});
    m_open->click("rail-hosts");
    QTRY_COMPARE(page().queue().length(), 2);
    press(id, "show-curves");
    QCOMPARE(m_open->window().currentPage(), QString("training"));
    QCOMPARE(static_cast<TrainingPage*>(m_open->window().page("training"))->run(), id);
    m_open->click("rail-hosts");
    // A host that carries a run stays.
    page().list().setCurrent("there");
    auto* list = m_open->part<QListWidget>("host-list");
    list->setFocus();
    QTest::keyClick(list, Qt::Key_Delete);
    QVERIFY(hosts().find("there"));
    QVERIFY(m_open->part<QLabel>("new-host-fault")->text().contains("stop them first"));
    for (const RunRecord& each : m_open->workspace().runs()) {
      if (each.state != RunState::queued) continue;
      press(each.id, "stop-run");
      QCOMPARE(m_open->workspace().store().find(each.id)->state, RunState::stopped);
    }
    QTRY_COMPARE(page().queue().length(), 1);
    press(id, "stop-run");
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().store().find(id)->state, RunState::stopped, kPatience);
    QTRY_COMPARE(page().queue().length(), 0);

    // The choice belongs to the project.
    QVERIFY(m_open->workspace().closeProject());
    openProject();
    QCOMPARE(m_open->workspace().host(), QString("there"));
    QCOMPARE(m_open->workspace().ranks(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().launcher().running(), 0, kPatience);
  }

  void waitingRunsMoveByKeysAndButtonsAndSharedOnesGiveWay() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    openProject();
    m_open->workspace().chooseHost("there");
    const auto train = [&](const QString& name, const QStringList& overrides, Priority priority = Priority::exclusive) {
      m_open->window().train({.name = name, .overrides = overrides, .priority = priority});
      return m_open->workspace().runs().last().id;
    };
    const Launcher& launcher = m_open->workspace().launcher();
    const auto state = [&](const QString& id) { return m_open->workspace().store().find(id)->state; };
    const QString idle = train("idle", {"steps=4000", "ms=5"}, Priority::shared);
    QTRY_VERIFY_WITH_TIMEOUT(m_open->workspace().store().find(idle)->step > 2, kPatience);
    const QString first = train("first", {"steps=4000", "ms=5"}), second = train("second", {"steps=20"}),
                  third = train("third", {"steps=20"});
    QTRY_COMPARE_WITH_TIMEOUT(state(first), RunState::running, kPatience);
    QCOMPARE(state(idle), RunState::queued);
    QCOMPARE(launcher.queue(), QStringList({second, third, idle}));
    m_open->click("rail-hosts");
    const auto card = [&](const QString& id) -> QWidget* {
      for (QWidget* each : page().queue().findChildren<QWidget*>("run-" + id))
        if (each->isVisible() && button(each, "earlier")) return each;
      return nullptr;
    };
    QTRY_VERIFY(card(third) && card(idle));
    QCOMPARE(button(card(idle), "priority")->text(), QString("shared when idle"));
    QCOMPARE(button(card(third), "priority")->text(), QString("exclusive"));
    m_open->window().activateWindow();  // the popover of the chooser had taken it
    QVERIFY(QTest::qWaitForWindowActive(&m_open->window()));
    card(third)->setFocus();
    QTest::keyClick(card(third), Qt::Key_Up, Qt::AltModifier);
    QCOMPARE(launcher.queue(), QStringList({third, second, idle}));
    QTRY_VERIFY(card(third) && card(third)->hasFocus());
    QTRY_VERIFY(card(second));
    QVERIFY(!button(card(second), "later")->isEnabled());  // behind it are shared ones
    press(second, "earlier");
    QCOMPARE(launcher.queue(), QStringList({second, third, idle}));
    press(first, "stop-run");
    QTRY_COMPARE_WITH_TIMEOUT(state(third), RunState::finished, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(state(idle), RunState::running, kPatience);
    QCOMPARE(m_open->workspace().store().find(idle)->attempt, std::int64_t{2});
  }

  void aRunThatWaitsForItsHostSaysSo() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    openProject();
    m_open->workspace().chooseHost("there");
    m_open->window().train({.overrides = {"steps=20"}});
    const QString id = m_open->workspace().runs().first().id;
    QSignalSpy stages(&m_open->workspace().launcher(), &Launcher::stageChanged);
    QTRY_VERIFY_WITH_TIMEOUT(!stages.isEmpty() || m_open->workspace().store().find(id)->state == RunState::finished,
                             kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().store().find(id)->state, RunState::finished, kPatience);
    QTest::keyClick(&m_open->window(), Qt::Key_6, Qt::ControlModifier);
    QTRY_VERIFY(page().queue().findChild<QWidget*>("show-in-runs"));
  }

  void inASmallWindowTheQueueIsATab() {
    auto* tabs = m_open->part<QTabBar>("hosts-tabs");
    QVERIFY(!tabs->isVisible());
    QVERIFY(page().queue().isVisible());
    m_open->window().resize(1024, 700);
    QTRY_VERIFY(tabs->isVisible());
    QVERIFY(!page().queue().isVisible());
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(1).center());
    QVERIFY(page().queue().isVisible());
    m_open->window().resize(1440, 900);
    QTRY_VERIFY(!tabs->isVisible());
    QVERIFY(page().queue().isVisible() && page().view().isVisible());
  }
};

}  // namespace loom

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  loom::HostsPageTest pages;
  const int failed = QTest::qExec(&pages, argc, argv);
  return failed + loom::testHostLinks(argc, argv);
}
#include "hosts_page_test.moc"

// A person measures what lies between the ranks of a machine, sees where the ways of adding up cross, and stops it.
#include "app/pages/hosts/host_links.h"

#include <QLabel>
#include <QScrollArea>

#include "app/pages/hosts/sums_plot.h"
#include "tests/app/hosts/hosts_window.h"
#include "tests/patience.h"
#include "widgets/controls/segmented_control.h"

namespace loom {

class HostLinksTest : public HostsWindow {
  Q_OBJECT

  void shot(const QString& name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_SHOTS");
    if (folder.isEmpty()) return;
    for (const auto& [mode, word] : {std::pair(ThemeMode::light, "light"), std::pair(ThemeMode::dark, "dark")}) {
      Theme::of().setMode(mode);
      for (const QSize size : {QSize(1440, 900), QSize(1024, 700)}) {
        m_open->window().resize(size);
        QTest::qWait(300);
        m_open->part<QScrollArea>("host-scroll")->ensureWidgetVisible(m_open->part<QWidget>("host-links"));
        QTest::qWait(200);
        m_open->window().grab().save(QString("%1/%2-%3-%4.png").arg(folder, name, word).arg(size.width()));
      }
    }
    Theme::of().setMode(ThemeMode::light);
    m_open->window().resize(1440, 900);
    QTest::qWait(200);
  }

  // Each measurement of the next ones (tests/launcher/fake_loom.cpp).
  void slowDown(const QByteArray& milliseconds) {
    QFile file(m_home->filePath("bench_ms"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(milliseconds) > 0);
  }

 private Q_SLOTS:
  void init() { setUp(); }
  void cleanup() {
    takeDown();
    m_home.reset();
  }

  void linksAreMeasuredOnRequestAndKept() {
    QTRY_VERIFY_WITH_TIMEOUT(report({}).at > 0, kPatience);
    auto* links = m_open->part<HostLinks>("host-links");
    auto* plot = m_open->part<SumsPlot>("links-plot");
    m_open->part<QScrollArea>("host-scroll")->ensureWidgetVisible(plot);
    QCoreApplication::processEvents();
    QVERIFY(!m_open->part<QWidget>("links-what")->isVisible());
    shot("links-empty");
    m_open->click("measure-links");
    QTRY_VERIFY(links->measures());
    QTRY_VERIFY_WITH_TIMEOUT(!links->measures(), kPatience);
    QVERIFY2(links->sums().taken() == 10, qPrintable(m_open->part<QLabel>("links-words")->text()));
    QVERIFY(m_open->part<QLabel>("links-words")->text().contains("on Ring is the fastest, before it Tree"));
    QVERIFY(m_open->part<QLabel>("links-hint")->text().contains("ranks, measured"));
    // They meet where 10 µs + n / 1 GB/s is 100 µs + n / 4 GB/s, but for lines between the sizes.
    const std::vector<SumCrossing> crossings = links->sums().crossings();
    QCOMPARE(crossings.size(), std::size_t{1});
    QVERIFY(crossings[0].bytes > 65536 && crossings[0].bytes < 262144);
    // One cursor for all ways: by the mouse, and by keys.
    m_open->part<QScrollArea>("host-scroll")->ensureWidgetVisible(plot);
    QCoreApplication::processEvents();
    const QPoint at = plot->placeOf(1, 2).toPoint();
    QTest::mouseMove(plot, at);
    QMouseEvent move(QEvent::MouseMove, QPointF(at), plot->mapToGlobal(QPointF(at)), Qt::NoButton, {}, {});
    QApplication::sendEvent(plot, &move);
    QCOMPARE(plot->cursor(), 2);
    QVERIFY2(plot->cursorWords().startsWith("64") && plot->cursorWords().contains("Tree") &&
                 plot->cursorWords().contains("Ring"),
             qPrintable(plot->cursorWords()));
    shot("links");
    plot->setFocus();
    QTest::keyClick(plot, Qt::Key_Right);
    QCOMPARE(plot->cursor(), 3);
    QTest::keyClick(plot, Qt::Key_Escape);
    QCOMPARE(plot->cursor(), -1);
    auto* what = m_open->part<SegmentedControl>("links-what");
    QTest::mouseClick(what, Qt::LeftButton, {}, what->segment(1).center());
    QTest::keyClick(plot, Qt::Key_Left);
    QVERIFY(plot->cursorWords().contains("GB/s"));
    // Kept, and what is predicted for this machine is told of them.
    Preferences& preferences = m_open->workspace().preferences();
    QCOMPARE(keptSums(preferences, {}).taken(), 10);
    QCOMPARE(linkArguments(preferences, {}, nullptr), QStringList({"--within", "2", "40000"}));
    // Of other machines than these it is not.
    Host other;
    other.address = "elsewhere";
    QVERIFY(linkArguments(preferences, {}, &other).isEmpty());
  }

  void aMeasurementThatIsStoppedLeavesWhatWasKept() {
    QTRY_VERIFY_WITH_TIMEOUT(report({}).at > 0, kPatience);
    slowDown("60000");
    auto* links = m_open->part<HostLinks>("host-links");
    m_open->part<QScrollArea>("host-scroll")->ensureWidgetVisible(links);
    QCoreApplication::processEvents();
    m_open->click("measure-links");
    QTRY_VERIFY_WITH_TIMEOUT(m_open->part<QLabel>("links-hint")->text().contains("0 of 10"), kPatience);
    QVERIFY(m_open->part<QWidget>("links-progress")->isVisible());
    QCOMPARE(m_open->part<QAbstractButton>("measure-links")->text(), QString("Stop"));
    m_open->click("measure-links");
    QTRY_VERIFY(!links->measures());
    QCOMPARE(links->sums().taken(), 0);
    QVERIFY(!m_open->part<QWidget>("links-progress")->isVisible());
    // At once again: it begins when the one before has gone.
    slowDown("1");
    m_open->click("measure-links");
    QTRY_VERIFY_WITH_TIMEOUT(links->sums().taken() == 10, kPatience);
  }
};

int testHostLinks(int argc, char** argv) {
  HostLinksTest test;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace loom

#include "host_links_test.moc"

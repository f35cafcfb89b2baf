// Controls by mouse and keys.
#include <QLabel>
#include <QSignalSpy>
#include <QVBoxLayout>
#include <QtTest>

#include "tests/patience.h"
#include "widgets/controls/button.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/popover.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/split_button.h"
#include "widgets/controls/splitter.h"
#include "widgets/controls/status_label.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

using namespace loom;

class ControlsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<Theme> m_theme;

 private Q_SLOTS:
  void initTestCase() { m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light}); }
  void cleanupTestCase() { m_theme.reset(); }
  void noticeOffersUndoAndGoes();
  void noticeStaysUnderThePointer();
  void popoverClosesByEscape();
  void segmentsMoveByKeys();
  void searchFieldEscapes();
  void splitterGoesBack();
  void splitButtonHasTwoParts();
  void emptyStateActs();
  void runningTurnsUnlessMotionIsReduced();
  void flowBreaksLines();
  void oneOfSeveral();
};

void ControlsTest::noticeOffersUndoAndGoes() {
  QWidget window;
  window.resize(800, 600);
  NoticeArea notice(&window, 28);
  window.show();
  int undone = 0;
  notice.setDuration(80);
  notice.show("Deleted run lars-4096", "Undo", [&] { ++undone; });
  QVERIFY(notice.isShowing());
  QVERIFY(notice.geometry().right() <= window.width() + 4);
  QVERIFY(notice.geometry().bottom() <= window.height());
  QTest::mouseClick(notice.actionButton(), Qt::LeftButton);
  QCOMPARE(undone, 1);
  QVERIFY(!notice.isShowing());
  notice.show("Saved a copy");
  QVERIFY(!notice.actionButton()->isVisible());
  QTRY_VERIFY(!notice.isShowing());
  QCOMPARE(undone, 1);
}

void ControlsTest::noticeStaysUnderThePointer() {
  QWidget window;
  window.resize(800, 600);
  NoticeArea notice(&window);
  window.show();
  notice.setDuration(60);
  notice.show("One");
  QEnterEvent enter(QPointF(5, 5), QPointF(5, 5), QPointF(5, 5));
  QApplication::sendEvent(&notice, &enter);
  QTest::qWait(150);
  QVERIFY(notice.isShowing());
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(&notice, &leave);
  QTRY_VERIFY(!notice.isShowing());
}

void ControlsTest::popoverClosesByEscape() {
  QWidget window;
  Button anchor("Change rate...", ButtonKind::outlined, &window);
  window.resize(400, 300);
  window.show();
  Popover popover(&window);
  popover.setTitle("Change rate");
  QSignalSpy closed(&popover, &Popover::closed);
  auto* line = new QLineEdit(&popover);
  popover.contentLayout()->addWidget(line);
  popover.openAt(&anchor);
  QVERIFY(popover.isVisible());
  QVERIFY(!popover.isModal());
  QTest::keyClick(&popover, Qt::Key_Escape);
  QVERIFY(!popover.isVisible());
  QCOMPARE(closed.count(), 1);
}

void ControlsTest::segmentsMoveByKeys() {
  SegmentedControl segments({"Step", "Epoch", "Samples"});
  segments.resize(segments.sizeHint());
  segments.show();
  QSignalSpy changed(&segments, &SegmentedControl::currentChanged);
  QTest::mouseClick(&segments, Qt::LeftButton, {}, segments.segment(2).center());
  QCOMPARE(segments.current(), 2);
  QTest::keyClick(&segments, Qt::Key_Right);
  QCOMPARE(changed.count(), 1);
  QTest::keyClick(&segments, Qt::Key_Home);
  QCOMPARE(segments.current(), 0);
  for (int i = 0; i < 3; ++i) QVERIFY(segments.segment(i).width() >= 24 && segments.segment(i).height() >= 24);
}

void ControlsTest::searchFieldEscapes() {
  SearchField field("Search layers", "/");
  field.show();
  QSignalSpy escaped(&field, &SearchField::escaped);
  QTest::keyClicks(&field, "dense");
  QTest::keyClick(&field, Qt::Key_Escape);
  QVERIFY(field.text().isEmpty());
  QCOMPARE(escaped.count(), 0);
  QTest::keyClick(&field, Qt::Key_Escape);
  QCOMPARE(escaped.count(), 1);
}

void ControlsTest::splitterGoesBack() {
  Splitter splitter(Qt::Horizontal);
  for (int i = 0; i < 2; ++i) splitter.addWidget(new QWidget);
  splitter.resize(407, 100);
  splitter.show();
  splitter.setInitialSizes({100, 300});
  const QList<int> before = splitter.sizes();
  QTest::keyClick(splitter.handle(1), Qt::Key_Right);
  QVERIFY(splitter.sizes() != before);
  QTest::mouseDClick(splitter.handle(1), Qt::LeftButton);
  QCOMPARE(splitter.sizes(), before);
}

void ControlsTest::splitButtonHasTwoParts() {
  SplitButton train("play", "Train", ButtonKind::filled);
  train.menu()->addAction("Plan only");
  train.show();
  QSignalSpy clicked(&train, &SplitButton::clicked);
  QTest::mouseClick(train.mainPart(), Qt::LeftButton);
  QCOMPARE(clicked.count(), 1);
  QTest::mouseClick(train.menuPart(), Qt::LeftButton);
  QVERIFY(train.menu()->isVisible());
  train.menu()->close();
  QCOMPARE(clicked.count(), 1);
  train.setKind(ButtonKind::outlined);
  QCOMPARE(train.mainPart()->property("kind").toString(), QStringLiteral("outlined"));
}

void ControlsTest::emptyStateActs() {
  EmptyState empty(Figure::chain, "Drag a layer here, or press Shift+A");
  empty.resize(500, 400);
  empty.show();
  QVERIFY(!empty.actionButton()->isVisible());
  empty.setAction("data", "Start from data");
  QSignalSpy triggered(&empty, &EmptyState::actionTriggered);
  QTest::mouseClick(empty.actionButton(), Qt::LeftButton);
  QCOMPARE(triggered.count(), 1);
}

void ControlsTest::runningTurnsUnlessMotionIsReduced() {
  StatusLabel label(Status::running);
  label.show();
  const QImage before = label.grab().toImage();
  QTest::qWait(200);
  QVERIFY(label.grab().toImage() != before);
  m_theme->setReducedMotion(true);
  const QImage still = label.grab().toImage();
  QTest::qWait(200);
  QCOMPARE(label.grab().toImage(), still);
  m_theme->setReducedMotion(false);
  label.setStatus(Status::ok, "Ready");
  QCOMPARE(label.accessibleName(), QStringLiteral("Ready"));
}

void ControlsTest::flowBreaksLines() {
  QWidget host;
  auto* flow = new FlowLayout(&host, 4);
  for (int i = 0; i < 5; ++i) {
    auto* box = new QWidget(&host);
    box->setFixedSize(40, 20);
    flow->addWidget(box);
  }
  QCOMPARE(flow->heightForWidth(220), 20);
  QCOMPARE(flow->heightForWidth(100), 68);
  host.resize(100, 68);
  host.show();
  QCOMPARE(flow->itemAt(2)->geometry().topLeft(), QPoint(0, 24));
}

void ControlsTest::oneOfSeveral() {
  QCOMPARE(counted(1, "nodes"), QString("1 node"));
  QCOMPARE(counted(42240, "nodes"), QString("42,240 nodes"));
  QCOMPARE(singular("outputs"), QString("output"));
}

QTEST_MAIN(ControlsTest)
#include "controls_test.moc"

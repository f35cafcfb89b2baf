// qt_order.cpp says neither too little nor too much: what Qt orders is no race, and what it does not order is still
// reported.
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QEventLoop>
#include <QMutex>
#include <QProcess>
#include <QThread>
#include <QWaitCondition>
#include <string>

namespace {

constexpr int kReported = 66;  // ThreadSanitizer's exit code when it had something to report

// A thread with an object, whose work comes through its queue.
struct Far {
  QThread thread;
  QObject* object = new QObject;
  Far() {
    object->moveToThread(&thread);
    QObject::connect(&thread, &QThread::finished, object, &QObject::deleteLater);
    thread.start();
    // A thread that is asked to end before it looks into its queue never does.
    QMetaObject::invokeMethod(
        object, [] {}, Qt::BlockingQueuedConnection);
  }
  void end() {
    QThread::msleep(200);  // it forgets what was posted when it is asked to end at once
    thread.quit();
    thread.wait();
  }
  ~Far() { end(); }
};

// Each in a process of its own, so that a report is told by the exit code.
void inProcess(void (*work)()) {
  int none = 0;
  QCoreApplication app(none, nullptr);
  work();
  std::exit(0);
}

void callsThereAndBack() {
  QObject here;
  QEventLoop loop;
  std::string text = "from here";
  Far far;
  QMetaObject::invokeMethod(far.object, [&] {
    text += ", there";
    QMetaObject::invokeMethod(&here, [&] {
      text += " and back";
      loop.quit();
    });
  });
  loop.exec();
  text += ".";
}

void waitsForItsEnd() {
  int count = 1;
  Far far;
  QMetaObject::invokeMethod(far.object, [&] { ++count; });
  far.end();
  ++count;
}

// What is deleted at the end of a thread was used here until the thread was asked to end.
void deletesAtItsEnd() {
  struct Holder : QObject {
    std::string text;
    ~Holder() override { text.clear(); }
  };
  QThread thread;
  auto* const holder = new Holder;
  holder->moveToThread(&thread);
  QObject::connect(&thread, &QThread::finished, holder, &QObject::deleteLater);
  thread.start();
  holder->text = "used here";
  thread.quit();
  thread.wait();
}

void signalsAcross() {
  QObject here;
  QEventLoop loop;
  Far far;
  auto* const name = new QObject;  // its signal carries a text from there to here
  name->moveToThread(&far.thread);
  QObject::connect(name, &QObject::objectNameChanged, &here, [&](const QString& text) {
    if (text == "last") loop.quit();
  });
  QObject::connect(&far.thread, &QThread::finished, name, &QObject::deleteLater);
  QMetaObject::invokeMethod(name, [&] {
    for (int i = 0; i < 100; ++i) name->setObjectName(QString::number(i));
    name->setObjectName("last");
  });
  loop.exec();
}

void waitsForACondition() {
  QMutex mutex;
  QWaitCondition filled;
  int value = 0;
  Far far;
  QMutexLocker lock(&mutex);
  QMetaObject::invokeMethod(far.object, [&] {
    const QMutexLocker there(&mutex);
    value = 1;
    filled.wakeAll();
  });
  while (!value) filled.wait(&mutex);
  ++value;
  lock.unlock();
}

void writesAfterItCalled() {
  int count = 0;
  Far far;
  QMetaObject::invokeMethod(far.object, [&] {
    QThread::msleep(50);
    ++count;
  });
  ++count;
}

// A program that was started does not make it blind.
void writesAfterAProgram() {
  int count = 0;
  Far far;
  QProcess program;
  program.start("true", QStringList());
  program.waitForFinished();
  QMetaObject::invokeMethod(far.object, [&] {
    QThread::msleep(50);
    ++count;
  });
  ++count;
}

void readsWithoutWaiting() {
  int value = 0;
  Far far;
  // Not at once: who of the two lets go of the call last is ordered after the other.
  QMetaObject::invokeMethod(far.object, [&] {
    QThread::msleep(20);
    value = 1;
  });
  QThread::msleep(100);
  if (value == 0) QThread::msleep(1);
}

TEST(QtOrder, WhatQtOrdersIsNoRace) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (void (*work)() : {callsThereAndBack, waitsForItsEnd, deletesAtItsEnd, signalsAcross, waitsForACondition})
    EXPECT_EXIT(inProcess(work), testing::ExitedWithCode(0), "");
}

TEST(QtOrder, WhatQtDoesNotOrderIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (void (*work)() : {writesAfterItCalled, readsWithoutWaiting, writesAfterAProgram})
    EXPECT_EXIT(inProcess(work), testing::ExitedWithCode(kReported), "data race");
}

}  // namespace

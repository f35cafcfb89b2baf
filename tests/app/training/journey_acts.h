#pragma once
// What a stranger does between a file of their own and a prediction, by mouse and keys in the real window. Pictures are
// written where GRADLOOM_PICTURES names a folder.
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QStandardPaths>
#include <QTableView>
#include <QTableWidget>

#include "app/pages/data/feeds_bar.h"
#include "app/pages/data/findings_list.h"
#include "app/pages/data/samples_model.h"
#include "app/pages/data/samples_view.h"
#include "app/pages/training/run_prediction.h"
#include "app/pages/training/training_page.h"
#include "tests/app/opened_window.h"

namespace loom {

inline constexpr int kJourneyPatience = 60000;

class JourneyActs : public QObject {
 protected:
  std::unique_ptr<OpenedWindow> m_open;

  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  const DatasetSpec& data() { return m_open->project().datasets.at(0); }
  const Network& drawn() { return m_open->project().networks.at(0); }

  void begin() {
    QStandardPaths::setTestModeEnabled(true);
    qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM);
    m_open = std::make_unique<OpenedWindow>();
    qputenv("GRADLOOM_PROJECTS", m_open->path("own").toUtf8());
  }
  void end() {
    if (workspace().document()) workspace().document()->discardRecovery();
    m_open.reset();
  }
  void picture(const char* name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (!folder.isEmpty()) window().grab().save(QDir(folder).filePath(QString::fromLatin1(name) + ".png"));
  }
  void pressText(const QString& text) {
    QAbstractButton* found = nullptr;
    const auto look = [&] {
      for (QAbstractButton* each : window().findChildren<QAbstractButton*>())
        if (each->isVisible() && each->isEnabled() && each->text() == text) found = each;
      return found;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(look(), qPrintable("no button " + text), kJourneyPatience);
    QTest::mouseClick(found, Qt::LeftButton);
    QCoreApplication::processEvents();
  }
  void goTo(const char* page) {
    m_open->click(qPrintable(QStringLiteral("rail-") + page));
    QTRY_COMPARE(window().currentPage(), QString(page));
  }

  // The Data page.
  FindingsList& findings() { return *window().findChild<FindingsList*>(); }
  int rows() { return window().findChild<SamplesView*>()->findChild<QTableView*>()->model()->rowCount(); }
  QString titles() {
    QStringList all;
    for (int row = 0; row < findings().findings().rowCount(); ++row) all << findings().findings().finding(row).title;
    return all.join(" | ");
  }
  QPushButton* remedy(const QString& title, const QString& text) {
    for (int row = 0; row < findings().findings().rowCount(); ++row) {
      if (findings().findings().finding(row).title != title) continue;
      findings().scrollTo(findings().model()->index(row, 0));
      QWidget* const place = findings().indexWidget(findings().model()->index(row, 0));
      for (QPushButton* button : place ? place->findChildren<QPushButton*>() : QList<QPushButton*>())
        if (button->text() == text && !button->visibleRegion().isEmpty()) return button;
    }
    return nullptr;
  }
  void press(const QString& title, const QString& text) {
    QTRY_VERIFY2_WITH_TIMEOUT(window().settled() && remedy(title, text),
                              qPrintable(title + ": " + text + " of " + titles()), kJourneyPatience);
    QTest::mouseClick(remedy(title, text), Qt::LeftButton);
    QCoreApplication::processEvents();
  }
  // "x: input wants 3×16×16 ..." of each Input that does not get what it needs.
  QString faultsOfFeeds() {
    QStringList all;
    for (const FeedLine& feed : window().findChild<FeedsBar*>()->feeds())
      if (!feed.fault.isEmpty()) all << QString::fromStdString(feed.node) + ": " + feed.fault;
    return all.join(" | ");
  }

  // "Start from data" is pressed already; `column` is what shall be predicted.
  void answer(const QString& column) {
    QTRY_VERIFY_WITH_TIMEOUT(
        m_open->part<QListWidget>("target-columns") && m_open->part<QListWidget>("target-columns")->isVisible(),
        kJourneyPatience);
    auto* const columns = m_open->part<QListWidget>("target-columns");
    const auto found = columns->findItems(column, Qt::MatchExactly);
    QCOMPARE(found.size(), 1);
    QTest::mouseClick(columns->viewport(), Qt::LeftButton, {}, columns->visualItemRect(found.front()).center());
    m_open->click("target-make");
    QTRY_VERIFY_WITH_TIMEOUT(!m_open->document().isBlank(), kJourneyPatience);
    QTRY_VERIFY(!m_open->part<QWidget>("target-card"));
  }
  // Nothing is known to be wrong any more.
  void waitUntilSound() {
    QTRY_VERIFY_WITH_TIMEOUT(
        !m_open->document().knownColumns().empty() && !m_open->document().knownColumns().front().shapes.empty(),
        kJourneyPatience);
    QTRY_VERIFY2_WITH_TIMEOUT(m_open->document().checksAreCurrent() && workspace().errors() == 0, qPrintable(wrong()),
                              kJourneyPatience);
  }
  QString wrong() {
    QStringList all;
    for (const Problem& problem : m_open->document().problems()) all << QString::fromStdString(problem.message);
    return all.join(" | ");
  }
  // Work without a name takes the one that is proposed.
  void train(int number) {
    m_open->activate();
    QTRY_VERIFY2_WITH_TIMEOUT(window().settled() && workspace().errors() == 0, qPrintable(wrong()), kJourneyPatience);
    m_open->click("train");
    if (workspace().isDraft()) {
      QTRY_VERIFY(m_open->part<QLineEdit>("project-name") && m_open->part<QLineEdit>("project-name")->isVisible());
      QTest::keyClick(m_open->part<QLineEdit>("project-name"), Qt::Key_Return);
    }
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().size(), number, kJourneyPatience);
    QTRY_VERIFY_WITH_TIMEOUT(workspace().runs().back().state >= RunState::finished, kJourneyPatience);
    QVERIFY2(workspace().runs().back().state == RunState::finished, qPrintable(workspace().runs().back().message));
    m_open->activate();
    goTo("training");
    QTRY_VERIFY(window().settled());
  }
  RunPrediction& prediction() { return static_cast<TrainingPage*>(window().page("training"))->prediction(); }
  QTableWidget& predicted() { return *m_open->part<QTableWidget>("predict-table"); }
  // What is asked for again is another answer: `rows` tells them apart.
  void predict(const QString& file, int rows) {
    m_open->drop({file});
    QTRY_VERIFY2_WITH_TIMEOUT(prediction().predictions() && predicted().isVisible() && predicted().rowCount() == rows,
                              qPrintable(m_open->part<QLabel>("predict-words")->text()), kJourneyPatience);
  }
  float value(int row, int number = 0) {
    return prediction()
        .predictions()
        ->kept.at(static_cast<std::size_t>(row))
        .outputs.at(0)
        .values.at(static_cast<std::size_t>(number));
  }
  QByteArray saved(const char* name) {
    prediction().saveTo(m_open->path(name));
    [&] { QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(m_open->path(name)), kJourneyPatience); }();
    QFile file(m_open->path(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
};

}  // namespace loom

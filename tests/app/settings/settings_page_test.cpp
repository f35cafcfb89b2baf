// A person at the Settings page: what is typed holds at once, what cannot be is said at its field, undo takes back.
#include "app/pages/settings/settings_page.h"

#include <QFile>
#include <QLabel>
#include <QLineEdit>

#include "app/pages/settings/batch_equation.h"
#include "app/pages/settings/run_advice.h"
#include "app/pages/settings/schedule_preview.h"
#include "app/problem_list.h"
#include "app/workspace.h"
#include "engine/optimizers/optimizer.h"
#include "launcher/hosts/host_store.h"
#include "tests/app/opened_window.h"
#include "widgets/controls/button.h"
#include "widgets/controls/search_field.h"
#include "widgets/form/form_row.h"
#include "widgets/form/property_form.h"

namespace loom {

class SettingsPageTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  const TrainingSpec& training() { return m_open->project().training; }
  const UpdateSpec& update() { return training().updates.front(); }
  void goTo(const QString& field) {
    m_open->window().go({.page = "settings", .field = "training." + field});
    QCoreApplication::processEvents();
  }
  QLineEdit& equation(const QString& name) {
    for (QLineEdit* field : m_open->window().findChild<BatchEquation*>()->findChildren<QLineEdit*>())
      if (field->accessibleName() == name) return *field;
    qFatal("no field %s", qPrintable(name));
  }

 private Q_SLOTS:
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->click("new-network");
    QVERIFY(m_open->workspace().saveAs(m_open->path("project.loom")));
    m_open->window().showPage("settings");
  }
  void cleanup() { m_open.reset(); }

  void numbersHoldAtOnceAndUndoTakesThemBack() {
    goTo("optimizer.learning_rate");
    m_open->type("0.0125");
    QCOMPARE(update().optimizer.value("learning_rate", 0.0), 0.0125);
    QVERIFY(update().optimizer.contains("name"));
    QVERIFY(m_open->document().problems().empty() ||
            m_open->document().problems().front().field.find("optimizer") == std::string::npos);
    goTo("epochs");
    m_open->type("7");
    QCOMPARE(training().settings.value("epochs", 0), 7);
    m_open->undo();
    QVERIFY(training().settings.value("epochs", 0) != 7);
    m_open->undo();
    QVERIFY(!update().optimizer.contains("learning_rate"));
  }

  void rulesAndSchedulesAreChosenByKeys() {
    goTo("optimizer");
    QTest::keyClicks(QApplication::focusWidget(), "Nesterov");
    QCOMPARE(update().optimizer.value("name", ""), std::string("Nesterov"));
    goTo("optimizer.momentum");
    m_open->type("0.8");
    QCOMPARE(update().optimizer.value("momentum", 0.0), 0.8);
    goTo("optimizer");
    QTest::qWait(QApplication::keyboardInputInterval() + 50);  // else the letters go on the word typed before
    QTest::keyClicks(QApplication::focusWidget(), "Momentum");
    QCOMPARE(update().optimizer.value("name", ""), std::string("Momentum"));
    QCOMPARE(update().optimizer.value("momentum", 0.0), 0.8);  // a field of both stays
    goTo("schedule");
    QTest::qWait(QApplication::keyboardInputInterval() + 50);
    QTest::keyClicks(QApplication::focusWidget(), "Step");
    QCOMPARE(update().schedule.value("name", ""), std::string("Step"));
  }

  void whatCannotBeIsSaidAndChangesNothing() {
    goTo("optimizer.learning_rate");
    const Json before = update().optimizer;
    m_open->type("-1");
    QVERIFY(update().optimizer == before || m_open->workspace().errors() > 0);
    m_open->type("fast");
    QVERIFY(update().optimizer == before || m_open->workspace().errors() > 0);
    auto* row = qobject_cast<QWidget*>(QApplication::focusWidget()->parent());
    QVERIFY(row);
    bool told = false;
    for (QWidget* at = row; at && !told; at = at->parentWidget())
      if (auto* form = qobject_cast<FormRow*>(at))
        for (const QLabel* label : form->findChildren<QLabel*>())
          told = told || (label->isVisible() && label->text().contains("fast"));
    QVERIFY(told);
  }

  // A text that is no value leaves the value before it: training would take another number than one reads.
  void aTextThatIsNoValueStopsTrain() {
    const auto told = [&](const QString& field) {
      PageProblem found;
      for (const PageProblem& each : m_open->workspace().problems().all())
        if (each.place.page == "settings" && each.place.field == field) found = each;
      return found;
    };
    const auto stops = [&](const QString& field, const QString& words) {
      QVERIFY2(told(field).message.contains(words), qPrintable(told(field).message));
      QVERIFY(m_open->workspace().problems().hinderTraining());
      const QString train = m_open->part<Button>("train")->text();
      QVERIFY2(train.contains("error"), qPrintable(train));
    };
    goTo("optimizer.learning_rate");
    auto& rate = *qobject_cast<QLineEdit*>(QApplication::focusWidget());
    const QString before = rate.text();
    QVERIFY(told("training.optimizer.learning_rate").message.isEmpty());
    m_open->type("fast");
    stops("training.optimizer.learning_rate", "Learning rate");
    goTo("epochs");
    m_open->type("3");
    stops("training.optimizer.learning_rate", "Learning rate");  // wherever one goes on
    const PageProblem wrong = told("training.optimizer.learning_rate");
    QCOMPARE(wrong.remedyText, "Back to " + before);
    wrong.remedy();
    QVERIFY(told("training.optimizer.learning_rate").message.isEmpty());
    QCOMPARE(rate.text(), before);
    equation("Global batch").setFocus();
    m_open->type("many");
    stops("training.batch", "Global batch");
    goTo("batch");
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&equation("Global batch")));
    m_open->type("0");
    stops("training.batch", "1 is the least");
    m_open->type("48");
    QVERIFY(told("training.batch").message.isEmpty());
    QCOMPARE(training().settings.value("batch", 0), 48);
  }

  void bothSidesOfTheBatchAreTyped() {
    QLineEdit &perRank = equation("Samples per rank and pass"), &accumulation = equation("Accumulation"),
              &whole = equation("Global batch");
    perRank.setFocus();
    m_open->type("32");
    QCOMPARE(training().settings.value("batch", 0), 32);
    accumulation.setFocus();
    m_open->type("4");
    QCOMPARE(training().settings.value("accumulate", 0), 4);
    QCOMPARE(whole.text().remove(','), QString("128"));
    whole.setFocus();
    m_open->type("512");
    QCOMPARE(training().settings.value("batch", 0), 512);
    QCOMPARE(perRank.text().remove(','), QString("128"));
  }

  // More ranks than the machine offers are virtual ones; samples of a rank stay, so the batch grows.
  void ranksAreTypedToo() {
    QLineEdit &perRank = equation("Samples per rank and pass"), &ranks = equation("Ranks");
    perRank.setFocus();
    m_open->type("32");
    ranks.setFocus();
    m_open->type("8");
    QCOMPARE(training().settings.value("virtual_ranks", 0), 8);
    QCOMPARE(training().settings.value("batch", 0), 256);
    QCOMPARE(perRank.text(), QString("32"));
    m_open->undo();
    QCOMPARE(training().settings.value("virtual_ranks", 0), 0);
    QCOMPARE(training().settings.value("batch", 0), 32);
    QCOMPARE(ranks.text(), QString("1"));
  }

  void theCurveAndTheAdviceFollowTheBatch() {
    auto* preview = m_open->window().findChild<SchedulePreview*>();
    auto* advice = m_open->window().findChild<TrainAdvice*>();
    const auto said = [&](const QString& words) {
      QCoreApplication::processEvents();
      for (const QLabel* label : advice->findChildren<QLabel*>())
        if (label->isVisible() && label->text().contains(words)) return true;
      return false;
    };
    goTo("optimizer");
    QTest::keyClicks(QApplication::focusWidget(), "Momentum");
    goTo("optimizer.learning_rate");
    m_open->type("0.1");
    equation("Global batch").setFocus();
    m_open->type("4096");
    QVERIFY(said("16 × the base batch of 256"));
    QCOMPARE(preview->peak(), 0.1);
    for (QPushButton* button : advice->findChildren<QPushButton*>())
      if (button->text() == "Scale in proportion") QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(said("multiplied by 16"));
    QVERIFY(qAbs(preview->peak() - 1.6) < 1e-12);
    QCOMPARE(training().settings.value("rate_scaling", ""), std::string("linear"));
    m_open->undo();
    QVERIFY(said("used as typed"));
    equation("Ranks").setFocus();
    m_open->type("8");
    goTo("batch_statistics");
    QTest::keyClicks(QApplication::focusWidget(), "All");
    QVERIFY(said("8 virtual ranks compute one after another"));
  }

  // Rows of the table are choices of the form, with fields of their own. What so many ranks cannot do stands in Train's
  // way, with its remedy.
  void waysToAddGradientsAreChosenAndRefused() {
    goTo("reduction");
    QTest::keyClicks(QApplication::focusWidget(), "2D");
    QCOMPARE(training().settings.value("reduction", ""), std::string("torus"));
    goTo("torus_columns");
    m_open->type("3");
    QCOMPARE(training().settings.value("torus_columns", 0), 3);
    const auto refused = [&](const std::string& words) {
      const std::vector<Problem>& problems = m_open->document().problems();
      return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
        return problem.severity == Severity::error && problem.message.find(words) != std::string::npos;
      });
    };
    equation("Ranks").setFocus();
    m_open->type("6");
    QVERIFY(!refused("rows of 3"));
    equation("Ranks").setFocus();
    m_open->type("7");
    QVERIFY(refused("7 ranks do not make rows of 3"));
    const auto mend = [&](const QString& words) {
      QCoreApplication::processEvents();
      for (QPushButton* button : m_open->window().findChild<TrainAdvice*>()->findChildren<QPushButton*>())
        if (button->isVisible() && button->text() == words) return QTest::mouseClick(button, Qt::LeftButton), true;
      return false;
    };
    QVERIFY(mend("Set it to 0"));
    QVERIFY(!refused("rows of 3"));
    QVERIFY(refused("is a prime; start 8 ranks, or set reduction to ring"));
    QVERIFY(mend("Set it to ring"));
    QCOMPARE(training().settings.value("reduction", ""), std::string("ring"));
    QVERIFY(!refused("reduction"));
    goTo("wire");
    QTest::keyClicks(QApplication::focusWidget(), "16");
    QVERIFY(refused("set reduction to automatic, or wire to f32"));
    m_open->undo();
    QVERIFY(!refused("reduction"));
  }

  // Ranks that the chosen host really has count as virtual ones do.
  void whatTheHostsRanksCannotDoIsSaidBeforeTheRun() {
    Workspace& workspace = m_open->workspace();
    Host host;
    host.name = host.address = "seven";
    host.ranks = 7;
    const QString seven = workspace.hosts().add(host);
    QFile sample(QStringLiteral(GRADLOOM_SOURCE_DIR "/samples/digits/digits.loom"));
    QVERIFY(sample.open(QIODevice::ReadOnly));
    m_open->document().openText(sample.readAll().toStdString(), "digits");
    m_open->document().setSetting("reduction", "torus");
    const auto told = [&] {
      for (const PageProblem& each : workspace.problems().all())
        if (each.message.contains("7 is a prime")) return std::optional(each);
      return std::optional<PageProblem>();
    };
    QVERIFY(!told());
    workspace.chooseHost(seven, 7);
    QVERIFY(told());
    QVERIFY(workspace.errors() > 0);
    told()->remedy();
    QVERIFY(!told());
    QCOMPARE(training().settings.value("reduction", ""), std::string("ring"));
  }

  // From the list comes a rate with which LARS learns; one that is far from it is said, and a batch of 64 is not large.
  void aRuleComesWithARateThatLearns() {
    goTo("optimizer");
    QTest::keyClicks(QApplication::focusWidget(), "LARS");
    QCOMPARE(update().optimizer.value("name", ""), std::string("LARS"));
    auto* preview = m_open->window().findChild<SchedulePreview*>();
    QTRY_COMPARE(preview->peak(), 1.0);
    for (const Advice& one : adviceInWords(m_open->document(), 0, {.samples = 6000, .steps = 940}))
      QVERIFY2(!one.text.contains("warm-up"), qPrintable(one.text));
    const auto said = [&] {
      return std::any_of(
          m_open->document().problems().begin(), m_open->document().problems().end(), [](const Problem& problem) {
            return problem.field == "training.optimizer.learning_rate" && problem.severity == Severity::warning;
          });
    };
    QVERIFY(!said());
    goTo("optimizer.learning_rate");
    m_open->type("0.001");
    QVERIFY(said());
    int called = 0;
    for (const Field& field : findOptimizer("LARS")->entry.fields) called += field.label == "Learning rate";
    QCOMPARE(called, 1);
  }

  void theRanksOfTheHostComeBackWithTheStep() {
    Workspace& workspace = m_open->workspace();
    const int before = workspace.ranks(), most = workspace.mostRanks(workspace.host());
    equation("Ranks").setFocus();
    m_open->type("2");
    QCOMPARE(workspace.ranks(), std::min(2, most));
    m_open->undo();
    QCOMPARE(workspace.ranks(), before);
    QCOMPARE(equation("Ranks").text(), QString::number(before));
  }

  void theRuleAndTheBatchCountAsDifferent() {
    auto* differs = m_open->part<QAbstractButton>("differs");
    const auto count = [&] {
      QCoreApplication::processEvents();
      return differs->text().section(' ', -1).toInt();
    };
    const int before = count();
    goTo("optimizer");
    QTest::keyClicks(QApplication::focusWidget(), "LARS");
    QCOMPARE(count(), before + 1);
    equation("Global batch").setFocus();
    m_open->type("4096");
    QCOMPARE(count(), before + 2);
    equation("Ranks").setFocus();
    QCOMPARE(equation("Global batch").text(), QString("4,096"));
    m_open->click("differs");
    QCoreApplication::processEvents();
    const auto labels = m_open->window().findChild<SettingsPage*>()->findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
      return label->isVisible() && label->text() == "default <s>Adam</s>";
    }));
    // As many rows as are counted, the batch among them.
    int rows = 1;  // the rule
    bool batch = false;
    for (const FormRow* row : m_open->window().findChild<SettingsPage*>()->findChildren<FormRow*>()) {
      rows += row->isVisible();
      batch = batch || (row->isVisible() && row->field().key == "batch");
    }
    QVERIFY(batch);
    QCOMPARE(rows, count());
  }

  void everyWordOfTheEquationStandsWhole() {
    m_open->window().resize(1024, 700);
    const auto whole = [](const QLabel* label) {
      return label->wordWrap() ? label->height() >= label->heightForWidth(label->width())
                               : label->width() >= label->sizeHint().width();
    };
    for (const char* accumulation : {"1", "3"}) {  // 64 does not divide by 3: a sentence
      equation("Accumulation").setFocus();
      m_open->type(accumulation);
      equation("Global batch").setFocus();
      m_open->type("64");
      for (const QLabel* label : m_open->window().findChild<BatchEquation*>()->findChildren<QLabel*>())
        if (label->isVisible()) QTRY_VERIFY2(whole(label), qPrintable(label->text()));
    }
  }

  // The rows of a rule that was chosen a moment ago come right behind it.
  void tabComesToTheRowsOfTheChosenRule() {
    goTo("optimizer");
    QTest::keyClicks(QApplication::focusWidget(), "LARS");
    QCoreApplication::processEvents();
    auto* forms = m_open->window().findChild<SettingsPage*>();
    for (const char* key : {"learning_rate", "momentum"}) {
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
      const auto rows = forms->findChildren<FormRow*>(key);
      QVERIFY2(std::any_of(rows.begin(), rows.end(),
                           [](const FormRow* row) {
                             return row->isVisible() && row->isAncestorOf(QApplication::focusWidget());
                           }),
               key);
    }
  }

  // Before anything is trained: how short a warm-up of large steps is.
  void fewStepsAreSaidInWords() {
    const std::vector<Advice> advice =
        adviceInWords(m_open->document(), 0, {.samples = 60000, .steps = 150, .warmupSteps = 3});
    QVERIFY(std::any_of(advice.begin(), advice.end(), [](const Advice& one) {
      return one.kind == Advice::Kind::warning && one.text.startsWith("3 steps of warm-up");
    }));
  }

  void aRateFarFromTheUsualIsSaidOnce() {
    goTo("optimizer");
    QTest::keyClicks(QApplication::focusWidget(), "LARS");
    goTo("optimizer.learning_rate");
    m_open->type("0.001");
    const auto said = [this] {
      QStringList words;
      for (const FormRow* row : m_open->window().findChild<SettingsPage*>()->findChildren<FormRow*>())
        for (const QLabel* label : row->findChildren<QLabel*>())
          if (label->isVisible() && label->text().contains("usual is")) words << label->text();
      return words;
    };
    QTRY_COMPARE(said().size(), 1);
    QTRY_VERIFY2(said().first().contains("Learning rate"), qPrintable(said().first()));
  }

  void theFilterLeavesWhatIsMeant() {
    auto* filter = m_open->part<SearchField>("settings-filter");
    filter->setFocus();
    const auto visibleRows = [this] {
      int count = 0;
      for (const FormRow* row : m_open->window().findChild<SettingsPage*>()->findChildren<FormRow*>())
        count += row->isVisible();
      return count;
    };
    const int all = visibleRows();
    // The same index as Ctrl+K: groups, and the words of choices; never the help, which speaks of other fields.
    const auto found = [&](const char* words) {
      filter->clear();
      QTest::keyClicks(filter, words);
      QStringList labels;
      for (FormRow* row : m_open->window().findChildren<FormRow*>())
        if (row->isVisible()) labels << QString::fromStdString(row->field().label);
      return labels;
    };
    QVERIFY(found("Warm-up").size() >= 1);
    QVERIFY(found("bf16").contains("Precision"));
    QVERIFY2(!found("virtual").contains("Deterministic"), qPrintable(found("virtual").join(", ")));
    QVERIFY(found("no such word").isEmpty());
    QVERIFY(m_open->part<QWidget>("settings-none")->isVisible());
    filter->clear();
    QVERIFY(!m_open->part<QWidget>("settings-none")->isVisible());
    QTest::keyClicks(filter, "seed");
    QCoreApplication::processEvents();
    const int left = visibleRows();
    QVERIFY2(left > 0 && left < all / 4, qPrintable(QString("%1 of %2").arg(left).arg(all)));
    filter->clear();
    goTo("seed");
    m_open->type("77");
    m_open->click("differs");
    QCoreApplication::processEvents();
    QVERIFY(visibleRows() >= 1 && visibleRows() < all / 2);
    // No section takes more room than its rows: what is left lies under the last one.
    for (const PropertyForm* form : m_open->window().findChild<SettingsPage*>()->findChildren<PropertyForm*>())
      if (form->isVisible() && form->visibleCount() > 0)
        QTRY_VERIFY2(form->height() <= form->sizeHint().height(),
                     qPrintable(QString("%1 of %2").arg(form->height()).arg(form->sizeHint().height())));
    for (const QLabel* label : m_open->window().findChild<SettingsPage*>()->findChildren<QLabel*>())
      QVERIFY2(!(label->isVisible() && label->text() == "Warm-up"), "a heading without a row of its own");
  }
};

}  // namespace loom

QTEST_MAIN(loom::SettingsPageTest)
#include "settings_page_test.moc"

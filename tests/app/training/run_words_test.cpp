// What the Training page says of a run and where it stands: sentences, the smoothing's handle, the table of settings,
// the rate ahead.
#include <QLabel>
#include <QSlider>
#include <QStyleOptionSlider>
#include <QTabBar>
#include <QTableWidget>
#include <cmath>

#include "app/pages/training/run_curves.h"
#include "app/pages/training/run_texts.h"
#include "app/pages/training/training_page.h"
#include "tests/app/training/told_run.h"
#include "tests/patience.h"
#include "tests/widgets/painted_words.h"
#include "widgets/chart/chart_stack.h"

namespace loom {
namespace {

class Slider : public QSlider {
 public:
  using QSlider::initStyleOption;
};

}  // namespace

class RunWordsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;
  std::unique_ptr<ToldRuns> m_runs;

  void openTab(const QString& id, int tab) {
    m_open->workspace().setCurrentRun(id);
    m_open->window().showPage("training");
    QTRY_VERIFY(m_open->window().settled());
    auto* tabs = m_open->part<QTabBar>("training-tabs");
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(tab).center());
    QTRY_COMPARE(tabs->currentIndex(), tab);
  }
  static QPoint handleOf(QSlider& slider, int place) {
    QStyleOptionSlider option;
    (slider.*(&Slider::initStyleOption))(&option);
    option.sliderPosition = option.sliderValue = place;
    return slider.style()->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderHandle, &slider).center();
  }

 private Q_SLOTS:
  void initTestCase() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->write("p/train.csv", "x__0,x__1,y:label\n1,0,0\n0,1,1\n1,1,1\n0,0,0\n");
    m_open->window().openProject(m_open->write("p/project.loom", kToldProject));
    QTRY_VERIFY(m_open->workspace().document());
    QTRY_COMPARE(m_open->workspace().errors(), 0);
    m_runs = std::make_unique<ToldRuns>(*m_open);
  }
  void cleanupTestCase() { m_open.reset(); }

  // One that has not begun had neither few steps nor a GPU.
  void whyNoTimesAreThereIsToldByTheState() {
    const auto said = [this](RunState state) {
      const QString id = m_runs->add({}, state);
      openTab(id, 3);
      const QWidget* const empty = m_open->part<QWidget>("time-empty");
      [&] { QTRY_VERIFY(empty->isVisible()); }();
      QStringList words;
      for (const QLabel* each : empty->findChildren<QLabel*>()) words << each->text();
      m_open->workspace().store().setState(id, RunState::stopped);
      return words.join(' ');
    };
    for (const RunState waiting : {RunState::queued, RunState::starting, RunState::running}) {
      const QString words = said(waiting);
      QVERIFY2(words.contains("in steps 4 to 8, and stands here then"), qPrintable(words));
      QVERIFY2(!words.contains("fewer than 4"), qPrintable(words));
    }
    const QString words = said(RunState::finished);
    QVERIFY2(words.contains("it had fewer than 4 steps"), qPrintable(words));
  }

  void theSmoothingStandsWhereItsNumberIs() {
    openTab(m_runs->add(), 0);
    auto& slider = *m_open->part<QSlider>("smoothing");
    QVERIFY(slider.isVisible());
    const auto* const words = slider.parentWidget()->findChild<QLabel*>();
    const int least = handleOf(slider, slider.minimum()).x(), most = handleOf(slider, slider.maximum()).x();
    const auto share = [&] { return double(handleOf(slider, slider.value()).x() - least) / (most - least); };
    QCOMPARE(words->text(), QString("Smoothing 0.60"));
    QVERIFY2(std::abs(share() - 0.6) < 0.03, qPrintable(QString::number(share())));
    // Dragged to a third of the way it is a third.
    const QPoint from = handleOf(slider, slider.value()), to(least + (most - least) / 3, from.y());
    QTest::mousePress(&slider, Qt::LeftButton, {}, from);
    QMouseEvent move(QEvent::MouseMove, QPointF(to), slider.mapToGlobal(QPointF(to)), Qt::NoButton, Qt::LeftButton, {});
    QApplication::sendEvent(&slider, &move);
    QTest::mouseRelease(&slider, Qt::LeftButton, {}, to);
    const double weight = words->text().section(' ', 1).toDouble();
    QVERIFY2(std::abs(weight - 1.0 / 3) < 0.03, qPrintable(words->text()));
    QVERIFY2(std::abs(share() - weight) < 0.03, qPrintable(QString::number(share())));
    slider.setFocus();
    QTest::keyClick(&slider, Qt::Key_End);
    QCOMPARE(words->text(), QString("Smoothing 0.99"));
    slider.setValue(60);
  }

  // Words keep away from the edge, stand below their heading, and no name runs into its value.
  void theSettingsOfARunHaveRoom() {
    openTab(m_runs->add({{"wire", "f16"}, {"epochs", 3}}), 2);
    auto& table = *m_open->window().findChild<RunSettings*>();
    QTRY_VERIFY(table.isVisible() && table.rowCount() > 10);
    const auto words = PaintedWords::of(table);
    const double second = table.columnViewportPosition(1);
    const PaintedWord* const heading = findPainted(words, "Setting");
    QVERIFY(heading);
    double names = 0, first = 1e9;
    int rows = 0;
    for (const PaintedWord& each : words) {
      if (each.box.top() < heading->box.bottom()) continue;  // the headings
      if (each.box.left() < second) {
        ++rows;
        names = std::max(names, each.box.right());
        QVERIFY2(each.box.left() >= 7 && std::abs(each.box.left() - heading->box.left()) <= 3,
                 qPrintable(
                     QString("%1 at %2, heading at %3").arg(each.text).arg(each.box.left()).arg(heading->box.left())));
      } else if (each.box.left() < table.columnViewportPosition(2)) {
        first = std::min(first, each.box.left());
      }
    }
    QVERIFY2(rows > 10 && first < 1e9, qPrintable(QString::number(rows)));
    QVERIFY2(first - names >= 14, qPrintable(QString("%1 to %2").arg(names).arg(first)));
  }

  // From where the run is to what its schedule ends with.
  void theRateAheadIsTheSchedules() {
    const QString id = m_runs->add({{"schedule.name", "Cosine"}}, RunState::running);
    m_runs->tell(id, "started", {{"steps_total", 100}, {"steps_per_epoch", 50}, {"epochs", 2}, {"batch", 2}});
    const auto rateAt = [](int step) { return 0.05 * (1 + std::cos(M_PI * (step - 1) / 100)) / 2; };
    for (int step = 1; step <= 40; ++step)
      m_runs->tell(id, "step",
                   {{"step", step},
                    {"epoch", step / 50.0},
                    {"samples", 2 * step},
                    {"loss", 2.0 / step},
                    {"ms", 10.0},
                    {"learning_rate", rateAt(step)}});
    openTab(id, 0);
    const auto planned = [this]() -> const PanelLine* {
      for (LineChart* chart : static_cast<TrainingPage*>(m_open->window().page("training"))->curves().stack().panels())
        for (const PanelLine& line : chart->lines())
          if (line.line.kind == LineKind::planned && line.data.columns.columns.size() > 10) return &line;
      return nullptr;
    };
    QTRY_VERIFY(planned());
    const auto& columns = planned()->data.columns.columns;
    QVERIFY(std::abs(columns.front().x - 40) < 1 && std::abs(columns.back().x - 100) < 1);
    for (const ChartColumn& each : columns)
      QVERIFY2(std::abs(each.last - rateAt(static_cast<int>(std::lround(each.x)))) < 0.001,
               qPrintable(QString("%1 at %2").arg(each.last).arg(each.x)));
    QVERIFY(!planned()->drawn.segments.empty() && planned()->drawn.segments.front().line.size() > 10);
    m_open->workspace().store().setState(id, RunState::stopped);
  }
};

int testRunWords(int argc, char** argv) {
  RunWordsTest words;
  return QTest::qExec(&words, argc, argv);
}

}  // namespace loom

#include "run_words_test.moc"

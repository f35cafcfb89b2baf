// What charts write and where it stands: words are measured as they are painted.
#include "tests/widgets/chart/chart_words_test.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <QtTest>
#include <cmath>

#include "tests/widgets/painted_words.h"
#include "widgets/chart/chart_painter.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/chart/parallel_axes.h"
#include "widgets/theme/theme.h"

using namespace loom;

class ChartWordsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<ChartStack> m_stack;
  LineChart* m_chart = nullptr;

  std::vector<PaintedWord> words() {
    m_stack->drawNow();
    PaintedWords device;
    QPainter painter(&device);
    ChartPainter(*m_chart, m_theme->palette(), false).paint(painter, m_chart->rect());
    painter.end();
    return device.words();
  }
  // What stands over an axis, line by line.
  static QString headOf(const ParallelAxes& axes, const std::vector<PaintedWord>& words, std::size_t axis) {
    QStringList lines;
    for (const PaintedWord& each : words)
      if (isHead(axes, each, axis)) lines << each.text.trimmed();
    return lines.join(' ');
  }
  static bool isHead(const ParallelAxes& axes, const PaintedWord& word, std::size_t axis) {
    return std::abs(word.box.left() - (axes.axisX(axis) - 2)) < 1.5 && word.box.bottom() < axes.plot().top() &&
           word.box.top() > 18;  // below the title
  }

 private Q_SLOTS:
  void init() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
    m_stack = std::make_unique<ChartStack>();
    m_chart = m_stack->addPanel("Loss", "lower is better");
    m_stack->axis()->setFull({0, 100});
    m_stack->resize(700, 240);
    m_stack->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_stack.get()));
  }
  void cleanup() {
    m_stack.reset();
    m_theme.reset();
  }

  // It ends nowhere: it goes on beyond the edge.
  void whatIsBeyondTheFrameIsSaidToLeaveIt() {
    auto good = std::make_shared<VectorSource>(), bad = std::make_shared<VectorSource>();
    for (int i = 0; i <= 100; ++i) {
      good->append(i, 2 - 0.015 * i);
      bad->append(i, i < 50 ? 2.1 : 2.1 * std::pow(10, (i - 50) / 4));
    }
    m_chart->setLines({{.id = "good", .name = "good", .colour = 0, .source = good, .value = ValueKind::loss},
                       {.id = "bad", .name = "bad", .colour = 1, .source = bad, .value = ValueKind::loss}});
    const auto painted = words();
    const PaintedWord* const said = findPainted(painted, "bad");
    QVERIFY(said);
    QCOMPARE(said->text, QString("bad leaves the frame, last 2.10e12"));
    QVERIFY(said->box.top() >= m_chart->plot().top() && said->box.bottom() <= m_chart->plot().top() + 20);
    // At its end, as it has one, stands the other.
    QVERIFY(findPainted(painted, "good") && findPainted(painted, "good")->box.left() > m_chart->plot().right());
  }

  void theBestOfAYoungRunStandsClearOfTheAxis() {
    auto loss = std::make_shared<VectorSource>();
    for (int i = 0; i <= 4; ++i) loss->append(i, 2 - 0.3 * i);
    m_chart->setLines({{.id = "loss", .name = "training", .colour = 0, .source = loss, .value = ValueKind::loss}});
    for (const double x : {0.0, 1.0, 4.0}) {
      m_chart->setBest(BestMark{"loss", x, 2 - 0.3 * x, "best 99.90, epoch 4"});
      const auto painted = words();
      const PaintedWord* const best = findPainted(painted, "best 99.90");
      QVERIFY(best);
      QVERIFY2(best->box.left() >= m_chart->plot().left() + 4, qPrintable(QString::number(best->box.left())));
      for (const PaintedWord& each : painted)
        QVERIFY2(&each == best || !each.box.intersects(best->box), qPrintable(each.text));
    }
  }

  // The largest values stand at the upper ends of the axes, right below the heads.
  void headsOfAxesStandWholeAndClearOfTheirLabels() {
    ParallelAxes axes;
    axes.resize(340, 240);
    axes.setTitle("Settings that differ", "3 of 12");
    const auto line = [](const char* id, const char* rule, double rate, double epochs, double best) {
      const auto number = [](double value) { return AxisValue{QString::number(value), value}; };
      return ParallelLine{.id = id,
                          .values = {{rule, std::nullopt}, number(rate), number(epochs), number(64), number(best)}};
    };
    axes.setContent({{"optimizer.name", "Optimizer"},
                     {"optimizer.learning_rate", "Learning rate"},
                     {"epochs", "Epochs"},
                     {"threads", "Computing threads"},
                     {"best", "Best %"}},
                    std::make_shared<const std::vector<ParallelLine>>(std::vector<ParallelLine>{
                        line("a", "Adam", 0.001, 200, 91.4), line("b", "LARS", 0.5, 20, 88.2)}));
    const auto painted = PaintedWords::of(axes);
    const std::vector<QString> titles = axes.axes();
    for (std::size_t axis = 0; axis < titles.size(); ++axis)
      QVERIFY2(headOf(axes, painted, axis) == titles[axis],
               qPrintable(headOf(axes, painted, axis) + " of " + titles[axis]));
    int labels = 0;
    for (const PaintedWord& each : painted)
      for (std::size_t axis = 0; axis < titles.size(); ++axis) {
        if (std::abs(each.box.left() - (axes.axisX(axis) + 8)) > 1.5) continue;
        ++labels;
        for (const PaintedWord& other : painted)
          QVERIFY2(&each == &other || !each.box.adjusted(0, 1, 0, -1).intersects(other.box),
                   qPrintable(each.text + " over " + other.text));
      }
    QVERIFY2(labels >= 9, qPrintable(QString::number(labels)));
  }

  // Where one word is too wide for its axis the tooltip has it.
  void aHeadThatIsCutStandsInItsTooltip() {
    ParallelAxes axes;
    axes.resize(340, 240);
    const std::vector<AxisValue> values(5, AxisValue{"1", 1.0});
    axes.setContent({{"a", "Epochs"}, {"b", "Batch"}, {"c", "Synchronisation"}, {"d", "Seed"}, {"e", "Best %"}},
                    std::make_shared<const std::vector<ParallelLine>>(
                        std::vector<ParallelLine>{{.id = "a", .values = values}, {.id = "b", .values = values}}));
    axes.show();
    const auto painted = PaintedWords::of(axes);
    QVERIFY2(headOf(axes, painted, 2).endsWith(QChar(0x2026)), qPrintable(headOf(axes, painted, 2)));
    const auto told = [&](const QPoint& at) {
      QHelpEvent help(QEvent::ToolTip, at, axes.mapToGlobal(at));
      QApplication::sendEvent(&axes, &help);
      return QToolTip::text();
    };
    const int head = static_cast<int>(axes.plot().top()) - 16;
    QCOMPARE(told(QPoint(static_cast<int>(axes.axisX(2)) + 10, head)), QString("Synchronisation"));
    QCOMPARE(told(QPoint(static_cast<int>(axes.axisX(4)) + 10, head)), QString("Best %"));
    QToolTip::hideText();
  }
};

int testChartWords(int argc, char** argv) {
  ChartWordsTest words;
  return QTest::qExec(&words, argc, argv);
}
#include "chart_words_test.moc"

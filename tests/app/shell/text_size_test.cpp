// The text size changed while the window is open, there and back, on every page: no word and no number is cut. Pictures
// are written where GRADLOOM_PICTURES names a folder.
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QTabBar>

#include "app/pages/network/network_page.h"
#include "app/pages/training/training_page.h"
#include "tests/app/opened_window.h"
#include "tests/app/shell/walk_test.h"
#include "widgets/canvas/network_view.h"

namespace loom {
namespace {

constexpr int kPatience = 60000;
constexpr QSize kSizes[] = {{1440, 900}, {1024, 700}};

constexpr const char* kProject = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]}, {"id": "fc1", "layer": "Linear", "outputs": 12, "at": [0, 60]},
    {"id": "relu", "layer": "ReLU", "at": [0, 120]}, {"id": "fc2", "layer": "Linear", "outputs": 3, "at": [0, 180]},
    {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 240]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [264, 180]},
    {"id": "accuracy", "layer": "Accuracy", "at": [264, 240]}],
    "edges": [["x", "fc1"], ["fc1", "relu"], ["relu", "fc2"], ["fc2", "loss"], ["y", "loss.target"], ["fc2", "accuracy"], ["y", "accuracy.target"]]}},
    "datasets": {"training": {"csv": "train.csv"}, "validation": {"csv": "train.csv"}},
    "training": {"network": "main", "dataset": "training", "validation": "validation", "epochs": 12, "batch": 8,
                 "optimizer": {"name": "Adam", "learning_rate": 0.01}}})";

bool isScrolled(const QWidget* widget) {
  const auto* area = qobject_cast<const QAbstractScrollArea*>(widget->parentWidget());
  return area != nullptr && area->viewport() == widget;
}

// Whether what stands in it has its room in it, and it has its own in what is around it.
QString cutOf(const QWidget* widget, const QWidget* window, int wide, int high) {
  if (wide > widget->width() + 1) return QStringLiteral("%1 wide of %2").arg(widget->width()).arg(wide);
  if (high > widget->height() + 1) return QStringLiteral("%1 high of %2").arg(widget->height()).arg(high);
  for (const QWidget* around = widget->parentWidget(); around != nullptr && around != window && !isScrolled(around);
       around = around->parentWidget()) {
    const QRect there(widget->mapTo(around, QPoint()), widget->size());
    if (!around->rect().adjusted(-2, -2, 2, 2).contains(there))
      return QStringLiteral("cut by a %1 %2").arg(around->metaObject()->className(), around->objectName());
  }
  return {};
}

// The words, numbers and buttons of the window that are not whole.
QStringList cut(const QWidget& window) {
  QStringList all;
  const auto tell = [&](const QWidget* each, const QString& text, const QString& how) {
    if (!how.isEmpty()) all << QStringLiteral("%1 \"%2\": %3").arg(each->metaObject()->className(), text, how);
  };
  for (const QLabel* each : window.findChildren<QLabel*>()) {
    if (!each->isVisible() || each->text().isEmpty() || Qt::mightBeRichText(each->text())) continue;
    const QMargins around = each->contentsMargins();
    const bool wraps = each->wordWrap();
    int wide = 0;
    for (const QString& line : each->text().split('\n'))
      wide = std::max(wide, each->fontMetrics().horizontalAdvance(line));
    tell(each, each->text(),
         cutOf(each, &window, wraps ? 0 : wide + around.left() + around.right(),
               wraps ? each->heightForWidth(each->width()) : each->fontMetrics().ascent() + around.top()));
  }
  for (const QPushButton* each : window.findChildren<QPushButton*>())
    if (each->isVisible() && !each->text().isEmpty()) {
      const QSize least = each->minimumSizeHint();
      tell(each, each->text(), cutOf(each, &window, least.width(), each->fontMetrics().height()));
    }
  for (const QLineEdit* each : window.findChildren<QLineEdit*>())
    if (each->isVisible()) tell(each, each->text(), cutOf(each, &window, 0, each->fontMetrics().height() + 2));
  for (const QComboBox* each : window.findChildren<QComboBox*>())
    if (each->isVisible()) tell(each, each->currentText(), cutOf(each, &window, 0, each->fontMetrics().height() + 2));
  return all;
}

// What stands where: of two moments of the same page.
QStringList sizesOf(const QWidget& window) {
  QStringList all;
  for (const QWidget* each : window.findChildren<QWidget*>()) {
    const auto* label = qobject_cast<const QLabel*>(each);
    if (!each->isVisible() || (label == nullptr && qobject_cast<const QPushButton*>(each) == nullptr &&
                               qobject_cast<const QLineEdit*>(each) == nullptr))
      continue;
    all << QStringLiteral("%1 %2 %3: %4 high, font %5")
               .arg(each->metaObject()->className(), each->objectName(), label ? label->text() : QString())
               .arg(each->height())
               .arg(each->font().pointSizeF());
  }
  return all;
}

}  // namespace

class TextSizeTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  void settle() {
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
    QTRY_VERIFY_WITH_TIMEOUT(window().settled(), kPatience);
    for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
  }
  void picture(const QString& name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (!folder.isEmpty()) window().grab().save(QDir(folder).filePath(name + ".png"));
  }
  // At each size of the window: as it is, large, and as it was.
  void everySize(const QString& name) {
    for (const QSize size : kSizes) {
      window().resize(size);
      settle();
      const QString at = QStringLiteral("%1-%2").arg(name).arg(size.width());
      const QStringList before = sizesOf(window()), cutBefore = cut(window());
      picture(at + "-100");
      Theme::of().setTextSize(150);
      settle();
      picture(at + "-150");
      const QStringList cutThen = cut(window());
      Theme::of().setTextSize(100);
      settle();
      picture(at + "-back");
      QStringList after = sizesOf(window());
      for (const QString& each : before) after.removeOne(each);
      if (qEnvironmentVariableIsSet("GRADLOOM_PICTURES")) {
        for (const QString& each : cutBefore) qInfo() << qPrintable(at) << "100:" << qPrintable(each);
        for (const QString& each : cutThen) qInfo() << qPrintable(at) << "150:" << qPrintable(each);
        for (const QString& each : after) qInfo() << qPrintable(at) << "other:" << qPrintable(each);
        continue;
      }
      QVERIFY2(cutBefore.isEmpty(), qPrintable(at + " at 100 %: " + cutBefore.join(" | ")));
      QVERIFY2(cutThen.isEmpty(), qPrintable(at + " at 150 %: " + cutThen.join(" | ")));
      QVERIFY2(after.isEmpty(), qPrintable(at + " is not as it was: " + after.join(" | ")));
    }
  }

 private Q_SLOTS:
  void initTestCase() {
    m_open = std::make_unique<OpenedWindow>();
    QByteArray rows = "x__0:length,x__1:width,y:label\n";
    for (int i = 0; i < 60; ++i)
      rows += QByteArray::number(12345.678 * (i % 7)) + ',' + QByteArray::number(0.00012 * (i % 5)) + ',' +
              QByteArray::number(i % 3) + '\n';
    m_open->write("flowers/train.csv", rows);
    window().openProject(m_open->write("flowers/flowers.loom", kProject));
    QVERIFY(workspace().document());
    settle();
    m_open->click("train");
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().size(), 1, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(workspace().runs().back().state == RunState::finished, kPatience);
  }
  void cleanupTestCase() {
    workspace().document()->discardRecovery();
    m_open.reset();
  }
  void cleanup() { Theme::of().setTextSize(100); }

  void everyPage_data() {
    QTest::addColumn<QString>("page");
    for (const char* each : {"start", "network", "data", "settings", "runs", "search", "hosts"})
      QTest::newRow(each) << QString(each);
  }
  void everyPage() {
    QFETCH(QString, page);
    window().showPage(page);
    settle();
    if (page == "network") {
      window().findChild<NetworkView*>()->reveal("loss");
      settle();
    }
    everySize(page);
  }

  void everyTabOfTheRun() {
    window().showPage("training");
    settle();
    auto* const tabs = window().page("training")->findChild<QTabBar*>();
    QVERIFY(tabs);
    for (int tab = 0; tab < tabs->count(); ++tab) {
      if (!tabs->isTabVisible(tab)) continue;
      tabs->setCurrentIndex(tab);
      settle();
      everySize("training-" + tabs->tabText(tab).toLower().remove(' '));
    }
  }
};

int testTextSize(int argc, char** argv) {
  TextSizeTest test;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace loom

#include "text_size_test.moc"

// A drawing as a file: whole, routed and with its shapes, also where the window would route it bit by bit.
#include "widgets/canvas/drawing_export.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include "tests/widgets/document/drawings.h"
#include "widgets/canvas/network_view.h"
#include "widgets/theme/theme.h"

namespace loom {

class DrawingExportTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::dark, .reducedMotion = true});
  }
  void everyWireOfALargeDrawingIsRouted();

 private:
  std::unique_ptr<Theme> m_theme;
};

namespace {

// Lines from one point to another that are neither level nor upright: wires that had not found their way.
int slanted(const QString& svg) {
  static const QRegularExpression line(
      QStringLiteral("<polyline[^>]*points=\"([-0-9.e]+),([-0-9.e]+) ([-0-9.e]+),([-0-9.e]+) \""));
  int count = 0;
  for (auto each = line.globalMatch(svg); each.hasNext();) {
    const auto points = each.next();
    const double dx = points.captured(3).toDouble() - points.captured(1).toDouble(),
                 dy = points.captured(4).toDouble() - points.captured(2).toDouble();
    count += std::abs(dx) > 0.5 && std::abs(dy) > 0.5;
  }
  return count;
}

}  // namespace

void DrawingExportTest::everyWireOfALargeDrawingIsRouted() {
  ProjectDocument document;
  QVERIFY(document.openText(drawings::residual(260), "large"));
  QVERIFY(document.network("main")->edges.size() > 2000);
  QVERIFY(!document.checksAreCurrent());  // shapes are still being found when the file is asked for
  QTemporaryDir folder;
  const QString file = folder.filePath("large.svg");
  const Outcome written = exportDrawing(document, {.network = "main", .file = file});
  QVERIFY2(bool(written), qPrintable(written.reason));
  QFile svg(file);
  QVERIFY(svg.open(QIODevice::ReadOnly));
  const QString text = QString::fromUtf8(svg.readAll());
  QVERIFY(text.count(QStringLiteral("<polyline")) > 1500);  // straight wires
  QCOMPARE(slanted(text), 0);
  QVERIFY(text.contains(QStringLiteral(">4×8×8</text>")));
  QVERIFY(!text.contains(QStringLiteral(">?</text>")));
  // Icons are lines, shadows are left out: no pixel stands in a drawing.
  QCOMPARE(text.count(QStringLiteral("<image")), 0);
  document.discardRecovery();
}

}  // namespace loom

QTEST_MAIN(loom::DrawingExportTest)
#include "drawing_export_test.moc"

// A drawing as a file: whole, routed and with its shapes, also where the window would route it bit by bit.
#include "widgets/canvas/drawing_export.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QTransform>
#include <QXmlStreamReader>

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
  void whatStandsAtTheEdgesIsWhole();
  void noFillNeedsToBeTranslucent();

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

// The drawing `text` as SVG, with `change` done to it first.
QByteArray exported(const std::string& text, const std::function<void(ProjectDocument&)>& change) {
  ProjectDocument document;
  QTemporaryDir folder;
  QFile svg(folder.filePath("drawing.svg"));
  [&] {
    QVERIFY(document.openText(text, "drawing"));
    change(document);
    const Outcome written = exportDrawing(document, {.network = "main", .file = svg.fileName()});
    QVERIFY2(bool(written), qPrintable(written.reason));
    QVERIFY(svg.open(QIODevice::ReadOnly));
  }();
  document.discardRecovery();
  return svg.readAll();
}

QTransform matrixOf(const QString& text) {
  QList<double> numbers;
  for (const QString& each : text.section('(', 1).section(')', 0, 0).split(',')) numbers << each.toDouble();
  return numbers.size() == 6 ? QTransform(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
                             : QTransform();
}

}  // namespace

// Shares of the cost stand left of the outermost cards, or right of them.
void DrawingExportTest::whatStandsAtTheEdgesIsWhole() {
  QXmlStreamReader svg(exported(drawings::kSmall, [](ProjectDocument& document) {
    // Beside each other, so close that the share of the right one has no room at its left.
    document.moveNodes("main", {{"fc", QPointF(212, 60)}, {"y", QPointF(0, 400)}});
    document.makeGroup("main", {"conv"}, "front");
  }));
  QList<QTransform> at{QTransform()};
  double width = 0;
  int shares = 0;
  QStringList texts;
  while (!svg.atEnd()) {
    svg.readNext();
    if (svg.isEndElement()) at.removeLast();
    if (!svg.isStartElement()) continue;
    const auto attributes = svg.attributes();
    at << matrixOf(attributes.value("transform").toString()) * at.last();
    if (svg.name() == QLatin1String("svg"))
      width = attributes.value("viewBox").toString().section(' ', 2, 2).toDouble();
    if (svg.name() != QLatin1String("text")) continue;
    QFont font(attributes.value("font-family").toString());
    font.setPixelSize(static_cast<int>(attributes.value("font-size").toString().remove("px").toDouble()));
    font.setWeight(QFont::Weight(attributes.value("font-weight").toInt()));
    const QTransform place = at.last();
    const double left = place.map(QPointF(attributes.value("x").toDouble(), 0)).x();
    const QString text = svg.readElementText();
    at.removeLast();  // its end was read
    const double right = left + place.m11() * QFontMetricsF(font).horizontalAdvance(text);
    texts << QString("%1: %2 to %3").arg(text).arg(left).arg(right);
    QVERIFY2(left >= 1 && right <= width - 1, qPrintable(texts.last() + QString(" of %1").arg(width)));
    shares += text.endsWith('%');
  }
  QVERIFY2(shares >= 2 && width > 300, qPrintable(texts.join("; ")));
}

// Viewers that know no opacity, ImageMagick among them, would paint over what lies below.
void DrawingExportTest::noFillNeedsToBeTranslucent() {
  QXmlStreamReader svg(exported(drawings::kSmall, [](ProjectDocument& document) {
    document.makeGroup("main", {"conv", "relu"}, "front");
    const std::string folded = document.makeGroup("main", {"pool", "fc"}, "back");
    document.setFolded("main", folded, true);
    document.addComment("main", {.text = "why", .x = 300, .y = 0, .width = 120, .height = 60});
  }));
  int fills = 0;
  while (!svg.atEnd()) {
    svg.readNext();
    if (!svg.isStartElement() || svg.attributes().value("fill").isEmpty() ||
        svg.attributes().value("fill") == QLatin1String("none"))
      continue;
    const double opacity =
        svg.attributes().hasAttribute("fill-opacity") ? svg.attributes().value("fill-opacity").toDouble() : 1;
    ++fills;
    QVERIFY2(opacity == 0 || opacity == 1,
             qPrintable(QString("%1 with %2").arg(svg.attributes().value("fill").toString()).arg(opacity)));
  }
  QVERIFY2(fills > 20, qPrintable(QString::number(fills)));
}

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

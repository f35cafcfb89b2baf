#include "widgets/canvas/drawing_export.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <QFileInfo>
#include <QImage>
#include <QPageLayout>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTimer>
#include <algorithm>
#include <cmath>

#include "widgets/canvas/network_scene.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kMargin = 48;         // around the cards, in units of the canvas: the lanes of wires lie in it
constexpr double kShares = 40;         // beside them stand shares of the costs
constexpr double kMostPixels = 16384;  // of a side: what viewers still open
constexpr int kPointsPerInch = 72;     // a unit of the canvas is a point of paper

QString tr(const char* text) {
  return QCoreApplication::translate("DrawingExport", text);
}

// Shapes, costs and faults of a large project are found beside the window: they are waited for, else the drawing would
// say "?" everywhere.
void awaitChecks(ProjectDocument& document) {
  constexpr int kLongest = 60000;
  if (document.checksAreCurrent()) return;
  QEventLoop loop;
  QTimer::singleShot(kLongest, &loop, &QEventLoop::quit);
  QObject::connect(&document, &ProjectDocument::analysisChanged, &loop, [&] {
    if (document.checksAreCurrent()) loop.quit();
  });
  loop.exec(QEventLoop::ExcludeUserInputEvents);
}

void paint(NetworkScene& scene, QPaintDevice& device, const QRectF& source, const QSizeF& size) {
  QPainter painter(&device);
  painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
  scene.render(&painter, QRectF(QPointF(0, 0), size), source);
}

void writeSvg(NetworkScene& scene, QSaveFile& file, const QRectF& source, const QString& title) {
  QSvgGenerator generator;
  generator.setOutputDevice(&file);
  generator.setTitle(title);
  generator.setSize(source.size().toSize());
  generator.setViewBox(QRectF(QPointF(0, 0), source.size()));
  generator.setResolution(96);
  paint(scene, generator, source, source.size());
}

void writePdf(NetworkScene& scene, QSaveFile& file, const QRectF& source, const QString& title) {
  QPdfWriter writer(&file);
  writer.setTitle(title);
  writer.setCreator(QStringLiteral("Gradloom"));
  writer.setResolution(kPointsPerInch);
  // A page as large as the drawing; PDF allows 14,400 points a side.
  const double fit = std::min(1.0, 14000 / std::max(source.width(), source.height()));
  const QSizeF size = source.size() * fit;
  writer.setPageSize(QPageSize(size, QPageSize::Point, QString(), QPageSize::ExactMatch));
  writer.setPageMargins(QMarginsF());
  paint(scene, writer, source, size);
}

bool writePng(NetworkScene& scene, QSaveFile& file, const QRectF& source, double scale) {
  scale = std::min(scale, kMostPixels / std::max(source.width(), source.height()));
  QImage image((source.size() * scale).toSize().expandedTo({1, 1}), QImage::Format_ARGB32_Premultiplied);
  if (image.isNull()) return false;
  image.fill(Theme::of().colour(Colour::canvas));
  paint(scene, image, source, QSizeF(image.size()));
  return image.save(&file, "PNG");
}

}  // namespace

Outcome exportDrawing(ProjectDocument& document, const DrawingExport& wanted) {
  const QString ending = QFileInfo(wanted.file).suffix().toLower();
  if (ending != "svg" && ending != "png" && ending != "pdf")
    return Outcome::refused(tr("A drawing is written as .svg, .png or .pdf, not as %1.")
                                .arg(ending.isEmpty() ? wanted.file : '.' + ending));
  const Network* const network = document.project().drawing(wanted.network);
  if (!network || network->nodes.empty())
    return Outcome::refused(tr("%1 has nothing drawn.").arg(QString::fromStdString(wanted.network)));

  awaitChecks(document);
  const Theme::LightColours light(Theme::of());  // paper is white
  NetworkScene scene(document);                  // that no view looks at: all its wires are routed before it is painted
  scene.setNetwork(wanted.network);
  scene.setBackgroundBrush(Qt::NoBrush);
  const QRectF source = scene.cardsRect().adjusted(-kMargin - kShares, -kMargin, kMargin + kShares, kMargin);
  QSaveFile file(wanted.file);
  if (!file.open(QIODevice::WriteOnly))
    return Outcome::refused(tr("%1 cannot be written: %2").arg(wanted.file, file.errorString()));
  const QString title = document.name() + " - " + QString::fromStdString(wanted.network);
  bool done = true;
  if (ending == "svg")
    writeSvg(scene, file, source, title);
  else if (ending == "pdf")
    writePdf(scene, file, source, title);
  else
    done = writePng(scene, file, source, std::clamp(wanted.scale, 0.1, 8.0));
  if (!done || !file.commit())
    return Outcome::refused(tr("%1 cannot be written: %2").arg(wanted.file, file.errorString()));
  return Outcome::done();
}

}  // namespace loom

#include "widgets/chart/curve_layer.h"

#include <QGraphicsLayout>
#include <QGraphicsScene>
#include <QPainter>
#include <QtCharts/QAreaSeries>
#include <QtCharts/QChart>
#include <QtCharts/QLegend>
#include <QtCharts/QLineSeries>
#include <QtCharts/QValueAxis>
#include <vector>

#include "widgets/chart/stroke_raster.h"

namespace loom {
namespace {

constexpr std::size_t kMostCharted = 10;  // lines; Qt Charts needs some milliseconds for each ten
constexpr std::size_t kMostSmooth = 50;   // from there on lines of one pixel, smooth up and down alone
constexpr int kStrips = 4;                // of a column, where there are fewer

}  // namespace

// One chart whose axes are the pixels of the plot, with series that are used again from frame to frame.
struct CurveLayer::Sheet {
  QGraphicsScene scene;
  QChart* chart = new QChart;
  QValueAxis* x = new QValueAxis;
  QValueAxis* y = new QValueAxis;
  std::vector<QLineSeries*> lines;
  std::vector<QAreaSeries*> areas;
  std::size_t used = 0;

  Sheet() {
    scene.addItem(chart);
    chart->setAnimationOptions(QChart::NoAnimation);
    chart->legend()->hide();
    chart->setMargins(QMargins());
    chart->setBackgroundVisible(false);
    chart->setPlotAreaBackgroundVisible(false);
    chart->layout()->setContentsMargins(0, 0, 0, 0);
    chart->addAxis(x, Qt::AlignBottom);
    chart->addAxis(y, Qt::AlignLeft);
    x->setVisible(false);
    y->setVisible(false);
    y->setReverse(true);
  }

  void resize(const QSizeF& size) {
    used = 0;
    if (chart->size() == size) return;
    chart->resize(size);
    chart->setPlotArea(QRectF(QPointF(), size));
    chart->layout()->activate();
    x->setRange(0, size.width());
    y->setRange(0, size.height());
    scene.setSceneRect(QRectF(QPointF(), size));
  }

  void add(QAbstractSeries* series) {
    chart->addSeries(series);
    series->attachAxis(x);
    series->attachAxis(y);
  }

  void hideUnused() {
    for (std::size_t i = used; i < lines.size(); ++i) lines[i]->setVisible(false);
    for (std::size_t i = used; i < areas.size(); ++i) areas[i]->setVisible(false);
  }
};

CurveLayer::CurveLayer() : m_bands(std::make_unique<Sheet>()), m_lines(std::make_unique<Sheet>()) {}

CurveLayer::~CurveLayer() = default;

void CurveLayer::begin(const QSizeF& plot, std::size_t lines) {
  m_size = plot;
  m_byHand = lines > kMostCharted;
  m_strokes.clear();
  m_areas.clear();
  m_bands->resize(plot);
  m_lines->resize(plot);
}

void CurveLayer::addBand(const QVector<QPointF>& upper, const QVector<QPointF>& lower, const QColor& colour) {
  if (m_byHand) return m_areas.push_back({QPolygonF(upper), QPolygonF(lower), colour});
  Sheet& sheet = *m_bands;
  if (sheet.used == sheet.areas.size()) {
    auto* area = new QAreaSeries(new QLineSeries, new QLineSeries);
    area->upperSeries()->setParent(area);
    area->lowerSeries()->setParent(area);
    sheet.add(area);
    area->setPen(Qt::NoPen);
    sheet.areas.push_back(area);
  }
  QAreaSeries* area = sheet.areas[sheet.used++];
  area->upperSeries()->replace(upper);
  area->lowerSeries()->replace(lower);
  area->setBrush(colour);
  area->setVisible(true);
}

void CurveLayer::addLine(const QVector<QPointF>& points, const QPen& pen) {
  if (m_byHand) return m_strokes.push_back({QPolygonF(points), pen});
  Sheet& sheet = *m_lines;
  if (sheet.used == sheet.lines.size()) {
    auto* line = new QLineSeries;
    sheet.add(line);
    sheet.lines.push_back(line);
  }
  QLineSeries* line = sheet.lines[sheet.used++];
  line->setPen(pen);
  line->replace(points);
  line->setVisible(true);
}

// A picture is drawn into column by column; whatever else (SVG, a printer) gets the strokes themselves.
void CurveLayer::renderByHand(QPainter& painter, const QRectF& target) const {
  const int device = painter.device()->devType();
  const bool isPicture = (device == QInternal::Image || device == QInternal::Pixmap || device == QInternal::Widget) &&
                         painter.transform().type() <= QTransform::TxTranslate;
  if (!isPicture) return renderStrokes(painter, target);
  const double ratio = painter.device()->devicePixelRatioF();
  QImage picture((target.size() * ratio).toSize() + QSize(1, 1), QImage::Format_ARGB32_Premultiplied);
  picture.setDevicePixelRatio(ratio);
  picture.fill(Qt::transparent);
  const bool many = m_strokes.size() > kMostSmooth;
  StrokeRaster raster(picture, ratio, many ? 1 : kStrips);
  for (const Area& each : m_areas) raster.area(each.upper, each.lower, each.colour);
  for (const Stroke& each : m_strokes) {
    QPen pen = each.pen;
    if (many && pen.widthF() < 2) pen.setWidthF(1);
    raster.stroke(each.points, pen);
  }
  painter.drawImage(target.topLeft(), picture);
}

void CurveLayer::renderStrokes(QPainter& painter, const QRectF& target) const {
  painter.save();
  painter.translate(target.topLeft());
  painter.setPen(Qt::NoPen);
  for (const Area& each : m_areas) {
    QPolygonF outline(each.upper);
    for (auto point = each.lower.rbegin(); point != each.lower.rend(); ++point) outline << *point;
    painter.setBrush(each.colour);
    painter.drawPolygon(outline);
  }
  painter.setBrush(Qt::NoBrush);
  for (const Stroke& each : m_strokes) {
    painter.setPen(each.pen);
    painter.drawPolyline(each.points);
  }
  painter.restore();
}

void CurveLayer::render(QPainter& painter, const QRectF& target) {
  if (m_byHand) renderByHand(painter, target);
  m_bands->hideUnused();
  m_lines->hideUnused();
  if (m_bands->used > 0) m_bands->scene.render(&painter, target, QRectF(QPointF(), m_size), Qt::IgnoreAspectRatio);
  if (m_lines->used > 0) m_lines->scene.render(&painter, target, QRectF(QPointF(), m_size), Qt::IgnoreAspectRatio);
}

}  // namespace loom

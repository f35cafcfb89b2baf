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

namespace loom {
namespace {

constexpr std::size_t kMostCharted = 40;  // lines; Qt Charts needs some milliseconds for each ten
constexpr std::size_t kMostSmooth = 50;   // from there on lines of one pixel, without antialiasing: ten times as fast

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
  if (m_byHand) {
    QPolygonF outline(upper);
    for (auto each = lower.rbegin(); each != lower.rend(); ++each) outline << *each;
    m_areas.push_back({std::move(outline), colour});
    return;
  }
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

void CurveLayer::renderByHand(QPainter& painter, const QRectF& target) const {
  painter.save();
  painter.translate(target.topLeft());
  painter.setPen(Qt::NoPen);
  for (const Area& each : m_areas) {
    painter.setBrush(each.colour);
    painter.drawPolygon(each.outline);
  }
  const bool smooth = m_strokes.size() <= kMostSmooth;
  painter.setRenderHint(QPainter::Antialiasing, smooth);
  for (const Stroke& each : m_strokes) {
    QPen pen = each.pen;
    if (!smooth && pen.widthF() < 2) pen.setWidthF(1);
    painter.setRenderHint(QPainter::Antialiasing, smooth || pen.widthF() >= 2);
    painter.setPen(pen);
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

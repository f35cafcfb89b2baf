#include "widgets/theme/icon.h"

#include <QDir>
#include <QFile>
#include <QGuiApplication>
#include <QIconEngine>
#include <QPainter>
#include <QSvgRenderer>
#include <cmath>
#include <memory>

#include "widgets/theme/elevation.h"
#include "widgets/theme/status.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

struct Cache {
  QHash<QString, QPixmap> pixmaps;
  QHash<QString, std::shared_ptr<QSvgRenderer>> renderers;
};

// Pixmaps belong to the UI thread, as everything that paints here.
Cache& cache() {
  static Cache instance;
  return instance;
}

QString path(const QString& name) {
  return QStringLiteral(":/gradloom/icons/%1.svg").arg(name);
}

QSvgRenderer* renderer(const QString& name) {
  auto& renderers = cache().renderers;
  auto found = renderers.find(name);
  if (found == renderers.end()) {
    std::shared_ptr<QSvgRenderer> made;
    if (QFile::exists(path(name))) made = std::make_shared<QSvgRenderer>(path(name));
    found = renderers.insert(name, made);
  }
  return found->get();
}

class Engine : public QIconEngine {
 public:
  Engine(QString name, Colour colour) : m_name(std::move(name)), m_colour(colour) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
    const double side = std::min(rect.width(), rect.height());
    QRectF square(0, 0, side, side);
    square.moveCenter(QRectF(rect).center());
    // A button asks for a wider icon to keep its text at a distance.
    if (rect.width() > rect.height()) square.moveLeft(rect.left());
    paintIcon(*painter, m_name, square, tint(mode, state));
  }

  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    return scaledPixmap(size, mode, state, 1);
  }

  // `size` is in device pixels.
  QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal scale) override {
    if (size.width() == size.height()) return iconPixmap(m_name, tint(mode, state), size.width() / scale, scale);
    QPixmap result(size);
    result.setDevicePixelRatio(scale);
    result.fill(Qt::transparent);
    QPainter painter(&result);
    paint(&painter, QRect(QPoint(), size / scale), mode, state);
    return result;
  }

  QIconEngine* clone() const override { return new Engine(m_name, m_colour); }
  QString key() const override { return QStringLiteral("loom"); }
  bool isNull() override { return !hasIcon(m_name); }

 private:
  QColor tint(QIcon::Mode mode, QIcon::State state) const {
    const Theme& theme = Theme::of();
    if (mode == QIcon::Disabled) return theme.colour(Colour::disabled);
    if (mode == QIcon::Selected || state == QIcon::On) return theme.colour(Colour::accentText);
    return theme.colour(m_colour);
  }

  QString m_name;
  Colour m_colour;
};

class MarkEngine : public QIconEngine {
 public:
  void paint(QPainter* painter, const QRect& rect, QIcon::Mode, QIcon::State) override { paintMark(*painter, rect); }
  QPixmap pixmap(const QSize& size, QIcon::Mode, QIcon::State) override {
    QPixmap result(size);
    result.fill(Qt::transparent);
    QPainter painter(&result);
    paintMark(painter, QRectF(QPointF(), QSizeF(size)));
    return result;
  }
  QIconEngine* clone() const override { return new MarkEngine; }
};

}  // namespace

QIcon icon(const QString& name, Colour colour) {
  return QIcon(new Engine(name, colour));
}

QPixmap iconPixmap(const QString& name, const QColor& colour, double size, double deviceRatio) {
  const int pixels = std::max(1, qRound(size * deviceRatio));
  const QString key = QStringLiteral("%1|%2|%3|%4").arg(name).arg(colour.rgba()).arg(pixels).arg(deviceRatio);
  auto& pixmaps = cache().pixmaps;
  if (const auto found = pixmaps.constFind(key); found != pixmaps.constEnd()) return *found;
  QPixmap pixmap(pixels, pixels);
  pixmap.fill(Qt::transparent);
  {
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF whole(0, 0, pixels, pixels);
    if (const auto status = statusOfIcon(name)) {
      paintStatus(painter, *status, whole, colour);
    } else if (QSvgRenderer* svg = renderer(name)) {
      svg->render(&painter, whole);
      painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
      painter.fillRect(whole, colour);
    }
  }
  pixmap.setDevicePixelRatio(deviceRatio);
  pixmaps.insert(key, pixmap);
  return pixmap;
}

void paintIcon(QPainter& painter, const QString& name, const QRectF& rect, const QColor& colour) {
  if (paintsVectors(painter)) {
    // A drawing that leaves the program keeps its icons as lines.
    if (const auto status = statusOfIcon(name)) return paintStatus(painter, *status, rect, colour);
    QFile file(path(name));
    if (!file.open(QIODevice::ReadOnly)) return;
    QSvgRenderer(file.readAll().replace("black", colour.name().toLatin1())).render(&painter, rect);
    return;
  }
  // On a scaled painter (the canvas) the pixmap is made for the scale that is seen.
  const double scale = std::hypot(painter.worldTransform().m11(), painter.worldTransform().m12());
  const double ratio = painter.device()->devicePixelRatioF() * (scale > 0 ? scale : 1);
  // By its pixels: one for all zooms that need as many, so that a zoom makes few and a long session keeps few.
  painter.drawPixmap(rect, iconPixmap(name, colour, std::max(1, qRound(rect.width() * ratio)), 1), QRectF());
}

QString layerIcon(const QString& entryIcon, const QString& category) {
  if (hasIcon(entryIcon)) return entryIcon;
  return hasIcon(category) ? category : QStringLiteral("shape");
}

bool hasIcon(const QString& name) {
  return !name.isEmpty() && (statusOfIcon(name) || QFile::exists(path(name)));
}

QStringList iconNames() {
  QStringList names =
      QDir(QStringLiteral(":/gradloom/icons")).entryList({QStringLiteral("*.svg")}, QDir::Files, QDir::Name);
  for (QString& name : names) name.chop(4);
  return names;
}

void clearIconCache() {
  cache().pixmaps.clear();
}

void paintMark(QPainter& painter, const QRectF& rect) {
  const Theme& theme = Theme::of();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(rect.topLeft());
  painter.scale(rect.width() / 28, rect.height() / 28);
  // Threads over a 28 x 28 square: three of warp, five bits of weft, each with a gap cut out of the warp that it
  // crosses.
  const QPen warp(theme.colour(Colour::accentText), 2.6, Qt::SolidLine, Qt::RoundCap);
  const QPen weft(theme.colour(Colour::text), 2.6, Qt::SolidLine, Qt::FlatCap);
  const double weftAt[5][2] = {{6, 6}, {22, 6}, {14, 14}, {6, 22}, {22, 22}};
  for (const double x : {6.0, 14.0, 22.0}) {
    double from = 2;
    painter.setPen(warp);
    for (const auto& [cx, cy] : weftAt) {
      if (cx != x) continue;
      if (cy - 3.25 > from) painter.drawLine(QPointF(x, from), QPointF(x, cy - 4.2));
      from = cy + 4.2;
    }
    painter.drawLine(QPointF(x, from), QPointF(x, 26));
  }
  painter.setPen(weft);
  for (const auto& [cx, cy] : weftAt) painter.drawLine(QPointF(cx - 4, cy), QPointF(cx + 4, cy));
  painter.restore();
}

QIcon applicationIcon() {
  return QIcon(new MarkEngine);
}

}  // namespace loom

#pragma once
// What is written and where: a paint device that keeps each piece of text with its box, in the coordinates of what is
// painted, and draws nothing.
#include <QPaintDevice>
#include <QPaintEngine>
#include <QTextItem>
#include <QWidget>
#include <algorithm>
#include <vector>

namespace loom {

struct PaintedWord {
  QString text;
  QRectF box;
};

class PaintedWords : public QPaintDevice {
 public:
  PaintedWords() : m_engine(m_words) {}
  static std::vector<PaintedWord> of(QWidget& widget) {
    PaintedWords device;
    widget.render(&device);
    return device.m_words;
  }
  const std::vector<PaintedWord>& words() const { return m_words; }

 protected:
  QPaintEngine* paintEngine() const override { return &m_engine; }
  int metric(PaintDeviceMetric metric) const override {
    switch (metric) {
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY:
        return 96;
      case PdmWidth:
      case PdmHeight:
        return 4000;
      case PdmDepth:
        return 32;
      case PdmNumColors:
        return 1 << 24;
      case PdmDevicePixelRatio:
        return 1;
      case PdmDevicePixelRatioScaled:
        return static_cast<int>(devicePixelRatioFScale());
      default:
        return 1000;  // millimetres
    }
  }

 private:
  class Engine : public QPaintEngine {
   public:
    explicit Engine(std::vector<PaintedWord>& words) : QPaintEngine(AllFeatures), m_words(words) {}
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    void updateState(const QPaintEngineState&) override {}
    void drawTextItem(const QPointF& at, const QTextItem& item) override {
      const QRectF box(at.x(), at.y() - item.ascent(), item.width(), item.ascent() + item.descent());
      if (!item.text().trimmed().isEmpty()) m_words.push_back({item.text(), state->transform().mapRect(box)});
    }
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {}
    void drawTiledPixmap(const QRectF&, const QPixmap&, const QPointF&) override {}
    void drawPath(const QPainterPath&) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    void drawPolygon(const QPoint*, int, PolygonDrawMode) override {}
    Type type() const override { return User; }

   private:
    std::vector<PaintedWord>& m_words;
  };
  std::vector<PaintedWord> m_words;
  mutable Engine m_engine;
};

inline const PaintedWord* findPainted(const std::vector<PaintedWord>& words, const QString& part) {
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const PaintedWord& each) { return each.text.contains(part); });
  return found == words.end() ? nullptr : &*found;
}

}  // namespace loom

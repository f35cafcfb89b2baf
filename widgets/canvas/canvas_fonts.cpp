#include "widgets/canvas/canvas_fonts.h"

#include <memory>

#include "widgets/theme/theme.h"

namespace loom {

namespace {

QFont titleFont() {
  return Theme::of().font(FontRole::heading);
}
// From afar only the name is left, so it may be large: readable down to 40 %.
QFont farFont() {
  QFont font = titleFont();
  font.setPointSizeF(font.pointSizeF() * 1.6);
  return font;
}

}  // namespace

CanvasFonts::CanvasFonts(std::size_t count)
    : title(titleFont()),
      far(farFont()),
      small(Theme::withWeight(Theme::of().font(FontRole::caption), 400)),
      chip(Theme::of().numberFont(FontRole::label)),
      figure(Theme::of().numberFont(FontRole::wireLabel)),
      titleMetrics(title),
      farMetrics(far),
      smallMetrics(small),
      chipMetrics(chip),
      figureMetrics(figure),
      number(count) {}

PreparedText CanvasFonts::fitted(const QString& text, const QFont& font, const QFontMetricsF& metrics, double room,
                                 Qt::TextElideMode mode) {
  PreparedText whole(text, font);
  return whole.width() <= room ? whole : PreparedText(metrics.elidedText(text, mode, room), font);
}

PreparedText CanvasFonts::usual(const QString& text, const QFont& font, const QFontMetricsF& metrics,
                                double room) const {
  constexpr qsizetype kMost = 4000;
  if (text.isEmpty()) return {};
  if (m_usual.size() > kMost) m_usual.clear();
  const QString key = text + QLatin1Char('\n') + QString::number(room) + font.key();
  const auto found = m_usual.constFind(key);
  return found != m_usual.constEnd() ? *found : *m_usual.insert(key, fitted(text, font, metrics, room, Qt::ElideRight));
}

const CanvasFonts& CanvasFonts::now() {
  static std::unique_ptr<const CanvasFonts> kept;
  static const Theme* of = nullptr;
  static std::size_t count = 0;
  Theme& theme = Theme::of();
  if (of != &theme) {  // the first time, or another application object in one test
    of = &theme;
    kept.reset();
    QObject::connect(&theme, &Theme::changed, &theme, [] { kept.reset(); });
    QObject::connect(&theme, &QObject::destroyed, [] {  // faces of fonts must not outlive the application
      of = nullptr;
      kept.reset();
    });
  }
  if (!kept) kept.reset(new CanvasFonts(++count));
  return *kept;
}

}  // namespace loom

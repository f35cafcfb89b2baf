#include "widgets/theme/theme.h"

#include <QApplication>
#include <QFile>
#include <QGuiApplication>
#include <QLayout>
#include <QScreen>
#include <QStyle>
#include <QVariant>
#include <QWidget>
#include <algorithm>
#include <map>

#include "widgets/theme/colour_scheme.h"
#include "widgets/theme/focus_ring.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/style.h"

namespace loom {
namespace {

Theme* g_theme = nullptr;  // as qApp: one application, one look

// Fonts are asked for with every text that is painted: each is made once, and what Qt finds out about it (which face,
// which glyphs) stays with it. They go with the theme, before the application does.
struct MadeFonts {
  std::map<std::pair<FontRole, bool>, QFont> fonts;  // by role, and whether it is the one of numbers
  bool fine = false;                                 // for a screen whose pixels are small
};
MadeFonts g_fonts;

// Points that come out at `px` logical pixels at 96 dots per inch, and grow with the desktop's font resolution.
constexpr double kPointsPerPixel = 0.75;
constexpr int kGreyCurvesFrom = 30;
constexpr int kCurvesPerDash = 10;

const char* roleName(FontRole role) {
  switch (role) {
    case FontRole::display:
      return "display";
    case FontRole::figure:
      return "figure";
    case FontRole::title:
      return "title";
    case FontRole::heading:
      return "heading";
    case FontRole::body:
      return "body";
    case FontRole::label:
      return "label";
    case FontRole::caption:
      return "caption";
    case FontRole::axis:
      return "axis";
    case FontRole::wireLabel:
      return "pinLabel";
  }
  return "body";
}

struct SizeToken {
  const char* name;
  bool growsWithText;
};

SizeToken sizeToken(Size size) {
  switch (size) {
    case Size::topBar:
      return {"topBar", true};
    case Size::rail:
      return {"rail", true};
    case Size::railNarrow:
      return {"railNarrow", false};
    case Size::pageBar:
      return {"pageBar", true};
    case Size::tabs:
      return {"tabs", true};
    case Size::statusBar:
      return {"statusBar", true};
    case Size::palette:
      return {"palette", true};
    case Size::inspector:
      return {"inspector", true};
    case Size::field:
      return {"field", true};
    case Size::button:
      return {"button", true};
    case Size::buttonTop:
      return {"buttonTop", true};
    case Size::tableRow:
      return {"tableRow", true};
    case Size::tableHead:
      return {"tableHead", true};
    case Size::icon:
      return {"icon", false};
    case Size::iconRail:
      return {"iconRail", false};
    case Size::iconStatus:
      return {"iconStatus", false};
    case Size::nodeHeight:
      return {"nodeHeight", true};
    case Size::nodeWidth:
      return {"nodeWidth", true};
    case Size::grid:
      return {"grid", false};
    case Size::nodePitch:
      return {"nodePitch", true};
  }
  return {"field", true};
}

const char* radiusName(Radius radius) {
  switch (radius) {
    case Radius::chip:
      return "chip";
    case Radius::field:
      return "field";
    case Radius::button:
      return "button";
    case Radius::node:
      return "node";
    case Radius::card:
      return "card";
    case Radius::peek:
      return "peek";
    case Radius::pill:
      return "pill";
  }
  return "field";
}

QPalette applicationPalette(const Palette& p) {
  QPalette result;
  const auto set = [&](QPalette::ColorRole role, Colour enabled, Colour disabled) {
    result.setColor(QPalette::Active, role, p[enabled]);
    result.setColor(QPalette::Inactive, role, p[enabled]);
    result.setColor(QPalette::Disabled, role, p[disabled]);
  };
  set(QPalette::Window, Colour::app, Colour::app);
  set(QPalette::WindowText, Colour::text, Colour::disabled);
  set(QPalette::Base, Colour::surface, Colour::app);
  set(QPalette::AlternateBase, Colour::sunken, Colour::sunken);
  set(QPalette::Text, Colour::text, Colour::disabled);
  set(QPalette::PlaceholderText, Colour::text3, Colour::disabled);
  set(QPalette::Button, Colour::surface, Colour::app);
  set(QPalette::ButtonText, Colour::text, Colour::disabled);
  set(QPalette::BrightText, Colour::error, Colour::disabled);
  set(QPalette::ToolTipBase, Colour::raised, Colour::raised);
  set(QPalette::ToolTipText, Colour::text, Colour::text);
  set(QPalette::Light, Colour::surface, Colour::surface);
  set(QPalette::Midlight, Colour::hover, Colour::hover);
  set(QPalette::Mid, Colour::line, Colour::line);
  set(QPalette::Dark, Colour::lineStrong, Colour::line);
  set(QPalette::Shadow, Colour::shadow, Colour::shadow);
  set(QPalette::Highlight, Colour::selected, Colour::hover);
  set(QPalette::HighlightedText, Colour::text, Colour::disabled);
  set(QPalette::Link, Colour::accentText, Colour::disabled);
  set(QPalette::LinkVisited, Colour::accentText, Colour::disabled);
  return result;
}

// Hinted outlines jump between whole pixels, which shows as uneven spacing at fractional ratios.
bool screenIsFine() {
  const QScreen* const screen = QGuiApplication::primaryScreen();
  return screen && screen->devicePixelRatio() >= 1.25;
}

QFont makeFont(FontRole role, bool ofNumbers, int textSize) {
  const Tokens& tokens = Tokens::builtIn();
  const TypeSize type = tokens.type.value(QString::fromLatin1(roleName(role)));
  QFont result;
  result.setFamilies(ofNumbers || role == FontRole::figure ? tokens.numberFamilies : tokens.uiFamilies);
  result.setPointSizeF(type.px * kPointsPerPixel * textSize / 100.0);
  if (screenIsFine()) result.setHintingPreference(QFont::PreferNoHinting);
  if (ofNumbers) {
    result.setStyleHint(QFont::Monospace);
    result.setFixedPitch(true);
  }
  return Theme::withWeight(result, type.weight);
}

const QFont& madeFont(FontRole role, bool ofNumbers, int textSize) {
  if (const bool fine = screenIsFine(); fine != g_fonts.fine) {
    g_fonts.fonts.clear();
    g_fonts.fine = fine;
  }
  const auto [at, fresh] = g_fonts.fonts.try_emplace({role, ofNumbers});
  if (fresh) at->second = makeFont(role, ofNumbers, textSize);
  return at->second;
}

constexpr const char *kFontKey = "keptFont", *kHeightKey = "keptHeight", *kWidthKey = "keptWidth";

void fitFont(QWidget& widget, const Theme& theme) {
  const QVariantList kept = widget.property(kFontKey).toList();
  if (kept.size() != 3) return;
  const auto role = static_cast<FontRole>(kept[0].toInt());
  const QFont font = kept[1].toInt() == static_cast<int>(Face::numbers) ? theme.numberFont(role) : theme.font(role);
  widget.setFont(kept[2].toInt() > 0 ? Theme::withWeight(font, kept[2].toInt()) : font);
}

// (size, extra) of a token, or (pixels) at 100 %.
void fitExtent(QWidget& widget, const Theme& theme, const char* key) {
  const QVariantList kept = widget.property(key).toList();
  if (kept.isEmpty()) return;
  const int px = kept.size() == 2 ? theme.size(static_cast<Size>(kept[0].toInt())) + kept[1].toInt()
                                  : qRound(kept[0].toInt() * theme.textSize() / 100.0);
  if (key == kHeightKey)
    widget.setFixedHeight(px);
  else
    widget.setFixedWidth(px);
}

// What keeps a font or an extent takes the new one, and every layout looks again at what its parts want.
void fitKept(const Theme& theme) {
  for (QWidget* widget : QApplication::allWidgets()) {
    fitFont(*widget, theme);
    fitExtent(*widget, theme, kHeightKey);
    fitExtent(*widget, theme, kWidthKey);
    widget->updateGeometry();
    if (widget->layout()) widget->layout()->invalidate();
  }
}

void keepExtent(QWidget& widget, const char* key, const QVariantList& kept) {
  widget.setProperty(key, kept);
  fitExtent(widget, Theme::of(&widget), key);
}

}  // namespace

void keepFont(QWidget* widget, FontRole role, Face face, int weight) {
  widget->setProperty(kFontKey, QVariantList{static_cast<int>(role), static_cast<int>(face), weight});
  fitFont(*widget, Theme::of(widget));
}

void keepHeight(QWidget* widget, Size size, int extra) {
  keepExtent(*widget, kHeightKey, {static_cast<int>(size), extra});
}

void keepWidth(QWidget* widget, Size size, int extra) {
  keepExtent(*widget, kWidthKey, {static_cast<int>(size), extra});
}

void keepHeight(QWidget* widget, int px) {
  keepExtent(*widget, kHeightKey, {px});
}

void keepWidth(QWidget* widget, int px) {
  keepExtent(*widget, kWidthKey, {px});
}

Theme::Theme(QApplication& application, ThemeOptions options)
    : m_application(application),
      m_options(options),
      m_scheme(std::make_unique<ColourScheme>(QGuiApplication::palette())) {
  Q_ASSERT(!g_theme);
  g_theme = this;
  m_options.textSize = std::clamp(m_options.textSize, 90, 150);
  connect(m_scheme.get(), &ColourScheme::changed, this, &Theme::apply);
  if (m_options.mode == ThemeMode::system) m_scheme->listen();
  QApplication::setStyle(new Style);
  m_focusRing = std::make_unique<FocusRing>(application);
  apply();
}

Theme::~Theme() {
  g_fonts.fonts.clear();
  g_theme = nullptr;
}

Theme& Theme::of(const QObject*) {
  if (!g_theme) qFatal("no loom::Theme: construct one after the QApplication and before any widget");
  return *g_theme;
}

void Theme::apply() {
  m_dark = m_options.mode == ThemeMode::dark || (m_options.mode == ThemeMode::system && m_scheme->dark());
  clearIconCache();
  g_fonts.fonts.clear();
  m_application.setPalette(applicationPalette(palette()));
  m_application.setFont(font(FontRole::body));
  QFile file(QStringLiteral(":/gradloom/styles/gradloom.qss.in"));
  if (!file.open(QIODevice::ReadOnly)) qFatal("the stylesheet is missing from the program's resources");
  m_application.setStyleSheet(fillStyleSheet(QString::fromUtf8(file.readAll()), *this));
  fitKept(*this);
  Q_EMIT changed();
  for (QWidget* widget : QApplication::allWidgets()) widget->update();
}

void Theme::setMode(ThemeMode mode) {
  if (mode == m_options.mode) return;
  m_options.mode = mode;
  if (mode == ThemeMode::system) m_scheme->listen();
  apply();
}

void Theme::setTextSize(int percent) {
  percent = std::clamp(percent, 90, 150);
  if (percent == m_options.textSize) return;
  m_options.textSize = percent;
  apply();
}

bool Theme::reducedMotion() const {
  return m_options.reducedMotion || !m_scheme->animations();
}

void Theme::setReducedMotion(bool reduced) {
  if (reduced == m_options.reducedMotion) return;
  m_options.reducedMotion = reduced;
  Q_EMIT changed();
}

QColor Theme::colour(Colour colour, double opacity) const {
  QColor result = palette()[colour];
  result.setAlphaF(static_cast<float>(opacity));
  return result;
}

QColor Theme::curveColour(int index) const {
  const auto& curves = palette().curves;
  if (index < 0 || index >= kGreyCurvesFrom) return colour(Colour::axis, 0.4);
  return curves[static_cast<std::size_t>(index) % curves.size()];
}

QVector<qreal> Theme::curveDash(int index, qreal penWidth) const {
  const auto& dashes = Tokens::builtIn().curveDashes;
  QVector<qreal> result;
  if (index < 0 || index >= kGreyCurvesFrom) return result;
  for (const double px : dashes[static_cast<std::size_t>(index / kCurvesPerDash) % dashes.size()])
    result << px / penWidth;
  return result;
}

QColor Theme::layerColour(const QString& category) const {
  const auto& layers = palette().layers;
  // A layer of one's own is a unit.
  return layers.value(
      category, layers.value(category == QLatin1String("own") ? QStringLiteral("unit") : QStringLiteral("shape")));
}

QFont Theme::withWeight(QFont font, int weight) {
  font.setWeight(weight >= 600 ? QFont::DemiBold : weight >= 500 ? QFont::Medium : QFont::Normal);
  return font;
}

QFont Theme::font(FontRole role) const {
  return madeFont(role, false, m_options.textSize);
}

QFont Theme::numberFont(FontRole role) const {
  return madeFont(role, true, m_options.textSize);
}

int Theme::size(Size size) const {
  const SizeToken token = sizeToken(size);
  const int px = Tokens::builtIn().size.value(QString::fromLatin1(token.name));
  return token.growsWithText ? qRound(px * m_options.textSize / 100.0) : px;
}

int Theme::radius(Radius radius) const {
  return Tokens::builtIn().radius.value(QString::fromLatin1(radiusName(radius)));
}

int Theme::duration(Motion motion) const {
  const char* name = motion == Motion::hover ? "hover" : motion == Motion::panel ? "panel" : "fit";
  return Tokens::builtIn().motionMs.value(QString::fromLatin1(reducedMotion() ? "reduced" : name));
}

QPen Theme::hairline(Colour colour) const {
  QPen pen(palette()[colour], 1);
  pen.setCosmetic(true);
  return pen;
}

void setStyleProperty(QWidget* widget, const char* name, const QVariant& value) {
  if (widget->property(name) == value) return;
  widget->setProperty(name, value);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
  widget->update();
}

}  // namespace loom

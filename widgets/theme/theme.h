#pragma once
// The look of the whole program. main() constructs one Theme right after the QApplication, before any widget:
//
//   QApplication application(argc, argv);
//   loom::Theme theme(application, {.mode = loom::ThemeMode::system});
//
// It sets style, palette, fonts and the one stylesheet of the application, follows the desktop's choice of light or
// dark, and draws the ring around what has the keyboard. Like the QApplication itself there is one at a time; every
// widget reaches it by Theme::of(this). It is used on the UI thread alone.
//
// Widgets ask for a colour when they paint and never store one; widgets that cache pixmaps or texts drop them on
// changed().
#include <QFont>
#include <QObject>
#include <QPen>
#include <memory>

#include "widgets/theme/tokens.h"

class QApplication;
class QWidget;

namespace loom {

class ColourScheme;
class FocusRing;

enum class ThemeMode { system, light, dark };

enum class FontRole { display, figure, title, heading, body, label, caption, axis, wireLabel };

// Heights and widths of tokens.json `size`. Those in which text stands grow with the text size.
enum class Size {
  topBar,
  rail,
  railNarrow,
  pageBar,
  tabs,
  statusBar,
  palette,
  inspector,
  field,
  button,
  buttonTop,
  tableRow,
  tableHead,
  icon,
  iconRail,
  iconStatus,
  nodeHeight,
  nodeWidth,
  grid,
  nodePitch
};
enum class Radius { chip, field, button, node, card, peek, pill };
enum class Motion { hover, panel, fit };

struct ThemeOptions {
  ThemeMode mode = ThemeMode::system;
  int textSize = 100;          // percent, 90 to 150
  bool reducedMotion = false;  // the desktop's own wish is honoured besides
};

class Theme : public QObject {
  Q_OBJECT

 public:
  explicit Theme(QApplication& application, ThemeOptions options = {});
  ~Theme() override;

  // The theme of the application. Ends the program when none was constructed.
  static Theme& of(const QObject* object = nullptr);

  ThemeMode mode() const { return m_options.mode; }
  void setMode(ThemeMode mode);
  bool isDark() const { return m_dark; }

  QColor colour(Colour colour) const { return palette()[colour]; }
  QColor colour(Colour colour, double opacity) const;
  // The colour and dash of a run's curve by the number that the run keeps for life (0, 1, ...). From 30 on all are
  // grey.
  QColor curveColour(int index) const;
  QVector<qreal> curveDash(int index, qreal penWidth) const;  // in units of the pen's width, as QPen wants it
  // By a layer's category, "convolution"; an unknown one looks like "shape".
  QColor layerColour(const QString& category) const;
  double categoryTint() const { return palette().categoryTint; }
  const Palette& palette() const { return m_dark ? Tokens::builtIn().dark : Tokens::builtIn().light; }

  // While it lives, colours are those of the light palette and nothing is repainted for it: for what is drawn on paper.
  class LightColours {
   public:
    explicit LightColours(Theme& theme) : m_theme(theme), m_dark(theme.m_dark) { theme.m_dark = false; }
    ~LightColours() { m_theme.m_dark = m_dark; }
    LightColours(const LightColours&) = delete;
    LightColours& operator=(const LightColours&) = delete;

   private:
    Theme& m_theme;
    bool m_dark;
  };

  // Text, and the monospaced face for every number that stands in a column or changes, shapes and code.
  QFont font(FontRole role) const;
  QFont numberFont(FontRole role = FontRole::body) const;
  static QFont withWeight(QFont font, int weight);  // 400, 500, 600 as in tokens.json

  int size(Size size) const;
  int radius(Radius radius) const;
  int duration(Motion motion) const;  // ms; 0 with reduced motion
  bool reducedMotion() const;
  void setReducedMotion(bool reduced);
  int textSize() const { return m_options.textSize; }
  void setTextSize(int percent);  // kept within 90 and 150

  // One device pixel, at every zoom and ratio.
  QPen hairline(Colour colour) const;

 Q_SIGNALS:
  void changed();  // colours, fonts or sizes: repaint, and lay out again

 private:
  void apply();

  QApplication& m_application;
  ThemeOptions m_options;
  bool m_dark = false;
  std::unique_ptr<ColourScheme> m_scheme;
  std::unique_ptr<FocusRing> m_focusRing;
};

// The stylesheet template with its @placeholders filled; throws Error(internal) for a placeholder that is no token.
QString fillStyleSheet(const QString& text, const Theme& theme);

// Sets a dynamic property that the stylesheet looks at ("kind") and polishes the widget again.
void setStyleProperty(QWidget* widget, const char* name, const QVariant& value);

}  // namespace loom

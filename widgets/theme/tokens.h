#pragma once
// The design tokens (resources/styles/tokens.json), parsed once. The only place in the program where a colour value
// stands is that file; here they get names, so that a misspelt token is an error of the compiler.
#include <QColor>
#include <QHash>
#include <QString>
#include <QStringList>
#include <array>
#include <vector>

namespace loom {

// clang-format off
#define LOOM_COLOUR_TOKENS(X)                                                                                       \
  X(app)                                                                                                            \
  X(surface) X(sunken) X(canvas) X(raised) X(hover) X(pressed) X(line) X(lineStrong) X(control) X(text) X(text2)    \
      X(text3) X(disabled) X(accent) X(accentHover) X(accentPress) X(onAccent) X(accentText) X(accentSoft) X(focus) \
          X(selected) X(ok) X(okSoft) X(warning) X(warningSoft) X(error) X(errorSoft) X(running) X(idle) X(grid)    \
              X(axis) X(dot) X(shadow)
// clang-format on

enum class Colour {
#define LOOM_TOKEN(name) name,
  LOOM_COLOUR_TOKENS(LOOM_TOKEN)
#undef LOOM_TOKEN
      count
};

// The colours of one scheme, light or dark.
struct Palette {
  std::array<QColor, static_cast<std::size_t>(Colour::count)> colours;
  std::vector<QColor> curves;     // in the order in which runs take them
  QHash<QString, QColor> layers;  // by category: "convolution"
  QColor compute, allReduce, dataWait;
  std::array<QColor, 5> scale;  // of a cost on the canvas, from the least to the largest
  double categoryTint = 0;      // opacity of a category's colour behind its icon

  const QColor& operator[](Colour colour) const { return colours[static_cast<std::size_t>(colour)]; }
};

struct TypeSize {
  double px;
  int weight;  // 400, 500, 600
};

struct Tokens {
  Palette light, dark;
  QStringList uiFamilies, numberFamilies;
  QHash<QString, TypeSize> type;                 // by role: "body"
  QHash<QString, int> size;                      // "field": 28
  QHash<QString, int> radius;                    // "field": 6
  QHash<QString, int> motionMs;                  // "hover": 60
  std::vector<std::vector<double>> curveDashes;  // of curves 1-10, 11-20, 21-30; pattern in px, empty = solid

  // Throws Error(badProject) for a token that is missing, unknown or no colour, with its name.
  static Tokens parse(const QByteArray& json, const QString& name);
  // The ones in the resources.
  static const Tokens& builtIn();
};

QString tokenName(Colour colour);

// Contrast ratio after WCAG 2.1, 1 to 21; both colours opaque.
double contrast(const QColor& one, const QColor& other);

}  // namespace loom

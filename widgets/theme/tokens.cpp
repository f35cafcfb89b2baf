#include "widgets/theme/tokens.h"

#include <QFile>
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/json.h"

namespace loom {
namespace {

constexpr const char* kTokenNames[] = {
#define LOOM_TOKEN(name) #name,
    LOOM_COLOUR_TOKENS(LOOM_TOKEN)
#undef LOOM_TOKEN
};

const Json& member(const Json& object, const std::string& key, const std::string& place) {
  const auto found = object.find(key);
  if (found == object.end()) throw Error(ErrorCode::badProject, "design tokens: " + place + " lacks '" + key + "'");
  return *found;
}

QColor colourOf(const Json& value, const std::string& place) {
  const QColor colour(QString::fromStdString(value.get<std::string>()));
  if (!colour.isValid()) {
    throw Error(ErrorCode::badProject,
                "design tokens: " + place + " is '" + value.get<std::string>() + "', not a colour like #RRGGBB");
  }
  return colour;
}

QStringList strings(const Json& values) {
  QStringList result;
  for (const Json& value : values) result << QString::fromStdString(value.get<std::string>());
  return result;
}

QHash<QString, int> integers(const Json& values) {
  QHash<QString, int> result;
  for (const auto& [key, value] : values.items()) result.insert(QString::fromStdString(key), value.get<int>());
  return result;
}

Palette palette(const Json& theme, const std::string& place) {
  Palette result;
  const Json& colours = member(theme, "colours", place);
  for (std::size_t i = 0; i < result.colours.size(); ++i) {
    result.colours[i] = colourOf(member(colours, kTokenNames[i], place + ".colours"), place + "." + kTokenNames[i]);
  }
  if (colours.size() != result.colours.size()) {
    throw Error(ErrorCode::badProject, "design tokens: " + place + ".colours holds " + std::to_string(colours.size()) +
                                           " colours, the program knows " + std::to_string(result.colours.size()));
  }
  for (const auto& [key, value] : member(theme, "curves", place).items()) {
    result.curves.push_back(colourOf(value, place + ".curves." + key));
  }
  for (const auto& [key, value] : member(theme, "layers", place).items()) {
    result.layers.insert(QString::fromStdString(key), colourOf(value, place + ".layers." + key));
  }
  const Json& stepTime = member(theme, "stepTime", place);
  result.compute = colourOf(member(stepTime, "compute", place), place + ".stepTime");
  result.allReduce = colourOf(member(stepTime, "allReduce", place), place + ".stepTime");
  result.dataWait = colourOf(member(stepTime, "dataWait", place), place + ".stepTime");
  const Json& scale = member(theme, "scale", place);
  if (scale.size() != result.scale.size())
    throw Error(ErrorCode::badProject, "design tokens: " + place + ".scale holds " + std::to_string(scale.size()) +
                                           " colours, the program knows " + std::to_string(result.scale.size()));
  for (std::size_t i = 0; i < result.scale.size(); ++i) result.scale[i] = colourOf(scale[i], place + ".scale");
  result.categoryTint = member(theme, "categoryTint", place).get<double>();
  return result;
}

double linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& colour) {
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

}  // namespace

Tokens Tokens::parse(const QByteArray& json, const QString& name) {
  const Json root =
      parseJson(std::string_view(json.constData(), static_cast<std::size_t>(json.size())), name.toStdString());
  Tokens result;
  const Json& themes = member(root, "themes", "the file");
  result.light = palette(member(themes, "light", "themes"), "light");
  result.dark = palette(member(themes, "dark", "themes"), "dark");
  for (const auto& [range, dashes] : member(root, "curveDashes", "the file").items()) {
    result.curveDashes.push_back(dashes.get<std::vector<double>>());
  }
  const Json& type = member(root, "type", "the file");
  const Json& families = member(type, "families", "type");
  result.uiFamilies = strings(member(families, "ui", "type.families"));
  result.numberFamilies = strings(member(families, "number", "type.families"));
  for (const auto& [role, value] : member(type, "px", "type").items()) {
    result.type.insert(QString::fromStdString(role), {value.at(0).get<double>(), value.at(1).get<int>()});
  }
  result.size = integers(member(root, "size", "the file"));
  result.radius = integers(member(root, "radius", "the file"));
  result.motionMs = integers(member(root, "motionMs", "the file"));
  return result;
}

const Tokens& Tokens::builtIn() {
  static const Tokens tokens = [] {
    const QString name = QStringLiteral(":/gradloom/styles/tokens.json");
    QFile file(name);
    if (!file.open(QIODevice::ReadOnly)) {
      throw Error(ErrorCode::internal, "the design tokens are missing from the program's resources");
    }
    return parse(file.readAll(), name);
  }();
  return tokens;
}

QString tokenName(Colour colour) {
  return QString::fromLatin1(kTokenNames[static_cast<std::size_t>(colour)]);
}

double contrast(const QColor& one, const QColor& other) {
  const double a = luminance(one);
  const double b = luminance(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

}  // namespace loom

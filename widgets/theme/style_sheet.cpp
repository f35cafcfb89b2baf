#include <QRegularExpression>

#include "engine/base/error.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

QString familyList(const QStringList& families) {
  QStringList quoted;
  for (const QString& family : families) quoted << QStringLiteral("\"%1\"").arg(family);
  return quoted.join(QStringLiteral(", "));
}

QHash<QString, QString> placeholders(const Theme& theme) {
  const Tokens& tokens = Tokens::builtIn();
  QHash<QString, QString> result;
  for (int i = 0; i < static_cast<int>(Colour::count); ++i) {
    const auto colour = static_cast<Colour>(i);
    result.insert(tokenName(colour), theme.colour(colour).name(QColor::HexRgb));
  }
  for (auto it = tokens.radius.begin(); it != tokens.radius.end(); ++it) {
    result.insert(QStringLiteral("radius-") + it.key(), QString::number(it.value()) + QStringLiteral("px"));
  }
  for (auto it = tokens.type.begin(); it != tokens.type.end(); ++it) {
    result.insert(QStringLiteral("font-") + it.key(),
                  QString::number(it->px * 0.75 * theme.textSize() / 100.0, 'f', 3) + QStringLiteral("pt"));
  }
  const auto height = [&](const char* name, Size size) {
    result.insert(QStringLiteral("size-") + QString::fromLatin1(name),
                  QString::number(theme.size(size)) + QStringLiteral("px"));
    // QSS counts a border of one pixel outside min-height.
    result.insert(QStringLiteral("inner-") + QString::fromLatin1(name),
                  QString::number(theme.size(size) - 2) + QStringLiteral("px"));
  };
  height("field", Size::field);
  height("button", Size::button);
  height("tabs", Size::tabs);
  height("tableHead", Size::tableHead);
  result.insert(QStringLiteral("numbers"), familyList(tokens.numberFamilies));
  result.insert(QStringLiteral("ui"), familyList(tokens.uiFamilies));
  return result;
}

}  // namespace

QString fillStyleSheet(const QString& text, const Theme& theme) {
  const QHash<QString, QString> values = placeholders(theme);
  static const QRegularExpression placeholder(QStringLiteral("@([A-Za-z0-9-]+)"));
  QString result;
  qsizetype last = 0;
  for (auto it = placeholder.globalMatch(text); it.hasNext();) {
    const auto match = it.next();
    const auto value = values.find(match.captured(1));
    if (value == values.end()) {
      throw Error(ErrorCode::internal,
                  "the stylesheet asks for '@" + match.captured(1).toStdString() + "', which is no token");
    }
    result += QStringView(text).mid(last, match.capturedStart() - last);
    result += *value;
    last = match.capturedEnd();
  }
  result += QStringView(text).mid(last);
  return result;
}

}  // namespace loom

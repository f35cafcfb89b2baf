#pragma once
// The words of cells as they are laid out, kept: a row that is painted again, for whatever reason, costs no layout.
#include <QCache>
#include <QFont>
#include <QStaticText>

class QPainter;
class QRectF;

namespace loom {

class CellTexts {
 public:
  enum class Style { body, strongBody, number, strongNumber, label, remark, caption };

  // Draws in the painter's pen, upright in the middle; what is wider than `place` is cut by an ellipsis, where it is
  // not Qt::ElideNone. Answers the width of what is drawn.
  double paint(QPainter& painter, const QRectF& place, const QString& text, Style style, Qt::Alignment alignment,
               Qt::TextElideMode elide);
  void clear();  // the theme is another

 private:
  struct Key {
    QString text;
    Style style;
    int width;
    Qt::TextElideMode elide;
    bool operator==(const Key&) const = default;
    friend std::size_t qHash(const Key& key, std::size_t seed) {
      return qHashMulti(seed, key.text, static_cast<int>(key.style), key.width, static_cast<int>(key.elide));
    }
  };
  const QFont& font(Style style);

  static constexpr int kMost = 4000;  // a screen of a wide table has some hundreds
  QCache<Key, QStaticText> m_texts{kMost};
  QHash<Style, QFont> m_fonts;
};

}  // namespace loom

#pragma once
// One setting or result of many runs on an axis, and a range of it that a person has brushed. Numbers stand at their
// place (logarithmic where they span much), what is no number at the foot; an axis of words alone has them one under
// the other. Plain values, no widget.
#include <QHash>
#include <QSet>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

namespace loom {

struct AxisValue {
  QString text;                  // as its label says it
  std::optional<double> number;  // nothing or NaN: stands at the foot of the axis
};

// Kept by values, not by places: it means the same when runs come and the axis grows.
struct AxisBrush {
  QString axis;  // its key
  double low = 0, high = 0;
  bool numbers = false;  // those from low to high
  bool others = false;   // what is no number, on an axis of numbers
  QStringList words;     // on an axis of words
  bool accepts(const AxisValue& value) const;
  bool operator==(const AxisBrush&) const = default;
};

class ValueAxis {
 public:
  ValueAxis() = default;
  ValueAxis(QString key, QString title, const std::vector<const AxisValue*>& values);

  const QString& key() const { return m_key; }
  const QString& title() const { return m_title; }
  bool isOfNumbers() const { return m_numbers; }
  double height(const AxisValue& value) const;  // 0 at the foot to 1
  // What lies between two heights; nothing where no value can.
  std::optional<AxisBrush> brush(double from, double to) const;
  // Where a brush stands, in heights; nothing where all that it means has gone.
  std::optional<std::pair<double, double>> range(const AxisBrush& brush) const;
  // Values with their heights for labels, each once: all words, some numbers.
  std::vector<std::pair<double, QString>> labels() const;

 private:
  void takeNumbers(std::vector<std::pair<double, const QString*>> numbers);
  double scaled(double number) const;
  double ofHeight(double height) const;
  double wordHeight(int word) const;
  QString m_key, m_title;
  bool m_numbers = false, m_log = false, m_foot = false;
  double m_low = 0, m_high = 0;
  QStringList m_words;           // from the foot upwards
  QHash<QString, int> m_places;  // of words
  QString m_footText;
  std::vector<std::pair<double, QString>> m_some;  // numbers with their texts, rising
};

}  // namespace loom

#include "widgets/chart/value_axis.h"

#include <algorithm>
#include <cmath>

#include "widgets/table/table_sort_model.h"

namespace loom {
namespace {

constexpr double kLogFrom = 20;  // largest over smallest from which an axis is logarithmic
constexpr double kFoot = 0.1;    // of an axis of numbers, where something is none
constexpr std::size_t kMostLabels = 64;

bool isNumber(const AxisValue& value) {
  return value.number && std::isfinite(*value.number);
}

}  // namespace

bool AxisBrush::accepts(const AxisValue& value) const {
  if (!words.isEmpty()) return words.contains(value.text);
  return isNumber(value) ? numbers && *value.number >= low && *value.number <= high : others;
}

ValueAxis::ValueAxis(QString key, QString title, const std::vector<const AxisValue*>& values)
    : m_key(std::move(key)), m_title(std::move(title)) {
  std::vector<std::pair<double, const QString*>> numbers;
  QSet<QString> words;
  for (const AxisValue* value : values) {
    if (isNumber(*value))
      numbers.emplace_back(*value->number, &value->text);
    else if (!value->number)
      words.insert(value->text);
    else
      m_footText = value->text;
    m_foot = m_foot || !isNumber(*value);
  }
  m_numbers = !numbers.empty();
  if (m_numbers) {
    if (!words.isEmpty()) m_footText = *words.begin();
    takeNumbers(std::move(numbers));
    return;
  }
  m_words = {words.begin(), words.end()};
  std::sort(m_words.begin(), m_words.end(), [](const QString& a, const QString& b) { return naturalLess(b, a); });
  for (int i = 0; i < m_words.size(); ++i) m_places.insert(m_words[i], i);
}

// Each once. Of thousands of different ones as many labels as any axis can show, evenly.
void ValueAxis::takeNumbers(std::vector<std::pair<double, const QString*>> numbers) {
  const auto byNumber = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(numbers.begin(), numbers.end(), byNumber);
  numbers.erase(
      std::unique(numbers.begin(), numbers.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
      numbers.end());
  m_low = numbers.front().first;
  m_high = numbers.back().first;
  m_log = m_low > 0 && m_high / m_low >= kLogFrom;
  const std::size_t step = std::max<std::size_t>(1, numbers.size() / kMostLabels);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (i % step == 0 || i + 1 == numbers.size()) m_some.emplace_back(numbers[i].first, *numbers[i].second);
}

double ValueAxis::scaled(double number) const {
  return m_log ? std::log(number) : number;
}

double ValueAxis::wordHeight(int word) const {
  return m_words.size() > 1 ? static_cast<double>(word) / static_cast<double>(m_words.size() - 1) : 0.5;
}

double ValueAxis::height(const AxisValue& value) const {
  if (!m_numbers) {
    const auto place = m_places.find(value.text);
    return place == m_places.end() ? 0 : wordHeight(*place);
  }
  if (!isNumber(value)) return 0;
  const double span = scaled(m_high) - scaled(m_low);
  const double share = span > 0 ? (scaled(*value.number) - scaled(m_low)) / span : 0.5;
  return m_foot ? kFoot + (1 - kFoot) * share : share;
}

double ValueAxis::ofHeight(double height) const {
  const double share = m_foot ? (height - kFoot) / (1 - kFoot) : height;
  const double at = scaled(m_low) + share * (scaled(m_high) - scaled(m_low));
  return m_log ? std::exp(at) : at;
}

std::optional<AxisBrush> ValueAxis::brush(double from, double to) const {
  if (from > to) std::swap(from, to);
  AxisBrush brush{.axis = m_key};
  if (!m_numbers) {
    for (int i = 0; i < m_words.size(); ++i)
      if (wordHeight(i) >= from && wordHeight(i) <= to) brush.words << m_words[i];
    return brush.words.isEmpty() ? std::nullopt : std::optional(brush);
  }
  const double least = m_foot ? kFoot : 0;
  brush.others = m_foot && from <= kFoot / 4;
  // At the ends of the axis it is open: what is pulled to the end means the end. One value alone stands in the middle.
  const bool one = !(m_high > m_low);
  brush.low = from <= least ? m_low : one ? m_low : ofHeight(from);
  brush.high = to >= 1 ? m_high : one ? m_high : ofHeight(to);
  const double middle = least + (1 - least) / 2;
  brush.numbers = one ? from <= middle && to >= middle : to >= least;
  return brush.numbers || brush.others ? std::optional(brush) : std::nullopt;
}

std::optional<std::pair<double, double>> ValueAxis::range(const AxisBrush& brush) const {
  if (!m_numbers) {
    const double half = m_words.size() > 1 ? 0.5 / static_cast<double>(m_words.size() - 1) * 0.8 : 0.1;
    double low = 2, high = -1;
    for (const QString& word : brush.words)
      if (const auto place = m_places.find(word); place != m_places.end()) {
        low = std::min(low, wordHeight(*place) - half);
        high = std::max(high, wordHeight(*place) + half);
      }
    return low > high ? std::nullopt : std::optional(std::pair(std::max(low, -0.03), std::min(high, 1.03)));
  }
  if (!brush.words.isEmpty()) return {};
  double low = 2, high = -1;
  if (brush.numbers) {
    const auto at = [&](double number) { return std::clamp(height({{}, number}), 0.0, 1.0); };
    if (brush.high < m_low || brush.low > m_high) {
      if (!brush.others) return {};
    } else {
      low = at(m_log ? std::max(brush.low, m_low) : brush.low);
      high = at(m_log ? std::max(brush.high, m_low) : brush.high);
    }
  }
  if (brush.others) {
    low = 0;
    high = std::max(high, 0.0);
  }
  return low > high ? std::nullopt : std::optional(std::pair(low, high));
}

std::vector<std::pair<double, QString>> ValueAxis::labels() const {
  std::vector<std::pair<double, QString>> labels;
  for (int i = 0; i < m_words.size(); ++i) labels.emplace_back(wordHeight(i), m_words[i]);
  for (const auto& [number, text] : m_some) labels.emplace_back(height({text, number}), text);
  if (m_numbers && m_foot) labels.emplace_back(0.0, m_footText);
  return labels;
}

}  // namespace loom

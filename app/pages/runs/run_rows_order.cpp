// By what the rows are sorted.
#include <algorithm>
#include <cmath>

#include "app/pages/runs/run_rows.h"

namespace loom {
namespace {

// So that the plain order of characters is the natural one: "run-2" before "run-10". A number is its count of digits
// and its digits.
QString naturalWords(const QString& text) {
  QString words;
  words.reserve(text.size() + 4);
  for (qsizetype i = 0; i < text.size();) {
    if (!text[i].isDigit()) {
      words += text[i++].toCaseFolded();
      continue;
    }
    qsizetype end = i;
    while (end < text.size() && text[end].isDigit()) ++end;
    while (i < end && text[i] == '0') ++i;
    words += '0';
    words += QChar(static_cast<char16_t>(end - i));
    words += QStringView(text).mid(i, end - i);
    i = end;
  }
  return words;
}

}  // namespace

RunRows::SortKey RunRows::toSortKey(const QVariant& value) {
  if (!value.isValid() || value.isNull()) return {};
  if (value.metaType().id() == QMetaType::QString) return {SortKey::text, 0, naturalWords(value.toString())};
  const double number = value.toDouble();
  return {std::isnan(number) ? SortKey::missing : SortKey::number, number, {}};
}

QVariant RunRows::sortKeyOf(const Top& top, int column) const {
  if (column < 0 || column >= m_model.columnCount()) return {};
  if (top.isGroup()) {
    const bool any = !top.averaged.empty();
    const auto mean = [any](double value) { return any ? QVariant(value) : QVariant(); };
    switch (column) {
      case RunsModel::name:
        return groupText(top, RunsModel::name);
      case RunsModel::runs:
        return static_cast<int>(top.members.size());
      case RunsModel::best:
        return mean(top.best.mean);
      case RunsModel::bestEpoch:
        return mean(top.bestEpoch);
      case RunsModel::last:
        return mean(top.last);
      case RunsModel::loss:
        return mean(top.loss);
      case RunsModel::duration:
        return mean(top.duration);
      default:
        break;
    }
  } else if (column == RunsModel::runs) {
    return 1;
  }
  return m_model.index(sourceRow(top.members.back()), column).data(kSortRole);
}

// What is missing stands behind all others, whichever way they are sorted. Of those that are alike the newest stands
// first.
bool RunRows::before(const Top& left, const Top& right) const {
  const SortKey &a = left.sortKey, &b = right.sortKey;
  const bool rising = m_order == Qt::AscendingOrder;
  if (a.kind != b.kind) {
    if (a.kind == SortKey::missing || b.kind == SortKey::missing) return b.kind == SortKey::missing;
    return (a.kind == SortKey::number) == rising;
  }
  if (a.kind == SortKey::number && a.value != b.value) return (a.value < b.value) == rising;
  if (a.kind == SortKey::text)
    if (const int order = a.words.compare(b.words); order != 0) return (order < 0) == rising;
  return left.members.back() > right.members.back();
}

// Made once a row and column: comparing keys costs nothing, also of thousands.
void RunRows::makeKey(Top& top) const {
  if (top.sorting == m_sorting) return;
  top.sortKey = m_column < 0 ? SortKey() : toSortKey(sortKeyOf(top, m_column));
  top.sorting = m_sorting;
}

void RunRows::sortAlone() {
  if (m_isSorted) return;
  m_sorted.clear();
  for (int place = 0; place < m_model.count(); ++place) {
    Top& top = topFor(place, {});
    makeKey(top);
    m_sorted.push_back(&top);
  }
  std::sort(m_sorted.begin(), m_sorted.end(), [this](const Top* a, const Top* b) { return before(*a, *b); });
  m_isSorted = true;
}

void RunRows::makeRows() {
  m_rows.clear();
  for (Top* each : m_tops)
    if (!each->isGroup())
      m_rows.push_back({each, each->members.front()});
    else
      for (const Row& row : rowsOf(*each)) m_rows.push_back(row);
}

// The same rows in another order.
void RunRows::putInOrder() {
  beginRebuild();
  m_isSorted = false;
  if (m_grouped) {
    for (Top* each : m_tops) makeKey(*each);
    std::sort(m_tops.begin(), m_tops.end(), [this](const Top* a, const Top* b) { return before(*a, *b); });
  } else {
    sortAlone();
    m_tops.clear();
    for (Top* each : m_sorted)
      if (m_topOf[static_cast<std::size_t>(each->members.front())]) m_tops.push_back(each);
  }
  makeRows();
  endRebuild();
}

void RunRows::sort(int column, Qt::SortOrder order) {
  if (column != m_column) ++m_sorting;
  m_column = column;
  m_order = order;
  putInOrder();
}

}  // namespace loom

#include "widgets/table/table_sort_model.h"

#include <cmath>

#include "widgets/table/table_roles.h"

namespace loom {
namespace {

bool isMissing(const QVariant& value) {
  if (!value.isValid() || value.isNull()) return true;
  const int type = value.metaType().id();
  return (type == QMetaType::Double || type == QMetaType::Float) && std::isnan(value.toDouble());
}

bool isNumber(const QVariant& value) {
  switch (value.metaType().id()) {
    case QMetaType::Double:
    case QMetaType::Float:
    case QMetaType::Int:
    case QMetaType::UInt:
    case QMetaType::LongLong:
    case QMetaType::ULongLong:
    case QMetaType::Bool:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool naturalLess(const QString& left, const QString& right) {
  qsizetype i = 0, j = 0;
  const auto digits = [](const QString& text, qsizetype from) {
    qsizetype end = from;
    while (end < text.size() && text[end].isDigit()) ++end;
    return end;
  };
  while (i < left.size() && j < right.size()) {
    if (left[i].isDigit() && right[j].isDigit()) {
      const qsizetype leftEnd = digits(left, i), rightEnd = digits(right, j);
      while (i < leftEnd && left[i] == '0') ++i;
      while (j < rightEnd && right[j] == '0') ++j;
      if (leftEnd - i != rightEnd - j) return leftEnd - i < rightEnd - j;
      const int order = QStringView(left).mid(i, leftEnd - i).compare(QStringView(right).mid(j, rightEnd - j));
      if (order != 0) return order < 0;
      i = leftEnd;
      j = rightEnd;
      continue;
    }
    const QChar a = left[i].toCaseFolded(), b = right[j].toCaseFolded();
    if (a != b) return a < b;
    ++i;
    ++j;
  }
  return left.size() - i < right.size() - j;
}

bool standsBefore(const QVariant& left, const QVariant& right, Qt::SortOrder order) {
  if (isMissing(left) || isMissing(right)) return !isMissing(left);
  const bool ascending = order == Qt::AscendingOrder;
  const QVariant &a = ascending ? left : right, &b = ascending ? right : left;
  if (isNumber(a) && isNumber(b)) return a.toDouble() < b.toDouble();
  return naturalLess(a.toString(), b.toString());
}

TableSortModel::TableSortModel(QObject* parent) : QSortFilterProxyModel(parent) {
  setDynamicSortFilter(true);
}

void TableSortModel::setRowFilter(std::function<bool(int)> accepts) {
  m_accepts = std::move(accepts);
  invalidateFilter();
}

bool TableSortModel::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const QVariant a = left.data(kSortRole), b = right.data(kSortRole);
  const bool own = a.isValid() || b.isValid();
  if (own) {
    // "Less" is turned round in descending order.
    return sortOrder() == Qt::DescendingOrder ? standsBefore(b, a, sortOrder()) : standsBefore(a, b, sortOrder());
  }
  return naturalLess(left.data().toString(), right.data().toString());
}

bool TableSortModel::filterAcceptsRow(int row, const QModelIndex&) const {
  return !m_accepts || m_accepts(row);
}

}  // namespace loom

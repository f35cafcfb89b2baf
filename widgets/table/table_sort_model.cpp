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
    case QMetaType::Bool: return true;
    default: return false;
  }
}

}  // namespace

TableSortModel::TableSortModel(QObject* parent) : QSortFilterProxyModel(parent) {
  m_collator.setNumericMode(true);
  m_collator.setCaseSensitivity(Qt::CaseInsensitive);
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
    // "Less" is turned round in descending order, so missing ones say the opposite there to stay last.
    if (isMissing(a) || isMissing(b)) {
      if (isMissing(a) && isMissing(b)) return false;
      return isMissing(a) ? sortOrder() == Qt::DescendingOrder : sortOrder() == Qt::AscendingOrder;
    }
    if (isNumber(a) && isNumber(b)) return a.toDouble() < b.toDouble();
    return m_collator.compare(a.toString(), b.toString()) < 0;
  }
  return m_collator.compare(left.data().toString(), right.data().toString()) < 0;
}

bool TableSortModel::filterAcceptsRow(int row, const QModelIndex&) const { return !m_accepts || m_accepts(row); }

}  // namespace loom

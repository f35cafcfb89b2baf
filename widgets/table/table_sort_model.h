#pragma once
// Sorts and filters rows for a DataTable: by kSortRole, else by the text as a person counts ("run 9" before "run 10").
// What is missing or not a number stands last in either order. Rows that compare equal keep their order.
#include <QSortFilterProxyModel>
#include <functional>

namespace loom {

// "run 9" before "run 10", whatever the case; independent of the locale, so that a table looks alike everywhere.
bool naturalLess(const QString& left, const QString& right);
// Whether a cell stands before another of its column in this order: numbers by their value, words as a person counts,
// what is missing or not a number last in either order.
bool standsBefore(const QVariant& left, const QVariant& right, Qt::SortOrder order);

class TableSortModel : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  explicit TableSortModel(QObject* parent = nullptr);

  // Which rows of the source stay; nothing = all.
  void setRowFilter(std::function<bool(int sourceRow)> accepts);

 protected:
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  std::function<bool(int)> m_accepts;
};

}  // namespace loom

#pragma once
// The trials of a search as a table: a column for each setting that is searched, what came of it, how much of its steps
// it took. From the search that goes on, or from its file.
#include <QAbstractTableModel>
#include <vector>

#include "engine/search/front.h"
#include "widgets/table/table_roles.h"

namespace loom {

struct ShownTrial : TrialRow {
  QStringList values;  // of the point, in words
  QString message;
};

struct ShownSearch {
  SearchPlan plan;
  std::vector<ShownTrial> trials;
  int best = 0;              // number of the best trial; 0 = none has a result
  std::int64_t refused = 0;  // candidates that were drawn and never trained
  bool hasCosts = false;     // trials differ in what they cost
  std::vector<TrialRow> rows() const { return {trials.begin(), trials.end()}; }
};
ShownSearch shownSearch(const Study& study);
// Nothing for a file that is none.
std::optional<ShownSearch> shownSearch(const Json& file);

class TrialModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Role { folderRole = Qt::UserRole + 100 };
  using QAbstractTableModel::QAbstractTableModel;

  // Rows that stay keep their places; true when the columns are others than before.
  bool setSearch(ShownSearch search);
  const ShownSearch& search() const { return m_search; }
  std::vector<TableColumn> columns() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  int resultColumn() const { return 2 + static_cast<int>(m_search.plan.space.size()); }
  int stepsColumn() const { return resultColumn() + 1; }
  // Behind that of the steps: a column a cost, where they differ.
  const TrialCostKind* costOf(int column) const;
  QString text(const ShownTrial& trial, int column) const;
  ShownSearch m_search;
};

}  // namespace loom

#pragma once
// The trials of a search as a table: a column for each setting that is searched, what came of it, how much of its steps
// it took. From the search that goes on, or from its file.
#include <QAbstractTableModel>
#include <vector>

#include "engine/search/study.h"
#include "widgets/table/table_roles.h"

namespace loom {

struct ShownTrial {
  int number = 0;
  QString folder;  // name of its run's folder
  QStringList values;
  TrialState state = TrialState::running;
  std::optional<double> result;
  double spent = 0;
  QString message;
};

struct ShownSearch {
  SearchPlan plan;
  std::vector<ShownTrial> trials;
  int best = 0;  // number of the best trial; 0 = none has a result
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
  QString text(const ShownTrial& trial, int column) const;
  ShownSearch m_search;
};

}  // namespace loom

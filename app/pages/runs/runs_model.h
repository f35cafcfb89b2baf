#pragma once
// The runs of a project as a table: what they are, how good they were, and only those settings in which they differ.
#include <QAbstractTableModel>
#include <QSet>

#include "launcher/store/run_filter.h"
#include "launcher/store/run_record.h"
#include "widgets/chart/chart_line.h"
#include "widgets/chart/format.h"
#include "widgets/table/table_roles.h"
#include "widgets/table/table_sort_model.h"

namespace loom {

class RunMetrics;
class RunStore;

class RunsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { shown, colour, name, state, best, bestEpoch, last, loss, duration, tags, note, fixedColumns };
  static constexpr int idRole = Qt::UserRole + 100;  // the others are those of table_roles.h
  RunsModel(RunStore& store, const RunMetrics& metrics, QObject* parent = nullptr);

  void setProject(const QString& project);
  std::vector<TableColumn> columns() const;
  void setWithDeleted(bool with);
  bool isShown(const QString& id) const { return !m_hidden.contains(id); }
  void setShown(const QString& id, bool shown);
  QStringList hidden() const { return {m_hidden.begin(), m_hidden.end()}; }
  void setHidden(const QStringList& ids);
  QStringList differing() const { return m_differing; }  // keys of settings, in the order of the columns
  const RunRecord& run(int row) const { return m_runs[row]; }
  const QList<RunRecord>& runs() const { return m_runs; }
  int rowOf(const QString& id) const;
  // What a filter can compare, and the values that the runs have of it, quoted where they are words.
  QStringList filterNames() const;
  QStringList filterValues(const QString& name) const;
  QString metric() const { return m_metric; }  // by which most runs are compared
  ValueKind metricKind() const;
  Better metricBetter() const;
  bool hasWords(int column) const;  // any run has tags, or a note

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 Q_SIGNALS:
  void shownChanged();
  void edited(const QString& id, RunsModel::Column column, const QString& text);  // name, tags or note

 private:
  RunRecord shownOf(const RunRecord& run) const;
  void reload();
  void refresh(const QString& id);
  void findDifferences();
  QString text(const RunRecord& run, int column) const;
  QVariant sortKey(const RunRecord& run, int column) const;
  bool isNumber(int column) const;
  int widthOf(int column, const QString& title) const;

  RunStore& m_store;
  const RunMetrics& m_metrics;
  QString m_project, m_metric;
  QList<RunRecord> m_runs;
  QList<Json> m_given;  // their settings as the records have them
  QStringList m_differing;
  QSet<QString> m_hidden;
  bool m_withDeleted = false;
};

// The rows of the table that a RunFilter holds for.
class RunsFilter : public TableSortModel {
  Q_OBJECT

 public:
  explicit RunsFilter(RunsModel& model, QObject* parent = nullptr);
  // Answers why the expression cannot be read; empty = it can. Until then the last one holds, without a part just
  // begun.
  QString setExpression(const QString& expression);

 private:
  bool beginsName(const QString& expression) const;
  RunsModel& m_model;
  RunFilter m_filter;
  QString m_good;  // the last expression that could be read
};

}  // namespace loom

#pragma once
// The rows of the table: the runs that a filter holds for, sorted, and where wanted those with equal settings under one
// row with their mean. A run that comes or changes moves its own row; selection, place and opened groups stay.
#include <QAbstractProxyModel>
#include <QSet>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "app/pages/runs/runs_model.h"
#include "app/run_groups.h"
#include "launcher/store/many_runs_filter.h"

namespace loom {

class RunRows : public QAbstractProxyModel {
  Q_OBJECT

 public:
  // What a chart draws of a row: a run, or of a group the mean of `runs`.
  struct Drawn {
    QString id, name;
    int colour = 0;
    QStringList runs;
    std::optional<double> best;
    bool isMean() const { return runs.size() > 1; }
  };
  static constexpr int groupRole = Qt::UserRole + 101;  // id of the group whose row it is; invalid for a run's

  RunRows(RunsModel& model, const RunMetrics& metrics, QObject* parent = nullptr);

  // Answers why the expression cannot be read; empty = it can. Until then the last one holds, without a part that is
  // not finished or in which the fault is.
  QString setExpression(const QString& expression);
  int accepted() const { return m_accepted; }  // runs that filter and brush leave
  std::vector<int> filtered() const;           // rows of the model that the filter leaves, the oldest run first
  // Grows with whatever filtered() would say otherwise; another order is none of it.
  std::int64_t revision() const { return m_revision; }
  // Ranges that are brushed in a chart: of what the filter leaves only those runs stand here. Empty = all.
  void setBrush(std::function<bool(int modelRow)> brush);
  int groups() const { return static_cast<int>(m_tops.size()); }
  void setGrouped(bool grouped);
  bool isGrouped() const { return m_grouped; }
  void setSpread(Spread spread);
  Spread spread() const { return m_spread; }
  // What the charts draw a row in, where that is not the colour of its run: of many runs a few are drawn.
  void setColours(const QHash<QString, int>& colours);
  void setOpen(const QString& group, bool open);
  QStringList open() const { return {m_open.begin(), m_open.end()}; }
  void reveal(const QString& id);  // opens the group in which the run stands
  void setOpenGroups(const QStringList& groups);
  QStringList runsOf(int row) const;   // ids: of one, or of all of a group
  int rowOf(const QString& id) const;  // of a run or a group; -1 for one that has no row
  // What is ticked; of more than `most` the best.
  std::vector<Drawn> drawn(std::size_t most = std::numeric_limits<std::size_t>::max(),
                           Better better = Better::lower) const;
  std::size_t ticked() const;
  QString bestText(const QString& group) const;   // "91.54 ± 0.12"
  std::optional<double> spreadOf(int row) const;  // of a group's best, by spread(); nothing for a run
  Qt::CheckState allShown() const;
  void setAllShown(bool shown);

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex&) const override { return {}; }
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QModelIndex mapToSource(const QModelIndex& index) const override;
  QModelIndex mapFromSource(const QModelIndex& index) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  void sort(int column, Qt::SortOrder order) override;

 Q_SIGNALS:
  void groupingChanged();

 private:
  struct SortKey {
    enum Kind { number, text, missing } kind = missing;
    double value = 0;
    QString words;
  };
  // A run by itself, or a group. Runs are named by their places, from the oldest on: a new one changes none. It stays
  // while the filter leaves it out, with what was found out about it.
  struct Top {
    QByteArray key;
    QString id;                    // of a group
    std::vector<int> members;      // that the filter leaves, oldest first
    std::vector<int> measured;     // the members that were measured; empty: they have to be again
    std::vector<QString> reasons;  // why not averaged, one a member
    std::vector<int> averaged;
    SeedSpread best;
    double bestEpoch = 0, last = 0, loss = 0, duration = 0;
    SortKey sortKey;
    int sorting = 0;  // of m_sorting: for which its key was made
    bool isGroup() const { return members.size() > 1; }
  };
  struct Row {
    Top* top = nullptr;
    int place = -1;  // -1: the row of the group
    bool operator==(const Row&) const = default;
  };
  // What was selected and opened, while all is built anew: indexes, and of each of their rows who stands there.
  struct Kept {
    QModelIndexList indexes;
    QHash<int, QString> rows;
  };

  int sourceRow(int place) const { return m_model.count() - 1 - place; }
  const RunRecord& run(int place) const { return m_model.run(sourceRow(place)); }
  QString identity(const Row& row) const;
  QByteArray keyOf(int place) const;
  void measure(Top& top) const;
  void measureIfNew(Top& top) const;
  void makeKey(Top& top) const;
  QVariant sortKeyOf(const Top& top, int column) const;
  static SortKey toSortKey(const QVariant& value);
  bool before(const Top& left, const Top& right) const;
  std::vector<Row> rowsOf(Top& top) const;
  std::vector<Row> shownRows(const Top& top, int first) const;
  int firstRow(const Top& top) const;
  // Something of a run changed: its row, or its group's, is put where it belongs.
  void update(int place, int firstColumn, int lastColumn);
  void refresh(Top& top, int place, int firstColumn, int lastColumn);
  void replaceRows(int first, const std::vector<Row>& old, const std::vector<Row>& fresh);
  void reposition(Top& top);
  void outdate(int place);
  void outdateAll();
  void leave(int place);
  void join(int place, const QByteArray& key);
  void changed(int first, int last, int firstColumn, int lastColumn);
  void sourceChanged(const QModelIndex& from, const QModelIndex& to);
  // All anew.
  void beginRebuild();
  void endRebuild();
  QHash<QString, int> rowsOfKept() const;
  void forget();
  void rebuild();
  void fill();
  void fillGroups();
  void fillAlone();
  Top& topFor(int place, const QByteArray& key);
  void sortAlone();
  void makeRows();
  void putInOrder();
  void forEachTicked(const std::function<void(const Top& top, int place, std::optional<double> best)>& look) const;
  Drawn drawnOf(const Top& top, int place, std::optional<double> best) const;
  void take(const RunFilter& filter);
  QVariant groupData(const Top& top, int column, int role) const;
  QString groupText(const Top& top, int column) const;
  QVariant groupState(const Top& top, bool words) const;
  QString spreadText(const Top& top) const;
  QString remarkOf(const Top& top, int column) const;
  QString meaningOfSpread(const Top& top) const;
  QVariant insideData(const Top& top, int place, int column, int role) const;
  QVariant groupColour(const Top& top) const;
  QVariant dots(const std::vector<int>& places) const;
  int colourOf(const QString& id, int otherwise) const { return m_colours.value(id, otherwise); }
  Qt::CheckState shownOf(const Top& top) const;
  void removePlace(int place);

  RunsModel& m_model;
  const RunMetrics& m_metrics;
  bool holds(int place);
  FilterTerm m_term;  // what m_filter asks for
  ManyRunsFilter m_filter;
  std::function<bool(int modelRow)> m_brush;
  std::vector<char> m_passes;  // the filter, by place
  QString m_good;              // the last expression that could be read
  bool m_grouped = false;
  Spread m_spread = Spread::deviation;
  QSet<QString> m_open;
  QHash<QString, int> m_colours;  // by run and group
  int m_column = -1;
  Qt::SortOrder m_order = Qt::DescendingOrder;
  int m_accepted = 0;
  std::int64_t m_revision = 0;
  std::vector<std::unique_ptr<Top>> m_alone;  // by place: a run by itself; null: not made yet
  std::unordered_map<QByteArray, std::unique_ptr<Top>> m_byKey;
  std::vector<Top*> m_sorted;  // all of m_alone in their order, those that the filter leaves out too; see m_isSorted
  bool m_isSorted = false;
  int m_sorting = 1;          // grows with another column to sort by
  std::vector<Top*> m_tops;   // that the filter leaves, in their order
  std::vector<Top*> m_topOf;  // by place; null: the filter leaves it out
  std::vector<Row> m_rows;
  Kept m_kept;
  mutable std::optional<std::pair<double, double>> m_axis;  // of the dots
};

}  // namespace loom

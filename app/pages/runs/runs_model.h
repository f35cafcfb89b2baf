#pragma once
// The runs of a project, newest first: what they are, how good they were, and only those settings in which they differ.
// A run that comes or changes costs what it itself has, however many others there are.
#include <QAbstractTableModel>
#include <QHash>
#include <QSet>
#include <QTimer>
#include <map>
#include <memory>
#include <vector>

#include "app/differences.h"
#include "app/run_networks.h"
#include "launcher/store/run_record.h"
#include "launcher/store/setting_values.h"
#include "widgets/chart/chart_line.h"
#include "widgets/chart/format.h"
#include "widgets/table/table_roles.h"

namespace loom {

class RunMetrics;
class RunStore;

class RunsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  // `runs` and `seeds` are of groups (RunRows).
  enum Column {
    shown,
    colour,
    name,
    runs,
    state,
    best,
    seeds,
    bestEpoch,
    last,
    loss,
    duration,
    tags,
    note,
    network,
    parameters,
    fixedColumns
  };
  static constexpr int idRole = Qt::UserRole + 100;  // the others are those of table_roles.h
  RunsModel(RunStore& store, const RunMetrics& metrics, QObject* parent = nullptr);

  void setProject(const QString& project);
  std::vector<TableColumn> columns() const;
  QString keyOf(int column) const;         // "best", "=optimizer.name": what is remembered of one
  int columnOf(const QString& key) const;  // -1 for none
  // Which of those that were put away are listed too.
  void setPutAway(bool withDeleted, bool withArchived);
  bool isShown(const QString& id) const { return !m_hidden.contains(id); }
  void setShown(const QString& id, bool shown) { setShown(QStringList{id}, shown); }
  void setShown(const QStringList& ids, bool shown);
  bool hidesAny() const { return !m_hidden.isEmpty(); }
  QStringList hidden() const { return {m_hidden.begin(), m_hidden.end()}; }
  void setHidden(const QStringList& ids);
  QStringList differing() const { return m_differing; }  // keys of settings, in the order of the columns
  int count() const { return static_cast<int>(m_items.size()); }
  const RunRecord& run(int row) const { return item(row).record; }
  int rowOf(const QString& id) const;
  // The settings of run(row), their defaults with them; which values these are.
  const SettingIds& settingsOf(int row) const { return item(row).settingIds; }
  const SettingValues& settingValues() const { return m_values; }
  // Of runs with the same key only the seed differs: settings, drawing and data are the same. Empty while not all of it
  // is known.
  const QByteArray& likeness(int row) const { return item(row).likeness; }
  std::shared_ptr<const RunNetwork> networkOf(const QString& id) const { return m_networks.find(id); }
  // Of the drawings: arguments of layers that all have, and layers in each other's place, as RunNetwork calls them;
  // those in which they differ.
  const std::vector<std::string>& differingArguments() const { return m_arguments; }
  // Of thousands that a project has, some are still to be taken in; takeAll() does so at once.
  bool isLoading() const { return !m_waiting.isEmpty(); }
  void takeAll();
  bool readsNetworks() const { return m_networks.busy(); }
  // What a filter can compare, and the values that the runs have of it, quoted where they are words.
  QStringList settingNames() const;  // whole: "optimizer.learning_rate"
  QStringList filterNames() const;
  QStringList filterValues(const QString& name) const;
  QString metric() const { return m_metric; }  // by which most runs are compared
  bool anyValidation() const;                  // it is measured on a validation set
  ValueKind metricKind() const;
  Better metricBetter() const;
  bool hasWords(int column) const;  // of tags, note, network, parameters: there is something to read

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 Q_SIGNALS:
  void shownChanged();
  void columnsChanged();    // their widths, or whether they have anything to say
  void argumentsChanged();  // differingArguments(), or more runs are known to have them
  void edited(const QString& id, RunsModel::Column column, const QString& text);  // name, tags or note

 private:
  static constexpr int kMostSettings = 12;  // that stand as columns
  struct Item {
    RunRecord record;  // its settings with the defaults where it is silent
    Json given;        // as the record has them
    NamedValues settings;
    SettingIds settingIds;
    QByteArray settingsKey, likeness;
  };
  struct Drawing {
    std::shared_ptr<const RunNetwork> network;
    int runs = 0;
  };
  struct Metric {
    int runs = 0, ofValidation = 0;
    QString sample;  // a run that has it
  };
  const Item& item(int row) const { return *m_items[m_items.size() - 1 - static_cast<std::size_t>(row)]; }
  Item& item(int row) { return *m_items[m_items.size() - 1 - static_cast<std::size_t>(row)]; }
  std::unique_ptr<Item> makeItem(const RunRecord& run);
  void takeSettings(Item& item, const RunRecord& run);
  void count(const Item& item, int by);
  void setLikeness(Item& item);
  void countDrawing(const Item& item, int by);
  bool findMostDrawn();  // whether it is another now
  void reload();
  std::vector<std::unique_ptr<Item>> takeWaiting(int least, int forMs);
  void takeMore();
  void append(std::unique_ptr<Item> item);
  void wantNetwork(const Item& item);
  void added(const QString& id);
  void removed(const QString& id);
  bool isListed(const RunRecord& run) const;
  void refresh(const QString& id);
  void networksRead(const QStringList& ids);
  void refreshMetric();
  QStringList settingsThatDiffer() const;
  void refreshColumns();
  void refreshNetworkNames();
  void findArguments();
  void setDiffering(const QStringList& keys);
  void measure(const Item& item, int column);
  void measure(const Item& item);
  int withText(int pixels) const;
  int widthOf(int column, const QString& title) const;
  QString text(const RunRecord& run, int column) const;
  QString settingText(const RunRecord& run, int column) const;
  QString otherMetric(const RunRecord& run, int column) const;
  QVariant sortKey(const RunRecord& run, int column) const;
  bool isNumber(int column) const;

  RunStore& m_store;
  const RunMetrics& m_metrics;
  RunNetworks m_networks;
  SettingValues m_values;
  QString m_project, m_metric;
  std::vector<std::unique_ptr<Item>> m_items;  // oldest first: a new one moves none
  QHash<QString, int> m_places;                // in m_items, by id
  QStringList m_waiting;                       // runs that are not yet taken in, oldest first
  QSet<QString> m_awaited;                     // the same
  QTimer m_more;
  std::map<QString, Metric> m_measured;
  Differences m_settings, m_drawings, m_sizes;
  QHash<QByteArray, Drawing> m_drawn;
  std::shared_ptr<const RunNetwork> m_mostDrawn;  // that most runs have; null where two are as common
  int m_tagged = 0, m_noted = 0;                  // runs with tags, with a note
  std::vector<std::string> m_networkNames, m_arguments;
  QStringList m_differing;
  QHash<QString, QString> m_widest;  // of each column the widest value, by keyOf()
  QSet<QString> m_hidden;
  bool m_withDeleted = false, m_withArchived = false;
};

}  // namespace loom

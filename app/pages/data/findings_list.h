#pragma once
// What the doctor found: one row a finding, with its line, column, what was found, what is wanted, and the remedy in
// words.
#include <QAbstractListModel>
#include <QListView>
#include <functional>
#include <vector>

#include "engine/data/check.h"

namespace loom {

// What can be done about a finding at once; a finding may have several.
struct FindingAction {
  QString text;
  std::function<void()> act;
};
using FindingActions = std::function<std::vector<FindingAction>(const Fault&)>;

class FindingsModel : public QAbstractListModel {
  Q_OBJECT

 public:
  using QAbstractListModel::QAbstractListModel;
  enum Role { place = Qt::UserRole + 1, remedy, severity, line, kind };

  void setReport(const CheckReport* report);  // null = none; copied
  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(m_faults.size());
  }
  QVariant data(const QModelIndex& index, int role) const override;
  const Fault& fault(int row) const { return m_faults[static_cast<std::size_t>(row)]; }

 private:
  std::vector<Fault> m_faults;
};

class FindingsList : public QListView {
  Q_OBJECT

 public:
  explicit FindingsList(QWidget* parent = nullptr);
  void setActions(FindingActions actions) { m_actions = std::move(actions); }  // before setReport()
  void setReport(const CheckReport* report);
  void selectNext(int direction);  // F8, Shift+F8

 Q_SIGNALS:
  void lineChosen(qint64 line);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  FindingsModel* m_model;
  FindingActions m_actions;
};

}  // namespace loom

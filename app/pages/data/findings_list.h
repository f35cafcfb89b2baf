#pragma once
// What the doctor found: one row a finding, with its line, column, what was found, what is wanted, and the remedy in words.
#include <QAbstractListModel>
#include <QListView>

#include "engine/data/check.h"

namespace loom {

class FindingsModel : public QAbstractListModel {
  Q_OBJECT

 public:
  using QAbstractListModel::QAbstractListModel;
  enum Role { place = Qt::UserRole + 1, remedy, severity, line };

  void setReport(const CheckReport* report);  // null = none; copied
  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_faults.size()); }
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  std::vector<Fault> m_faults;
};

class FindingsList : public QListView {
  Q_OBJECT

 public:
  explicit FindingsList(QWidget* parent = nullptr);
  void setReport(const CheckReport* report);
  void selectNext(int direction);  // F8, Shift+F8

 Q_SIGNALS:
  void lineChosen(qint64 line);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  FindingsModel* m_model;
};

}  // namespace loom

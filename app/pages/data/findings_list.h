#pragma once
// What the doctor found: one row a finding, with its place, a sentence with numbers, the remedy first and its
// alternative second, further ones behind a menu; below them what was looked at and is fine.
#include <QAbstractListModel>
#include <QListView>
#include <functional>
#include <vector>

#include "engine/data/check.h"

namespace loom {

struct FindingAction {
  QString text;
  std::function<void()> act;
};

struct ShownFinding {
  enum class Kind { error, warning, info, fine };
  Kind kind = Kind::error;
  QString title;    // "humidity: 31 empty"
  QString place;    // "column 7", "line 812"
  QString detail;   // a sentence
  QString column;   // of the file; empty = none
  qint64 row = -1;  // of the file, the first one that it is about, from 0; -1 = not known
  qint64 line = 0;  // the same as a line, from 1; 0 = the whole file
  std::vector<FindingAction> actions;
};

class FindingsModel : public QAbstractListModel {
  Q_OBJECT

 public:
  using QAbstractListModel::QAbstractListModel;
  enum Role { place = Qt::UserRole + 1, detail, kind, column, line };

  void setFindings(std::vector<ShownFinding> findings);
  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(m_findings.size());
  }
  QVariant data(const QModelIndex& index, int role) const override;
  const ShownFinding& finding(int row) const { return m_findings[static_cast<std::size_t>(row)]; }

 private:
  std::vector<ShownFinding> m_findings;
};

class FindingsList : public QListView {
  Q_OBJECT

 public:
  explicit FindingsList(QWidget* parent = nullptr);
  void setFindings(std::vector<ShownFinding> findings);
  const FindingsModel& findings() const { return *m_model; }
  void selectNext(int direction);  // F8, Shift+F8

 Q_SIGNALS:
  void chosen(const loom::ShownFinding& finding);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* actionsOf(int row);
  FindingsModel* m_model;
};

}  // namespace loom

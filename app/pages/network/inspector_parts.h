#pragma once
// Pieces of the inspector that only show: the tile with the layer's icon, costs with their share, connections,
// problems.
#include <QPointer>
#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "engine/network/analysis.h"
#include "engine/planner/node_costs.h"

class QVBoxLayout;

namespace loom {

class LayerTile : public QWidget {
  Q_OBJECT
 public:
  explicit LayerTile(QWidget* parent = nullptr);
  void setLayer(const QString& icon, const QString& category);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_icon, m_category;
};

struct CostRow {
  QString label;
  QString value;
  double share = -1;  // of the whole network; below 0: none shown
  QString help = {};  // what the figure counts
  bool heading = false;
};

// Of a step in training, at the batch that is set: activations, memory, time predicted and measured. Empty where nobody
// planned it.
std::vector<CostRow> stepCostRows(const NetworkCosts& costs, const NodeCost& cost, bool shares);

// Whether the shapes and costs of all nodes are known; else the network's totals leave some out and stand as "?".
bool costsKnown(const Network& network, const Analysis& analysis);

class CostTable : public QWidget {
  Q_OBJECT
 public:
  explicit CostTable(QWidget* parent = nullptr);
  void setRows(std::vector<CostRow> rows);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;  // tooltips: of each row its help

 private:
  std::vector<CostRow> m_rows;
};

// "From  conv1, relu1" with each name a link.
class LinkRows : public QWidget {
  Q_OBJECT
 public:
  explicit LinkRows(QWidget* parent = nullptr);
  struct Row {
    QString label;
    std::vector<std::string> nodes;
    bool operator==(const Row&) const = default;
  };
  void setRows(const std::vector<Row>& rows);

 Q_SIGNALS:
  void chosen(const QString& node);

 private:
  QVBoxLayout* m_column;
  std::vector<Row> m_rows;
};

// Problems that belong to no field, each with its remedy.
class ProblemLines : public QWidget {
  Q_OBJECT
 public:
  explicit ProblemLines(QWidget* parent = nullptr);
  void setProblems(const std::vector<Problem>& problems);
  void setOtherwise(QWidget* otherwise) {
    m_otherwise = otherwise;
  }  // has the keyboard where the last remedy went away

 Q_SIGNALS:
  void remedyChosen(const loom::Problem& problem);

 private:
  QVBoxLayout* m_column;
  QPointer<QWidget> m_otherwise;
  std::vector<Problem> m_problems;
};

}  // namespace loom

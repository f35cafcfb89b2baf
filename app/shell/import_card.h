#pragma once
// What became of a file of another tool: how many of its layers by kind, and each that needs a look, with what to do. A
// click leads to the node that stands for it. It opens by itself when a file was read, so it stays until it is closed.
#include <QString>
#include <QStringList>
#include <vector>

#include "app/page.h"
#include "app/project_import.h"
#include "widgets/controls/popover.h"

class QListWidget;

namespace loom {

class ImportCard : public Popover {
  Q_OBJECT

 public:
  ImportCard(const QString& name, const ImportReport& report, const Project& project, QWidget* window);
  // Of weights: what is matched and what is not; `Start from these weights` is offered where something is.
  ImportCard(const LaidOver& weights, QWidget* window);

  // In the middle of the window, over what is there.
  void open(QWidget* window);

 Q_SIGNALS:
  void wanted(const loom::Place& place);
  void startWanted(const QString& file);

 private:
  struct Row {
    QString kind, place, sentence;
    Place leads;
  };
  void build(const QString& title, const QString& advice, const std::vector<std::pair<QString, std::size_t>>& counts,
             std::vector<Row> rows);

  QListWidget* m_list;
  std::vector<Row> m_rows;
};

}  // namespace loom

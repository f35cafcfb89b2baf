#pragma once
// What Normalise takes from the training set, measured in the background: the answer to the last question alone is
// told.
#include <QObject>
#include <QString>
#include <map>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/network/project.h"
#include "widgets/document/newest_task.h"

namespace loom {

class PrepareMeasure : public QObject {
  Q_OBJECT

 public:
  explicit PrepareMeasure(QObject* parent = nullptr) : QObject(parent) {}
  // `spec` is the dataset that is measured, `csv` its absolute path.
  void ask(const QString& csv, const DatasetSpec& spec, const std::vector<Json>& steps);
  bool busy() const { return m_task.busy(); }

 Q_SIGNALS:
  void known(const std::vector<loom::Json>& asked, const std::vector<loom::Json>& steps);
  void failed(const std::vector<loom::Json>& asked, const QString& why);

 private:
  std::map<std::string, std::vector<Json>> m_answers;  // of this session
  NewestTask m_task;                                   // ends by itself: at most 100,000 rows are read
};

}  // namespace loom

#pragma once
// What the project's datasets hold behind their steps of preparation, told to the document so that the canvas and the
// problems list know a mismatch at once: from their headers and first rows, and from what their steps measure on the
// training part. The main window keeps one beside the document.
#include <QHash>
#include <QObject>
#include <QStringList>
#include <QTimer>
#include <map>
#include <string>

#include "engine/data/dataset.h"
#include "engine/network/project.h"
#include "widgets/document/newest_task.h"

namespace loom {

class ProjectDocument;

// The columns that feed a target of some network: what is to be predicted.
std::vector<std::string> targetVariables(const Project& project);
// Shapes after `prepare`; a variable whose preparation cannot be is left out (the dataset's own problem says why).
KnownColumns knownColumns(const DatasetSpec& dataset, const std::vector<Json>& prepare, const Schema& schema,
                          const std::map<std::string, std::int64_t>& classes = {});
// The absolute path of a dataset's CSV.
QString datasetPath(const ProjectDocument& document, const DatasetSpec& dataset);

class KnownColumnsKeeper : public QObject {
  Q_OBJECT

 public:
  explicit KnownColumnsKeeper(ProjectDocument& document, QObject* parent = nullptr);
  // What a page learnt by reading all rows: numbers of classes.
  void learn(const std::string& dataset, const Schema& schema, const std::map<std::string, std::int64_t>& classes);
  const QStringList& missing() const { return m_missing; }  // datasets whose CSV is not there

 Q_SIGNALS:
  void missingChanged();
  void fileChanged(const QString& dataset);  // it came, went, or was written anew while the project is open
  void weighed(qint64 bytes);                // all CSVs together, whenever they were looked for

 private:
  struct Known {
    QString path;
    qint64 modified = 0;
    QString key;  // of the steps on its columns, and how it is read
    Schema schema;
    std::map<std::string, std::int64_t> classes;
  };
  // Headers are read beside the window's thread: a data set may lie on a disk that is slow or gone.
  void refresh();
  void publish();

  ProjectDocument& m_document;
  std::map<std::string, Known> m_known;
  QStringList m_missing;
  QTimer m_soon;
  NewestTask m_peek;
};

}  // namespace loom

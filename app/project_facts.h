#pragma once
// What a project is, told beside its name: what goes in and comes out, its data, its network. Found by reading the file
// and what it names, beside the window's thread, and kept until one of these files changes.
#include <QHash>
#include <QObject>
#include <QPointF>
#include <QString>
#include <QStringList>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "widgets/document/background.h"

namespace loom {

struct ProjectFacts {
  QString flow;     // "x 1×28×28 → y, 10 classes"; empty where there is no network yet
  QString data;     // "training 7,000 rows, validation 1,000 rows"
  QString network;  // "9 layers, 44,426 parameters"
  struct Block {
    QPointF at;
    QString category;  // of the layer
  };
  std::vector<Block> blocks;                // the drawing in small
  std::vector<std::pair<int, int>> wires;   // between blocks
  QList<std::pair<QString, qint64>> files;  // what it was read from, with the times that these had then

  bool isFresh() const;  // asks the disk
};

// Any thread; of a file that cannot be read nothing.
ProjectFacts readProjectFacts(const QString& path);

class ProjectFactsKeeper : public QObject {
  Q_OBJECT

 public:
  explicit ProjectFactsKeeper(QObject* parent = nullptr) : QObject(parent) {}
  ~ProjectFactsKeeper() override;
  // What is known now; null where nothing is. known() tells of more, and of what changed, of the paths asked for last.
  const ProjectFacts* find(const QString& path) const;
  void ask(const QStringList& paths);
  bool busy() const { return m_busy; }

 Q_SIGNALS:
  void known(const QString& path);

 private:
  using Work = Background<ProjectFactsKeeper>;
  QHash<QString, std::shared_ptr<const ProjectFacts>> m_facts;
  std::optional<Work> m_work;
  bool m_busy = false;
};

}  // namespace loom

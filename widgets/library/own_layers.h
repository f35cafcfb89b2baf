#pragma once
// The folder of a person's own layers, one file each. It is watched: what another window or another program does there
// is seen within a blink. GUI thread only.
#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>
#include <vector>

#include "widgets/library/own_layer.h"

namespace loom {

class OwnLayers : public QObject {
  Q_OBJECT

 public:
  // The folder need not exist: it is made when something is saved.
  explicit OwnLayers(QString folder, QObject* parent = nullptr);

  const QString& folder() const { return m_folder; }
  const std::vector<OwnLayer>& layers() const { return m_layers; }  // by name; those that cannot be read too
  const OwnLayer* find(const std::string& name) const;  // null where there is none, or none that can be used

  // Each answers why not, as a sentence; empty when it is done. Files are written whole or not at all.
  QString save(const Project& project, const std::string& unit);  // in the place of one that is called so
  QString rename(const std::string& from, const std::string& to);
  QString remove(const std::string& name);
  QString put(const std::string& name, const std::string& text);  // as it was: the way back from the others

 Q_SIGNALS:
  void changed();

 private:
  QString fileOf(const std::string& name) const;
  QString write(const QString& file, const std::string& text);
  void read();

  QString m_folder;
  std::vector<OwnLayer> m_layers;
  QFileSystemWatcher m_watcher;
  QTimer m_soon;
};

}  // namespace loom

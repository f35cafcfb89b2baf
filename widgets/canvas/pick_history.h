#pragma once
// What was picked at each step of the undo stack: undoing a step brings back what was picked before it, redoing it what
// was picked behind it.
#include <QObject>
#include <map>
#include <string>

#include "widgets/canvas/network_scene.h"

class QUndoCommand;
class QUndoStack;

namespace loom {

class PickHistory : public QObject {
  Q_OBJECT

 public:
  PickHistory(NetworkScene& scene, QUndoStack& stack);
  void note();  // what the scene has picked now, as a person wanted it

 private:
  struct Entry {
    const QUndoCommand* step = nullptr;  // the last one that was done then
    std::string network;
    Picked picked;
  };
  void moved(int index);
  const QUndoCommand* stepBefore(int index) const;

  NetworkScene& m_scene;
  QUndoStack& m_stack;
  std::map<int, Entry> m_entries;  // by the number of steps that were done
  int m_index = 0;
};

}  // namespace loom

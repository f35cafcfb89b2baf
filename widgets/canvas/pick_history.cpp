#include "widgets/canvas/pick_history.h"

#include <QUndoStack>

namespace loom {

PickHistory::PickHistory(NetworkScene& scene, QUndoStack& stack)
    : QObject(&scene), m_scene(scene), m_stack(stack), m_index(stack.index()) {
  connect(&stack, &QUndoStack::indexChanged, this, &PickHistory::moved);
}

const QUndoCommand* PickHistory::stepBefore(int index) const {
  return index > 0 && index <= m_stack.count() ? m_stack.command(index - 1) : nullptr;
}

void PickHistory::note() {
  m_entries[m_stack.index()] = {stepBefore(m_stack.index()), m_scene.networkName(), m_scene.picked()};
}

void PickHistory::moved(int index) {
  const auto found = m_entries.find(index);
  // A step that was pushed now stands where another did before it was undone.
  const bool same = found != m_entries.end() && found->second.step == stepBefore(index);
  m_entries.erase(m_entries.upper_bound(m_stack.count()), m_entries.end());
  const bool undone = index < m_index;
  m_index = index;
  if (!same) {
    if (!undone) m_entries.erase(index);
    return;
  }
  if (found->second.network == m_scene.networkName()) m_scene.pick(m_scene.existing(found->second.picked));
}

}  // namespace loom

#include "widgets/document/project_command.h"

#include <utility>

#include "widgets/document/project_document.h"

namespace loom {

namespace {
constexpr qint64 kMergeMilliseconds = 2000;
}

ProjectCommand::ProjectCommand(ProjectDocument& document, const QString& text, ProjectDelta delta, QString mergeKey,
                               ProjectDocument::Beside beside)
    : QUndoCommand(text),
      m_document(document),
      m_delta(std::make_shared<ProjectDelta>(std::move(delta))),
      m_mergeKey(std::move(mergeKey)),
      m_beside(std::move(beside)) {
  m_last.start();
}

void ProjectCommand::apply(bool forward) {
  if (!std::exchange(m_done, false)) m_document.applyDelta(*m_delta, forward);
  if (const auto& work = forward ? m_beside.redo : m_beside.undo) work();
  m_document.applied(m_delta, forward);
}

void ProjectCommand::undo() {
  apply(false);
}
void ProjectCommand::redo() {
  apply(true);
}

bool ProjectCommand::mergeWith(const QUndoCommand* other) {
  const auto* next = dynamic_cast<const ProjectCommand*>(other);
  if (next == nullptr || next->m_mergeKey != m_mergeKey || m_last.elapsed() > kMergeMilliseconds) return false;
  auto merged = std::make_shared<ProjectDelta>(*m_delta);
  merged->append(*next->m_delta);
  m_delta = std::move(merged);
  m_beside.redo = next->m_beside.redo;  // of the first step the way back, of the last the way on
  setObsolete(m_delta->empty() && !m_beside.redo);
  setText(next->text());
  m_last.restart();
  return true;
}

}  // namespace loom

#pragma once
// One step of the undo history: a difference and its words.
#include <QElapsedTimer>
#include <QUndoCommand>
#include <memory>

#include "widgets/document/project_delta.h"
#include "widgets/document/project_document.h"

namespace loom {

class ProjectCommand : public QUndoCommand {
 public:
  ProjectCommand(ProjectDocument& document, const QString& text, ProjectDelta delta, QString mergeKey,
                 ProjectDocument::Beside beside);
  void undo() override;
  void redo() override;  // the first time only tells: the edit is done already
  int id() const override { return m_mergeKey.isEmpty() ? -1 : 1; }
  // Typing in a field and dragging cards are one step each, however many events they take.
  bool mergeWith(const QUndoCommand* other) override;

 private:
  void apply(bool forward);

  ProjectDocument& m_document;
  std::shared_ptr<const ProjectDelta> m_delta;  // whoever looks at the project beside the window reads it too
  QString m_mergeKey;
  ProjectDocument::Beside m_beside;
  QElapsedTimer m_last;
  bool m_done = true;
};

}  // namespace loom

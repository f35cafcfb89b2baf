#pragma once
// Presets by name and *Choose for me*: what each would set is shown field by field, and taken as one undo step.
#include <QObject>
#include <functional>
#include <optional>

#include "app/pages/settings/project_call.h"
#include "engine/network/presets.h"

namespace loom {

class Button;
class ChangesCard;
class ChoiceField;
class ProjectDocument;
class Workspace;

class RecipeDesk : public QObject {
  Q_OBJECT

 public:
  struct Facts {
    std::size_t update = 0;
    qint64 ranks = 1, samples = -1;  // of the run, virtual ones included; of an epoch, -1 = not known
    std::optional<double> noise;     // as measured
  };
  RecipeDesk(ProjectDocument& document, Workspace& workspace, std::function<Facts()> facts, QObject* parent);

  // The caller puts them into its layout.
  ChoiceField* presetField() const { return m_preset; }
  Button* chooseButton() const { return m_choose; }
  ChangesCard* card() const { return m_card; }

 Q_SIGNALS:
  void opened();
  void closed();

 private:
  void openPreset(int row);
  void propose();
  void chooseForMe();
  void takeAdvice(const Json& answer);
  void take();
  void close();

  ProjectDocument& m_document;
  Workspace& m_workspace;
  std::function<Facts()> m_facts;
  ChoiceField* m_preset;
  Button* m_choose;
  ChangesCard* m_card;
  ProjectCall m_call;
  const Preset* m_open = nullptr;
  int m_batch = 0;  // which of the batches: the project's, the recipe's samples a rank, the published one
  std::optional<Project> m_proposed;
  int m_ranks = 0;  // that an advice wants; 0 = as they are
  QString m_name;
};

}  // namespace loom

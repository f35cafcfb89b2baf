#pragma once
// The noise scale of the gradient beside the batch in use: measured on request, with the first weights or those of a
// run, and what twice the ranks would bring.
#include <optional>

#include "app/headed_card.h"
#include "app/pages/settings/project_call.h"

class QLabel;

namespace loom {

class Button;
class ChoiceField;
class ProjectDocument;
class Workspace;

class NoiseCard : public HeadedCard {
  Q_OBJECT

 public:
  NoiseCard(ProjectDocument& document, Workspace& workspace, QWidget* parent = nullptr);
  void setUpdate(std::size_t index) { m_update = index; }
  void refresh();
  std::optional<double> noise() const { return m_noise; }  // as measured; not where it is only known to be more

 private:
  void startOrStop();
  void take(const Json& line);
  void finish(const Json& last);
  void listRuns();
  void show();

  ProjectDocument& m_document;
  Workspace& m_workspace;
  std::size_t m_update = 0;
  ProjectCall m_call;
  Button* m_measure;
  ChoiceField* m_weights;
  QLabel *m_figure, *m_unit, *m_batch, *m_words;
  std::optional<double> m_noise;
  double m_soFar = 0, m_least = 0;
  qint64 m_samples = 0;
  QString m_refusal;
};

}  // namespace loom

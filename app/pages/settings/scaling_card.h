#pragma once
// Predicted on request: how the run scales with ranks of the chosen host's kind, from 1 to 4,096.
#include <vector>

#include "app/headed_card.h"
#include "app/pages/settings/project_call.h"

class QLabel;

namespace loom {

class Button;
class ProjectDocument;
class SmallPlot;
class Workspace;

// What `loom advise` is told of the chosen host: its name, ranks, how many share a machine, and its links where these
// were measured.
QStringList hostArguments(Workspace& workspace);

class ScalingCard : public HeadedCard {
  Q_OBJECT

 public:
  ScalingCard(ProjectDocument& document, Workspace& workspace, QWidget* parent = nullptr);
  void setSamples(qint64 samples) { m_samples = samples; }  // of an epoch; below 1 = not known
  void refresh(qint64 ranks);                               // of the run, virtual ones included

 private:
  void finish(const Json& last);
  void show(int at);  // of the points; -1 = the run's ranks
  QString sentenceOf(const Json& point) const;

  ProjectDocument& m_document;
  Workspace& m_workspace;
  ProjectCall m_call;
  Button* m_predict;
  QLabel* m_words;
  SmallPlot* m_plot;
  std::vector<Json> m_points;
  qint64 m_samples = 0, m_ranks = 1, m_asked = 1;
  QString m_refusal, m_host;
  bool m_measured = false;  // its links
};

}  // namespace loom

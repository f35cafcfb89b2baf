#pragma once
// The learning-rate range test: a short run in a process and a folder of its own, its curve as it grows, what it
// suggests, and *Apply*.
#include <functional>
#include <optional>
#include <vector>

#include "app/headed_card.h"
#include "app/pages/settings/project_call.h"
#include "app/pages/settings/small_plot.h"

class QLabel;

namespace loom {

class Button;
class ProjectDocument;

class RangeCard : public HeadedCard {
  Q_OBJECT

 public:
  explicit RangeCard(ProjectDocument& document, QWidget* parent = nullptr);
  void setUpdate(std::size_t index);
  void refresh();  // the project changed: whether what was measured is of it still
  std::optional<double> suggested() const { return m_suggested; }
  bool runs() const { return m_call.runs(); }

 private:
  void startOrStop();
  void take(const Json& line);
  void finish(const Json& last);
  void apply();
  void show();
  QByteArray measuredWith() const;  // what it depends on, without the rate itself

  ProjectDocument& m_document;
  std::size_t m_update = 0;
  ProjectCall m_call;
  Button *m_run, *m_apply;
  QLabel* m_words;
  SmallPlot* m_plot;
  std::vector<QPointF> m_raw;
  std::optional<double> m_suggested, m_mark, m_steepest, m_diverged;
  QByteArray m_measured;
  QString m_refusal;
};

}  // namespace loom

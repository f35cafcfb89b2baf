#pragma once
// The steps of `prepare` in their order, those that the doctor proposes dashed behind them; the form of the chosen one
// with what it does to what it never saw; what it makes of a column or of a sample, before and after; and which columns
// feed which Input.
#include <QWidget>
#include <functional>
#include <memory>
#include <vector>

#include "app/pages/data/feeds_bar.h"
#include "app/pages/data/preparation_preview.h"
#include "engine/base/json.h"
#include "widgets/preview/column_change.h"

class QLabel;
class QMenu;
class QStackedWidget;

namespace loom {

class Button;
class FlowLayout;
class PropertyForm;

struct ProposedStep {
  QString text;
  std::function<void()> accept;
};

class PreparationPanel : public QWidget {
  Q_OBJECT

 public:
  explicit PreparationPanel(QWidget* parent = nullptr);
  void setSteps(const std::vector<Json>& steps,
                const QString& note);  // a note: "as the training set, random steps left out"
  void setProposals(std::vector<ProposedStep> proposals);
  void setSample(PreparedSample sample);
  // The answer to measureWanted(): the steps that were asked about, and with what Normalise takes from the training
  // set.
  void setMeasured(const std::vector<Json>& asked, const std::vector<Json>& steps);
  // What the chosen step, or all of them, makes of a column.
  void setChange(ColumnChangeShown change);
  // Whether the chosen step works on columns (or none is chosen and no sample is more than numbers).
  void setTable(bool table);
  bool showsColumns() const;
  void setFeeds(const std::vector<FeedLine>& feeds, bool drawn) { m_feeds->setFeeds(feeds, drawn); }
  FeedsBar& feeds() { return *m_feeds; }
  int selected() const { return m_selected; }  // -1 = none: all steps are shown together
  const std::vector<Json>& steps() const { return m_steps; }
  void addStep(const Json& step);  // {"step": "Normalise"}
  bool settled() const;

 Q_SIGNALS:
  void edited(const std::vector<loom::Json>& steps);
  void measureWanted(const std::vector<loom::Json>& steps);
  void selectedChanged();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void rebuildChips();
  void select(int index);
  void showSteps();
  void showPreview();
  void moveStep(int by);
  void removeStep();
  void changed();

  std::vector<Json> m_steps;
  std::vector<ProposedStep> m_proposals;
  int m_selected = -1;
  bool m_table = true;
  QWidget* m_chipsPlace;
  FlowLayout* m_chips;
  QLabel *m_note, *m_unseen;
  QMenu* m_menu;
  Button *m_add, *m_left, *m_right, *m_remove;
  QWidget* m_formPlace;
  PropertyForm* m_form = nullptr;
  QStackedWidget* m_previews;
  PreparationPreview* m_preview;
  ColumnChange* m_change;
  FeedsBar* m_feeds;
};

}  // namespace loom

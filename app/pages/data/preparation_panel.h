#pragma once
// The steps of `prepare` in their order, each with its form, and one sample before and after them.
#include <QWidget>
#include <memory>
#include <vector>

#include "engine/base/json.h"
#include "engine/data/dataset.h"

class QHBoxLayout;
class QLabel;
class QMenu;

namespace loom {

class Button;
class PreparationPreview;
class PropertyForm;

class PreparationPanel : public QWidget {
  Q_OBJECT

 public:
  explicit PreparationPanel(QWidget* parent = nullptr);
  void setSteps(const std::vector<Json>& steps,
                const QString& note);  // a note: "as the training set, random steps left out"
  void setSample(std::shared_ptr<const Dataset> dataset, int row);
  // The answer to measureWanted(): the steps that were asked about, and with what Normalise takes from the training
  // set.
  void setMeasured(const std::vector<Json>& asked, const std::vector<Json>& steps);
  void addStep(const Json& step);  // {"step": "Normalise"}
  bool settled() const;

 Q_SIGNALS:
  void edited(const std::vector<loom::Json>& steps);
  void measureWanted(const std::vector<loom::Json>& steps);

 private:
  void rebuildChips();
  void select(int index);
  void showSteps();
  void moveStep(int by);
  void removeStep();
  void changed();

  std::vector<Json> m_steps;
  int m_selected = -1;
  QHBoxLayout* m_chips;
  QLabel* m_note;
  QMenu* m_menu;
  Button *m_add, *m_left, *m_right, *m_remove;
  QWidget* m_formPlace;
  PropertyForm* m_form = nullptr;
  PreparationPreview* m_preview;
};

}  // namespace loom

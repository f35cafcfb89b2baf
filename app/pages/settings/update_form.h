#pragma once
// How one update of the training learns: optimizer, schedule, warm-up, which parameters. Forms from the catalogue
// alone.
#include <QWidget>
#include <cstddef>
#include <vector>

#include "engine/network/analysis.h"
#include "widgets/form/property_form.h"

class QVBoxLayout;

namespace loom {

class ChoiceField;
class ProjectDocument;

class UpdateForm : public QWidget {
  Q_OBJECT

 public:
  explicit UpdateForm(ProjectDocument& document, QWidget* parent = nullptr);
  void setUpdate(std::size_t index);
  void refresh();  // from the document
  void setFilter(const QString& words, bool changedOnly);
  int visibleCount() const { return m_visible; }  // rows that the filter leaves
  void setProblems(const std::vector<Problem>& problems);
  void setWarmupHint(const QString& hint);
  bool focusField(const std::string& path);  // "optimizer.learning_rate"
  // As PropertyForm::unread(), with paths as keys: "optimizer.learning_rate".
  std::vector<PropertyForm::Unread> unread() const;
  void takeBack(const std::string& path);
  int changedCount() const { return optimizerChanged() + scheduleChanged(); }
  int optimizerChanged() const;  // the choice of the rule counts too
  int scheduleChanged() const;
  QWidget* optimizerSection() const { return m_optimizerSection; }
  QWidget* scheduleSection() const { return m_scheduleSection; }

 Q_SIGNALS:
  void changedCountChanged();
  void unreadChanged();

 private:
  void setOptimizerField(const QString& key, const Json& value);
  void setScheduleField(const QString& key, const Json& value);
  void setWarmupField(const QString& key, const Json& value);
  std::vector<std::pair<std::string, PropertyForm*>> forms() const;  // with what their paths begin with
  bool ruleDiffers() const;
  bool scheduleDiffers() const;

  ProjectDocument& m_document;
  std::size_t m_index = 0;
  int m_visible = 0;
  QWidget *m_optimizerSection, *m_scheduleSection, *m_ruleRow, *m_scheduleRow;
  ChoiceField *m_rule, *m_schedule;
  PropertyForm *m_optimizerForm, *m_scheduleForm, *m_warmupForm;
};

}  // namespace loom

#pragma once
// Train with changes: a run of the project as it is, but for a few settings, chosen by their names. The project itself
// stays.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/setting_list.h"
#include "widgets/controls/popover.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QScrollArea;
class QVBoxLayout;

namespace loom {

class FormRow;
class SearchField;

class TrainCard : public Popover {
  Q_OBJECT

 public:
  // `check`: why the project cannot be trained with these changes; empty = it can.
  using Check = std::function<QString(const QStringList& overrides)>;
  TrainCard(const Project& project, Check check, QWidget* window);
  ~TrainCard() override;

  void choose(const std::string& path);  // a row for this setting, with the value that holds now

 Q_SIGNALS:
  void wanted(const QString& name, const QStringList& overrides);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Change {
    Setting setting;
    Entry entry;  // of the one field, under its full label
    Json value;
    bool valid = true;
    QWidget* line = nullptr;
    FormRow* row = nullptr;
  };
  std::vector<Setting> settings(const Project& project) const;  // of all updates
  Project changed() const;
  QStringList overrides() const;
  Change* find(const std::string& path);
  void take(const std::string& path, const Json& value);
  void showProblems(Change& change, const QString& invalid = {});
  void dropUnread();  // rows whose setting another change has switched off
  void remove(const std::string& path);
  void offer();  // the settings that are left, as far as the words go
  void grow();
  void start();
  void tell(const QString& fault);

  Project m_project;
  Check m_check;
  std::vector<std::unique_ptr<Change>> m_changes;
  QLineEdit* m_name;
  QWidget* m_rows;
  QVBoxLayout* m_rowColumn;
  QScrollArea* m_scroll;
  SearchField* m_search;
  QListWidget* m_list;
  QLabel* m_fault;
};

}  // namespace loom

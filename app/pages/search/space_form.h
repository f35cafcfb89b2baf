#pragma once
// Over what a search goes, by fields: a row for each setting with its range or its list, the nearest key where one is
// mistyped, and what the project has now.
#include <QWidget>
#include <vector>

#include "engine/search/space.h"

class QLabel;
class QLineEdit;
class QStringListModel;
class QVBoxLayout;

namespace loom {

class Button;
class ChoiceField;

class SpaceForm : public QWidget {
  Q_OBJECT

 public:
  explicit SpaceForm(QWidget* parent = nullptr);
  ~SpaceForm() override;

  // What of the project may be searched: keys are completed, compared and given a first range from it.
  void setProject(const Json& project);
  const std::vector<Searchable>& known() const { return m_known; }
  void setSpace(const QStringList& texts);  // as `--over` writes them
  // As they stand, also what is not finished yet.
  QStringList texts() const;
  // Throws Error(badArgument) with the first that cannot be.
  Space space() const;
  // At the end, or where one was taken away.
  void addRow(const QString& text = {}, int place = -1);
  int rows() const { return static_cast<int>(m_rows.size()); }

 Q_SIGNALS:
  void edited();
  void removed(const QString& text, int place);  // by a person; addRow() brings it back

 private:
  class Row;
  void remove(Row* row);
  Json m_project;
  std::vector<Searchable> m_known;
  QStringListModel* m_keys;
  QVBoxLayout* m_column;
  std::vector<Row*> m_rows;  // children of this
};

}  // namespace loom

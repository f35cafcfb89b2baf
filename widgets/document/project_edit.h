#pragma once
// A change of the project under way: what ProjectDocument::edit() hands to whoever changes it. Everything is done at
// once and written down exactly as one undo step. Refers to the document's project: good within the call alone.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "widgets/document/drawing_edit.h"

namespace loom {

class ProjectEdit {
 public:
  ProjectEdit(Project& project, ProjectIndex& index) : m_project(project), m_index(index) {}

  const Project& project() const { return m_project; }
  // Of a network or unit; nothing is called for a name that no drawing has.
  void drawing(const std::string& name, const std::function<void(DrawingEdit&)>& change);
  void everyDrawing(const std::function<void(DrawingEdit&)>& change);

  // Drawings.
  void addNetwork(Network network) { addDrawing(false, std::move(network)); }
  void addUnit(Network unit) { addDrawing(true, std::move(unit)); }
  void removeDrawing(const std::string& name);
  void renameDrawing(const std::string& from, const std::string& to);  // what names it is changed by whoever renames

  // Kept whole: the first call of each copies what was there. `training` of a project with many updates is small beside
  // a drawing.
  TrainingSpec& training() { return kept(m_training, m_project.training); }
  std::vector<DatasetSpec>& datasets() { return kept(m_datasets, m_project.datasets); }
  std::string& notes() { return kept(m_notes, m_project.notes); }

  // Closes the edit: its difference.
  ProjectDelta take();

 private:
  void addDrawing(bool unit, Network drawing);
  std::optional<DrawingPlace> placeOf(const std::string& name) const;
  template <class T>
  static T& kept(std::optional<T>& before, T& now) {
    if (!before) before = now;
    return now;
  }

  Project& m_project;
  ProjectIndex& m_index;
  ProjectDelta m_delta;
  std::optional<TrainingSpec> m_training;
  std::optional<std::vector<DatasetSpec>> m_datasets;
  std::optional<std::string> m_notes;
};

}  // namespace loom

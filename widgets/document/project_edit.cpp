#include "widgets/document/project_edit.h"

#include <algorithm>

namespace loom {

std::optional<DrawingPlace> ProjectEdit::placeOf(const std::string& name) const {
  for (const bool unit : {false, true}) {
    const std::vector<Network>& drawings = unit ? m_project.units : m_project.networks;
    for (std::size_t i = 0; i < drawings.size(); ++i)
      if (drawings[i].name == name) return DrawingPlace{unit, i};
  }
  return std::nullopt;
}

void ProjectEdit::drawing(const std::string& name, const std::function<void(DrawingEdit&)>& change) {
  const auto place = placeOf(name);
  if (!place) return;
  DrawingEdit edit(m_project, m_index, *place, m_delta);
  change(edit);
}

void ProjectEdit::everyDrawing(const std::function<void(DrawingEdit&)>& change) {
  for (const bool unit : {false, true})
    for (std::size_t i = 0; i < (unit ? m_project.units : m_project.networks).size(); ++i) {
      DrawingEdit edit(m_project, m_index, {unit, i}, m_delta);
      change(edit);
    }
}

void ProjectEdit::addDrawing(bool unit, Network drawing) {
  std::vector<Network>& drawings = unit ? m_project.units : m_project.networks;
  const std::size_t at = drawings.size();
  drawings.push_back(drawing);
  (unit ? m_index.units : m_index.networks).emplace_back(drawing);
  m_delta.addDrawings(unit, {ListChange::came, {at}, {}, {std::move(drawing)}});
}

void ProjectEdit::removeDrawing(const std::string& name) {
  const auto place = placeOf(name);
  if (!place) return;
  std::vector<Network>& drawings = place->unit ? m_project.units : m_project.networks;
  std::vector<NetworkIndex>& indexes = place->unit ? m_index.units : m_index.networks;
  const auto at = static_cast<std::ptrdiff_t>(place->at);
  ListStep<Network> step{ListChange::went, {place->at}, {std::move(drawings[place->at])}, {}};
  drawings.erase(drawings.begin() + at);
  indexes.erase(indexes.begin() + at);
  m_delta.addDrawings(place->unit, std::move(step));
}

void ProjectEdit::renameDrawing(const std::string& from, const std::string& to) {
  const auto place = placeOf(from);
  if (!place || from == to) return;
  place->in(m_project).name = to;
  m_delta.addWhole(*place, from, to);
}

ProjectDelta ProjectEdit::take() {
  if (m_datasets) m_delta.addWhole(std::move(*m_datasets), m_project.datasets);
  if (m_training) m_delta.addWhole(std::move(*m_training), m_project.training);
  if (m_notes) m_delta.addWhole(std::move(*m_notes), m_project.notes);
  m_datasets.reset();
  m_training.reset();
  m_notes.reset();
  m_delta.tidy();
  return std::move(m_delta);
}

}  // namespace loom

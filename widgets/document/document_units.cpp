// ProjectDocument: units, their arguments and repeats.
#include <algorithm>

#include "widgets/document/expression_names.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/project_document.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"

namespace loom {

Outcome ProjectDocument::mayNameDrawing(const std::string& name) const {
  if (!validId(name))
    return Outcome::refused(tr("'%1' is no name: letters, digits, '_' and '-', beginning with a letter").arg(q(name)));
  if (m_project.drawing(name) != nullptr)
    return Outcome::refused(tr("There is a network or unit '%1' already").arg(q(name)));
  if (isLayerName(name)) return Outcome::refused(tr("'%1' is a layer: a unit needs a name of its own").arg(q(name)));
  return Outcome::done();
}

Outcome ProjectDocument::mayMakeUnit(const std::string& drawing, const std::vector<std::string>& ids) const {
  const std::optional<Drawing> shown = drawn(drawing);
  return !shown ? Outcome::refused(tr("There is no drawing '%1'").arg(q(drawing)))
                : Outcome{q(whyNotUnit(*shown, ids))};
}

std::string ProjectDocument::makeUnit(const std::string& drawing, const std::vector<std::string>& ids,
                                      const std::string& name) {
  if (!mayMakeUnit(drawing, ids) || !mayNameDrawing(name)) return {};
  std::string use;
  edit(tr("Make unit %1").arg(q(name)), [&](ProjectEdit& edit) { use = loom::makeUnit(edit, drawing, ids, name); });
  return use;
}

Outcome ProjectDocument::dissolveUnit(const std::string& drawing, const std::string& id,
                                      std::vector<std::string>* came) {
  const Network* drawn = m_project.drawing(drawing);
  if (drawn == nullptr) return Outcome::refused(tr("There is no drawing '%1'").arg(q(drawing)));
  if (const std::string why = whyNotDissolve(m_project, *drawn, id); !why.empty()) return Outcome::refused(q(why));
  // A copy: whoever asks often names it by the node itself, which goes.
  edit(tr("Dissolve %1").arg(q(id)), [&, use = std::string(id)](ProjectEdit& edit) {
    std::vector<std::string> ids = loom::dissolveUnit(edit, drawing, use);
    if (came != nullptr) *came = std::move(ids);
  });
  return Outcome::done();
}

std::string ProjectDocument::addUnit(const std::string& wanted) {
  const std::string name = freeDrawingName(m_project, wanted);
  edit(tr("Add unit %1").arg(q(name)), [&](Project& project) {
    Network unit;
    unit.name = name;
    for (const char* layer : {"Input", "Output"}) {
      Node port;
      port.id = layer[0] == 'I' ? "input" : "output";
      port.layer = layer;
      port.y = unit.nodes.empty() ? 0 : 240;
      port.placed = true;
      unit.nodes.push_back(std::move(port));
    }
    project.units.push_back(std::move(unit));
  });
  return name;
}

Outcome ProjectDocument::addArgument(const std::string& unit, const Argument& argument) {
  const Network* before = m_project.unit(unit);
  if (before == nullptr) return Outcome::refused(tr("There is no unit '%1'").arg(q(unit)));
  if (!isArgumentName(argument.name))
    return Outcome::refused(
        tr("'%1' is no name of an argument: letters, digits and '_', beginning with a letter").arg(q(argument.name)));
  if (before->argument(argument.name) != nullptr)
    return Outcome::refused(tr("There is an argument '%1' already").arg(q(argument.name)));
  edit(tr("Add argument %1").arg(q(argument.name)),
       [&](Project& project) { project.unit(unit)->arguments.push_back(argument); });
  return Outcome::done();
}

Outcome ProjectDocument::setArgument(const std::string& unit, const std::string& name, const Argument& argument) {
  const Network* before = m_project.unit(unit);
  if (before == nullptr || before->argument(name) == nullptr)
    return Outcome::refused(tr("There is no argument '%1'").arg(q(name)));
  if (argument.name != name) {
    if (!isArgumentName(argument.name))
      return Outcome::refused(
          tr("'%1' is no name of an argument: letters, digits and '_', beginning with a letter").arg(q(argument.name)));
    if (before->argument(argument.name) != nullptr)
      return Outcome::refused(tr("There is an argument '%1' already").arg(q(argument.name)));
  }
  const QString what = argument.name != name ? tr("Rename argument %1 to %2").arg(q(name), q(argument.name))
                                             : tr("Set argument %1").arg(q(name));
  edit(
      what,
      [&](Project& project) {
        if (argument.name != name) renameArgument(project, unit, name, argument.name);
        for (Argument& each : project.unit(unit)->arguments)
          if (each.name == argument.name) each = argument;
      },
      argument.name == name ? QStringLiteral("argument %1/%2").arg(q(unit), q(name)) : QString());
  return Outcome::done();
}

Outcome ProjectDocument::removeArgument(const std::string& unit, const std::string& name) {
  const Network* before = m_project.unit(unit);
  const Argument* argument = before == nullptr ? nullptr : before->argument(name);
  if (argument == nullptr) return Outcome::refused(tr("There is no argument '%1'").arg(q(name)));
  const auto uses = [&](const Node& node) { return namesUsed(node).contains(name); };
  if (argument->defaultValue.is_null() && std::any_of(before->nodes.begin(), before->nodes.end(), uses))
    return Outcome::refused(
        tr("Fields inside use %1, and it has no default that could stand in its place").arg(q(name)));
  edit(tr("Remove argument %1").arg(q(name)), [&](Project& project) { loom::removeArgument(project, unit, name); });
  return Outcome::done();
}

Outcome ProjectDocument::setRepeat(const std::string& drawing, const std::string& id, const Json& repeat) {
  const Network* before = m_project.drawing(drawing);
  const Node* node = before == nullptr ? nullptr : before->find(id);
  if (node == nullptr || node->unit.empty())
    return Outcome::refused(tr("%1 is no unit: make one of it, or repeat a group").arg(q(id)));
  editDrawing(
      tr("Repeat %1").arg(q(id)), drawing,
      [&](DrawingEdit& edit) { edit.change(id, [&](Node& use) { use.repeat = repeat == 1 ? Json() : repeat; }); },
      QStringLiteral("repeat %1/%2").arg(q(drawing), q(id)));
  return Outcome::done();
}

}  // namespace loom

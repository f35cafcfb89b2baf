// Inspector: what it shows of a node, of several, of a wire, of the network.
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <algorithm>

#include "app/pages/network/common_fields.h"
#include "app/pages/network/inspector.h"
#include "app/pages/network/inspector_parts.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/text.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"
#include "widgets/document/unit_entry.h"
#include "widgets/form/property_form.h"

namespace loom {

// An entry that is made for the selection: shown anew only where it is another one.
void Inspector::showEntry(const Entry& entry, const Json& given, const QString& identity) {
  const auto alike = [](const Field& a, const Field& b) {
    return a.key == b.key && a.type == b.type && a.label == b.label && a.help == b.help &&
           a.defaultValue == b.defaultValue && a.count == b.count;
  };
  const bool same =
      m_entry == &m_made && m_form->entry() == m_entry && m_made.id == entry.id &&
      std::equal(m_made.fields.begin(), m_made.fields.end(), entry.fields.begin(), entry.fields.end(), alike);
  if (!same) {
    m_form->clear();  // its rows look at the fields
    m_made = entry;
    m_entry = &m_made;
  }
  m_form->setEntry(m_made, given, identity);
}

void Inspector::showGroup(const Group& group) {
  const Network& network = m_scene->network();
  m_tile->setLayer(QStringLiteral("group"), QStringLiteral("unit"));
  m_name->setReadOnly(false);
  if (!m_name->hasFocus() || !m_name->isModified()) m_name->setText(q(group.title.empty() ? group.id : group.title));
  const std::set<std::string> members = membersOf(network, group.id);
  m_subtitle->setText(tr("%1 of %2 in %3")
                          .arg(repeats(group) ? tr("Repeat") : tr("Group"),
                               counted(static_cast<qint64>(members.size()), tr("nodes")), q(m_scene->networkName())));
  m_helpButton->hide();
  m_help->hide();
  Entry entry;
  entry.id = entry.label = "group";
  Field colour;
  colour.key = "colour", colour.label = "Colour", colour.type = FieldType::choice,
  colour.defaultValue = groupTints().front();
  for (const std::string& tint : groupTints())
    colour.choices.push_back({tint, q(tint).replace(0, 1, q(tint).left(1).toUpper()).toStdString(), {}});
  Field repeat;
  repeat.key = "repeat", repeat.label = "Repeat", repeat.type = FieldType::integer, repeat.defaultValue = 1,
  repeat.hard = Range{1, 10000};
  repeat.help =
      "So many times the chain inside is run, one behind the other. It needs one tensor that comes in and one that "
      "goes out.";
  Field counter;
  counter.key = "counter", counter.label = "Counter", counter.type = FieldType::text, counter.defaultValue = "i";
  counter.help = "The name of the repeat's number, from 0, in expressions inside.";
  entry.fields = {colour, repeat};
  if (repeats(group)) entry.fields.push_back(counter);
  Json given = Json::object();
  if (!group.colour.empty() && group.colour != groupTints().front()) given["colour"] = group.colour;
  if (repeats(group)) given["repeat"] = group.repeat;
  if (group.counter != "i") given["counter"] = group.counter;
  m_form->setSymbols(symbolsFor({}));
  showEntry(entry, given, QStringLiteral("group/") + q(m_scene->networkName()) + QLatin1Char('/') + q(group.id));
  m_form->setComputed(computedValues(entry, given));
  m_form->setProblems({});
  m_formSection->show();
  m_shareSection->hide();
  m_shapeSection->hide();
  m_linkSection->hide();
  std::vector<Problem> own;
  for (const Problem& problem : m_scene->document().problems())
    if (const std::string at = nodeWith(problem, m_scene->document().project(), network);
        at == group.id || members.contains(at))
      own.push_back(problem);
  m_problems->setProblems(own);
  showSum({members.begin(), members.end()});
  m_makeSection->show();
  m_makeGroup->hide();
}

void Inspector::showComment(const Comment& comment) {
  m_tile->setLayer(QStringLiteral("comment"), QStringLiteral("unit"));
  m_name->setReadOnly(true);
  m_name->setText(tr("Comment"));
  m_subtitle->setText(tr("in %1").arg(q(m_scene->networkName())));
  for (QWidget* section : {static_cast<QWidget*>(m_helpButton), static_cast<QWidget*>(m_help), m_formSection,
                           m_shareSection, m_shapeSection, m_linkSection, m_costSection})
    section->hide();
  m_problems->setProblems({});
  m_notes->setText(q(comment.text) + QStringLiteral("\n\n") + tr("A double click or Enter edits it."));
  m_notes->show();
}

// Costs of several nodes together.
void Inspector::showSum(const std::vector<std::string>& ids) {
  m_costSection->show();
  m_costTitle->setText(tr("Cost of one sample, together"));
  const Analysis& analysis = m_scene->analysis();
  double parameters = 0, work = 0, values = 0, all = 0;
  NodeCost sum;
  for (const auto& [id, each] : analysis.nodes) all += static_cast<double>(each.outputValues);
  for (const std::string& id : ids) {
    const auto facts = analysis.nodes.find(id);
    if (facts == analysis.nodes.end()) continue;
    parameters += static_cast<double>(facts->second.parameters);
    work += facts->second.multiplyAdds;
    values += static_cast<double>(facts->second.outputValues);
    if (const auto planned = m_scene->costs().nodes.find(id); planned != m_scene->costs().nodes.end())
      sum.add(planned->second);
  }
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  std::vector<CostRow> rows{
      {tr("Parameters"), countText(parameters), share(parameters, static_cast<double>(analysis.parameters))},
      {tr("Multiply-adds"), countText(work), share(work, analysis.multiplyAdds)},
      {tr("Output values"), countText(values), share(values, all)}};
  for (const CostRow& each : stepCostRows(m_scene->costs(), sum, true)) rows.push_back(each);
  m_costs->setRows(std::move(rows));
}

void Inspector::showNode(const Node& node) {
  const LayerDefinition* layer = findLayer(node.layer);
  const Network* unit = node.unit.empty() ? nullptr : m_scene->document().project().unit(node.unit);
  const QString name = q(m_scene->networkName());
  m_tile->setLayer(layer != nullptr ? q(layer->entry.icon) : QString(),
                   layer != nullptr ? q(layer->entry.category) : QString());
  m_name->setReadOnly(false);
  if (!m_name->hasFocus() || !m_name->isModified()) m_name->setText(q(node.id));
  if (!node.unit.empty()) {
    m_tile->setLayer(QStringLiteral("unit"), QStringLiteral("unit"));
    m_makeSection->show();
    m_makeGroup->hide();
    m_makeUnit->hide();
    m_openUnit->show();
  }
  m_subtitle->setText(
      !node.unit.empty()
          ? tr("Unit %1 in %2").arg(q(node.unit), name)
          : tr("%1 in %2")
                .arg(layer != nullptr ? q(layer->entry.label) : tr("Unknown layer %1").arg(q(node.layer)), name));
  m_helpButton->setVisible(layer != nullptr);
  if (layer != nullptr) m_help->setText(q(layer->entry.summary + "\n\n" + layer->entry.help));
  m_help->setVisible(layer != nullptr && m_helpButton->isChecked());

  m_formSection->setVisible(unit != nullptr || (layer != nullptr && !layer->entry.fields.empty()));
  m_form->setSymbols(symbolsFor(node.id));
  if (unit != nullptr) {
    const Entry entry = useEntry(m_scene->document().project(), *unit);
    m_helpButton->show();
    m_help->setText(q(entry.summary + "\n\n" + entry.help));
    m_help->setVisible(m_helpButton->isChecked());
    showEntry(entry, useValues(node), name + QLatin1Char('/') + q(node.id));
    m_form->setComputed(computedValues(*m_entry, useValues(node)));
  } else if (layer != nullptr) {
    if (m_entry != &layer->entry || m_form->entry() != m_entry) {
      m_entry = &layer->entry;
      m_form->setBaseFolder(m_scene->document().folder());
      m_form->setEntry(*m_entry, node.values, name + QLatin1Char('/') + q(node.id));
    } else {
      m_form->setGiven(node.values);
    }
    m_form->setComputed(computedValues(*m_entry, node.values));
  }
  refreshForm();
  refreshShares(node);

  const Analysis& analysis = m_scene->analysis();
  const auto found = analysis.nodes.find(node.id);
  const NodeFacts facts = found == analysis.nodes.end() ? NodeFacts{} : found->second;
  const auto list = [](const std::vector<Shape>& shapes) {
    QStringList words;
    for (const Shape& shape : shapes) words += shapeText(shape);
    return words.join(QStringLiteral(", "));
  };
  m_shapeSection->show();
  m_shapeTitle->setText(tr("Shape"));
  const QString out = facts.known && !facts.outputs.empty() ? list(facts.outputs) : QStringLiteral("?");
  m_shape->setText(facts.inputs.empty() ? out : list(facts.inputs) + QStringLiteral("  →  ") + out);
  m_costSection->show();
  m_costTitle->setText(tr("Cost of one sample"));
  double values = 0;
  for (const auto& [id, each] : analysis.nodes) values += static_cast<double>(each.outputValues);
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  const auto row = [&](const QString& label, double value, double whole) {
    return CostRow{label, facts.known ? countText(value) : QStringLiteral("?"), facts.known ? share(value, whole) : -1};
  };
  std::vector<CostRow> rows{
      row(tr("Parameters"), static_cast<double>(facts.parameters), static_cast<double>(analysis.parameters)),
      row(tr("Multiply-adds"), facts.multiplyAdds, analysis.multiplyAdds),
      row(tr("Output values"), static_cast<double>(facts.outputValues), values)};
  const NetworkCosts& costs = m_scene->costs();
  const auto planned = costs.nodes.find(node.id);
  for (const CostRow& each : stepCostRows(costs, planned == costs.nodes.end() ? NodeCost{} : planned->second, true))
    rows.push_back(each);
  m_costs->setRows(std::move(rows));
  LinkRows::Row from{tr("From"), {}}, to{tr("To"), {}};
  const Drawing drawing = m_scene->drawing();
  if (const auto at = drawing.index.node(node.id); at != NetworkIndex::kNone) {
    for (const auto wire : drawing.index.into(at)) from.nodes.push_back(drawing.network.edges[wire].from.node);
    for (const auto wire : drawing.index.outOf(at)) to.nodes.push_back(drawing.network.edges[wire].to.node);
  }
  m_linkSection->show();
  m_links->setRows({from, to});
}

// Problems of fields go under their fields; what the form finds by itself is left to it. The rest stands on top.
void Inspector::refreshForm() {
  std::vector<FieldProblem> fields;
  std::vector<Problem> others;
  if (m_nodes.size() == 1) {
    const Node* node = m_scene->node(m_nodes.front());
    const Entry* entry = m_entry;
    const std::vector<FieldProblem> own =
        entry == nullptr ? std::vector<FieldProblem>() : validate(*entry, computedValues(*entry, node->values));
    for (const Problem& problem : m_scene->document().problems()) {
      if (nodeWith(problem, m_scene->document().project(), m_scene->network()) != node->id) continue;
      if (problem.network != m_scene->networkName()) {  // inside the unit that it uses
        others.push_back(problem);
        continue;
      }
      const bool atField = entry != nullptr && entry->field(problem.field) != nullptr;
      const auto severity =
          problem.severity == Severity::error ? FieldProblem::Severity::error : FieldProblem::Severity::warning;
      if (!atField) {
        others.push_back(problem);
        continue;
      }
      const auto found = [&](const FieldProblem& each) {
        return each.key == problem.field && each.severity == severity;
      };
      if (std::any_of(own.begin(), own.end(), found)) continue;
      FieldProblem shown{severity, problem.field, problem.message, std::nullopt};
      if (problem.remedy.kind == Remedy::Kind::setField && problem.remedy.field == problem.field &&
          (problem.remedy.node.empty() || problem.remedy.node == problem.node))
        shown.remedy = problem.remedy.value;
      // The form cannot carry this remedy out: it is offered on top.
      else if (problem.remedy.kind != Remedy::Kind::none)
        others.push_back(problem);
      fields.push_back(std::move(shown));
    }
  }
  m_form->setProblems(fields);
  m_problems->setProblems(others);
}

void Inspector::refreshShares(const Node& node) {
  const QSignalBlocker quiet(m_shares);
  QStringList words{tr("Its own")}, owners{QString()};
  const Analysis& analysis = m_scene->analysis();
  const auto facts = analysis.nodes.find(node.id);
  const bool weighty = !node.shares.empty() || (facts != analysis.nodes.end() && facts->second.parameters > 0);
  for (const Network& network : m_scene->document().project().networks)
    for (const Node& other : network.nodes) {
      if (other.layer != node.layer || !other.shares.empty() ||
          (other.id == node.id && network.name == m_scene->networkName()))
        continue;
      const QString where = network.name == m_scene->networkName() ? QString() : tr(" in %1").arg(q(network.name));
      words += tr("Those of %1").arg(q(other.id)) + where;
      owners += q(other.id);
    }
  if (words != m_shareWords) {  // thousands in a large drawing, which are rarely other ones
    m_shareWords = words;
    m_shares->clear();
    for (qsizetype i = 0; i < words.size(); ++i) m_shares->addItem(words[i], owners[i]);
  }
  const int at = m_shares->findData(q(node.shares));
  m_shares->setCurrentIndex(std::max(0, at));
  m_shareSection->setVisible(weighty && m_shares->count() > 1);
}

void Inspector::showNodes(const std::vector<std::string>& ids) {
  std::vector<const Node*> nodes;
  for (const std::string& id : ids) nodes.push_back(m_scene->node(id));
  m_tile->setLayer(QStringLiteral("group"), QStringLiteral("unit"));
  m_name->setReadOnly(true);
  m_name->setText(counted(static_cast<qint64>(ids.size()), tr("nodes")));
  m_subtitle->setText(tr("in %1").arg(q(m_scene->networkName())));
  m_helpButton->hide();
  m_help->hide();
  Entry common = commonEntry(m_scene->document().project(), nodes);
  QStringList identity;
  for (const std::string& id : ids) identity += q(id);
  const bool other = m_entry != &m_common;
  m_form->setSymbols(symbolsFor(ids.front()));
  if (other) {
    m_form->clear();
    m_common = std::move(common);
    m_entry = &m_common;
    m_form->setEntry(m_common, commonValues(m_common, nodes), identity.join(QLatin1Char(' ')));
  } else {
    m_form->setGiven(commonValues(m_common, nodes));
  }
  m_form->setMixed(differingKeys(m_common, nodes));
  m_form->setComputed(computedValues(m_common, commonValues(m_common, nodes)));
  m_form->setProblems({});
  m_problems->setProblems({});
  m_formSection->setVisible(!m_common.fields.empty());
  m_shareSection->hide();
  m_shapeSection->hide();
  m_linkSection->hide();
  showSum(ids);
  m_makeSection->show();
  if (m_common.fields.empty()) {
    m_notes->setText(tr("These layers have no field in common."));
    m_notes->show();
  }
}

void Inspector::showWire(const Edge& edge) {
  m_tile->setLayer(QStringLiteral("wire"), QStringLiteral("inputOutput"));
  m_name->setReadOnly(true);
  m_name->setText(tr("Wire"));
  m_subtitle->setText(tr("%1 to %2").arg(q(edge.from.node), q(edge.to.node)));
  m_helpButton->hide();
  m_help->hide();
  m_formSection->hide();
  m_shareSection->hide();
  m_costSection->hide();
  m_problems->setProblems({});
  m_shapeSection->show();
  m_shapeTitle->setText(tr("Shape of one sample"));
  const Analysis& analysis = m_scene->analysis();
  const auto facts = analysis.nodes.find(edge.from.node);
  m_shape->setText(facts == analysis.nodes.end() || facts->second.outputs.empty()
                       ? QStringLiteral("?")
                       : shapeText(facts->second.outputs.front()));
  m_tensorSection->show();
  m_linkSection->show();
  m_links->setRows({{tr("From"), {edge.from.node}}, {tr("To"), {edge.to.node}}});
}

void Inspector::showNetwork() {
  const Network& network = m_scene->network();
  const Analysis& analysis = m_scene->analysis();
  const bool isUnit = m_scene->document().project().unit(m_scene->networkName()) != nullptr;
  m_tile->setLayer(isUnit ? QStringLiteral("unit") : QStringLiteral("network"), QStringLiteral("unit"));
  m_name->setReadOnly(true);
  m_name->setText(q(m_scene->networkName()));
  m_subtitle->setText((isUnit ? tr("Unit, %1") : tr("Network, %1"))
                          .arg(counted(static_cast<qint64>(network.nodes.size()), tr("nodes"))));
  m_helpButton->hide();
  m_help->hide();
  m_formSection->hide();
  m_shareSection->hide();
  m_shapeSection->hide();
  m_linkSection->hide();
  std::vector<Problem> whole;
  for (const Problem& problem : m_scene->document().problems())
    if (problem.network == m_scene->networkName() && problem.node.empty()) whole.push_back(problem);
  m_problems->setProblems(network.nodes.empty() ? std::vector<Problem>() : whole);
  m_costSection->setVisible(!network.nodes.empty());
  m_costTitle->setText(tr("Cost of one sample"));
  const bool known = costsKnown(network, analysis);
  const auto total = [known](double value) { return known ? countText(value) : QStringLiteral("?"); };
  double values = 0;
  for (const auto& [id, facts] : analysis.nodes) values += static_cast<double>(facts.outputValues);
  std::vector<CostRow> rows{{tr("Parameters"), total(static_cast<double>(analysis.parameters)), -1},
                            {tr("Multiply-adds"), total(analysis.multiplyAdds), -1},
                            {tr("Output values"), total(values), -1}};
  const NetworkCosts& costs = m_scene->costs();
  for (const CostRow& each : stepCostRows(costs, costs.total, false)) rows.push_back(each);
  if (!isUnit && costs.batch > 0 && costs.stepMemory > 0)
    rows.push_back({tr("Memory of the step"), formatBytes(costs.stepMemory), -1,
                    tr("All that a step takes, as the strip below the canvas says it: the layers, working space, data "
                       "and what the process holds.")});
  m_costs->setRows(std::move(rows));
  m_notes->setText(network.nodes.empty() ? tr("Select a node to see its fields here.")
                                         : tr("Click a node or a wire to see and change it here."));
  m_notes->show();
}

}  // namespace loom

#include "engine/exchange/sdcproj/sdc_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/words.h"
#include "engine/catalogue/text.h"
#include "engine/exchange/sdcproj/sdc_ports.h"
#include "engine/exchange/sdcproj/sdc_repeats.h"
#include "engine/network/project.h"

namespace loom::sdc {
namespace {

using Kind = ReportItem::Kind;

// Where the wires of a layer begin and end.
struct Placed {
  std::string first, last;  // nodes; empty: the layer stands for nothing (a comment, the marks of a repeat)
  bool isLoss = false;      // its pin 1 is the target
  std::size_t used = 0;     // wires to pin 0 so far
};

class Drawer {
 public:
  Drawer(const Network& tab, Tabs& tabs, bool asUnit)
      : m_tab(tab), m_tabs(tabs), m_asUnit(asUnit), m_repeats(findRepeats(tab)) {
    for (const Layer& layer : tab.layers) m_layers.emplace(layer.id, &layer);
    for (const Link& link : tab.links) m_into[link.destination].push_back(&link), m_outOf[link.source].push_back(&link);
    if (const auto own = tabs.arguments.find(tab.name); own != tabs.arguments.end()) m_names.arguments = own->second;
  }

  Drawing run() {
    groups();
    for (const Layer& layer : m_tab.layers) placeLayer(layer);
    for (const Link& link : m_tab.links) wire(link);
    for (const auto& [id, target] : m_targets) addTarget(id, target);
    if (m_asUnit) addOutputs();
    return std::move(m_drawing);
  }

 private:
  static std::string shownName(const Layer& layer) {
    return fmt::format("{} ({})", clipped(layer.name.empty() ? "?" : layer.name), clipped(layer.type));
  }
  void tell(Kind kind, const Layer& layer, const std::string& node, std::string sentence) {
    m_tabs.report.add(kind, m_tab.name, shownName(layer), node, std::move(sentence));
  }

  // Grid units of Console's stacks, whose cards touch, as our cards with air between them.
  void place(Node& node, const Layer& layer, double aside = 0) const {
    const auto snap = [](double value) { return std::round(std::clamp(value, -1e6, 1e6) / 12) * 12; };
    node.x = snap(layer.x + layer.width / 2 + aside);
    node.y = snap((layer.y + layer.height / 2) * 1.25);
    node.placed = true;
    if (const auto group = m_repeats.innermost.find(layer.id);
        group != m_repeats.innermost.end() && m_groupIds.count(group->second))
      node.group = m_groupIds.at(group->second);
  }

  Node& addNode(const std::string& wanted, const std::string& otherwise) {
    Node& node = m_drawing.network.nodes.emplace_back();
    node.id = validName(wanted, otherwise, m_taken);
    return node;
  }

  // A repeat is a frame around what stands between its marks.
  void groups() {
    for (std::size_t i = 0; i < m_repeats.all.size(); ++i) {
      const Repeat& repeat = m_repeats.all[i];
      const Layer& start = *m_layers.at(repeat.start);
      Translation times(start, m_names);
      const Json count = times.number("Times", "1");
      if (repeat.members.empty() || !times.faults().empty()) {
        tell(repeat.members.empty() ? Kind::ignored : Kind::untranslatable, start, "",
             repeat.members.empty() ? "nothing stands between it and its RepeatEnd" : times.faults().front());
        continue;
      }
      Group& group = m_drawing.network.groups.emplace_back();
      group.id = validName(start.name, "repeat", m_taken);
      group.title = start.name;
      group.repeat = count;
      m_groupIds.emplace(i, group.id);
      tell(Kind::converted, start, group.id,
           fmt::format("a frame that repeats what is inside {} times",
                       count.is_string() ? count.get<std::string>().substr(1) : count.dump()));
    }
    for (std::size_t i = 0; i < m_repeats.all.size(); ++i)
      if (const auto own = m_groupIds.find(i); own != m_groupIds.end() && m_repeats.all[i].parent >= 0)
        if (const auto parent = m_groupIds.find(static_cast<std::size_t>(m_repeats.all[i].parent));
            parent != m_groupIds.end())
          m_drawing.network.group(own->second)->parent = parent->second;
  }

  void placeLayer(const Layer& layer) {
    if (layer.type == "RepeatStart" || layer.type == "RepeatEnd") {
      if (!m_repeats.paired.count(layer.id))
        tell(Kind::untranslatable, layer, "",
             fmt::format("its other end is missing: what it should repeat runs once. Draw a frame and set its repeat"));
      return;
    }
    if (layer.type == "Comment") return comment(layer);
    if (layer.type == "Argument") return;
    if (layer.type == "Input") return input(layer);
    if (layer.type == "Output") return output(layer);
    if (layer.type == "Unit") return unit(layer);
    if (layer.type == "StructureSearch" || layer.type == "TestNetwork") {
      tell(Kind::ignored, layer, "",
           "a setting of Console's searches and tests: what is drawn is trained as it is, and evaluated without what "
           "only training does");
      return;
    }
    translated(layer);
  }

  void comment(const Layer& layer) {
    Comment& comment = m_drawing.network.comments.emplace_back();
    comment.id = validName(layer.name, "comment", m_taken);
    for (const char* key : {"Comment", "Text"})
      if (const std::string* text = layer.property(key); text && comment.text.empty()) comment.text = *text;
    for (std::size_t at = 0; (at = comment.text.find("\\n", at)) != std::string::npos; ++at)
      comment.text.replace(at, 2, "\n");
    if (comment.text.empty()) comment.text = layer.name;
    Node where;
    place(where, layer);
    comment.x = where.x;
    comment.y = where.y;
    comment.width = std::clamp(layer.width, 60.0, 4000.0);
    comment.height = std::clamp(layer.height * 1.25, 40.0, 4000.0);
    tell(Kind::translated, layer, comment.id, "a comment");
  }

  void input(const Layer& layer) {
    Translation t(layer, m_names);
    Node& node = addNode(layer.name, "x");
    node.layer = "Input";
    place(node, layer);
    const Json shape = t.list("Size", "1,28,28");
    const bool literal =
        shape.is_array() && std::all_of(shape.begin(), shape.end(), [](const Json& each) { return each.is_number(); });
    if (!m_asUnit || literal) node.values["shape"] = shape;
    const std::string variable = t.text("Dataset", "x");
    if (m_asUnit) {
      m_ports.push_back({node.id, t.number("Order", "-1")});
      for (const char* key : {"Generator", "GeneratorMultiplier"}) t.know(key);
    } else if (const Json made = generatorFields(t, ""); !made.is_null()) {
      node.values.update(made);
    } else {
      if (variable != node.id) node.values["variable"] = variable;
      const std::string type = typeOfInput(layer);
      if (type != "values") node.values["type"] = type;
    }
    finish(t, node.id,
           m_asUnit                         ? "a port of the unit"
           : node.values.contains("source") ? "an Input that makes its numbers itself"
                                            : fmt::format("an Input of the column {}", clipped(variable)));
    m_placed[layer.id] = {node.id, node.id};
  }

  // What its consumers take: classes go to the target of a loss, symbols to an Embed.
  std::string typeOfInput(const Layer& layer) const {
    std::string type = "values";
    const auto links = m_outOf.find(layer.id);
    if (links == m_outOf.end()) return type;
    for (const Link* link : links->second) {
      const Layer& to = *m_layers.at(link->destination);
      if (to.type == "Embed") type = "index";
      if (link->pin == 1 &&
          (to.type == "SoftmaxCrossEntropy" || to.type == "CategoricalCrossEntropy" || to.type == "TopNError"))
        type = "label";
    }
    return type;
  }

  void output(const Layer& layer) {
    if (!m_asUnit) {
      tell(Kind::ignored, layer, "", "what nothing consumes is an output of the network without it");
      return;
    }
    Node& node = addNode(layer.name, "output");
    node.layer = "Output";
    place(node, layer);
    m_hasOutput = true;
    tell(Kind::translated, layer, node.id, "a port of the unit");
    m_placed[layer.id] = {node.id, {}};
  }

  void unit(const Layer& layer) {
    Translation t(layer, m_names);
    const std::string tab = t.text("Network");
    Node& node = addNode(layer.name, "unit");
    place(node, layer);
    const auto name = m_tabs.unitNames.find(tab);
    if (name == m_tabs.unitNames.end()) {
      t.fault(fmt::format("the project has no network '{}'", clipped(tab)));
      node.layer = "Unit";
    } else {
      node.unit = name->second;
      for (const auto& [argument, ours] : m_tabs.arguments[tab])
        if (const std::string* value = layer.property(argument)) {
          t.know(argument.c_str());
          node.values[ours] = argumentValue(t, m_names, argument, *value);
        }
    }
    scope(t, node);
    finish(t, node.id, fmt::format("the unit {}", node.unit));
    m_placed[layer.id] = {node.id, node.id};
  }

  // Equal scopes are equal weights, whatever the layers are called.
  void scope(Translation& t, Node& node) {
    const std::string scope = t.text("ParameterScope", "*Name");
    if (scope == "*Name" || scope == t.layer().name || scope.empty()) return;
    const auto [owner, isFirst] = m_tabs.scopes.emplace(scope, node.id);
    if (isFirst || owner->second == node.id) return;
    node.shares = owner->second;
    t.converted(fmt::format("it shares the weights of {}, whose scope {} is the same", owner->second, clipped(scope)));
  }

  void translated(const Layer& layer) {
    Translation t(layer, m_names);
    translate(t);
    if (t.nodes.empty())
      t.nodes.push_back({layer.type});  // shown as unknown, so that its place in the drawing is not lost
    Placed placed;
    for (std::size_t i = 0; i < t.nodes.size(); ++i) {
      Node& node = addNode(i == 0 ? layer.name : layer.name + "_" + t.nodes[i].layer, folded(t.nodes[i].layer));
      node.layer = t.nodes[i].layer;
      node.values = std::move(t.nodes[i].values);
      place(node, layer, 240 * static_cast<double>(i));
      if (i == 0) placed.first = node.id, scope(t, node);
      if (i > 0) connect(placed.last, node.id, mainPort(node.layer));
      placed.last = node.id;
      if (node.values.value("axes", Json()) == "all") {
        node.values.erase("axes");
        m_drawing.late.push_back({LateShape::Kind::layerNormalization, node.id, node.id});
      }
    }
    const Node& first = *m_drawing.network.find(placed.first);
    if (first.layer == "RecurrentInput" && !first.values.contains("length"))
      m_drawing.late.push_back({LateShape::Kind::loopLength, first.id, first.id});
    if (!t.initial.is_null()) addInitial(t, layer, placed.first);
    for (const std::string& parameter : t.frozen) m_drawing.frozen.push_back(placed.first + "/" + parameter);
    placed.isLoss = !t.target.variable.empty();
    if (placed.isLoss && !hasTarget(layer)) m_targets.emplace_back(layer.id, t.target);
    const std::string name = m_drawing.network.find(placed.first)->layer;
    finish(t, placed.first,
           t.nodes.size() > 1 ? counted(static_cast<std::int64_t>(t.nodes.size()), "nodes")
                              : fmt::format("the layer {}", name));
    m_placed[layer.id] = std::move(placed);
  }

  // What a Delay gives at the first step, where that is no number.
  void addInitial(Translation& t, const Layer& layer, const std::string& delay) {
    if (m_asUnit && t.initial.contains("variable")) {
      t.fault(fmt::format(
          "within a unit its first value cannot be read from the column {}: wire its initial from an Input of the unit",
          clipped(t.initial["variable"].dump())));
      return;
    }
    Node& node = addNode(layer.name + "_initial", "initial");
    node.layer = "Input";
    node.values = t.initial;
    if (node.values.value("variable", Json()) == node.id) node.values.erase("variable");
    place(node, layer, -240);
    const std::string id = node.id;
    connect(id, delay, "initial");
  }

  bool hasTarget(const Layer& layer) const {
    const auto links = m_into.find(layer.id);
    return links != m_into.end() &&
           std::any_of(links->second.begin(), links->second.end(), [](const Link* link) { return link->pin == 1; });
  }

  void finish(Translation& t, const std::string& node, const std::string& what) {
    const std::vector<std::string> unread = t.unread();
    for (const std::string& fault : t.faults()) tell(Kind::untranslatable, t.layer(), node, fault);
    for (const std::string& property : unread)
      tell(Kind::ignored, t.layer(), node, fmt::format("{} has no counterpart here", property));
    if (!t.faults().empty()) return;
    std::string sentence = what;
    for (const std::string& each : t.sentences()) sentence += "; " + each;
    tell(t.isConverted() ? Kind::converted : Kind::translated, t.layer(), node, sentence);
  }

  std::string outputOf(const std::string& id) const {
    const Node* node = m_drawing.network.find(id);
    return node->unit.empty() ? outputPort(node->layer) : unitPort(0);
  }

  void connect(const std::string& from, const std::string& to, const std::string& port) {
    m_drawing.network.edges.push_back({{from, outputOf(from)}, {to, port}});
  }

  // The layer whose result the wire carries: the marks of repeats are passed by.
  const Layer* sourceOf(const Link& link) const {
    const Layer* layer = m_layers.at(link.source);
    for (std::size_t hops = 0; hops <= m_tab.layers.size(); ++hops) {
      if (layer->type != "RepeatStart" && layer->type != "RepeatEnd") return layer;
      const auto into = m_into.find(layer->id);
      if (into == m_into.end()) return nullptr;
      layer = m_layers.at(into->second.front()->source);
    }
    return nullptr;
  }

  void wire(const Link& link) {
    const auto to = m_placed.find(link.destination);
    if (to == m_placed.end() || to->second.first.empty()) return;
    const Layer* source = sourceOf(link);
    const auto from = source ? m_placed.find(source->id) : m_placed.end();
    const Layer& target = *m_layers.at(link.destination);
    if (from == m_placed.end() || from->second.last.empty()) {
      if (!source || source->type != "Output")
        tell(Kind::untranslatable, target, to->second.first, "a wire to it comes from what has no output here");
      return;
    }
    const std::string port =
        portOf(target, m_drawing.network.find(to->second.first)->layer, to->second.isLoss, link.pin, to->second.used);
    if (port.empty())
      tell(Kind::untranslatable, target, to->second.first,
           fmt::format("a wire to its side pin {} gives it weights or data that it cannot take here", link.pin));
    else
      connect(from->second.last, to->second.first, port);
  }

  // One Input for each column, whichever losses are compared with it.
  void addTarget(std::int64_t id, const Target& target) {
    const Placed& loss = m_placed.at(id);
    if (m_asUnit) {
      tell(Kind::untranslatable, *m_layers.at(id), loss.first,
           fmt::format("a loss within a unit: wire its target from an Input of the network that reads {}",
                       clipped(target.variable)));
      return;
    }
    const std::string key = target.variable + (target.label ? "#label" : "#values") + target.source.dump();
    auto [known, isNew] = m_inputs.emplace(key, std::string());
    if (isNew) {
      Node& node = addNode(target.variable, "y");
      known->second = node.id;
      node.layer = "Input";
      node.values["shape"] = Json::array({1});
      place(node, *m_layers.at(id), 240);
      node.group.clear();
      if (!target.source.is_null()) {
        node.values.update(target.source);
      } else {
        if (target.variable != node.id) node.values["variable"] = target.variable;
        if (target.label) node.values["type"] = "label";
      }
      m_drawing.late.push_back({target.label ? LateShape::Kind::label : LateShape::Kind::target, node.id, loss.first});
    }
    connect(known->second, loss.first, "target");
  }

  void addOutputs() {
    // In the order of their Order, which is that of the pins.
    std::stable_sort(m_ports.begin(), m_ports.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const Json& order) { return order.is_number() && order >= 0 ? order.get<double>() : 1e18; };
      return rank(a.second) < rank(b.second);
    });
    auto& nodes = m_drawing.network.nodes;
    std::stable_sort(nodes.begin(), nodes.end(), [&](const Node& a, const Node& b) {
      const auto rank = [&](const Node& node) {
        const auto at =
            std::find_if(m_ports.begin(), m_ports.end(), [&](const auto& port) { return port.first == node.id; });
        return at - m_ports.begin();  // what is no port comes behind them
      };
      return rank(a) < rank(b);
    });
    if (m_hasOutput) return;
    std::vector<std::string> ends;
    for (const Layer& layer : m_tab.layers) {
      const auto placed = m_placed.find(layer.id);
      if (placed == m_placed.end() || placed->second.last.empty()) continue;
      const auto& edges = m_drawing.network.edges;
      if (std::none_of(edges.begin(), edges.end(),
                       [&](const Edge& edge) { return edge.from.node == placed->second.last; }))
        ends.push_back(placed->second.last);
    }
    for (const std::string& end : ends) {
      const Node last = *m_drawing.network.find(end);
      Node& node = addNode("output", "output");
      node.layer = "Output";
      node.x = last.x;
      node.y = last.y + 60;
      node.placed = true;
      const std::string id = node.id;
      connect(end, id, mainPort("Output"));
    }
  }

  const Network& m_tab;
  Tabs& m_tabs;
  bool m_asUnit;
  Repeats m_repeats;
  Names m_names;
  Drawing m_drawing;
  std::set<std::string> m_taken;
  std::map<std::int64_t, const Layer*> m_layers;
  std::map<std::int64_t, std::vector<const Link*>> m_into, m_outOf;
  std::map<std::int64_t, Placed> m_placed;
  std::map<std::size_t, std::string> m_groupIds;
  std::vector<std::pair<std::int64_t, Target>> m_targets;
  std::map<std::string, std::string> m_inputs;
  std::vector<std::pair<std::string, Json>> m_ports;
  bool m_hasOutput = false;
};

}  // namespace

Drawing draw(const Network& tab, Tabs& tabs, bool asUnit) {
  return Drawer(tab, tabs, asUnit).run();
}

}  // namespace loom::sdc

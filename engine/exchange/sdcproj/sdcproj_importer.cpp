// `.sdcproj` of Sony's Neural Network Console: every tab a network or a unit, its optimizers updates, its datasets
// CSVs.
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/words.h"
#include "engine/catalogue/text.h"
#include "engine/exchange/sdcproj/sdc_drawing.h"
#include "engine/exchange/sdcproj/sdc_ports.h"
#include "engine/exchange/sdcproj/sdc_training.h"
#include "engine/network/flatten.h"

namespace loom::sdc {
namespace {

using Kind = ReportItem::Kind;
constexpr std::size_t kLargestFile = std::size_t{64} << 20;  // the largest that people draw have 2 MB

bool sniff(std::string_view bytes, std::string_view name) {
  if (folded(name).ends_with(".sdcproj")) return true;
  return bytes.find("[Network_Global]") != bytes.npos ||
         (bytes.find("NumNetwork=") != bytes.npos && bytes.find("[Global]") != bytes.npos);
}

class Import {
 public:
  explicit Import(const ImportRequest& request)
      : m_request(request),
        m_file(readFile(loom::readFile(request.file, kLargestFile), request.file.filename().string())) {}

  Imported run() {
    nameTabs();
    for (std::size_t i = 0; i < m_file.networks.size(); ++i) {
      step(static_cast<double>(i) / static_cast<double>(m_file.networks.size()));
      const Network& tab = m_file.networks[i];
      if (const auto unit = m_tabs.unitNames.find(tab.name); unit != m_tabs.unitNames.end())
        drawTab(tab, unit->second, true);
      if (const auto network = m_networks.find(tab.name); network != m_networks.end())
        drawTab(tab, network->second, false);
    }
    resolveUnitPorts();
    step(0.9);
    for (auto* drawings : {&m_result.project.networks, &m_result.project.units})
      for (loom::Network& drawing : *drawings) finishShapes(drawing);
    m_result.project.notes = m_file.description;
    readTraining({.file = m_file,
                  .folder = std::filesystem::absolute(m_request.file).parent_path(),
                  .networks = m_networks,
                  .images = imageVariables(),
                  .report = m_result.report},
                 m_result.project);
    freeze();
    tellProblems();
    step(1);
    return std::move(m_result);
  }

 private:
  void step(double share) const {
    if (m_request.stop && m_request.stop->load()) throwError(ErrorCode::stopped, "the import was stopped");
    if (m_request.progress) m_request.progress(share);
  }

  // A tab that layers of type Unit name is a unit; it is a network besides where an optimizer, monitor or executor
  // names it.
  void nameTabs() {
    std::set<std::string> used, trained, taken;
    for (const Network& tab : m_file.networks)
      for (const Layer& layer : tab.layers)
        if (const std::string* network = layer.property("Network"); network && layer.type == "Unit")
          used.insert(*network);
    for (const auto& [sections, key] : {std::pair{&m_file.optimizers, "Optimizer_NetworkName"},
                                        {&m_file.monitors, "Monitor_NetworkName"},
                                        {&m_file.executors, "Executor_NetworkName"}})
      for (const Section& section : *sections) trained.insert(section.text(key));
    for (const Network& tab : m_file.networks) {
      if (used.count(tab.name) && !trained.count(tab.name)) continue;
      m_networks.emplace(tab.name, validName(tab.name, "main", taken));
      // Whose weights a scope names that is another layer's.
      for (const Layer& layer : tab.layers) {
        const std::string* scope = layer.property("ParameterScope");
        std::set<std::string> none;
        if (scope && (*scope == "*Name" || *scope == layer.name) && !layer.name.empty())
          m_tabs.scopes.emplace(layer.name, validName(layer.name, "node", none));
      }
    }
    for (const Network& tab : m_file.networks) {
      if (used.count(tab.name)) m_tabs.unitNames.emplace(tab.name, validName(tab.name, "unit", taken));
      arguments(tab, used.count(tab.name) > 0);
    }
  }

  // Of a unit its arguments; in a network, to which nobody gives any, their values stand for them.
  void arguments(const Network& tab, bool isUnit) {
    std::set<std::string> taken;
    auto& names = m_tabs.arguments[tab.name];
    for (const Layer& layer : tab.layers) {
      if (layer.type != "Argument" || layer.name.empty()) continue;
      const std::string* value = layer.property("Value");
      if (!isUnit) {
        names[layer.name] = value && !value->empty() && (*value)[0] >= '-' && (*value)[0] <= '9' ? *value : "0";
        m_result.report.add(Kind::converted, tab.name, fmt::format("{} (Argument)", clipped(layer.name)), "",
                            fmt::format("its value {} stands wherever it is named", clipped(names[layer.name])));
        continue;
      }
      std::string name = validName(layer.name, "argument", taken);
      std::replace(name.begin(), name.end(), '-', '_');
      while (!isArgumentName(name)) name += "_value";
      names[layer.name] = name;
    }
  }

  Argument argumentOf(const Layer& layer, const std::string& name) {
    Argument argument{.name = name, .defaultValue = nullptr, .label = {}, .help = {}};
    const std::string* given = layer.property("Value");
    const std::string value = given ? trimmed(*given) : "1";
    if (value == "True" || value == "False")
      argument.defaultValue = value == "True";
    else if (const auto number = numberValue(value, {}))
      argument.defaultValue = *number;
    else if (const auto list = listValue(value, {}))
      argument.defaultValue = *list;
    else
      argument.defaultValue = value;
    return argument;
  }

  void drawTab(const Network& tab, const std::string& name, bool asUnit) {
    Drawing drawing = draw(tab, m_tabs, asUnit);
    drawing.network.name = name;
    if (asUnit)
      for (const Layer& layer : tab.layers)
        if (const auto own = m_tabs.arguments[tab.name].find(layer.name);
            layer.type == "Argument" && own != m_tabs.arguments[tab.name].end()) {
          if (drawing.network.argument(own->second)) continue;
          drawing.network.arguments.push_back(argumentOf(layer, own->second));
          m_result.report.add(Kind::translated, tab.name, fmt::format("{} (Argument)", clipped(layer.name)), "",
                              fmt::format("the argument {} of the unit", own->second));
        }
    m_late[name] = std::move(drawing.late);
    m_frozen[name] = std::move(drawing.frozen);
    m_tabOf[name] = tab.name;
    (asUnit ? m_result.project.units : m_result.project.networks).push_back(std::move(drawing.network));
  }

  // Wires to and from units named their ports by their place, since the unit may be drawn later.
  void resolveUnitPorts() {
    for (auto* drawings : {&m_result.project.networks, &m_result.project.units})
      for (loom::Network& drawing : *drawings)
        std::erase_if(drawing.edges, [&](Edge& edge) {
          return !resolve(drawing, edge.from, "Output") || !resolve(drawing, edge.to, "Input");
        });
  }

  bool resolve(const loom::Network& drawing, Endpoint& end, const char* kind) {
    if (!end.port.starts_with('#')) return true;
    const Node* node = drawing.find(end.node);
    const loom::Network* unit = node ? m_result.project.unit(node->unit) : nullptr;
    static const loom::Network kNoUnit;  // a wire may name a layer or a unit that the file does not have
    std::size_t place = 0;
    for (const Node& port : (unit ? *unit : kNoUnit).nodes) {
      if (port.layer != kind || unitPort(place++) != end.port) continue;
      end.port = port.id;
      return true;
    }
    m_result.report.add(Kind::untranslatable, m_tabOf[drawing.name], end.node, end.node,
                        fmt::format("the unit {} has no {} for a wire of it", node ? node->unit : end.node, kind));
    return false;
  }

  // What takes its shape from what it is compared with.
  void finishShapes(loom::Network& drawing) {
    if (m_late[drawing.name].empty()) return;
    for (const LateShape& late : m_late[drawing.name])
      if (late.kind == LateShape::Kind::loopLength) finishLoop(drawing, late);
    const Analysis analysis = analyseDrawing(m_result.project, drawing);
    for (const LateShape& late : m_late[drawing.name]) {
      const auto facts = analysis.nodes.find(late.after);
      const Shape* shape = facts != analysis.nodes.end() && !facts->second.inputs.empty()
                               ? &facts->second.inputs[0]
                               : predecessorShape(drawing, analysis, late.after);
      Node* const found = drawing.find(late.node);
      if (late.kind == LateShape::Kind::loopLength) continue;
      if (!found) continue;  // two layers of one name: the second is told where it was read
      Node& node = *found;
      if (!shape) {
        if (late.kind != LateShape::Kind::label)
          m_result.report.add(Kind::untranslatable, m_tabOf[drawing.name], late.node, late.node,
                              "its shape follows from what is not known here: set it");
        continue;
      }
      if (late.kind == LateShape::Kind::target) node.values["shape"] = shape->extents();
      if (late.kind == LateShape::Kind::label && shape->rank() == 2) node.values["shape"] = Json::array({(*shape)[0]});
      if (late.kind == LateShape::Kind::layerNormalization && shape->rank() > 1)
        node.values["axes"] = static_cast<std::int64_t>(shape->rank());
    }
  }

  // A loop is as long as what comes in; what stands in it is known only then.
  void finishLoop(loom::Network& drawing, const LateShape& late) {
    const Analysis analysis = analyseDrawing(m_result.project, drawing);
    const Shape* const shape = predecessorShape(drawing, analysis, late.node);
    Node* const node = drawing.find(late.node);
    if (!node) return;
    const Json axis = node->values.value("axis", Json(0));
    if (!shape || !axis.is_number_integer() || axis.get<std::int64_t>() < 0 ||
        axis.get<std::int64_t>() >= static_cast<std::int64_t>(shape->rank())) {
      m_result.report.add(Kind::untranslatable, m_tabOf[drawing.name], late.node, late.node,
                          "how many steps its loop has follows from what is not known here: set the length");
      return;
    }
    node->values["length"] = (*shape)[axis.get<std::int64_t>()];
  }

  // Of the node whose wire comes first: a loss that lacks its target has no facts of its own.
  static const Shape* predecessorShape(const loom::Network& drawing, const Analysis& analysis,
                                       const std::string& node) {
    for (const Edge& edge : drawing.edges) {
      if (edge.to.node != node || edge.to.port == "target") continue;
      const auto facts = analysis.nodes.find(edge.from.node);
      if (facts != analysis.nodes.end() && !facts->second.outputs.empty()) return &facts->second.outputs[0];
    }
    return nullptr;
  }

  // Variables that an Input reads as C x H x W.
  std::vector<std::string> imageVariables() const {
    std::set<std::string> found;
    for (const loom::Network& network : m_result.project.networks)
      for (const DatasetInput& input : datasetInputs(network))
        if (input.shape.rank() == 3 && (input.shape[0] == 1 || input.shape[0] == 3 || input.shape[0] == 4))
          found.insert(input.variable);
    return {found.begin(), found.end()};
  }

  // Parameters with a rate of 0 are left out of what the updates change: all others are named.
  void freeze() {
    for (UpdateSpec& update : m_result.project.training.updates) {
      try {
        const FlatNetwork flat = flatten(m_result.project, update.network);
        std::set<std::string> still;
        for (std::size_t i = 0; i < flat.network.nodes.size(); ++i) {
          const Node& node = flat.network.nodes[i];
          if (!flat.origins[i].drawing) continue;  // nobody drew it
          const auto frozen = m_frozen.find(flat.origins[i].drawing->name);
          if (frozen == m_frozen.end()) continue;
          for (const std::string& name : frozen->second)
            if (const std::size_t slash = name.rfind('/'); name.substr(0, slash) == flat.origins[i]->id)
              still.insert((node.shares.empty() ? node.id : node.shares) + name.substr(slash));
        }
        if (still.empty()) continue;
        for (const Parameter& parameter : lower(flat.network, {}).parameters)
          if (!parameter.isState && !still.count(parameter.name)) update.parameters.push_back(parameter.name);
        m_result.report.add(Kind::converted, "", "LRateMultiplier", "",
                            fmt::format("{} do not learn: the update names all others",
                                        counted(static_cast<std::int64_t>(still.size()), "parameters")));
      } catch (const Error&) {  // told as a problem of the drawing below
      }
    }
  }

  // Whatever is still wrong with what was made of it is told here, so that nobody meets it first when training begins.
  void tellProblems() {
    std::size_t told = 0;
    for (const Problem& problem : checkProject(m_result.project)) {
      if (problem.severity != Severity::error || ++told > 100) continue;
      const auto tab = m_tabOf.find(problem.network);
      m_result.report.add(Kind::untranslatable, tab == m_tabOf.end() ? problem.network : tab->second,
                          problem.node.empty() ? problem.field : problem.node, problem.node, problem.message);
    }
  }

  const ImportRequest& m_request;
  File m_file;
  Imported m_result;
  std::map<std::string, std::string> m_networks;  // tab -> network
  Tabs m_tabs{m_file, m_result.report, {}, {}, {}};
  std::map<std::string, std::vector<LateShape>> m_late;
  std::map<std::string, std::vector<std::string>> m_frozen;
  std::map<std::string, std::string> m_tabOf;
};

}  // namespace
}  // namespace loom::sdc

namespace loom {

const Importer& defineSdcprojImporter() {
  static const Importer importer{.id = "sdcproj",
                                 .label = "Neural Network Console project",
                                 .extensions = {".sdcproj"},
                                 .sniff = sdc::sniff,
                                 .run = [](const ImportRequest& request) { return sdc::Import(request).run(); }};
  return importer;
}

}  // namespace loom

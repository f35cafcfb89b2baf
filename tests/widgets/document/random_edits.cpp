#include "tests/widgets/document/random_edits.h"

#include <algorithm>
#include <set>

#include "widgets/document/unit_edits.h"

namespace loom {

RandomEdits::RandomEdits(ProjectDocument& document, unsigned seed) : m_document(document), m_random(seed) {
  QObject::connect(&document, &ProjectDocument::changed, &document, [this] { ++m_changes; });
  nodes();
  wires();
  drawings();
  units();
  groups();
  training();
  for (const auto& [kind, edit] : m_kinds) m_done[kind];
}

void RandomEdits::step() {
  const auto& [kind, edit] = m_kinds[below(m_kinds.size())];
  const int before = m_changes;
  const Network drawing = any();  // as it is before: the document's own may go or move meanwhile
  edit(drawing);
  m_done[kind] += m_changes > before;
}

const Network& RandomEdits::any() {
  const Project& project = m_document.project();
  const std::size_t at = below(project.networks.size() + project.units.size());
  return at < project.networks.size() ? project.networks[at] : project.units[at - project.networks.size()];
}

std::string RandomEdits::node(const Network& drawing) {
  return drawing.nodes.empty() ? std::string() : drawing.nodes[below(drawing.nodes.size())].id;
}

std::string RandomEdits::useIn(const Network& drawing) {
  std::vector<std::string> uses;
  for (const Node& each : drawing.nodes)
    if (!each.unit.empty()) uses.push_back(each.id);
  return uses.empty() ? std::string() : uses[below(uses.size())];
}

std::vector<std::string> RandomEdits::some(const Network& drawing) {
  std::set<std::string> ids;
  for (std::size_t i = 0, count = 1 + below(4); i < count && !drawing.nodes.empty(); ++i) ids.insert(node(drawing));
  return {ids.begin(), ids.end()};
}

std::vector<std::string> RandomEdits::chain(const Network& drawing) {
  std::vector<std::string> ids;
  for (std::string at = node(drawing);
       !at.empty() && ids.size() < 1 + below(4) && std::find(ids.begin(), ids.end(), at) == ids.end();) {
    ids.push_back(at);
    const auto next = std::find_if(drawing.edges.begin(), drawing.edges.end(),
                                   [&](const Edge& edge) { return edge.from.node == at; });
    at = next == drawing.edges.end() ? std::string() : next->to.node;
  }
  return ids;
}

std::string RandomEdits::unit() {
  const auto& units = m_document.project().units;
  return units.empty() ? std::string() : units[below(units.size())].name;
}

std::string RandomEdits::group(const Network& drawing) {
  return drawing.groups.empty() ? std::string() : drawing.groups[below(drawing.groups.size())].id;
}
std::string RandomEdits::layer() {
  return layerTable()[below(layerTable().size())]->entry.id;
}
QPointF RandomEdits::place() {
  return {12.0 * static_cast<double>(below(120)), 12.0 * static_cast<double>(below(120))};
}

Edge RandomEdits::wire(const Network& drawing) {
  if (!drawing.edges.empty() && chance(2)) return drawing.edges[below(drawing.edges.size())];
  return {{node(drawing), "output"}, {node(drawing), chance(5) ? "target" : "input"}};
}

Json RandomEdits::repeat() {
  return chance(3) ? Json("=channels") : Json(static_cast<int>(1 + below(4)));
}

void RandomEdits::nodes() {
  add("add a node", [this](const Network& drawing) {
    m_document.addNode({.network = drawing.name, .layer = layer(), .at = place()});
  });
  add("add behind a node", [this](const Network& drawing) {
    m_document.addNode({.network = drawing.name, .layer = layer(), .after = node(drawing)});
  });
  add("put into a wire", [this](const Network& drawing) {
    if (!drawing.edges.empty())
      m_document.addNode({.network = drawing.name, .layer = layer(), .at = place(), .into = wire(drawing)});
  });
  add("drop a wire on nothing", [this](const Network& drawing) {
    if (chance(2))
      m_document.addNode(
          {.network = drawing.name, .layer = layer(), .at = place(), .from = Endpoint{node(drawing), "output"}});
    else
      m_document.addNode(
          {.network = drawing.name, .layer = layer(), .at = place(), .to = Endpoint{node(drawing), "input"}});
  });
  add("put a card into a wire", [this](const Network& drawing) {
    const std::string id = m_document.addNode({.network = drawing.name, .layer = "ReLU", .at = place()});
    if (!drawing.edges.empty())
      m_document.insertInto(drawing.name, id, drawing.edges[below(drawing.edges.size())], place());
  });
  add("remove and heal", [this](const Network& drawing) { m_document.removeNodes(drawing.name, some(drawing), true); });
  add("remove", [this](const Network& drawing) { m_document.removeNodes(drawing.name, some(drawing), false); });
  add("move", [this](const Network& drawing) {
    std::map<std::string, QPointF> places;
    for (const std::string& id : some(drawing)) places[id] = place();
    for (const Comment& comment : drawing.comments)
      if (chance(3)) places[comment.id] = place();
    m_document.moveNodes(drawing.name, places, static_cast<int>(below(3)));
  });
  add("move into a group", [this](const Network& drawing) {
    std::map<std::string, QPointF> places;
    for (const std::string& id : some(drawing)) places[id] = place();
    m_document.moveNodes(drawing.name, places, 0, group(drawing));
  });
  add("arrange", [this](const Network& drawing) { m_document.arrange(drawing.name); });
  add("set a field", [this](const Network& drawing) {
    m_document.setField(drawing.name, node(drawing), chance(2) ? "channels" : "outputs", static_cast<int>(below(64)));
  });
  add("set a field of many", [this](const Network& drawing) {
    m_document.setFieldOfMany(drawing.name, some(drawing), "kernel", Json::array({1 + below(5), 3}));
  });
  add("set an expression", [this](const Network& drawing) {
    m_document.setField(drawing.name, node(drawing), "channels", chance(2) ? "=channels*2" : "=Input[0]/2");
  });
  add("reset a field",
      [this](const Network& drawing) { m_document.resetField(drawing.name, node(drawing), "channels"); });
  add("share parameters", [this](const Network& drawing) {
    m_document.setShares(drawing.name, node(drawing), chance(4) ? std::string() : node(drawing));
  });
  add("make it another layer",
      [this](const Network& drawing) { m_document.setLayer(drawing.name, node(drawing), layer()); });
  add("rename a node",
      [this](const Network& drawing) { m_document.renameNode(drawing.name, node(drawing), name("r")); });
  add("apply a remedy", [this](const Network&) {
    std::vector<Problem> mended;
    for (const Problem& problem : m_document.problems())
      if (problem.remedy.kind != Remedy::Kind::none) mended.push_back(problem);
    if (!mended.empty()) m_document.applyRemedy(mended[below(mended.size())]);
  });
}

void RandomEdits::wires() {
  add("draw a wire", [this](const Network& drawing) { m_document.addWire(drawing.name, wire(drawing)); });
  add("remove wires", [this](const Network& drawing) {
    m_document.removeWires(drawing.name, {wire(drawing), wire(drawing)});
  });
  add("rewire", [this](const Network& drawing) { m_document.rewire(drawing.name, wire(drawing), wire(drawing)); });
  add("cut", [this](const Network& drawing) { m_document.cutNodes(drawing.name, some(drawing)); });
  add("paste", [this](const Network& drawing) {
    std::vector<std::string> ids = chain(drawing);
    for (const Comment& comment : drawing.comments) ids.push_back(comment.id);
    const std::string into = any().name;
    m_document.pasteNodes(into, m_document.copyNodes(drawing.name, ids), place());
  });
  add("duplicate", [this](const Network& drawing) { m_document.duplicateNodes(drawing.name, some(drawing)); });
}

void RandomEdits::drawings() {
  add("add a network", [this](const Network&) {
    if (m_document.project().networks.size() < 4) m_document.addNetwork("extra");
  });
  add("rename a drawing", [this](const Network& drawing) { m_document.renameNetwork(drawing.name, name("n")); });
  add("remove a drawing", [this](const Network& drawing) {
    if (chance(3)) m_document.removeNetwork(drawing.name);
  });
  add("change all of a drawing", [this](const Network& drawing) {
    m_document.edit("Turn around", [&](Project& project) {
      Network& changed = *project.drawing(drawing.name);
      std::reverse(changed.nodes.begin(), changed.nodes.end());
      if (!changed.groups.empty()) changed.groups.pop_back();
    });
  });
  add("change all of the project", [this](const Network& drawing) {
    m_document.edit("Turn around", [&](Project& changed) {
      if (Network* mine = changed.drawing(drawing.name)) std::reverse(mine->edges.begin(), mine->edges.end());
      changed.notes += ".";
    });
  });
}

void RandomEdits::units() {
  add("make a unit",
      [this](const Network& drawing) { m_document.makeUnit(drawing.name, chain(drawing), name("Unit")); });
  add("use a unit", [this](const Network& drawing) {
    if (const std::string used = unit(); !used.empty())
      m_document.addNode(
          {.network = drawing.name, .layer = used, .at = place(), .after = chance(2) ? node(drawing) : std::string()});
  });
  add("dissolve a unit", [this](const Network& drawing) { m_document.dissolveUnit(drawing.name, useIn(drawing)); });
  add("add a unit", [this](const Network&) {
    if (m_document.project().units.size() < 6) m_document.addUnit("Block");
  });
  add("add an argument", [this](const Network&) {
    const char* const names[] = {"channels", "depth", "stride"};
    m_document.addArgument(unit(), {.name = names[below(3)],
                                    .defaultValue = static_cast<int>(1 + below(8)),
                                    .label = chance(2) ? "Wide" : "",
                                    .help = ""});
  });
  const auto argument = [this](const std::string& of) {
    const Network* drawn = m_document.project().unit(of);
    return drawn == nullptr || drawn->arguments.empty() ? Argument{} : drawn->arguments[below(drawn->arguments.size())];
  };
  add("set an argument", [this, argument](const Network&) {
    const std::string of = unit();
    Argument changed = argument(of);
    changed.defaultValue = static_cast<int>(below(64));
    m_document.setArgument(of, changed.name, changed);
  });
  add("rename an argument", [this, argument](const Network&) {
    const std::string of = unit();
    Argument changed = argument(of);
    const std::string was = std::exchange(changed.name, name("a"));
    m_document.setArgument(of, was, changed);
  });
  add("remove an argument", [this, argument](const Network&) {
    const std::string of = unit();
    m_document.removeArgument(of, argument(of).name);
  });
  add("give a use its argument", [this](const Network& drawing) {
    m_document.setField(drawing.name, useIn(drawing), "channels",
                        chance(3) ? Json("=channels+1") : Json(static_cast<int>(below(64))));
  });
  add("repeat a use", [this](const Network& drawing) { m_document.setRepeat(drawing.name, useIn(drawing), repeat()); });
}

void RandomEdits::groups() {
  add("group", [this](const Network& drawing) { m_document.makeGroup(drawing.name, some(drawing), "Group"); });
  add("repeat a chain", [this](const Network& drawing) {
    if (const std::vector<std::string> ids = chain(drawing); m_document.mayRepeat(drawing.name, ids))
      m_document.makeGroup(drawing.name, ids, "Repeat", repeat());
  });
  add("title a group",
      [this](const Network& drawing) { m_document.setGroupTitle(drawing.name, group(drawing), name("Title ")); });
  add("set a group", [this](const Network& drawing) {
    const Group* known = drawing.group(group(drawing));
    if (known == nullptr) return;
    Group changed = *known;
    if (chance(2)) changed.colour = chance(2) ? "sky" : "gold";
    if (chance(2)) changed.repeat = repeat();
    if (chance(2)) changed.counter = chance(2) ? "i" : "n";
    m_document.setGroup(drawing.name, changed);
  });
  add("fold or open", [this](const Network& drawing) {
    if (const Group* known = drawing.group(group(drawing)))
      m_document.setFolded(drawing.name, known->id, !known->folded);
  });
  add("fold or open all", [this](const Network& drawing) { m_document.setAllFolded(drawing.name, chance(2)); });
  add("ungroup", [this](const Network& drawing) {
    if (const std::string id = group(drawing); !id.empty()) m_document.dissolveGroups(drawing.name, {id});
  });
  add("take into a group or out", [this](const Network& drawing) {
    std::vector<std::string> ids = some(drawing);
    if (const std::string inner = group(drawing); !inner.empty() && chance(3)) ids.push_back(inner);
    m_document.moveToGroup(drawing.name, ids, chance(3) ? std::string() : group(drawing));
  });
  add("write a comment", [this](const Network& drawing) {
    m_document.addComment(drawing.name,
                          {.text = "words\n\"and more\"", .x = place().x(), .y = 12, .colour = chance(2) ? "sky" : ""});
  });
  add("change a comment", [this](const Network& drawing) {
    if (drawing.comments.empty()) return;
    Comment changed = drawing.comments[below(drawing.comments.size())];
    changed.text = name("words ");
    changed.width = 120 + 12.0 * static_cast<double>(below(9));
    m_document.setComment(drawing.name, changed);
  });
  add("remove a comment and nodes", [this](const Network& drawing) {
    if (!drawing.comments.empty())
      m_document.removeThings(drawing.name, chance(2) ? some(drawing) : std::vector<std::string>(),
                              {drawing.comments[below(drawing.comments.size())].id}, chance(2));
  });
}

UpdateSpec RandomEdits::update() {
  UpdateSpec spec = defaultUpdate();
  spec.every = static_cast<int>(1 + below(5));
  spec.parameters = {node(any()) + "/*"};
  return spec;
}

void RandomEdits::training() {
  const auto which = [this] { return below(m_document.project().training.updates.size()); };
  const auto dataset = [this] {
    const auto& datasets = m_document.project().datasets;
    return datasets.empty() ? DatasetSpec{} : datasets[below(datasets.size())];
  };
  add("set a setting", [this](const Network&) { m_document.setSetting("epochs", static_cast<int>(1 + below(9))); });
  add("set the optimizer", [this, which](const Network&) {
    m_document.setOptimizer(
        which(), {{"name", chance(2) ? "Adam" : "SGD"}, {"learning_rate", 0.01 * static_cast<double>(1 + below(9))}});
  });
  add("set the schedule", [this, which](const Network&) {
    m_document.setSchedule(which(), {{"name", chance(2) ? "Cosine" : "Constant"}});
  });
  add("set the warm-up", [this, which](const Network&) {
    m_document.setWarmup(which(), chance(3) ? Json() : Json{{"epochs", 1 + below(3)}});
  });
  add("add an update", [this](const Network&) { m_document.addUpdate(update()); });
  add("change an update", [this, which](const Network&) { m_document.setUpdate(which(), update()); });
  add("remove an update", [this, which](const Network&) { m_document.removeUpdate(which()); });
  add("validate", [this, dataset](const Network& drawing) {
    m_document.setValidation(dataset().name, chance(2) ? drawing.name : std::string());
  });
  add("add a dataset", [this](const Network&) { m_document.addDataset({.name = name("d"), .csv = "a.csv"}); });
  add("change a dataset", [this, dataset](const Network&) {
    DatasetSpec changed = dataset();
    const std::string was = changed.name;
    if (chance(2)) changed.name = name("d");
    changed.csv = name("file");
    m_document.setDataset(was, changed);
  });
  add("remove a dataset", [this, dataset](const Network&) { m_document.removeDataset(dataset().name); });
  add("prepare a dataset", [this, dataset](const Network&) {
    m_document.setPrepare(dataset().name, {{{"step", "Normalise"}, {"by", 1 + below(255)}}});
  });
  add("write notes", [this](const Network&) { m_document.setNotes(name("notes ")); });
  add("set by a problem's path", [this](const Network&) {
    m_document.setPath(chance(2) ? "training.batch" : "training.optimizer.learning_rate",
                       static_cast<double>(1 + below(64)));
  });
}

}  // namespace loom

#include "widgets/outline/outline_model.h"

#include <QMimeData>
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "widgets/canvas/card_content.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"
#include "widgets/theme/icon.h"

namespace loom {

namespace {

constexpr char kRowMime[] = "application/x-gradloom-outline";

}  // namespace

// What a view shows of a row beside what it stands for, so that a change of either is seen by comparing.
struct OutlineModel::Item {
  Thing thing;
  QString text, detail, chip, icon, category, tint, fault, sentence;
  bool error = false;
  Item* parent = nullptr;
  std::vector<std::unique_ptr<Item>> children;

  bool looksLike(const Item& other) const {
    return std::tie(text, detail, chip, icon, category, tint, fault, sentence, error) ==
           std::tie(other.text, other.detail, other.chip, other.icon, other.category, other.tint, other.fault,
                    other.sentence, other.error);
  }
  void copyLook(const Item& other) {
    std::tie(text, detail, chip, icon, category, tint, fault, sentence, error) =
        std::tie(other.text, other.detail, other.chip, other.icon, other.category, other.tint, other.fault,
                 other.sentence, other.error);
  }
  Item& add(Thing what) {
    auto made = std::make_unique<Item>();
    made->thing = std::move(what);
    made->parent = this;
    children.push_back(std::move(made));
    return *children.back();
  }
};

OutlineModel::OutlineModel(ProjectDocument& document, QObject* parent)
    : QAbstractItemModel(parent), m_document(document), m_root(std::make_unique<Item>()) {
  connect(&document, &ProjectDocument::opened, this, &OutlineModel::refresh);
  connect(&document, &ProjectDocument::changed, this, [this](const ProjectChange& change) {
    // Places and training are no rows; wires order them, which the analysis follows.
    const bool rows = std::any_of(change.networks.begin(), change.networks.end(), [](const NetworkChange& each) {
      return each.groups || !each.added.empty() || !each.removed.empty() || !each.changed.empty();
    });
    if (rows || change.networkList) refresh();
  });
  connect(&document, &ProjectDocument::analysisChanged, this, [this] {
    m_faultsStale = true;
    refresh();
  });
  refresh();
}

OutlineModel::~OutlineModel() = default;

std::unique_ptr<OutlineModel::Item> OutlineModel::build() const {
  auto root = std::make_unique<Item>();
  const Project& project = m_document.project();
  const auto add = [&](const Network& drawing, bool unit) {
    Item& item = root->add({Kind::drawing, drawing.name, {}});
    item.text = q(drawing.name);
    item.detail = QString::number(drawing.nodes.size());
    item.icon = unit ? QStringLiteral("unit") : QStringLiteral("network");
    item.category = QStringLiteral("unit");
    fill(item, drawing, {drawing.name});
  };
  for (const Network& network : project.networks) add(network, false);
  for (const Network& unit : project.units)
    if (usesOf(project, unit.name).empty()) add(unit, true);  // else it stands below its uses
  if (m_faults.empty()) return root;
  std::vector<Item*> open{root.get()};
  while (!open.empty()) {
    Item* item = open.back();
    open.pop_back();
    for (const auto& child : item->children) open.push_back(child.get());
    const auto fault = m_faults.find({item->thing.drawing, item->thing.id});
    if (fault == m_faults.end()) continue;
    item->error = fault->second.error;
    item->fault = fault->second.word;
    item->sentence = fault->second.sentence;
  }
  return root;
}

void OutlineModel::fill(Item& parent, const Network& drawing, const std::vector<std::string>& around) const {
  const Project& project = m_document.project();
  std::map<std::string, Item*> groups;
  std::function<Item&(const std::string&, int)> place = [&](const std::string& id, int depth) -> Item& {
    if (const auto known = groups.find(id); known != groups.end()) return *known->second;
    const Group* group = drawing.group(id);
    if (group == nullptr || depth > 64) return parent;  // a file in which groups hold each other
    Item& made = place(group->parent, depth + 1).add({Kind::group, drawing.name, id});
    groups[id] = &made;
    made.text = q(group->title.empty() ? id : group->title);
    made.detail = group->folded ? tr("folded") : QString();
    made.chip = repeatText(group->repeat);
    made.icon = QStringLiteral("group");
    made.category = QStringLiteral("unit");
    made.tint = q(group->colour);
    return made;
  };
  // As they are computed, whatever order the file has; what stands in a circle has none and comes last.
  std::vector<bool> placed(drawing.nodes.size(), false);
  std::vector<std::size_t> order;
  for (const NetworkIndex::Position at : m_document.index(drawing.name).order())
    if (static_cast<std::size_t>(at) < placed.size()) {
      placed[static_cast<std::size_t>(at)] = true;
      order.push_back(static_cast<std::size_t>(at));
    }
  for (std::size_t at = 0; at < placed.size(); ++at)
    if (!placed[at]) order.push_back(at);
  for (const std::size_t at : order) {
    const Node& node = drawing.nodes[at];
    Item& item = place(node.group, 0).add({node.unit.empty() ? Kind::node : Kind::use, drawing.name, node.id});
    item.text = q(node.id);
    item.chip = repeatText(node.repeat);
    if (node.unit.empty()) {
      const LayerDefinition* layer = findLayer(node.layer);
      item.detail = layer != nullptr ? q(layer->entry.label) : q(node.layer);
      item.category = layer != nullptr ? q(layer->entry.category) : QStringLiteral("shape");
      item.icon = layer != nullptr ? layerIcon(q(layer->entry.icon), item.category) : QStringLiteral("help");
      continue;
    }
    item.detail = q(node.unit);
    item.icon = QStringLiteral("unit");
    item.category = QStringLiteral("unit");
    const Network* unit = project.unit(node.unit);
    if (unit == nullptr || std::find(around.begin(), around.end(), node.unit) != around.end())
      continue;  // a unit inside itself is a fault
    std::vector<std::string> deeper = around;
    deeper.push_back(node.unit);
    fill(item, *unit, deeper);
  }
}

void OutlineModel::readFaults() {
  m_faultsStale = false;
  m_faults.clear();
  for (const Problem& problem : m_document.problems()) {  // the worst of each node comes first
    if (problem.node.empty()) continue;
    Fault fault{q(problem.field).replace(QLatin1Char('_'), QLatin1Char(' ')), q(problem.message),
                problem.severity == Severity::error};
    if (fault.word.isEmpty()) fault.word = fault.error ? tr("fault") : tr("doubt");
    m_faults.emplace(std::pair(problem.network, problem.node), std::move(fault));
  }
}

void OutlineModel::setSeen(bool seen) {
  m_seen = seen;
  if (seen && m_stale) refresh();
}

void OutlineModel::refresh() {
  m_stale = !m_seen;
  if (m_stale) return;
  if (m_faultsStale) readFaults();
  const std::unique_ptr<Item> now = build();
  take(*m_root, *now, {});
}

// Makes the rows below `here` those of `now`: what stays, stays the same row.
void OutlineModel::take(Item& here, Item& now, const QModelIndex& at) {
  // As most often, the same things in the same order: then nothing comes or goes.
  const bool same = std::equal(here.children.begin(), here.children.end(), now.children.begin(), now.children.end(),
                               [](const auto& a, const auto& b) { return a->thing == b->thing; });
  std::set<std::string> staying;
  const auto key = [](const Thing& thing) {
    return thing.drawing + '\n' + thing.id + '\n' + std::to_string(static_cast<int>(thing.kind));
  };
  if (!same)
    for (const auto& child : now.children) staying.insert(key(child->thing));
  const auto stays = [&](int row) {
    return staying.contains(key(here.children[static_cast<std::size_t>(row)]->thing));
  };
  for (int last = static_cast<int>(here.children.size()) - 1; last >= 0 && !same; --last) {
    if (stays(last)) continue;
    int first = last;  // all that go beside each other at once
    while (first > 0 && !stays(first - 1)) --first;
    beginRemoveRows(at, first, last);
    here.children.erase(here.children.begin() + first, here.children.begin() + last + 1);
    endRemoveRows();
    last = first;
  }
  std::set<std::string> there;
  if (!same)
    for (const auto& child : here.children) there.insert(key(child->thing));
  const auto isNew = [&](std::size_t i) { return !same && !there.contains(key(now.children[i]->thing)); };
  for (std::size_t i = 0; i < now.children.size(); ++i) {
    const int row = static_cast<int>(i);
    Item& wanted = *now.children[i];
    auto found = isNew(i) ? here.children.end()
                          : std::find_if(here.children.begin() + row, here.children.end(),
                                         [&](const auto& child) { return child->thing == wanted.thing; });
    if (found == here.children.end()) {
      // All that come beside each other at once, each with all that is below it.
      std::size_t end = i + 1;
      while (end < now.children.size() && isNew(end)) ++end;
      beginInsertRows(at, row, static_cast<int>(end) - 1);
      for (std::size_t come = i; come < end; ++come) now.children[come]->parent = &here;
      here.children.insert(here.children.begin() + row, std::make_move_iterator(now.children.begin() + row),
                           std::make_move_iterator(now.children.begin() + static_cast<std::ptrdiff_t>(end)));
      endInsertRows();
      i = end - 1;
      continue;
    }
    if (found != here.children.begin() + row) {
      const int from = static_cast<int>(found - here.children.begin());
      beginMoveRows(at, from, from, at, row);
      auto moved = std::move(*found);
      here.children.erase(found);
      here.children.insert(here.children.begin() + row, std::move(moved));
      endMoveRows();
    }
    Item& item = *here.children[i];
    const QModelIndex index = createIndex(row, 0, &item);
    if (!item.looksLike(wanted)) {
      item.copyLook(wanted);
      Q_EMIT dataChanged(index, index);
    }
    take(item, wanted, index);
  }
}

OutlineModel::Item* OutlineModel::item(const QModelIndex& index) const {
  return index.isValid() ? static_cast<Item*>(index.internalPointer()) : m_root.get();
}

QModelIndex OutlineModel::indexOf(const Item& item) const {
  if (item.parent == nullptr) return {};
  const auto& all = item.parent->children;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& child) { return child.get() == &item; });
  return createIndex(static_cast<int>(found - all.begin()), 0, &item);
}

OutlineModel::Thing OutlineModel::thing(const QModelIndex& index) const {
  return index.isValid() ? item(index)->thing : Thing{};
}

QModelIndex OutlineModel::find(const std::string& drawing, const std::string& id) const {
  std::vector<const Item*> open;
  for (const auto& root : m_root->children)
    if (root->thing.drawing == drawing) open.push_back(root.get());
  while (!open.empty()) {
    const Item* item = open.back();
    open.pop_back();
    if (item->thing.id == id) return indexOf(*item);
    for (const auto& child : item->children)
      if (child->thing.drawing == drawing) open.push_back(child.get());
  }
  return {};
}

QModelIndex OutlineModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, item(parent)->children[static_cast<std::size_t>(row)].get());
}

QModelIndex OutlineModel::parent(const QModelIndex& child) const {
  return child.isValid() ? indexOf(*item(child)->parent) : QModelIndex();
}

int OutlineModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(item(parent)->children.size());
}

QVariant OutlineModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Item& row = *item(index);
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
      return row.text;
    case Qt::ToolTipRole:
      return row.sentence.isEmpty() ? QVariant() : row.sentence;
    case Qt::AccessibleTextRole: {
      QStringList words{row.text};
      for (const QString& word : {row.detail, row.chip, row.sentence})
        if (!word.isEmpty()) words += word;
      return words.join(QStringLiteral(", "));
    }
    case detailRole:
      return row.detail;
    case chipRole:
      return row.chip;
    case iconRole:
      return row.icon;
    case categoryRole:
      return row.category;
    case tintRole:
      return row.tint;
    case faultRole:
      return row.fault;
    case faultSentenceRole:
      return row.sentence;
    case isErrorRole:
      return row.error;
    default:
      return {};
  }
}

bool OutlineModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || role != Qt::EditRole) return false;
  const Thing what = item(index)->thing;
  const std::string name = value.toString().trimmed().toStdString();
  if (name == (what.id.empty() ? what.drawing : what.id)) return true;
  // A row that is renamed stays itself: it has its new name when the document tells of it.
  const auto rename = [&](const std::string& from, const std::string& to) {
    std::vector<Item*> open{m_root.get()};
    while (!open.empty()) {
      Item* each = open.back();
      open.pop_back();
      for (const auto& child : each->children) open.push_back(child.get());
      if (what.kind == Kind::drawing && each->thing.drawing == from) each->thing.drawing = to;
      if (what.kind != Kind::drawing && each->thing.drawing == what.drawing && each->thing.id == from)
        each->thing.id = to;
    }
  };
  const bool byName = what.kind != Kind::group;  // a group keeps its id
  const std::string before = what.kind == Kind::drawing ? what.drawing : what.id;
  if (byName) rename(before, name);
  Outcome outcome;
  if (what.kind == Kind::drawing)
    outcome = m_document.renameNetwork(what.drawing, name);
  else if (what.kind == Kind::group)
    outcome = m_document.setGroupTitle(what.drawing, what.id, name);
  else
    outcome = m_document.renameNode(what.drawing, what.id, name);
  if (outcome) return true;
  if (byName) rename(name, before);
  Q_EMIT refused(outcome.reason);
  return false;
}

Qt::ItemFlags OutlineModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return {};
  const Kind kind = item(index)->thing.kind;
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsEditable;
  if (kind != Kind::drawing) flags |= Qt::ItemIsDragEnabled;
  if (kind == Kind::drawing || kind == Kind::group) flags |= Qt::ItemIsDropEnabled;
  return flags;
}

QStringList OutlineModel::mimeTypes() const {
  return {QString::fromLatin1(kRowMime)};
}

QMimeData* OutlineModel::mimeData(const QModelIndexList& indexes) const {
  Json rows = Json::array();
  for (const QModelIndex& index : indexes) {
    const Thing what = thing(index);
    if (what.kind != Kind::drawing) rows.push_back({what.drawing, what.id});
  }
  if (rows.empty()) return nullptr;
  auto* data = new QMimeData;
  data->setData(QString::fromLatin1(kRowMime), QByteArray::fromStdString(rows.dump()));
  return data;
}

bool OutlineModel::canDropMimeData(const QMimeData* data, Qt::DropAction, int, int, const QModelIndex& parent) const {
  if (!parent.isValid() || data == nullptr || !data->hasFormat(QString::fromLatin1(kRowMime))) return false;
  const Thing onto = thing(parent);
  return onto.kind == Kind::drawing || onto.kind == Kind::group;
}

bool OutlineModel::dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                                const QModelIndex& parent) {
  if (!canDropMimeData(data, action, row, column, parent)) return false;
  const Thing onto = thing(parent);
  std::vector<std::string> ids;
  for (const Json& each : Json::parse(data->data(QString::fromLatin1(kRowMime)).toStdString()))
    if (each[0] == onto.drawing) ids.push_back(each[1].get<std::string>());
  if (ids.empty()) return false;  // from another drawing: that is what the clipboard is for
  m_document.moveToGroup(onto.drawing, ids, onto.id);
  return false;  // the model follows the document: the view has no row to remove
}

}  // namespace loom

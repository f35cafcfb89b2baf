#include "app/pages/search/structure_chooser.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <set>

#include "engine/layers/layer.h"
#include "widgets/controls/button.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kRows = 7, kLayerRows = 6;

QString plainOf(const std::string& text) {
  return QString::fromStdString(text);
}

bool endsWith(const Searchable& each, const char* field) {
  return each.key.ends_with(field);
}

bool isOfNode(const Searchable& each) {
  return each.key.find(".nodes.") != std::string::npos;
}

int rowHeight() {
  return Theme::of().size(Size::field) - 4;
}

// Rows as high as their words, which may change while it stands there, and so many of them in sight.
void fitRows(QListWidget& list, int rows) {
  const QSignalBlocker quiet(&list);
  for (int row = 0; row < list.count(); ++row) list.item(row)->setSizeHint({0, rowHeight()});
  list.setFixedHeight(rows * rowHeight() + 2 * list.frameWidth());
}

QListWidget* tickList(const char* name, const QString& words, int rows) {
  auto* list = new QListWidget;
  list->setObjectName(name);
  list->setAccessibleName(words);
  list->setUniformItemSizes(true);
  list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list->setTextElideMode(Qt::ElideMiddle);
  fitRows(*list, rows);
  QObject::connect(&Theme::of(), &Theme::changed, list, [list, rows] { fitRows(*list, rows); });
  return list;
}

void addTick(QListWidget& list, const QString& words, bool ticked) {
  auto* item = new QListWidgetItem(words, &list);
  item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
  item->setCheckState(ticked ? Qt::Checked : Qt::Unchecked);
  item->setSizeHint({0, rowHeight()});
}

// Several keys in one: "conv1.channels", "conv2.channels" are "conv1,conv2.channels".
QString joined(const QStringList& keys) {
  QStringList parts;
  for (qsizetype i = 0; i < keys.size(); ++i) {
    const QString field = keys[i].section('.', -1);
    const bool shared = i + 1 < keys.size() && keys[i + 1].section('.', -1) == field;
    parts << (shared ? keys[i].left(keys[i].size() - field.size() - 1) : keys[i]);
  }
  return parts.join(',');
}

}  // namespace

StructureChooser::StructureChooser(QWidget* parent)
    : QWidget(parent),
      m_kind(new SegmentedControl({tr("Width"), tr("Depth"), tr("Layer")})),
      m_filter(new SearchField(tr("Find a layer"))),
      m_list(tickList("search-structure-nodes", tr("Of the drawing"), kRows)),
      m_layers(tickList("search-structure-layers", tr("Layers to choose from"), kLayerRows)),
      m_range(new QWidget),
      m_low(new QLineEdit),
      m_high(new QLineEdit),
      m_hint(makeLabel("hint", {}, nullptr, Wrap::yes)),
      m_add(new Button("plus", tr("Add"), ButtonKind::outlined)) {
  m_kind->setObjectName("search-structure-kind");
  m_filter->setObjectName("search-structure-find");
  m_low->setObjectName("search-structure-low");
  m_high->setObjectName("search-structure-high");
  m_hint->setObjectName("search-structure-hint");
  m_add->setObjectName("search-structure-add");
  m_low->setAccessibleName(tr("From"));
  m_high->setAccessibleName(tr("To"));
  auto* range = new QHBoxLayout(m_range);
  range->setContentsMargins(0, 0, 0, 0);
  range->setSpacing(6);
  range->addWidget(makeLabel("field", tr("From")));
  range->addWidget(m_low, 1);
  range->addWidget(makeLabel("field", tr("to")));
  range->addWidget(m_high, 1);
  auto* close = new Button(tr("Close"), ButtonKind::plain);
  close->setObjectName("search-structure-close");
  auto* foot = new QHBoxLayout;
  foot->addWidget(m_add);
  foot->addWidget(close);
  foot->addStretch();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(m_kind, 0, Qt::AlignLeft);
  column->addWidget(m_filter);
  column->addWidget(m_list);
  column->addWidget(m_layers);
  column->addWidget(m_range);
  column->addWidget(m_hint);
  column->addLayout(foot);
  connect(m_kind, &SegmentedControl::currentChanged, this, &StructureChooser::refreshItems);
  connect(m_filter, &QLineEdit::textChanged, this, &StructureChooser::filter);
  connect(m_list, &QListWidget::itemChanged, this, &StructureChooser::refreshChoice);
  connect(m_layers, &QListWidget::itemChanged, this, [this] { m_add->setEnabled(!text().isEmpty()); });
  for (QLineEdit* each : {m_low, m_high})
    connect(each, &QLineEdit::textChanged, this, [this] { m_add->setEnabled(!text().isEmpty()); });
  connect(m_add, &Button::clicked, this, &StructureChooser::add);
  connect(close, &Button::clicked, this, &StructureChooser::closed);
  refreshItems();
}

void StructureChooser::setProject(const Json& project, const std::vector<Searchable>& known) {
  const auto keysOf = [](const std::vector<Searchable>& all) {
    std::vector<std::pair<std::string, Json>> keys;
    for (const Searchable& each : all) keys.emplace_back(each.key, each.value);
    return keys;
  };
  const bool same = project == m_project && keysOf(known) == keysOf(m_known);
  m_project = project;
  m_known = known;
  if (!same) refreshItems();
}

std::vector<StructureChooser::Item> StructureChooser::itemsOf(Kind kind) const {
  std::vector<Item> items;
  std::set<std::string> repeated;  // nodes that have a repeat of their own
  for (const Searchable& each : m_known) {
    const QString now = each.value.is_string() ? plainOf(each.value.get<std::string>()) : plainOf(each.value.dump());
    Item item{.key = plainOf(each.shorter), .words = tr("%1, now %2").arg(plainOf(each.label), now)};
    if (kind == width && isOfNode(each) && each.whole && each.important && each.choices.empty() &&
        !endsWith(each, ".repeat") && each.value.is_number()) {
      const Dimension range = usualRange(each);
      item.low = range.low, item.high = range.high;
      items.push_back(std::move(item));
    } else if (kind == layer && isOfNode(each) && endsWith(each, ".layer")) {
      item.layers = each.choices;
      items.push_back(std::move(item));
    } else if (kind == depth && endsWith(each, ".repeat")) {
      item.isAlone = !isOfNode(each);
      item.words = tr("%1, now %2 times").arg(plainOf(each.label).section(':', 0, 0), now);
      items.push_back(std::move(item));
    }
  }
  if (kind != depth) return items;
  // Layers, which are repeated as chains.
  std::map<std::string, int> drawings;
  const auto eachNode = [&](const auto& visit) {
    for (const char* of : {"networks", "units"}) {
      const Json all = m_project.value(of, Json::object());
      for (const auto& [name, drawing] : all.items())
        for (const Json& node : drawing.value("nodes", Json::array())) visit(of, name, node);
    }
  };
  eachNode([&](const char*, const std::string&, const Json& node) { ++drawings[node.value("id", std::string())]; });
  eachNode([&](const char* of, const std::string& name, const Json& node) {
    const std::string id = node.value("id", std::string()), layer = node.value("layer", std::string());
    const LayerDefinition* const known = findLayer(layer);
    if (!known || known->role != LayerRole::layer) return;
    const std::string key = drawings[id] == 1 ? id : std::string(of) + '.' + name + ".nodes." + id;
    items.push_back({.key = plainOf(key + ".repeat"), .words = plainOf(id + ", " + known->entry.label), .layers = {}});
  });
  return items;
}

void StructureChooser::refreshItems() {
  const auto kind = static_cast<Kind>(m_kind->current());
  m_items = itemsOf(kind);
  const QSignalBlocker quiet(m_list);
  m_list->clear();
  for (const Item& each : m_items) addTick(*m_list, each.words, false);
  m_range->setVisible(kind != layer);
  filter(m_filter->text());
  refreshChoice();
}

void StructureChooser::filter(const QString& text) {
  for (int row = 0; row < m_list->count(); ++row)
    m_list->item(row)->setHidden(!m_list->item(row)->text().contains(text.trimmed(), Qt::CaseInsensitive));
}

std::vector<StructureChooser::Item> StructureChooser::ticked() const {
  std::vector<Item> all;
  for (int row = 0; row < m_list->count(); ++row)
    if (m_list->item(row)->checkState() == Qt::Checked) all.push_back(m_items[static_cast<std::size_t>(row)]);
  return all;
}

void StructureChooser::refreshChoice() {
  const auto kind = static_cast<Kind>(m_kind->current());
  const std::vector<Item> items = ticked();
  // What all ticked nodes can be; those that they are stay ticked.
  std::set<QString> before;
  for (int row = 0; row < m_layers->count(); ++row)
    if (m_layers->item(row)->checkState() == Qt::Checked) before.insert(m_layers->item(row)->text());
  const QSignalBlocker quiet(m_layers);
  m_layers->clear();
  m_layers->setVisible(kind == layer && !items.empty());
  if (kind == layer && !items.empty())
    for (const std::string& each : items.front().layers) {
      const bool common = std::all_of(items.begin(), items.end(), [&](const Item& item) {
        return std::find(item.layers.begin(), item.layers.end(), each) != item.layers.end();
      });
      const bool isNow =
          std::any_of(items.begin(), items.end(), [&](const Item& item) { return item.layers.front() == each; });
      if (common) addTick(*m_layers, plainOf(each), isNow || before.count(plainOf(each)) > 0);
    }
  // What a person typed stays.
  if (!items.empty() && kind != layer && !m_low->isModified() && !m_high->isModified()) {
    m_low->setText(QString::number(items.front().low));
    m_high->setText(QString::number(items.front().high));
  }
  if (m_items.empty())
    m_hint->setText(tr("The drawing has nothing of this kind."));
  else if (kind == width)
    m_hint->setText(items.size() > 1 ? tr("All that are ticked are alike in each trial.")
                                     : tr("Tick a number; several are searched as one."));
  else if (kind == depth)
    m_hint->setText(tr("Tick a unit or a group, or the layers of a chain: the chain is run so many times over."));
  else
    m_hint->setText(tr("Tick a node and the layers that it may be; none leaves it out."));
  m_add->setEnabled(!text().isEmpty());
}

QString StructureChooser::text() const {
  const auto kind = static_cast<Kind>(m_kind->current());
  const std::vector<Item> items = ticked();
  if (items.empty()) return {};
  QStringList keys;
  for (const Item& each : items) {
    if (each.isAlone && items.size() > 1) return {};
    keys << each.key;
  }
  if (kind == layer) {
    QStringList layers;
    for (int row = 0; row < m_layers->count(); ++row)
      if (m_layers->item(row)->checkState() == Qt::Checked) layers << m_layers->item(row)->text();
    return layers.size() < 2 ? QString() : joined(keys) + '=' + layers.join(',');
  }
  if (m_low->text().trimmed().isEmpty() || m_high->text().trimmed().isEmpty()) return {};
  return QStringLiteral("%1=%2%3..%4")
      .arg(joined(keys), kind == width ? "log:" : "", m_low->text().trimmed(), m_high->text().trimmed());
}

void StructureChooser::add() {
  const QString line = text();
  if (line.isEmpty()) return;
  Q_EMIT chosen(line);
  m_low->setModified(false);
  m_high->setModified(false);
  refreshItems();
}

}  // namespace loom

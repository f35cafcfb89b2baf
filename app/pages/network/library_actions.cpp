#include "app/pages/network/library_actions.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenu>
#include <QVBoxLayout>

#include "app/pages/network/save_layer_card.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"
#include "widgets/library/own_layer_edits.h"
#include "widgets/palette/layer_palette.h"

namespace loom {

LibraryActions::LibraryActions(AppContext& context, NetworkView& view, LayerPalette& palette, QObject* page)
    : QObject(page),
      m_context(context),
      m_document(*context.document),
      m_library(*context.ownLayers),
      m_view(view),
      m_palette(palette) {
  addCommands();
  m_view.setOwnLayers(&m_library);
  connect(&m_library, &OwnLayers::changed, this, [this] {
    refreshPalette();
    tellOutdated();
  });
  connect(&m_palette.list(), &LayerList::menuWanted, this, &LibraryActions::showMenu);
  connect(&m_view, &NetworkView::ownLayerRenamed, this, [this](const QString& layer, const QString& unit) {
    if (!m_context.notify) return;
    const bool mayTakeOver = m_document.project().unit(layer.toStdString()) != nullptr;
    m_context.notify({tr("This project has another %1: yours came as %2.").arg(layer, unit),
                      mayTakeOver ? tr("Replace the other") : QString(), [this, layer, unit] {
                        // Both become the person's own: the one that was called so first, and with it the one that just
                        // came.
                        const OwnLayer* const own = m_library.find(layer.toStdString());
                        if (own == nullptr || m_document.project().unit(layer.toStdString()) == nullptr) return;
                        m_document.edit(tr("Replace %1 by yours").arg(layer), [&](Project& project) {
                          updateFromLibrary(project, layer.toStdString(), *own);
                          for (std::vector<Network>* drawings : {&project.networks, &project.units})
                            for (Network& drawing : *drawings)
                              for (Node& node : drawing.nodes)
                                if (node.unit == unit.toStdString()) node.unit = layer.toStdString();
                          std::erase_if(project.units,
                                        [&](const Network& each) { return each.name == unit.toStdString(); });
                        });
                      }});
  });
  refreshPalette();
}

void LibraryActions::addCommands() {
  const auto add = [this](const char* id, const QString& text, const char* icon, std::function<bool()> possible,
                          auto run) {
    m_context.commands->add({.id = QString::fromLatin1(id),
                             .group = Page::tr("This page"),
                             .text = text,
                             .keys = {},
                             .scope = "network",
                             .icon = QString::fromLatin1(icon),
                             .family = {},
                             .possible = std::move(possible)},
                            this, Commands::Run(run));
  };
  add(
      "network.save-unit", tr("Save to my layers…"), "save", [this] { return !unitMeant({}).empty(); },
      [this](const QJsonObject& arguments) { save(unitMeant(arguments)); });
  add(
      "network.update-unit", tr("Update from my layers"), "refresh", [this] { return newer(unitMeant({})) != nullptr; },
      [this](const QJsonObject& arguments) { update(unitMeant(arguments)); });
  const auto own = [this] { return m_library.find(layerMeant({})) != nullptr; };
  add("network.rename-own", tr("Rename the layer of mine…"), "rename", own,
      [this](const QJsonObject& arguments) { rename(layerMeant(arguments)); });
  add("network.remove-own", tr("Remove from my layers"), "delete", own,
      [this](const QJsonObject& arguments) { remove(layerMeant(arguments)); });
  add(
      "network.own-folder", tr("Show the folder of my layers"), "folder",
      [this] { return QFileInfo(m_library.folder()).isDir(); },
      [this](const QJsonObject&) { QDesktopServices::openUrl(QUrl::fromLocalFile(m_library.folder())); });
}

std::string LibraryActions::unitMeant(const QJsonObject& arguments) const {
  if (arguments.contains("unit")) return arguments.value("unit").toString().toStdString();
  NetworkView* const pressed = m_context.commands->partInHand<NetworkView>();
  NetworkView& view = pressed != nullptr ? *pressed : m_view.inHand();
  if (const Node* use = view.pickedUnit()) return use->unit;
  const std::string shown = view.networkScene().networkName();
  return m_document.project().unit(shown) != nullptr ? shown : std::string();
}

std::string LibraryActions::layerMeant(const QJsonObject& arguments) const {
  return arguments.contains("layer") ? arguments.value("layer").toString().toStdString()
                                     : ownLayerName(m_palette.list().currentLayer());
}

const OwnLayer* LibraryActions::newer(const std::string& unit) const {
  const Network* const here = m_document.project().unit(unit);
  if (here == nullptr) return nullptr;
  const OwnLayer* const layer = m_library.find(here->words.origin.empty() ? here->name : here->words.origin);
  return layer != nullptr && isOutdated(m_document.project(), *here, *layer) ? layer : nullptr;
}

void LibraryActions::refreshPalette() {
  std::vector<OwnRow> rows;
  for (const OwnLayer& each : m_library.layers()) {
    OwnRow row{each.entry, each.fault, each.fault.isEmpty() && isPresent(m_document.project(), each), {}};
    if (!each.fault.isEmpty()) row.note = tr("cannot be read");
    rows.push_back(std::move(row));
  }
  m_palette.setOwn(std::move(rows));
}

void LibraryActions::showMenu(const QString& id, QPoint at) {
  QMenu menu;
  const std::string layer = ownLayerName(id.toStdString()), unit = layer.empty() ? id.toStdString() : std::string();
  const auto add = [&](const char* command, const QString& text, const QJsonObject& arguments) {
    m_context.commands
        ->addTo(menu, QString::fromLatin1(command), &m_view, {.text = text, .picture = {}, .arguments = arguments})
        ->setEnabled(true);
  };
  if (m_document.project().unit(unit) != nullptr) {
    add("network.save-unit", {}, {{"unit", q(unit)}});
    if (newer(unit) != nullptr) add("network.update-unit", {}, {{"unit", q(unit)}});
  } else if (!layer.empty()) {
    for (const Network& each : m_document.project().units)
      if (const OwnLayer* own = newer(each.name); own != nullptr && own->name == layer)
        add("network.update-unit", tr("Update %1 in this project").arg(q(each.name)), {{"unit", q(each.name)}});
    if (m_library.find(layer) != nullptr) add("network.rename-own", tr("Rename…"), {{"layer", q(layer)}});
    add("network.remove-own", {}, {{"layer", q(layer)}});
    add("network.own-folder", {}, {});
  }
  if (!menu.isEmpty()) menu.exec(at);
}

void LibraryActions::save(const std::string& name) {
  const Network* const unit = m_document.project().unit(name);
  if (unit == nullptr) return;
  delete m_card;
  auto* const card = new SaveLayerCard(m_document.project(), *unit, m_library, m_view.window());
  m_card = card;
  connect(card, &SaveLayerCard::wanted, this, [this, name, card](const Network& wanted) {
    const Network* const before = m_document.project().unit(name);
    if (before == nullptr) return card->refuse(tr("The unit %1 is not there any more").arg(q(name)));
    // The project's unit says the same as the layer from now on, in one step.
    Project tried = m_document.project();
    const auto change = [&](Project& project) {
      if (wanted.name != name) renameUnit(project, name, wanted.name);
      Network& unit = *project.unit(wanted.name);
      unit.arguments = wanted.arguments;
      unit.words = wanted.words;
      unit.words.origin = wanted.name;
    };
    change(tried);
    const OwnLayer* const other = m_library.find(wanted.name);
    const std::string kept = other != nullptr ? other->text : std::string();
    if (const QString reason = m_library.save(tried, wanted.name); !reason.isEmpty()) return card->refuse(reason);
    m_document.edit(tr("Save %1 to my layers").arg(q(wanted.name)), change);
    card->close();
    refreshPalette();
    if (!m_context.notify) return;
    m_context.notify({kept.empty() ? tr("%1 stands among your layers.").arg(q(wanted.name))
                                   : tr("%1 among your layers is this one now.").arg(q(wanted.name)),
                      tr("Undo"), [this, layer = wanted.name, kept] {
                        if (kept.empty())
                          m_library.remove(layer);
                        else
                          m_library.put(layer, kept);
                        m_document.undoStack().undo();
                      }});
  });
  card->openOver(m_view.window());
  card->setFocus();
}

void LibraryActions::update(const std::string& unit) {
  const OwnLayer* const found = newer(unit);
  if (found == nullptr) return;
  const OwnLayer layer = *found;
  Updated went;
  m_document.edit(tr("Update %1 from my layers").arg(q(unit)),
                  [&](Project& project) { went = updateFromLibrary(project, unit, layer); });
  refreshPalette();
  QString words = tr("%1 is as in your layers.").arg(q(unit));
  if (went.values > 0)
    words += ' ' + tr("%1 that it has no argument for any more went.").arg(counted(went.values, tr("values")));
  if (went.wires > 0) words += ' ' + tr("%1 to pins that it has no more went.").arg(counted(went.wires, tr("wires")));
  if (m_context.notify) m_context.notify({words, tr("Undo"), [this] { m_document.undoStack().undo(); }});
}

void LibraryActions::rename(const std::string& layer) {
  delete m_card;
  auto* const card = new Popover(m_view.window());
  m_card = card;
  card->setObjectName("rename-own");
  card->setTitle(tr("Rename %1").arg(q(layer)));
  auto* const name = new QLineEdit(q(layer), card);
  name->setAccessibleName(tr("Name"));
  QLabel* const fault = makeLabel("error", {}, card, Wrap::yes);
  fault->hide();
  card->contentLayout()->addWidget(name);
  card->contentLayout()->addWidget(fault);
  connect(name, &QLineEdit::returnPressed, card, [this, card, name, fault, layer] {
    const std::string to = name->text().trimmed().toStdString();
    const QString reason = to == layer ? QString() : m_library.rename(layer, to);
    fault->setText(reason);
    fault->setVisible(!reason.isEmpty());
    if (!reason.isEmpty()) return;
    card->close();
    // Units of this project that came from it go on coming from it.
    if (to != layer)
      m_document.edit(tr("Rename my layer %1 to %2").arg(q(layer), q(to)), [&](Project& project) {
        for (Network& unit : project.units)
          if (unit.words.origin == layer) unit.words.origin = to;
      });
    refreshPalette();
  });
  card->openOver(m_view.window());
  name->setFocus();
  name->selectAll();
}

void LibraryActions::remove(const std::string& layer) {
  std::string text;
  for (const OwnLayer& each : m_library.layers())
    if (each.name == layer) text = each.text;
  if (const QString reason = m_library.remove(layer); !reason.isEmpty())
    return m_view.hint().say(reason, QPoint(12, 12));
  if (m_context.notify)
    m_context.notify({tr("%1 is out of your layers. Projects that use it keep it.").arg(q(layer)),
                      text.empty() ? QString() : tr("Undo"), [this, layer, text] { m_library.put(layer, text); }});
}

// The library changed while this project is open: what it uses of it is another now.
void LibraryActions::tellOutdated() {
  for (const Network& unit : m_document.project().units)
    if (!unit.words.origin.empty() && newer(unit.name) != nullptr) {
      if (m_context.notify)
        m_context.notify({tr("Your layers hold a newer %1.").arg(q(unit.words.origin)), tr("Update"),
                          [this, name = unit.name] { update(name); }});
      return;
    }
}

}  // namespace loom

// NetworkView: what is added comes from the catalogue, the project's units, or the person's own layers.
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/document/unit_edits.h"
#include "widgets/library/own_layer_edits.h"
#include "widgets/library/own_layers.h"

namespace loom {

void NetworkView::setOwnLayers(OwnLayers* own) {
  m_ownLayers = own;
}

NodePorts NetworkView::portsOfLayer(const std::string& layer) const {
  const Project& project = m_scene.document().project();
  const OwnLayer* own = m_ownLayers ? m_ownLayers->find(ownLayerName(layer)) : nullptr;
  return own != nullptr ? NodePorts{own->entry.inputs, own->entry.outputs}
                        : portsOf(project, nodeCalled(project, layer));
}

std::string NetworkView::add(AddRequest request) {
  ProjectDocument& document = m_scene.document();
  const std::string wanted = ownLayerName(request.layer);
  if (wanted.empty()) return document.addNode(request);
  const OwnLayer* found = m_ownLayers ? m_ownLayers->find(wanted) : nullptr;
  if (found == nullptr) return {};
  const OwnLayer layer = *found;  // the folder may change while this is told
  Project tried = document.project();
  request.layer = bringOwnLayer(tried, layer);
  if (contains(tried, request.layer, request.network)) {
    m_hint->say(tr("%1 would stand inside itself").arg(QString::fromStdString(wanted)), viewport()->rect().center());
    return {};
  }
  document.undoStack().beginMacro(tr("Add %1").arg(QString::fromStdString(wanted)));
  if (document.project().unit(request.layer) == nullptr)
    document.edit(tr("Add %1").arg(QString::fromStdString(wanted)),
                  [&](Project& project) { bringOwnLayer(project, layer); });
  const std::string id = document.addNode(request);
  document.undoStack().endMacro();
  if (request.layer != wanted)
    Q_EMIT ownLayerRenamed(QString::fromStdString(wanted), QString::fromStdString(request.layer));
  return id;
}

}  // namespace loom

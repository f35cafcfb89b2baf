#pragma once
// Cards on the clipboard: JSON text {"gradloom": "nodes", "nodes": [...], "edges": [...]}, so they travel between networks,
// projects and programs. Wires between copied cards come along; wires to others do not.
#include <string>
#include <string_view>
#include <vector>

#include <QPointF>

#include "engine/network/network.h"

namespace loom {

std::string copyText(const Network& network, const std::vector<std::string>& ids);
// The cards and their wires with ids that are free in `network`, around `centre`; empty when the text holds no cards.
Network readCopied(std::string_view text, const Network& network, QPointF centre);

}  // namespace loom

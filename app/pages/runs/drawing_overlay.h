#pragma once
// Two drawings laid over each other: what the second has more, what it lacks, and which nodes are not the same. Units
// are shown as the one card that they are. Pure functions, any thread.
#include <QPointF>
#include <QRectF>
#include <QString>
#include <vector>

#include "engine/network/project.h"

namespace loom {

enum class DrawnChange { same, added, removed, changed };

struct OverlayNode {
  QString id, layer;  // of a unit's node the unit's name
  QString note;       // what changed: "channels 8 → 16, kernel 3 → 5"
  QRectF card;
  DrawnChange change = DrawnChange::same;
};

struct OverlayWire {
  QPointF from, to;  // the lower edge of a card, the upper edge of another
  DrawnChange change = DrawnChange::same;
};

struct DrawingOverlay {
  std::vector<OverlayNode> nodes;  // those of the second drawing first
  std::vector<OverlayWire> wires;
  QRectF bounds;
  int count(DrawnChange change) const;  // of nodes
  bool isSame() const;                  // neither nodes nor wires differ
};

// Of the networks that are trained; nodes are one by their id. Cards stand where the second drawing has them, what it
// lacks where it stood in the first, beside what is there now.
DrawingOverlay overlayOf(Project first, Project second);

// What a run was trained with. Throws Error where its folder does not tell.
Project projectOfRun(const QString& folder);
// Of what two run folders were trained with. Throws Error where one does not tell.
DrawingOverlay overlayOfRuns(const QString& firstFolder, const QString& secondFolder);

}  // namespace loom

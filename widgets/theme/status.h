#pragma once
// The status of a run, a check, a host: a shape, a word and a colour, so that colour is never the only sign.
#include <QColor>
#include <QString>
#include <optional>

#include "widgets/theme/tokens.h"

class QPainter;
class QRectF;

namespace loom {

enum class Status { running, ok, failed, warning, queued, stopped, paused, reconnecting };

Colour statusColour(Status status);
QString statusWord(Status status);  // "Running", "Finished", ...
QString statusIcon(Status status);  // its name for icon(): "status-running"
std::optional<Status> statusOfIcon(const QString& icon);

// `turn` 0 to 1 is where the moving quarter of `running` stands. Signs inside filled shapes are cut out, so the ground
// shows through and one colour is enough on every ground.
void paintStatus(QPainter& painter, Status status, const QRectF& rect, const QColor& colour, double turn = 0);

}  // namespace loom

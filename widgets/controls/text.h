#pragma once
// Words and lines in the kinds of the stylesheet.
#include <QFrame>
#include <QLabel>
#include <QString>

namespace loom {

enum class Wrap { no, yes };

// Plain text, never markup: names and paths of a person stand in it. Kinds: "title", "heading", "section", "label",
// "field", "hint", "caption", "number", "error", "warning".
QLabel* makeLabel(const char* kind, const QString& text = {}, QWidget* parent = nullptr, Wrap wrap = Wrap::no);

// "1 node", "42,240 nodes": the word as it is of several.
QString counted(qint64 count, const QString& several);
// "node" of "nodes", "batch" of "batches".
QString singular(const QString& several);

// One pixel across or, where it parts what stands side by side, down.
QFrame* hairline(Qt::Orientation orientation = Qt::Horizontal, QWidget* parent = nullptr);

}  // namespace loom

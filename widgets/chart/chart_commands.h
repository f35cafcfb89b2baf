#pragma once
// The commands of a chart in the registry: its keys and its context menu. Once for all charts of a window; they mean
// the chart that they are pressed in, else the one with the keyboard.
namespace loom {

class Commands;

// Does nothing where they are there already.
void addChartCommands(Commands& commands);

}  // namespace loom

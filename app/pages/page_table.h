#pragma once
// The pages of the IDE: one entry each, in the order of the rail. A new page = one folder here and one entry in
// page_table.cpp.
#include <QString>
#include <functional>
#include <span>

#include "app/page.h"

namespace loom {

struct PageEntry {
  const char* id;        // stable: command line, remembered page, Place::page
  const char* name;      // on the rail
  const char* icon;      // of the icon set
  const char* shortcut;  // "Ctrl+1"
  bool needsProject;     // made only while a project is open
  bool onRail;
  bool searched;  // answers Ctrl+K, also before it was first shown
  Page* (*create)(AppContext& context, QWidget* parent);
};

std::span<const PageEntry> pageTable();
const PageEntry* findPage(const QString& id);

}  // namespace loom
